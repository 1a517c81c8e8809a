"""A directory of arrays: `head.npy`, `relation.npy`, `tail.npy`, `entities.txt`, `relations.txt`.

The arrays are integers [triples], positions in the text files, which have one name a line (taken as it
stands, without escapes). As the only source, entities keep their positions as node ids.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.errors import InputError, ParseError
from clew.foundation.arrays import Int32, UInt64, load_array
from clew.graph.graph import Names
from clew.graph.kernels import Array, entry
from clew.graph.readers.batch import Batch, IdTriples, Tally
from clew.graph.readers.stream import MAX_LINE_BYTES, ByteSource, line_blocks

ARRAY_FILES = ("head.npy", "relation.npy", "tail.npy", "entities.txt", "relations.txt")


@dataclass(frozen=True, slots=True)
class ArrayReader:
    """Reader of a directory of arrays; all of its errors are fatal, since ids depend on every line."""

    name: str = "arrays"
    suffixes: tuple[str, ...] = ()

    def read(self, path: Path, tally: Tally) -> Iterator[Batch]:
        """Yield one batch whose `ids` are the arrays; see `Reader`."""
        missing = [name for name in ARRAY_FILES if not (path / name).is_file()]
        if missing:
            raise InputError(f"{path}: lacks {', '.join(missing)}. An array directory needs all of them")
        entities, relations = _names(path / "entities.txt"), _names(path / "relations.txt")
        counts = {"head": len(entities), "relation": len(relations), "tail": len(entities)}
        columns = [_column(path / f"{name}.npy", count) for name, count in counts.items()]
        lengths = list(map(len, columns))
        if len(set(lengths)) > 1:
            said = ", ".join(map(str, lengths))
            raise InputError(f"{path}: head, relation and tail have different lengths ({said})")
        if tally.progress is not None:
            tally.progress(sum((path / name).stat().st_size for name in ARRAY_FILES))
        yield Batch(ids=IdTriples(entities, relations, *columns))


def _names(path: Path) -> Names:
    """Read the lines of a file as names, as bytes throughout: ten million are 0.3 GB, not 1 GB of strings."""
    with ByteSource(path, Tally()) as source:
        data = b"".join(iter(source.read, b""))
    blob = np.frombuffer(data, np.uint8)
    stops = np.flatnonzero(blob == _NEWLINE)
    if blob[-1] != _NEWLINE:
        stops = np.append(stops, len(blob))
    starts = np.append(0, stops[:-1] + 1)
    _check_text(path, data, int((stops - starts).max()))
    is_kept = blob != _NEWLINE
    returns = stops[(stops > starts) & (blob[stops - 1] == _RETURN)] - 1
    is_kept[returns] = False
    lengths = stops - starts
    lengths[np.searchsorted(starts, returns, "right") - 1] -= 1
    names = Names(blob[is_kept], np.append(0, np.cumsum(lengths)))
    empty = np.flatnonzero(lengths == 0)
    if len(empty):
        raise ParseError(str(path), int(empty[0]) + 1, "the name is empty", "Give every id a name")
    repeat = NameIds.of(names).first_repeat()
    if repeat >= 0:
        raise ParseError(str(path), repeat + 1, f"{names[repeat]!r} is there twice", "Names must differ")
    return names


_NEWLINE, _RETURN = ord("\n"), ord("\r")


def _check_text(path: Path, data: bytes, longest: int) -> None:
    """Raise the error of the first line that is not sound text."""
    start, sound = 0, longest <= MAX_LINE_BYTES and b"\0" not in data
    try:
        while sound and start < len(data):
            stop = data.rfind(b"\n", start, start + (1 << 26)) + 1 or len(data)
            data[start:stop].decode("utf-8")
            start = stop
    except UnicodeDecodeError:
        sound = False
    if not sound:
        for _ in line_blocks(path, Tally()):
            continue


def _column(path: Path, count: int) -> Int32:
    """Load a column of ids; InputError unless all are in [0, count)."""
    try:
        column = load_array(path, "r")
    except (ValueError, EOFError, OSError) as error:
        raise InputError(f"{path}: not a NumPy array file: {error}") from error
    if column.ndim != 1 or not np.issubdtype(column.dtype, np.integer):
        raise InputError(f"{path}: holds {column.dtype} {list(column.shape)}; integers [triples] are needed")
    if len(column) and (int(column.min()) < 0 or int(column.max()) >= count):
        raise InputError(
            f"{path}: holds ids from {column.min()} to {column.max()}, but {count} names are given"
        )
    return column.astype(np.int32, copy=False)


_BASIS, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(32)


@entry
def hash_rows(blob: Array, offsets: Array) -> Array:
    """FNV-1a with a final mix of each row's bytes; uint64 [rows]."""
    hashes = np.empty(len(offsets) - 1, np.uint64)
    for row in range(len(hashes)):
        value = _BASIS
        for at in range(offsets[row], offsets[row + 1]):
            value = (value ^ np.uint64(blob[at])) * _PRIME
        value = (value ^ (value >> _SHIFT)) * _MIX
        hashes[row] = value ^ (value >> _SHIFT)
    return hashes


@dataclass(frozen=True, eq=False)
class NameIds:
    """Finds rows of `names`; `hashes` uint64 [names], ascending, `rows` int32 in the same order."""

    names: Names
    hashes: UInt64
    rows: Int32

    @classmethod
    def of(cls, names: Names) -> NameIds:
        """Hash and sort all names: 12 bytes each stay in memory."""
        hashes = hash_rows(_writable(names.blob, np.uint8), _writable(names.offsets, np.int64))
        order = np.argsort(hashes, kind="stable")
        return cls(names, hashes[order], order.astype(np.int32))

    def find(self, name: str) -> int:
        """Row of `name`, -1 if there is none; of several the first."""
        text = np.frombuffer(name.encode("utf-8", "surrogatepass"), np.uint8).copy()
        name_hash = hash_rows(text, np.array([0, len(text)], np.int64))[0]
        at = int(np.searchsorted(self.hashes, name_hash))
        while at < len(self.hashes) and self.hashes[at] == name_hash:
            if self.names[int(self.rows[at])] == name:
                return int(self.rows[at])
            at += 1
        return -1

    def first_repeat(self) -> int:
        """Row of the first name that an earlier row has too, -1 if all differ."""
        alike = self.rows[1:][self.hashes[1:] == self.hashes[:-1]].tolist()
        return min((row for row in alike if self.find(self.names[row]) != row), default=-1)


def _writable(array: NDArray[Any], dtype: type) -> NDArray[Any]:
    """Give the kernels one type of array (not read-only), whatever the names are made of."""
    return np.require(array, dtype, ["C", "W"])


ARRAYS = ArrayReader()

"""A directory of arrays: `head.npy`, `relation.npy`, `tail.npy`, `entities.txt`, `relations.txt`.

The arrays are integers [triples], positions in the text files, which have one name a line (taken as it
stands, without escapes). As the only source, entities keep their positions as node ids.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from clew.errors import InputError, ParseError
from clew.graph.graph import Int32
from clew.graph.readers.batch import Batch, IdTriples, Tally
from clew.graph.readers.stream import line_blocks

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
        columns = [
            _column(path / f"{name}.npy", count)
            for name, count in (
                ("head", len(entities)),
                ("relation", len(relations)),
                ("tail", len(entities)),
            )
        ]
        if len({len(column) for column in columns}) > 1:
            lengths = ", ".join(str(len(column)) for column in columns)
            raise InputError(f"{path}: head, relation and tail have different lengths ({lengths})")
        if tally.progress is not None:
            tally.progress(sum((path / name).stat().st_size for name in ARRAY_FILES))
        yield Batch(ids=IdTriples(entities, relations, *columns))


def _names(path: Path) -> list[str]:
    names: list[str] = []
    for _, lines in line_blocks(path, Tally()):
        names += [line.removesuffix("\r") for line in lines]
    if len(set(names)) < len(names):
        seen: set[str] = set()
        for number, name in enumerate(names, 1):
            if name in seen:
                raise ParseError(str(path), number, f"{name!r} is there twice", "Names must differ")
            seen.add(name)
    if "" in names:
        raise ParseError(str(path), names.index("") + 1, "the name is empty", "Give every id a name")
    return names


def _column(path: Path, count: int) -> Int32:
    """Load a column of ids; InputError unless all are in [0, count)."""
    try:
        column = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise InputError(f"{path}: not a NumPy array file: {error}") from error
    if column.ndim != 1 or not np.issubdtype(column.dtype, np.integer):
        raise InputError(f"{path}: holds {column.dtype} {list(column.shape)}; integers [triples] are needed")
    if len(column) and (int(column.min()) < 0 or int(column.max()) >= count):
        raise InputError(
            f"{path}: holds ids from {column.min()} to {column.max()}, but {count} names are given"
        )
    return column.astype(np.int32, copy=False)


ARRAYS = ArrayReader()

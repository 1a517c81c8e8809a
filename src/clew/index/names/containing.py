"""Names that a text is a part of, *Kurosawa* of *Akira Kurosawa*, or how they or words in them begin."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from clew.foundation.arrays import Int32, Int64, UInt64
from clew.foundation.bounds import check
from clew.graph.graph import Names
from clew.index.names.names import NamesIndex
from clew.text.normalise import normalise

MOST_FOUND = 200
"""Places of the text in the names that are looked at; a text that is in more of them says little."""
KEY_BYTES = 8
"""Bytes of a beginning that are compared at once."""
WORDS_BELOW = 64_000_000
"""Bytes of names up to which the beginnings of their words are found too; the table takes 16 bytes a word."""
MOST_COMPARED_NAMES = 5_000
"""Names that are compared beyond their first `KEY_BYTES`, for one text."""

_LOWER = np.arange(256, dtype=np.uint8)
_LOWER[ord("A") : ord("Z") + 1] += 32
_LOWER[ord("_")] = ord(" ")
_BREAKS = np.zeros(256, bool)
_BREAKS[[ord(c) for c in " _-/.,:;()[]\"'#&"]] = True


def nodes_containing(index: NamesIndex, text: str) -> list[int] | None:
    """The entities of whose names `text` is some words, ascending; None if it is in too many to tell.

    The words are compared as written, so that the bytes of all names are searched once. Names that end with
    the text (a surname) go before others that begin with it, those before the rest: only the best are given.
    """
    check()
    words = normalise(text).split()
    best: dict[int, int] = {}
    place_count = 0
    aliases = index.graph.aliases
    for names, owners in ((index.graph.labels, None), (aliases.names, aliases.entity)):
        for row in _rows(names, text):
            place_count += 1
            if place_count > MOST_FOUND:
                return None
            rank = _rank(normalise(names[row]).split(), words)
            node = row if owners is None else int(owners[row])
            if rank is not None:
                best[node] = min(rank, best.get(node, rank))
    best_rank = min(best.values(), default=0)
    return sorted(node for node, rank in best.items() if rank == best_rank)


def _rows(names: Names, text: str) -> Iterator[int]:
    """The rows of the names that hold the characters of `text`."""
    last_row = -1
    blob = np.ascontiguousarray(names.blob).data
    for match in re.finditer(re.escape(text.encode("utf-8")), blob):
        row = int(np.searchsorted(names.offsets, match.start(), "right")) - 1
        if row != last_row and match.end() <= names.offsets[row + 1]:
            last_row = row
            yield row


def _rank(name: list[str], words: list[str]) -> int | None:
    """0 if the name ends with the words, 1 if it begins with them, 2 if they are inside; None if not."""
    size = len(words)
    if len(name) <= size:
        return None
    places = [at for at in range(len(name) - size + 1) if name[at : at + size] == words]
    if not places:
        return None
    return 0 if places[-1] == len(name) - size else 1 if places[0] == 0 else 2


@dataclass(frozen=True, eq=False)
class Prefixes:
    """Beginnings of names in order: `keys` uint64 [beginnings], ascending, and `rows` int32 of their names.

    `inside` bool [beginnings]: it is that of a word within the name, not of the name. Letters of ASCII are
    compared without regard to case.
    """

    names: Names
    keys: UInt64
    rows: Int32
    inside: np.ndarray[tuple[int], np.dtype[np.bool_]]

    @classmethod
    def of(cls, names: Names) -> Prefixes:
        """Find all beginnings; some 100 ns a name."""
        blob, offsets = np.asarray(names.blob), np.asarray(names.offsets)
        starts = offsets[:-1]
        if len(blob) <= WORDS_BELOW and len(blob):
            after_break = np.flatnonzero(_BREAKS[blob[:-1]] & ~_BREAKS[blob[1:]]) + 1
            starts = np.union1d(starts, after_break)
        starts = starts[starts < offsets[-1]]  # of empty names at the end
        rows = (np.searchsorted(offsets, starts, "right") - 1).astype(np.int32)
        filled = starts < offsets[rows + 1]
        starts, rows = starts[filled], rows[filled]
        keys = _keys(blob, starts, offsets[rows + 1])
        inside = starts > offsets[rows]
        order = np.lexsort((inside, keys))
        return cls(names, keys[order], rows[order], inside[order])

    def find(self, text: str) -> tuple[Int32, Int32]:
        """Rows of names that begin with `text`, and of those with a word that does; both ascending.

        Past `MOST_COMPARED_NAMES` candidates the others are left out; they begin with the same 8 bytes.
        """
        prefix = " ".join(text.lower().replace("_", " ").split())
        raw = prefix.encode("utf-8", "replace")
        if not raw:
            return np.empty(0, np.int32), np.empty(0, np.int32)
        low_key = int.from_bytes(raw[:KEY_BYTES].ljust(KEY_BYTES, b"\0"), "big")
        high_key = int.from_bytes(raw[:KEY_BYTES].ljust(KEY_BYTES, b"\xff"), "big")
        first = int(np.searchsorted(self.keys, np.uint64(low_key), "left"))
        last = int(np.searchsorted(self.keys, np.uint64(high_key), "right"))
        rows, inside = self.rows[first:last], self.inside[first:last]
        if len(raw) > KEY_BYTES:
            rows, inside = rows[:MOST_COMPARED_NAMES], inside[:MOST_COMPARED_NAMES]
            fits = np.array(
                [self._holds(row, prefix, within) for row, within in zip(rows, inside, strict=True)]
            )
            rows, inside = rows[fits.astype(bool)], inside[fits.astype(bool)]
        begins = np.unique(rows[~inside])
        return begins, np.setdiff1d(rows[inside], begins)

    def _holds(self, row: int, prefix: str, within: bool) -> bool:
        name = self.names[int(row)].lower().replace("_", " ")
        return prefix in name if within else name.startswith(prefix)


def _keys(blob: np.ndarray, starts: Int64, stops: Int64) -> np.ndarray:  # pyright: ignore[reportMissingTypeArgument]
    """The first bytes from each start, as numbers that sort as the bytes do."""
    keys = np.zeros(len(starts), np.uint64)
    last_byte = max(len(blob) - 1, 0)
    for place in range(KEY_BYTES):
        positions = starts + place
        byte = (
            np.where(positions < stops, _LOWER[blob[np.minimum(positions, last_byte)]], 0) if len(blob) else 0
        )
        keys = keys << np.uint64(8) | np.asarray(byte, np.uint64)
    return keys

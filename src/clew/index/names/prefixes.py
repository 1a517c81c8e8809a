"""Names by how they begin, or how a word in them begins, for completing what a user types."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clew.arrays import Int32, Int64
from clew.graph.graph import Names

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


@dataclass(frozen=True, eq=False)
class Prefixes:
    """Beginnings in order: `keys` uint64 [beginnings], ascending, and the `rows` int32 of their names.

    `inside` bool [beginnings]: it is that of a word within the name, not of the name. Letters of ASCII are
    compared without regard to case.
    """

    names: Names
    keys: np.ndarray[tuple[int], np.dtype[np.uint64]]
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
        wanted = " ".join(text.lower().replace("_", " ").split())
        raw = wanted.encode("utf-8", "replace")
        if not raw:
            return np.empty(0, np.int32), np.empty(0, np.int32)
        low = int.from_bytes(raw[:KEY_BYTES].ljust(KEY_BYTES, b"\0"), "big")
        high = int.from_bytes(raw[:KEY_BYTES].ljust(KEY_BYTES, b"\xff"), "big")
        first = int(np.searchsorted(self.keys, np.uint64(low), "left"))
        last = int(np.searchsorted(self.keys, np.uint64(high), "right"))
        rows, inside = self.rows[first:last], self.inside[first:last]
        if len(raw) > KEY_BYTES:
            rows, inside = rows[:MOST_COMPARED_NAMES], inside[:MOST_COMPARED_NAMES]
            fits = np.array(
                [self._holds(row, wanted, within) for row, within in zip(rows, inside, strict=True)]
            )
            rows, inside = rows[fits.astype(bool)], inside[fits.astype(bool)]
        begins = np.unique(rows[~inside])
        return begins, np.setdiff1d(rows[inside], begins)

    def _holds(self, row: int, wanted: str, within: bool) -> bool:
        name = self.names[int(row)].lower().replace("_", " ")
        return wanted in name if within else name.startswith(wanted)


def _keys(blob: np.ndarray, starts: Int64, stops: Int64) -> np.ndarray:  # pyright: ignore[reportMissingTypeArgument]
    """The first bytes from each start, as numbers that sort as the bytes do."""
    keys = np.zeros(len(starts), np.uint64)
    last = max(len(blob) - 1, 0)
    for place in range(KEY_BYTES):
        at = starts + place
        byte = np.where(at < stops, _LOWER[blob[np.minimum(at, last)]], 0) if len(blob) else 0
        keys = keys << np.uint64(8) | np.asarray(byte, np.uint64)
    return keys

"""Names to ids without Python objects: sorted 64-bit hashes, verified against the names themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.arrays import Int32, UInt64
from clew.graph.graph import Names
from clew.graph.kernels import Array, entry

_BASIS, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(32)


@entry
def hash_rows(blob: Array, offsets: Array) -> Array:
    """FNV-1a with a final mix of each row's bytes; uint64 [rows]."""
    found = np.empty(len(offsets) - 1, np.uint64)
    for row in range(len(found)):
        value = _BASIS
        for at in range(offsets[row], offsets[row + 1]):
            value = (value ^ np.uint64(blob[at])) * _PRIME
        value = (value ^ (value >> _SHIFT)) * _MIX
        found[row] = value ^ (value >> _SHIFT)
    return found


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
        wanted = hash_rows(text, np.array([0, len(text)], np.int64))[0]
        at = int(np.searchsorted(self.hashes, wanted))
        while at < len(self.hashes) and self.hashes[at] == wanted:
            if self.names[int(self.rows[at])] == name:
                return int(self.rows[at])
            at += 1
        return -1

    def first_repeat(self) -> int:
        """Row of the first name that an earlier row has too, -1 if all differ."""
        repeats: list[int] = []
        for at in np.flatnonzero(self.hashes[1:] == self.hashes[:-1]).tolist():
            row = int(self.rows[at + 1])
            if self.find(self.names[row]) != row:
                repeats.append(row)
        return min(repeats, default=-1)


def _writable(array: NDArray[Any], dtype: type) -> NDArray[Any]:
    """Give the kernels one type of array (not read-only), whatever the names are made of."""
    return np.require(array, dtype, ["C", "W"])

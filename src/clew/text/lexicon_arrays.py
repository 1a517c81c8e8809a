"""The arrays of the lexicon as its file packs them, and as they are looked into."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import Float64, Int32


@dataclass(frozen=True, eq=False)
class Links:
    """A sparse relation: the targets of row i are `target[offsets[i]:offsets[i + 1]]`.

    Memory views, since their elements are plain Python numbers, many times faster to reach than NumPy's.
    """

    offsets: memoryview
    target: memoryview
    weight: memoryview

    @classmethod
    def of(cls, sizes: Int32, target: Int32, weight: Float64) -> Self:
        """Links from the number of targets of every row, all targets (int32) and their weights (float64)."""
        return cls(offsets_of(sizes), target.data, weight.data)

    def row(self, index: int) -> Iterator[tuple[int, float]]:
        """(target, weight) pairs of one row."""
        start, stop = self.offsets[index], self.offsets[index + 1]
        return zip(self.target[start:stop], self.weight[start:stop], strict=True)


def integers_of(planes: NDArray[Any], *, delta: bool = False) -> Int32:
    """int32 [n] from uint8 [3, n] byte planes of integers modulo 2^24, which are differences if `delta`."""
    parts = np.zeros((planes.shape[1], 4), np.uint8)
    parts[:, :3] = planes.T
    values = parts.reshape(-1).view("<i4").astype(np.int32, copy=False)
    return np.cumsum(values, dtype=np.int32) & 0xFFFFFF if delta else values


def links_of(planes: NDArray[Any], rows: int) -> tuple[Int32, Int32, Int32]:
    """(source of every link, number of links of every row, target of every link), all int32."""
    values = integers_of(planes)
    sizes = values[:rows]
    source = np.repeat(np.arange(rows, dtype=np.int32), sizes)
    return source, sizes, (source + values[rows:]) & 0xFFFFFF


def offsets_of(sizes: Int32) -> memoryview:
    """int64 [rows + 1]: where every row starts, and the end."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)]).data

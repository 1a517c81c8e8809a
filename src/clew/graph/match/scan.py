"""Distances of one vector from all stored ones; importing it imports numba."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

_compiled: Any = numba.njit(cache=True, nogil=True, fastmath=True)


@_compiled
def distances_from(rows: Any, scale: Any, query: Any) -> Any:  # noqa: ANN401
    """L2 distances of `query` float32 [d] from `rows` int8 [n, d] times `scale` float32 [n]; float32 [n].

    Sums may be taken in another order (fastmath), so that the eight bits are compared many at a time.
    """
    found = np.empty(len(rows), np.float32)
    for i in range(len(rows)):
        total = np.float32(0)
        factor = scale[i]
        for j in range(len(query)):
            difference = factor * np.float32(rows[i, j]) - query[j]
            total += difference * difference
        found[i] = np.sqrt(total)
    return found

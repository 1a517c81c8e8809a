"""Distances of one vector from all stored ones."""

from __future__ import annotations

import numpy as np

from clew.graph.kernels import Array, fast_entry


@fast_entry
def distances_from(rows: Array, scale: Array, query: Array) -> Array:
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

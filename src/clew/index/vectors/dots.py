"""Dot products of stored int8 rows with one query."""

from __future__ import annotations

import numpy as np

from clew.graph.kernels import Array, entry


@entry
def dots(rows: Array, scales: Array, picked: Array, query: Array) -> Array:
    """Products of the `picked` rows with a query of integers: float32 [len(picked)].

    `rows` int8 [n, d] times `scales` float32 [n]; `query` int16 [d], whose absolute values sum up to less
    than 2^31 / 127, so that the sums are exact.
    """
    products = np.empty(len(picked), np.float32)
    for i in range(len(picked)):
        row = rows[picked[i]]
        total = np.int32(0)
        for j in range(len(row)):
            # Cut back to int32 at every step, or the compiler widens the sum and does not vectorise it.
            total = np.int32(total + np.int32(row[j]) * np.int32(query[j]))
        products[i] = total * scales[picked[i]]
    return products


@entry
def quantised_sums(
    names: Array, relations: Array, heads: Array, relation: Array, tails: Array
) -> tuple[Array, Array]:
    """Sum head, relation and tail of triples, scale to length 1, round: int8 [n, d], scales float32 [n].

    `names` and `relations` float32 [·, d]; `heads`, `relation` and `tails` are rows of them.
    """
    count, width = len(heads), names.shape[1]
    rows = np.zeros((count, width), np.int8)
    scales = np.zeros(count, np.float32)
    total = np.empty(width, np.float32)
    for i in range(count):
        head, middle, tail = names[heads[i]], relations[relation[i]], names[tails[i]]
        square, largest = np.float32(0), np.float32(0)
        for j in range(width):
            total[j] = head[j] + middle[j] + tail[j]
            square += total[j] * total[j]
            largest = max(largest, abs(total[j]))
        if largest == 0:
            continue
        scales[i] = largest / np.sqrt(square) / np.float32(127)
        for j in range(width):
            rows[i, j] = np.int8(np.rint(total[j] / largest * np.float32(127)))
    return rows, scales


@entry
def summed_rows(rows: Array, scales: Array, starts: Array, stops: Array) -> Array:
    """Sum the rows of each group: float32 [groups, d]; group i has rows [starts[i], stops[i])."""
    width = rows.shape[1]
    sums = np.zeros((len(starts), width), np.float32)
    for group in range(len(starts)):
        for row in range(starts[group], stops[group]):
            for j in range(width):
                sums[group, j] += rows[row, j] * scales[row]
    return sums

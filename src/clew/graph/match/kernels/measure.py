"""Costs of any entity for one name: from a hash table, or from the stored vectors.

Products of int8 rows with a query of int16 are summed as integers, so that a distance does not depend on
where it is taken.
"""

from __future__ import annotations

import numpy as np

from clew.graph.kernels import Array, compiled, entry
from clew.graph.match.kernels import columns as c
from clew.graph.match.kernels.columns import Far
from clew.graph.match.kernels.prefetch import soon_read

APART = 1e-9
"""Distance from a name, at least, of an entity that is not called so."""

CACHE_LINE = 64
"""Bytes that are fetched together."""

_MIX = 0x9E3779B1


@compiled
def distance_from(row: Array, scale: float, query: Array, plain: Array) -> float:
    """L2 distance of `row` int8 [d] times `scale` from `query` int16 [d] times `plain[0]`, or `APART`."""
    return distance_with(row, square_of(row), scale, query, plain)


@compiled
def square_of(row: Array) -> np.int32:
    """Sum of the squares of `row` int8 [d]."""
    square = np.int32(0)
    for j in range(len(row)):
        # Cut back to int32 at every step, or the compiler widens the sum and does not vectorise it.
        square = np.int32(square + np.int32(row[j]) * np.int32(row[j]))
    return square


@compiled
def distance_with(row: Array, square: np.int32, scale: float, query: Array, plain: Array) -> float:
    """Take the distance as `distance_from`, of a row whose `square` is known."""
    product = np.int32(0)
    for j in range(len(query)):
        product = np.int32(product + np.int32(row[j]) * np.int32(query[j]))
    factor = np.float64(scale)
    row_square, mixed = factor * factor * np.float64(square), factor * plain[0] * np.float64(product)
    return np.sqrt(max(APART * APART, plain[1] + row_square - 2 * mixed))


@entry
def distances_from(rows: Array, scale: Array, picked: Array, query: Array, plain: Array) -> Array:
    """Distances of the `picked` rows, float64 [len(picked)]; see `distance_from`."""
    distances = np.empty(len(picked), np.float64)
    for i in range(len(picked)):
        distances[i] = distance_from(rows[picked[i]], scale[picked[i]], query, plain)
    return distances


@entry
def measure_all(
    rows: Array, scale: Array, query: Array, plain: Array, limit: Array
) -> tuple[Array, Array, Array]:
    """Find the rows that are within `limit` float64 [q] of each query.

    `query` int16 [q, d] and `plain` [q, 2] as in `distance_from`. Returns their numbers int32 [q, *], their
    distances [q, *], and how many of these count, int64 [q].
    """
    ids, distances = np.empty((len(query), len(rows)), np.int32), np.empty((len(query), len(rows)))
    counts = np.zeros(len(query), np.int64)
    for i in range(len(rows)):
        square = square_of(rows[i])
        for q in range(len(query)):
            distance = distance_with(rows[i], square, scale[i], query[q], plain[q])
            if distance <= limit[q]:
                ids[q, counts[q]], distances[q, counts[q]] = i, distance
                counts[q] += 1
    return ids, distances, counts


@entry
def hash_table(entities: Array, costs: Array) -> Array:
    """A hash table of distinct entities, int64 [slots, ENTITY COST]; free slots are -1."""
    slots = 2
    while slots < 2 * len(entities):
        slots *= 2
    table = np.full((slots, 2), -1, np.int64)
    for i in range(len(entities)):
        at = (entities[i] * _MIX >> 7) & (slots - 1)
        while table[at, c.ENTITY] >= 0:
            at = (at + 1) & (slots - 1)
        table[at, c.ENTITY], table[at, c.COST] = entities[i], costs[i]
    return table


@compiled
def far_cost(far: Far, node: int, entity: int, floor: int) -> int:
    """Cost of an entity for a FAR node; INFINITE if it may not be, or is listed and below `floor`."""
    listed, query = far.listed, far.node[node, c.QUERY]
    first, slots = far.node[node, c.SLOT], far.node[node, c.SLOTS]
    if slots:
        at = (entity * _MIX >> 7) & (slots - 1)
        while listed[first + at, c.ENTITY] >= 0:
            if listed[first + at, c.ENTITY] == entity:
                cost = listed[first + at, c.COST]
                return cost if cost >= floor else c.INFINITE
            at = (at + 1) & (slots - 1)
    if len(far.scale) == 0:
        return c.INFINITE
    if len(far.rows):
        distance = distance_from(far.rows[entity], far.scale[0, entity], far.query[query], far.plain[query])
    else:
        distance = np.float64(far.scale[query, entity])
    if not np.isfinite(distance):
        return c.INFINITE
    cost = int(np.rint(distance * c.UNIT)) << c.MISS_BITS
    # A backend may have overlooked one that is measured; what all distances tell is listed.
    return cost if len(far.rows) or cost >= floor else c.INFINITE


@compiled
def fetch_vector(far: Far, entity: int) -> None:
    """Have what `far_cost` measures an entity by fetched."""
    if len(far.rows) == 0:
        return
    row = far.rows[entity]
    for j in range(0, len(row), CACHE_LINE):
        soon_read(row, j)
    soon_read(row, len(row) - 1)
    soon_read(far.scale[0], entity)

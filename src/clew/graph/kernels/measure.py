"""Costs of any entity for one name: from a hash table, or from the stored vectors.

Products of int8 rows with a query of int16 are summed as integers, so that a distance does not depend on
where it is taken.
"""

from __future__ import annotations

import numpy as np

from clew.graph.kernels import Array, compiled, entry
from clew.graph.kernels.columns import COST, ENTITY, INFINITE, MISS_BITS, Far

UNIT = 1e9
_MIX = 0x9E3779B1


@compiled
def distance_from(row: Array, scale: float, query: Array, plain: Array) -> float:
    """L2 distance of `row` int8 [d] times `scale` from `query` int16 [d] times `plain[0]`."""
    product, square = np.int32(0), np.int32(0)
    for j in range(len(query)):
        # Cut back to int32 at every step, or the compiler widens the sum and does not vectorise it.
        product = np.int32(product + np.int32(row[j]) * np.int32(query[j]))
        square = np.int32(square + np.int32(row[j]) * np.int32(row[j]))
    factor = np.float64(scale)
    own, mixed = factor * factor * np.float64(square), factor * plain[0] * np.float64(product)
    return np.sqrt(max(0.0, plain[1] + own - 2 * mixed))


@entry
def distances_from(rows: Array, scale: Array, picked: Array, query: Array, plain: Array) -> Array:
    """Distances of the `picked` rows, float64 [len(picked)]; see `distance_from`."""
    found = np.empty(len(picked), np.float64)
    for i in range(len(picked)):
        found[i] = distance_from(rows[picked[i]], scale[picked[i]], query, plain)
    return found


@entry
def hashed(entities: Array, costs: Array) -> Array:
    """A hash table of distinct entities, int64 [slots, ENTITY COST]; free slots are -1."""
    slots = 2
    while slots < 2 * len(entities):
        slots *= 2
    table = np.full((slots, 2), -1, np.int64)
    for i in range(len(entities)):
        at = (entities[i] * _MIX >> 7) & (slots - 1)
        while table[at, ENTITY] >= 0:
            at = (at + 1) & (slots - 1)
        table[at, ENTITY], table[at, COST] = entities[i], costs[i]
    return table


@compiled
def far_cost(far: Far, entity: int) -> int:
    """Cost of an entity for the FAR node; INFINITE if it may not be."""
    listed, slots = far.listed, len(far.listed)
    if slots:
        at = (entity * _MIX >> 7) & (slots - 1)
        while listed[at, ENTITY] >= 0:
            if listed[at, ENTITY] == entity:
                return listed[at, COST]
            at = (at + 1) & (slots - 1)
    if len(far.scale) == 0:
        return INFINITE
    distance = np.float64(far.scale[entity])
    if len(far.rows):
        distance = distance_from(far.rows[entity], far.scale[entity], far.query, far.plain)
    if not np.isfinite(distance):
        return INFINITE
    return int(np.rint(distance * UNIT)) << MISS_BITS


@compiled
def look_ahead(far: Far, entity: int) -> int:
    """Read what `far_cost` will, so that the waits for memory overlap."""
    if len(far.rows) == 0:
        return 0
    row = far.rows[entity]
    return int(row[0] + row[-1]) + int(far.scale[entity])

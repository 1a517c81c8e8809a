"""Costs of any entity for one name: from a hash table, or from the stored vectors, asked for ahead.

Products of int8 rows with a query of int16 are summed as integers, so that a distance does not depend on
where it is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from clew.graph.kernels import Array, compiled, entry
from clew.graph.match.kernels import columns as c
from clew.graph.match.kernels.columns import Far

# Asking for memory before it is needed, so that the waits of many reads overlap.


_SOON, _DATA = 2, 1
"""How soon it is needed (3: at once; 2 leaves room for more at a time), and that it is data, not code."""


def _generate(for_writing: int) -> Any:  # noqa: ANN401
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ANN401
        kind = signature.args[0]
        array = context.make_array(kind)(context, builder, arguments[0])
        place = cgutils.get_item_pointer(context, builder, kind, array, [arguments[1]], wraparound=False)
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        function_type = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0i8")
        hints = [number(for_writing), number(_SOON), number(_DATA)]
        builder.call(function, [builder.bitcast(place, byte), *hints])
        return context.get_dummy_value()

    return generate


def _read(typing: Any, array: Any, place: Any) -> Any:  # noqa: ANN401
    return types.void(array, place), _generate(0)


def _write(typing: Any, array: Any, place: Any) -> Any:  # noqa: ANN401
    return types.void(array, place), _generate(1)


soon_read: Callable[[Array, int], None] = cast(Any, intrinsic)(_read)
"""Have the cache line of `array[place]` fetched; a place outside the array does no harm."""
soon_written: Callable[[Array, int], None] = cast(Any, intrinsic)(_write)
"""Have the cache line of `array[place]` fetched for writing."""


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

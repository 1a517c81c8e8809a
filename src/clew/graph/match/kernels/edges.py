"""Edges of one node, or between two, that a pattern edge may match, with their costs.

A cost is one int64: the distance as a multiple of 1e-9, shifted left by five bits, plus the direction
misses. Sums and comparisons of costs are then exact and in the order (distance, misses).

An edge is named by a code: its position in the outgoing adjacency (the triple id), or -1 - its position
in the incoming one, whose triple id is found only when a match is written.
"""

from __future__ import annotations

import numpy as np

from clew.graph.kernels import Array, compiled
from clew.graph.match.kernels import columns as c
from clew.graph.match.kernels.columns import GraphColumns, QueryColumns

LONG_RUN = 32
"""Edges of one node beyond which runs of one relation are skipped by binary search."""


@compiled
def lower_bound(values: Array, low: int, high: int, target: int) -> int:
    """First position in [low, high) of sorted `values` that is not below `target`."""
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < target:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def room(rows: Array, need: int) -> Array:
    """`rows`, or a copy of at least twice the length if there are fewer than `need`."""
    count, width = rows.shape
    if need <= count:
        return rows
    bigger = np.empty((max(need, 2 * count), width), np.int64)
    for i in range(count):
        for j in range(width):
            bigger[i, j] = rows[i, j]
    return bigger


@compiled
def edges_at(  # noqa: C901
    graph: GraphColumns,
    query: QueryColumns,
    edge: int,
    end: tuple[int, bool],
    most: int,
    buffer: Array,
    count: int,
) -> tuple[Array, int, int]:
    """Append the edges of a node that pattern edge `edge` may match, from `count` on.

    `end` is the node, and whether it is at the head of the edge. Those that cost more than `most` are left
    out; the last result is how far the nearest of them is above it (INFINITE: there is none).
    """
    node, at_head = end
    undirected = query.options[c.UNDIRECTED] == 1
    mode = query.edges[edge, c.MODE]
    first, last = query.edges[edge, c.LOW], query.edges[edge, c.HIGH]
    above = c.INFINITE
    degree = graph.out_stops[node] - graph.out_starts[node]
    degree += graph.into_stops[node] - graph.into_starts[node]
    buffer = room(buffer, count + degree)
    for side in range(2):
        miss = 0 if (side == 0) == at_head else 1
        if miss == 1 and not undirected:
            continue
        starts = graph.out_starts if side == 0 else graph.into_starts
        stops = graph.out_stops if side == 0 else graph.into_stops
        relation = graph.out_relation if side == 0 else graph.into_relation
        neighbour = graph.out_neighbour if side == 0 else graph.into_neighbour
        low, high = starts[node], stops[node]
        if low == high:
            continue
        wide = high - low > LONG_RUN
        position, j = low, first
        while position < high:
            relation_cost, stop = 0, high
            if mode == c.LISTED:
                if j == last:
                    break
                target_relation = query.relation[j, c.ID]
                relation_cost = query.relation[j, c.WEIGHT]
                j += 1
                if relation_cost > most and relation_cost < c.INFINITE:
                    above = min(above, relation_cost - most)
                    continue
                position = lower_bound(relation, position, high, target_relation)
                if position == high:
                    break
                if relation[position] != target_relation:
                    continue
                stop = lower_bound(relation, position, high, target_relation + 1)
            elif mode == c.DENSE:
                current = relation[position]
                relation_cost = query.relation[first + current, c.WEIGHT]
                stop = position + 1
                if wide:
                    stop = lower_bound(relation, position, high, current + 1)
                if relation_cost > most and relation_cost < c.INFINITE:
                    above = min(above, relation_cost - most)
                    position = stop
                    continue
            if relation_cost >= c.INFINITE:
                position = stop
                continue
            while position < stop:
                far_end = neighbour[position]
                position += 1
                # A loop is in both lists; it runs in either direction, so it is never a miss.
                if far_end == node and side == 1 and undirected:
                    continue
                buffer[count, c.NEIGHBOUR] = far_end
                buffer[count, c.CODE] = position - 1 if side == 0 else -position
                buffer[count, c.PRICE] = relation_cost + (miss if far_end != node else 0)
                count += 1
    return buffer, count, above


@compiled
def triples_between(
    graph: GraphColumns,
    query: QueryColumns,
    edge: int,
    ends: tuple[int, int],
    miss: int,
    buffer: Array,
    count: int,
) -> tuple[Array, int]:
    """Append the triples from the first of `ends` to the second that pattern edge `edge` may match."""
    head, tail = ends
    mode = query.edges[edge, c.MODE]
    first, last = query.edges[edge, c.LOW], query.edges[edge, c.HIGH]
    out_degree = graph.out_stops[head] - graph.out_starts[head]
    into_degree = graph.into_stops[tail] - graph.into_starts[tail]
    outward = out_degree <= into_degree
    node, far_end = (head, tail) if outward else (tail, head)
    starts = graph.out_starts if outward else graph.into_starts
    stops = graph.out_stops if outward else graph.into_stops
    relation = graph.out_relation if outward else graph.into_relation
    neighbour = graph.out_neighbour if outward else graph.into_neighbour
    low, high = starts[node], stops[node]
    position, j = low, first
    while position < high:
        if mode == c.LISTED:
            if j == last:
                break
            position = lower_bound(relation, position, high, query.relation[j, c.ID])
            if position == high:
                break
            if relation[position] != query.relation[j, c.ID]:
                j += 1
                continue
        current = relation[position]
        stop = lower_bound(relation, position, high, current + 1)
        position = lower_bound(neighbour, position, stop, far_end)
        if position < stop and neighbour[position] == far_end:
            cost = 0
            if mode == c.LISTED:
                cost = query.relation[j, c.WEIGHT]
            elif mode == c.DENSE:
                cost = query.relation[first + current, c.WEIGHT]
            if cost < c.INFINITE:
                buffer = room(buffer, count + 1)
                buffer[count, c.NEIGHBOUR] = far_end
                buffer[count, c.CODE] = position if outward else -1 - position
                buffer[count, c.PRICE] = cost + miss
                count += 1
        position = stop
    return buffer, count


@compiled
def edges_between(
    graph: GraphColumns, query: QueryColumns, edge: int, ends: tuple[int, int], buffer: Array, count: int
) -> tuple[Array, int]:
    """Append the edges that `edge` may match between `ends`, its head and its tail, from `count` on."""
    head, tail = ends
    buffer, count = triples_between(graph, query, edge, (head, tail), c.ZERO, buffer, count)
    if query.options[c.UNDIRECTED] == 1 and head != tail:
        buffer, count = triples_between(graph, query, edge, (tail, head), c.ONE, buffer, count)
    return buffer, count


@compiled
def triple_of(graph: GraphColumns, code: int, first_end: int, second_end: int) -> int:
    """Triple id of an edge code whose ends are `first_end` and `second_end`."""
    if code >= 0:
        return code
    position = -1 - code
    tail = first_end
    if position < graph.into_starts[first_end] or position >= graph.into_stops[first_end]:
        tail = second_end
    head = graph.into_neighbour[position]
    target_relation = graph.into_relation[position] + c.ZERO
    low, high = graph.out_starts[head], graph.out_stops[head]
    low = lower_bound(graph.out_relation, low, high, target_relation)
    high = lower_bound(graph.out_relation, low, high, target_relation + 1)
    return lower_bound(graph.out_neighbour, low, high, tail)


@compiled
def count_at(
    graph: GraphColumns, query: QueryColumns, edge: int, node: int, at_head: bool, exact: bool
) -> int:
    """Count the edges that `edges_at` looks at; an upper bound by degree unless `exact`."""
    total = 0
    for side in range(2):
        if (side == 0) != at_head and query.options[c.UNDIRECTED] == 0:
            continue
        starts = graph.out_starts if side == 0 else graph.into_starts
        stops = graph.out_stops if side == 0 else graph.into_stops
        relation = graph.out_relation if side == 0 else graph.into_relation
        low, high = starts[node], stops[node]
        if not exact or query.edges[edge, c.MODE] != c.LISTED:
            total += high - low
            continue
        for j in range(query.edges[edge, c.LOW], query.edges[edge, c.HIGH]):
            start = lower_bound(relation, low, high, query.relation[j, c.ID])
            total += lower_bound(relation, start, high, query.relation[j, c.ID] + 1) - start
    return total

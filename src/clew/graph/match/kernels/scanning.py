"""Reading the edges of many entities of a layer, whose memory is asked for ahead."""

from __future__ import annotations

import numpy as np

from clew.graph.kernels import Array, compiled
from clew.graph.match.kernels import columns as c
from clew.graph.match.kernels.columns import GraphColumns, Layers, Search, Sweep
from clew.graph.match.kernels.edges import LONG_RUN, lower_bound, room
from clew.graph.match.kernels.prefetch import soon_read

ENTITIES_AT_ONCE = 128
"""Entities whose edges are read together."""
SOON = 24
"""Entities ahead of the one in hand for which memory is asked."""
MOST_AT_ONCE = 1 << 16
"""Edges after which those read so far are taken first."""
SIFTED = 4096
"""Entities whose edges are looked through together for those that lead to a layer."""
_ONE, _BYTE, _BIT, _SIEVE = np.uint32(1), np.uint32(3), np.uint32(7), np.uint32(c.SIEVE - 1)


@compiled
def fetch(graph: GraphColumns, layers: Layers, start: int, stop: int, alive: Array) -> tuple[int, int, int]:
    """(how many of the entries live, entry after the last, their edges); writes their positions into `alive`.

    Has their edges fetched, of all at once. Ends early before more than `MOST_AT_ONCE` edges.
    """
    entry = layers.entry
    for i in range(start, stop):
        fetch_starts(graph, entry[i, c.ENTITY])
    count, edges = 0, 0
    for i in range(start, stop):
        if entry[i, c.LOWEST] >= c.INFINITE:
            continue
        entity = entry[i, c.ENTITY]
        degree = graph.out_stops[entity] - graph.out_starts[entity]
        degree += graph.into_stops[entity] - graph.into_starts[entity]
        if edges + degree > MOST_AT_ONCE and count > 0:
            stop = i
            break
        edges += degree
        alive[count] = i
        count += 1
        fetch_neighbours(graph, entity)
        fetch_relations(graph, entity)
    return count, stop, edges


@compiled
def fetch_starts(graph: GraphColumns, entity: int) -> None:
    """Have fetched where the edges of an entity are."""
    soon_read(graph.out_starts, entity)
    soon_read(graph.out_stops, entity)
    soon_read(graph.into_starts, entity)
    soon_read(graph.into_stops, entity)


@compiled
def fetch_neighbours(graph: GraphColumns, entity: int) -> None:
    """Have the other ends of the edges of an entity fetched."""
    soon_read(graph.out_neighbour, graph.out_starts[entity])
    soon_read(graph.out_neighbour, graph.out_stops[entity] - 1)
    soon_read(graph.into_neighbour, graph.into_starts[entity])
    soon_read(graph.into_neighbour, graph.into_stops[entity] - 1)


@compiled
def fetch_relations(graph: GraphColumns, entity: int) -> None:
    """Have the relations of the edges of an entity fetched."""
    soon_read(graph.out_relation, graph.out_starts[entity])
    soon_read(graph.into_relation, graph.into_starts[entity])


@compiled
def sift(  # noqa: C901
    search: Search, layers: Layers, start: int, stop: int, ways: tuple[bool, bool], alive: Array
) -> tuple[int, int, int]:
    """As `fetch`, but only of the entries with an edge to an entity with a bit in the scratch.

    `ways` says whether edges out of an entry are looked at, and those into it. Entries with more than
    `LONG_RUN` edges in one direction are taken unseen.
    """
    graph, (outward, inward) = search.graph, ways
    entry, bits, sieve = layers.entry, search.scratch.bits, search.scratch.sieve
    out_starts, out_stops, out = graph.out_starts, graph.out_stops, graph.out_neighbour
    into_starts, into_stops, into = graph.into_starts, graph.into_stops, graph.into_neighbour
    count, edges = 0, 0
    for i in range(start - 2 * SOON, stop):
        if i + 2 * SOON < stop:
            fetch_starts(graph, entry[i + 2 * SOON, c.ENTITY])
        if start <= i + SOON < stop:
            fetch_neighbours(graph, entry[i + SOON, c.ENTITY])
        if i < start or entry[i, c.LOWEST] >= c.INFINITE:
            continue
        entity = entry[i, c.ENTITY]
        low, high = out_starts[entity], out_stops[entity]
        first, last = into_starts[entity], into_stops[entity]
        hit = max(high - low, last - first) > LONG_RUN
        if outward and not hit:
            for position in range(low, high):
                number = np.uint32(out[np.uint64(position)])
                if sieve[number >> _BYTE & _SIEVE] >> (number & _BIT) & _ONE:
                    hit |= bits[number >> _BYTE] >> (number & _BIT) & _ONE != 0
        if inward and not hit:
            for position in range(first, last):
                number = np.uint32(into[np.uint64(position)])
                if sieve[number >> _BYTE & _SIEVE] >> (number & _BIT) & _ONE:
                    hit |= bits[number >> _BYTE] >> (number & _BIT) & _ONE != 0
        if not hit:
            continue
        degree = high - low + last - first
        if edges + degree > MOST_AT_ONCE and count > 0:
            stop = i
            break
        edges += degree
        alive[count] = i
        count += 1
        fetch_relations(graph, entity)
    return count, stop, edges


@compiled
def scan(  # noqa: C901
    search: Search, layers: Layers, sweep: Sweep, start: int, buffer: Array
) -> tuple[Array, int, int]:
    """(buffer, edges in it, entry after the last) of some entries of a layer from `start` on.

    As `edges_at` for each living one, with its place in the layer as ORIGIN. Apart from that function as its
    calls, and changing from one side to the other, cost more than most nodes do.
    """
    graph, query, state = search.graph, search.query, search.state
    edge, node, filtered = sweep.edge, sweep.node, sweep.filtered
    undirected, at_head = query.options[c.UNDIRECTED] == 1, query.edges[edge, c.HEAD] == node
    mode, first, last = query.edges[edge, c.MODE], query.edges[edge, c.LOW], query.edges[edge, c.HIGH]
    weights, entry, cap = query.relation, layers.entry, query.options[c.CAP]
    bits = search.scratch.bits
    begin, size = layers.node[node, c.START], layers.node[node, c.SIZE]
    alive = np.empty(SIFTED if filtered else ENTITIES_AT_ONCE, np.int64)
    stop = min(start + len(alive), begin + size)
    if filtered:
        ways = (at_head or undirected, undirected or not at_head)
        living, stop, edges = sift(search, layers, start, stop, ways, alive)
    else:
        living, stop, edges = fetch(graph, layers, start, stop, alive)
    # All at once: an array that may change in a loop is counted in every turn of it.
    buffer = room(buffer, edges)
    count, above = 0, c.INFINITE
    for side in range(2):
        miss = 0 if (side == 0) == at_head else 1
        if miss == 1 and not undirected:
            continue
        starts = graph.out_starts if side == 0 else graph.into_starts
        stops = graph.out_stops if side == 0 else graph.into_stops
        relation = graph.out_relation if side == 0 else graph.into_relation
        neighbour = graph.out_neighbour if side == 0 else graph.into_neighbour
        for at in range(living):
            i = alive[at]
            most, entity, j = cap - entry[i, c.LOWEST] - sweep.rest, entry[i, c.ENTITY], first
            if sweep.ahead:
                most = c.INFINITE - 1
            position, high = starts[entity], stops[entity]
            wide = high - position > LONG_RUN
            while position < high:
                relation_cost, end = 0, high
                if mode == c.LISTED:
                    if j == last:
                        break
                    relation_cost, target_relation = weights[j, c.WEIGHT], weights[j, c.ID]
                    j += 1
                    if relation_cost > most and relation_cost < c.INFINITE:
                        above = min(above, relation_cost - most)
                        continue
                    position = lower_bound(relation, position, high, target_relation)
                    if position == high:
                        break
                    if relation[position] != target_relation:
                        continue
                    end = lower_bound(relation, position, high, target_relation + 1)
                elif mode == c.DENSE:
                    if filtered and not wide:
                        far_end = neighbour[position]
                        if bits[far_end >> 3] >> (far_end & 7) & 1 == 0:
                            position += 1
                            continue
                    current = relation[position]
                    relation_cost, end = weights[first + current, c.WEIGHT], position + 1
                    if wide:
                        end = lower_bound(relation, position, high, current + 1)
                    if relation_cost > most and relation_cost < c.INFINITE:
                        above = min(above, relation_cost - most)
                        position = end
                        continue
                if relation_cost >= c.INFINITE:
                    position = end
                    continue
                while position < end:
                    far_end = neighbour[position]
                    position += 1
                    if far_end == entity and side == 1 and undirected:
                        continue
                    if filtered and bits[far_end >> 3] >> (far_end & 7) & 1 == 0:
                        continue
                    buffer[count, c.NEIGHBOUR] = far_end
                    buffer[count, c.CODE] = position - 1 if side == 0 else -position
                    buffer[count, c.PRICE] = relation_cost + (miss if far_end != entity else 0)
                    buffer[count, c.ORIGIN] = i - begin
                    count += 1
    if above < state[c.CUT]:
        state[c.CUT] = above
    return buffer, count, stop

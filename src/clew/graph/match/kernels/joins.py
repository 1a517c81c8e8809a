"""Joins of layers: a new one from the edges of another, or the edges between two."""

from __future__ import annotations

import numpy as np

from clew.graph.kernels import Array, compiled
from clew.graph.match.kernels import columns as c
from clew.graph.match.kernels.columns import LayerJoin, Layers, LayerScratch, QueryColumns, Search, Sweep
from clew.graph.match.kernels.layers import layer_edges, layers_room
from clew.graph.match.kernels.measure import far_cost, fetch_vector
from clew.graph.match.kernels.prefetch import soon_written
from clew.graph.match.kernels.scanning import SOON, scan

WORTH_A_FILTER = 4096
"""Edges from a layer beyond which it is worth to look first where they may lead."""
KEPT_AHEAD = 16
"""Edges that are kept above the cap."""
NOT_HERE = 0xFFFFFFFF
"""Place of an entity that the layer may not hold."""


@compiled
def spend(search: Search, amount: int) -> bool:
    """Count `amount` of work; True when the budget has ended."""
    state = search.state
    state[c.SPENT] += amount
    if state[c.SPENT] > state[c.ALLOWED] or search.stop[0] != 0:
        state[c.STATUS] = c.STOPPED
        return True
    return False


@compiled
def set_aside(query: QueryColumns, child: int) -> Array:
    """Entities that `child` cannot be: each is the only candidate of another node of an injective match."""
    entities = np.empty(len(query.nodes), np.int64)
    count = 0
    for v in range(len(query.nodes)):
        first = query.nodes[v, c.FIRST]
        if v != child and query.nodes[v, c.KIND] == c.KNOWN and query.nodes[v, c.LAST] - first == 1:
            entities[count] = query.candidate[first, c.ID]
            count += 1
    return entities[: count if query.options[c.DISTINCT] == c.NODES else 0]


@compiled
def mark_layer(layers: Layers, node: int, scratch: LayerScratch, value: bool) -> None:
    """Note (or with `value` False only clear the bits of) the places of the living in the layer of `node`."""
    marks, bits, sieve = scratch.marks, scratch.bits, scratch.sieve
    begin, generation, entry = layers.node[node, c.START], marks[-1] << 32, layers.entry
    size = layers.node[node, c.SIZE]
    for j in range(min(size, SOON) if value else c.ZERO):
        soon_written(marks, entry[begin + j, c.ENTITY])
    for j in range(size):
        entity = entry[begin + j, c.ENTITY]
        if value and j + SOON < size:
            soon_written(marks, entry[begin + j + SOON, c.ENTITY])
        if not value:
            bits[entity >> 3] = 0
        elif entry[begin + j, c.LOWEST] < c.INFINITE:
            marks[entity] = generation + j
            bits[entity >> 3] |= 1 << (entity & 7)
            sieve[entity >> 3 & (c.SIEVE - 1)] |= 1 << (entity & 7)
    if not value:
        sieve[:] = 0


@compiled
def reach_bits(search: Search, layers: Layers, buffer: Array, join: LayerJoin) -> tuple[bool, Array]:
    """Set the bits of what the node to join can be by its edge to another layer, if that is cheap."""
    graph, query, scratch, edge, child = search.graph, search.query, search.scratch, join.edge, join.other
    most = layer_edges(graph, query, layers, edge, join.scanned, c.ZERO + c.INFINITE)
    best, near = c.ZERO - 1, c.ZERO - 1
    for e in range(len(query.edges)):
        head, tail = query.edges[e, c.HEAD], query.edges[e, c.TAIL]
        neighbour = tail if head == child else head
        if e == edge or neighbour == child or (head != child and tail != child):
            continue
        if layers.node[neighbour, c.START] >= 0 and most > WORTH_A_FILTER:
            cost = layer_edges(graph, query, layers, e, neighbour, 2 * most)
            if cost < 2 * most:
                best, near, most = e, neighbour, cost // 2
    if best < 0:
        return c.NO, buffer
    scratch.sieve[:] = 255  # so many would leave few holes in it
    at, stop = layers.node[near, c.START], layers.node[near, c.START] + layers.node[near, c.SIZE]
    while at < stop:
        sweep = Sweep(best, near, -query.edges[best, c.LEAST], c.NO, c.NO)
        buffer, count, at = scan(search, layers, sweep, at, buffer)
        search.state[c.SPENT] += count
        for j in range(count):
            scratch.bits[buffer[j, c.NEIGHBOUR] >> 3] |= 1 << (buffer[j, c.NEIGHBOUR] & 7)
    return c.YES, buffer


@compiled
def join_new(  # noqa: C901
    search: Search, layers: Layers, buffer: Array, join: LayerJoin
) -> tuple[Layers, Array]:
    """Make the layer of an unknown or far node (with its costs) from the edges of the layer scanned."""
    query, scratch, state = search.query, search.scratch, search.state
    edge, parent, child = join.edge, join.scanned, join.other
    mask, injective = query.nodes[child, c.MASK], query.options[c.DISTINCT] == c.NODES
    far, cap = query.nodes[child, c.KIND] == c.FAR, query.options[c.CAP]
    floor = query.nodes[child, c.FLOOR]
    nearest = np.empty(KEPT_AHEAD, np.int64)
    nearest[:] = c.INFINITE if join.ahead else -1
    marks = scratch.marks
    free_cost, generation = query.edges[edge, c.LEAST], marks[-1] << 32
    first, begin = layers.node[parent, c.START], layers.node[child, c.START]
    size, parents = c.ZERO, layers.node[parent, c.SIZE]
    parent_lowest = np.empty(parents, np.int64)
    for entity in set_aside(query, child):
        marks[entity] = generation + NOT_HERE
    filtered, buffer = reach_bits(search, layers, buffer, join)
    sweep = Sweep(edge, parent, -free_cost, filtered, c.NO)
    parent_lowest[:] = c.INFINITE
    at = first
    while at < first + parents:
        buffer, count, next_entry = scan(search, layers, sweep, at, buffer)
        if spend(search, count + next_entry - at):
            break
        layers, at = layers_room(layers, count, count), next_entry
        entry, edges, fill = layers.entry, layers.edge, layers.used[1]
        for j in range(count):
            soon_written(marks, buffer[j, c.NEIGHBOUR])
        if far:
            for j in range(count):
                if marks[buffer[j, c.NEIGHBOUR]] < generation:
                    fetch_vector(query.far, buffer[j, c.NEIGHBOUR])
        for j in range(count):
            entity, i = buffer[j, c.NEIGHBOUR], buffer[j, c.ORIGIN]
            place = marks[entity] - generation
            if place == NOT_HERE or (injective and entity == entry[first + i, c.ENTITY]):
                continue
            if place < 0:
                if mask >= 0 and not query.masks[mask, entity]:
                    continue
                cost = far_cost(query.far, child, entity, floor) if far else c.ZERO
                if cost >= c.INFINITE:
                    marks[entity] = generation + NOT_HERE
                    continue
                place = size
                size += 1
                marks[entity] = generation + place
                entry[begin + place, c.ENTITY], entry[begin + place, c.COST] = entity, cost
                entry[begin + place, c.LOWEST] = c.INFINITE
            lowest = entry[first + i, c.LOWEST] + buffer[j, c.PRICE] - free_cost
            lowest += entry[begin + place, c.COST] - floor
            if lowest > cap:
                note_cut(state, lowest - cap)
                if lowest >= nearest[-1]:
                    continue
                insert(nearest, lowest)
            parent_lowest[i] = min(parent_lowest[i], lowest)
            entry[begin + place, c.LOWEST] = min(lowest, entry[begin + place, c.LOWEST])
            edges[fill, c.SOURCE], edges[fill, c.TARGET] = i, place
            edges[fill, c.CODE], edges[fill, c.PRICE] = buffer[j, c.CODE], buffer[j, c.PRICE]
            fill += 1
        layers.used[0], layers.used[1] = begin + size, fill
        layers.node[child, c.SIZE] = size
    if filtered:
        scratch.bits[:] = 0
        scratch.sieve[:] = 0
    lowest_of = layers.entry[first : first + parents, c.LOWEST]
    lowest_of[:] = parent_lowest
    return layers, buffer


@compiled
def note_cut(state: Array, above: int) -> None:
    """Remember how far above the cap something was, if nothing was nearer."""
    if above < state[c.CUT]:
        state[c.CUT] = above


@compiled
def insert(ascending: Array, value: int) -> None:
    """Put `value`, which is less than the last, in its place."""
    at = len(ascending) - 1
    while at > 0 and ascending[at - 1] > value:
        ascending[at] = ascending[at - 1]
        at -= 1
    ascending[at] = value


@compiled
def join_two(search: Search, layers: Layers, buffer: Array, join: LayerJoin) -> tuple[Layers, Array]:
    """Find the edges between two layers, by those of every entity in the layer scanned."""
    query, scratch, state = search.query, search.scratch, search.state
    edge, scanned, other = join.edge, join.scanned, join.other
    cap, base, injective = query.options[c.CAP], query.options[c.BASE], query.options[c.DISTINCT] == c.NODES
    marks = scratch.marks
    free_cost, generation = query.edges[edge, c.LEAST] + base, marks[-1] << 32
    first, begin = layers.node[scanned, c.START], layers.node[other, c.START]
    mark_layer(layers, other, scratch, c.YES)
    target_lowest = np.empty(layers.node[other, c.SIZE], np.int64)
    source_lowest = np.empty(layers.node[scanned, c.SIZE], np.int64)
    least = c.INFINITE
    for place in range(len(target_lowest)):
        target_lowest[place] = layers.entry[begin + place, c.LOWEST]
        least = min(least, target_lowest[place])
        layers.entry[begin + place, c.LOWEST] = c.INFINITE
    source_lowest[:] = c.INFINITE
    nearest = np.empty(KEPT_AHEAD, np.int64)
    nearest[:] = c.INFINITE if join.ahead else -1
    at, size = first, layers.node[scanned, c.SIZE] if least < c.INFINITE else c.ZERO
    sweep = Sweep(edge, scanned, least - free_cost, c.YES, join.ahead)
    while at < first + size:
        buffer, count, next_entry = scan(search, layers, sweep, at, buffer)
        if spend(search, count + next_entry - at):
            break
        layers, at = layers_room(layers, c.ZERO, count), next_entry
        entry, edges, fill = layers.entry, layers.edge, layers.used[1]
        for j in range(count):
            i, place = buffer[j, c.ORIGIN], marks[buffer[j, c.NEIGHBOUR]] - generation
            if injective and buffer[j, c.NEIGHBOUR] == entry[first + i, c.ENTITY]:
                continue
            lowest = entry[first + i, c.LOWEST] + target_lowest[place] + buffer[j, c.PRICE] - free_cost
            if lowest > cap:
                note_cut(state, lowest - cap)
                if lowest >= nearest[-1]:
                    continue
                insert(nearest, lowest)
            source_lowest[i] = min(source_lowest[i], lowest)
            entry[begin + place, c.LOWEST] = min(lowest, entry[begin + place, c.LOWEST])
            edges[fill, c.SOURCE], edges[fill, c.TARGET] = i, place
            edges[fill, c.CODE], edges[fill, c.PRICE] = buffer[j, c.CODE], buffer[j, c.PRICE]
            fill += 1
        layers.used[1] = fill
    lowest_of = layers.entry[first : first + len(source_lowest), c.LOWEST]
    lowest_of[:] = source_lowest
    mark_layer(layers, other, scratch, c.NO)
    return layers, buffer

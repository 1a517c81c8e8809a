"""Joins of layers: a new one from the edges of another, or the edges between two."""

from __future__ import annotations

import numpy as np

from clew.graph.kernels import Array, compiled
from clew.graph.match.kernels.columns import (
    ALLOWED,
    BASE,
    CAP,
    CODE,
    COST,
    CUT,
    DISTINCT,
    ENTITY,
    FAR,
    FIRST,
    FLOOR,
    HEAD,
    ID,
    INFINITE,
    KIND,
    KNOWN,
    LAST,
    LEAST,
    LOWEST,
    MASK,
    NEIGHBOUR,
    NO,
    NODES,
    ORIGIN,
    PRICE,
    SIEVE,
    SIZE,
    SOURCE,
    SPENT,
    START,
    STATUS,
    STOPPED,
    TAIL,
    TARGET,
    YES,
    ZERO,
    LayerJoin,
    Layers,
    LayerScratch,
    QueryColumns,
    Search,
    Sweep,
)
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
    state[SPENT] += amount
    if state[SPENT] > state[ALLOWED] or search.stop[0] != 0:
        state[STATUS] = STOPPED
        return True
    return False


@compiled
def set_aside(query: QueryColumns, child: int) -> Array:
    """Entities that `child` cannot be: each is the only candidate of another node of an injective match."""
    entities = np.empty(len(query.nodes), np.int64)
    count = 0
    for v in range(len(query.nodes)):
        first = query.nodes[v, FIRST]
        if v != child and query.nodes[v, KIND] == KNOWN and query.nodes[v, LAST] - first == 1:
            entities[count] = query.candidate[first, ID]
            count += 1
    return entities[: count if query.options[DISTINCT] == NODES else 0]


@compiled
def mark_layer(layers: Layers, node: int, scratch: LayerScratch, value: bool) -> None:
    """Note (or with `value` False only clear the bits of) the places of the living in the layer of `node`."""
    marks, bits, sieve = scratch.marks, scratch.bits, scratch.sieve
    begin, generation, entry = layers.node[node, START], marks[-1] << 32, layers.entry
    size = layers.node[node, SIZE]
    for j in range(min(size, SOON) if value else ZERO):
        soon_written(marks, entry[begin + j, ENTITY])
    for j in range(size):
        entity = entry[begin + j, ENTITY]
        if value and j + SOON < size:
            soon_written(marks, entry[begin + j + SOON, ENTITY])
        if not value:
            bits[entity >> 3] = 0
        elif entry[begin + j, LOWEST] < INFINITE:
            marks[entity] = generation + j
            bits[entity >> 3] |= 1 << (entity & 7)
            sieve[entity >> 3 & (SIEVE - 1)] |= 1 << (entity & 7)
    if not value:
        sieve[:] = 0


@compiled
def reach_bits(search: Search, layers: Layers, buffer: Array, join: LayerJoin) -> tuple[bool, Array]:
    """Set the bits of what the node to join can be by its edge to another layer, if one is cheap to follow.

    Then far fewer entities get into its layer than the one that is scanned would let in.
    """
    graph, query, scratch, edge, child = search.graph, search.query, search.scratch, join.edge, join.other
    most = layer_edges(graph, query, layers, edge, join.scanned, ZERO + INFINITE)
    best, near = ZERO - 1, ZERO - 1
    for e in range(len(query.edges)):
        head, tail = query.edges[e, HEAD], query.edges[e, TAIL]
        other = tail if head == child else head
        if e == edge or other == child or (head != child and tail != child):
            continue
        if layers.node[other, START] >= 0 and most > WORTH_A_FILTER:
            cost = layer_edges(graph, query, layers, e, other, 2 * most)
            if cost < 2 * most:
                best, near, most = e, other, cost // 2
    if best < 0:
        return NO, buffer
    scratch.sieve[:] = 255  # so many would leave few holes in it
    at, stop = layers.node[near, START], layers.node[near, START] + layers.node[near, SIZE]
    while at < stop:
        sweep = Sweep(best, near, -query.edges[best, LEAST], NO, NO)
        buffer, count, at = scan(search, layers, sweep, at, buffer)
        search.state[SPENT] += count
        for j in range(count):
            scratch.bits[buffer[j, NEIGHBOUR] >> 3] |= 1 << (buffer[j, NEIGHBOUR] & 7)
    return YES, buffer


@compiled
def join_new(  # noqa: C901
    search: Search, layers: Layers, buffer: Array, join: LayerJoin
) -> tuple[Layers, Array]:
    """Make the layer of an unknown or far node from the edges of every entity in the layer scanned.

    Of a far one, what it costs is part of the bounds.
    """
    query, scratch, state = search.query, search.scratch, search.state
    edge, parent, child = join.edge, join.scanned, join.other
    mask, injective = query.nodes[child, MASK], query.options[DISTINCT] == NODES
    far, cap = query.nodes[child, KIND] == FAR, query.options[CAP]
    floor = query.nodes[child, FLOOR]
    nearest = np.empty(KEPT_AHEAD, np.int64)
    nearest[:] = INFINITE if join.ahead else -1
    marks = scratch.marks
    free, generation = query.edges[edge, LEAST], marks[-1] << 32
    first, begin = layers.node[parent, START], layers.node[child, START]
    size, parents = ZERO, layers.node[parent, SIZE]
    before = np.empty(parents, np.int64)
    for other in set_aside(query, child):
        marks[other] = generation + NOT_HERE
    filtered, buffer = reach_bits(search, layers, buffer, join)
    sweep = Sweep(edge, parent, -free, filtered, NO)
    before[:] = INFINITE
    at = first
    while at < first + parents:
        buffer, count, after = scan(search, layers, sweep, at, buffer)
        if spend(search, count + after - at):
            break
        layers, at = layers_room(layers, count, count), after
        entry, edges, fill = layers.entry, layers.edge, layers.used[1]
        for j in range(count):
            soon_written(marks, buffer[j, NEIGHBOUR])
        if far:
            for j in range(count):
                if marks[buffer[j, NEIGHBOUR]] < generation:
                    fetch_vector(query.far, buffer[j, NEIGHBOUR])
        for j in range(count):
            other, i = buffer[j, NEIGHBOUR], buffer[j, ORIGIN]
            place = marks[other] - generation
            if place == NOT_HERE or (injective and other == entry[first + i, ENTITY]):
                continue
            if place < 0:
                if mask >= 0 and not query.masks[mask, other]:
                    continue
                cost = far_cost(query.far, child, other, floor) if far else ZERO
                if cost >= INFINITE:
                    marks[other] = generation + NOT_HERE
                    continue
                place = size
                size += 1
                marks[other] = generation + place
                entry[begin + place, ENTITY], entry[begin + place, COST] = other, cost
                entry[begin + place, LOWEST] = INFINITE
            lowest = entry[first + i, LOWEST] + buffer[j, PRICE] - free + entry[begin + place, COST] - floor
            if lowest > cap:
                note_cut(state, lowest - cap)
                if lowest >= nearest[-1]:
                    continue
                insert(nearest, lowest)
            before[i] = min(before[i], lowest)
            entry[begin + place, LOWEST] = min(lowest, entry[begin + place, LOWEST])
            edges[fill, SOURCE], edges[fill, TARGET] = i, place
            edges[fill, CODE], edges[fill, PRICE] = buffer[j, CODE], buffer[j, PRICE]
            fill += 1
        layers.used[0], layers.used[1] = begin + size, fill
        layers.node[child, SIZE] = size
    if filtered:
        scratch.bits[:] = 0
        scratch.sieve[:] = 0
    lowest_of = layers.entry[first : first + parents, LOWEST]
    lowest_of[:] = before
    return layers, buffer


@compiled
def note_cut(state: Array, above: int) -> None:
    """Remember how far above the cap something was, if nothing was nearer."""
    if above < state[CUT]:
        state[CUT] = above


@compiled
def insert(ascending: Array, value: int) -> None:
    """Put `value`, which is less than the last, in its place."""
    at = len(ascending) - 1
    while at > 0 and ascending[at - 1] > value:
        ascending[at] = ascending[at - 1]
        at -= 1
    ascending[at] = value


@compiled
def rise(layers: Layers, node: int, before: Array) -> int:
    """Move the lower bounds of a layer to `before`, leaving INFINITE; the least of them."""
    first, least, entry = layers.node[node, START], INFINITE, layers.entry
    for i in range(layers.node[node, SIZE]):
        before[i] = entry[first + i, LOWEST]
        least = min(least, before[i])
        entry[first + i, LOWEST] = INFINITE
    return least


@compiled
def join_two(search: Search, layers: Layers, buffer: Array, join: LayerJoin) -> tuple[Layers, Array]:
    """Find the edges between two layers, by those of every entity in the layer scanned."""
    query, scratch, state = search.query, search.scratch, search.state
    edge, scanned, other = join.edge, join.scanned, join.other
    cap, base, injective = query.options[CAP], query.options[BASE], query.options[DISTINCT] == NODES
    marks = scratch.marks
    free, generation = query.edges[edge, LEAST] + base, marks[-1] << 32
    first, begin = layers.node[scanned, START], layers.node[other, START]
    mark_layer(layers, other, scratch, YES)
    there, here = np.empty(layers.node[other, SIZE], np.int64), np.empty(layers.node[scanned, SIZE], np.int64)
    least = rise(layers, other, there)
    here[:] = INFINITE
    nearest = np.empty(KEPT_AHEAD, np.int64)
    nearest[:] = INFINITE if join.ahead else -1
    at, size = first, layers.node[scanned, SIZE] if least < INFINITE else ZERO
    sweep = Sweep(edge, scanned, least - free, YES, join.ahead)
    while at < first + size:
        buffer, count, after = scan(search, layers, sweep, at, buffer)
        if spend(search, count + after - at):
            break
        layers, at = layers_room(layers, ZERO, count), after
        entry, edges, fill = layers.entry, layers.edge, layers.used[1]
        for j in range(count):
            i, place = buffer[j, ORIGIN], marks[buffer[j, NEIGHBOUR]] - generation
            if injective and buffer[j, NEIGHBOUR] == entry[first + i, ENTITY]:
                continue
            lowest = entry[first + i, LOWEST] + there[place] + buffer[j, PRICE] - free
            if lowest > cap:
                note_cut(state, lowest - cap)
                if lowest >= nearest[-1]:
                    continue
                insert(nearest, lowest)
            here[i] = min(here[i], lowest)
            entry[begin + place, LOWEST] = min(lowest, entry[begin + place, LOWEST])
            edges[fill, SOURCE], edges[fill, TARGET] = i, place
            edges[fill, CODE], edges[fill, PRICE] = buffer[j, CODE], buffer[j, PRICE]
            fill += 1
        layers.used[1] = fill
    lowest_of = layers.entry[first : first + len(here), LOWEST]
    lowest_of[:] = here
    mark_layer(layers, other, scratch, NO)
    return layers, buffer

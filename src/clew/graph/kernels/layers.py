"""The part of the graph that can hold a match, as one layer of entities per pattern node.

Layers grow from the known node with the fewest edges towards the other known nodes, always by the
cheapest join; edges between two layers are kept, so that later stages never look anything up. What hangs
off with no known node beyond it is left to the enumeration, which reads the graph there directly.
"""

from __future__ import annotations

import numpy as np

from clew.graph.kernels import Array, compiled
from clew.graph.kernels.columns import (
    AHEAD,
    ALLOWED,
    BASE,
    CAP,
    CODE,
    COST,
    CUT,
    DENSE,
    DISTINCT,
    DONE,
    EAGER,
    EDGE_START,
    EDGE_STOP,
    ENTITY,
    FAR,
    FIRST,
    FLOOR,
    HEAD,
    HIGH,
    ID,
    INFINITE,
    KIND,
    KNOWN,
    LAST,
    LEAST,
    LISTED,
    LOW,
    LOWEST,
    MASK,
    MODE,
    NEIGHBOUR,
    NO,
    NODES,
    ORIGIN,
    PARENT,
    PRICE,
    PROJECT,
    SIEVE,
    SIZE,
    SOURCE,
    SPENT,
    START,
    STATUS,
    STOPPED,
    TAIL,
    TARGET,
    UNDIRECTED,
    UNIFORM,
    VIA,
    WEIGHT,
    YES,
    ZERO,
    Graph,
    Layers,
    Query,
    Scratch,
)
from clew.graph.kernels.edges import WIDE, count_at, lower_bound, room
from clew.graph.kernels.measure import far_cost, fetch_vector
from clew.graph.kernels.prefetch import soon_read, soon_written

FREE_LIMIT = 100_000
"""Edges that are worth following to make the bounds of a node without known nodes beyond it exact."""
AT_ONCE = 128
"""Entities whose edges are read together."""
SOON = 24
"""Entities ahead of the one in hand for which memory is asked."""
MOST_AT_ONCE = 1 << 16
"""Edges after which those read so far are taken first."""
WORTH_A_FILTER = 4096
"""Edges from a layer beyond which it is worth to look first where they may lead."""
KEPT_AHEAD = 16
"""Edges that are kept above the cap."""
NOT_HERE = 0xFFFFFFFF
"""Place of an entity that the layer may not hold."""
SIFTED = 4096
"""Entities whose edges are looked through together for those that lead to a layer."""
_ONE, _BYTE, _BIT, _SIEVE = np.uint32(1), np.uint32(3), np.uint32(7), np.uint32(SIEVE - 1)
EXACT_LIMIT = 64
"""Entities whose edges are counted by relation; of more, the degrees of about so many are taken."""


@compiled
def empty_layers(nodes: int) -> Layers:
    """No layers, with a little room."""
    node = np.empty((nodes, 6), np.int64)
    node[:, :] = -1
    return Layers(node, np.empty((256, 3), np.int64), np.empty((256, 4), np.int64), np.zeros(2, np.int64))


@compiled
def layers_room(layers: Layers, entries: int, edges: int) -> Layers:
    """`layers` with space for so many more entries and edges."""
    entries += layers.used[0]
    edges += layers.used[1]
    if entries <= len(layers.entry) and edges <= len(layers.edge):
        return layers
    return Layers(layers.node, room(layers.entry, entries), room(layers.edge, edges), layers.used)


@compiled
def open_layer(query: Query, layers: Layers, node: int) -> Layers:
    """Start the layer of `node`, a component of its own: its candidates if it is known, else nothing."""
    first, stop = query.nodes[node, FIRST], query.nodes[node, LAST]
    layers = layers_room(layers, stop - first, ZERO)
    start = layers.used[0]
    layers.node[node, START], layers.node[node, SIZE] = start, stop - first
    entry, candidate = layers.entry, query.candidate
    base = query.options[BASE] - query.nodes[node, FLOOR]
    for j in range(stop - first):
        cost = candidate[first + j, WEIGHT]
        entry[start + j, ENTITY], entry[start + j, COST] = candidate[first + j, ID], cost
        entry[start + j, LOWEST] = base + cost
    layers.used[0] = start + stop - first
    return layers


@compiled
def spend(state: Array, stop: Array, amount: int) -> bool:
    """Count `amount` of work; True when the budget has ended."""
    state[SPENT] += amount
    if state[SPENT] > state[ALLOWED] or stop[0] != 0:
        state[STATUS] = STOPPED
        return True
    return False


@compiled
def set_aside(query: Query, child: int) -> Array:
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
def mark_layer(layers: Layers, node: int, scratch: Scratch, value: bool) -> None:
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
def fetch(graph: Graph, layers: Layers, start: int, stop: int, alive: Array) -> tuple[int, int, int]:
    """(how many of the entries live, entry after the last, their edges); writes their positions into `alive`.

    Has their edges fetched, of all at once. Ends early before more than `MOST_AT_ONCE` edges.
    """
    entry = layers.entry
    for i in range(start, stop):
        fetch_starts(graph, entry[i, ENTITY])
    count, edges = 0, 0
    for i in range(start, stop):
        if entry[i, LOWEST] >= INFINITE:
            continue
        entity = entry[i, ENTITY]
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
def fetch_starts(graph: Graph, entity: int) -> None:
    """Have fetched where the edges of an entity are."""
    soon_read(graph.out_starts, entity)
    soon_read(graph.out_stops, entity)
    soon_read(graph.into_starts, entity)
    soon_read(graph.into_stops, entity)


@compiled
def fetch_neighbours(graph: Graph, entity: int) -> None:
    """Have the other ends of the edges of an entity fetched."""
    soon_read(graph.out_neighbour, graph.out_starts[entity])
    soon_read(graph.out_neighbour, graph.out_stops[entity] - 1)
    soon_read(graph.into_neighbour, graph.into_starts[entity])
    soon_read(graph.into_neighbour, graph.into_stops[entity] - 1)


@compiled
def fetch_relations(graph: Graph, entity: int) -> None:
    """Have the relations of the edges of an entity fetched."""
    soon_read(graph.out_relation, graph.out_starts[entity])
    soon_read(graph.into_relation, graph.into_starts[entity])


@compiled
def sift(  # noqa: C901
    graph: Graph,
    layers: Layers,
    start: int,
    stop: int,
    scratch: Scratch,
    outward: bool,
    inward: bool,
    alive: Array,
) -> tuple[int, int, int]:
    """As `fetch`, but only of the entries with an edge to an entity with a bit in `scratch`.

    Those with more than `WIDE` edges in one direction are taken unseen.
    """
    entry, bits, sieve = layers.entry, scratch.bits, scratch.sieve
    out_starts, out_stops, out = graph.out_starts, graph.out_stops, graph.out_neighbour
    into_starts, into_stops, into = graph.into_starts, graph.into_stops, graph.into_neighbour
    count, edges = 0, 0
    for i in range(start - 2 * SOON, stop):
        if i + 2 * SOON < stop:
            fetch_starts(graph, entry[i + 2 * SOON, ENTITY])
        if start <= i + SOON < stop:
            fetch_neighbours(graph, entry[i + SOON, ENTITY])
        if i < start or entry[i, LOWEST] >= INFINITE:
            continue
        entity = entry[i, ENTITY]
        low, high = out_starts[entity], out_stops[entity]
        first, last = into_starts[entity], into_stops[entity]
        hit = max(high - low, last - first) > WIDE
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
    graph: Graph,
    query: Query,
    layers: Layers,
    edge: int,
    node: int,
    start: int,
    rest: int,
    scratch: Scratch,
    filtered: bool,
    ahead: bool,
    buffer: Array,
    state: Array,
) -> tuple[Array, int, int]:
    """(buffer, edges in it, entry after the last) of some entries of the layer of `node` from `start` on.

    As `edges_at` for each living one, with its place in the layer as ORIGIN, but if `filtered` only edges to
    entities with a bit in `scratch`; `rest` is the least that a match needs beside the entry's LOWEST and the
    edge, `ahead` says that edges above the cap are wanted too. Apart from that function as its calls, and
    changing from one side to the other, cost more than most nodes do.
    """
    undirected, at_head = query.options[UNDIRECTED] == 1, query.edges[edge, HEAD] == node
    mode, first, last = query.edges[edge, MODE], query.edges[edge, LOW], query.edges[edge, HIGH]
    weights, entry, cap = query.relation, layers.entry, query.options[CAP]
    bits = scratch.bits
    begin, size = layers.node[node, START], layers.node[node, SIZE]
    alive = np.empty(SIFTED if filtered else AT_ONCE, np.int64)
    stop = min(start + len(alive), begin + size)
    if filtered:
        outward, inward = at_head or undirected, undirected or not at_head
        living, stop, edges = sift(graph, layers, start, stop, scratch, outward, inward, alive)
    else:
        living, stop, edges = fetch(graph, layers, start, stop, alive)
    # All at once: an array that may change in a loop is counted in every turn of it.
    buffer = room(buffer, edges)
    count, above = 0, INFINITE
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
            most, entity, j = cap - entry[i, LOWEST] - rest, entry[i, ENTITY], first
            if ahead:
                most = INFINITE - 1
            position, high = starts[entity], stops[entity]
            wide = high - position > WIDE
            while position < high:
                fixed, end = 0, high
                if mode == LISTED:
                    if j == last:
                        break
                    fixed, wanted = weights[j, WEIGHT], weights[j, ID]
                    j += 1
                    if fixed > most and fixed < INFINITE:
                        above = min(above, fixed - most)
                        continue
                    position = lower_bound(relation, position, high, wanted)
                    if position == high:
                        break
                    if relation[position] != wanted:
                        continue
                    end = lower_bound(relation, position, high, wanted + 1)
                elif mode == DENSE:
                    if filtered and not wide:
                        other = neighbour[position]
                        if bits[other >> 3] >> (other & 7) & 1 == 0:
                            position += 1
                            continue
                    current = relation[position]
                    fixed, end = weights[first + current, WEIGHT], position + 1
                    if wide:
                        end = lower_bound(relation, position, high, current + 1)
                    if fixed > most and fixed < INFINITE:
                        above = min(above, fixed - most)
                        position = end
                        continue
                if fixed >= INFINITE:
                    position = end
                    continue
                while position < end:
                    other = neighbour[position]
                    position += 1
                    if other == entity and side == 1 and undirected:
                        continue
                    if filtered and bits[other >> 3] >> (other & 7) & 1 == 0:
                        continue
                    buffer[count, NEIGHBOUR] = other
                    buffer[count, CODE] = position - 1 if side == 0 else -position
                    buffer[count, PRICE] = fixed + (miss if other != entity else 0)
                    buffer[count, ORIGIN] = i - begin
                    count += 1
    if above < state[CUT]:
        state[CUT] = above
    return buffer, count, stop


@compiled
def reach_bits(
    graph: Graph,
    query: Query,
    layers: Layers,
    buffer: Array,
    scratch: Scratch,
    edge: int,
    parent: int,
    child: int,
    state: Array,
) -> tuple[bool, Array]:
    """Set the bits of what `child` can be by its edge to another layer, if one is cheap to follow.

    Then far fewer entities get into the layer of `child` than `parent` alone would let in.
    """
    most = layer_edges(graph, query, layers, edge, parent, ZERO + INFINITE)
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
        rest = -query.edges[best, LEAST]
        buffer, count, at = scan(graph, query, layers, best, near, at, rest, scratch, NO, NO, buffer, state)
        state[SPENT] += count
        for j in range(count):
            scratch.bits[buffer[j, NEIGHBOUR] >> 3] |= 1 << (buffer[j, NEIGHBOUR] & 7)
    return YES, buffer


@compiled
def join_new(  # noqa: C901
    graph: Graph,
    query: Query,
    layers: Layers,
    buffer: Array,
    scratch: Scratch,
    edge: int,
    parent: int,
    child: int,
    ahead: bool,
    state: Array,
    stop: Array,
) -> tuple[Layers, Array]:
    """Make the layer of the unknown or far `child` from the edges of every entity in the layer of `parent`.

    Of a far one, what it costs is part of the bounds; if `ahead`, a few above the cap are kept.
    """
    mask, injective = query.nodes[child, MASK], query.options[DISTINCT] == NODES
    far, cap = query.nodes[child, KIND] == FAR, query.options[CAP]
    floor = query.nodes[child, FLOOR]
    nearest = np.empty(KEPT_AHEAD, np.int64)
    nearest[:] = INFINITE if ahead else -1
    marks = scratch.marks
    free, generation = query.edges[edge, LEAST], marks[-1] << 32
    first, begin = layers.node[parent, START], layers.node[child, START]
    size, parents = ZERO, layers.node[parent, SIZE]
    before = np.empty(parents, np.int64)
    for other in set_aside(query, child):
        marks[other] = generation + NOT_HERE
    filtered, buffer = reach_bits(graph, query, layers, buffer, scratch, edge, parent, child, state)
    before[:] = INFINITE
    at = first
    while at < first + parents:
        buffer, count, after = scan(
            graph, query, layers, edge, parent, at, -free, scratch, filtered, NO, buffer, state
        )
        if spend(state, stop, count + after - at):
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
def join_two(
    graph: Graph,
    query: Query,
    layers: Layers,
    buffer: Array,
    scratch: Scratch,
    edge: int,
    scanned: int,
    other: int,
    ahead: bool,
    state: Array,
    stop: Array,
) -> tuple[Layers, Array]:
    """Find the edges between two layers, by those of every entity in the layer of `scanned`.

    If `ahead`, the few with the least bounds are kept even above the cap.
    """
    cap, base, injective = query.options[CAP], query.options[BASE], query.options[DISTINCT] == NODES
    marks = scratch.marks
    free, generation = query.edges[edge, LEAST] + base, marks[-1] << 32
    first, begin = layers.node[scanned, START], layers.node[other, START]
    mark_layer(layers, other, scratch, YES)
    there, here = np.empty(layers.node[other, SIZE], np.int64), np.empty(layers.node[scanned, SIZE], np.int64)
    least = rise(layers, other, there)
    here[:] = INFINITE
    nearest = np.empty(KEPT_AHEAD, np.int64)
    nearest[:] = INFINITE if ahead else -1
    at, size = first, layers.node[scanned, SIZE] if least < INFINITE else ZERO
    while at < first + size:
        buffer, count, after = scan(
            graph, query, layers, edge, scanned, at, least - free, scratch, YES, ahead, buffer, state
        )
        if spend(state, stop, count + after - at):
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


@compiled
def compact(layers: Layers) -> Layers:  # noqa: C901
    """`layers` without the dead entries and their edges."""
    count, old, old_edge = ZERO, layers.entry, layers.edge
    for i in range(layers.used[0]):
        if old[i, LOWEST] < INFINITE:
            count += 1
    if 2 * count > layers.used[0]:
        return layers
    node, place = layers.node.copy(), np.empty(layers.used[0], np.int64)
    entry, used = np.empty((count, 3), np.int64), np.zeros(2, np.int64)
    edge = np.empty_like(layers.edge)
    for v in range(len(node)):
        if node[v, START] < 0:
            continue
        start = used[0]
        for i in range(node[v, START], node[v, START] + node[v, SIZE]):
            place[i] = used[0] - start
            if old[i, LOWEST] < INFINITE:
                for column in range(3):
                    entry[used[0], column] = old[i, column]
                used[0] += 1
        node[v, START], node[v, SIZE] = start, used[0] - start
    for v in range(len(node)):
        parent = node[v, PARENT]
        if node[v, START] < 0 or parent < 0:
            continue
        above, below, fill = layers.node[parent, START], layers.node[v, START], used[1]
        for j in range(node[v, EDGE_START], node[v, EDGE_STOP]):
            source, target = above + old_edge[j, SOURCE], below + old_edge[j, TARGET]
            if old[source, LOWEST] < INFINITE and old[target, LOWEST] < INFINITE:
                for column in range(4):
                    edge[used[1], column] = old_edge[j, column]
                edge[used[1], SOURCE], edge[used[1], TARGET] = place[source], place[target]
                used[1] += 1
        node[v, EDGE_START], node[v, EDGE_STOP] = fill, used[1]
    return Layers(node, entry, edge, used)


@compiled
def turn(layers: Layers, node: int) -> None:
    """Make `node` the root of its component: the joins on its way up change their owner."""
    parent, via = layers.node[node, PARENT], layers.node[node, VIA]
    start, stop = layers.node[node, EDGE_START], layers.node[node, EDGE_STOP]
    layers.node[node, PARENT] = -1
    while parent >= 0:
        edge = layers.edge
        for j in range(start, stop):
            source = edge[j, SOURCE]
            edge[j, SOURCE] = edge[j, TARGET]
            edge[j, TARGET] = source
        above, next_via = layers.node[parent, PARENT], layers.node[parent, VIA]
        next_start, next_stop = layers.node[parent, EDGE_START], layers.node[parent, EDGE_STOP]
        layers.node[parent, PARENT], layers.node[parent, VIA] = node, via
        layers.node[parent, EDGE_START], layers.node[parent, EDGE_STOP] = start, stop
        node, parent, via, start, stop = parent, above, next_via, next_start, next_stop


@compiled
def root_of(layers: Layers, node: int) -> int:
    """Find the root of the component of `node`."""
    while layers.node[node, PARENT] >= 0:
        node = layers.node[node, PARENT]
    return node


@compiled
def components(layers: Layers) -> int:
    """Count the components."""
    count = 0
    for v in range(len(layers.node)):
        if layers.node[v, START] >= 0 and layers.node[v, PARENT] < 0:
            count += 1
    return count


@compiled
def all_costs_known(query: Query, layers: Layers) -> bool:
    """Whether all far nodes have layers."""
    for v in range(len(query.nodes)):
        if query.nodes[v, KIND] == FAR and layers.node[v, START] < 0:
            return False
    return True


@compiled
def layer_edges(graph: Graph, query: Query, layers: Layers, edge: int, node: int, most: int) -> int:
    """Edges to look at when `edge` is followed from the layer of `node`; counting ends beyond `most`.

    Of many entities, it is estimated by some.
    """
    first, size = layers.node[node, START], layers.node[node, SIZE]
    at_head, stride = query.edges[edge, HEAD] == node, 1 + size // (EXACT_LIMIT + 1)
    total = 0
    for i in range(0, size, stride):
        if layers.entry[first + i, LOWEST] < INFINITE:
            total += count_at(graph, query, edge, layers.entry[first + i, ENTITY], at_head, stride == 1)
            if total * stride > most:
                break
    return total * stride


@compiled
def leads(query: Query, layers: Layers, parent: int, child: int) -> bool:
    """Whether another component, a far or the projected node is reached from `child` outside the layers."""
    seen, root = 1 << child, root_of(layers, parent)
    for _ in range(len(query.nodes)):
        before = seen
        for e in range(len(query.edges)):
            head, tail = query.edges[e, HEAD], query.edges[e, TAIL]
            for flip in range(2):
                near, far = (head, tail) if flip == 0 else (tail, head)
                if seen >> near & 1:
                    if layers.node[far, START] < 0:
                        seen |= 1 << far
                    elif root_of(layers, far) != root:
                        return True
        if seen == before:
            break
    for v in range(len(query.nodes)):
        if seen >> v & 1 and query.nodes[v, KIND] == FAR:
            return True
    return query.options[PROJECT] >= 0 and seen >> query.options[PROJECT] & 1 != 0


@compiled
def next_join(graph: Graph, query: Query, layers: Layers) -> tuple[int, int, int]:
    """(pattern edge, node to scan, other node) of the cheapest join to make; edge -1 when there is none."""
    best, best_scanned, best_other = -1, -1, -1
    least, needed = INFINITE, False
    for e in range(len(query.edges)):
        for flip in range(2):
            scanned = query.edges[e, HEAD if flip == 0 else TAIL]
            other = query.edges[e, TAIL if flip == 0 else HEAD]
            if layers.node[scanned, START] < 0:
                continue
            if layers.node[other, START] >= 0:
                need = root_of(layers, scanned) != root_of(layers, other)
                if not need:
                    continue
            else:
                need = leads(query, layers, scanned, other)
                if needed and not need:
                    continue
            most = least if needed or not need else INFINITE
            if not need and query.options[EAGER] == 0:
                if query.options[UNIFORM] == 1:
                    continue
                most = min(most, FREE_LIMIT + 1)
            cost = layer_edges(graph, query, layers, e, scanned, most)
            if cost < most:
                best, best_scanned, best_other = e, scanned, other
                least, needed = cost, need
    return best, best_scanned, best_other


@compiled
def grow(
    graph: Graph, query: Query, scratch: Scratch, state: Array, stop: Array
) -> tuple[Layers, Array, int]:
    """(layers, a buffer for later use, the root of them all)."""
    layers = empty_layers(len(query.nodes))
    buffer = np.empty((256, 4), np.int64)
    begin = ZERO
    for node in range(len(query.nodes)):
        if query.nodes[node, KIND] == KNOWN:
            layers, begin = open_layer(query, layers, node), node
    while state[STATUS] == DONE:
        edge, scanned, other = next_join(graph, query, layers)
        if edge < 0:
            break
        scratch.marks[-1] += 1
        fill, new = layers.used[1], layers.node[other, START] < 0
        if new:
            layers = open_layer(query, layers, other)
        ahead = query.options[AHEAD] != 0 and components(layers) == 2 and all_costs_known(query, layers)
        if new:
            layers, buffer = join_new(
                graph, query, layers, buffer, scratch, edge, scanned, other, ahead, state, stop
            )
        else:
            layers, buffer = join_two(
                graph, query, layers, buffer, scratch, edge, scanned, other, ahead, state, stop
            )
            turn(layers, other)
        layers.node[other, PARENT], layers.node[other, VIA] = scanned, edge
        layers.node[other, EDGE_START], layers.node[other, EDGE_STOP] = fill, layers.used[1]
        begin = root_of(layers, scanned)
    return compact(layers), buffer, begin

"""The part of a graph that can hold a match: layers, one a node of the pattern, and how they grow.

Layers grow from the known node with the fewest edges towards the other known nodes, always by the
cheapest join; edges between two layers are kept, so that later stages never look anything up. What hangs
off with no known node beyond it is left to the enumeration, which reads the graph there directly.
"""

from __future__ import annotations

import numpy as np

from clew.graph.kernels import Array, compiled
from clew.graph.match.kernels import columns as c
from clew.graph.match.kernels.columns import (
    LONG_RUN,
    GraphColumns,
    LayerJoin,
    Layers,
    LayerScratch,
    QueryColumns,
    Search,
    Sweep,
    count_at,
    lower_bound,
    room,
)
from clew.graph.match.kernels.measure import far_cost, fetch_vector, soon_read, soon_written

# The layers of a search: one of entities for each pattern node, and the edges between two of them.


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
def open_layer(query: QueryColumns, layers: Layers, node: int) -> Layers:
    """Start the layer of `node`, a component of its own: its candidates if it is known, else nothing."""
    first, stop = query.nodes[node, c.FIRST], query.nodes[node, c.LAST]
    layers = layers_room(layers, stop - first, c.ZERO)
    start = layers.used[0]
    layers.node[node, c.START], layers.node[node, c.SIZE] = start, stop - first
    entry, candidate = layers.entry, query.candidate
    base = query.options[c.BASE] - query.nodes[node, c.FLOOR]
    for j in range(stop - first):
        cost = candidate[first + j, c.WEIGHT]
        entry[start + j, c.ENTITY], entry[start + j, c.COST] = candidate[first + j, c.ID], cost
        entry[start + j, c.LOWEST] = base + cost
    layers.used[0] = start + stop - first
    return layers


@compiled
def compact(layers: Layers) -> Layers:  # noqa: C901
    """`layers` without the dead entries and their edges."""
    count, old_entry, old_edge = c.ZERO, layers.entry, layers.edge
    for i in range(layers.used[0]):
        if old_entry[i, c.LOWEST] < c.INFINITE:
            count += 1
    if 2 * count > layers.used[0]:
        return layers
    node, place = layers.node.copy(), np.empty(layers.used[0], np.int64)
    entry, used = np.empty((count, 3), np.int64), np.zeros(2, np.int64)
    edge = np.empty_like(layers.edge)
    for v in range(len(node)):
        if node[v, c.START] < 0:
            continue
        start = used[0]
        for i in range(node[v, c.START], node[v, c.START] + node[v, c.SIZE]):
            place[i] = used[0] - start
            if old_entry[i, c.LOWEST] < c.INFINITE:
                for column in range(3):
                    entry[used[0], column] = old_entry[i, column]
                used[0] += 1
        node[v, c.START], node[v, c.SIZE] = start, used[0] - start
    for v in range(len(node)):
        parent = node[v, c.PARENT]
        if node[v, c.START] < 0 or parent < 0:
            continue
        above, below, fill = layers.node[parent, c.START], layers.node[v, c.START], used[1]
        for j in range(node[v, c.EDGE_START], node[v, c.EDGE_STOP]):
            source, target = above + old_edge[j, c.SOURCE], below + old_edge[j, c.TARGET]
            if old_entry[source, c.LOWEST] < c.INFINITE and old_entry[target, c.LOWEST] < c.INFINITE:
                for column in range(4):
                    edge[used[1], column] = old_edge[j, column]
                edge[used[1], c.SOURCE], edge[used[1], c.TARGET] = place[source], place[target]
                used[1] += 1
        node[v, c.EDGE_START], node[v, c.EDGE_STOP] = fill, used[1]
    return Layers(node, entry, edge, used)


@compiled
def turn(layers: Layers, node: int) -> None:
    """Make `node` the root of its component: the joins on its way up change their owner."""
    parent, via = layers.node[node, c.PARENT], layers.node[node, c.VIA]
    start, stop = layers.node[node, c.EDGE_START], layers.node[node, c.EDGE_STOP]
    layers.node[node, c.PARENT] = -1
    while parent >= 0:
        edge = layers.edge
        for j in range(start, stop):
            source = edge[j, c.SOURCE]
            edge[j, c.SOURCE] = edge[j, c.TARGET]
            edge[j, c.TARGET] = source
        grandparent, next_via = layers.node[parent, c.PARENT], layers.node[parent, c.VIA]
        next_start, next_stop = layers.node[parent, c.EDGE_START], layers.node[parent, c.EDGE_STOP]
        layers.node[parent, c.PARENT], layers.node[parent, c.VIA] = node, via
        layers.node[parent, c.EDGE_START], layers.node[parent, c.EDGE_STOP] = start, stop
        node, parent, via, start, stop = parent, grandparent, next_via, next_start, next_stop


@compiled
def root_of(layers: Layers, node: int) -> int:
    """Find the root of the component of `node`."""
    while layers.node[node, c.PARENT] >= 0:
        node = layers.node[node, c.PARENT]
    return node


@compiled
def components(layers: Layers) -> int:
    """Count the components."""
    count = 0
    for v in range(len(layers.node)):
        if layers.node[v, c.START] >= 0 and layers.node[v, c.PARENT] < 0:
            count += 1
    return count


@compiled
def layer_edges(
    graph: GraphColumns, query: QueryColumns, layers: Layers, edge: int, node: int, most: int
) -> int:
    """Edges to look at if `edge` is followed from the layer of `node` (of many: estimated), up to `most`."""
    first, size = layers.node[node, c.START], layers.node[node, c.SIZE]
    at_head, stride = query.edges[edge, c.HEAD] == node, 1 + size // (EXACT_LIMIT + 1)
    total = 0
    for i in range(0, size, stride):
        if layers.entry[first + i, c.LOWEST] < c.INFINITE:
            total += count_at(graph, query, edge, layers.entry[first + i, c.ENTITY], at_head, stride == 1)
            if total * stride > most:
                break
    return total * stride


# Reading the edges of many entities of a layer, whose memory is asked for ahead.


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


# Joins of layers: a new one from the edges of another, or the edges between two.


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


FREE_LIMIT = 100_000
"""Edges that are worth following to make the bounds of a node without known nodes beyond it exact."""


@compiled
def all_costs_known(query: QueryColumns, layers: Layers) -> bool:
    """Whether all far nodes have layers."""
    for v in range(len(query.nodes)):
        if query.nodes[v, c.KIND] == c.FAR and layers.node[v, c.START] < 0:
            return False
    return True


@compiled
def leads(query: QueryColumns, layers: Layers, parent: int, child: int) -> bool:
    """Whether another component, a far or the projected node is reached from `child` outside the layers."""
    seen, root = 1 << child, root_of(layers, parent)
    for _ in range(len(query.nodes)):
        seen_before = seen
        for e in range(len(query.edges)):
            head, tail = query.edges[e, c.HEAD], query.edges[e, c.TAIL]
            for flip in range(2):
                near, far = (head, tail) if flip == 0 else (tail, head)
                if seen >> near & 1:
                    if layers.node[far, c.START] < 0:
                        seen |= 1 << far
                    elif root_of(layers, far) != root:
                        return True
        if seen == seen_before:
            break
    for v in range(len(query.nodes)):
        if seen >> v & 1 and query.nodes[v, c.KIND] == c.FAR:
            return True
    return query.options[c.PROJECT] >= 0 and seen >> query.options[c.PROJECT] & 1 != 0


@compiled
def next_join(graph: GraphColumns, query: QueryColumns, layers: Layers) -> tuple[int, int, int]:
    """(pattern edge, node to scan, other node) of the cheapest join to make; edge -1 when there is none."""
    best, best_scanned, best_other = -1, -1, -1
    least, needed = c.INFINITE, False
    for e in range(len(query.edges)):
        for flip in range(2):
            scanned = query.edges[e, c.HEAD if flip == 0 else c.TAIL]
            other = query.edges[e, c.TAIL if flip == 0 else c.HEAD]
            if layers.node[scanned, c.START] < 0:
                continue
            if layers.node[other, c.START] >= 0:
                need = root_of(layers, scanned) != root_of(layers, other)
                if not need:
                    continue
            else:
                need = leads(query, layers, scanned, other)
                if needed and not need:
                    continue
            most = least if needed or not need else c.INFINITE
            if not need and query.options[c.EAGER] == 0:
                if query.options[c.UNIFORM] == 1:
                    continue
                most = min(most, FREE_LIMIT + 1)
            cost = layer_edges(graph, query, layers, e, scanned, most)
            if cost < most:
                best, best_scanned, best_other = e, scanned, other
                least, needed = cost, need
    return best, best_scanned, best_other


@compiled
def grow(search: Search) -> tuple[Layers, Array, int]:
    """(layers, a buffer for later use, the root of them all)."""
    query = search.query
    layers = empty_layers(len(query.nodes))
    buffer = np.empty((256, 4), np.int64)
    begin = c.ZERO
    for node in range(len(query.nodes)):
        if query.nodes[node, c.KIND] == c.KNOWN:
            layers, begin = open_layer(query, layers, node), node
    while search.state[c.STATUS] == c.DONE:
        edge, scanned, other = next_join(search.graph, query, layers)
        if edge < 0:
            break
        search.scratch.marks[-1] += 1
        fill, is_new = layers.used[1], layers.node[other, c.START] < 0
        if is_new:
            layers = open_layer(query, layers, other)
        ahead = query.options[c.AHEAD] != 0 and components(layers) == 2 and all_costs_known(query, layers)
        join = LayerJoin(edge, scanned, other, ahead)
        if is_new:
            layers, buffer = join_new(search, layers, buffer, join)
        else:
            layers, buffer = join_two(search, layers, buffer, join)
            turn(layers, other)
        layers.node[other, c.PARENT], layers.node[other, c.VIA] = scanned, edge
        layers.node[other, c.EDGE_START], layers.node[other, c.EDGE_STOP] = fill, layers.used[1]
        begin = root_of(layers, scanned)
    return compact(layers), buffer, begin

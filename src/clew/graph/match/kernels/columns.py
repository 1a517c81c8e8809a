"""What the kernels hand to each other, and edges that a pattern's edge may match, with their costs."""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from clew.graph.kernels import Array, GraphColumns, compiled

# What the kernels hand to each other: rows of int64 in few arrays, as each of them costs compile time.


UNIT = 1e9
"""Costs are distances in this many parts, with the misses of undirected edges in the last MISS_BITS."""
INFINITE = 1 << 60
ZERO, ONE = cast("int", np.int64(0)), cast("int", np.int64(1))
NO, YES = cast("bool", np.bool_(False)), cast("bool", np.bool_(True))
"""Arguments: what is written out is a type of its own to numba, which would compile the callee for each."""
MISS_BITS = 5
MISS_MASK = (1 << MISS_BITS) - 1

ANY, LISTED, DENSE = range(3)
"""Which relations a pattern edge may match: all at no cost, a short list, or a row of costs."""
UNKNOWN, KNOWN, FAR = range(3)
"""A pattern node that any entity (of its mask) may take, one with a list of candidates, or one whose
entities are measured when they are reached."""
NODES, TRIPLES = range(2)
"""What a match may not use twice."""
DONE, STOPPED, RETRY = range(3)
"""How a search ended; RETRY: it is worth growing layers for all nodes."""

DISTINCT, UNDIRECTED, COUNT, TIED, PROJECT, SLACK, UNIFORM, EAGER, EXPANSIONS = range(9)
CAP, BASE, AHEAD = range(9, 12)
OPTIONS = 12
"""Places of `QueryColumns.options`.

Matches that cost more than CAP are not looked for, but where AHEAD is not 0 some are found to know how far to
go; BASE is the least that any may cost.
"""
SPENT, ALLOWED, STATUS, CUT = range(4)
"""Places of the state: work done, work allowed, how the search ended, how far above CAP the nearest bound was
that was met."""


class LayerScratch(NamedTuple):
    """Which entities are in a layer, and where.

    `marks` int64 [N + 1]: a place in the current layer, valid if it is of the generation that the last entry
    counts; `bits` uint8 [N / 8 + 1]: whether there is one, all 0 between the joins; `sieve` uint8 [32768]:
    the same of all entities that have the last bits of their number in common, small enough for the cache
    that is next to the core.
    """

    marks: Array
    bits: Array
    sieve: Array


SIEVE = 1 << 15
"""Bytes of a sieve."""


class Far(NamedTuple):
    """What the entities of the FAR nodes cost.

    `node` int64 [n, SLOT SLOTS QUERY] says where the hash table of a node is in `listed` int64 [*, ENTITY
    COST], and which query is its own. Where the table lacks an entity, `rows` int8 [N, d] times `scale`
    float32 [1, N] are compared with `query` int16 [*, d] times `plain[*, 0]`, whose squared length is
    `plain[*, 1]`; without rows, `scale` [*, N] are the distances themselves; without both, it may not be.
    """

    node: Array
    listed: Array
    rows: Array
    scale: Array
    query: Array
    plain: Array


class QueryColumns(NamedTuple):
    """A pattern with its distances.

    `nodes` [n, KIND MASK FIRST LAST FLOOR]: kind, row of `masks` or -1, range of candidates, the least cost;
    `edges` [m, HEAD TAIL MODE LOW HIGH LEAST]: ends, mode, range of relations, least cost; `candidate` and
    `relation` [*, ID WEIGHT]: ids with costs; `masks` bool [masks, N]; `options` [OPTIONS].
    """

    nodes: Array
    edges: Array
    candidate: Array
    relation: Array
    masks: Array
    options: Array
    far: Far


class Search(NamedTuple):
    """What every stage has before it; it writes into `state`, and `stop` uint8 [1] other than 0 ends it."""

    graph: GraphColumns
    query: QueryColumns
    scratch: LayerScratch
    state: Array
    stop: Array


KIND, MASK, FIRST, LAST, FLOOR = range(5)
HEAD, TAIL, MODE, LOW, HIGH, LEAST = range(6)
SLOT, SLOTS, QUERY = range(3)
ID, WEIGHT = range(2)

NEIGHBOUR, CODE, PRICE, ORIGIN = range(4)
"""Columns of a buffer of edges: the other end, the edge's code, its cost, the place of the end it is from."""


class Layers(NamedTuple):
    """Layers and the edges between them, each in one arena, filled up to `used` [2].

    `node` [n, START SIZE PARENT VIA EDGE_START EDGE_STOP]: the entries of pattern node v (START -1: no
    layer), the node that it was joined to, by which pattern edge, and the edges found then. `entry` [*,
    ENTITY COST LOWEST]: LOWEST is a lower bound of a match with the entry, INFINITE without one. `edge` [*,
    SOURCE CODE PRICE TARGET]: places in the parent's layer and in v's.
    """

    node: Array
    entry: Array
    edge: Array
    used: Array


START, SIZE, PARENT, VIA, EDGE_START, EDGE_STOP = range(6)
ENTITY, COST, LOWEST = range(3)
SOURCE, TARGET = 0, 3


class LayerJoin(NamedTuple):
    """A join by pattern edge `edge` from `scanned` to `other`; `ahead`: a few above the cap are kept."""

    edge: int
    scanned: int
    other: int
    ahead: bool


class Sweep(NamedTuple):
    """Which edges of a layer are read: those that pattern edge `edge` may match at its end `node`.

    `rest` is the least that a match needs beside the entry's LOWEST and the edge; if `filtered`, only edges
    to entities with a bit in the scratch count; `ahead`: those above the cap are wanted too.
    """

    edge: int
    node: int
    rest: int
    filtered: bool
    ahead: bool


class LayerTree(NamedTuple):
    """The layers hung from `root`; `order` has parents before children.

    `node` [n, UP BY LINK MEMBERS WIDTH ROW]: parent and the pattern edge to it; the links from place i of the
    parent's layer to v's layer are `edge` [*, (unused) CODE PRICE TARGET] from `link[LINK + i, BEGIN]` to
    `link[LINK + i + 1, BEGIN]`; `link` also has the least sum of edge and total (CHEAPEST) and the edge that
    reaches it (POINTER). `total` runs parallel to the entries of the layers. `best` has, for place i of v,
    the entity ids of the nodes in MEMBERS (a bit set) ascending, at `ROW + i * WIDTH`; `column[v, w]` is the
    place of w there.
    """

    root: int
    order: Array
    node: Array
    column: Array
    link: Array
    edge: Array
    total: Array
    best: Array


UP, BY, LINK, MEMBERS, WIDTH, ROW = range(6)
BEGIN, CHEAPEST, POINTER = range(3)


class EnumerationSteps(NamedTuple):
    """Order of the enumeration, `step` [s, NODE EDGE FROM].

    Each assigns NODE, or closes an edge between assigned nodes (NODE -1), by pattern edge EDGE (-1 for the
    root) from the assigned node FROM. `base` is a lower bound of the cost of everything outside the layers;
    `track` says whether two pattern edges could take the same triple against the rules.
    """

    step: Array
    base: int
    track: bool


NODE, EDGE, FROM = range(3)


class EnumerationState(NamedTuple):
    """The state of an enumeration.

    `node` [n, ENTITY PLACE ASSIGNED]: bit 0 of ASSIGNED is set when it is, bit 1 when the entity is set
    aside for this node as it is the only candidate; `edge` [m, TAKEN TRIPLE]: edge code and triple id (-1:
    not known); `step` [s, AT END BOUND FILL]: range of choices, bound before them, fill of the buffer;
    `late` [4096 + 1] is a heap of the smallest bounds above the limit, its size the last entry; `row`
    [1 + n + m] is one match.
    """

    node: Array
    edge: Array
    step: Array
    late: Array
    row: Array


PLACE, ASSIGNED = 1, 2
TAKEN, TRIPLE = range(2)
AT, END, BOUND, FILL = range(4)


class EnumerationPlan(NamedTuple):
    """What an enumeration goes through: the layers, hung from a root, in the order of the steps."""

    layers: Layers
    tree: LayerTree
    steps: EnumerationSteps
    walk: EnumerationState


class MatchRows(NamedTuple):
    """Matches: `rows` [*, 1 + n + m] of cost, nodes and triples.

    `order` lists them ascending if their number is bounded, and ends with their count.
    """

    rows: Array
    order: Array


class EnumerationTask(NamedTuple):
    """What to enumerate: roots `low .. high`, costs in (`floor`, `limit`], at most `most_matches` (0: all).

    Only matches of `misses` direction misses count, unless it is -1; `ahead` bounds above the limit are kept.
    """

    low: int
    high: int
    floor: int
    limit: int
    most_matches: int
    misses: int
    ahead: int


# Edges of one node, or between two, that a pattern edge may match, with their costs.
#
# A cost is one int64: the distance as a multiple of 1e-9, shifted left by five bits, plus the direction
# misses. Sums and comparisons of costs are then exact and in the order (distance, misses).
#
# An edge is named by a code: its position in the outgoing adjacency (the triple id), or -1 - its position
# in the incoming one, whose triple id is found only when a match is written.


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
    undirected = query.options[UNDIRECTED] == 1
    mode = query.edges[edge, MODE]
    first, last = query.edges[edge, LOW], query.edges[edge, HIGH]
    above = INFINITE
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
            if mode == LISTED:
                if j == last:
                    break
                target_relation = query.relation[j, ID]
                relation_cost = query.relation[j, WEIGHT]
                j += 1
                if relation_cost > most and relation_cost < INFINITE:
                    above = min(above, relation_cost - most)
                    continue
                position = lower_bound(relation, position, high, target_relation)
                if position == high:
                    break
                if relation[position] != target_relation:
                    continue
                stop = lower_bound(relation, position, high, target_relation + 1)
            elif mode == DENSE:
                current = relation[position]
                relation_cost = query.relation[first + current, WEIGHT]
                stop = position + 1
                if wide:
                    stop = lower_bound(relation, position, high, current + 1)
                if relation_cost > most and relation_cost < INFINITE:
                    above = min(above, relation_cost - most)
                    position = stop
                    continue
            if relation_cost >= INFINITE:
                position = stop
                continue
            while position < stop:
                far_end = neighbour[position]
                position += 1
                # A loop is in both lists; it runs in either direction, so it is never a miss.
                if far_end == node and side == 1 and undirected:
                    continue
                buffer[count, NEIGHBOUR] = far_end
                buffer[count, CODE] = position - 1 if side == 0 else -position
                buffer[count, PRICE] = relation_cost + (miss if far_end != node else 0)
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
    mode = query.edges[edge, MODE]
    first, last = query.edges[edge, LOW], query.edges[edge, HIGH]
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
        if mode == LISTED:
            if j == last:
                break
            position = lower_bound(relation, position, high, query.relation[j, ID])
            if position == high:
                break
            if relation[position] != query.relation[j, ID]:
                j += 1
                continue
        current = relation[position]
        stop = lower_bound(relation, position, high, current + 1)
        position = lower_bound(neighbour, position, stop, far_end)
        if position < stop and neighbour[position] == far_end:
            cost = 0
            if mode == LISTED:
                cost = query.relation[j, WEIGHT]
            elif mode == DENSE:
                cost = query.relation[first + current, WEIGHT]
            if cost < INFINITE:
                buffer = room(buffer, count + 1)
                buffer[count, NEIGHBOUR] = far_end
                buffer[count, CODE] = position if outward else -1 - position
                buffer[count, PRICE] = cost + miss
                count += 1
        position = stop
    return buffer, count


@compiled
def edges_between(
    graph: GraphColumns, query: QueryColumns, edge: int, ends: tuple[int, int], buffer: Array, count: int
) -> tuple[Array, int]:
    """Append the edges that `edge` may match between `ends`, its head and its tail, from `count` on."""
    head, tail = ends
    buffer, count = triples_between(graph, query, edge, (head, tail), ZERO, buffer, count)
    if query.options[UNDIRECTED] == 1 and head != tail:
        buffer, count = triples_between(graph, query, edge, (tail, head), ONE, buffer, count)
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
    target_relation = graph.into_relation[position] + ZERO
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
        if (side == 0) != at_head and query.options[UNDIRECTED] == 0:
            continue
        starts = graph.out_starts if side == 0 else graph.into_starts
        stops = graph.out_stops if side == 0 else graph.into_stops
        relation = graph.out_relation if side == 0 else graph.into_relation
        low, high = starts[node], stops[node]
        if not exact or query.edges[edge, MODE] != LISTED:
            total += high - low
            continue
        for j in range(query.edges[edge, LOW], query.edges[edge, HIGH]):
            start = lower_bound(relation, low, high, query.relation[j, ID])
            total += lower_bound(relation, start, high, query.relation[j, ID] + 1) - start
    return total

"""What the kernels hand to each other: rows of int64 in few arrays, as each of them costs compile time."""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from clew.graph.kernels import Array, GraphColumns

UNIT = 1e9
"""Costs are distances in this many parts, with the misses of undirected edges in the last MISS_BITS."""
INFINITE = 1 << 60
ZERO, ONE = cast("int", np.int64(0)), cast("int", np.int64(1))
NO, YES = cast("bool", np.bool_(False)), cast("bool", np.bool_(True))
"""Arguments: what is written out is a type of its own to numba, which would compile the callee for each."""
MISS_BITS = 5
MISS_MASK = (1 << MISS_BITS) - 1

ANY, LISTED, DENSE = 0, 1, 2
"""Which relations a pattern edge may match: all at no cost, a short list, or a row of costs."""
UNKNOWN, KNOWN, FAR = 0, 1, 2
"""A pattern node that any entity (of its mask) may take, one with a list of candidates, or one whose
entities are measured when they are reached."""
NODES, TRIPLES, NOTHING = 0, 1, 2
"""What a match may not use twice."""
DONE, STOPPED, RETRY = 0, 1, 2
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

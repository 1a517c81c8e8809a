"""Choices of walks among the edges of a node (Walk&Retrieve eq. 1).

They are uniform over its neighbours, then over the edges to that one.

A step is 2 · relation from head to tail and 2 · relation + 1 from tail to head. Every choice is a function of
(seed, root, walk, step), so results depend neither on threads nor on the roots that are done together.
Choices are *stable*: where a node gains or loses one of its d edges, about one in d of the choices made there
changes. For that each node has a table of slots, at most half full, in which the place of a neighbour depends
on its own hash (and that of its few neighbours in the table); random slots are tried until one holds a
neighbour, which is a uniform choice.

A slot is int64: `neighbour << 32 | step`. Where several edges lead to one neighbour, they are in slots side
by side; the first is marked `PARALLEL`, the others are inverted, so that they are never drawn themselves. Of
a node, `places` int64 has the first slot `<< 8` and one more than the bits of a number of its slots; 0
without edges.
"""

from __future__ import annotations

import numpy as np

from clew.graph.kernels import Array, GraphColumns, compiled, entry

FEW_EDGES = 4
"""Edges up to which a table is as small as it can be."""

MOST_PROBES = 256
"""Slots tried for one choice; of a table half full of parallel edges that may not suffice."""

EMPTY_SLOT = np.int64(-(1 << 63))
PARALLEL = np.int64(1 << 31)
STEP = np.int64((1 << 31) - 1)

_M1, _M2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_ODD = np.uint64(0xD6E8FEB86659FD93)
_LOW = np.uint64((1 << 24) - 1)
_S1, _S24, _S27, _S30, _S31, _S32, _S64 = (np.uint64(bits) for bits in (1, 24, 27, 30, 31, 32, 64))


@compiled
def mix(x: Array) -> Array:
    """Scramble a 64-bit word (the finaliser of SplitMix64: Steele, Lea, Flood, OOPSLA 2014)."""
    x = (x ^ (x >> _S30)) * _M1
    x = (x ^ (x >> _S27)) * _M2
    return x ^ (x >> _S31)


@compiled
def walk_key(seed: Array, root: Array, walk: Array) -> Array:
    """Word from which all choices of a walk come."""
    return mix(mix(seed + _GOLDEN * np.uint64(root + 1)) + _ODD * np.uint64(walk + 1))


@compiled
def edge_hash(node: Array, step: Array, neighbour: Array) -> Array:
    """Hash of an edge as it is seen from `node`."""
    return mix(mix((np.uint64(step) << _S32) | np.uint64(neighbour)) + _GOLDEN * np.uint64(node + 1))


@entry
def slot_counts(degrees: Array, offsets: Array) -> None:
    """Fill `offsets` int64 [nodes + 1] with the slots of every node's table, cumulated: powers of two."""
    offsets[0] = 0
    for i in range(len(degrees)):
        size, least = 1, 2 * degrees[i] if degrees[i] > FEW_EDGES else degrees[i]
        while size < least:
            size *= 2
        offsets[i + 1] = offsets[i] + (size if degrees[i] else 0)


@entry
def fill_tables(
    graph: GraphColumns, nodes: Array, span: tuple[int, int], offsets: Array, places: Array, slots: Array
) -> None:
    """Fill `places` and `slots` of the rows [first, last) of `nodes`, whose tables are at `offsets`."""
    room = np.empty(64, np.int64)
    for row in range(span[0], span[1]):
        node = nodes[row]
        degree = graph.out_stops[node] - graph.out_starts[node]
        degree += graph.into_stops[node] - graph.into_starts[node]
        if degree == 0:
            places[row] = 0
            continue
        if degree > len(room):
            room = np.empty(2 * degree, np.int64)
        at = 0
        for i in range(graph.out_starts[node], graph.out_stops[node]):
            room[at] = (np.int64(graph.out_neighbour[i]) << 32) | np.int64(2 * graph.out_relation[i])
            at += 1
        for i in range(graph.into_starts[node], graph.into_stops[node]):
            room[at] = (np.int64(graph.into_neighbour[i]) << 32) | np.int64(2 * graph.into_relation[i] + 1)
            at += 1
        places[row] = _lay_out(node, room[:degree], offsets[row], slots[offsets[row] : offsets[row + 1]])


@compiled
def _lay_out(node: Array, edges: Array, base: Array, table: Array) -> Array:
    """Place edges by hash, each at its own place or the next free one, one layout for one set; `places`."""
    edges.sort()
    degree, size = len(edges), len(table)
    code = np.int64(1)
    while (np.int64(1) << (code - 1)) < size:
        code += 1
    keys = np.zeros(degree if degree > FEW_EDGES else 0, np.uint64)
    for i in range(len(keys)):
        keys[i] = mix(np.uint64(edges[i] >> 32) + _GOLDEN * np.uint64(node + 1))
    order = np.argsort(keys, kind="mergesort")
    table[:] = EMPTY_SLOT
    next_place = np.int64(0)
    for i in range(degree):
        edge = edges[order[i]] if degree > FEW_EDGES else edges[i]
        home = slot_of(keys[order[i]], code) if degree > FEW_EDGES else np.int64(0)
        next_place = max(home, next_place) + 1
        place = min(next_place - 1, size - degree + i)
        if place > 0 and leads_to(table[place - 1]) == edge >> 32:
            if table[place - 1] >= 0:
                table[place - 1] |= PARALLEL
            table[place] = ~edge
        else:
            table[place] = edge
    return (np.int64(base) << 8) | code


@compiled
def slot_of(word: Array, code: Array) -> Array:
    """Slot of a table for a random word or a hash: its upper bits."""
    return np.int64((word >> _S1) >> (_S64 - np.uint64(code)))


@compiled
def leads_to(slot: Array) -> Array:
    """Neighbour of a slot; no node's id for an empty one."""
    return (slot if slot >= 0 else ~slot) >> 32


@compiled
def random_word(key: Array, turn: Array, probe: Array) -> Array:
    """Random word for one try of one choice."""
    return mix(key + _GOLDEN * np.uint64(turn * MOST_PROBES + probe + 1))


@compiled
def parallel_edge(slots: Array, at: Array, word: Array) -> Array:
    """Choose one of the edges side by side from `at`: neighbour and step."""
    neighbour = slots[at] >> 32
    number = np.int64(1)
    while at + number < len(slots) and slots[at + number] < 0 and leads_to(slots[at + number]) == neighbour:
        number += 1
    chosen = np.int64(((word & _LOW) * np.uint64(number)) >> _S24)
    return ~slots[at + chosen] if chosen else slots[at] & ~PARALLEL


@compiled
def next_edge(start: Array, code: Array, slots: Array, word: Array) -> Array:
    """Edge in the first slot from a random one on that may be drawn; for tables that are nearly empty."""
    size = np.int64(1) << (code - 1)
    at = slot_of(word, code)
    for _ in range(size):
        if slots[start + at] >= 0:
            break
        at = (at + 1) % size
    slot = slots[start + at]
    return parallel_edge(slots, start + at, word) if slot & PARALLEL else slot


@compiled
def choose(node: Array, key: Array, turn: Array, places: Array, slots: Array) -> Array:
    """Choose an edge of `node` by eq. 1: `neighbour << 32 | step`; -1 without edges."""
    place = places[node]
    if place == 0:
        return np.int64(-1)
    start, code = place >> 8, place & 255
    word = np.uint64(0)
    for probe in range(MOST_PROBES):
        word = random_word(key, turn, probe)
        at = start + slot_of(word, code)
        edge = slots[at]
        if edge >= 0:
            return parallel_edge(slots, at, word) if edge & PARALLEL else edge
    return next_edge(start, code, slots, word)

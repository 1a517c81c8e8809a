"""The compiled parts of walks: choosing edges, drawing walks, adding up their vectors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import Int32, Int64, UInt16
from clew.graph.kernels import Array, GraphColumns, compiled, entry

# What the kernels of walks hand to each other.


class WalkedGraph(NamedTuple):
    """A graph as it is walked.

    `places` int64 [nodes] and `slots` int64 are the tables that choose an edge (see `kernels.choices`).
    `edges` int32 [*, 2] (neighbour and step), with `offsets` int64 [nodes + 1], are the edges of every node,
    and `backward` (the neighbour first), with `back_offsets`, those that lead to it: the same ones unless
    walks are directed. No lists are made for random walks.
    """

    places: Array
    slots: Array
    offsets: Array
    edges: Array
    back_offsets: Array
    backward: Array


class WalkRows(NamedTuple):
    """Walks of roots as they are made: `steps` and `nodes` int32 [roots, cap, depth], -1 behind an end.

    `walk_counts` int32 [roots]: walks. `state` int64 [roots, 2]: 1 if the tree is whole, 0 if paths were
    drawn, -1 if the budget of edges did not suffice to tell all distances; and the number of own triples left
    out.
    """

    steps: Array
    nodes: Array
    walk_counts: Array
    state: Array


class Walks(NamedTuple):
    """Walks of some roots: those of `roots[i]` are rows `offsets[i]` to `offsets[i + 1]`.

    `steps` and `nodes` int32 [walks, depth], -1 behind the end of a walk; `counts` uint16 [walks], how often
    it was made. `state` int8 [roots]: 1 where the whole tree is there, 0 where paths were drawn, -1 where the
    budget ended before all layers were told; `left_out` int64 [roots]: own triples beyond the cap.
    """

    roots: Int32
    offsets: Int64
    steps: Int32
    nodes: Int32
    counts: UInt16
    state: NDArray[np.int8]
    left_out: Int64


class Draw(NamedTuple):
    """How paths are drawn: by `seed`, at most `cap` a root, which may look at `budget` edges."""

    seed: Array
    cap: int
    budget: int


class Edited(NamedTuple):
    """What an edit has changed, for walks that are told again.

    `changes` int64 [nodes]: where the slots of a node are in `stale` uint8, -1 if it has not changed;
    `stale`: 1 for slots that are not what they were. `differs` uint8 [nodes] is written: 1 for roots that
    have other walks. For breadth-first walks, `from_root` uint64 [k, root,
    words] marks the changed edges (a bit an edge and direction) whose start is within k + 1 steps of the
    root, and `to_node` [k, node, words] those from whose end the node is within k steps; `distance` uint8
    [nodes], steps to the nearest node that has changed; `certain`: no hub and no root has more edges than
    the budget.
    """

    changes: Array
    stale: Array
    differs: Array
    from_root: Array
    to_node: Array
    distance: Array
    certain: bool


class WordSums(NamedTuple):
    """Sums of words: `names` float32 [names, d]; `phrases` float32 [2, steps, d] of first and later steps."""

    names: Array
    phrases: Array


class WalkScratch(NamedTuple):
    """Memory of one thread for breadth-first walks, used again and again.

    `marked`, `used` and `ended` hold the stamp of the root for which they were set; `stamp` int64 [1] is the
    last one given out. `distance` and `parent` are of marked nodes, `origin` and `queue` of the tree.
    """

    marked: Array
    used: Array
    ended: Array
    parent: Array
    distance: Array
    origin: Array
    queue: Array
    stamp: Array


def walk_scratch(nodes: int) -> WalkScratch:
    """Make memory for a graph of so many nodes."""
    marked, used, ended, parent = np.zeros((4, nodes), np.int64)
    distance, origin, queue = np.zeros((3, nodes + 1), np.int32)
    return WalkScratch(marked, used, ended, parent, distance, origin, queue, np.zeros(1, np.int64))


# Choices of walks among the edges of a node (Walk&Retrieve eq. 1).
#
# They are uniform over its neighbours, then over the edges to that one.
#
# A step is 2 · relation from head to tail and 2 · relation + 1 from tail to head. Every choice is a function
# of (seed, root, walk, step), so results depend neither on threads nor on the roots that are done together.
# Choices are *stable*: where a node gains or loses one of its d edges, about one in d of the choices made
# there changes. For that each node has a table of slots, at most half full, in which the place of a neighbour
# depends on its own hash (and that of its few neighbours in the table); random slots are tried until one
# holds a neighbour, which is a uniform choice.
#
# A slot is int64: `neighbour << 32 | step`. Where several edges lead to one neighbour, they are in slots side
# by side; the first is marked `PARALLEL`, the others are inverted, so that they are never drawn themselves.
# Of a node, `places` int64 has the first slot `<< 8` and one more than the bits of a number of its slots; 0
# without edges.


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


# Kernels of Walk&Retrieve section 2.1: random walks (eq. 1) and breadth-first walks (eq. 2).
#
# Steps and choices are as in `kernels.choices`.


CHOICES_OF_STEP = 4
"""Choices at one step of a breadth-first walk before it ends there."""

_U0 = np.uint64(0)


@entry
def join_sides(graph: GraphColumns, first: int, last: int, offsets: Array, edges: Array) -> None:
    """Write the edges of nodes [first, last) that have room: neighbour and step, out before in."""
    for node in range(first, last):
        at = offsets[node]
        if at == offsets[node + 1]:
            continue
        for i in range(graph.out_starts[node], graph.out_stops[node]):
            edges[at, 0], edges[at, 1] = graph.out_neighbour[i], 2 * graph.out_relation[i]
            at += 1
        for i in range(graph.into_starts[node], graph.into_stops[node]):
            edges[at, 0], edges[at, 1] = graph.into_neighbour[i], 2 * graph.into_relation[i] + 1
            at += 1


@entry
def random_walks(
    places: Array, slots: Array, roots: Array, seed: Array, steps: Array, nodes: Array
) -> None:  # fmt: skip
    """Fill `steps` and `nodes` int32 [roots, walks, length] with random walks; -1 behind a dead end.

    All walks of a root try a slot before those that found none try the next one: the processor waits for
    many reads at once, and guesses no branch.
    """
    walks, length = steps.shape[1], steps.shape[2]
    keys = np.empty(walks, np.uint64)
    current, start, code = np.empty(walks, np.int64), np.empty(walks, np.int64), np.empty(walks, np.int64)
    waiting = np.empty(walks, np.int64)
    for i in range(len(roots)):
        for walk in range(walks):
            keys[walk] = walk_key(seed, roots[i], walk)
            current[walk] = roots[i]
        for t in range(length):
            number = 0
            for walk in range(walks):
                place = places[current[walk]] if current[walk] >= 0 else np.int64(0)
                start[walk], code[walk] = place >> 8, place & 255
                current[walk], steps[i, walk, t], nodes[i, walk, t] = -1, -1, -1
                waiting[number] = walk
                number += place != 0
            for probe in range(MOST_PROBES + 1):
                if number == 0:
                    break
                remaining = 0
                for at in range(number):
                    walk = waiting[at]
                    word = random_word(keys[walk], t, min(probe, MOST_PROBES - 1))
                    slot = start[walk] + slot_of(word, code[walk])
                    edge = slots[slot]
                    if probe == MOST_PROBES:
                        edge = next_edge(start[walk], code[walk], slots, word)
                    elif edge >= 0 and edge & PARALLEL:
                        edge = parallel_edge(slots, slot, word)
                    current[walk] = edge >> 32
                    steps[i, walk, t], nodes[i, walk, t] = edge & STEP, edge >> 32
                    waiting[remaining] = walk
                    remaining += edge < 0
                number = remaining


@compiled
def _own_triples(root: Array, walked: WalkedGraph, draw: Draw, chosen: Array) -> tuple[int, int]:
    """(kept, all) of the edges of the root, self-loops once; at most `draw.cap` are kept, of least hash."""
    edges, cap, first = walked.edges, draw.cap, walked.offsets[root]
    root_edges = np.empty(walked.offsets[root + 1] - first, np.int64)
    total, count = 0, 0
    for edge in range(first, walked.offsets[root + 1]):
        root_edges[total] = edge
        total += not (edges[edge, 0] == root and edges[edge, 1] % 2 == 1)
    keys = np.zeros(total if total > cap else 0, np.uint64)
    for i in range(len(keys)):
        keys[i] = mix(draw.seed + edge_hash(root, edges[root_edges[i], 1], edges[root_edges[i], 0]))
    limit = np.sort(keys)[cap - 1] if total > cap else _U0
    for i in range(total):
        if count < cap and (total <= cap or keys[i] <= limit):
            chosen[count] = root_edges[i]
            count += 1
    return count, total


@compiled
def _mark(root: Array, depth: int, budget: int, walked: WalkedGraph, scratch: WalkScratch) -> bool:
    """Mark the nodes up to `depth` from `root` with their distances; False if the budget did not suffice."""
    offsets, edges, stamp = walked.offsets, walked.edges, scratch.stamp[0]
    marked, distance, queue = scratch.marked, scratch.distance, scratch.queue
    marked[root] = stamp
    distance[root] = 0
    queue[0] = root
    number, at, edges_seen = 1, 0, 0
    while at < number and distance[queue[at]] < depth:
        node = queue[at]
        at += 1
        edges_seen += offsets[node + 1] - offsets[node]
        if edges_seen > budget:
            return False
        for edge in range(offsets[node], offsets[node + 1]):
            neighbour = edges[edge, 0]
            if marked[neighbour] != stamp:
                marked[neighbour] = stamp
                distance[neighbour] = distance[node] + 1
                queue[number] = neighbour
                number += 1
    return True


@compiled
def whole_tree(
    root: Array, depth: int, cap: int, walked: WalkedGraph, scratch: WalkScratch, stamp: Array
) -> int:
    """Nodes of the spanning tree (in `queue`, with `parent` edge and node of `origin`); -1 if over `cap`."""
    offsets, edges, marked, distance = walked.offsets, walked.edges, scratch.marked, scratch.distance
    parent, origin, queue = scratch.parent, scratch.origin, scratch.queue
    marked[root] = stamp
    distance[root] = 0
    queue[0] = root
    number, at = 1, 0
    while at < number:
        node = queue[at]
        at += 1
        if distance[node] == depth:
            break
        for edge in range(offsets[node], offsets[node + 1]):
            neighbour = edges[edge, 0]
            if marked[neighbour] == stamp:
                continue
            if number > cap:
                return -1
            marked[neighbour] = stamp
            distance[neighbour] = distance[node] + 1
            parent[neighbour], origin[neighbour] = edge, node
            queue[number] = neighbour
            number += 1
    return number


@compiled
def _closer(
    node: Array, layer: int, edges: Array, budget: int, marked: Array, distance: Array, stamp: Array
) -> bool:
    """Whether one of the `edges` that lead to an unmarked `node` comes from a layer before `layer`.

    The node is next to one of `layer`; it is marked as one of that layer or of the next. A hub of more than
    `budget` edges is not looked through, and taken for closer.
    """
    is_closer = len(edges) > budget
    at = 0
    while not is_closer and at < len(edges):
        neighbour = edges[at, 0]
        is_closer = marked[neighbour] == stamp and distance[neighbour] < layer
        at += 1
    marked[node], distance[node] = stamp, layer if is_closer else layer + 1
    return is_closer


@compiled
def _take_tree(
    tree_size: int, number: int, edges: Array, scratch: WalkScratch, steps: Array, nodes: Array
) -> int:
    """Write the paths to all nodes of `queue` in layer 2 and beyond behind the `number` that are there."""
    distance, parent, origin = scratch.distance, scratch.parent, scratch.origin
    for at in range(tree_size):
        node = scratch.queue[at]
        if distance[node] < 2:
            continue
        for t in range(distance[node] - 1, -1, -1):
            edge = parent[node]
            steps[number, t], nodes[number, t] = edges[edge, 1], edges[edge, 0]
            node = origin[node]
        number += 1
    return number


@compiled
def edge_from(node: Array, edge: Array) -> Array:
    """An edge that was chosen, with the node that it comes from: `node << 32 | step`."""
    return (node << 32) | (edge & STEP)


@compiled
def _descend(
    root: Array, key: Array, budget: int, walked: WalkedGraph, scratch: WalkScratch, path: Array
) -> int:
    """Draw a path from the root, each node in the next layer and by its edge of the tree; its length.

    No call in the loop gets `walked` or `scratch`: it would count references to all their arrays.
    """
    places, slots, offsets, edges = walked.places, walked.slots, walked.back_offsets, walked.backward
    marked, distance = scratch.marked, scratch.distance
    used, parent, stamp = scratch.used, scratch.parent, scratch.stamp[0]
    node, layers = root, marked_layers(len(path))
    for length in range(len(path)):
        taken_edge = np.int64(-1)
        for attempt in range(CHOICES_OF_STEP):
            edge = choose(node, key, length * CHOICES_OF_STEP + attempt, places, slots)
            if edge < 0:
                return length
            neighbour = edge >> 32
            if neighbour == root or (used[neighbour] == stamp and parent[neighbour] != edge_from(node, edge)):
                continue
            if marked[neighbour] == stamp:
                closer = distance[neighbour] <= length
            elif length <= layers:
                closer = False
            else:
                leading = edges[offsets[neighbour] : offsets[neighbour + 1]]
                closer = _closer(neighbour, length, leading, budget, marked, distance, stamp)
            if not closer:
                taken_edge = edge
                break
        if taken_edge < 0:
            return length
        path[length] = taken_edge
        node = taken_edge >> 32
    return len(path)


@compiled
def marked_layers(depth: int) -> int:
    """Layers around a root whose nodes are marked before paths of `depth` are drawn."""
    return max(1, depth - 2)


@entry
def breadth_first_walks(
    walked: WalkedGraph, roots: Array, draw: Draw, scratch: WalkScratch, rows: WalkRows
) -> None:
    """Fill `rows` with paths of spanning trees from the roots (eq. 2).

    First come the root's own triples. A tree of at most `draw.cap` paths is given whole; of a larger one,
    paths are drawn by descents from the root; one that has tried `CHOICES_OF_STEP` edges in vain
    ends where it is.
    """
    cap, depth, ended = draw.cap, rows.steps.shape[2], scratch.ended
    chosen, path = np.empty(cap, np.int64), np.empty(depth, np.int64)
    for i in range(len(roots)):
        root = np.int64(roots[i])
        scratch.stamp[0] += 2
        stamp = scratch.stamp[0]
        steps, nodes, state = rows.steps[i], rows.nodes[i], rows.state[i]
        steps[:], nodes[:] = -1, -1
        number, total = _own_triples(root, walked, draw, chosen)
        for walk in range(number):
            edge = chosen[walk]
            steps[walk, 0], nodes[walk, 0] = walked.edges[edge, 1], walked.edges[edge, 0]
        rows.walk_counts[i], state[0], state[1] = number, 0, total - number
        if number == cap or depth == 1:
            state[0] = total == number and depth == 1
            continue
        tree_size = whole_tree(root, depth, cap, walked, scratch, stamp - 1)
        deeper = 0
        for at in range(tree_size):
            deeper += scratch.distance[scratch.queue[at]] >= 2
        if tree_size >= 0 and number + deeper <= cap:
            rows.walk_counts[i] = _take_tree(tree_size, number, walked.edges, scratch, steps, nodes)
            state[0] = 1
            continue
        if not _mark(root, marked_layers(depth), draw.budget, walked, scratch):
            state[0] = -1
        for walk in range(3 * cap):
            if number == cap:
                break
            key = walk_key(draw.seed, root, walk)
            length = _descend(root, key, draw.budget, walked, scratch, path)
            if length < 2 or ended[path[length - 1] >> 32] == stamp:
                continue
            ended[path[length - 1] >> 32] = stamp
            node = root
            for t in range(length):
                neighbour = path[t] >> 32
                scratch.used[neighbour], scratch.parent[neighbour] = stamp, edge_from(node, path[t])
                steps[number, t], nodes[number, t] = path[t] & STEP, neighbour
                node = neighbour
            number += 1
        rows.walk_counts[i] = number


# Vectors of walks as sums over their parts, and of nodes as sums over their walks.


@compiled
def _add(total: Array, row: Array) -> None:
    for d in range(len(total)):
        total[d] += row[d]


@compiled
def _inverse_length(row: Array) -> Array:
    """One over the length of a row; 0 for one of zeros."""
    square = np.float32(0)
    for d in range(len(row)):
        square += row[d] * row[d]
    return np.float32(1) / np.sqrt(square) if square > 0 else np.float32(0)


@compiled
def _walk_vector(
    words: WordSums, root: int, steps: Array, nodes: Array, sentence: Array, outline: Array
) -> None:
    """Write into `sentence` the vectors of a walk's sentence and outline together, of length 1."""
    names, width = words.names, len(sentence)
    for d in range(width):
        sentence[d] = outline[d] = names[root, d]
    for t in range(len(steps)):
        if steps[t] < 0:
            break
        phrase = words.phrases[min(t, 1), steps[t]]
        _add(outline, phrase)
        _add(sentence, phrase)
        _add(sentence, names[nodes[t]])
    sentence_scale, outline_scale = _inverse_length(sentence), _inverse_length(outline)
    for d in range(width):
        sentence[d] = sentence[d] * sentence_scale + outline[d] * outline_scale
    length = _inverse_length(sentence)
    for d in range(width):
        sentence[d] *= length


@entry
def summed_walks(words: WordSums, roots: Array, steps: Array, nodes: Array, vectors: Array) -> None:
    """Fill `vectors` float32 [walks, d] with those of walks, of length 1.

    `roots` [walks] and `nodes` [walks, depth] are rows of the names, `steps` [walks, depth] of the phrases,
    -1 behind the end of a walk.
    """
    outline = np.empty(words.names.shape[1], np.float32)
    for i in range(len(roots)):
        _walk_vector(words, roots[i], steps[i], nodes[i], vectors[i], outline)


@entry
def quantised_walks(
    words: WordSums, roots: Array, steps: Array, nodes: Array, q: Array, scale: Array
) -> None:
    """Fill `q` int8 [walks, d] and `scale` float32 [walks]: `summed_walks`, rounded."""
    width = words.names.shape[1]
    vector, outline = np.empty(width, np.float32), np.empty(width, np.float32)
    for i in range(len(roots)):
        _walk_vector(words, roots[i], steps[i], nodes[i], vector, outline)
        largest = np.float32(0)
        for d in range(width):
            largest = max(largest, abs(vector[d]))
        scale[i] = largest / np.float32(127)
        inverse = np.float32(1) / scale[i] if largest > 0 else np.float32(0)
        for d in range(width):
            q[i, d] = np.int8(np.rint(vector[d] * inverse))


@entry
def weighted_sums(q: Array, scale: Array, counts: Array, offsets: Array, sums: Array) -> None:
    """Fill `sums` float32 [roots, d], root by root, with the rows of `q` times `scale` times `counts`."""
    for i in range(len(offsets) - 1):
        for d in range(q.shape[1]):
            sums[i, d] = 0
        for walk in range(offsets[i], offsets[i + 1]):
            weight = np.float32(scale[walk] * counts[walk])
            for d in range(q.shape[1]):
                sums[i, d] += np.float32(q[walk, d]) * weight

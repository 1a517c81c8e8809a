"""Kernels of Walk&Retrieve section 2.1: random walks (eq. 1) and breadth-first walks (eq. 2).

Steps and choices are as in `kernels.choices`.
"""

from __future__ import annotations

import numpy as np

from clew.graph.kernels import Array, GraphColumns, compiled, entry
from clew.graph.walks.kernels import choices
from clew.graph.walks.kernels.columns import Draw, WalkedGraph, WalkRows, WalkScratch

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
            keys[walk] = choices.walk_key(seed, roots[i], walk)
            current[walk] = roots[i]
        for t in range(length):
            number = 0
            for walk in range(walks):
                place = places[current[walk]] if current[walk] >= 0 else np.int64(0)
                start[walk], code[walk] = place >> 8, place & 255
                current[walk], steps[i, walk, t], nodes[i, walk, t] = -1, -1, -1
                waiting[number] = walk
                number += place != 0
            for probe in range(choices.MOST_PROBES + 1):
                if number == 0:
                    break
                remaining = 0
                for at in range(number):
                    walk = waiting[at]
                    word = choices.random_word(keys[walk], t, min(probe, choices.MOST_PROBES - 1))
                    slot = start[walk] + choices.slot_of(word, code[walk])
                    edge = slots[slot]
                    if probe == choices.MOST_PROBES:
                        edge = choices.next_edge(start[walk], code[walk], slots, word)
                    elif edge >= 0 and edge & choices.PARALLEL:
                        edge = choices.parallel_edge(slots, slot, word)
                    current[walk] = edge >> 32
                    steps[i, walk, t], nodes[i, walk, t] = edge & choices.STEP, edge >> 32
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
        keys[i] = choices.mix(
            draw.seed + choices.edge_hash(root, edges[root_edges[i], 1], edges[root_edges[i], 0])
        )
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
    return (node << 32) | (edge & choices.STEP)


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
            edge = choices.choose(node, key, length * CHOICES_OF_STEP + attempt, places, slots)
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
            key = choices.walk_key(draw.seed, root, walk)
            length = _descend(root, key, draw.budget, walked, scratch, path)
            if length < 2 or ended[path[length - 1] >> 32] == stamp:
                continue
            ended[path[length - 1] >> 32] = stamp
            node = root
            for t in range(length):
                neighbour = path[t] >> 32
                scratch.used[neighbour], scratch.parent[neighbour] = stamp, edge_from(node, path[t])
                steps[number, t], nodes[number, t] = path[t] & choices.STEP, neighbour
                node = neighbour
            number += 1
        rows.walk_counts[i] = number

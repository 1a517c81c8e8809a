"""Kernels of Walk&Retrieve section 2.1: random walks (eq. 1) and breadth-first walks (eq. 2).

Steps and choices are as in `kernels.choices`.
"""

from __future__ import annotations

import numpy as np

from clew.graph.kernels import Array, compiled, entry
from clew.graph.walks.kernels.choices import (
    PARALLEL,
    PROBES,
    STEP,
    choose,
    drawn_word,
    edge_hash,
    mix,
    next_edge,
    parallel_edge,
    slot_of,
    walk_key,
)

TRIES = 4
"""Choices at one step of a breadth-first walk before it ends there."""

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_S32 = np.uint64(32)
_U0 = np.uint64(0)


@entry
def join_sides(
    out_starts: Array, out_stops: Array, out_relation: Array, out_neighbour: Array,
    in_starts: Array, in_stops: Array, in_relation: Array, in_neighbour: Array,
    first: int, last: int, offsets: Array, edges: Array,
) -> None:  # fmt: skip
    """Write the edges of nodes [first, last) that have room: neighbour and step, out before in."""
    for node in range(first, last):
        at = offsets[node]
        if at == offsets[node + 1]:
            continue
        for i in range(out_starts[node], out_stops[node]):
            edges[at, 0], edges[at, 1] = out_neighbour[i], 2 * out_relation[i]
            at += 1
        if at == offsets[node + 1]:
            continue
        for i in range(in_starts[node], in_stops[node]):
            edges[at, 0], edges[at, 1] = in_neighbour[i], 2 * in_relation[i] + 1
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
    here, start, code = np.empty(walks, np.int64), np.empty(walks, np.int64), np.empty(walks, np.int64)
    waiting = np.empty(walks, np.int64)
    for i in range(len(roots)):
        for walk in range(walks):
            keys[walk] = walk_key(seed, roots[i], walk)
            here[walk] = roots[i]
        for t in range(length):
            number = 0
            for walk in range(walks):
                place = places[here[walk]] if here[walk] >= 0 else np.int64(0)
                start[walk], code[walk] = place >> 8, place & 255
                here[walk], steps[i, walk, t], nodes[i, walk, t] = -1, -1, -1
                waiting[number] = walk
                number += place != 0
            for probe in range(PROBES + 1):
                if number == 0:
                    break
                left = 0
                for at in range(number):
                    walk = waiting[at]
                    drawn = drawn_word(keys[walk], t, min(probe, PROBES - 1))
                    slot = start[walk] + slot_of(drawn, code[walk])
                    edge = slots[slot]
                    if probe == PROBES:
                        edge = next_edge(start[walk], code[walk], slots, drawn)
                    elif edge >= 0 and edge & PARALLEL:
                        edge = parallel_edge(slots, slot, drawn)
                    here[walk] = edge >> 32
                    steps[i, walk, t], nodes[i, walk, t] = edge & STEP, edge >> 32
                    waiting[left] = walk
                    left += edge < 0
                number = left


@entry
def merge_walks(steps: Array, nodes: Array, counts: Array, kept: Array) -> None:
    """Merge equal walks of each root in place.

    The first `kept[i]` rows of root i stay, with their `counts`.
    """
    roots, walks, length = steps.shape
    size = 4
    while size < 2 * walks:
        size *= 2
    mask = np.uint64(size - 1)
    table = np.empty(size, np.int64)
    for i in range(roots):
        table[:] = -1
        number = 0
        for walk in range(walks):
            if steps[i, walk, 0] < 0:
                continue
            key = _U0
            for t in range(length):
                key = mix(
                    key + ((np.uint64(steps[i, walk, t] + 1) << _S32) | np.uint64(nodes[i, walk, t] + 1))
                )
            place = np.int64(key & mask)
            while table[place] >= 0 and not _same(steps, nodes, i, table[place], walk):
                place = (place + 1) % size
            if table[place] >= 0:
                counts[i, table[place]] += 1
                continue
            table[place] = number
            counts[i, number] = 1
            for t in range(length):
                steps[i, number, t] = steps[i, walk, t]
                nodes[i, number, t] = nodes[i, walk, t]
            number += 1
        kept[i] = number


@compiled
def _same(steps: Array, nodes: Array, i: int, one: int, other: int) -> bool:
    for t in range(steps.shape[2]):
        if steps[i, one, t] != steps[i, other, t] or nodes[i, one, t] != nodes[i, other, t]:
            return False
    return True


@compiled
def _own_triples(
    root: Array, offsets: Array, edges: Array, seed: Array, cap: int, chosen: Array
) -> tuple[int, int]:
    """Edges of the root in order, at most `cap` (those of least hash).

    A self-loop once. Returns (kept, all).
    """
    start, stop = offsets[root], offsets[root + 1]
    total = 0
    for edge in range(start, stop):
        total += not (edges[edge, 0] == root and edges[edge, 1] % 2 == 1)
    limit = np.uint64(0xFFFFFFFFFFFFFFFF)
    if total > cap:
        keys = np.empty(total, np.uint64)
        at = 0
        for edge in range(start, stop):
            if not (edges[edge, 0] == root and edges[edge, 1] % 2 == 1):
                keys[at] = mix(seed + edge_hash(root, edges[edge, 1], edges[edge, 0]))
                at += 1
        limit = np.sort(keys)[cap - 1]
    kept = 0
    for edge in range(start, stop):
        if edges[edge, 0] == root and edges[edge, 1] % 2 == 1:
            continue
        if kept < cap and mix(seed + edge_hash(root, edges[edge, 1], edges[edge, 0])) <= limit:
            chosen[kept] = edge
            kept += 1
    return kept, total


@compiled
def _mark(
    root: Array, depth: int, budget: int, offsets: Array, edges: Array,
    stamp: int, marked: Array, distance: Array, queue: Array,
) -> tuple[int, bool]:  # fmt: skip
    """Distances from `root` up to `depth`; (nodes in `queue`, whether the budget of edges sufficed)."""
    marked[root] = stamp
    distance[root] = 0
    queue[0] = root
    number, at, seen = 1, 0, 0
    while at < number and distance[queue[at]] < depth:
        node = queue[at]
        at += 1
        seen += offsets[node + 1] - offsets[node]
        if seen > budget:
            return number, False
        for edge in range(offsets[node], offsets[node + 1]):
            other = edges[edge, 0]
            if marked[other] != stamp:
                marked[other] = stamp
                distance[other] = distance[node] + 1
                queue[number] = other
                number += 1
    return number, True


@compiled
def whole_tree(
    root: Array, depth: int, cap: int, offsets: Array, edges: Array,
    stamp: int, marked: Array, distance: Array, parent: Array, came: Array, queue: Array,
) -> int:  # fmt: skip
    """Nodes of the spanning tree in `queue`, by which edge and whence in `parent` and `came`.

    -1 if over `cap`.
    """
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
            other = edges[edge, 0]
            if marked[other] == stamp:
                continue
            if number > cap:
                return -1
            marked[other] = stamp
            distance[other] = distance[node] + 1
            parent[other], came[other] = edge, node
            queue[number] = other
            number += 1
    return number


@compiled
def _closer(
    node: Array, turn: int, depth: int, budget: int, offsets: Array, backward: Array,
    stamp: int, marked: Array, distance: Array,
) -> bool:  # fmt: skip
    """Whether `node`, next to a node of layer `turn` - 1, is in a layer before `turn`.

    `depth` layers are marked, and what is found here of the layer behind the next, the last, is marked too. A
    hub of more than `budget` edges is not looked through, and taken for one.
    """
    if marked[node] == stamp:
        return distance[node] < turn
    if turn <= depth + 1:
        return False
    found = offsets[node + 1] - offsets[node] > budget
    edge = offsets[node]
    while not found and edge < offsets[node + 1]:
        other = backward[edge, 0]
        found = marked[other] == stamp and distance[other] < turn - 1
        edge += 1
    marked[node], distance[node] = stamp, turn - 1 if found else turn
    return found


@compiled
def _take_tree(
    found: int, number: int, edges: Array, distance: Array, parent: Array, came: Array, queue: Array,
    steps: Array, nodes: Array,
) -> int:  # fmt: skip
    """Write the paths to all nodes of `queue` in layer 2 and beyond behind the `number` that are there."""
    for at in range(found):
        node = queue[at]
        if distance[node] < 2:
            continue
        for t in range(distance[node] - 1, -1, -1):
            edge = parent[node]
            steps[number, t], nodes[number, t] = edges[edge, 1], edges[edge, 0]
            node = came[node]
        number += 1
    return number


@compiled
def edge_from(node: Array, edge: Array) -> Array:
    """An edge that was chosen, with the node that it comes from: `node << 32 | step`."""
    return (node << 32) | (edge & STEP)


@compiled
def _descend(
    root: Array, key: Array, layers: int, budget: int, places: Array, slots: Array,
    back_offsets: Array, backward: Array, stamp: int, marked: Array, distance: Array,
    used: Array, parent: Array, path: Array,
) -> int:  # fmt: skip
    """Draw a path from the root, each node in the next layer and by its edge of the tree.

    Returns its length.
    """
    node = root
    for length in range(len(path)):
        taken = np.int64(-1)
        for attempt in range(TRIES):
            edge = choose(node, key, length * TRIES + attempt, places, slots)
            if edge < 0:
                return length
            other = edge >> 32
            if other == root or (used[other] == stamp and parent[other] != edge_from(node, edge)):
                continue
            if not _closer(
                other, length + 1, layers, budget, back_offsets, backward, stamp, marked, distance
            ):
                taken = edge
                break
        if taken < 0:
            return length
        path[length] = taken
        node = taken >> 32
    return len(path)


@entry
def breadth_first_walks(
    places: Array, slots: Array, offsets: Array, edges: Array, back_offsets: Array, backward: Array,
    roots: Array, seed: Array, budget: int, stamps: Array, links: Array, rooms: Array, stamp: int,
    steps: Array, nodes: Array, kept: Array, state: Array,
) -> int:  # fmt: skip
    """Fill `steps` and `nodes` int32 [roots, cap, depth] with paths of spanning trees from the roots (eq. 2).

    First come the root's own triples. A tree of at most `cap` paths is given whole; of a larger one, paths
    are drawn by descents from the root to `depth`; one that has tried `TRIES` edges in vain ends where it is.
    `kept` int32 [roots]: paths. `state` int64 [roots, 2]: 1 if the tree is whole, 0 if paths were drawn, -1
    if `budget` edges did not suffice to tell all distances; and the number of own triples left out.

    `edges` (with `offsets`) are the edges of every node, and `backward` (with `back_offsets`) those that lead
    to it: the same ones unless walks are directed. `stamps` int64 [3, nodes], `links` int64 [nodes] and
    `rooms` int32 [3, nodes + 1] are memory to work in, which holds no stamp above `stamp`; returns the last
    stamp used.
    """
    cap, depth = steps.shape[1], steps.shape[2]
    marked, used, ended = stamps[0], stamps[1], stamps[2]
    distance, came, queue, parent = rooms[0], rooms[1], rooms[2], links
    chosen, path = np.empty(cap, np.int64), np.empty(depth, np.int64)
    layers = max(1, depth - 2)
    for i in range(len(roots)):
        root = np.int64(roots[i])
        stamp += 2
        steps[i], nodes[i] = -1, -1
        number, total = _own_triples(root, offsets, edges, seed, cap, chosen)
        for walk in range(number):
            steps[i, walk, 0], nodes[i, walk, 0] = edges[chosen[walk], 1], edges[chosen[walk], 0]
        kept[i], state[i, 0], state[i, 1] = number, 0, total - number
        if number == cap or depth == 1:
            state[i, 0] = total == number and depth == 1
            continue
        found = whole_tree(root, depth, cap, offsets, edges, stamp - 1, marked, distance, parent, came, queue)
        deeper = 0
        for at in range(found):
            deeper += distance[queue[at]] >= 2
        if found >= 0 and number + deeper <= cap:
            kept[i] = _take_tree(found, number, edges, distance, parent, came, queue, steps[i], nodes[i])
            state[i, 0] = 1
            continue
        if not _mark(root, layers, budget, offsets, edges, stamp, marked, distance, queue)[1]:
            state[i, 0] = -1
        for walk in range(3 * cap):
            if number == cap:
                break
            length = _descend(
                root, walk_key(seed, root, walk), layers, budget, places, slots,
                back_offsets, backward, stamp, marked, distance, used, parent, path,
            )  # fmt: skip
            if length < 2 or ended[path[length - 1] >> 32] == stamp:
                continue
            ended[path[length - 1] >> 32] = stamp
            node = root
            for t in range(length):
                other = path[t] >> 32
                used[other], parent[other] = stamp, edge_from(node, path[t])
                steps[i, number, t], nodes[i, number, t] = path[t] & STEP, other
                node = other
            number += 1
        kept[i] = number
    return stamp


@compiled
def _walk_hash(steps: Array, nodes: Array, walk: Array) -> Array:
    key = _U0
    for t in range(steps.shape[1]):
        key = mix(key + ((np.uint64(steps[walk, t] + 1) << _S32) | np.uint64(nodes[walk, t] + 1)))
    return key


@compiled
def _equal(steps: Array, nodes: Array, walk: Array, old_steps: Array, old_nodes: Array, other: Array) -> bool:
    for t in range(steps.shape[1]):
        if steps[walk, t] != old_steps[other, t] or nodes[walk, t] != old_nodes[other, t]:
            return False
    return True


@entry
def match_walks(
    offsets: Array, steps: Array, nodes: Array, counts: Array, state: Array, left_out: Array,
    mine: Array, rows: Array, old_offsets: Array, old_steps: Array, old_nodes: Array,
    old_counts: Array, old_state: Array, old_left_out: Array, same: Array, found: Array,
) -> None:  # fmt: skip
    """Find walks of the roots `mine` among those in `rows` of an older part.

    Sets `found` int64 [walks] to the row of the same walk, and `same` uint8 [roots] of roots where all is as
    it was; both are left alone elsewhere.
    """
    table = np.empty(8, np.int64)
    for k in range(len(mine)):
        i, row = mine[k], rows[k]
        start, stop = offsets[i], offsets[i + 1]
        old_start, old_stop = old_offsets[row], old_offsets[row + 1]
        equal = stop - start == old_stop - old_start
        equal = equal and state[i] == old_state[row] and left_out[i] == old_left_out[row]
        lacking = False
        for walk in range(start, stop):
            other = old_start + walk - start
            if other < old_stop and _equal(steps, nodes, walk, old_steps, old_nodes, other):
                found[walk] = other
                equal = equal and counts[walk] == old_counts[other]
            else:
                lacking = True
        same[i] = equal and not lacking
        if lacking:
            table = _hashed(old_steps, old_nodes, old_start, old_stop, table)
            for walk in range(start, stop):
                if found[walk] < 0:
                    found[walk] = _row_of(steps, nodes, walk, old_steps, old_nodes, table)


@compiled
def _hashed(steps: Array, nodes: Array, start: Array, stop: Array, table: Array) -> Array:
    """Put the walks [start, stop) into a table by hash, -1 where none is; into `table` if it has the size."""
    size = 8
    while size < 2 * (stop - start):
        size *= 2
    if size != len(table):
        table = np.empty(size, np.int64)
    table[:] = -1
    for walk in range(start, stop):
        place = np.int64(_walk_hash(steps, nodes, walk) & np.uint64(size - 1))
        while table[place] >= 0:
            place = (place + 1) % size
        table[place] = walk
    return table


@compiled
def _row_of(
    steps: Array, nodes: Array, walk: Array, old_steps: Array, old_nodes: Array, table: Array
) -> Array:
    """Row of the same walk in a table; -1 without one."""
    place = np.int64(_walk_hash(steps, nodes, walk) & np.uint64(len(table) - 1))
    while table[place] >= 0:
        if _equal(steps, nodes, walk, old_steps, old_nodes, table[place]):
            return table[place]
        place = (place + 1) % len(table)
    return np.int64(-1)

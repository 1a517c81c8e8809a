"""Kernels of Walk&Retrieve section 2.1: random walks (eq. 1) and breadth-first walks (eq. 2).

A step is 2 · relation from head to tail and 2 · relation + 1 from tail to head. Every choice is a function of
(seed, root, walk, step), so results depend neither on threads nor on the roots that are done together.
Choices are *stable*: where a node gains or loses one of its d edges, about one in d of the choices made there
changes. For that each node has a table of slots, at most half full, in which the place of an edge depends on
its own hash (and that of its few neighbours in the table); random slots are tried until one holds an edge,
which is a uniform choice.
"""

from __future__ import annotations

import numpy as np

from clew.graph.kernels import Array, compiled, entry

FEW = 4
"""Nodes of so many edges have no table: any edge is chosen by its rank."""

TRIES = 4
"""Choices at one step of a breadth-first walk before it ends there."""

PROBES = 256
"""Slots tried for one choice; a table is a quarter full at least, so that more are never needed."""

_M1, _M2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_ODD = np.uint64(0xD6E8FEB86659FD93)
_S27, _S30, _S31, _S32, _S40 = (np.uint64(bits) for bits in (27, 30, 31, 32, 40))
_U0, _U1 = np.uint64(0), np.uint64(1)


@compiled
def _mix(x: Array) -> Array:
    """Scramble a 64-bit word (the finaliser of SplitMix64: Steele, Lea, Flood, OOPSLA 2014)."""
    x = (x ^ (x >> _S30)) * _M1
    x = (x ^ (x >> _S27)) * _M2
    return x ^ (x >> _S31)


@compiled
def _walk_key(seed: Array, root: Array, walk: Array) -> Array:
    return _mix(_mix(seed + _GOLDEN * np.uint64(root + 1)) + _ODD * np.uint64(walk + 1))


@compiled
def _edge_hash(node: Array, step: Array, neighbour: Array) -> Array:
    return _mix(_mix((np.uint64(step) << _S32) | np.uint64(neighbour)) + _GOLDEN * np.uint64(node + 1))


@entry
def slot_counts(offsets: Array) -> Array:
    """Slots of every node's table: int64 [nodes + 1], cumulated; a power of two, or none for few edges."""
    found = np.zeros(len(offsets), np.int64)
    for node in range(len(offsets) - 1):
        degree = offsets[node + 1] - offsets[node]
        size = 0
        if degree > FEW:
            size = 8
            while size < 2 * degree:
                size *= 2
        found[node + 1] = found[node] + size
    return found


@entry
def join_sides(
    out_starts: Array, out_stops: Array, out_relation: Array, out_neighbour: Array,
    in_starts: Array, in_stops: Array, in_relation: Array, in_neighbour: Array,
    first: int, last: int, offsets: Array, edges: Array,
) -> None:  # fmt: skip
    """Write the edges of nodes [first, last), out before in: neighbour and step of each, into `edges`."""
    for node in range(first, last):
        at = offsets[node]
        for i in range(out_starts[node], out_stops[node]):
            edges[at, 0], edges[at, 1] = out_neighbour[i], 2 * out_relation[i]
            at += 1
        if at == offsets[node + 1]:
            continue
        for i in range(in_starts[node], in_stops[node]):
            edges[at, 0], edges[at, 1] = in_neighbour[i], 2 * in_relation[i] + 1
            at += 1


@entry
def fill_tables(
    offsets: Array, first: int, last: int, slot_offsets: Array, edges: Array, places: Array, slots: Array
) -> None:
    """Fill `places`, the repeats in `edges`, and the tables of nodes [first, last)."""
    for node in range(first, last):
        start, stop = offsets[node], offsets[node + 1]
        degree = stop - start
        base = slot_offsets[node]
        places[node, 0], places[node, 1] = start, degree
        places[node, 2], places[node, 3] = base, slot_offsets[node + 1] - base - 1
        if degree <= FEW:
            for i in range(start, stop):
                same = 0
                for j in range(start, stop):
                    same += edges[i, 0] == edges[j, 0]
                edges[i, 2] = same
            continue
        order = np.argsort(edges[start:stop, 0])
        at = 0
        while at < degree:
            end = at + 1
            while end < degree and edges[start + order[end], 0] == edges[start + order[at], 0]:
                end += 1
            for i in range(at, end):
                edges[start + order[i], 2] = end - at
            at = end
        _fill_table(node, start, degree, edges, slots[base : slot_offsets[node + 1]])


@compiled
def _fill_table(node: int, start: int, degree: int, edges: Array, table: Array) -> None:
    """Place edges in order of hash, each at its own place or the next that is free.

    One layout for one set.
    """
    keys = np.empty(degree, np.uint64)
    for i in range(degree):
        keys[i] = _edge_hash(node, edges[start + i, 1], edges[start + i, 0])
    order = np.argsort(keys)
    table[:] = -1
    size = len(table)
    shift = np.uint64(64)
    bits = size
    while bits > 1:
        bits //= 2
        shift -= _U1
    after = 0
    wrapped = 0
    for i in order:
        place = max(np.int64(keys[i] >> shift), after)
        if place >= size:
            while table[wrapped] >= 0:
                wrapped += 1
            place = wrapped
        else:
            after = place + 1
        table[place] = i


@compiled
def _choose(node: Array, key: Array, turn: int, places: Array, edges: Array, slots: Array) -> int:
    """Edge of `node` by eq.

    1: uniform over its neighbours, then over the edges to that one; -1 without edges.
    """
    start, degree = places[node, 0], places[node, 1]
    if degree == 0:
        return -1
    base, mask = places[node, 2], np.uint64(places[node, 3])
    at = start
    for probe in range(PROBES):
        drawn = _mix(key + _GOLDEN * np.uint64(turn * PROBES + probe + 1))
        if degree <= FEW:
            at = start + np.int64(((drawn & np.uint64(0xFFFFFFFF)) * np.uint64(degree)) >> _S32)
        else:
            slot = slots[base + np.int64(drawn & mask)]
            if slot < 0:
                continue
            at = start + slot
        same = edges[at, 2]
        if same == 1 or (drawn >> _S40) % np.uint64(same) == _U0:
            return at
    return at


@entry
def random_walks(
    places: Array, edges: Array, slots: Array, roots: Array, seed: Array, steps: Array, nodes: Array
) -> None:
    """Fill `steps` and `nodes` int32 [roots, walks, length] with random walks; -1 behind a dead end."""
    walks, length = steps.shape[1], steps.shape[2]
    keys = np.empty(walks, np.uint64)
    for i in range(len(roots)):
        for walk in range(walks):
            keys[walk] = _walk_key(seed, roots[i], walk)
        # All walks take a step before the next is taken, so that the processor waits for many reads at once.
        for t in range(length):
            for walk in range(walks):
                node = np.int64(nodes[i, walk, t - 1]) if t else np.int64(roots[i])
                edge = _choose(node, keys[walk], t, places, edges, slots) if node >= 0 else np.int64(-1)
                steps[i, walk, t] = edges[edge, 1] if edge >= 0 else -1
                nodes[i, walk, t] = edges[edge, 0] if edge >= 0 else -1


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
                key = _mix(
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
    root: Array, places: Array, edges: Array, seed: Array, cap: int, chosen: Array
) -> tuple[int, int]:
    """Edges of the root in order, at most `cap` (those of least hash).

    A self-loop once. Returns (kept, all).
    """
    start, stop = places[root, 0], places[root, 0] + places[root, 1]
    total = 0
    for edge in range(start, stop):
        total += not (edges[edge, 0] == root and edges[edge, 1] % 2 == 1)
    limit = np.uint64(0xFFFFFFFFFFFFFFFF)
    if total > cap:
        keys = np.empty(total, np.uint64)
        at = 0
        for edge in range(start, stop):
            if not (edges[edge, 0] == root and edges[edge, 1] % 2 == 1):
                keys[at] = _mix(seed + _edge_hash(root, edges[edge, 1], edges[edge, 0]))
                at += 1
        limit = np.sort(keys)[cap - 1]
    kept = 0
    for edge in range(start, stop):
        if edges[edge, 0] == root and edges[edge, 1] % 2 == 1:
            continue
        if kept < cap and _mix(seed + _edge_hash(root, edges[edge, 1], edges[edge, 0])) <= limit:
            chosen[kept] = edge
            kept += 1
    return kept, total


@compiled
def _mark(
    root: Array, depth: int, budget: int, places: Array, edges: Array,
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
        seen += places[node, 1]
        if seen > budget:
            return number, False
        for edge in range(places[node, 0], places[node, 0] + places[node, 1]):
            other = edges[edge, 0]
            if marked[other] != stamp:
                marked[other] = stamp
                distance[other] = distance[node] + 1
                queue[number] = other
                number += 1
    return number, True


@compiled
def _whole_tree(
    root: Array, depth: int, cap: int, places: Array, edges: Array,
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
        for edge in range(places[node, 0], places[node, 0] + places[node, 1]):
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

    `depth` layers are marked.

    A hub of more than `budget` edges is not looked through, and taken for one.
    """
    if marked[node] == stamp:
        return distance[node] < turn
    if turn <= depth + 1:
        return False
    if offsets[node + 1] - offsets[node] > budget:
        return True
    for edge in range(offsets[node], offsets[node + 1]):
        other = backward[edge, 0]
        if marked[other] == stamp and distance[other] < turn - 1:
            return True
    return False


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
def _descend(
    root: Array, key: Array, layers: int, budget: int, places: Array, edges: Array, slots: Array,
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
            edge = _choose(node, key, length * TRIES + attempt, places, edges, slots)
            if edge < 0:
                return length
            other = edges[edge, 0]
            if other == root or (used[other] == stamp and parent[other] != edge):
                continue
            if not _closer(
                other, length + 1, layers, budget, back_offsets, backward, stamp, marked, distance
            ):
                taken = edge
                break
        if taken < 0:
            return length
        path[length] = taken
        node = np.int64(edges[taken, 0])
    return len(path)


@entry
def breadth_first_walks(
    places: Array, edges: Array, slots: Array, back_offsets: Array, backward: Array,
    roots: Array, seed: Array, budget: int, stamps: Array, links: Array, rooms: Array, stamp: int,
    steps: Array, nodes: Array, kept: Array, state: Array,
) -> int:  # fmt: skip
    """Fill `steps` and `nodes` int32 [roots, cap, depth] with paths of a spanning tree from each root (eq.

    2).

    First come the root's own triples. A tree of at most `cap` paths is given whole; of a larger one, paths
    are drawn by descents from the root to `depth`; one that has tried `TRIES` edges in vain ends where it is.
    `kept` int32 [roots]: paths. `state` int64 [roots, 2]: 1 if the tree is whole, 0 if paths were drawn, -1
    if `budget` edges did not suffice to tell all distances; and the number of own triples left out.

    `backward` (with `back_offsets`) are the edges that lead to a node: the same ones unless walks are
    directed. `stamps` int64 [3, nodes], `links` int64 [nodes] and `rooms` int32 [3, nodes + 1] are memory to
    work in, which holds no stamp above `stamp`; returns the last stamp used.
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
        number, total = _own_triples(root, places, edges, seed, cap, chosen)
        for walk in range(number):
            steps[i, walk, 0], nodes[i, walk, 0] = edges[chosen[walk], 1], edges[chosen[walk], 0]
        kept[i], state[i, 0], state[i, 1] = number, 0, total - number
        if number == cap or depth == 1:
            state[i, 0] = total == number and depth == 1
            continue
        found = _whole_tree(root, depth, cap, places, edges, stamp - 1, marked, distance, parent, came, queue)
        deeper = 0
        for at in range(found):
            deeper += distance[queue[at]] >= 2
        if found >= 0 and number + deeper <= cap:
            kept[i] = _take_tree(found, number, edges, distance, parent, came, queue, steps[i], nodes[i])
            state[i, 0] = 1
            continue
        if not _mark(root, layers, budget, places, edges, stamp, marked, distance, queue)[1]:
            state[i, 0] = -1
        for walk in range(3 * cap):
            if number == cap:
                break
            length = _descend(
                root, _walk_key(seed, root, walk), layers, budget, places, edges, slots,
                back_offsets, backward, stamp, marked, distance, used, parent, path,
            )  # fmt: skip
            if length < 2 or ended[edges[path[length - 1], 0]] == stamp:
                continue
            ended[edges[path[length - 1], 0]] = stamp
            for t in range(length):
                edge = path[t]
                used[edges[edge, 0]], parent[edges[edge, 0]] = stamp, edge
                steps[i, number, t], nodes[i, number, t] = edges[edge, 1], edges[edge, 0]
            number += 1
        kept[i] = number
    return stamp


@entry
def distances_from(
    start: Array,
    most: int,
    places: Array,
    edges: Array,
    back_offsets: Array,
    backward: Array,
    distance: Array,
) -> None:
    """Fill `distance` uint8 [nodes] with the hops (either way) to the nearest of `start`.

    `most` + 1 if farther.
    """
    distance[:] = most + 1
    queue = np.empty(len(distance), np.int32)
    number = 0
    for node in start:
        distance[node] = 0
        queue[number] = node
        number += 1
    at = 0
    while at < number:
        node = queue[at]
        at += 1
        if distance[node] == most:
            break
        for edge in range(places[node, 0], places[node, 0] + places[node, 1]):
            other = edges[edge, 0]
            if distance[other] > most:
                distance[other] = distance[node] + 1
                queue[number] = other
                number += 1
        for edge in range(back_offsets[node], back_offsets[node + 1]):
            other = backward[edge, 0]
            if distance[other] > most:
                distance[other] = distance[node] + 1
                queue[number] = other
                number += 1


@entry
def touched_roots(
    roots: Array,
    offsets: Array,
    nodes: Array,
    state: Array,
    live: Array,
    layered: bool,
    distance: Array,
    touched: Array,
) -> None:
    """Set `touched` uint8 [nodes] of the `live` roots of a part whose walks may change with the nodes at d.

    Stance 0.

    A walk may change if it passes such a node before its end. In a spanning tree (`layered`) it may also
    change where a path through one may be no longer than its own t steps from the root; a whole tree, if one
    is nearer than its depth.
    """
    depth = nodes.shape[1]
    for i in range(len(roots)):
        root = roots[i]
        if not live[i]:
            continue
        near = np.int64(distance[root])
        if near == 0 or (layered and ((state[i] == 1 and near < depth) or (state[i] < 0 and near <= depth))):
            touched[root] = 1
            continue
        # A node of layer t is at least `near` - t away from one that has changed.
        if (near > depth - 1) and layered:
            continue
        found = False
        for walk in range(offsets[i], offsets[i + 1]):
            for t in range(1, depth):
                node = nodes[walk, t - 1]
                if node < 0:
                    break
                if distance[node] == 0 or (layered and near + distance[node] <= t):
                    found = True
                    break
            if found:
                touched[root] = 1
                break


@entry
def trees_that_fit(
    roots: Array, depth: int, cap: int, places: Array, edges: Array,
    stamps: Array, links: Array, rooms: Array, stamp: int, fits: Array,
) -> int:  # fmt: skip
    """Set `fits` uint8 [roots] where the spanning tree has at most `cap` paths.

    Returns the last stamp used.
    """
    for i in range(len(roots)):
        stamp += 1
        root = np.int64(roots[i])
        if places[root, 1] >= cap + 1:
            continue
        found = _whole_tree(
            root, depth, cap, places, edges, stamp, stamps[0], rooms[0], links, rooms[1], rooms[2]
        )
        fits[i] = found >= 0
    return stamp


@entry
def hash_walks(roots: Array, steps: Array, nodes: Array, hashes: Array) -> None:
    """Fill `hashes` uint64 [walks] from root, steps and nodes of each walk."""
    for i in range(len(roots)):
        key = _mix(_GOLDEN * np.uint64(roots[i] + 1))
        for t in range(steps.shape[1]):
            key = _mix(key + ((np.uint64(steps[i, t] + 1) << _S32) | np.uint64(nodes[i, t] + 1)))
        hashes[i] = key


@entry
def same_walks(
    offsets: Array, steps: Array, nodes: Array, counts: Array, state: Array, left_out: Array,
    mine: Array, rows: Array, old_offsets: Array, old_steps: Array, old_nodes: Array,
    old_counts: Array, old_state: Array, old_left_out: Array, same: Array,
) -> None:  # fmt: skip
    """Set `same` uint8 [roots] for the roots `mine` whose walks are exactly those of `rows` of an older pa.

    T.
    """
    depth = steps.shape[1]
    for k in range(len(mine)):
        i, row = mine[k], rows[k]
        count = offsets[i + 1] - offsets[i]
        start, old_start = offsets[i], old_offsets[row]
        equal = count == old_offsets[row + 1] - old_start
        equal = equal and state[i] == old_state[row] and left_out[i] == old_left_out[row]
        walk = 0
        while equal and walk < count:
            equal = counts[start + walk] == old_counts[old_start + walk]
            for t in range(depth):
                equal = equal and steps[start + walk, t] == old_steps[old_start + walk, t]
                equal = equal and nodes[start + walk, t] == old_nodes[old_start + walk, t]
            walk += 1
        same[i] = equal


@entry
def weighted_sums(q: Array, scale: Array, counts: Array, offsets: Array, sums: Array) -> None:
    """Fill `sums` float32 [roots, d] with the sums of the rows of `q` times `scale` times `counts`.

    Root by root.
    """
    for i in range(len(offsets) - 1):
        for d in range(q.shape[1]):
            sums[i, d] = 0
        for walk in range(offsets[i], offsets[i + 1]):
            weight = np.float32(scale[walk] * counts[walk])
            for d in range(q.shape[1]):
                sums[i, d] += np.float32(q[walk, d]) * weight

"""Which roots have other walks after an edit: their choices and layers are told again, and compared.

A draw of walks is told again in the tables of the changed graph. As long as no choice tries a slot that is
not what it was (`stale`), it goes where it went before. Whether a node is in a layer nearer to the root can
only have changed if a changed edge lies on a short enough way from the root to it. For that there are sets of
bits, one a changed edge and direction: `from_root` [k, root], of edges whose start is within k + 1 steps of
the root, and `to_node` [k, node], from whose end the node is within k steps.
"""

from __future__ import annotations

import numpy as np

from clew.graph.kernels import Array, compiled, entry
from clew.graph.walks.kernels.choices import (
    EMPTY,
    PARALLEL,
    PROBES,
    drawn_word,
    next_edge,
    parallel_edge,
    slot_of,
    walk_key,
)
from clew.graph.walks.kernels.walks import TRIES, edge_from, whole_tree

_STALE = np.int64(-2)


@entry
def stale_slots(
    old_places: Array,
    old_slots: Array,
    nodes: Array,
    places: Array,
    slots: Array,
    starts: Array,
    stale: Array,
) -> None:
    """Fill `stale` uint8: 1 for slots that are not as before; those of node i of `nodes` are at `starts[i]`.

    `old_places` [nodes] and `old_slots` are the tables of these nodes before. Edges side by side are stale
    together with the first of them.
    """
    for i in range(len(nodes)):
        place, old = places[nodes[i]], old_places[i]
        mine = stale[starts[i] : starts[i + 1]]
        if place & 255 != old & 255:
            mine[:] = 1
            continue
        now, before = slots[place >> 8 :], old_slots[old >> 8 :]
        for at in range(len(mine)):
            if now[at] == before[at]:
                continue
            mine[at] = 1
            back = at
            while _follows(now[back]) or _follows(before[back]):
                back -= 1
                mine[back] = 1


@compiled
def _follows(slot: Array) -> bool:
    """Whether a slot has an edge side by side with the one before."""
    return slot < 0 and slot != EMPTY


@entry
def spread_marks(marks: Array, offsets: Array, edges: Array, more: Array, found: Array) -> None:
    """Fill `found` uint64 [nodes, words]: marks of a node, of where its edges lead, and of where `more` do.

    `more` int64 [n, 2]: nodes, and where one more edge leads from each.
    """
    words = marks.shape[1]
    for node in range(len(marks)):
        for word in range(words):
            found[node, word] = marks[node, word]
        for edge in range(offsets[node], offsets[node + 1]):
            for word in range(words):
                found[node, word] |= marks[edges[edge, 0], word]
    for i in range(len(more)):
        for word in range(words):
            found[more[i, 0], word] |= marks[more[i, 1], word]


@compiled
def _told_again(
    node: Array, key: Array, turn: Array, places: Array, slots: Array, changes: Array, stale: Array
) -> Array:
    """As `choose`; `_STALE` if it may have been another edge."""
    place, change = places[node], changes[node]
    if place == 0:
        return np.int64(-1) if change < 0 else _STALE
    start, code = place >> 8, place & 255
    drawn = np.uint64(0)
    for probe in range(PROBES):
        drawn = drawn_word(key, turn, probe)
        slot = slot_of(drawn, code)
        if change >= 0 and stale[change + slot]:
            return _STALE
        edge = slots[start + slot]
        if edge >= 0:
            return parallel_edge(slots, start + slot, drawn) if edge & PARALLEL else edge
    return next_edge(start, code, slots, drawn) if change < 0 else _STALE


@compiled
def _passes(nodes: Array, first: Array, last: Array, changes: Array) -> bool:
    """Whether a walk of [first, last) chooses an edge at a node that has changed."""
    for walk in range(first, last):
        for t in range(nodes.shape[1] - 1):
            if nodes[walk, t] < 0:
                break
            if changes[nodes[walk, t]] >= 0:
                return True
    return False


@entry
def changed_random(
    roots: Array, offsets: Array, nodes: Array, live: Array, first: Array, last: Array, walks: Array,
    seed: Array, places: Array, slots: Array, changes: Array, stale: Array, differs: Array,
) -> None:  # fmt: skip
    """Set `differs` uint8 [nodes] of roots in rows [first, last) of a part that have other random walks.

    Of the `live` ones; `walks` are made of each.
    """
    depth = nodes.shape[1]
    for i in range(first, last):
        root = np.int64(roots[i])
        if not live[i] or differs[root] or not _passes(nodes, offsets[i], offsets[i + 1], changes):
            continue
        for walk in range(walks):
            key, node = walk_key(seed, root, walk), root
            for t in range(depth):
                edge = _told_again(node, key, t, places, slots, changes, stale)
                differs[root] |= edge == _STALE
                if edge < 0:
                    break
                node = edge >> 32
            if differs[root]:
                break


@compiled
def _any_mark(from_root: Array, root: Array) -> bool:
    for k in range(from_root.shape[0]):
        for word in range(from_root.shape[2]):
            if from_root[k, root, word]:
                return True
    return False


@compiled
def _other_layer(
    from_root: Array, to_node: Array, root: Array, node: Array, turn: Array, is_end: bool
) -> bool:
    """Whether `node` may have come to a layer before `turn`, or left one.

    `is_end` says that a changed edge has its end there.
    """
    for k in range(turn - 2 if is_end else turn - 3):
        for word in range(from_root.shape[2]):
            if from_root[k, root, word] & to_node[turn - 3 - k, node, word]:
                return True
    return False


@compiled
def _keep_tree(
    root: Array,
    steps: Array,
    nodes: Array,
    first: Array,
    last: Array,
    stamp: Array,
    kept: Array,
    parent: Array,
) -> None:
    """Note the edge of the tree that leads to each node of the walks [first, last)."""
    for walk in range(first, last):
        node = root
        for t in range(steps.shape[1]):
            if steps[walk, t] < 0:
                break
            other = np.int64(nodes[walk, t])
            kept[other], parent[other] = stamp, edge_from(node, np.int64(steps[walk, t]))
            node = other


@compiled
def _other_descent(
    root: Array, key: Array, places: Array, slots: Array, changes: Array, stale: Array,
    from_root: Array, to_node: Array, certain: bool,
    stamp: Array, kept: Array, used: Array, parent: Array, path: Array,
) -> Array:  # fmt: skip
    """Tell a descent again: its length, or `_STALE` if it may have been another.

    Beyond the first layer an edge was taken if it is one of the tree, as what is taken there is kept.
    """
    node = root
    for length in range(len(path)):
        taken = np.int64(-1)
        for attempt in range(TRIES):
            edge = _told_again(node, key, length * TRIES + attempt, places, slots, changes, stale)
            if edge < 0:
                return _STALE if edge == _STALE else length
            other = edge >> 32
            if other == root:
                continue
            is_end = changes[other] >= 0
            if length > 1 and _other_layer(from_root, to_node, root, other, length + 1, is_end):
                return _STALE
            if length + 1 == len(path) and not certain and is_end:
                return _STALE
            is_mine = kept[other] == stamp and parent[other] == edge_from(node, edge)
            if is_mine or (length == 0 and used[other] != stamp):
                taken = edge
                break
        if taken < 0:
            return np.int64(length)
        path[length] = taken
        node = taken >> 32
    return np.int64(len(path))


@entry
def changed_trees(
    roots: Array, offsets: Array, steps: Array, nodes: Array, state: Array, live: Array,
    first: Array, last: Array, cap: Array, seed: Array, places: Array, slots: Array,
    changes: Array, stale: Array, from_root: Array, to_node: Array, distance: Array, certain: bool,
    stamps: Array, links: Array, stamp: Array, differs: Array,
) -> Array:  # fmt: skip
    """Set `differs` uint8 [nodes] of `live` roots in rows [first, last) that have other breadth-first walks.

    `distance` uint8 [nodes] are the steps to the nearest node that has changed; `certain` says that no hub
    and no root has more edges than the budget. Whole trees, and those whose budget ended, are taken for
    changed by a change within their depth. Returns the last stamp used.
    """
    depth = nodes.shape[1]
    path = np.empty(depth, np.int64)
    for i in range(first, last):
        root, begin, end = np.int64(roots[i]), offsets[i], offsets[i + 1]
        near = distance[root]
        if not live[i] or differs[root] or near > depth:
            continue
        if state[i] != 0 or (not certain and near < max(1, depth - 2)):
            differs[root] = near < depth or state[i] < 0
            continue
        if certain and not _passes(nodes, begin, end, changes) and not _any_mark(from_root, root):
            continue
        stamp += 1
        differs[root] = _other_tree(
            root, steps, nodes, begin, end, cap, seed, places, slots, changes, stale,
            from_root, to_node, certain, stamps, links, stamp, path,
        )  # fmt: skip
    return stamp


@compiled
def _other_tree(
    root: Array, steps: Array, nodes: Array, begin: Array, end: Array, cap: Array, seed: Array,
    places: Array, slots: Array, changes: Array, stale: Array, from_root: Array, to_node: Array,
    certain: bool, stamps: Array, links: Array, stamp: Array, path: Array,
) -> bool:  # fmt: skip
    """Tell the descents from a root again, whose own triples come first in its walks [begin, end)."""
    kept, used, ended = stamps[0], stamps[1], stamps[2]
    number = begin
    while number < end and (len(path) == 1 or steps[number, 1] < 0):
        number += 1
    if len(path) == 1 or number - begin == cap:
        return False
    _keep_tree(root, steps, nodes, number, end, stamp, kept, links)
    for walk in range(3 * cap):
        if number - begin == cap:
            break
        length = _other_descent(
            root, walk_key(seed, root, walk), places, slots, changes, stale,
            from_root, to_node, certain, stamp, kept, used, links, path,
        )  # fmt: skip
        if length == _STALE:
            return True
        if length < 2 or ended[path[length - 1] >> 32] == stamp:
            continue
        ended[path[length - 1] >> 32] = stamp
        for t in range(length):
            used[path[t] >> 32] = stamp
        number += 1
    return number != end


@entry
def hops_from(
    start: Array, most: Array, offsets: Array, edges: Array, back_offsets: Array, backward: Array, hops: Array
) -> None:
    """Fill `hops` uint8 [nodes] with steps, either way, from the nearest of `start`: at most `most` + 1."""
    hops[:] = most + 1
    queue = np.empty(len(hops), np.int32)
    queue[: len(start)] = start
    hops[start] = 0
    at, number = 0, len(start)
    while at < number:
        node = queue[at]
        at += 1
        if hops[node] == most:
            break
        number = _reach(node, most, offsets, edges, hops, queue, number)
        number = _reach(node, most, back_offsets, backward, hops, queue, number)


@compiled
def _reach(
    node: Array, most: Array, offsets: Array, edges: Array, hops: Array, queue: Array, number: Array
) -> Array:
    """Put nodes behind `edges` of `node` that no hop has reached into `queue`; returns how many it holds."""
    for edge in range(offsets[node], offsets[node + 1]):
        other = edges[edge, 0]
        if hops[other] > most:
            hops[other] = hops[node] + 1
            queue[number] = other
            number += 1
    return number


@entry
def trees_that_fit(
    roots: Array, depth: Array, cap: Array, offsets: Array, edges: Array,
    stamps: Array, links: Array, rooms: Array, stamp: Array, fits: Array,
) -> Array:  # fmt: skip
    """Set `fits` uint8 [roots] where the spanning tree has at most `cap` paths.

    Returns the last stamp used.
    """
    for i in range(len(roots)):
        stamp += 1
        root = np.int64(roots[i])
        if offsets[root + 1] - offsets[root] > cap:
            continue
        found = whole_tree(
            root, depth, cap, offsets, edges, stamp, stamps[0], rooms[0], links, rooms[1], rooms[2]
        )
        fits[i] = found >= 0
    return stamp

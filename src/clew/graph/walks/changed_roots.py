"""Roots whose walks an edit changes, by the stored walks and the edit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clew.foundation.arrays import Int32, Int64, UInt8
from clew.graph.edit import GraphEdit
from clew.graph.graph import Graph, offsets_of
from clew.graph.kernels import Array, compiled, entry
from clew.graph.walks import kernels
from clew.graph.walks.kernels import (
    CHOICES_OF_STEP,
    Draw,
    Edited,
    WalkedGraph,
    Walks,
    WalkScratch,
    edge_from,
    marked_layers,
    whole_tree,
)
from clew.graph.walks.walks import Walker, spread, with_choices

# Which roots have other walks after an edit: their choices and layers are told again, and compared.
#
# A draw of walks is told again in the tables of the changed graph. As long as no choice tries a slot that is
# not what it was (`stale`), it goes where it went before. Whether a node is in a layer nearer to the root can
# only have changed if a changed edge lies on a short enough way from the root to it (the marks of `Edited`).


_STALE = np.int64(-2)


@entry
def stale_slots(
    old_places: Array, old_slots: Array, nodes: Array, starts: Array, walked: WalkedGraph, stale: Array
) -> None:
    """Fill `stale` uint8: 1 for slots that are not as before; those of node i of `nodes` are at `starts[i]`.

    `old_places` [nodes] and `old_slots` are the tables of these nodes before. Edges side by side are stale
    together with the first of them.
    """
    for i in range(len(nodes)):
        place, old_place = walked.places[nodes[i]], old_places[i]
        node_stale = stale[starts[i] : starts[i + 1]]
        if place & 255 != old_place & 255:
            node_stale[:] = 1
            continue
        new_table, old_table = walked.slots[place >> 8 :], old_slots[old_place >> 8 :]
        for at in range(len(node_stale)):
            if new_table[at] == old_table[at]:
                continue
            node_stale[at] = 1
            first = at
            while _follows(new_table[first]) or _follows(old_table[first]):
                first -= 1
                node_stale[first] = 1


@compiled
def _follows(slot: Array) -> bool:
    """Whether a slot has an edge side by side with the one before."""
    return slot < 0 and slot != kernels.EMPTY_SLOT


@entry
def spread_marks(marks: Array, offsets: Array, edges: Array, more_edges: Array, reached_marks: Array) -> None:
    """Fill `reached_marks` uint64 [nodes, words]: marks of nodes, and of where edges lead.

    `more_edges` int64 [n, 2] are edges beside those of the lists.
    """
    words = marks.shape[1]
    for node in range(len(marks)):
        for word in range(words):
            reached_marks[node, word] = marks[node, word]
        for edge in range(offsets[node], offsets[node + 1]):
            for word in range(words):
                reached_marks[node, word] |= marks[edges[edge, 0], word]
    for i in range(len(more_edges)):
        for word in range(words):
            reached_marks[more_edges[i, 0], word] |= marks[more_edges[i, 1], word]


@compiled
def _choose_again(node: Array, key: Array, turn: Array, walked: WalkedGraph, edited: Edited) -> Array:
    """As `choose`; `_STALE` if it may have been another edge."""
    place, change = walked.places[node], edited.changes[node]
    if place == 0:
        return np.int64(-1) if change < 0 else _STALE
    start, code, slots = place >> 8, place & 255, walked.slots
    word = np.uint64(0)
    for probe in range(kernels.MOST_PROBES):
        word = kernels.random_word(key, turn, probe)
        slot = kernels.slot_of(word, code)
        if change >= 0 and edited.stale[change + slot]:
            return _STALE
        edge = slots[start + slot]
        if edge >= 0:
            return kernels.parallel_edge(slots, start + slot, word) if edge & kernels.PARALLEL else edge
    return kernels.next_edge(start, code, slots, word) if change < 0 else _STALE


@compiled
def _passes(part: Walks, i: int, changes: Array) -> bool:
    """Whether a walk of the root in row `i` chooses an edge at a node that has changed."""
    for walk in range(part.offsets[i], part.offsets[i + 1]):
        for t in range(part.nodes.shape[1] - 1):
            if part.nodes[walk, t] < 0:
                break
            if changes[part.nodes[walk, t]] >= 0:
                return True
    return False


@entry
def changed_random(part: Walks, rows: Array, draw: Draw, walked: WalkedGraph, edited: Edited) -> None:
    """Set what `differs` of the roots in `rows` of a part that have other random walks."""
    depth, differs = part.nodes.shape[1], edited.differs
    for i in rows:
        root = np.int64(part.roots[i])
        if differs[root] or not _passes(part, i, edited.changes):
            continue
        for walk in range(draw.cap):
            key, node = kernels.walk_key(draw.seed, root, walk), root
            for t in range(depth):
                edge = _choose_again(node, key, t, walked, edited)
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
def _may_change_layer(edited: Edited, root: Array, node: Array, turn: Array, is_end: bool) -> bool:
    """Whether `node`, if `is_end` that of a changed edge, may have come to or left a layer before `turn`."""
    for k in range(turn - 2 if is_end else turn - 3):
        for word in range(edited.from_root.shape[2]):
            if edited.from_root[k, root, word] & edited.to_node[turn - 3 - k, node, word]:
                return True
    return False


@compiled
def _mark_tree(root: Array, part: Walks, first: Array, last: Array, scratch: WalkScratch) -> None:
    """Note the edge of the tree that leads to each node of the walks [first, last)."""
    in_tree, parent, stamp = scratch.marked, scratch.parent, scratch.stamp[0]
    for walk in range(first, last):
        node = root
        for t in range(part.steps.shape[1]):
            if part.steps[walk, t] < 0:
                break
            neighbour = np.int64(part.nodes[walk, t])
            in_tree[neighbour], parent[neighbour] = stamp, edge_from(node, np.int64(part.steps[walk, t]))
            node = neighbour


@compiled
def _descend_again(
    root: Array, key: Array, walked: WalkedGraph, edited: Edited, scratch: WalkScratch, path: Array
) -> Array:
    """Tell a descent again: its length, or `_STALE` if it may have been another.

    Beyond the first layer an edge was taken if it is one of the tree, as what is taken there is kept.
    """
    in_tree, used, parent, stamp = scratch.marked, scratch.used, scratch.parent, scratch.stamp[0]
    node = root
    for length in range(len(path)):
        taken_edge = np.int64(-1)
        for attempt in range(CHOICES_OF_STEP):
            edge = _choose_again(node, key, length * CHOICES_OF_STEP + attempt, walked, edited)
            if edge < 0:
                return _STALE if edge == _STALE else length
            neighbour = edge >> 32
            if neighbour == root:
                continue
            is_end = edited.changes[neighbour] >= 0
            if length > 1 and _may_change_layer(edited, root, neighbour, length + 1, is_end):
                return _STALE
            if length + 1 == len(path) and not edited.certain and is_end:
                return _STALE
            is_tree_edge = in_tree[neighbour] == stamp and parent[neighbour] == edge_from(node, edge)
            if is_tree_edge or (length == 0 and used[neighbour] != stamp):
                taken_edge = edge
                break
        if taken_edge < 0:
            return np.int64(length)
        path[length] = taken_edge
        node = taken_edge >> 32
    return np.int64(len(path))


@entry
def changed_trees(
    part: Walks, rows: Array, draw: Draw, walked: WalkedGraph, edited: Edited, scratch: WalkScratch
) -> None:
    """Set what `differs` of the roots in `rows` of a part that have other breadth-first walks.

    Whole trees, and those whose budget ended, are taken for changed by a change within their depth.
    """
    depth, differs = part.nodes.shape[1], edited.differs
    for i in rows:
        root = np.int64(part.roots[i])
        near = edited.distance[root]
        if differs[root] or near > depth:
            continue
        if part.state[i] != 0 or (not edited.certain and near < marked_layers(depth)):
            differs[root] = near < depth or part.state[i] < 0
            continue
        if edited.certain and not _passes(part, i, edited.changes) and not _any_mark(edited.from_root, root):
            continue
        scratch.stamp[0] += 1
        differs[root] = _tree_differs(part, i, draw, walked, edited, scratch)


@compiled
def _tree_differs(
    part: Walks, i: int, draw: Draw, walked: WalkedGraph, edited: Edited, scratch: WalkScratch
) -> bool:
    """Tell the descents from the root in row `i` again, whose own triples come first in its walks."""
    used, ended, stamp = scratch.used, scratch.ended, scratch.stamp[0]
    root, begin, end = np.int64(part.roots[i]), part.offsets[i], part.offsets[i + 1]
    depth, number = part.nodes.shape[1], begin
    while number < end and (depth == 1 or part.steps[number, 1] < 0):
        number += 1
    if depth == 1 or number - begin == draw.cap:
        return False
    _mark_tree(root, part, number, end, scratch)
    path = np.empty(depth, np.int64)
    for walk in range(3 * draw.cap):
        if number - begin == draw.cap:
            break
        length = _descend_again(root, kernels.walk_key(draw.seed, root, walk), walked, edited, scratch, path)
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
def hops_from(start: Array, most: Array, walked: WalkedGraph, hops: Array) -> None:
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
        forward = walked.edges[walked.offsets[node] : walked.offsets[node + 1], 0]
        backward = walked.backward[walked.back_offsets[node] : walked.back_offsets[node + 1], 0]
        number = _reach(forward, hops[node] + 1, most, hops, queue, number)
        number = _reach(backward, hops[node] + 1, most, hops, queue, number)


@compiled
def _reach(nodes: Array, steps: int, most: Array, hops: Array, queue: Array, number: Array) -> Array:
    """Put `nodes` that no hop has reached into `queue`, so many `steps` off; returns how many it holds."""
    for node in nodes:
        if hops[node] > most:
            hops[node] = steps
            queue[number] = node
            number += 1
    return number


@entry
def trees_that_fit(
    roots: Array, depth: Array, cap: Array, walked: WalkedGraph, scratch: WalkScratch, fits: Array
) -> None:
    """Set `fits` uint8 [roots] where the spanning tree has at most `cap` paths."""
    for i in range(len(roots)):
        scratch.stamp[0] += 1
        root = np.int64(roots[i])
        if walked.offsets[root + 1] - walked.offsets[root] <= cap:
            fits[i] = whole_tree(root, depth, cap, walked, scratch, scratch.stamp[0]) >= 0


BIT_WORDS = 8
"""Words of bits, 64 each, that tell changed edges apart."""


def changed_roots(
    before: Graph,
    edit: GraphEdit,
    walker: Walker,
    stored: Sequence[tuple[Walks, Int32]],
) -> Int32:
    """Roots whose walks may differ from those that are stored, ascending.

    `walker` is of the graph after `edit`, `before` is the graph before it; `stored` are walks with the rows
    of their roots that are in use. None is missing; few are among them that do not differ. Changed edges are
    told apart by `BIT_WORDS`; of more edges several share a bit.
    """
    changed = edit.walked(before.nodes)
    if walker.layered and walker.settings.depth == 1:
        return changed.astype(np.int32)  # their own triples are all that roots have
    differs = np.zeros(walker.nodes, np.uint8)
    differs[changed] = 1
    edited = _edited(before, changed[changed < before.nodes], walker, differs)
    if walker.layered:
        edited = _with_marks(edited, edit, changed, walker)
    walked, draw = walker.walked, walker.draw
    for walks, rows in stored:

        def find(first: int, last: int, part: Walks = walks, rows: Int32 = rows) -> None:
            if not walker.layered:
                changed_random(part, rows[first:last], draw, walked, edited)
                return
            with walker.scratch() as scratch:
                changed_trees(part, rows[first:last], draw, walked, edited, scratch)

        spread(len(rows), find, walker.threads)
    if walker.layered and len(edit.removed):
        _find_fitting(walker, edited)
    return np.flatnonzero(differs).astype(np.int32)


def _edited(before: Graph, changed: Int64, walker: Walker, differs: UInt8) -> Edited:
    """Which nodes have changed, and which of their slots; no marks yet."""
    old_tables = with_choices(before, directed=walker.settings.directed, nodes=changed)
    codes = walker.walked.places[changed] & 255
    sizes = np.where(codes > 0, np.int64(1) << np.maximum(codes - 1, 0), 0)
    starts = offsets_of(sizes)
    stale = np.zeros(int(starts[-1]), np.uint8)
    stale_slots(old_tables.places, old_tables.slots, changed, starts, walker.walked, stale)
    changes = np.full(walker.nodes, -1, np.int64)
    changes[changed] = starts[:-1]
    no_marks = np.zeros((0, 0, 0), np.uint64)
    return Edited(changes, stale, differs, no_marks, no_marks, np.zeros(0, np.uint8), certain=True)


def _find_fitting(walker: Walker, edited: Edited) -> None:
    """Note the roots near a change whose trees fit whole, now that there are fewer edges."""
    depth = walker.settings.depth
    near_roots = np.flatnonzero((edited.distance < depth) & (edited.differs == 0)).astype(np.int32)
    fits = np.zeros(len(near_roots), np.uint8)
    with walker.scratch() as scratch:
        trees_that_fit(near_roots, depth, walker.settings.max_walks, walker.walked, scratch, fits)
    edited.differs[near_roots[fits == 1]] = 1


def _with_marks(edited: Edited, edit: GraphEdit, changed: Int64, walker: Walker) -> Edited:
    """Add the marks that tell layers again: bits of changed edges, by the edges before and after together.

    `from_root` of those that start within 1, 2, … steps of a root, `to_node` of those that end within 0, 1, …
    steps of a node, both uint64 [depth - 2, nodes, words].
    """
    walked, settings = walker.walked, walker.settings
    distance = np.empty(walker.nodes, np.uint8)
    hops_from(changed, settings.depth, walked, distance)
    levels = max(0, settings.depth - 2)
    ends = np.concatenate([edit.added, edit.removed])[:, [0, 2]].astype(np.int64)
    if not settings.directed:
        ends = np.concatenate([ends, ends[:, ::-1]])
    room = (1 << 28) // (16 * walker.nodes * max(1, levels))
    words = max(1, min(BIT_WORDS, room, -(-len(ends) // 64)))
    bits = np.arange(len(ends)) % (64 * words)
    marked = np.zeros((2, walker.nodes, words), np.uint64)
    for side in (0, 1):
        edge_bits = np.uint64(1) << (bits % 64).astype(np.uint64)
        np.bitwise_or.at(marked[side], (ends[:, side], bits // 64), edge_bits)
    from_root, to_node = np.zeros((2, levels, walker.nodes, words), np.uint64)
    forward, backward = np.ascontiguousarray(ends), np.ascontiguousarray(ends[:, ::-1])
    for k in range(levels):
        earlier_marks = from_root[k - 1] if k else marked[0]
        spread_marks(earlier_marks, walked.offsets, walked.edges, forward, from_root[k])
        if k:
            spread_marks(to_node[k - 1], walked.back_offsets, walked.backward, backward, to_node[k])
        else:
            to_node[0] = marked[1]
    certain = len(walked.edges) <= walker.layer_edges
    return edited._replace(from_root=from_root, to_node=to_node, distance=distance, certain=certain)

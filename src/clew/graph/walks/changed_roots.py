"""Roots whose walks an edit changes, by the stored walks and the edit (see `kernels.changed_roots`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew.arrays import Int32, Int64, UInt8, UInt64
from clew.graph.edit.edit import GraphEdit
from clew.graph.graph import Graph, offsets_of
from clew.graph.walks.kernels.columns import Edited, PartColumns
from clew.graph.walks.walk_tables import Choices, WalkEdges, spread
from clew.graph.walks.walks import MOST_LAYER_EDGES, Walker, Walks

MOST_BIT_WORDS = 8
"""Words of bits that changed edges are told apart by; of more edges several share one."""
MARK_BYTES = 1 << 28


@dataclass(frozen=True, eq=False)
class StoredWalks:
    """Walks of roots, and which of them are `live` [roots]: the others are stored elsewhere too, later."""

    walks: Walks
    live: NDArray[np.bool_]


def changed_roots(before: Graph, edit: GraphEdit, walker: Walker, stored: Sequence[StoredWalks]) -> Int32:
    """Roots whose walks may differ from those that are stored, ascending.

    `walker` is of the graph after `edit`, `before` is the graph before it. None is missing; few are among
    them that do not differ.
    """
    changed = edit.walked(before.nodes)
    if walker.edges is not None and walker.settings.depth == 1:
        return changed.astype(np.int32)  # their own triples are all that roots have
    found = np.zeros(walker.nodes, np.uint8)
    found[changed] = 1
    edited = _edited(before, changed[changed < before.nodes], walker, found)
    if walker.edges is None:
        _find_random(stored, walker, edited)
    else:
        edited = _with_marks(edited, edit, changed, walker, walker.edges)
        _find_trees(edit, walker, stored, edited)
    return np.flatnonzero(found).astype(np.int32)


def _edited(before: Graph, changed: Int64, walker: Walker, found: UInt8) -> Edited:
    """Which nodes have changed, and which of their slots; no marks yet."""
    from clew.graph.walks.kernels.changed_roots import stale_slots

    old = Choices.of(before, directed=walker.settings.directed, nodes=changed)
    codes = walker.choices.places[changed] & 255
    sizes = np.where(codes > 0, np.int64(1) << np.maximum(codes - 1, 0), 0)
    starts = offsets_of(sizes)
    stale = np.zeros(int(starts[-1]), np.uint8)
    stale_slots(old.places, old.slots, changed, starts, walker.walked, stale)
    changes = np.full(walker.nodes, -1, np.int64)
    changes[changed] = starts[:-1]
    none = np.zeros((0, 0, 0), np.uint64)
    return Edited(changes, stale, found, none, none, np.zeros(0, np.uint8), certain=True)


def _find_random(stored: Sequence[StoredWalks], walker: Walker, edited: Edited) -> None:
    from clew.graph.walks.kernels.changed_roots import changed_random

    walked, draw = walker.walked, walker.draw(walker.settings.walks)
    for part in stored:
        rows = np.flatnonzero(part.live)

        def find(first: int, last: int, part: PartColumns = part.walks.columns, rows: Int64 = rows) -> None:
            changed_random(part, rows[first:last], draw, walked, edited)

        spread(len(rows), find, walker.threads)


def _with_marks(edited: Edited, edit: GraphEdit, changed: Int64, walker: Walker, lists: WalkEdges) -> Edited:
    """Add the marks that tell layers again."""
    from clew.graph.walks.kernels.changed_roots import hops_from

    distance = np.empty(walker.nodes, np.uint8)
    hops_from(changed, walker.settings.depth, walker.walked, distance)
    from_root, to_node = _marks(edit, walker, lists)
    certain = len(lists.edges) <= MOST_LAYER_EDGES
    return edited._replace(from_root=from_root, to_node=to_node, distance=distance, certain=certain)


def _find_trees(edit: GraphEdit, walker: Walker, stored: Sequence[StoredWalks], edited: Edited) -> None:
    from clew.graph.walks.kernels.changed_roots import changed_trees, trees_that_fit

    walked, depth, cap = walker.walked, walker.settings.depth, walker.settings.max_walks
    draw = walker.draw(cap)
    for part in stored:
        rows = np.flatnonzero(part.live)

        def find(first: int, last: int, part: PartColumns = part.walks.columns, rows: Int64 = rows) -> None:
            with walker.scratch() as scratch:
                changed_trees(part, rows[first:last], draw, walked, edited, scratch)

        spread(len(rows), find, walker.threads)
    if len(edit.removed):
        near = np.flatnonzero((edited.distance < depth) & (edited.differs == 0)).astype(np.int32)
        fits = np.zeros(len(near), np.uint8)
        with walker.scratch() as scratch:
            trees_that_fit(near, depth, cap, walked, scratch, fits)
        edited.differs[near[fits == 1]] = 1


def _marks(edit: GraphEdit, walker: Walker, lists: WalkEdges) -> tuple[UInt64, UInt64]:
    """Bits of changed edges: of those that start near a root, and of those that end near a node.

    Within 1, 2, … steps of the root, and 0, 1, … of the node.

    Both uint64 [depth - 2, nodes, words], by the edges before and after together.
    """
    from clew.graph.walks.kernels.changed_roots import spread_marks

    levels = max(0, walker.settings.depth - 2)
    ends = np.concatenate([edit.added, edit.removed])[:, [0, 2]].astype(np.int64)
    if not walker.settings.directed:
        ends = np.concatenate([ends, ends[:, ::-1]])
    room = MARK_BYTES // (16 * walker.nodes * max(1, levels))
    words = max(1, min(MOST_BIT_WORDS, room, -(-len(ends) // 64)))
    bits = np.arange(len(ends)) % (64 * words)
    marked = np.zeros((2, walker.nodes, words), np.uint64)
    for side in (0, 1):
        np.bitwise_or.at(
            marked[side], (ends[:, side], bits // 64), np.uint64(1) << (bits % 64).astype(np.uint64)
        )
    found = np.zeros((2, levels, walker.nodes, words), np.uint64)
    from_root, to_node = found
    forward, back = np.ascontiguousarray(ends), np.ascontiguousarray(ends[:, ::-1])
    for k in range(levels):
        spread_marks(from_root[k - 1] if k else marked[0], lists.offsets, lists.edges, forward, from_root[k])
        if not k:
            to_node[0] = marked[1]
        else:
            spread_marks(to_node[k - 1], lists.back_offsets, lists.backward, back, to_node[k])
    return from_root, to_node

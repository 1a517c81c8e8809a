"""Roots whose walks an edit changes, by the stored walks and the edit (see `kernels.changed_roots`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import Int32, Int64, UInt8
from clew.graph.edit import GraphEdit
from clew.graph.graph import Graph, offsets_of
from clew.graph.walks.kernels.columns import Edited, Walks
from clew.graph.walks.walk_tables import spread, with_choices
from clew.graph.walks.walks import Walker

MOST_BIT_WORDS = 8
MARK_BYTES = 1 << 28


@dataclass(frozen=True, eq=False)
class StoredWalks:
    """Walks of roots, and which of them are `live` [roots]: the others are stored elsewhere too, later."""

    walks: Walks
    live: NDArray[np.bool_]


def changed_roots(
    before: Graph,
    edit: GraphEdit,
    walker: Walker,
    stored: Sequence[StoredWalks],
    *,
    bit_words: int = MOST_BIT_WORDS,
) -> Int32:
    """Roots whose walks may differ from those that are stored, ascending.

    `walker` is of the graph after `edit`, `before` is the graph before it. None is missing; few are among
    them that do not differ. Changed edges are told apart by `bit_words` words of bits at most; of more edges
    several share one.
    """
    changed = edit.walked(before.nodes)
    if walker.layered and walker.settings.depth == 1:
        return changed.astype(np.int32)  # their own triples are all that roots have
    differs = np.zeros(walker.nodes, np.uint8)
    differs[changed] = 1
    edited = _edited(before, changed[changed < before.nodes], walker, differs)
    if walker.layered:
        edited = _with_marks(edited, edit, changed, walker, bit_words)
    _compare(walker, stored, edited)
    if walker.layered and len(edit.removed):
        _find_fitting(walker, edited)
    return np.flatnonzero(differs).astype(np.int32)


def _edited(before: Graph, changed: Int64, walker: Walker, differs: UInt8) -> Edited:
    """Which nodes have changed, and which of their slots; no marks yet."""
    from clew.graph.walks.kernels.changed_roots import stale_slots

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


def _compare(walker: Walker, stored: Sequence[StoredWalks], edited: Edited) -> None:
    """Tell the walks of all roots that are live again, and note which differ."""
    from clew.graph.walks.kernels.changed_roots import changed_random, changed_trees

    walked, draw = walker.walked, walker.draw
    for part in stored:
        rows = np.flatnonzero(part.live)

        def find(first: int, last: int, part: Walks = part.walks, rows: Int64 = rows) -> None:
            if not walker.layered:
                changed_random(part, rows[first:last], draw, walked, edited)
                return
            with walker.scratch() as scratch:
                changed_trees(part, rows[first:last], draw, walked, edited, scratch)

        spread(len(rows), find, walker.threads)


def _find_fitting(walker: Walker, edited: Edited) -> None:
    """Note the roots near a change whose trees fit whole, now that there are fewer edges."""
    from clew.graph.walks.kernels.changed_roots import trees_that_fit

    depth = walker.settings.depth
    near_roots = np.flatnonzero((edited.distance < depth) & (edited.differs == 0)).astype(np.int32)
    fits = np.zeros(len(near_roots), np.uint8)
    with walker.scratch() as scratch:
        trees_that_fit(near_roots, depth, walker.settings.max_walks, walker.walked, scratch, fits)
    edited.differs[near_roots[fits == 1]] = 1


def _with_marks(edited: Edited, edit: GraphEdit, changed: Int64, walker: Walker, bit_words: int) -> Edited:
    """Add the marks that tell layers again: bits of changed edges, by the edges before and after together.

    `from_root` of those that start within 1, 2, … steps of a root, `to_node` of those that end within 0, 1, …
    steps of a node, both uint64 [depth - 2, nodes, words].
    """
    from clew.graph.walks.kernels.changed_roots import hops_from, spread_marks

    walked, settings = walker.walked, walker.settings
    distance = np.empty(walker.nodes, np.uint8)
    hops_from(changed, settings.depth, walked, distance)
    levels = max(0, settings.depth - 2)
    ends = np.concatenate([edit.added, edit.removed])[:, [0, 2]].astype(np.int64)
    if not settings.directed:
        ends = np.concatenate([ends, ends[:, ::-1]])
    room = MARK_BYTES // (16 * walker.nodes * max(1, levels))
    words = max(1, min(bit_words, room, -(-len(ends) // 64)))
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

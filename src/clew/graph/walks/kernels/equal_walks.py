"""Walks that are equal: merged where they were made, and found again among those of an older part."""

from __future__ import annotations

import numpy as np

from clew.graph.kernels import Array, compiled, entry
from clew.graph.walks.kernels.choices import mix
from clew.graph.walks.kernels.columns import Walks

_S32 = np.uint64(32)


@entry
def merge_walks(steps: Array, nodes: Array, counts: Array, walk_counts: Array) -> None:
    """Merge equal walks of each root in place: the first `kept[i]` rows of root i stay, with `counts`."""
    roots, walks, length = steps.shape
    table = np.empty(_slots(walks), np.int64)
    for i in range(roots):
        root_steps, root_nodes = steps[i], nodes[i]
        table[:] = -1
        number = 0
        for walk in range(walks):
            if root_steps[walk, 0] < 0:
                continue
            place = _place(root_steps, root_nodes, walk, root_steps, root_nodes, table)
            if table[place] >= 0:
                counts[i, table[place]] += 1
                continue
            table[place] = number
            counts[i, number] = 1
            for t in range(length):
                root_steps[number, t], root_nodes[number, t] = root_steps[walk, t], root_nodes[walk, t]
            number += 1
        walk_counts[i] = number


@compiled
def _slots(walks: Array) -> int:
    """Slots of a hash table of walks, at most half full."""
    size = 4
    while size < 2 * walks:
        size *= 2
    return size


@compiled
def _walk_hash(steps: Array, nodes: Array, walk: int) -> Array:
    key = np.uint64(0)
    for t in range(steps.shape[1]):
        key = mix(key + ((np.uint64(steps[walk, t] + 1) << _S32) | np.uint64(nodes[walk, t] + 1)))
    return key


@compiled
def _equal(
    steps: Array, nodes: Array, walk: int, old_steps: Array, old_nodes: Array, old_walk: Array
) -> bool:
    for t in range(steps.shape[1]):
        if steps[walk, t] != old_steps[old_walk, t] or nodes[walk, t] != old_nodes[old_walk, t]:
            return False
    return True


@compiled
def _place(steps: Array, nodes: Array, walk: int, old_steps: Array, old_nodes: Array, table: Array) -> Array:
    """Place in a `table` of rows of older walks, -1 where none is: that of the equal one, or a free one."""
    mask = len(table) - 1
    place = np.int64(_walk_hash(steps, nodes, walk) & np.uint64(mask))
    while table[place] >= 0 and not _equal(steps, nodes, walk, old_steps, old_nodes, table[place]):
        place = (place + 1) & mask
    return place


@entry
def match_walks(
    part: Walks, part_rows: Array, old: Walks, rows: Array, unchanged: Array, old_rows: Array
) -> None:
    """Find walks of the roots `part_rows` of a part among those in `rows` of an older one.

    Sets `old_rows` int64 [walks] to the row of the same walk, and `unchanged` uint8 [roots] of roots where
    all is as it was; both are left alone elsewhere.
    """
    for k in range(len(part_rows)):
        i, row = part_rows[k], rows[k]
        start, stop = part.offsets[i], part.offsets[i + 1]
        old_start, old_stop = old.offsets[row], old.offsets[row + 1]
        equal = stop - start == old_stop - old_start
        equal = equal and part.state[i] == old.state[row] and part.left_out[i] == old.left_out[row]
        lacking = False
        for walk in range(start, stop):
            old_walk = old_start + walk - start
            if old_walk < old_stop and _equal(part.steps, part.nodes, walk, old.steps, old.nodes, old_walk):
                old_rows[walk] = old_walk
                equal = equal and part.counts[walk] == old.counts[old_walk]
            else:
                lacking = True
        unchanged[i] = equal and not lacking
        if lacking:
            table = np.full(_slots(old_stop - old_start), -1, np.int64)
            for old_walk in range(old_start, old_stop):
                table[_place(old.steps, old.nodes, old_walk, old.steps, old.nodes, table)] = old_walk
            for walk in range(start, stop):
                if old_rows[walk] < 0:
                    old_rows[walk] = table[_place(part.steps, part.nodes, walk, old.steps, old.nodes, table)]

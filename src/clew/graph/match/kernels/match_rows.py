"""The matches that a search has found, and how near those are that it has not."""

from __future__ import annotations

import numpy as np

from clew.graph.kernels import Array, compiled
from clew.graph.match.kernels import columns as c
from clew.graph.match.kernels.columns import LayerTree, MatchRows
from clew.graph.match.kernels.edges import room

MOST_LATE = 4096


@compiled
def empty_matches(width: int, capacity: int) -> MatchRows:
    """No matches, with room for `capacity` rows of `width`."""
    return MatchRows(np.empty((capacity, width), np.int64), np.zeros(capacity + 1, np.int64))


@compiled
def note_late_bound(late: Array, bound: int, capacity: int) -> None:
    """Remember a bound above the limit if it is among the `capacity` smallest (a binary max-heap)."""
    count = late[-1]
    if count == capacity:
        if bound >= late[0]:
            return
        at = 0
        while 2 * at + 1 < count:
            child = 2 * at + 1
            if child + 1 < count and late[child + 1] > late[child]:
                child += 1
            if late[child] <= bound:
                break
            late[at] = late[child]
            at = child
        late[at] = bound
        return
    late[-1] = count + 1
    at = count
    while at > 0 and late[(at - 1) >> 1] < bound:
        late[at] = late[(at - 1) >> 1]
        at = (at - 1) >> 1
    late[at] = bound


@compiled
def comes_before(row: Array, rows: Array, slot: int) -> bool:
    """Whether a match comes before the one in `slot`."""
    for j in range(len(row)):
        if row[j] != rows[slot, j]:
            return row[j] < rows[slot, j]
    return False


@compiled
def keep_match(matches: MatchRows, most_matches: int, row: Array) -> MatchRows:
    """Add a match: all of them if `most_matches` is 0, else the first `most_matches`."""
    count = matches.order[-1]
    slot = count
    if most_matches > 0 and count == most_matches:
        slot = matches.order[count - 1]
        if not comes_before(row, matches.rows, slot):
            return matches
        count -= 1
    matches = MatchRows(room(matches.rows, slot + 1), matches.order)
    if most_matches > 0:
        at = count
        while at > 0 and comes_before(row, matches.rows, matches.order[at - 1]):
            matches.order[at] = matches.order[at - 1]
            at -= 1
        matches.order[at] = slot
    for j in range(len(row)):
        matches.rows[slot, j] = row[j]
    matches.order[-1] = count + 1
    return matches


@compiled
def is_too_late(layer: Array, tree: LayerTree, node: Array, rows: Array, slot: int) -> bool:
    """Whether every completion at the bound's cost comes after the match in `slot` by entity ids.

    `layer` and `node` are those of `Layers` and `EnumerationState`.
    """
    for w in range(len(node)):
        if node[w, c.ASSIGNED] & 1:
            value = node[w, c.ENTITY]
        elif layer[w, c.START] >= 0:
            top = w
            while node[tree.node[top, c.UP], c.ASSIGNED] & 1 == 0:
                top = tree.node[top, c.UP]
            place = tree.edge[
                tree.link[tree.node[top, c.LINK] + node[tree.node[top, c.UP], c.PLACE], c.POINTER], c.TARGET
            ]
            value = tree.best[tree.node[top, c.ROW] + place * tree.node[top, c.WIDTH] + tree.column[top, w]]
        else:
            return False
        row_value = rows[slot, 1 + w]
        if value != row_value:
            return value > row_value
    return False

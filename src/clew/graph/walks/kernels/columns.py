"""What the kernels of walks hand to each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import Int32, Int64, UInt16
from clew.graph.kernels import Array


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

"""The relation paths of a node, each with all nodes at its end: what walks can only sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from clew.foundation.arrays import Int32, Int64
from clew.graph.graph import Adjacency, Graph, listed_places

Steps = tuple[int, ...]
Rank = Callable[[Sequence[Steps]], Sequence[float]]
"""Scores of some relation paths, the larger the better."""


DEPTH = 3
"""Steps of a path."""
BEAM = 64
"""Paths that are gone on from at each length."""
MOST_ENDS, MOST_PATH_EDGES = 20_000, 500_000
"""Ends and edges of one path."""


@dataclass(frozen=True, eq=False)
class RelationPath:
    """A sequence of steps (2r along relation r, 2r + 1 against it) from a root, and where it ends.

    `ends` int32 [n], ascending, each once and never the root; `prefix_places` int32 [n] are their places
    among the ends of `prefix`, the path without its last step. `complete` is False where a limit left out
    ends.
    """

    root: int
    steps: Steps = ()
    ends: Int32 = field(default_factory=lambda: np.empty(0, np.int32))
    prefix_places: Int32 = field(default_factory=lambda: np.empty(0, np.int32))
    prefix: RelationPath | None = None
    complete: bool = True

    def nodes_to(self, place: int) -> tuple[int, ...]:
        """The nodes of one way to the end at `place`, the root first."""
        if self.prefix is None:
            return (self.root,)
        return (*self.prefix.nodes_to(int(self.prefix_places[place])), int(self.ends[place]))

    def proof(self, graph: Graph, place: int) -> tuple[int, ...]:
        """The triple ids of that way."""
        nodes = self.nodes_to(place)
        return tuple(
            graph.find_triple(*((a, s >> 1, b) if s % 2 == 0 else (b, s >> 1, a)))
            for s, a, b in zip(self.steps, nodes, nodes[1:], strict=False)
        )

    def between(self, graph: Graph, most: int) -> dict[int, tuple[int, ...]]:
        """Each end with the nodes that its last step comes from; nothing of one, or of more than `most`."""
        if self.prefix is None or not self.prefix.steps or len(self.ends) < 2:
            return {}
        nodes = self.prefix.ends.tolist()
        if not 2 <= len(nodes) <= most:
            return {}
        side = graph.into if self.steps[-1] % 2 else graph.out
        sources_by_end: dict[int, list[int]] = {int(end): [] for end in self.ends.tolist()}
        for node in nodes:
            low, high = side.relation_span(node, self.steps[-1] >> 1)
            for neighbour in side.neighbour[low:high].tolist():
                if neighbour in sources_by_end:
                    sources_by_end[neighbour].append(node)
        return {end: tuple(dict.fromkeys(sources)) for end, sources in sources_by_end.items()}


def relation_paths(graph: Graph, root: int, rank: Rank) -> list[RelationPath]:
    """All relation paths from a root, shorter ones first; of each length the best of `rank` are gone on from.

    The root is never passed again. A path with more ends than the limit is kept, cut, and not gone on from.
    """
    start = RelationPath(root, (), np.array([root], np.int32), np.zeros(1, np.int32))
    frontier, paths = [start], list[RelationPath]()
    for _ in range(DEPTH):
        level = [path for prefix in frontier for path in _longer(graph, prefix)]
        paths += level
        scores = rank([path.steps for path in level]) if level else []
        order = np.argsort(-np.asarray(scores, np.float64), kind="stable").tolist()
        frontier = [level[at] for at in order if level[at].complete][:BEAM]
    return paths


def _longer(graph: Graph, prefix: RelationPath) -> Iterator[RelationPath]:
    """A path with one step more, each way."""
    for side, adjacency in enumerate((graph.out, graph.into)):
        slots, places, complete = _edges(adjacency, prefix.ends, MOST_PATH_EDGES)
        relations, neighbours = adjacency.relation[slots], adjacency.neighbour[slots]
        is_kept = neighbours != prefix.root
        relations, neighbours, places = relations[is_kept], neighbours[is_kept], places[is_kept]
        order = np.argsort(relations, kind="stable")
        bounds = np.flatnonzero(np.diff(relations[order], prepend=-1, append=-1))
        for low, high in pairwise(bounds.tolist()):
            of_step = order[low:high]
            ends, first_places = np.unique(neighbours[of_step], return_index=True)
            step = 2 * int(relations[of_step[0]]) + side
            is_cut = len(ends) > MOST_ENDS
            yield RelationPath(
                prefix.root, (*prefix.steps, step), ends[:MOST_ENDS].astype(np.int32),
                places[of_step][first_places][:MOST_ENDS].astype(np.int32), prefix, complete and not is_cut,
            )  # fmt: skip


def _edges(adjacency: Adjacency, nodes: Int32, most: int) -> tuple[Int64, Int64, bool]:
    """The slots of some nodes, the place of each one's node, and whether none were left out."""
    starts = adjacency.starts[nodes]
    counts = adjacency.stops[nodes] - starts
    nodes_taken = int(np.searchsorted(np.cumsum(counts), most, "right"))
    complete = nodes_taken >= len(nodes)
    starts, counts = starts[: max(nodes_taken, 1)], counts[: max(nodes_taken, 1)]
    return listed_places(starts, counts), np.repeat(np.arange(len(counts)), counts), complete

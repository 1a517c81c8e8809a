"""Paths of up to three edges between two named things of a claim.

A claim says one step where a graph has two or three (*works in Oslo*: at a firm, whose seat is there). Where
its pattern fits nothing well, the model is shown how the graph connects what the claim names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

import numpy as np

from clew.foundation.arrays import Float32, Int64
from clew.graph.graph import Graph
from clew.graph.neighbourhood import triples_at
from clew.methods.relation_ranking import path_scores

Path = tuple[int, ...]
"""Triple ids, from the first thing to the second."""
MOST_LISTED_PATHS = 20_000
"""Paths of one length that are listed before they are ranked."""


@dataclass(frozen=True, slots=True)
class PathLimits:
    """Paths between two things that are shown, and those `of_one_kind`, by the same relations.

    Of the neighbours of a thing so many edges (`edges_around`) are looked at; beyond, no third step is.
    """

    paths: int = 6
    of_one_kind: int = 2
    edges_around: int = 100_000


USUAL_LIMITS = PathLimits()


@dataclass(frozen=True, slots=True)
class Connection:
    """Paths between two things, the likeliest first; `complete` is False where some were not looked for."""

    paths: tuple[Path, ...]
    complete: bool = True


def connect(
    graph: Graph, entities: Sequence[int], alike: Float32, limits: PathLimits = USUAL_LIMITS
) -> Connection:
    """The paths between any two entities, ranked by the words of a claim (`alike` of `RelationRanking`)."""
    paths: dict[Path, None] = {}
    complete = True
    for first, last in combinations(dict.fromkeys(entities), 2):
        connection = _connection_between(_Search(graph, first, last, limits), alike)
        paths |= dict.fromkeys(connection.paths)
        complete = complete and connection.complete
    return Connection(tuple(paths), complete)


def _connection_between(search: _Search, alike: Float32) -> Connection:
    lengths = (search.one_edge(), search.two_edges(), search.three_edges())
    paths_by_length = [list(islice(paths, MOST_LISTED_PATHS + 1)) for paths in lengths]
    complete = search.complete and all(len(paths) <= MOST_LISTED_PATHS for paths in paths_by_length)
    paths_by_kind: dict[tuple[int, ...], list[Path]] = {}
    for path in (path for paths in paths_by_length for path in paths[:MOST_LISTED_PATHS]):
        paths_by_kind.setdefault(search.steps(path), []).append(path)
    kinds = list(paths_by_kind)
    scores = path_scores(alike, kinds)
    best = sorted(range(len(kinds)), key=lambda at: (-scores[at], len(kinds[at]), kinds[at]))
    best_paths = [path for at in best for path in paths_by_kind[kinds[at]][: search.limits.of_one_kind]]
    return Connection(tuple(best_paths[: search.limits.paths]), complete)


class _Search:
    """The edges at two entities, and at what lies next to them."""

    def __init__(self, graph: Graph, first: int, last: int, limits: PathLimits) -> None:
        self.graph, self.first, self.last, self.limits = graph, first, last, limits
        self.complete = True
        self.at_first, self.at_last = triples_at(graph, [first]), triples_at(graph, [last])
        self.near, self.far = self._by_other_end(self.at_first, first), self._by_other_end(self.at_last, last)

    def one_edge(self) -> Iterator[Path]:
        """Paths of one edge."""
        yield from ((int(t),) for t in np.intersect1d(self.at_first, self.at_last))

    def two_edges(self) -> Iterator[Path]:
        """Paths of two edges."""
        for middle in sorted(self.near.keys() & self.far.keys()):
            yield from ((a, b) for a in self.near[middle] for b in self.far[middle])

    def three_edges(self) -> Iterator[Path]:
        """Paths of three edges; none where too many edges lie at what is next to both ends."""
        near, far = self.near, self.far
        smaller_side = min((near, far), key=self._edges)
        if self._edges(smaller_side) > self.limits.edges_around:
            self.complete = False
            return
        for triple in triples_at(self.graph, sorted(smaller_side)).tolist():
            head, _, tail = self.graph.triple(triple)
            for near_end, far_end in dict.fromkeys(((head, tail), (tail, head))):
                if near_end in near and far_end in far and near_end != far_end:
                    yield from ((a, triple, b) for a in near[near_end] for b in far[far_end])

    def steps(self, path: Path) -> tuple[int, ...]:
        """The relations of a path with their direction: 2r along the edge, 2r + 1 against it."""
        node, steps = self.first, list[int]()
        for triple in path:
            head, relation, tail = self.graph.triple(triple)
            steps.append(2 * relation + (head != node))
            node = tail if head == node else head
        return tuple(steps)

    def _by_other_end(self, triples: Int64, entity: int) -> dict[int, list[int]]:
        """Triples by their other end, which is neither of the two entities."""
        triples_by_end: dict[int, list[int]] = {}
        for triple in triples.tolist():
            head, _, tail = self.graph.triple(triple)
            end = tail if head == entity else head
            if end not in (self.first, self.last):
                triples_by_end.setdefault(end, []).append(triple)
        return triples_by_end

    def _edges(self, nodes: Iterable[int]) -> int:
        node_ids = np.fromiter(nodes, np.int64)
        return int(self.graph.out.degrees()[node_ids].sum() + self.graph.into.degrees()[node_ids].sum())

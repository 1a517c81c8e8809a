"""Candidate triples: all within N hops of some entities, both ways or outwards (KG-RAG section 3.4.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from clew.foundation.arrays import Float32, Int32, Int64
from clew.graph.graph import Graph
from clew.graph.kernels import Array, GraphColumns, entry, graph_columns
from clew.graph.match.kernels.columns import triple_of

ScoreNodes = Callable[[Int64], Float32]
"""Similarity of triples (ids int64 [n]) to what is asked: float32 [n]."""


@dataclass(frozen=True, slots=True)
class HopLimits:
    """Bounds of one hop, for hubs: edges looked at, triples kept."""

    most_edges: int = 2_000_000
    most_triples: int = 100_000


@dataclass(frozen=True, eq=False)
class CandidateTriples:
    """Triples by hop: `hops[i]` int64 are the ids of those i + 1 hops away, each triple in one hop.

    `left_out` counts the edges that the limits left out of these hops; none are missing where it is 0.
    """

    hops: tuple[Int64, ...]
    left_out: int = 0

    @property
    def triples(self) -> Int64:
        """All of them, nearest hop first: int64 [n]."""
        return np.concatenate(self.hops) if self.hops else np.empty(0, np.int64)

    def __len__(self) -> int:
        return sum(map(len, self.hops))


def find_candidates(
    graph: Graph,
    entities: Sequence[int],
    hops: int,
    score: ScoreNodes,
    limits: HopLimits | None = None,
    *,
    directed: bool = False,
) -> CandidateTriples:
    """Find the triples up to `hops` hops from `entities`, both ways, or from head to tail alone.

    Where a hop has more triples than `limits` allow, the most similar by `score` are kept, and the search
    goes on from their ends only. Where there are more edges than may be looked at, the nodes that the most
    similar triples led to come first.
    """
    limits = limits or HopLimits()
    columns = graph_columns(graph, directed=directed)
    state = np.zeros(graph.nodes, np.uint8)
    frontier: Int32 = np.array(list(dict.fromkeys(entities)), np.int32)
    state[frontier] = 1
    hop_triples: list[Int64] = []
    left_out, ranked = 0, True
    triples, ends = np.empty(0, np.int64), np.empty(0, np.int32)
    for _ in range(hops):
        if not len(frontier):
            break
        nodes_taken, room, edges = _within(columns, frontier, limits.most_edges)
        if nodes_taken < len(frontier) and not ranked:
            frontier = _ranked(frontier, ends[best_of(score(triples), len(triples), triples)])
            nodes_taken, room, edges = _within(columns, frontier, limits.most_edges)
        left_out += edges - room
        triples, ends = take_hop(columns, frontier[:nodes_taken], state, room)
        ranked = len(triples) > limits.most_triples
        if ranked:
            left_out += len(triples) - limits.most_triples
            best = best_of(score(triples), limits.most_triples, triples)
            triples, ends = triples[best], ends[best]
        hop_triples.append(triples)
        reached = ends[state[ends] == 0]
        _, first_places = np.unique(reached, return_index=True)
        frontier = reached[np.sort(first_places)]
        state[frontier] = 1
    return CandidateTriples(tuple(hop_triples), left_out)


def hub_notes(candidates: CandidateTriples) -> tuple[str, ...]:
    """What to tell people of triples that were left out; nothing if none were."""
    if not candidates.left_out:
        return ()
    return (f"{candidates.left_out:,} triples around hubs were left out; the most similar were kept",)


def triples_at(graph: Graph, entities: Sequence[int]) -> Int64:
    """All triples at some entities, both ways, each once: int64 [n], in the order of the entities."""
    no_limit = np.iinfo(np.int64).max
    limits = HopLimits(no_limit, no_limit)
    return find_candidates(graph, entities, 1, lambda ids: np.zeros(len(ids), np.float32), limits).triples


def _ranked(frontier: Int32, ends: Int32) -> Int32:
    """The nodes of a frontier in the order in which `ends` first has them."""
    nodes, first = np.unique(ends, return_index=True)
    place = first[np.searchsorted(nodes, frontier)]
    return frontier[np.argsort(place, kind="stable")]


def best_of(scores: Float32, k: int, ids: Int64) -> Int64:
    """Positions of the `k` largest scores, best first; of equal ones, those with the smaller id."""
    if k < len(scores):
        least = np.partition(scores, len(scores) - k)[len(scores) - k]
        picked = np.flatnonzero(scores >= least)
    else:
        picked = np.arange(len(scores))
    return picked[np.lexsort((ids[picked], -scores[picked]))][:k]


def _within(columns: GraphColumns, nodes: Int32, most: int) -> tuple[int, int, int]:
    """How many of the first nodes have at most `most` edges, one at least; their edges, and those of all."""
    out = columns.out_stops[nodes] - columns.out_starts[nodes]
    edges = np.cumsum(out + columns.into_stops[nodes] - columns.into_starts[nodes])
    taken = max(1, int(edges.searchsorted(most, "right")))
    return taken, int(edges[taken - 1]), int(edges[-1])


@entry
def take_hop(graph: GraphColumns, nodes: Array, state: Array, room: int) -> tuple[Array, Array]:
    """Take the triples of `nodes` that no earlier hop took, each once: ids int64 [n], far ends int32 [n].

    `state` uint8 [all nodes] is kept from hop to hop: 0 of a node that none has reached, 2 of one whose edges
    were taken. `room` is at least the number of edges of `nodes`.
    """
    triples = np.empty(room, np.int64)
    ends = np.empty(room, np.int32)
    count = 0
    for node in nodes:
        if state[node] == 2:
            continue
        for at in range(graph.out_starts[node], graph.out_stops[node]):
            # A triple of a finished node was taken there; a loop is taken here, among the outgoing.
            if state[graph.out_neighbour[at]] != 2:
                triples[count], ends[count] = at, graph.out_neighbour[at]
                count += 1
        for at in range(graph.into_starts[node], graph.into_stops[node]):
            head = graph.into_neighbour[at]
            if state[head] != 2 and head != node:
                triples[count] = triple_of(graph, -1 - at, node, head)
                ends[count] = head
                count += 1
        state[node] = 2
    return triples[:count], ends[:count]

"""Searches that measure entities when they are met find what a search with all entities listed finds."""

from __future__ import annotations

import numpy as np
import pytest
from reference import Tables, make_graph

from clew.graph.graph import Graph
from clew.graph.match.distances import Measure, NearestEntities, Rounded
from clew.graph.match.kernels.measure import distances_from
from clew.graph.match.matcher import match
from clew.graph.match.query import Rounds
from clew.types import MatchResult, Pattern, PatternEdge, PatternNode

NODES, RELATIONS = 60, 3
KNOWN = "ABCDE"


class Stored(Tables):
    """Distances of stored vectors; any entity is measured when it is met, and at most `most` are listed."""

    def __init__(self, rng: np.random.Generator, most: int = NODES) -> None:
        super().__init__()
        self.most = most
        self.rows = rng.integers(-127, 128, (NODES, 8)).astype(np.int8)
        self.scale = rng.uniform(0.002, 0.004, NODES).astype(np.float32)
        self.exact: dict[str, int] = {}
        self.queries: dict[str, Rounded] = {}
        for name in KNOWN:
            entity = int(rng.integers(NODES))
            query = Rounded.of(
                self.rows[entity] * self.scale[entity] + rng.normal(0, 0.02, 8).astype(np.float32)
            )
            everyone = np.arange(NODES)
            found = distances_from(self.rows, self.scale, everyone, query.values, query.plain)
            found[entity] = 0
            self.entities[name], self.exact[name], self.queries[name] = found, entity, query
        for relation in range(RELATIONS):
            self.relations[f"r{relation}"] = np.where(
                np.arange(RELATIONS) == relation, 0.0, rng.random(RELATIONS)
            )

    def node_candidates(self, node: PatternNode, count: int) -> NearestEntities:
        return super().node_candidates(node, min(count, self.most))

    def measure(self, node: PatternNode) -> Measure:
        exact = np.array([self.exact[node.name]], np.int32)
        return Measure(exact, np.zeros(1), self.rows, self.scale, self.queries[node.name])


class Listed(Tables):
    """The same distances, but all entities that are needed must be listed."""

    def __init__(self, stored: Stored) -> None:
        super().__init__(stored.entities, stored.relations, asked=stored.asked, measured=False)


SMALL = Rounds(first=2, growth=2, worth_a_cut=2)
"""Rounds as those of a large graph, on a small one."""
LONG = {
    "path": [("A", "B"), ("B", "C")],
    "star": [("A", "?"), ("B", "?"), ("?", "C")],
    "conjunction": [("A", "?"), ("?", "?2"), ("?2", "B")],
    "triangle": [("A", "B"), ("B", "?"), ("?", "A")],
    "longer path": [("A", "B"), ("B", "C"), ("C", "D")],
    "wide star": [("A", "?"), ("B", "?"), ("?", "C"), ("?", "D"), ("E", "?")],
    "one": [("A", "?"), ("?", "?2")],
    "given": [("A", "given"), ("given", "B")],
}


def random_case(seed: int, shape: str, most: int = NODES) -> tuple[Graph, Pattern, Stored]:
    rng = np.random.default_rng([seed, len(shape)])
    triples = [tuple(int(rng.integers(n)) for n in (NODES, RELATIONS, NODES)) for _ in range(200)]
    stored = Stored(rng, most)
    names = list(dict.fromkeys(name for edge in LONG[shape] for name in edge))
    nodes = tuple(
        PatternNode(name, name[0] != "?", entity=int(rng.integers(NODES)) if name == "given" else None)
        for name in names
    )
    edges = tuple(
        PatternEdge(names.index(head), f"r{int(rng.integers(RELATIONS))}", names.index(tail))
        for head, tail in LONG[shape]
    )
    return make_graph(NODES, RELATIONS, triples), Pattern(nodes, edges), stored


@pytest.mark.parametrize("shape", LONG)
def test_measuring_gives_the_same_as_listing_all(shape: str) -> None:
    few, many = 0, 0
    for seed in range(20 if len(LONG[shape]) > 3 else 60):
        graph, pattern, stored = random_case(seed, shape)
        found = match(graph, pattern, stored, rounds=SMALL)
        assert found.complete
        few += sum(stored.asked)
        stored.asked.clear()
        assert found == match(graph, pattern, Listed(stored), k=3, rounds=SMALL)
        many += sum(stored.asked)
    assert few < many


@pytest.mark.parametrize("shape", LONG)
def test_where_lists_end_the_bound_says_what_is_certain(shape: str) -> None:
    complete = 0
    for seed in range(40):
        graph, pattern, stored = random_case(seed, shape, most=(2, 6, 20)[seed % 3])
        k = (1, 20)[seed % 2]
        part = match(graph, pattern, stored, k=k, rounds=SMALL)
        full = match(graph, pattern, Listed(stored), k=k, rounds=SMALL)
        missing = [m.gsd for m in full.matches if m not in part.matches]
        assert part.complete is (part.bound == float("inf"))
        assert all(gsd >= part.bound - 1e-8 for gsd in missing)
        complete += part.complete
        if part.complete:
            assert part == full
    assert complete > 0
    assert complete < 40 or shape == "given"


def test_a_name_that_is_an_entitys_is_not_asked_for_where_that_is_enough() -> None:
    stored = Stored(np.random.default_rng(0))
    entity = stored.exact["A"]
    others = [i for i in range(NODES) if i != entity][:3]
    graph = make_graph(NODES, RELATIONS, [(entity, 0, other) for other in others])
    pattern = Pattern((PatternNode("A", True), PatternNode("?", False)), (PatternEdge(0, "r0", 1),))
    found: MatchResult = match(graph, pattern, stored)
    assert [m.gsd for m in found.matches] == [0, 0, 0]
    assert stored.asked == []

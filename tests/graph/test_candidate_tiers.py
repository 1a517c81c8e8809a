"""Searches that measure entities when they are met find what a search with all entities listed finds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from reference import Tables, make_graph

from clew.graph.graph import Graph
from clew.graph.match.candidate_lists import ALL, CandidateList, Rounds
from clew.graph.match.candidate_tiers import Tier, Tiers
from clew.graph.match.distances import Measure, NearestEntities, Rounded
from clew.graph.match.kernels.columns import INFINITE
from clew.graph.match.kernels.measure import APART, distances_from
from clew.graph.match.matcher import match
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


def test_no_other_entity_is_at_distance_zero() -> None:
    rows, scale = np.full((2, 8), 127, np.int8), np.full(2, 0.5, np.float32)
    query = Rounded.of(rows[0] * scale[0])
    found = distances_from(rows, scale, np.arange(2), query.values, query.plain)
    assert (found >= APART).all()


def prepare(_nodes: Sequence[PatternNode], _count: int) -> None:
    """Nothing to prepare."""


def is_in(tier: Tier, excess: int, held: int) -> bool:
    """Whether an entity whose place in the list is within `held`, or not, is of a tier."""
    return excess > tier.low if tier.far else tier.low < excess <= min(tier.high, held)


@pytest.mark.parametrize("names", ["AB", "ABC", "ABCDE"])
def test_every_choice_within_the_slack_is_in_one_run(names: str) -> None:
    checked = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        stored = Stored(rng)
        lists: dict[int, CandidateList] = {}
        for i, name in enumerate(names):
            lists[i] = CandidateList(stored, PatternNode(name, True), rounds=SMALL)
            for _ in range(int(rng.integers(4))):
                lists[i].grow()
        tiers = Tiers(lists, prepare, seeded=False, rounds=SMALL)
        slack = int(rng.uniform(0.2, 1) * min(tiers.slack_at_hand, 3 << 35))
        runs, left_out = tiers.runs(slack)
        some = [np.sort(np.rint(stored.entities[name] * 1e9).astype(int) << 5) for name in names]
        excesses = [(costs - costs[0]).tolist() for costs in some]
        for _ in range(200):
            choice = [each[int(rng.integers(NODES) ** 2 / NODES)] for each in excesses]
            fitting = [
                run
                for run in runs
                if all(is_in(run[i], excess, ALL) for i, excess in enumerate(choice))
                and all(excess >= run[i].floor for i, excess in enumerate(choice))
            ]
            if sum(choice) <= slack:
                assert len(fitting) == 1
                checked += 1
            elif not fitting:
                assert sum(choice) >= left_out
    assert checked > 50


def test_no_run_leaves_all_nodes_to_be_measured() -> None:
    for seed in range(50):
        rng = np.random.default_rng(seed)
        stored = Stored(rng)
        lists = {
            i: CandidateList(stored, PatternNode(name, True), rounds=SMALL) for i, name in enumerate("ABC")
        }
        tiers = Tiers(lists, prepare, seeded=False, rounds=SMALL)
        slack = tiers.wider(0, 1, None)
        while slack is not None and slack < ALL:
            runs, left_out = tiers.runs(slack)
            assert not any(all(tier.far for tier in run.values()) for run in runs)
            assert left_out > slack
            slack = tiers.wider(slack, left_out, None) if left_out < INFINITE else None

import threading

import numpy as np
import pytest
from reference import Tables, brute_force, make_graph

from clew.errors import PatternError
from clew.graph.graph import Graph
from clew.graph.match import query
from clew.graph.match.distances import FixedDistances
from clew.graph.match.matcher import match
from clew.graph.match.patterns import unknown_type
from clew.types import Pattern, PatternEdge, PatternNode

GRIDS = [0.0, 0.0, 0.25, 0.5, 0.125, np.inf], [0.1, 0.3, 0.7, np.inf, 0.2], [0.0, np.inf]


def known(entity: int) -> PatternNode:
    return PatternNode(f"e{entity}", True, entity=entity)


def unknown(kind: str | None = None) -> PatternNode:
    return PatternNode("UNKNOWN", False, type=kind)


def random_graph(rng: np.random.Generator, most_nodes: int, most_triples: int) -> tuple[Graph, int]:
    nodes, relations = int(rng.integers(2, most_nodes + 1)), int(rng.integers(1, 4))
    count = int(rng.integers(1, most_triples + 1))
    shape = (nodes, relations, nodes)
    triples = [tuple(int(rng.integers(n)) for n in shape) for _ in range(count)]
    return make_graph(nodes, relations, triples), relations


def random_edges(rng: np.random.Generator, nodes: int, count: int) -> list[tuple[int, int]]:
    """Ends of `count` edges that connect `nodes` nodes, numbered and ordered at random."""
    edges = [(int(rng.integers(v)), v) for v in range(1, nodes)]
    edges += [(int(rng.integers(nodes)), int(rng.integers(nodes))) for _ in range(count - len(edges))]
    names = rng.permutation(nodes)
    turned = [(u, v) if rng.random() < 0.5 else (v, u) for u, v in edges]
    return [(int(names[turned[i][0]]), int(names[turned[i][1]])) for i in rng.permutation(count)]


def random_node(
    rng: np.random.Generator, i: int, entities: int, grid: list[float], tables: Tables
) -> PatternNode:
    kind = rng.random()
    if kind < 0.3:
        return PatternNode(f"n{i}", True, entity=int(rng.integers(entities)))
    if kind < 0.6:
        tables.entities[f"n{i}"] = rng.choice(grid, entities)
        return PatternNode(f"n{i}", True)
    if kind < 0.75:
        tables.masks[f"t{i}"] = rng.random(entities) < 0.7
        return PatternNode(f"n{i}", False, type=f"t{i}")
    return PatternNode(f"n{i}", False)


def random_case(seed: int, most_nodes: int = 6, most_triples: int = 14) -> tuple[Graph, Pattern, Tables]:
    rng = np.random.default_rng(seed)
    graph, relations = random_graph(rng, most_nodes, most_triples)
    count = int(rng.integers(1, 5))
    size = int(rng.integers(1, min(count + 1, 4) + 1))
    grid, tables = GRIDS[int(rng.integers(len(GRIDS)))], Tables()
    nodes = [random_node(rng, i, graph.nodes, grid, tables) for i in range(size)]
    if not any(node.known for node in nodes):
        nodes[int(rng.integers(size))] = known(int(rng.integers(graph.nodes)))
    edges: list[PatternEdge] = []
    for i, (head, tail) in enumerate(random_edges(rng, size, max(count, size - 1))):
        kind = rng.random()
        fixed = int(rng.integers(relations)) if kind < 0.3 else None
        if 0.3 <= kind < 0.7:
            tables.relations[f"r{i}"] = rng.choice(grid, relations)
        edges.append(PatternEdge(head, f"r{i}" if kind < 0.7 else None, tail, fixed))
    return graph, Pattern(tuple(nodes), tuple(edges)), tables


def check(seed: int, options: dict[str, object]) -> int:
    graph, pattern, tables = random_case(seed)
    tables.measured = seed % 4 > 0
    wanted = brute_force(graph, pattern, tables, **options)
    result = match(graph, pattern, tables, **options)
    assert list(result.matches) == wanted, (seed, options)
    assert result.complete
    return len(wanted)


def test_equals_brute_force_on_many_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FIRST", "GROWTH", "WORTH_A_CUT"):  # rounds as those of a large graph, on a small one
        monkeypatch.setattr(query, name, 2)
    found = 0
    for seed in range(600):
        rng = np.random.default_rng([seed, 1])
        _, pattern, _ = random_case(seed)
        options = {
            "k": [1, 2, 3, 10, None][int(rng.integers(5))],
            "all_tied": bool(rng.random() < 0.4),
            "project": None if rng.random() < 0.5 else int(rng.integers(len(pattern.nodes))),
            "distinct": ["nodes", "triples"][int(rng.integers(2))],
            "undirected": bool(rng.random() < 0.7),
        }
        found += check(seed, options) > 0
    assert found > 150


def hub_graph(leaves: int) -> Graph:
    """A hub with `leaves` neighbours, each with 10 more that they share."""
    triples = [(i, 0, 0) for i in range(1, leaves + 1)]
    triples += [(i, 1, leaves + 1 + (7 * i + j) % 50) for i in range(1, leaves + 1) for j in range(10)]
    return make_graph(leaves + 51, 2, triples)


def hub_pattern() -> Pattern:
    nodes = (known(0), *(unknown() for _ in range(3)))
    return Pattern(nodes, (PatternEdge(1, "a", 0, 0), PatternEdge(1, "b", 2, 1), PatternEdge(3, "b", 2, 1)))


def test_answers_of_a_hub_are_complete() -> None:
    found = match(hub_graph(2000), hub_pattern(), FixedDistances(), all_tied=True, project=3)
    assert found.complete
    assert [m.nodes[3] for m in sorted(found.matches, key=lambda m: m.nodes[3])] == list(range(1, 2001))


def test_a_long_walk_outside_the_layers_starts_again_with_layers() -> None:
    graph, leaves = hub_graph(300), 300
    found = match(graph, hub_pattern(), FixedDistances(), k=None)
    shared = graph.into.degrees()[leaves + 1 :]
    assert len(found.matches) == (shared * (shared - 1)).sum() > 100_000
    assert found.complete


@pytest.mark.parametrize("expansions", [0, 1, 10, 100, 1000, 10_000])
def test_an_ended_budget_leaves_a_valid_bound(expansions: int) -> None:
    for seed in range(40):
        graph, pattern, tables = random_case(seed, 8, 30)
        full = match(graph, pattern, tables, k=4)
        part = match(graph, pattern, tables, k=4, expansions=expansions)
        missing = [m.gsd for m in full.matches if m not in part.matches]
        assert part.complete is (part.bound == float("inf"))
        assert all(gsd >= part.bound - 1e-8 for gsd in missing)
        if part.complete:
            assert part == full


def test_threads_do_not_disturb_each_other() -> None:
    graph, pattern = hub_graph(300), hub_pattern()
    wanted = match(graph, pattern, FixedDistances(), all_tied=True, project=3)
    results: list[object] = []

    def run() -> None:
        results.extend(
            match(graph, pattern, FixedDistances(), all_tied=True, project=3) == wanted for _ in range(5)
        )

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 20


ONE = (PatternEdge(0, "r", 1, 0),)


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        (Pattern((known(0),), ()), "triples"),
        (Pattern((unknown(), unknown()), ONE), "every node is unknown"),
        (Pattern((known(0), unknown(), known(1)), ONE), "not connected"),
        (Pattern((known(0), unknown()), ONE * 17), "17 triples"),
        (Pattern((known(0), unknown()), ONE, answer=2), "answer"),
        (Pattern((known(0), unknown()), (PatternEdge(0, "r", 2, 0),)), r"triples\[0\]"),
        (Pattern((known(9), unknown()), ONE), "no entity 9"),
        (Pattern((known(0), unknown()), (PatternEdge(0, "r", 1, 5),)), "no relation 5"),
        (Pattern((PatternNode("x", True), unknown()), ONE), "'x' has no entity"),
        (Pattern((known(0), unknown()), (PatternEdge(0, "r", 1),)), "'r' is not fixed"),
    ],
)
def test_bad_patterns_name_the_field(pattern: Pattern, names: str) -> None:
    with pytest.raises(PatternError, match=names):
        match(make_graph(2, 1, [(0, 0, 1)]), pattern, FixedDistances())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("UNKNOWN director 1", (True, "director")), ("unknown Film Director 12", (True, "Film Director")),
        ("UNKNOWN person", (True, "person")), ("UNKNOWN thing 1", (True, None)),
        ("UNKNOWN entity 2", (True, None)), ("UNKNOWN 1", (True, None)), ("Unknown", (True, None)),
        ("UNKNOWN relation 1", (True, "relation")), ("unknown_director_1", (True, "director")),
        ("The Unknown", (False, None)), ("Unknowns", (False, None)), ("Inception", (False, None)),
    ],
)  # fmt: skip
def test_names_of_unknowns(name: str, expected: tuple[bool, str | None]) -> None:
    assert unknown_type(name) == expected

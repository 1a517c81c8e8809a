"""Given tables are the distances of a pattern, and the search equals a plain one over all candidates."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from reference import make_graph

from clew.errors import InputError, PatternError
from clew.graph.graph import Graph
from clew.graph.match.distances import Tables
from clew.graph.match.matcher import match
from clew.graph.match.patterns import pattern_from_json

NODES, RELATIONS, CANDIDATES = 400, 6, 120
SHAPES = {
    "path1": [("A", "B")],
    "path2": [("A", "B"), ("B", "C")],
    "half": [("A", "UNKNOWN 1")],
    "conjunction2": [("A", "UNKNOWN 1"), ("B", "UNKNOWN 1")],
    "conjunction3": [("A", "UNKNOWN 1"), ("UNKNOWN 1", "UNKNOWN 2"), ("UNKNOWN 2", "B")],
    "star3": [("A", "UNKNOWN 1"), ("B", "UNKNOWN 1"), ("UNKNOWN 1", "C")],
    "triangle": [("A", "UNKNOWN 1"), ("UNKNOWN 1", "B"), ("A", "B")],
}


def write_tables(folder: Path, rng: np.random.Generator) -> None:
    ids = np.stack([rng.choice(NODES, CANDIDATES, replace=False) for _ in range(3)])
    distances = np.sort(rng.uniform(0.2, 1, (3, CANDIDATES)), axis=1)
    distances[:, 0] = 0
    between = rng.uniform(0.1, 1, (RELATIONS, RELATIONS))
    np.fill_diagonal(between, 0)
    np.save(folder / "candidate_ids.npy", ids.astype(np.int32))
    np.save(folder / "candidate_distance.npy", distances.astype(np.float32))
    np.save(folder / "relation_distance.npy", between.astype(np.float32))


def record_of(edges: list[tuple[str, str]], relations: list[int]) -> dict[str, object]:
    return {
        "triples": [[head, f"r{r}", tail] for (head, tail), r in zip(edges, relations, strict=True)],
        "anchors": [{"name": name, "row": row} for row, name in enumerate("ABC")],
        "relations": {f"r{r}": r for r in relations},
    }


def depth_first(
    graph: Graph, tables: Tables, edges: list[tuple[str, str]], relations: list[int]
) -> list[float]:
    """GSDs of the three best matches, by walking from every candidate of A through every edge."""
    cost = {
        name: dict(zip(tables.ids[row].tolist(), tables.distances[row].tolist(), strict=True))
        for row, name in enumerate("ABC")
    }
    around: list[list[tuple[int, int, int]]] = [[] for _ in range(NODES)]
    for triple in range(graph.triples):
        head, relation, tail = graph.triple(triple)
        around[head].append((relation, tail, triple))
        if head != tail:
            around[tail].append((relation, head, triple))
    best: list[float] = []

    def walk(at: int, taken: dict[str, int], used: frozenset[int], gsd: float) -> None:
        if len(best) == 3 and gsd > best[2] + 1e-9:
            return
        if at == len(edges):
            best.append(gsd)
            best.sort()
            del best[3:]
            return
        near, far = edges[at] if edges[at][0] in taken else edges[at][::-1]
        for relation, other, triple in around[taken[near]]:
            more = gsd + float(tables.relations[relations[at], relation])
            if triple in used:
                continue
            if far in taken:
                if taken[far] == other:
                    walk(at + 1, taken, used | {triple}, more)
            elif other not in taken.values() and (far not in cost or other in cost[far]):
                walk(at + 1, taken | {far: other}, used | {triple}, more + cost.get(far, {}).get(other, 0.0))

    for entity, distance in cost["A"].items():
        walk(0, {"A": entity}, frozenset(), distance)
    return best


def order_edges(edges: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Each edge after the first shares a node with those before it."""
    left, seen, done = list(edges), {"A"}, list[tuple[str, str]]()
    while left:
        edge = next(e for e in left if seen & set(e))
        left.remove(edge)
        done.append(edge)
        seen |= set(edge)
    return done


@pytest.mark.parametrize("shape", SHAPES)
def test_the_best_matches_are_those_of_a_plain_search_with_all_candidates(shape: str, tmp_path: Path) -> None:
    for seed in range(4):
        rng = np.random.default_rng([seed, len(shape)])
        write_tables(tmp_path, rng)
        heads = np.minimum((rng.random(1600) ** 2 * NODES).astype(int), NODES - 1)
        rows = zip(
            heads.tolist(),
            rng.integers(RELATIONS, size=1600).tolist(),
            rng.integers(NODES, size=1600).tolist(),
            strict=True,
        )
        graph = make_graph(NODES, RELATIONS, list(rows))
        tables = Tables.open(tmp_path, NODES, RELATIONS)
        edges = order_edges(SHAPES[shape])
        relations = rng.integers(RELATIONS, size=len(edges)).tolist()
        record = record_of(edges, relations)
        result = match(graph, pattern_from_json(record, "p"), tables.of(record, "p"), k=3)
        wanted = depth_first(graph, tables, edges, relations)
        assert result.complete
        assert [m.gsd for m in result.matches] == pytest.approx(wanted, abs=1e-6)


def test_tables_that_do_not_fit_are_errors(tmp_path: Path) -> None:
    write_tables(tmp_path, np.random.default_rng(0))
    with pytest.raises(InputError, match="lacks"):
        Tables.open(tmp_path, 10, RELATIONS)
    with pytest.raises(InputError, match="the graph has 7 relations"):
        Tables.open(tmp_path, NODES, 7)
    (tmp_path / "candidate_ids.npy").write_bytes(b"\x93NUMPY")
    with pytest.raises(InputError, match="not a NumPy array file"):
        Tables.open(tmp_path, NODES, RELATIONS)
    with pytest.raises(InputError, match="no such file"):
        Tables.open(tmp_path / "none", NODES, RELATIONS)


def test_a_pattern_that_lacks_its_rows_names_the_field(tmp_path: Path) -> None:
    write_tables(tmp_path, np.random.default_rng(0))
    tables = Tables.open(tmp_path, NODES, RELATIONS)
    record = record_of([("A", "B")], [0])
    for field, value in (("anchors", None), ("anchors", [{"name": "A", "row": 3}]), ("relations", [])):
        with pytest.raises(PatternError, match=f"p:1: field '{field}"):
            tables.of(record | {field: value}, "p:1")
    given = tables.of(record | {"anchors": []}, "p:1")
    with pytest.raises(PatternError, match="no row for the node 'A'"):
        match(make_graph(NODES, RELATIONS, [(0, 0, 1)]), pattern_from_json(record, "p"), given)

"""The definition of a match, literally: try every assignment of nodes, then of triples."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from clew.graph.graph import Adjacency, Aliases, Graph, Names, Types, Values
from clew.graph.match.distances import Measure, NearestEntities
from clew.graph.schema import Cooccurrence
from clew.types import Match, Pattern, PatternEdge, PatternNode


def make_graph(nodes: int, relations: int, triples: list[tuple[int, int, int]]) -> Graph:
    rows = np.array(sorted(set(triples)), np.int64).reshape(-1, 3)

    def side(near: int, far: int) -> Adjacency:
        order = np.lexsort((rows[:, far], rows[:, 1], rows[:, near]))
        offsets = np.zeros(nodes + 1, np.int64)
        np.cumsum(np.bincount(rows[:, near], minlength=nodes), out=offsets[1:])
        return Adjacency(offsets, rows[order, 1].astype(np.int32), rows[order, far].astype(np.int32))

    names = Names.of(f"e{i}" for i in range(nodes))
    relation_names = Names.of(f"r{i}" for i in range(relations))
    nothing = Names.of([])
    return Graph(
        names,
        names,
        relation_names,
        relation_names,
        side(0, 2),
        side(2, 0),
        Values(np.full(nodes, -1, np.int16), np.zeros(nodes, np.uint8), np.full(nodes, np.nan), nothing),
        Types(nothing, np.zeros(nodes + 1, np.int64), np.zeros(0, np.int32)),
        Aliases(nothing, np.zeros(0, np.int32)),
        np.zeros(len(rows), np.uint16),
    )


def dense(counts: Cooccurrence) -> np.ndarray:
    """All rows of counts of two ends, int64 [E, E]."""
    rows = [counts.row(end) for end in range(len(counts))]
    return np.array(rows, np.int64).reshape(len(counts), len(counts))


@dataclass
class Tables:
    """Distances given outright: by node name, relation name and type."""

    entities: dict[str, np.ndarray] = field(default_factory=dict)
    relations: dict[str, np.ndarray] = field(default_factory=dict)
    masks: dict[str, np.ndarray] = field(default_factory=dict)
    asked: list[int] = field(default_factory=list)
    measured: bool = True

    def node_candidates(self, node: PatternNode, count: int) -> NearestEntities:
        self.asked.append(count)
        distances = self.entities[node.name]
        order = np.argsort(distances, kind="stable")[:count].astype(np.int32)
        return NearestEntities(order, distances[order], count >= len(distances))

    def prepare(self, nodes: Sequence[PatternNode], count: int) -> None:
        """Nothing to prepare."""

    def measure(self, node: PatternNode) -> Measure | None:
        if not self.measured:
            return None
        distances = self.entities[node.name]
        return Measure(np.arange(len(distances)), distances)

    def relation_distances(self, edge: PatternEdge) -> np.ndarray:
        return self.relations[edge.relation or ""]

    def allowed(self, node: PatternNode) -> np.ndarray | None:
        return self.masks.get(node.type or "")


def brute_force(
    graph: Graph,
    pattern: Pattern,
    tables: Tables,
    *,
    k: int | None,
    all_tied: bool,
    project: int | None,
    distinct: str,
    undirected: bool,
) -> list[Match]:
    """All matches by trying everything, then the rules of `match` in the order of its docstring."""
    triples = [graph.triple(i) for i in range(graph.triples)]
    found = [
        one
        for nodes in product(range(graph.nodes), repeat=len(pattern.nodes))
        if distinct != "nodes" or len(set(nodes)) == len(nodes)
        for one in _of_nodes(pattern, tables, triples, nodes, undirected)
    ]
    found.sort(key=_order)
    if all_tied:
        found = [
            m
            for m in found
            if m.gsd <= found[0].gsd + 1e-6 and m.direction_misses == found[0].direction_misses
        ]
    if project is not None:
        firsts: dict[int, Match] = {}
        for m in found:
            firsts.setdefault(m.nodes[project], m)
        found = sorted(firsts.values(), key=_order)
    return found if k is None or all_tied else found[:k]


def _order(m: Match) -> tuple[float, int, tuple[int, ...], tuple[int, ...]]:
    return m.gsd, m.direction_misses, m.nodes, m.triples


def _of_nodes(
    pattern: Pattern,
    tables: Tables,
    triples: list[tuple[int, int, int]],
    nodes: tuple[int, ...],
    undirected: bool,
) -> list[Match]:
    gsd = 0.0
    for node, entity in zip(pattern.nodes, nodes, strict=True):
        if node.known and node.entity is not None:
            gsd += 0.0 if node.entity == entity else np.inf
        elif node.known:
            gsd += float(tables.entities[node.name][entity])
        elif node.type in tables.masks and not tables.masks[node.type][entity]:
            return []
    if not np.isfinite(gsd):
        return []
    choices = [_of_edge(edge, tables, triples, nodes, undirected) for edge in pattern.edges]
    matches: list[Match] = []
    for combination in product(*choices):
        ids = tuple(c[0] for c in combination)
        if len(set(ids)) < len(ids):
            continue
        total = gsd + sum(c[2] for c in combination)
        matches.append(Match(round(total, 9), sum(c[1] for c in combination), nodes, ids))
    return matches


def _of_edge(
    edge: PatternEdge,
    tables: Tables,
    triples: list[tuple[int, int, int]],
    nodes: tuple[int, ...],
    undirected: bool,
) -> list[tuple[int, int, float]]:
    """(triple id, miss, distance) of every triple that the edge may match between its nodes."""
    head, tail = nodes[edge.head], nodes[edge.tail]
    options: list[tuple[int, int, float]] = []
    for i, (h, r, t) in enumerate(triples):
        if edge.fixed is not None:
            distance = 0.0 if r == edge.fixed else np.inf
        else:
            distance = 0.0 if edge.relation is None else float(tables.relations[edge.relation][r])
        if np.isfinite(distance) and (h, t) == (head, tail):
            options.append((i, 0, distance))
        elif np.isfinite(distance) and undirected and (t, h) == (head, tail):
            options.append((i, 1, distance))
    return options

"""The `read` step without a model: evidence → drafted answers, with counts and largest or smallest values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew.graph.graph import Graph, ValueKind
from clew.graph.match.distances import FixedDistances
from clew.graph.match.matcher import Budget, match
from clew.types import MatchResult, Pattern, PatternEdge, PatternNode

EVIDENCE_BUDGET = Budget(expansions=200_000_000)
"""Where the search for one pattern stops; the answer then says that it is not complete."""


def find_evidence(graph: Graph, pattern: Pattern, *, away: bool = False, first: bool = False) -> MatchResult:
    """One match for every entity that the answer node can take; for a pattern without one, the first match.

    Edges run as in the pattern; the types of its nodes are declared ones. Nodes may repeat: a son's father
    may be the one who was asked about. Where a path has to lead `away` (*the director of X also directed*),
    no two edges take one triple. Where only the `first` match is wanted, it tells whether there is any.
    """
    types = {n.type for n in pattern.nodes if n.type is not None}
    masks = {name: graph.types.having(list(graph.types.names).index(name)) for name in types}
    return match(
        graph,
        pattern,
        FixedDistances(masks),
        k=1 if first or pattern.answer is None else None,
        project=pattern.answer,
        distinct="triples" if away else "none",
        undirected=False,
        budget=EVIDENCE_BUDGET,
    )


@dataclass(frozen=True, slots=True)
class Extreme:
    """The entities whose value of a relation is the largest or smallest; the node `value` holds it."""

    entities: tuple[int, ...]
    value: int


def values_of(graph: Graph, node: int, relation: int) -> list[tuple[float, int]]:
    """(parsed value, value node) of a node's edges of one relation, where the value was parsed."""
    low, high = graph.out.relation_span(node, relation)
    return [
        (float(graph.values.value[tail]), int(tail))
        for tail in graph.out.neighbour[low:high]
        if graph.values.kind[tail] != ValueKind.NONE
    ]


def find_extreme(graph: Graph, entities: Iterable[int], relation: int, sign: int) -> Extreme | None:
    """The entities with the largest (`sign` 1) or smallest (-1) value of `relation`, all that tie.

    None if none has one.
    An entity with several values counts with its own extreme.
    """
    best: tuple[float, int] | None = None
    winners: list[int] = []
    for entity in entities:
        own = values_of(graph, entity, relation)
        if not own:
            continue
        value, node = max(own, key=lambda v: (sign * v[0], -v[1]))
        if best is None or sign * value > sign * best[0]:
            best, winners = (value, node), [entity]
        elif value == best[0]:
            winners.append(entity)
    return None if best is None else Extreme(tuple(winners), best[1])


def edges_at(graph: Graph, node: int, end: int) -> list[int]:
    """Ids of the triples of a relation at one end (see `graph.schema`) of a node."""
    relation, forward = end // 2, end % 2 == 0
    side = graph.out if forward else graph.into
    others = side.neighbour[slice(*side.relation_span(node, relation))].tolist()
    return [graph.find_triple(*((node, relation, n) if forward else (n, relation, node))) for n in others]


def degrees_at(graph: Graph, end: int) -> NDArray[np.int64]:
    """How many triples of a relation every node has at one end, int64 [nodes]."""
    heads, relations, tails = graph.out.columns()
    nodes = (heads if end % 2 == 0 else tails)[relations == end // 2]
    return np.bincount(nodes, minlength=graph.nodes)


def holders(graph: Graph, relation: int) -> NDArray[np.int64]:
    """The nodes at the head of a relation's triples, ascending."""
    heads, relations, _ = graph.out.columns()
    return np.unique(heads[relations == relation])


def with_value(pattern: Pattern, graph: Graph, relation: int, value: int) -> Pattern:
    """The pattern with one more edge: its answer has the value node by the relation."""
    if pattern.answer is None:
        raise ValueError("the pattern has no answer node")
    nodes = (*pattern.nodes, PatternNode(graph.entities[value], known=True, entity=value))
    edge = PatternEdge(pattern.answer, graph.relations[relation], len(pattern.nodes), fixed=relation)
    return Pattern(nodes, (*pattern.edges, edge), pattern.answer)


def holder_pattern(graph: Graph, relation: int, value: int | None) -> Pattern:
    """UNKNOWN ─relation→ value; without a value, another unknown."""
    held = PatternNode("UNKNOWN 2", known=False)
    if value is not None:
        held = PatternNode(graph.entities[value], known=True, entity=value)
    return Pattern(
        (PatternNode("UNKNOWN 1", known=False), held),
        (PatternEdge(0, graph.relations[relation], 1, fixed=relation),),
        0,
    )


def end_pattern(graph: Graph, end: int) -> Pattern:
    """What has an edge of a relation at one end (see `graph.schema`): both nodes unknown."""
    relation = end // 2
    head, tail = (0, 1) if end % 2 == 0 else (1, 0)
    return Pattern(
        (PatternNode("UNKNOWN 1", known=False), PatternNode("UNKNOWN 2", known=False)),
        (PatternEdge(head, graph.relations[relation], tail, fixed=relation),),
        0,
    )

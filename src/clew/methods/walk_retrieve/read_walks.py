"""The `read` step over walks without a model: the pattern of a question matched in the triples of walks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clew.graph.graph import Graph
from clew.index.corpus.nearest import NearWalk
from clew.types import Match, Pattern, PatternEdge

LONGEST_SENTENCE = 1000
"""Characters of what a prompt shows of a walk, and of the sentence that a model says of it."""
MOST_TRIED = 100_000
"""Assignments that are tried before the search is given up."""


Leads = dict[tuple[int, int], dict[tuple[int, int], None]]
"""For (node, step) where it leads, as (node, triple id), in order; a step is as in `graph.schema`."""


def leads_of(graph: Graph, walks: Iterable[NearWalk]) -> Leads:
    """The triples of `walks`, in their order."""
    leads: Leads = {}
    for head, relation, tail in (triple for walk in walks for triple in triples_of(walk)):
        triple = graph.find_triple(head, relation, tail)
        leads.setdefault((head, 2 * relation), {})[tail, triple] = None
        leads.setdefault((tail, 2 * relation + 1), {})[head, triple] = None
    return leads


def triples_of(walk: NearWalk) -> Iterator[tuple[int, int, int]]:
    """Head, relation and tail of every step of a walk."""
    node = walk.root
    for step, other in zip(walk.steps, walk.nodes, strict=True):
        head, tail = (node, other) if step % 2 == 0 else (other, node)
        yield head, step // 2, tail
        node = other


def match_in_walks(pattern: Pattern, leads: Leads) -> tuple[Match, ...]:
    """All assignments of `pattern`, whose relations and known entities are fixed, within walks.

    Edges that meet at a node and have the same relation take different triples, so that a path does not
    turn back on itself. Matches come in the order in which their triples stand in the walks.
    """
    order = _edge_order(pattern)
    nodes = {at: node.entity for at, node in enumerate(pattern.nodes) if node.entity is not None}
    if not order or any(edge.fixed is None for edge in pattern.edges):
        return ()
    matches: list[Match] = []
    triples: dict[int, int] = {}
    tried = 0

    def extend(at: int) -> None:
        nonlocal tried
        if at == len(order):
            assigned = tuple(nodes[i] for i in range(len(pattern.nodes)))
            matches.append(Match(0.0, 0, assigned, tuple(triples[i] for i in range(len(pattern.edges)))))
            return
        number = order[at]
        start, step, other = _direction(pattern.edges[number], nodes)
        for node, triple in leads.get((nodes[start], step), ()):
            tried += 1
            if tried > MOST_TRIED:
                return
            if nodes.get(other, node) != node or _turns_back(pattern, number, triple, triples):
                continue
            is_new = other not in nodes
            nodes[other], triples[number] = node, triple
            extend(at + 1)
            del triples[number]
            if is_new:
                del nodes[other]

    extend(0)
    return tuple(matches)


def _direction(edge: PatternEdge, nodes: dict[int, int]) -> tuple[int, int, int]:
    """Node to go from, step, and node to arrive at; an edge has its relation fixed."""
    relation = edge.fixed if edge.fixed is not None else -1
    if edge.head in nodes:
        return edge.head, 2 * relation, edge.tail
    return edge.tail, 2 * relation + 1, edge.head


def _turns_back(pattern: Pattern, number: int, triple: int, triples: dict[int, int]) -> bool:
    edge = pattern.edges[number]
    return any(
        used == triple
        and pattern.edges[other_number].fixed == edge.fixed
        and {edge.head, edge.tail} & {pattern.edges[other_number].head, pattern.edges[other_number].tail}
        for other_number, used in triples.items()
    )


def _edge_order(pattern: Pattern) -> list[int]:
    """Edges so that each touches a known node or one before it; empty if there is no such order."""
    reached = {at for at, node in enumerate(pattern.nodes) if node.entity is not None}
    remaining = list(range(len(pattern.edges)))
    order: list[int] = []
    while remaining:
        number = next(
            (n for n in remaining if {pattern.edges[n].head, pattern.edges[n].tail} & reached), None
        )
        if number is None:
            return []
        order.append(number)
        remaining.remove(number)
        reached |= {pattern.edges[number].head, pattern.edges[number].tail}
    return order


def path_to_answer(pattern: Pattern, start: int) -> tuple[int, ...]:
    """Steps of the pattern from node `start` to its answer (for a yes/no pattern, to any end), shortest."""
    paths: dict[int, tuple[int, ...]] = {start: ()}
    queue = [start]
    for node in queue:
        for edge in pattern.edges:
            if edge.fixed is None:
                continue
            for near, far, side in ((edge.head, edge.tail, 0), (edge.tail, edge.head, 1)):
                if near == node and far not in paths:
                    paths[far] = (*paths[node], 2 * edge.fixed + side)
                    queue.append(far)
    return paths.get(pattern.answer if pattern.answer is not None else queue[-1], ())

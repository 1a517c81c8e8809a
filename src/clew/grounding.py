"""Grounding, the last step of every method: an answer is kept only with triples that prove it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clew.foundation.bounds import check
from clew.graph.graph import INFERRED, Graph
from clew.types import Abstention, AnswerEntity, Citation, Match, TripleText


def triple_text(graph: Graph, triple: int) -> TripleText:
    """A triple by names."""
    head, relation, tail = graph.triple(triple)
    names = (graph.entities[head], graph.relations[relation], graph.entities[tail])
    inferred = int(graph.source[triple]) == INFERRED
    return TripleText(*names, properties_of(graph, head, relation, tail), inferred)


def properties_of(
    graph: Graph, head: int, relation: int, tail: int
) -> tuple[tuple[tuple[str, str], ...], ...]:
    """The properties of each edge that the source has of a triple."""
    properties = graph.edge_properties
    if not len(properties):
        return ()
    return tuple(map(properties.of, properties.statements(head, relation, tail)))


def cite(graph: Graph, answer: str, triples: Sequence[int]) -> Citation:
    """The citation of one answer by the ids of its triples, in the order of the path."""
    check()
    return Citation(answer, tuple(triple_text(graph, t) for t in triples), tuple(triples))


def ground(
    graph: Graph, draft: Iterable[int], evidence: Sequence[Match], node: int
) -> tuple[tuple[AnswerEntity, ...], tuple[Citation, ...], Abstention | None]:
    """Keep the entities of `draft` that a match assigns to the pattern's `node`, each with its triples.

    Returns answers, citations, and an abstention (`not_in_evidence`) if nothing of a draft is left.
    """
    proof: dict[int, Match] = {}
    for match in evidence:
        proof.setdefault(match.nodes[node], match)
    drafted = list(dict.fromkeys(draft))
    grounded = [entity for entity in drafted if entity in proof]
    answers = tuple(AnswerEntity(graph.entities[e], graph.labels[e], 1.0) for e in grounded)
    citations = tuple(cite(graph, graph.entities[e], proof[e].triples) for e in grounded)
    if drafted and not grounded:
        return (), (), Abstention("not_in_evidence", "none of the drafted answers is in the evidence")
    return answers, citations, None

"""Grounding, the last step of every method: an answer is kept only with triples that prove it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clew.foundation.system import check
from clew.graph.graph import Graph, triple_text
from clew.types import Abstention, AnswerEntity, Citation, Match


def answer_entity(graph: Graph, node: int, score: float = 1.0) -> AnswerEntity:
    """A node as an answer."""
    return AnswerEntity(graph.entities[node], graph.labels[node], score, node in graph.namesakes)


def cite(graph: Graph, answer: str | int, triples: Sequence[int]) -> Citation:
    """The citation of one answer, a node or a text, by the ids of its triples, in the order of the path."""
    check()
    name, label = (
        (answer, answer) if isinstance(answer, str) else (graph.entities[answer], graph.label(answer))
    )
    return Citation(name, tuple(triple_text(graph, t) for t in triples), tuple(triples), label)


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
    answers = tuple(answer_entity(graph, e) for e in grounded)
    citations = tuple(cite(graph, e, proof[e].triples) for e in grounded)
    if drafted and not grounded:
        return (), (), Abstention("not_in_evidence", "none of the drafted answers is in the evidence")
    return answers, citations, None

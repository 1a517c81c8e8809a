"""What every answer is made of: a node as an answer, and the citation of its triples."""

from __future__ import annotations

from collections.abc import Sequence

from clew.foundation.system import check
from clew.graph.graph import Graph, triple_text
from clew.types import AnswerEntity, Citation


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

"""Clew inside LangChain, LlamaIndex and Haystack: one module each, imported only by who uses that library."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from clew.text.verbalise import relation_text
from clew.types import Answer


@dataclass(frozen=True, slots=True)
class Passage:
    """What proves one answer: `text` says the triples of its citation, `metadata` has them as they are."""

    text: str
    score: float
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])


def passages_of(answer: Answer, most: int | None = None) -> list[Passage]:
    """The citations of an answer, best first; none for an abstention or an answer without proof."""
    scores = {a.entity: a.score for a in answer.answers}
    passages: list[Passage] = []
    for citation in answer.citations[:most]:
        sentences = [f"{t.head} {relation_text(t.relation)} {t.tail}." for t in citation.triples]
        metadata = {**citation.as_json(), "question": answer.question, "method": answer.method}
        passages.append(Passage(" ".join(sentences), scores.get(citation.answer, 1.0), metadata))
    return passages


def answer_text(answer: Answer) -> str:
    """The text for callers that take only text: the answer, or why there is none."""
    if answer.abstained is None:
        return answer.text
    return f"No answer: {answer.abstained.detail}"

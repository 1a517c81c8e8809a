"""Metrics of what was retrieved, whatever was made of it."""

from __future__ import annotations

from clew.evaluate.metrics.base import Metric, QuestionMetric
from clew.evaluate.metrics.errors_by_step import evidence_triples
from clew.evaluate.names import name_form
from clew.evaluate.records import Record


def retrieval_hits(record: Record) -> float | None:
    """Whether a gold answer is in the evidence that the answer shows; None without gold."""
    if not record.gold_forms:
        return None
    evidence = {name_form(node) for head, _, tail in evidence_triples(record) for node in (head, tail)}
    return float(any(forms & evidence for forms in record.gold_forms))


def sub_questions(record: Record) -> float | None:
    """Count the sub-questions of the reasoning chain; None for a method without one."""
    chain = None if record.answer is None else record.answer.get("chain")
    return None if not chain else float(len(chain["links"]))


RETRIEVAL_METRICS = (
    QuestionMetric(
        Metric(
            "retrieval_hits",
            "Retrieval Hits@1",
            "Share of questions with a gold answer in the triples that the answer shows.",
            "SimGRAG sec. 6.6 (figure 5)",
        ),
        retrieval_hits,
    ),
    QuestionMetric(
        Metric(
            "sub_questions",
            "Sub-questions",
            "Sub-questions of the reasoning chain, mean over questions.",
            "KG-RAG sec. 4.4.2 (figure 7)",
            "neither",
            0.0,
            float("inf"),
            "count",
        ),
        sub_questions,
    ),
)

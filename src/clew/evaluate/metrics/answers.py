"""Metrics of the answers to one question.

A question without gold answers is one that cannot be answered: an abstention scores 1 and any answer 0, as
for the questions without an answer of SQuAD 2.0 (Rajpurkar et al. 2018). A failure scores 0.
"""

from __future__ import annotations

from clew.evaluate.metrics.base import Metric, QuestionMetric
from clew.evaluate.names import holds_name, name_form, strict_form
from clew.evaluate.records import Record


def _applies(record: Record) -> bool:
    return record.question.gold_known and record.question.verdict is None


def _without_gold(record: Record) -> float:
    return float(record.abstained is not None)


def hits_at_1(record: Record) -> float | None:
    """Whether the answer holds a correct entity."""
    if not _applies(record):
        return None
    if not record.question.gold:
        return _without_gold(record)
    if record.answers:
        return float(record.overlap.right > 0)
    if record.failure is not None or record.abstained is not None:
        return 0.0
    form = name_form(record.text)
    return float(any(holds_name(form, name) for gold in record.question.gold for name in gold.names))


def text_hit(record: Record) -> float | None:
    """Whether the answer as text, with the names that it states, holds a gold answer as whole words."""
    if not _applies(record):
        return None
    if not record.question.gold:
        return _without_gold(record)
    if record.failure is not None or record.abstained is not None:
        return 0.0
    form = name_form("; ".join([record.text, *(names[0] for names in record.answers)]))
    return float(any(holds_name(form, name) for gold in record.question.gold for name in gold.names))


def exact_match(record: Record) -> float | None:
    """Whether the answer, in lower case and stripped, is a gold answer: its text, or its first entity."""
    if not _applies(record):
        return None
    if not record.question.gold:
        return _without_gold(record)
    given = {strict_form(record.text), *map(strict_form, record.answers[0] if record.answers else ())}
    gold = {strict_form(name) for answer in record.question.gold for name in answer.names}
    return float(bool((given - {""}) & gold))


def precision(record: Record) -> float | None:
    """Share of the answers that are right; 0 without answers."""
    if not _applies(record):
        return None
    if not record.question.gold:
        return _without_gold(record)
    overlap = record.overlap
    return overlap.right / overlap.given if overlap.given else 0.0


def recall(record: Record) -> float | None:
    """Share of the gold answers that are given."""
    if not _applies(record):
        return None
    if not record.question.gold:
        return _without_gold(record)
    return record.overlap.found / record.overlap.gold


def f1(record: Record) -> float | None:
    """Harmonic mean of precision and recall of the question; 0 where both are."""
    p, r = precision(record), recall(record)
    if p is None or r is None:
        return None
    return 2 * p * r / (p + r) if p + r else 0.0


def exact_set(record: Record) -> float | None:
    """Whether the answers are all gold answers and no others."""
    p, r = precision(record), recall(record)
    return None if p is None or r is None else float(p == 1.0 and r == 1.0)


def bert_score(record: Record) -> float | None:
    """BERTScore F1 that was computed beside the records."""
    return record.bert_score


_HITS = "Saxena et al. 2022; SimGRAG sec. 6; Walk&Retrieve sec. 3"
ANSWER_METRICS = (
    QuestionMetric(
        Metric("hits_at_1", "Hits@1", "Share of questions whose answer holds a correct entity.", _HITS),
        hits_at_1,
    ),
    QuestionMetric(
        Metric(
            "text_hit",
            "Hit@1 of the text",
            "Share of questions whose answer as text holds a gold answer as whole words.",
            "KG-RAG sec. 4.2.1 (Hit@1), whose answers are sentences",
        ),
        text_hit,
    ),
    QuestionMetric(
        Metric(
            "exact_match",
            "Exact match",
            "Share of questions whose answer (text or first entity), lower-cased and stripped, is gold.",
            "KG-RAG sec. 4.2.1, by its letter",
        ),
        exact_match,
    ),
    QuestionMetric(
        Metric(
            "precision",
            "Precision",
            "Share of the answers that are right, mean over questions.",
            "set metric",
        ),
        precision,
    ),
    QuestionMetric(
        Metric(
            "recall", "Recall", "Share of the gold answers that are given, mean over questions.", "set metric"
        ),
        recall,
    ),
    QuestionMetric(
        Metric(
            "f1",
            "F1",
            "Mean over questions of the F1 of the answer set (macro F1 of QALD).",
            "Usbeck et al. 2019",
        ),
        f1,
    ),
    QuestionMetric(
        Metric(
            "exact_set", "Exact set", "Share of questions whose answer set is the gold set.", "set metric"
        ),
        exact_set,
    ),
    QuestionMetric(
        Metric(
            "bert_score",
            "BERTScore",
            "F1 of greedy cosine matching of token embeddings of answer text and gold, no idf, no rescaling.",
            "Zhang et al. 2020; SynaptiQA sec. IV",
            low=-1.0,
        ),
        bert_score,
    ),
)

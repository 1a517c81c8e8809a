"""Metrics of the answers to one question.

A question without gold answers is one that cannot be answered: an abstention scores 1 and any answer 0, as
for the questions without an answer of SQuAD 2.0 (Rajpurkar et al. 2018). A failure scores 0.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from clew.evaluate.metrics.base import metric
from clew.evaluate.names import holds_name, name_form, strict_form
from clew.evaluate.records import Record

Score = Callable[[Record], float | None]
_HITS = "Saxena et al. 2022; SimGRAG sec. 6; Walk&Retrieve sec. 3"


def _with_gold(score: Score) -> Score:
    """Score what has gold answers; the others by whether they are abstained from, claims not at all."""

    @wraps(score)
    def scored(record: Record) -> float | None:
        if not record.question.is_scored:
            return None
        return score(record) if record.question.gold else float(record.abstained is not None)

    return scored


def _names_gold(record: Record, text: str) -> float:
    """Whether a text holds a gold answer as whole words."""
    form = name_form(text)
    return float(any(holds_name(form, name) for gold in record.question.gold for name in gold.names))


@metric("Hits@1", _HITS)
@_with_gold
def hits_at_1(record: Record) -> float | None:
    """Share of questions whose answer holds a correct entity."""
    if record.answers:
        return float(record.overlap.right > 0)
    return 0.0 if record.without_answer else _names_gold(record, record.text)


@metric("Hit@1 of the text", "KG-RAG sec. 4.2.1 (Hit@1), whose answers are sentences")
@_with_gold
def text_hit(record: Record) -> float | None:
    """Share of questions whose answer as text holds a gold answer as whole words."""
    text = "; ".join([record.text, *(names[0] for names in record.answers)])
    return 0.0 if record.without_answer else _names_gold(record, text)


@metric("Exact match", "KG-RAG sec. 4.2.1, by its letter")
@_with_gold
def exact_match(record: Record) -> float | None:
    """Share of questions whose answer (text or first entity), lower-cased and stripped, is gold."""
    answer_forms = {strict_form(record.text), *map(strict_form, record.answers[0] if record.answers else ())}
    gold = {strict_form(name) for answer in record.question.gold for name in answer.names}
    return float(bool((answer_forms - {""}) & gold))


@metric("Precision", "set metric")
@_with_gold
def precision(record: Record) -> float | None:
    """Share of the answers that are right, mean over questions."""
    overlap = record.overlap
    return overlap.right / overlap.answers if overlap.answers else 0.0


@metric("Recall", "set metric")
@_with_gold
def recall(record: Record) -> float | None:
    """Share of the gold answers that are given, mean over questions."""
    return record.overlap.gold_matched / record.overlap.gold


@metric("F1", "Usbeck et al. 2019")
def f1(record: Record) -> float | None:
    """Mean over questions of the F1 of the answer set (macro F1 of QALD)."""
    p, r = precision(record), recall(record)
    if p is None or r is None:
        return None
    return 2 * p * r / (p + r) if p + r else 0.0


@metric("Exact set", "set metric")
def exact_set(record: Record) -> float | None:
    """Share of questions whose answer set is the gold set."""
    p, r = precision(record), recall(record)
    return None if p is None or r is None else float(p == 1.0 and r == 1.0)


@metric("BERTScore", "Zhang et al. 2020; SynaptiQA sec. IV", low=-1.0)
def bert_score(record: Record) -> float | None:
    """F1 of greedy cosine matching of token embeddings of answer text and gold, no idf, no rescaling."""
    return record.bert_score

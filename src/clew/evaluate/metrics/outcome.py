"""Accurate, incorrect or missing: the score of CRAG and Walk&Retrieve; and SynaptiQA's judge accuracy.

Without judges, and where a judge's verdict is not needed (an exact match, an abstention), the built-in
judge decides: `missing` for an abstention, `accurate` if there are answers and all of them are right,
`incorrect` otherwise.
"""

from __future__ import annotations

from typing import Literal

from clew.evaluate.metrics.answers import exact_match, precision
from clew.evaluate.metrics.base import metric
from clew.evaluate.records import Record

Outcome = Literal["accurate", "incorrect", "missing"]
OUTCOMES: tuple[Outcome, ...] = ("accurate", "incorrect", "missing")
_CRAG = "Yang et al. 2024 (CRAG); Walk&Retrieve sec. 3"
MATCH_PREFIX = "match:"
"""Verdicts of SynaptiQA's judge are kept under this prefix and the judge's name."""


def built_in(record: Record) -> Outcome | None:
    """Judge by exact match with aliases; None where nothing can be judged."""
    if not record.question.is_scored:
        return None
    if record.without_answer:
        return "accurate" if record.abstained is not None and not record.question.gold else "missing"
    right = precision(record) == 1.0 if record.answers else exact_match(record) == 1.0
    return "accurate" if right else "incorrect"


def needs_judge(record: Record) -> bool:
    """Whether the exact match leaves something to judge: an answer was given and it is not the gold."""
    return built_in(record) == "incorrect"


def share(record: Record, outcome: Outcome) -> float | None:
    """Share of the judges that gave this outcome; None if judges were asked and none gave one."""
    match_outcome = built_in(record)
    if match_outcome is None:
        return None
    verdicts = {j: v for j, v in record.judgements.items() if not j.startswith(MATCH_PREFIX)}
    if match_outcome != "incorrect" or not verdicts:
        return float(match_outcome == outcome)
    readable_verdicts = [verdict for verdict in verdicts.values() if verdict is not None]
    return (
        sum(verdict == outcome for verdict in readable_verdicts) / len(readable_verdicts)
        if readable_verdicts
        else None
    )


@metric("Right", _CRAG)
def accuracy(record: Record) -> float | None:
    """Share of right answers (accuracy): exact match, else judged; mean of judges."""
    return share(record, "accurate")


@metric("Wrong", _CRAG, better="lower")
def hallucination(record: Record) -> float | None:
    """Share of wrong answers (hallucination)."""
    return share(record, "incorrect")


@metric("Left open", _CRAG, better="lower")
def missing(record: Record) -> float | None:
    """Share of questions that are not answered though they have an answer (missing)."""
    return share(record, "missing")


@metric("Truthfulness", _CRAG, low=-1.0)
def truthfulness(record: Record) -> float | None:
    """Accuracy minus hallucination."""
    right, wrong = accuracy(record), hallucination(record)
    return None if right is None or wrong is None else right - wrong


@metric("Judge accuracy", "SynaptiQA sec. IV (Kimi Accuracy)")
def judge_accuracy(record: Record) -> float | None:
    """Share of answers that a model finds to match the gold fully."""
    verdicts = [v for j, v in record.judgements.items() if j.startswith(MATCH_PREFIX) and v is not None]
    return sum(v == "yes" for v in verdicts) / len(verdicts) if verdicts else None


@metric("Unjudged", "this harness", better="lower")
def unjudged(record: Record) -> float | None:
    """Share of judgements that no judge gave."""
    judgements = record.judgements
    return sum(v is None for v in judgements.values()) / len(judgements) if judgements else None

"""Metrics of a run as a whole: claims, abstention, risk and coverage, cost, latency."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from clew.evaluate.metrics.base import RunMetric, Unit, metric
from clew.evaluate.records import ScoredRow

ScoredRows = Sequence[ScoredRow]
THIS_HARNESS = "this harness"


def _amount(title: str, unit: Unit) -> Callable[[Callable[[ScoredRows], float | None]], RunMetric]:
    return metric(title, THIS_HARNESS, better="lower", high=float("inf"), unit=unit)


@metric("Claim accuracy", "FactKG; SimGRAG sec. 6")
def claim_accuracy(rows: ScoredRows) -> float | None:
    """Share of right verdicts."""
    return _mean(r.stated_verdict == r.verdict for r in rows if r.verdict is not None)


@metric("Claim macro-F1", "standard")
def claim_macro_f1(rows: ScoredRows) -> float | None:
    """Mean F1 of both verdicts."""
    claims = [r for r in rows if r.verdict is not None]
    if not claims:
        return None
    scores: list[float] = []
    for verdict in ("supported", "refuted"):
        right = sum(r.stated_verdict == verdict == r.verdict for r in claims)
        stated = sum(r.stated_verdict == verdict for r in claims)
        gold = sum(r.verdict == verdict for r in claims)
        scores.append(2 * right / (stated + gold) if stated + gold else 1.0)
    return sum(scores) / len(scores)


@metric("Abstention precision", THIS_HARNESS)
def abstention_precision(rows: ScoredRows) -> float | None:
    """Share of the abstentions that are from questions without gold in the graph."""
    return _mean(r.without_gold for r in rows if r.abstained is not None and r.is_scored)


@metric("Abstention recall", THIS_HARNESS)
def abstention_recall(rows: ScoredRows) -> float | None:
    """Share of the questions without gold in the graph from which the method abstains."""
    return _mean(r.abstained is not None for r in rows if r.without_gold)


@dataclass(frozen=True, slots=True)
class RiskPoint:
    """Risk (share of answers that are not accurate) where only the `coverage` most confident are given."""

    coverage: float
    risk: float
    threshold: float


def risk_coverage(rows: ScoredRows) -> tuple[RiskPoint, ...]:
    """Compute the risk-coverage curve (El-Yaniv & Wiener 2010): one point for each distinct confidence."""
    judged_rows = [(r, accurate) for r in rows if (accurate := r.scores.get("accuracy")) is not None]
    answered_pairs = sorted(
        ((r.confidence, a) for r, a in judged_rows if r.answered), key=lambda pair: -pair[0]
    )
    points: list[RiskPoint] = []
    wrong = 0.0
    for at, (confidence, accurate) in enumerate(answered_pairs, 1):
        wrong += 1.0 - accurate
        if at == len(answered_pairs) or answered_pairs[at][0] != confidence:
            points.append(RiskPoint(at / len(judged_rows), wrong / at, confidence))
    return tuple(points)


@metric("AURC", "Geifman et al. 2019", better="lower")
def aurc(rows: ScoredRows) -> float | None:
    """Mean share of answers that are not accurate along the risk-coverage curve."""
    points = risk_coverage(rows)
    if not points:
        return None
    area, last = 0.0, 0.0
    for point in points:
        area += point.risk * (point.coverage - last)
        last = point.coverage
    return area / last


@metric("Coverage", "El-Yaniv & Wiener 2010", better="neither")
def coverage(rows: ScoredRows) -> float | None:
    """Share of questions answered."""
    return _mean(r.answered for r in rows)


@_amount("Failures", "count")
def failures(rows: ScoredRows) -> float | None:
    """Questions that ended in an error."""
    return float(sum(r.failed for r in rows))


def _mean(values: Iterable[float | None]) -> float | None:
    """The mean over the questions that have a value."""
    numbers = [value for value in values if value is not None]
    return sum(numbers) / len(numbers) if numbers else None


@_amount("Calls", "count")
def calls(rows: ScoredRows) -> float | None:
    """Model calls a question."""
    return _mean(r.calls for r in rows)


@_amount("Tokens", "count")
def tokens(rows: ScoredRows) -> float | None:
    """Tokens a question, in and out."""
    return _mean(r.tokens for r in rows)


@_amount("Cost", "money")
def cost(rows: ScoredRows) -> float | None:
    """Money for all questions."""
    costs = [r.cost for r in rows if r.cost is not None]
    return sum(costs) if costs else None


def percentile(rows: ScoredRows, stage: str, share: float) -> float | None:
    """Percentile of a stage's milliseconds over the questions that have the stage."""
    times = [r.timings[stage] for r in rows if stage in r.timings]
    return float(np.percentile(times, 100 * share)) if times else None


def stages(rows: ScoredRows) -> tuple[str, ...]:
    """Name the stages in order of first appearance, `total` last."""
    names = dict.fromkeys(stage for r in rows for stage in r.timings)
    return (*(n for n in names if n != "total"), *(n for n in names if n == "total"))


@_amount("p50", "milliseconds")
def p50_ms(rows: ScoredRows) -> float | None:
    """Median time of a question."""
    return percentile(rows, "total", 0.5)


@_amount("p95", "milliseconds")
def p95_ms(rows: ScoredRows) -> float | None:
    """95th percentile of the time of a question."""
    return percentile(rows, "total", 0.95)


@_amount("Mean time", "milliseconds")
def mean_ms(rows: ScoredRows) -> float | None:
    """Mean time of a question."""
    return _mean(r.timings.get("total") for r in rows)

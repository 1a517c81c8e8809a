"""Metrics of a run as a whole: claims, abstention, risk and coverage, cost, latency."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clew.evaluate.metrics.base import Metric, RunMetric
from clew.evaluate.metrics.outcome import accuracy
from clew.evaluate.names import truth_of
from clew.evaluate.questions import Verdict
from clew.evaluate.records import Record

Records = Sequence[Record]


def verdict_of(record: Record) -> Verdict | None:
    """What the method says of a claim; None if it abstains or says neither."""
    if record.answer is None or record.abstained is not None:
        return None
    told = truth_of(record.answers[0][0] if record.answers else record.text)
    return None if told is None else "supported" if told else "refuted"


def claim_accuracy(records: Records) -> float | None:
    """Share of claims with the right verdict."""
    claims = [r for r in records if r.question.verdict is not None]
    return sum(verdict_of(r) == r.question.verdict for r in claims) / len(claims) if claims else None


def claim_macro_f1(records: Records) -> float | None:
    """Mean of the F1 of `supported` and of `refuted`."""
    claims = [r for r in records if r.question.verdict is not None]
    if not claims:
        return None
    scores: list[float] = []
    for verdict in ("supported", "refuted"):
        right = sum(verdict_of(r) == verdict == r.question.verdict for r in claims)
        said = sum(verdict_of(r) == verdict for r in claims)
        gold = sum(r.question.verdict == verdict for r in claims)
        scores.append(2 * right / (said + gold) if said + gold else 1.0)
    return sum(scores) / len(scores)


def should_abstain(record: Record) -> bool:
    """Whether the graph cannot answer: there is no gold, or none of it is in the graph."""
    return record.question.verdict is None and record.gold_in_graph == 0


def abstention_precision(records: Records) -> float | None:
    """Share of the abstentions that were right."""
    abstained = [r for r in records if r.abstained is not None and r.question.gold_known]
    return sum(map(should_abstain, abstained)) / len(abstained) if abstained else None


def abstention_recall(records: Records) -> float | None:
    """Share of the questions that the graph cannot answer from which the method abstained."""
    unanswerable = [r for r in records if should_abstain(r) and r.question.gold_known]
    return sum(r.abstained is not None for r in unanswerable) / len(unanswerable) if unanswerable else None


@dataclass(frozen=True, slots=True)
class RiskPoint:
    """Risk (share of answers that are not accurate) where only the `coverage` most confident are given."""

    coverage: float
    risk: float
    threshold: float


def risk_coverage(records: Records) -> tuple[RiskPoint, ...]:
    """The risk-coverage curve (El-Yaniv & Wiener 2010): one point for each distinct confidence."""
    scored = [(r.confidence, accuracy(r)) for r in records if r.answers]
    answered = sorted(((c, a) for c, a in scored if a is not None), key=lambda pair: -pair[0])
    total = sum(accuracy(r) is not None for r in records)
    points: list[RiskPoint] = []
    wrong = 0.0
    for at, (confidence, right) in enumerate(answered, 1):
        wrong += 1.0 - right
        if at == len(answered) or answered[at][0] != confidence:
            points.append(RiskPoint(at / total, wrong / at, confidence))
    return tuple(points)


def aurc(records: Records) -> float | None:
    """Area under the risk-coverage curve up to the coverage reached, divided by that coverage."""
    points = risk_coverage(records)
    if not points:
        return None
    area, last = 0.0, 0.0
    for point in points:
        area += point.risk * (point.coverage - last)
        last = point.coverage
    return area / last


def coverage(records: Records) -> float | None:
    """Share of questions that were answered."""
    return sum(r.abstained is None and r.failure is None for r in records) / len(records) if records else None


def failures(records: Records) -> float | None:
    """Questions that ended in an error."""
    return float(sum(r.failure is not None for r in records))


def _usage(records: Records, name: str) -> float | None:
    used = [float(r.answer["usage"][name]) for r in records if r.answer is not None]
    return sum(used) / len(used) if used else None


def calls(records: Records) -> float | None:
    """Calls of a model, mean over questions."""
    return _usage(records, "calls")


def tokens(records: Records) -> float | None:
    """Tokens in and out, mean over questions."""
    inward, outward = _usage(records, "input_tokens"), _usage(records, "output_tokens")
    return None if inward is None or outward is None else inward + outward


def cost(records: Records) -> float | None:
    """Money, over all questions; None where no price is known."""
    paid = [r.cost for r in records if r.cost is not None]
    return sum(paid) if paid else None


def percentile(records: Records, stage: str, share: float) -> float | None:
    """Percentile of a stage's milliseconds over the questions that have the stage."""
    times = [r.timings[stage] for r in records if stage in r.timings]
    return float(np.percentile(times, 100 * share)) if times else None


def stages(records: Records) -> tuple[str, ...]:
    """Stages in order of first appearance, `total` last."""
    names = dict.fromkeys(stage for r in records for stage in r.timings)
    return (*(n for n in names if n != "total"), *(n for n in names if n == "total"))


RUN_METRICS = (
    RunMetric(
        Metric(
            "claim_accuracy",
            "Claim accuracy",
            "Share of claims with the right verdict.",
            "FactKG; SimGRAG sec. 6",
        ),
        claim_accuracy,
    ),
    RunMetric(
        Metric("claim_macro_f1", "Claim macro-F1", "Mean F1 of supported and refuted.", "standard"),
        claim_macro_f1,
    ),
    RunMetric(
        Metric(
            "abstention_precision",
            "Abstention precision",
            "Share of abstentions from questions that the graph cannot answer (no gold, or none in the graph).",
            "this harness",
        ),
        abstention_precision,
    ),
    RunMetric(
        Metric(
            "abstention_recall",
            "Abstention recall",
            "Share of the questions that the graph cannot answer from which the method abstains.",
            "this harness",
        ),
        abstention_recall,
    ),
    RunMetric(
        Metric(
            "coverage",
            "Coverage",
            "Share of questions that are answered.",
            "El-Yaniv & Wiener 2010",
            "neither",
        ),
        coverage,
    ),
    RunMetric(
        Metric(
            "aurc",
            "AURC",
            "Mean risk (share not accurate) of the risk-coverage curve by the score of the best answer.",
            "Geifman & El-Yaniv 2019",
            "lower",
        ),
        aurc,
    ),
    RunMetric(
        Metric(
            "failures",
            "Failures",
            "Questions that ended in an error.",
            "this harness",
            "lower",
            0,
            np.inf,
            "count",
        ),
        failures,
    ),
    RunMetric(
        Metric(
            "calls", "Calls", "Calls of a model per question.", "this harness", "lower", 0, np.inf, "count"
        ),
        calls,
    ),
    RunMetric(
        Metric(
            "tokens", "Tokens", "Tokens in and out per question.", "this harness", "lower", 0, np.inf, "count"
        ),
        tokens,
    ),
    RunMetric(
        Metric("cost", "Cost", "Money for all questions.", "this harness", "lower", 0, np.inf, "money"), cost
    ),
    RunMetric(
        Metric(
            "p50_ms", "p50", "Median time of a question.", "this harness", "lower", 0, np.inf, "milliseconds"
        ),
        lambda records: percentile(records, "total", 0.5),
    ),
    RunMetric(
        Metric(
            "p95_ms",
            "p95",
            "95th percentile of the time.",
            "this harness",
            "lower",
            0,
            np.inf,
            "milliseconds",
        ),
        lambda records: percentile(records, "total", 0.95),
    ),
    RunMetric(
        Metric(
            "mean_ms",
            "Mean time",
            "Mean time of a question.",
            "this harness",
            "lower",
            0,
            np.inf,
            "milliseconds",
        ),
        lambda records: _mean([r.timings["total"] for r in records if "total" in r.timings]),
    ),
)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None

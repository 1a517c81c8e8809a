"""From records to scored rows, from rows to the figures of metrics, and how these are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clew.evaluate.metrics.base import Unit
from clew.evaluate.metrics.errors_by_step import error_step
from clew.evaluate.metrics.intervals import Interval, bootstrap
from clew.evaluate.metrics.registry import METRICS, QUESTION_METRICS, RUN_METRICS
from clew.evaluate.names import truth_of
from clew.evaluate.questions import EvalQuestion, GoldVerdict
from clew.evaluate.records import Record, ScoredRow


def read_stated_verdict(record: Record) -> GoldVerdict | None:
    """Read what a method says of a claim; None if it abstains or says neither."""
    if record.answer is None or record.abstained is not None:
        return None
    truth = truth_of(record.answers[0][0] if record.answers else record.text)
    return None if truth is None else "supported" if truth else "refuted"


def shape_of(question: EvalQuestion) -> str:
    """Name the structure of the gold paths as SimGRAG's appendix F does; empty without gold paths."""
    hops = [len(path.relations) for path in question.paths]
    if len(hops) < 2:
        return f"{hops[0]}-hop path" if hops else ""
    kind = "star" if len(hops) > 2 and max(hops) == 1 else "conjunction"
    return f"{sum(hops)}-hop {kind}"


def score(record: Record, offset: int = 0) -> ScoredRow:
    """Score one record."""
    question, answer = record.question, record.answer
    scores = {metric.name: metric(record) for metric in QUESTION_METRICS}
    usage = {} if answer is None else answer["usage"]
    return ScoredRow(
        key=record.key,
        kind=question.kind,
        is_scored=question.is_scored,
        without_gold=question.is_scored and record.gold_in_graph == 0,
        verdict=question.verdict,
        stated_verdict=read_stated_verdict(record) if question.verdict is not None else None,
        answered=answer is not None and record.abstained is None,
        abstained=record.abstained,
        failed=record.failure is not None,
        confidence=record.confidence,
        timings=record.timings,
        calls=int(usage.get("calls", 0)),
        tokens=int(usage.get("input_tokens", 0)) + int(usage.get("output_tokens", 0)),
        cost=record.cost,
        scores=scores,
        error_step=error_step(record, scores["hits_at_1"]),
        shape=shape_of(question),
        offset=offset,
    )


@dataclass(frozen=True, slots=True)
class Figure:
    """The value of a metric; `interval` (95 %, bootstrap) for metrics of questions; `n` questions have it."""

    metric: str
    value: float
    interval: Interval | None
    n: int


def figures(rows: Sequence[ScoredRow]) -> tuple[Figure, ...]:
    """Compute all metrics that apply to some questions."""
    candidates = (figure_of(rows, name) for name in METRICS)
    return tuple(figure for figure in candidates if figure is not None)


def figure_of(rows: Sequence[ScoredRow], name: str) -> Figure | None:
    """Compute a metric: of questions the mean with its interval; None where it applies to none."""
    if name in RUN_METRICS:
        value = RUN_METRICS[name](rows)
        return None if value is None else Figure(name, value, None, len(rows))
    values = [value for row in rows if (value := row.scores.get(name)) is not None]
    if not values:
        return None
    return Figure(name, sum(values) / len(values), bootstrap(values), len(values))


NO_FIGURE = "–"


def value_text(value: float, unit: Unit) -> str:
    """Write a value: shares as percent, times with as many digits as matter."""
    if unit == "share":
        return f"{100 * value:.1f}"
    if unit == "milliseconds":
        return f"{value:.1f} ms" if value < 100 else f"{value:,.0f} ms"
    return f"{value:,.4g}"


def figure_text(figure: Figure | None) -> str:
    """Write a figure, with half the width of its interval where it has one."""
    if figure is None:
        return NO_FIGURE
    unit = METRICS[figure.metric].unit
    text = value_text(figure.value, unit)
    if figure.interval is None or unit != "share":
        return text
    return f"{text} ±{50 * (figure.interval.high - figure.interval.low):.1f}"

"""What a metric says about itself, and its two kinds: of a question, and of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from clew.evaluate.records import Record, ScoredRow

Better = Literal["higher", "lower", "neither"]
Unit = Literal["share", "count", "milliseconds", "money"]
Score = Callable[[Record], float | None]
"""The score of one question; None where it does not apply."""
RunValue = Callable[[Sequence[ScoredRow]], float | None]
"""The value of a run as a whole; None where it does not apply."""


@dataclass(frozen=True, slots=True)
class Metric:
    """Name, definition and source of a metric, its range [low, high] and which direction is better."""

    name: str
    title: str
    definition: str
    source: str
    better: Better = "higher"
    low: float = 0.0
    high: float = 1.0
    unit: Unit = "share"


@dataclass(frozen=True, slots=True)
class QuestionMetric(Metric):
    """A metric of one question; the value of a run is the mean."""

    score: Score = field(kw_only=True)

    def __call__(self, record: Record) -> float | None:
        """Score one question."""
        return self.score(record)


@dataclass(frozen=True, slots=True)
class RunMetric(Metric):
    """A metric of a run as a whole."""

    value: RunValue = field(kw_only=True)

    def __call__(self, rows: Sequence[ScoredRow]) -> float | None:
        """Compute it."""
        return self.value(rows)


def question_metric(
    title: str,
    definition: str,
    source: str,
    **more: Any,  # noqa: ANN401
) -> Callable[[Score], QuestionMetric]:
    """Make a metric of the function below, by its name; `more` are other fields of `Metric`."""
    return lambda score: QuestionMetric(_name(score), title, definition, source, **more, score=score)


def run_metric(
    title: str,
    definition: str,
    source: str,
    **more: Any,  # noqa: ANN401
) -> Callable[[RunValue], RunMetric]:
    """As `question_metric`, of a run."""
    return lambda value: RunMetric(_name(value), title, definition, source, **more, value=value)


def _name(function: object) -> str:
    return cast("str", cast("Any", function).__name__)

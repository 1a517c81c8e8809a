"""What a metric says about itself, and its two kinds: of a question, and of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar, cast

from clew.evaluate.records import Record, ScoredRow

T = TypeVar("T")
Better = Literal["higher", "lower", "neither"]
Unit = Literal["share", "count", "milliseconds", "money"]


@dataclass(frozen=True, slots=True)
class Metric(Generic[T]):
    """Name, definition and source of a metric, its range [low, high] and which direction is better.

    `score` computes it; None where it does not apply.
    """

    name: str
    title: str
    definition: str
    source: str
    better: Better = "higher"
    low: float = 0.0
    high: float = 1.0
    unit: Unit = "share"
    score: Callable[[T], float | None] = field(kw_only=True)

    def __call__(self, of: T) -> float | None:
        """Compute it."""
        return self.score(of)


QuestionMetric = Metric[Record]
"""A metric of one question; the value of a run is the mean."""
RunMetric = Metric[Sequence[ScoredRow]]
"""A metric of a run as a whole."""


def metric(
    title: str,
    source: str,
    **fields: Any,  # noqa: ANN401
) -> Callable[[Callable[[T], float | None]], Metric[T]]:
    """Make a metric of the function below: its name, and its docstring as the definition.

    `fields` are other fields of `Metric`.
    """

    def make_metric(score: Callable[[T], float | None]) -> Metric[T]:
        name = cast("str", cast("Any", score).__name__)
        return Metric(name, title, score.__doc__ or "", source, **fields, score=score)

    return make_metric

"""What a metric says about itself, and its two kinds: of a question, and of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from clew.evaluate.records import Record
from clew.evaluate.rows import ScoredRow

Better = Literal["higher", "lower", "neither"]
Unit = Literal["share", "count", "milliseconds", "money"]


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
class QuestionMetric:
    """A metric of one question; the value of a run is the mean. `score` is None where it does not apply."""

    about: Metric
    score: Callable[[Record], float | None]


@dataclass(frozen=True, slots=True)
class RunMetric:
    """A metric of a run as a whole; `value` is None where it does not apply."""

    about: Metric
    value: Callable[[Sequence[ScoredRow]], float | None]

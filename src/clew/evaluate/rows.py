"""What is kept of a record once it is scored: small, so that a run of any length fits into memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clew.evaluate.questions import GoldVerdict
from clew.evaluate.records import Key


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """A scored question: `scores` by metric, `offset` of its record in the file.

    `verdict` is the gold of a claim and `said` what the method says of it; `without_gold` is set where the
    graph cannot answer; `shape` is that of the gold paths; `error_step` names the step at which a wrong
    answer went wrong.
    """

    key: Key
    kind: str
    gold_known: bool
    without_gold: bool
    verdict: GoldVerdict | None
    said: GoldVerdict | None
    answered: bool
    abstained: str | None
    failed: bool
    confidence: float
    timings: Mapping[str, float]
    calls: int
    tokens: int
    cost: float | None
    scores: Mapping[str, float | None]
    error_step: str | None
    shape: str
    offset: int

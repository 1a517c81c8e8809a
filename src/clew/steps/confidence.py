"""How far to trust a reading: a logistic function of what it explains, fitted on development questions that the graph
can answer and others that it cannot (`benchmarks/fit_weights.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from clew.steps.explain import Explanation
from clew.steps.readings import Reading


@dataclass(frozen=True, slots=True)
class Trust:
    """Coefficients: explained share of the content words, least and mean evidence for a step, the part of the worst
    explained word that stays open, number of steps, an ordinary word taken for a name, and a constant.
    """

    share: float = 3.07
    weakest: float = 0.61
    mean: float = 2.48
    worst: float = -1.47
    steps: float = -0.28
    doubtful: float = -0.52
    constant: float = -1.52


def confidence(reading: Reading, told: Explanation, trust: Trust) -> float:
    """Probability that the reading is right, in (0, 1)."""
    score = (
        trust.share * told.share
        + trust.weakest * told.weakest
        + trust.mean * told.mean
        + trust.worst * told.worst
        + trust.steps * len(reading.steps)
        + trust.doubtful * reading.doubtful
        + trust.constant
    )
    return 1 / (1 + math.exp(-score))

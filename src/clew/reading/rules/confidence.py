"""How far to trust a reading: a logistic function of what it explains.

Fitted on development questions that the graph can answer and others that it cannot.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from clew.reading.rules.explain import Explanation
from clew.reading.rules.reading import Reading


@dataclass(frozen=True, slots=True)
class Trust:
    """Coefficients of the features of a reading.

    Explained share of the content words; least and mean evidence for a step; the part of the worst explained
    word that stays open; number of steps; an ordinary word taken for a name; a constant.
    """

    share: float = 3.23
    weakest: float = 1.66
    mean: float = 3.78
    worst: float = -1.71
    steps: float = -0.22
    doubtful: float = -0.74
    constant: float = -2.83


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

"""How sure a figure is: bootstrap confidence intervals and paired tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 1000
"""Resamples of which an interval is made."""
SIGNS = 10_000
"""Draws of random signs of which a p value is made."""
MOST_ENUMERATED = 14
"""Up to so many differing pairs, all sign patterns are enumerated."""
_CHUNK = 2_000_000


@dataclass(frozen=True, slots=True)
class Interval:
    """Bounds of a confidence interval."""

    low: float
    high: float


def bootstrap(values: Sequence[float]) -> Interval:
    """Percentile bootstrap interval of the mean (Efron 1979), 95 %, deterministic; ValueError: no values."""
    data = np.asarray(values, np.float64)
    if not len(data):
        raise ValueError("no values to resample")
    random, chunks = np.random.default_rng(0), _chunks(RESAMPLES, len(data))
    resamples = (data[random.integers(0, len(data), (count, len(data)))] for count in chunks)
    means = np.concatenate([rows.mean(axis=1) for rows in resamples])
    low, high = np.quantile(means, (0.025, 0.975))
    return Interval(float(low), float(high))


def _chunks(rows: int, width: int) -> Iterator[int]:
    """Divide rows of so many values into chunks of about _CHUNK values: how many are in each."""
    most = max(1, _CHUNK // width)
    yield from (min(most, rows - start) for start in range(0, rows, most))


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Mean difference (first minus second) over the same questions, its interval, and p of no difference."""

    difference: float
    interval: Interval
    p: float
    pairs: int
    first_better: int
    second_better: int


def compare(first: Sequence[float], second: Sequence[float]) -> PairedDifference:
    """Compare two methods on the same questions by a two-sided paired randomisation test (Noreen 1989).

    It is exact with few differing pairs, and for 0/1 scores (McNemar's exact test), else by random
    signs, SIGNS times.

    Raises ValueError (the lengths differ or are 0).
    """
    if len(first) != len(second) or not len(first):
        raise ValueError(f"{len(first)} and {len(second)} values cannot be paired")
    differences = np.asarray(first, np.float64) - np.asarray(second, np.float64)
    differing = differences[differences != 0.0]
    return PairedDifference(
        difference=float(differences.mean()),
        interval=bootstrap(differences.tolist()),
        p=_p_value(differing),
        pairs=len(differences),
        first_better=int((differing > 0).sum()),
        second_better=int((differing < 0).sum()),
    )


def _p_value(differing: NDArray[np.float64]) -> float:
    if not len(differing):
        return 1.0
    if np.ptp(np.abs(differing)) == 0.0:  # the two-sided binomial test is exact
        pairs, better = len(differing), int((differing > 0).sum())
        least = min(better, pairs - better)
        return min(1.0, 2 * sum(comb(pairs, k) for k in range(least + 1)) / 2**pairs)
    observed = abs(float(differing.sum())) - 1e-12
    if len(differing) <= MOST_ENUMERATED:
        patterns = np.arange(2 ** len(differing))[:, None] >> np.arange(len(differing)) & 1
        sums = np.abs((patterns * 2 - 1) @ differing)
        return float((sums >= observed).mean())
    random = np.random.default_rng(0)
    as_far = 0
    for count in _chunks(SIGNS, len(differing)):
        signs = random.integers(0, 2, (count, len(differing)), np.int8) * 2 - 1
        as_far += int((np.abs(signs @ differing) >= observed).sum())
    return (as_far + 1) / (SIGNS + 1)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Adjust the p values of several tests (Holm 1979), in their order."""
    p = np.asarray(p_values, np.float64)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, np.arange(len(p), 0, -1) * p[order]))
    return tuple(adjusted.tolist())

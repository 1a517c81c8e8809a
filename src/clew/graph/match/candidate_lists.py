"""Candidates of one node of a pattern in ascending cost, asked for in growing numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clew.errors import UsageError
from clew.foundation.arrays import AnyArray
from clew.graph.match.distances import Distance, Distances, Measure
from clew.graph.match.kernels.columns import INFINITE, MISS_BITS, UNIT
from clew.types import PatternNode

FARTHEST = 1e4
ALL = 1 << 59
"""A slack that leaves nothing out."""


@dataclass(frozen=True, slots=True)
class Rounds:
    """How many candidates of a node are asked for `first`, and how many times as many then (`growth`).

    Of one node `worth_a_cut` are worth more runs, of those near and of the others.
    """

    first: int = 64
    growth: int = 16
    worth_a_cut: int = 512


USUAL_ROUNDS = Rounds()


class CandidateList:
    """The candidates of `node` that are at hand: `ids` and `costs`, ascending.

    One that is left out costs at least `bound` (INFINITE: none is); `ended`: the provider has no more of
    them. A node that can be measured begins with the entities of exactly its name, and the provider is asked
    only when these are not enough.
    """

    def __init__(
        self,
        distances: Distances,
        node: PatternNode,
        measure: Measure | None = None,
        rounds: Rounds = USUAL_ROUNDS,
    ) -> None:
        self._distances, self.node, self._rounds, self._count = distances, node, rounds, rounds.first
        self._measured, self.has_asked, self.ended = measure is not None, False, False
        if measure is not None and is_named(measure):
            self.ids, self.costs = measure.entities, np.zeros(len(measure.entities), np.int64)
            self.bound = 1 << MISS_BITS
        else:
            self._ask()

    def _ask(self) -> None:
        count_before = len(self._nearest.entities) if self.has_asked else -1
        self.has_asked, self._nearest = True, self._distances.node_candidates(self.node, self._count)
        self.ended = len(self._nearest.entities) == count_before and not self._nearest.exhausted
        self._take(min(self._count, len(self._nearest.entities)))

    def _take(self, count: int) -> None:
        """Turn the distances of the first `count` into costs."""
        nearest = self._nearest
        costs = costs_of(nearest.distances[: count + 1], f"node {self.node.name!r}")
        if np.any(costs[1:] < costs[:-1]):
            raise UsageError(f"the candidates of node {self.node.name!r} are not in ascending distance")
        if count < len(nearest.entities):
            self.bound = int(costs[count])
        else:
            none_left = nearest.exhausted or not count or (self.ended and not self._measured)
            self.bound = INFINITE if none_left else int(costs[-1])
        finite = int(np.searchsorted(costs[:count], INFINITE))
        self.ids, self.costs = nearest.entities[:finite], costs[:finite]

    @property
    def due(self) -> int:
        """For how many candidates the provider is asked next; 0 if more are at hand."""
        if not self.has_asked:
            return self._count
        count = len(self._nearest.entities)
        return 0 if self._count < count or self._nearest.exhausted else self._count * self._rounds.growth

    def grow(self) -> None:
        """Have several times as many candidates, from those at hand or the provider."""
        if not self.due:
            self._count = min(self._count * self._rounds.growth, len(self._nearest.entities))
            self._take(self._count)
        else:
            self._count = self.due
            self._ask()

    def reach(self, slack: int) -> int:
        """Have the candidates within `slack`, or a few rounds more of them; how far those at hand reach."""
        if slack >= self.bound - self.costs[0] and self.bound < INFINITE:
            self.grow()
        while self.bound <= self.costs[0] and not self.ended:
            self.grow()
        return self.reached

    @property
    def reached(self) -> int:
        """How far those at hand reach."""
        return ALL if self.bound >= INFINITE else int(self.bound - self.costs[0]) - (1 << MISS_BITS)

    def between(self, low: int, high: int) -> tuple[AnyArray, AnyArray]:
        """(ids, costs) of the candidates that cost more than `low`, at most `high` above the nearest."""
        if high >= ALL:
            while self.bound < INFINITE:
                self.grow()
        start, stop = self.count(low) if low >= 0 else 0, self.count(high)
        return self.ids[start:stop], self.costs[start:stop]

    def count(self, slack: int) -> int:
        """Count the candidates at hand that are within `slack`."""
        return int(self.costs.searchsorted(self.costs[0] + slack, "right"))

    def next_after(self, slack: int) -> int:
        """Excess over the nearest of the first candidate beyond `slack`, at least; INFINITE: none."""
        count = self.count(slack)
        if count < len(self.costs):
            return int(self.costs[count] - self.costs[0])
        return INFINITE if self.bound >= INFINITE else int(self.bound - self.costs[0])

    def step(self, slack: int) -> int:
        """Slack within which there are several times as many candidates as within `slack`."""
        target = max(self._rounds.first, self.count(slack) * self._rounds.growth)
        if target > len(self.costs) and self.bound < INFINITE:
            self.grow()
        return int(self.costs[min(target, len(self.costs)) - 1] - self.costs[0])


def is_named(measure: Measure) -> bool:
    """Whether there are entities of exactly the name, so that all others are farther."""
    return measure.rows is not None and len(measure.entities) > 0 and not measure.distances.any()


def costs_of(distances: Distance, what: str) -> AnyArray:
    """Distances as costs, int64."""
    values = np.asarray(distances, np.float64)
    if len(values) and values.min() >= 0 and values.max() <= FARTHEST:
        return np.rint(values * UNIT).astype(np.int64) << MISS_BITS
    finite = np.isfinite(values)
    if np.isnan(values).any() or np.any(values < 0) or np.any(values[finite] > FARTHEST):
        raise UsageError(f"a distance of {what} is negative, not a number or above {FARTHEST:g}")
    scaled = np.rint(np.where(finite, values, 0.0) * UNIT).astype(np.int64) << MISS_BITS
    return np.where(finite, scaled, INFINITE)

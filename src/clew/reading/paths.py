"""What the graph has around the mentions of a question: paths of at most three steps, one step at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew.graph.schema import Schema
from clew.reading.execute import NONE, Executor, Nodes, OverBudget, root_of
from clew.reading.mentions import Mention
from clew.reading.query import Entity, Part, Walk
from clew.reading.vocabulary import DATE, LEAF, NUMBER, THING, Likeness, Vocabulary

LONGEST = 3
"""Steps of a path from one mention."""
WIDEST = 1500
"""Members of a set that are looked at to tell which steps go on from it."""
MOST_FIRST, MOST_SECOND, MOST_PATHS = 40, 70, 160
"""Paths of one step that go on, of two that go on, and of all paths of one entity that are kept."""
STEP_COST = 0.28
"""What a step must be named by to be worth it, as a likeness; for the order of enumeration only."""
LONG_LIST = 400
"""Edges of one node beyond which its relations are found by jumps."""


@dataclass(frozen=True, slots=True, eq=False)
class Base:
    """A set that a question may be about; `worth` orders the enumeration and is no score."""

    part: Part
    members: Nodes
    end: int
    """The end that its members have, as the last step arrives there; -1 - type for all of a type."""
    mentions: frozenset[int]
    steps: tuple[int, ...]
    worth: float
    whole: bool = True
    """Whether `members` are all of them."""


Paths = dict[tuple[int, int], list[Base]]
"""The paths from each candidate, by the place of its mention and its node; the entity itself first."""


def by_worth(bases: Sequence[Base]) -> list[Base]:
    """Those that the words of the question name best first."""
    return sorted(bases, key=lambda b: -b.worth)


@dataclass(eq=False)
class Exploration:
    """One question over one graph: its mentions, what its words name, and what lies around a set."""

    vocabulary: Vocabulary
    question: str
    mentions: Sequence[Mention]
    likeness: Likeness

    def __post_init__(self) -> None:
        """Tell what a step and a type are worth, float32 [relations] and [types]."""
        self.executor = Executor(self.vocabulary.graph)
        self.step_worth: NDArray[np.float32] = self.likeness.relations.max(0, initial=0.0) - STEP_COST
        self.type_worth: NDArray[np.float32] = self.likeness.types.max(0, initial=0.0)

    @property
    def schema(self) -> Schema:
        """The schema of the graph."""
        return self.vocabulary.schema

    def worth_of(self, step: int) -> float:
        """How well the question names the relation of a step."""
        return float(self.step_worth[step // 2])

    def gain_of(self, base: Base, step: int) -> float:
        """What a step adds to the worth of a set: nothing new by a relation that the set has already."""
        again = any(before // 2 == step // 2 for before in base.steps)
        return -STEP_COST if again else self.worth_of(step)

    def paths(self) -> Paths:
        """The paths from all candidates of all mentions."""
        return {
            (i, c.node): self.paths_from(i, c.node, c.score)
            for i, mention in enumerate(self.mentions)
            for c in mention.candidates
        }

    def paths_from(self, mention: int, node: int, score: float) -> list[Base]:
        """The paths from one entity, by their worth, the entity itself first."""
        here = np.array([node], np.int64)
        start = Base(Entity(node, mention), here, -1, frozenset({mention}), (), score - 1.0)
        front, found = [start], [start]
        for length, most in ((1, MOST_FIRST), (2, MOST_SECOND), (3, MOST_PATHS)):
            grown = by_worth([base for before in front for base in self.grown(before)])
            found += grown if length == 1 else grown[:MOST_PATHS]
            front = grown[:most]
        ones = [b for b in found[1:] if len(b.steps) == 1]
        more = by_worth([b for b in found[1:] if len(b.steps) > 1])
        return [start, *by_worth([*ones, *more[:MOST_PATHS]])]

    def grown(self, base: Base) -> Iterator[Base]:
        """The set one step further, by each step that the members have."""
        around = self.executor.around(base.members)
        root = root_of(Walk(base.part, 0))
        for step in self.steps_at(base.members) if around is None else around:
            if self.goes_in_circles(base.steps, step) or self._leaves_a_value(base, step):
                continue
            if base.steps and not base.mentions and base.steps[-1] == step ^ 1:
                # From all of a type and back again: nobody asks for what shares something with anything.
                continue
            members = self._reached(base.members, step) if around is None else around[step]
            if root is not None:
                members = members[members != root]
            if not len(members):
                continue
            whole = base.whole and len(members) <= WIDEST
            worth = base.worth + self.gain_of(base, step)
            if len(base.steps) >= 1 and base.steps[-1] ^ 1 == step:
                worth -= 0.1
            steps = (*base.steps, step)
            yield Base(Walk(base.part, step), sample(members), step ^ 1, base.mentions, steps, worth, whole)

    def members_of(self, part: Part) -> Nodes:
        """The members of a set; none where too many edges were followed."""
        try:
            return self.executor.members(part)
        except OverBudget:
            return NONE

    def _reached(self, nodes: Nodes, step: int) -> Nodes:
        """What a step leads to; nothing where too many edges were followed."""
        try:
            return np.unique(self.executor.edges(nodes, step)[1])
        except OverBudget:
            return NONE

    def goes_in_circles(self, steps: Sequence[int], step: int) -> bool:
        """Whether a step only leads back: at once where each has one, or the third time the same way."""
        if not steps or steps[-1] != step ^ 1:
            return False
        if len(steps) > 1 and steps[-2] == step:
            return True
        return not self.schema.repeated[step]

    def _leaves_a_value(self, base: Base, step: int) -> bool:
        """Whether a step goes on from a number, a date or a text that is no thing, but for the way back."""
        if not base.steps or base.end < 0 or (step == base.steps[-1] ^ 1 and base.mentions):
            return False
        kind = self.vocabulary.ends[base.end]
        return kind in (NUMBER, DATE) or (kind == LEAF and bool(self.vocabulary.types))

    def steps_at(self, nodes: Nodes, most: int = 200) -> list[int]:
        """The steps that leave some of the nodes, ascending; `most` of them are looked at."""
        some = sample(nodes, most)
        around = self.executor.around(some)
        if around is not None:
            return sorted(around)
        found: set[int] = set()
        graph = self.vocabulary.graph
        for side, adjacency in enumerate((graph.out, graph.into)):
            starts, stops = adjacency.starts[some], adjacency.stops[some]
            for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
                if stop - start > LONG_LIST:
                    found.update(2 * r + side for r in _distinct(adjacency.relation, start, stop))
                elif stop > start:
                    found.update(2 * r + side for r in set(adjacency.relation[start:stop].tolist()))
        return sorted(found)

    def repeated_steps_at(self, nodes: Nodes) -> list[int]:
        """The steps of which a node may have several, the best named first."""
        steps = [s for s in self.steps_at(nodes, 60) if self.schema.repeated[s]]
        return sorted(steps, key=lambda s: -self.worth_of(s))

    def attributes(self, base: Base) -> list[tuple[int, int]]:
        """Steps from a set to numbers or dates, with their kind, the best named first."""
        steps = [(s, self.vocabulary.ends[s ^ 1]) for s in self.steps_at(base.members, 60) if not s & 1]
        of = [(s, kind) for s, kind in steps if kind in (NUMBER, DATE)]
        return sorted(of, key=lambda a: -self.worth_of(a[0]))[:8]

    def is_of_things(self, base: Base) -> bool:
        """Whether a set has things in it, neither values nor one entity alone."""
        if isinstance(base.part, Entity):
            return False
        return base.end < 0 or self.vocabulary.ends[base.end] == THING

    def overlap(self, one: int, other: int) -> bool:
        """Whether two mentions, by their places, share a character."""
        return self.mentions[one].overlaps(self.mentions[other])

    def is_free(self, mention: int, base: Base) -> bool:
        """Whether a set neither uses a mention nor one that overlaps it."""
        return mention not in base.mentions and not any(self.overlap(mention, m) for m in base.mentions)


def sample(nodes: Nodes, most: int = WIDEST) -> Nodes:
    """Some of the nodes, evenly, or all where they are not more than `most`."""
    return nodes if len(nodes) <= most else nodes[:: len(nodes) // most + 1]


def _distinct(relation: NDArray[np.int32], start: int, stop: int) -> Iterator[int]:
    """The relations of one sorted list of edges, by jumps."""
    while start < stop:
        here = int(relation[start])
        yield here
        start += int(np.searchsorted(relation[start:stop], here + 1))

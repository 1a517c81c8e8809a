"""What the graph has around the mentions of a question: paths of at most three steps, one step at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import Float32
from clew.graph.schema import Schema
from clew.graph.steps import End, Step, is_backward, opposite, relation_of
from clew.query.execute import MOST_AROUND, NO_NODES, Executor, Nodes, OverBudget, distinct, onward
from clew.query.tree import Anchor, OfType, Part, Walk
from clew.query.vocabulary import DATE, LEAF, NUMBER, THING, Vocabulary
from clew.reading import english
from clew.reading.likeness import Likeness
from clew.reading.mentions import Mention

LONGEST_PATH = 3
"""Steps of a path from one mention."""
LARGE = 200_000
"""Nodes of a graph from which on sets with very many edges are looked at in part."""
WIDEST = 1500
"""Members of a set that are looked at to tell which steps go on from it."""
MOST_FIRST, MOST_SECOND, MOST_PATHS = 40, 70, 100
"""Paths of one step that go on, of two that go on, and paths of two or three steps that are kept of each."""
MOST_GROWN = 160
"""Steps by which a path of one entity goes on."""
UNLIKE = 0.3
"""Likeness of a word and a label below which the word does not say it; for the order of enumeration only."""
STEP_COST = 0.15
"""What a step must add to the words that are said to be worth it."""
WAY_BACK = 0.1
"""What the way back costs beside, for the order of enumeration; where what is alike is asked for, it is worth
as much."""
BY_TYPE = 0.95
"""What it counts for a step that the question names the type that it leads to, beside its relation."""
LIKE_IT = 0.1
"""Least share of the nodes of an end that are of a type, for things of the type to miss that end."""
IMPLIED = 0.5
"""Least share of the nodes of one of its ends that have another end, for an untyped node to miss that one; of
all nodes, where they have one type."""
MOST_STEPS_SEEN = 1_000
"""Steps of one set that are followed."""
MOST_BEHIND = 60
"""Members of a set, and nodes that a step leads to from there, that are looked at for a second step."""


@dataclass(frozen=True, slots=True, eq=False)
class Base:
    """A set that a question may be about; `worth` orders the enumeration and is no score.

    `coverage` float32 [words]: how well it says each content word of the question, `cost` what its links and
    steps take from that.
    """

    part: Part
    members: Nodes
    end: End
    """The end that its members have, as the last step arrives there; -1 - type for all of a type."""
    mentions: frozenset[int]
    steps: tuple[Step, ...]
    coverage: Float32
    cost: float
    complete: bool = True
    """Whether `members` are all of them."""
    worth: float = field(init=False)
    """How much of the question it says."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "worth", float(self.coverage.sum()) - self.cost)


_Reach = tuple[dict[int, Nodes] | None, bool]
"""What each step leads to from a set, None where that is found step by step; whether of all its members."""
CandidatePaths = dict[tuple[int, int], list[Base]]
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
        """Tell which words each step and each type says, float32 [2 relations, words] and [types, words]."""
        self.executor = Executor(self.vocabulary.graph)
        self.back_costs = -WAY_BACK if english.ALIKE.search(self.question) else WAY_BACK
        self._steps: dict[bytes, list[Step]] = {}
        self._steps_behind: dict[tuple[bytes, Step], list[Step]] = {}
        self.relations_say = _coverage(self.likeness.relations.T)
        self.types_say = _coverage(self.likeness.types.T)
        arrived = self.vocabulary.types_at_ends.reshape(-1, 2)[:, ::-1].ravel()
        none = np.zeros((1, self.types_say.shape[1]), np.float32)
        types = np.concatenate([self.types_say, none])[arrived] * BY_TYPE
        self.steps_say = np.maximum(np.repeat(self.relations_say, 2, axis=0), types)

    @property
    def schema(self) -> Schema:
        """The schema of the graph."""
        return self.vocabulary.schema

    def worth_of(self, step: Step) -> float:
        """How well the question names the relation of a step, or the type that it leads to."""
        return float(self.steps_say[step].sum())

    def gains_of(self, base: Base, steps: Sequence[Step]) -> Float32:
        """What steps add to the worth of a set, float32 [steps]: nothing for words that it says already."""
        coverage = np.maximum(base.coverage, self.steps_say[np.array(steps, np.int64)])
        return coverage.sum(axis=1) - base.coverage.sum() - np.float32(STEP_COST)

    def covered(self, mention: int) -> Float32:
        """The content words inside of a mention, float32 [words], 0 or 1."""
        m = self.mentions[mention]
        inside = [m.start < stop and start < m.stop for start, stop, _ in self.likeness.words]
        return np.array(inside, np.float32)

    def coverage_with(self, base: Base, step: Step, mention: int) -> Float32:
        """The words that a set says with one more step and one more mention."""
        return np.maximum(np.maximum(base.coverage, self.steps_say[step]), self.covered(mention))

    def paths(self) -> CandidatePaths:
        """The paths from all candidates of all mentions."""
        return {
            (i, c.node): self.paths_from(i, c.node, c.score)
            for i, mention in enumerate(self.mentions)
            for c in mention.candidates
        }

    def paths_from(self, mention: int, node: int, score: float) -> list[Base]:
        """The paths from one entity, by their worth, the entity itself first."""
        nodes, coverage = np.array([node], np.int64), self.covered(mention)
        start = Base(Anchor(node, mention), nodes, -1, frozenset({mention}), (), coverage, 1.0 - score)
        front, paths = [start], [start]
        for length, most in ((1, MOST_FIRST), (2, MOST_SECOND), (3, 0)):
            grown = self._best_grown(front, None if length == 1 else MOST_PATHS)
            paths += grown
            front = grown[:most]
        return [start, *by_worth(paths[1:])]

    def _best_grown(self, front: Sequence[Base], most: int | None) -> list[Base]:
        """The sets one step further than some, the best named first, at most `most`."""
        ways = [(base, *self._ways(base, None if most is None else MOST_GROWN)) for base in front]
        steps = [np.array(base_steps, np.int64) for _, _, base_steps in ways]
        worth = [self._worths(base, base_steps) for (base, _, _), base_steps in zip(ways, steps, strict=True)]
        if not worth:
            return []
        owner = np.repeat(np.arange(len(ways)), [len(base_steps) for base_steps in steps])
        all_steps = np.concatenate(steps)
        grown_sets: list[Base] = []
        for at in np.argsort(-np.concatenate(worth), kind="stable").tolist():
            base, way, _ = ways[owner[at]]
            further = self._grow(base, int(all_steps[at]), way)
            if further is not None:
                grown_sets.append(further)
                if len(grown_sets) == most:
                    break
        return grown_sets

    def _worths(self, base: Base, steps: NDArray[np.int64]) -> Float32:
        """What a set is worth with one more step, by each of some steps: float32 [steps]."""
        worth = np.maximum(base.coverage, self.steps_say[steps]).sum(axis=1) - base.cost - STEP_COST
        if base.steps:
            worth -= self.back_costs * (self.vocabulary.canonical[opposite(steps)] == base.steps[-1])
        return worth

    def grown(self, base: Base) -> Iterator[Base]:
        """The set one step further by each step that its members have."""
        way, steps = self._ways(base, None)
        bases = (self._grow(base, step, way) for step in steps)
        yield from (further for further in bases if further is not None)

    def _ways(self, base: Base, most: int | None) -> tuple[_Reach, list[Step]]:
        """What each step leads to from a set, and the steps that may go on, at most the `most` best named."""
        around, of_all_members = self._around(base), True
        if around is None and len(lighter := self._light_nodes(base.members)):
            around, of_all_members = self.executor.around(lighter), False
        steps = self.steps_at(base.members) if around is None else self._steps_to_follow(around)
        if most is not None and len(steps) > most:
            steps = self._best_first(base, steps)
        return (around, of_all_members), [step for step in steps if self._may_go(base, step)][:most]

    def _may_go(self, base: Base, step: Step) -> bool:
        """Whether a step may go on from a set: not in circles, nor from a value.

        Nor from all of a type and back again: nobody asks for what shares something with anything.
        """
        if self.goes_in_circles(base.steps, step) or self._leaves_a_value(base, step):
            return False
        return bool(base.mentions) or not base.steps or base.steps[-1] != self.vocabulary.back_over(step)

    def _grow(self, base: Base, step: Step, way: _Reach) -> Base | None:
        """The set one step further, None where nothing is there."""
        around, of_all_members = way
        part = Walk(base.part, step)
        members = onward(part, self.reached(base.members, step) if around is None else around[step])
        if not len(members):
            return None
        back = bool(base.steps) and base.steps[-1] == self.vocabulary.back_over(step)
        complete = of_all_members and base.complete and len(members) <= WIDEST
        coverage = np.maximum(base.coverage, self.steps_say[step])
        cost = base.cost + STEP_COST + (self.back_costs if back else 0.0)
        end, steps = opposite(step), (*base.steps, step)
        return Base(part, sample(members), end, base.mentions, steps, coverage, cost, complete)

    def _best_first(self, base: Base, steps: Collection[Step]) -> list[Step]:
        """Steps by what a set is worth with each of them."""
        chosen = np.array(list(steps))
        return chosen[np.argsort(-self._worths(base, chosen), kind="stable")].tolist()

    def _light_nodes(self, nodes: Nodes) -> Nodes:
        """Those of some nodes that have few enough edges together to be sorted; none in a graph not large."""
        graph = self.vocabulary.graph
        if graph.nodes <= LARGE:
            return NO_NODES
        edges = np.zeros(len(nodes), np.int64)
        for side in (graph.out, graph.into):
            edges += side.stops[nodes] - side.starts[nodes]
        order = np.argsort(edges, kind="stable")
        return np.sort(nodes[order[np.cumsum(edges[order]) <= MOST_AROUND]])

    def _around(self, base: Base) -> dict[int, Nodes] | None:
        """What each step leads to from a set, None where that is too much to sort.

        It is kept for all of a type and for what steps lead to from there, which many questions look at.
        """
        start = base.part
        while isinstance(start, Walk):
            start = start.source
        if not isinstance(start, OfType):
            return self.executor.around(base.members)
        neighbours = self.vocabulary.cached_neighbours.get(
            base.part, lambda: self.executor.around(base.members) or {}
        )
        return neighbours or None

    def members_of(self, part: Part) -> Nodes:
        """The members of a set; none where too many edges were followed."""
        if isinstance(part, OfType):
            return self.vocabulary.cached_sets.get(part, lambda: {0: self.executor.members(part)})[0]
        try:
            return self.executor.members(part)
        except OverBudget:
            return NO_NODES

    def reached(self, nodes: Nodes, step: Step) -> Nodes:
        """What a step leads to; nothing where too many edges were followed."""
        try:
            return distinct(self.executor.edges(nodes, step)[1])
        except OverBudget:
            return NO_NODES

    def goes_in_circles(self, steps: Sequence[Step], step: Step) -> bool:
        """Whether a step only leads back: at once where each has one, or the third time the same way."""
        if not steps or steps[-1] != self.vocabulary.back_over(step):
            return False
        if len(steps) > 1 and steps[-2] == step != steps[-1]:
            return True
        return not self.schema.repeated[step]

    def _leaves_a_value(self, base: Base, step: Step) -> bool:
        """Whether a step goes on from a number, a date or a text that is no thing, but for the way back.

        From *yes* and *no* there is no way back either: having a garden like something is having one.
        """
        if not base.steps or base.end < 0:
            return False
        if relation_of(base.steps[-1]) in self.vocabulary.flags and not is_backward(base.steps[-1]):
            return True
        if base.mentions and step == self.vocabulary.back_over(base.steps[-1]):
            return False
        kind = self.vocabulary.ends[base.end]
        return kind in (NUMBER, DATE) or (kind == LEAF and bool(self.vocabulary.types))

    def may_stand_at(self, ends: Collection[End], end: End) -> bool:
        """Whether what has some ends, or something else that has one of them, stands at another end."""
        return end in ends or any(self.vocabulary.may_meet(end, other_end) for other_end in ends)

    def steps_at(self, nodes: Nodes, most: int = 200) -> list[Step]:
        """The steps that leave some of the nodes, ascending; `most` of them are looked at."""
        sampled = sample(nodes, most)
        key = sampled.tobytes()
        steps = self._steps.get(key)
        if steps is None:
            steps = self._steps[key] = sorted(self._steps_to_follow(self.executor.steps(sampled)))
        return steps

    def steps_behind(self, nodes: Nodes, step: Step) -> list[Step]:
        """The steps that leave what a step leads to from some nodes, ascending; few of both are looked at."""
        sampled = nodes[:MOST_BEHIND]
        key = sampled.tobytes(), step
        steps = self._steps_behind.get(key)
        if steps is None:
            steps = self._steps_behind[key] = self.steps_at(sample(self.reached(sampled, step), MOST_BEHIND))
        return steps

    def _steps_to_follow(self, steps: Collection[Step]) -> Collection[Step]:
        """The steps, each of what is recorded twice once; where they are many, those that are said best."""
        same = self.vocabulary.canonical
        steps = [s for s in steps if (c := same[s]) == s or c not in steps]
        if len(steps) <= MOST_STEPS_SEEN:
            return steps
        chosen = np.array(sorted(steps))
        worths = self.steps_say[chosen].sum(axis=1)
        return chosen[np.argsort(-worths, kind="stable")[:MOST_STEPS_SEEN]].tolist()

    def absent_steps(self, node: int) -> list[Step]:
        """The steps that a node does not have and others like it do: of its types, or of its other steps.

        The only type of a graph says that things are alike only of what most of them have.
        """
        schema, node_steps = self.schema, self.steps_at(np.array([node], np.int64))
        types = self.vocabulary.types_of(node)
        if len(types):
            like = schema.typed[:, types].max(axis=1) >= LIKE_IT * np.maximum(schema.nodes, 1)
            if len(self.vocabulary.types) == 1:
                like &= schema.nodes >= IMPLIED * len(self.vocabulary.graph.types.type)
        elif node_steps:
            like, share = np.ones(len(schema.nodes), np.bool_), np.zeros(len(schema.nodes))
            for end in node_steps:
                together = schema.together.row(end)
                like &= together > 0
                np.maximum(share, together / max(schema.nodes[end], 1), out=share)
            like &= share >= IMPLIED
        else:
            return []
        like[[*node_steps, *self.vocabulary.canonical[node_steps]]] = False
        like &= self.vocabulary.canonical == np.arange(len(like))
        return np.flatnonzero(like).tolist()

    def repeated_steps_at(self, nodes: Nodes) -> list[Step]:
        """The steps of which a node may have several, the best named first."""
        steps = [s for s in self.steps_at(nodes, 60) if self.schema.repeated[s]]
        return sorted(steps, key=lambda s: -self.worth_of(s))

    def attributes(self, base: Base) -> list[tuple[Step, int]]:
        """Steps from a set to numbers or dates, with their kind, the best named first."""
        return self.attributes_of(base.members)

    def attributes_of(self, nodes: Nodes) -> list[tuple[Step, int]]:
        """Steps from nodes to numbers or dates, with their kind, the best named first."""
        kinds = self.vocabulary.value_steps
        of = [(step, kinds[step]) for step in self.steps_at(nodes, 60) if step in kinds]
        return sorted(of, key=lambda a: -self.worth_of(a[0]))[:8]

    def is_of_things(self, base: Base) -> bool:
        """Whether a set has things in it, neither values nor one entity alone."""
        if isinstance(base.part, Anchor):
            return False
        kinds = (THING, LEAF) if isinstance(base.part, OfType) else (THING,)
        return base.end < 0 or self.vocabulary.ends[base.end] in kinds

    def overlap(self, first: int, second: int) -> bool:
        """Whether two mentions, by their places, share a character."""
        return self.mentions[first].overlaps(self.mentions[second])

    def is_free(self, mention: int, base: Base) -> bool:
        """Whether a set neither uses a mention nor one that overlaps it."""
        return mention not in base.mentions and not any(self.overlap(mention, m) for m in base.mentions)


def _coverage(likeness: Float32) -> Float32:
    """How well a label says each word, from how like they are."""
    return (np.maximum(likeness - UNLIKE, 0) / (1 - UNLIKE)).astype(np.float32)


def sample(nodes: Nodes, most: int = WIDEST) -> Nodes:
    """Some of the nodes, evenly, or all where they are not more than `most`."""
    return nodes if len(nodes) <= most else nodes[:: len(nodes) // most + 1]

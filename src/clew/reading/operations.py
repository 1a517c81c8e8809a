"""What words of a question may ask of a set: filters, counts, extremes and sums."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from clew.graph.steps import Step, opposite, relation_of
from clew.query.tree import (
    Anchor,
    Ask,
    Both,
    Compared,
    Counted,
    Either,
    Extreme,
    OfType,
    Part,
    Query,
    Sign,
    Value,
    Walk,
)
from clew.query.values import in_unit_of
from clew.query.vocabulary import DATE, NUMBER, THING, UNEXPLAINED
from clew.reading import english
from clew.reading.comparisons import signs_of
from clew.reading.joins import each_once, family_of, foremost
from clew.reading.paths import STEP_COST, Base, CandidatePaths, Exploration, by_worth


def yes_or_no(exploration: Exploration, paths: CandidatePaths, joined: Sequence[Base]) -> Iterator[Proposal]:
    """Whether an entity is where a path from another leads, has a value, or stands above another."""
    ask_worth = 0.8 if english.YES_NO.match(exploration.question) else 0.1
    ends = {node: set(exploration.steps_at(np.array([node], np.int64))) for _, node in paths}
    for base in joined[:30]:
        yield Proposal("yes", Query("yes", base.part), base.worth + ask_worth - 0.2)
    for (i, node), group in paths.items():
        for j, other_node in paths:
            if i == j or node == other_node or exploration.overlap(i, j):
                continue
            link = next(c.score for c in exploration.mentions[j].candidates if c.node == other_node) - 1
            # What is unlike all that stands at the end of a path is of another kind: nobody asks that.
            fitting = [
                b
                for b in group[1:]
                if len(b.steps) <= 2 and exploration.may_stand_at(ends[other_node], b.end)
            ]
            for base in fitting[:15]:
                part = Both(base.part, Anchor(other_node, j))
                words_worth = float(np.maximum(base.coverage, exploration.covered(j)).sum()) - base.cost
                yield Proposal("yes", Query("yes", part), words_worth + link + ask_worth)
        for base in _whether_of_values(exploration, i, group[0]):
            yield Proposal("yes", Query("yes", base.part), base.worth + ask_worth)
        for base in group[1:12]:
            yield Proposal("yes", Query("yes", base.part), base.worth + ask_worth - 0.3)


def _whether_of_values(exploration: Exploration, mention: int, entity: Base) -> Iterator[Base]:
    """One entity, filtered by the values of the question and by those of other entities."""
    for i, value_mention in enumerate(exploration.mentions):
        for value in value_mention.values if i != mention else ():
            yield from filters_by_value(exploration, entity, i, value)
    yield from sets_compared_with_entity(exploration, [entity])


MOST_ONWARD, MOST_FAR = 5, 12
"""First steps from a chosen set from which a second one goes on, and chosen sets for which it does."""
MOST_RANKED, MOST_LEFT, MOST_EXTREMES = 16, 8, 80
"""Extremes of one set by values, and by counts; those of one set, and of all, from which steps go on."""
MOST_WAYS, MOST_COUNTED_ONWARD = 200, 24
"""Ways on from filtered and chosen sets that are made into queries, more than any quota; those counted."""
MOST_COUNTED, MOST_CHOSEN = 1000, 100
"""Edges of one node that a question may speak of, and members that it may ask for by their rank."""


_Extreme = tuple[float, int, Part, Base, int]
"""Its worth, its place among those of its set, itself, the set, and the step to what it is ranked by."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A query, the family whose quota it counts for, and how many members it has, -1 where not known."""

    family: str
    query: Query
    worth: float
    size: int = -1


@dataclass(frozen=True, slots=True, eq=False)
class _Ways:
    """Steps that go on from a set, after a `first` one (-1 for none), with their worths float [steps]."""

    part: Part
    first: int
    steps: Sequence[Step]
    worths: NDArray[np.float64]


def operations(exploration: Exploration, bases: Sequence[Base]) -> Iterator[Proposal]:
    """What the words may ask for, around the sets that they name best.

    Around all of a type apart from other sets, with quotas of their own: where a graph is crowded, what is
    around a name would leave no room for *the oldest room*.
    """
    things = foremost(each_once([b for b in bases if exploration.is_of_things(b)]))
    filtered: list[Base] = []
    onward: list[Proposal] = []
    for of_types in (True, False):
        group = [b for b in things if isinstance(b.part, OfType) == of_types]
        group_filtered = _filtered_sets(exploration, group)
        filtered += group_filtered
        entity_pairs = [] if of_types else list(_entity_pairs(exploration))
        for proposal in _operations_around(
            exploration, [*group_filtered[:12], *group], group_filtered, entity_pairs
        ):
            if proposal.family == "onward":
                onward.append(proposal)
            yield replace(proposal, family=f"{proposal.family} of all") if of_types else proposal
    if english.COUNT.search(exploration.question):
        yield from _counts(exploration, bases, by_worth(filtered))
        yield from _counts_onward(exploration, onward)


def _operations_around(
    exploration: Exploration, things: Sequence[Base], filtered: Sequence[Base], entity_pairs: Sequence[Base]
) -> Iterator[Proposal]:
    """Filtered sets with what goes on from them, extremes, sums; `entity_pairs` are to be compared."""
    text = exploration.question
    for base in filtered:
        yield Proposal("filter", Query("list", base.part), base.worth)
    near = [b for b in filtered[:12] if b.worth > filtered[0].worth - 1]
    ways = [way for base in near for way in _ways_onward(exploration, base, MOST_ONWARD)]
    if english.EXTREME.search(text):
        extremes = _extremes(exploration, [*things, *entity_pairs])
        for worth, _, part, _, _ in _first_of_each(extremes, MOST_RANKED)[:160]:
            yield Proposal("extreme", Query("list", part), worth)
        ways += _ways_from_extremes(exploration, extremes)
    yield from _best_ways(ways)
    if english.AGGREGATE.search(text) or english.EXTREME.search(text):
        yield from _aggregates(exploration, [*things, *entity_pairs])


def _counts(exploration: Exploration, bases: Sequence[Base], filtered: Sequence[Base]) -> Iterator[Proposal]:
    """How many there are; of numbers, where these are what is counted (*how many different ratings*)."""
    if not english.DIFFERENT.search(exploration.question):
        bases = [b for b in bases if b.end < 0 or exploration.vocabulary.ends[b.end] != NUMBER]
    ones = [b for b in bases if family_of(b.part) == "one"]
    differences = [b for b in bases if family_of(b.part).endswith("less")]
    for base in dict.fromkeys([*filtered[:30], *ones[:60], *differences[:30], *bases[:100]]):
        if not isinstance(base.part, Anchor):
            size = len(base.members) if base.complete else -1
            yield Proposal("count", Query("count", base.part), base.worth + 0.05, size)


def _counts_onward(exploration: Exploration, onward: Sequence[Proposal]) -> Iterator[Proposal]:
    """How many things there are at the end of ways on: people of the jobs that began in 2020."""
    for proposal in sorted(onward, key=lambda p: -p.worth)[:MOST_COUNTED_ONWARD]:
        part = proposal.query.part
        if isinstance(part, Walk) and exploration.vocabulary.kinds_reached[part.step] == THING:
            yield Proposal("count", Query("count", part), proposal.worth + 0.05)


def _ways_onward(exploration: Exploration, base: Base, far: int) -> Iterator[_Ways]:
    """What a step leads to from a set that was filtered or chosen, and two, of which `far` first ones."""
    steps = [
        s
        for s in exploration.steps_at(base.members, 60)
        if not exploration.goes_in_circles(base.steps[-1:], s)
    ]
    if not steps:
        return
    gains = exploration.gains_of(base, steps)
    order = np.argsort(-gains, kind="stable")
    steps = [steps[i] for i in order]
    yield _Ways(base.part, -1, steps, base.worth + gains[order].astype(np.float64) - 0.05)
    for step in steps[:far]:
        if exploration.vocabulary.kinds_reached[step] != THING:
            continue
        back = exploration.vocabulary.back_over(step)
        further = [s for s in exploration.steps_behind(base.members, step) if s != back]
        if further:
            coverage = np.maximum(
                np.maximum(base.coverage, exploration.steps_say[step]), exploration.steps_say[further]
            )
            worths = coverage.sum(axis=1).astype(np.float64) - base.cost - 2 * STEP_COST - 0.05
            yield _Ways(base.part, step, further, worths)


def _best_ways(ways: Sequence[_Ways]) -> Iterator[Proposal]:
    """The best of some ways on, as queries; the others are not made."""
    if not ways:
        return
    worths = np.concatenate([w.worths for w in ways])
    owned = [(way, place) for way in ways for place in range(len(way.steps))]
    for at in np.argsort(-worths, kind="stable")[:MOST_WAYS].tolist():
        way, place = owned[at]
        source = way.part if way.first < 0 else Walk(way.part, way.first)
        part = Walk(source, way.steps[place])
        yield Proposal("onward", Query("list", part), float(worths[at]))


# filters


def _filtered_sets(exploration: Exploration, things: Sequence[Base]) -> list[Base]:
    """Sets filtered by the values of the question, and by how many edges they have."""
    text, numbered = exploration.question, enumerate(exploration.mentions)
    valued = [(i, v) for i, m in numbered for v in m.values if not english.is_rank(text, m.start, m.stop)]
    filtered = [
        b for base in things for i, value in valued for b in filters_by_value(exploration, base, i, value)
    ]
    filtered = by_worth(filtered)
    twice = [
        b
        for base in filtered[:12]
        for i, value in valued
        for b in filters_by_value(exploration, base, i, value)
    ]
    pairs = [b for base in things[:12] for b in _sets_between_values(exploration, base, valued)]
    compared = sets_compared_with_entity(exploration, things)
    return by_worth([*filtered, *compared, *twice, *pairs])[:140]


def _sets_between_values(
    exploration: Exploration, base: Base, valued: Sequence[tuple[int, Value]]
) -> Iterator[Base]:
    """A set whose values of one kind lie between two of the question, are one of them, or lie outside."""
    asks_either = english.EITHER.search(exploration.question) is not None
    for (i, low), (j, high) in combinations(valued, 2):
        free = exploration.is_free(i, base) and exploration.is_free(j, base) and not exploration.overlap(i, j)
        if low.date != high.date or low.yearly != high.yearly or not free or (low.yearly and not asks_either):
            continue
        if low.number > high.number:
            i, low, j, high = j, high, i, low
        bounds = (
            replace(low, mention=i, unit=low.unit or high.unit),
            replace(high, mention=j, unit=high.unit or low.unit),
        )
        for step, kind in exploration.attributes(base):
            if low.date != (kind == DATE):
                continue
            label = exploration.vocabulary.measured(relation_of(step))
            converted = [in_unit_of(label, value) for value in bounds]
            lower, upper = sorted(converted, key=lambda value: value.number)
            coverage = np.maximum(exploration.coverage_with(base, step, i), exploration.covered(j))
            mentions, steps = base.mentions | {i, j}, (*base.steps, step)
            for at, part in enumerate(_parts_of_bounds(base.part, step, lower, upper, asks_either)):
                cost = base.cost + STEP_COST + 0.02 * at
                yield Base(part, base.members, base.end, mentions, steps, coverage, cost, False)


def _parts_of_bounds(source: Part, step: Step, low: Value, high: Value, asks_either: bool) -> Iterator[Part]:
    """Members whose values lie between two; where the words say *or*, are one of them or lie outside."""

    def by(sign: Sign, value: Value, inner: Part = source) -> Part:
        return Compared(inner, (step,), sign, value)

    if not asks_either:
        yield by("<=", high, by(">=", low))
        return
    yield Either(by("=", low), by("=", high))
    if not low.yearly:
        yield Either(by("<", low), by(">", high))


def filters_by_value(exploration: Exploration, base: Base, mention: int, value: Value) -> Iterator[Base]:
    """A set filtered by one value of the question that it does not use yet."""
    if not exploration.is_free(mention, base):
        return
    span = exploration.mentions[mention]
    signs: tuple[Sign, ...] = signs_of(exploration.question, span.start, span.stop)
    if value.yearly:
        signs = ("=", "!=") if "!=" in signs else ("=",)
    value = replace(value, mention=mention)
    for step, kind in exploration.attributes(base):
        if value.date == (kind == DATE):
            converted = in_unit_of(exploration.vocabulary.measured(relation_of(step)), value)
            parts: list[Part] = [Compared(base.part, (step,), sign, converted) for sign in signs]
            yield from _sets_by_parts(exploration, base, mention, step, parts)
    if value.date or value.width or value.number != int(value.number) or value.number > MOST_COUNTED:
        return
    for step in exploration.repeated_steps_at(base.members)[:5]:
        counts = [Counted(base.part, step, sign, int(value.number), mention) for sign in signs]
        yield from _sets_by_parts(exploration, base, mention, step, counts, 0.2)


def _sets_by_parts(
    exploration: Exploration,
    base: Base,
    mention: int,
    step: Step,
    parts: Sequence[Part],
    extra_cost: float = 0.0,
) -> Iterator[Base]:
    """Filtered sets whose members are not known yet, likelier signs first."""
    coverage, cost = exploration.coverage_with(base, step, mention), base.cost + STEP_COST + extra_cost
    mentions, steps = base.mentions | {mention}, (*base.steps, step)
    for at, part in enumerate(parts):
        yield Base(part, base.members, base.end, mentions, steps, coverage, cost + 0.02 * at, False)


def sets_compared_with_entity(exploration: Exploration, things: Sequence[Base]) -> list[Base]:
    """Sets filtered by the value that an entity of the question has (*higher than LT-5*)."""
    if not english.THAN.search(exploration.question):
        return []
    signs: tuple[Sign, ...] = (
        (">=", "<=", ">", "<") if english.OR_EQUAL.search(exploration.question) else (">", "<")
    )
    entities = [(i, c) for i, m in enumerate(exploration.mentions) for c in m.candidates[:2]]
    bases: list[Base] = []
    free = [base for base in things if not base.mentions]
    for base in [*free[:10], *(b for b in things[:10] if b.mentions)]:
        for i, candidate in entities:
            if not exploration.is_free(i, base):
                continue
            for step, theirs in _comparable_steps(exploration, base, candidate.node):
                coverage = np.maximum(exploration.coverage_with(base, step, i), exploration.steps_say[theirs])
                cost = base.cost + STEP_COST + 1 - candidate.score + 0.1 * (step != theirs)
                entity_value = Walk(Anchor(candidate.node, i), theirs)
                mentions, steps = base.mentions | {i}, (*base.steps, step)
                parts = [Compared(base.part, (step,), sign, entity_value) for sign in signs]
                bases += [
                    Base(p, base.members, base.end, mentions, steps, coverage, cost, False) for p in parts
                ]
    return bases


def _comparable_steps(exploration: Exploration, base: Base, node: int) -> Iterator[tuple[int, int]]:
    """Attributes of a set with what an entity has to compare: the same, or what words name beside it."""
    of_node = dict(exploration.attributes_of(np.array([node], np.int64)))
    for step, kind in exploration.attributes(base)[:5]:
        if step in of_node:
            yield step, step
        open_words = exploration.steps_say[step] < UNEXPLAINED
        for other_step, other_kind in of_node.items():
            is_named = bool((open_words & (exploration.steps_say[other_step] >= UNEXPLAINED)).any())
            if other_step != step and other_kind == kind and is_named:
                yield step, other_step


# extremes and sums


def _extremes(exploration: Exploration, things: Sequence[Base]) -> list[_Extreme]:
    """The members with the largest or smallest value or number of edges, those that words name best first."""
    ranked = _number_asked_for(exploration)
    extremes: list[_Extreme] = []
    for base in things:
        if base.complete and len(base.members) < 2:
            continue
        most = [ranked[1]] if ranked is not None and exploration.is_free(ranked[0], base) else []
        by_value = [(step, False, 0.35) for step, _ in exploration.attributes(base)]
        by_count = [(step, True, 0.2) for step in exploration.repeated_steps_at(base.members)[:5]]
        ways = [*by_value, *by_count]
        gains = exploration.gains_of(base, [step for step, _, _ in ways]).tolist()
        for place, ((step, counted, sure), gain) in enumerate(zip(ways, gains, strict=True)):
            worth = base.worth + gain + sure
            for largest, number in product((True, False), (*most, 1)):
                rank_worth = (
                    float(exploration.covered(ranked[0]).sum()) if ranked is not None and number > 1 else 0.0
                )
                part = Extreme(base.part, (step,), counted, largest, number)
                extremes.append((worth + rank_worth, place, part, base, step))
    extremes.sort(key=lambda m: (-m[0], m[1]))
    return extremes


def _ways_from_extremes(exploration: Exploration, extremes: Sequence[_Extreme]) -> Iterator[_Ways]:
    """What the largest and smallest lead to."""
    for at, (_, _, part, base, step) in enumerate(_first_of_each(extremes, MOST_LEFT)[:MOST_EXTREMES]):
        coverage, cost = np.maximum(base.coverage, exploration.steps_say[step]), base.cost + STEP_COST
        chosen = Base(part, base.members, base.end, base.mentions, base.steps, coverage, cost, False)
        yield from _ways_onward(exploration, chosen, MOST_ONWARD if at < MOST_FAR else 0)


def _first_of_each(extremes: Sequence[_Extreme], most: int) -> list[_Extreme]:
    """The first extremes of each set, by values and by counts, in their order."""
    counts = Counter[tuple[Part, bool]]()
    chosen: list[_Extreme] = []
    for extreme in extremes:
        part, source = extreme[2], extreme[3].part
        key = source, isinstance(part, Extreme) and part.counted
        counts[key] += 1
        if counts[key] <= most:
            chosen.append(extreme)
    return chosen


def _number_asked_for(exploration: Exploration) -> tuple[int, int] | None:
    """The first mention that may say how many are asked for by their rank, and how many."""
    for i, mention in enumerate(exploration.mentions):
        for value in mention.values:
            if not value.date and 1 < value.number <= MOST_CHOSEN:
                return i, int(value.number)
    return None


def _entity_pairs(exploration: Exploration) -> Iterator[Base]:
    """Two entities of the question, to be compared."""
    candidates = [(i, m.candidates[0]) for i, m in enumerate(exploration.mentions) if m.candidates]
    for (i, first), (j, second) in combinations(candidates, 2):
        if first.node != second.node and not exploration.overlap(i, j):
            part = Either(Anchor(first.node, i), Anchor(second.node, j))
            members = np.array(sorted({first.node, second.node}), np.int64)
            coverage, cost = (
                np.maximum(exploration.covered(i), exploration.covered(j)),
                2 - first.score - second.score,
            )
            yield Base(part, members, -1, frozenset({i, j}), (), coverage, cost)


def _aggregates(exploration: Exploration, things: Sequence[Base]) -> Iterator[Proposal]:
    """The average, the sum, the largest or the smallest of the numbers that a set has."""
    asks: list[Ask] = []
    if english.AVERAGE.search(exploration.question):
        asks.append("average")
    if english.SUM.search(exploration.question):
        asks.append("sum")
    if english.EXTREME.search(exploration.question):
        asks.extend(("largest", "smallest"))
    for base in things:
        steps = [step for step, kind in exploration.attributes(base) if kind != DATE]
        for step, gain in zip(steps, exploration.gains_of(base, steps).tolist(), strict=True):
            worth = base.worth + gain + 0.3
            is_sum = not exploration.vocabulary.is_of_time(opposite(step))
            if isinstance(base.part, Either):  # *how many points is Ann ahead of Bob* adds up nothing
                is_sum = is_sum and english.SUM_OF_TWO.search(exploration.question) is not None
            for ask in asks:
                if ask == "sum" and not is_sum:
                    continue
                yield Proposal("aggregate", Query(ask, Walk(base.part, step)), worth)

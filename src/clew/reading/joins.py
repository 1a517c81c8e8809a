"""Sets of other sets: what two or three mentions share, all of a type, and sets less what others have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product

import numpy as np

from clew.graph.steps import End, Step, backward, head_end, opposite, relation_of, tail_end
from clew.query.execute import NO_NODES, Nodes, difference, intersection, union
from clew.query.tree import Anchor, Both, Counted, Either, OfType, Part, Walk, Without, parts_of
from clew.query.vocabulary import LEAF, THING
from clew.reading import english
from clew.reading.denial import denies
from clew.reading.paths import (
    LARGE,
    LONGEST_PATH,
    STEP_COST,
    WIDEST,
    Base,
    CandidatePaths,
    Exploration,
    Float32,
    by_worth,
    sample,
)

MOST_SHORT, MOST_JOINED, MOST_JOINS = 12, 26, 900
"""Paths of one step, and of any length, of an entity that are joined with others; joins that are tried."""
MOST_DISJUNCTIONS = 8
"""Sets of what either of two mentions has that are joined with a third, and from which a step goes on."""
MOST_TYPES, MOST_FLAGS, MOST_TYPED = 40, 6, 60
NAMED_TYPE = 0.2
"""In a large graph only types and relations that a question names so well are taken as all of them: each
takes a pass over the graph."""
LARGEST_END = 200_000
"""Nodes at the end of a relation beyond which all of them are not meant."""
FOREMOST = {
    "type": 12, "one": 12, "two": 6, "three": 2, "path": 2, "pair": 6, "join": 6, "either": 6, "walked": 6,
    "less": 4, "much less": 4,
}  # fmt: skip
"""Sets of each family around which operations are put."""


def family_of(part: Part) -> str:
    """Which quota a set counts for."""
    if isinstance(part, Walk):
        source, steps = part.source, 1
        while isinstance(source, Walk):
            source, steps = source.source, steps + 1
        if isinstance(source, Anchor):
            return ("one", "two", "three")[min(steps, 3) - 1]
        inner = family_of(source)
        return "walked" if inner == "type" else inner
    match part:
        case Both(Walk(Anchor(_, _), _), Walk(Anchor(_, _), _)):
            return "pair"
        case Either(_, _) | Both(Either(_, _), _) | Both(_, Either(_, _)):
            return "either"
        case Both(_, _):
            return "join"
        case Without(_, _) | Counted(_, _, "=", 0, _):
            return "less" if _is_plain(part) else "much less"
        case OfType(_, _):
            return "type"
        case _:
            return "path"


def _is_plain(part: Part) -> bool:
    """Whether a set is all of a type or what one step leads to, or one of them less another."""
    match part:
        case Without(left, right) | Both(left, right):
            return _is_plain(left) and _is_plain(right)
        case Walk(source, _) | Counted(source, _, _, _, _):
            return isinstance(source, Anchor | OfType) or (isinstance(part, Counted) and _is_plain(source))
        case _:
            return isinstance(part, Anchor | OfType)


def foremost(bases: Sequence[Base], times: int = 1) -> list[Base]:
    """The sets of each family that the words name best."""
    quotas = {family: times * most for family, most in FOREMOST.items()}
    chosen: list[Base] = []
    for base in by_worth(bases):
        family = family_of(base.part)
        if quotas.get(family, 0) > 0:
            quotas[family] -= 1
            chosen.append(base)
    return chosen


def each_once(bases: Sequence[Base]) -> list[Base]:
    """The sets, less those that are all of a declared type said in another way."""
    type_members = {b.members.tobytes() for b in bases if _is_all(b.part) and b.complete}
    return [
        b
        for b in bases
        if _is_all(b.part) or b.mentions or not b.complete or b.members.tobytes() not in type_members
    ]


def _is_all(part: Part) -> bool:
    """Whether a set is all of a declared type."""
    return isinstance(part, OfType) and part.type >= 0


def joined_sets(exploration: Exploration, paths: CandidatePaths) -> Iterator[Base]:
    """Sets that two or three mentions share, and what one step leads to from there."""
    pairs = _pairs(exploration, paths)
    simple = [b for b in pairs if family_of(b.part) == "pair"]
    yield from dict.fromkeys([*simple[:60], *pairs[:120]])
    alternatives: list[Base] = []
    if english.EITHER.search(exploration.question):
        alternatives = by_worth(list(_alternatives(exploration, paths)))
        yield from alternatives
    short = [b for b in alternatives if len(b.steps) == 2]
    disjunctions = list(dict.fromkeys([*short[:4], *alternatives]))[:MOST_DISJUNCTIONS]
    for pair in [*pairs[:14], *disjunctions]:
        yield from exploration.grown(pair)
        for (k, _), group in paths.items():
            if exploration.is_free(k, pair):
                threes = (_joined(exploration, pair, third) for third in group[1:12])
                yield from (three for three in threes if three is not None)
    yield from _sets_said_twice(exploration, paths)


def absent_sets(exploration: Exploration, paths: CandidatePaths) -> Iterator[Base]:
    """What the graph could record of an entity and does not: by steps that others like it have."""
    for (mention, node), (start, *_) in paths.items():
        if exploration.mentions[mention].values:
            continue
        for step in exploration.absent_steps(node):
            coverage = np.maximum(start.coverage, exploration.steps_say[step])
            part, cost = Walk(start.part, step), start.cost + STEP_COST
            yield Base(part, NO_NODES, opposite(step), start.mentions, (step,), coverage, cost)


def flagged_sets(exploration: Exploration) -> Iterator[Base]:
    """What has a property that is recorded as yes or no, for the properties that the question names best."""
    flags = exploration.vocabulary.flags
    ranked = sorted((-float(exploration.relations_say[r].sum()), r) for r in flags)
    negated = english.NEGATION.search(exploration.question) is not None
    for worth, relation in ranked[:MOST_FLAGS]:
        for node in flags[relation][: 1 + negated]:
            if node >= 0 and worth < 0:
                part = Walk(Anchor(node), backward(relation))
                members, coverage = exploration.members_of(part), exploration.relations_say[relation]
                complete = len(members) <= WIDEST
                yield Base(
                    part, sample(members), head_end(relation), frozenset(), (), coverage, STEP_COST, complete
                )


def with_flags(exploration: Exploration, flags: Sequence[Base], bases: Sequence[Base]) -> Iterator[Base]:
    """Sets that have such a property, or two of them."""
    joined = list(_flagged(exploration, flags, [*foremost(bases, 2), *flags]))
    yield from joined
    named = [base for base in by_worth(joined) if base.mentions]
    yield from _flagged(exploration, flags, foremost(named, 2))


def _flagged(exploration: Exploration, flags: Sequence[Base], bases: Sequence[Base]) -> Iterator[Base]:
    for flag, base in product(flags, bases):
        if isinstance(base.part, Walk | Both) and flag.part not in parts_of(base.part):
            joined = _joined(exploration, base, flag)
            if joined is not None:
                yield joined


def _pairs(exploration: Exploration, paths: CandidatePaths) -> list[Base]:
    """What paths of two mentions share, where they share anything, the best named first."""
    tried = [
        (left, right)
        for group, other_group in _separate_groups(exploration, paths)
        for left, right in product(_best_of(group), _best_of(other_group))
        if len(left.steps) + len(right.steps) <= LONGEST_PATH + 1 and may_meet(exploration, left, right)
    ]
    tried.sort(key=lambda pair: -pair[0].worth - pair[1].worth)
    asks_yes = english.YES_NO.search(exploration.question) is not None
    pairs = (_joined(exploration, left, right, empty=asks_yes) for left, right in tried[:MOST_JOINS])
    return by_worth([base for base in pairs if base is not None])


def _best_of(group: Sequence[Base]) -> list[Base]:
    """The paths of one entity that are joined with others: the best of one step, then the best of all."""
    short = [b for b in group if len(b.steps) == 1][:MOST_SHORT]
    return list(dict.fromkeys([*short, *group[1:]]))[:MOST_JOINED]


def may_meet(exploration: Exploration, left: Base, right: Base) -> bool:
    """Whether two sets may share a member, as far as the types of their ends tell."""
    if isinstance(left.part, Anchor) or isinstance(right.part, Anchor):
        return True
    return exploration.vocabulary.may_meet(left.end, right.end)


def _separate_groups(
    exploration: Exploration, paths: CandidatePaths
) -> Iterator[tuple[list[Base], list[Base]]]:
    """The paths of every two candidates, of two entities, whose mentions do not overlap."""
    for ((i, first), group), ((j, second), other_group) in combinations(paths.items(), 2):
        if i != j and first != second and not exploration.overlap(i, j):
            yield group, other_group


def _joined(exploration: Exploration, left: Base, right: Base, *, empty: bool = False) -> Base | None:
    if not may_meet(exploration, left, right):
        return None
    members = intersection(left.members, right.members)
    if not len(members) and not empty:
        return None
    complete = left.complete and right.complete
    return _combine(Both(left.part, right.part), members, left, right, complete)


def _combine(part: Part, members: Nodes, left: Base, right: Base, complete: bool = True) -> Base:
    """A set made of two others: it says the words of both."""
    coverage, cost = np.maximum(left.coverage, right.coverage), left.cost + right.cost
    steps, mentions = (*left.steps, *right.steps), left.mentions | right.mentions
    return Base(part, members, left.end, mentions, steps, coverage, cost, complete)


def _sets_said_twice(exploration: Exploration, paths: CandidatePaths) -> Iterator[Base]:
    """What two relations of one entity share, or lead to one with the other."""
    asks_both, asks_either = (
        english.BOTH.search(exploration.question),
        english.EITHER.search(exploration.question),
    )
    if not asks_both and not asks_either:
        return
    for group in paths.values():
        ones = [b for b in group if len(b.steps) == 1][:6]
        for left, right in combinations(ones, 2):
            joint = _joined(exploration, left, right) if asks_both else None
            if joint is not None:
                yield replace(joint, cost=joint.cost + 0.1)
            if asks_either and may_meet(exploration, left, right):
                members = union(left.members, right.members)
                yield _combine(Either(left.part, right.part), members, left, right)


def _alternatives(exploration: Exploration, paths: CandidatePaths) -> Iterator[Base]:
    """What the same steps lead to from one of two mentions, or from the other."""
    for group, other_group in _separate_groups(exploration, paths):
        alike = {base.steps: base for base in other_group[1:]}
        for left in _best_of(group):
            right = alike.get(left.steps)
            if right is not None:
                members = union(left.members, right.members)
                yield _combine(Either(left.part, right.part), members, left, right)


def whole_types(exploration: Exploration) -> Iterator[Base]:
    """All of a type, the best named ones; all nodes at one end of a relation, where these may be meant."""
    count = len(exploration.vocabulary.types)
    worth = exploration.types_say.sum(1)
    order = np.argsort(-worth, kind="stable")[:MOST_TYPES].tolist()
    large = len(exploration.vocabulary.graph.labels) > LARGE
    for type_ in order if count else ():
        if large and float(worth[type_]) < NAMED_TYPE:
            break
        base = _all_of_type(exploration, OfType(type_), -1 - type_, exploration.types_say[type_])
        if len(base.members):
            yield base
    yield from _end_sets(exploration, bool(count))


def _all_of_type(
    exploration: Exploration, part: OfType, end: End, coverage: Float32, cost: float = 0.1
) -> Base:
    members = exploration.members_of(part)
    return Base(part, sample(members), end, frozenset(), (), coverage, cost, len(members) <= WIDEST)


def _end_sets(exploration: Exploration, typed: bool) -> Iterator[Base]:
    """The nodes at one end of the relations that the question names best."""
    large = len(exploration.vocabulary.graph.labels) > LARGE
    if (typed or large) and not _may_mean_all(exploration, large):
        return
    kinds = exploration.vocabulary.ends
    worth = exploration.relations_say.sum(1)
    relations = np.argsort(-worth, kind="stable")[: 6 if typed else 10].tolist()
    if large:
        relations = [r for r in relations if float(worth[r]) >= NAMED_TYPE]
    for end in (e for r in relations for e in (head_end(r), tail_end(r))):
        cost = 0.2 + 0.2 * (typed and kinds[end] == THING)
        if kinds[end] in (THING, LEAF) and exploration.schema.nodes[end] <= LARGEST_END:
            said = exploration.relations_say[relation_of(end)]
            yield _all_of_type(exploration, OfType(-1, end), end, said, cost)


def _may_mean_all(exploration: Exploration, large: bool) -> bool:
    """Whether words, in a large graph outside of names, ask for what is chosen or counted of many."""
    text = exploration.question
    names = [m for m in exploration.mentions if m.strong and m.candidates] if large else []
    if large and not names:
        return True
    for name in names:
        text = text[: name.start] + " " * (name.stop - name.start) + text[name.stop :]
    asks = (english.EXTREME, english.COUNT, english.AGGREGATE, english.NEGATION)
    valued = any(m.values and not any(map(m.overlaps, names)) for m in exploration.mentions)
    return valued or any(p.search(text) for p in asks)


def typed_sets(exploration: Exploration, bases: Sequence[Base]) -> Iterator[Base]:
    """What is of a type that the question says, of sets of things that may be of several."""
    types = np.flatnonzero(exploration.types_say.max(1, initial=0.0) > NAMED_TYPE).tolist()
    if not types:
        return
    mixed = [base for base in by_worth(bases) if not isinstance(base.part, OfType | Anchor)]
    for type_ in types:
        for base in [base for base in mixed if _is_partly(exploration, base.end, type_)][:MOST_TYPED]:
            members = intersection(base.members, exploration.members_of(OfType(type_)))
            if len(members):
                part = Both(base.part, OfType(type_))
                coverage = np.maximum(base.coverage, exploration.types_say[type_])
                cost = base.cost + 0.1
                yield Base(
                    part, members, -1 - type_, base.mentions, base.steps, coverage, cost, base.complete
                )


def _is_partly(exploration: Exploration, end: End, type_: int) -> bool:
    """Whether some of what stands at an end may be of a type, and some not."""
    vocabulary = exploration.vocabulary
    return end < 0 or (bool(vocabulary.schema.typed[end, type_]) and not vocabulary.all_of_type(end, type_))


def sets_without(exploration: Exploration, paths: CandidatePaths, bases: Sequence[Base]) -> Iterator[Base]:
    """Sets less what is in another, or less those that have a relation, where a word says so."""
    if not english.NEGATION.search(exploration.question):
        return
    yield from _one_less_another(exploration, paths)
    yield from _without_entity(exploration, paths, bases)
    is_denied = denies(exploration.question, exploration.mentions)
    complete_sets = foremost([b for b in bases if b.complete and not isinstance(b.part, Anchor)], 3)
    for left in complete_sets:
        for step in _missing_steps(exploration, left):
            part = Counted(left.part, step, "=", 0)
            coverage, cost = np.maximum(left.coverage, exploration.steps_say[step]), left.cost + STEP_COST
            yield Base(part, NO_NODES, left.end, left.mentions, left.steps, coverage, cost, False)
        for right in complete_sets:
            are_separate = not left.mentions & right.mentions or _are_steps_of_one(left, right)
            if not _may_be_left_out(right) or not are_separate or not may_meet(exploration, left, right):
                continue
            left_over = difference(left.members, right.members)
            # Of two names, what is denied of the one may be so of nothing that the other has.
            some = len(left.members) + bool(is_denied and left.mentions and right.mentions - left.mentions)
            if 0 < len(left_over) < some:
                yield _combine(Without(left.part, right.part), left_over, left, right)


def _without_entity(exploration: Exploration, paths: CandidatePaths, bases: Sequence[Base]) -> Iterator[Base]:
    """Sets less one entity of the question that is in them."""
    for left in foremost([b for b in bases if b.complete and not isinstance(b.part, Anchor)], 3):
        for (i, node), group in paths.items():
            if exploration.is_free(i, left) and node in left.members and len(left.members) > 1:
                members = left.members[left.members != node]
                yield _combine(Without(left.part, group[0].part), members, left, group[0])


def _are_steps_of_one(left: Base, right: Base) -> bool:
    """Whether two sets are what one step each leads to from one entity (*members except its founder*)."""
    one_each = len(left.steps) == len(right.steps) == 1
    return one_each and left.mentions == right.mentions and left.steps != right.steps


def _may_be_left_out(base: Base) -> bool:
    """Whether a set is of something that the question names, or what all of a type lead to."""
    return bool(base.mentions) or family_of(base.part) == "walked"


def _one_less_another(exploration: Exploration, paths: CandidatePaths) -> Iterator[Base]:
    """What steps lead to from one of two mentions and not from the other."""
    for pair in _separate_groups(exploration, paths):
        for group, other_group in (pair, pair[::-1]):
            alike = {base.steps: base for base in other_group[1:]}
            for left in _best_of(group):
                right = alike.get(left.steps)
                if right is None or not left.complete:
                    continue
                left_over = difference(left.members, right.members)
                if 0 < len(left_over) < len(left.members):
                    yield _combine(Without(left.part, right.part), left_over, left, right)


def _missing_steps(exploration: Exploration, base: Base) -> list[Step]:
    """Steps that some of a set, or others of their type, have and some have not, the best named first."""
    if len(base.members) < 2 and not base.mentions:
        return []
    back = exploration.vocabulary.back_over(base.steps[-1]) if base.steps else -1
    steps = set(exploration.steps_at(base.members))
    type_ = exploration.vocabulary.end_types[base.end] if base.end >= 0 else -1
    if type_ >= 0 and base.mentions:
        steps.update(exploration.steps_at(exploration.members_of(OfType(type_))))
    steps = sorted(steps - {back})
    return [steps[i] for i in np.argsort(-exploration.gains_of(base, steps), kind="stable")[:5]]

"""Sets of other sets: what two or three mentions share, all of a type, and sets less what others have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product

import numpy as np

from clew.reading import english
from clew.reading.execute import NONE
from clew.reading.paths import LONGEST, WIDEST, Base, Exploration, Paths, by_worth, sample
from clew.reading.query import Both, Counted, Either, Entity, OfType, Part, Walk, Without
from clew.reading.vocabulary import THING

MOST_JOINED, MOST_JOINS = 12, 1200
"""Paths of an entity that are joined with others, and joins that are tried."""
MOST_TYPES = 40
LARGE, NAMED_TYPE = 200_000, 0.4
"""From so many nodes only types that a question names so well are looked at: each takes a pass over all."""
LARGEST_END = 200_000
"""Nodes at the end of a relation beyond which all of them are not meant."""
FOREMOST = {"type": 12, "one": 12, "two": 6, "three": 2, "path": 2, "join": 8, "walked": 6, "less": 4}
"""Sets of each family around which operations are put."""


def family_of(part: Part) -> str:
    """Which quota a set counts for."""
    match part:
        case Both(_, _) | Either(_, _):
            return "join"
        case Without(_, _) | Counted(_, _, "=", 0, _):
            return "less"
        case OfType(_, _):
            return "type"
        case Walk(Entity(_, _), _):
            return "one"
        case Walk(Walk(Entity(_, _), _), _):
            return "two"
        case Walk(Walk(Walk(Entity(_, _), _), _), _):
            return "three"
        case Walk(source, _):
            inner = family_of(source)
            return "walked" if inner == "type" else inner
        case _:
            return "path"


def foremost(bases: Sequence[Base], times: int = 1) -> list[Base]:
    """The sets of each family that the words name best."""
    left = {family: times * most for family, most in FOREMOST.items()}
    kept: list[Base] = []
    for base in by_worth(bases):
        family = family_of(base.part)
        if left.get(family, 0) > 0:
            left[family] -= 1
            kept.append(base)
    return kept


def joined_sets(of: Exploration, paths: Paths) -> Iterator[Base]:
    """Sets that two or three mentions share, and what one step leads to from there."""
    pairs = _pairs(of, paths)
    yield from pairs[:120]
    for pair in pairs[:10]:
        yield from of.grown(pair)
        for (k, _), more in paths.items():
            if of.is_free(k, pair):
                threes = (_joined(pair, third) for third in more[1:8])
                yield from (three for three in threes if three is not None)
    if english.EITHER.search(of.question):
        yield from _alternatives(of, paths)


def _pairs(of: Exploration, paths: Paths) -> list[Base]:
    """What paths of two mentions share, where they share anything, the best named first."""
    tried = 0
    pairs: list[Base] = []
    for one, other in _apart(of, paths):
        for left, right in product(one[1 : MOST_JOINED + 1], other[1 : MOST_JOINED + 1]):
            if len(left.steps) + len(right.steps) > LONGEST + 1 or tried > MOST_JOINS:
                continue
            tried += 1
            both = _joined(left, right)
            if both is not None:
                pairs.append(both)
    return by_worth(pairs)


def _apart(of: Exploration, paths: Paths) -> Iterator[tuple[list[Base], list[Base]]]:
    """The paths of every two candidates whose mentions do not overlap."""
    for ((i, _), one), ((j, _), other) in combinations(paths.items(), 2):
        if i != j and not of.overlap(i, j):
            yield one, other


def _joined(left: Base, right: Base) -> Base | None:
    members = np.intersect1d(left.members, right.members, assume_unique=True)
    if not len(members):
        return None
    worth = left.worth + right.worth + 1.35
    steps = (*left.steps, *right.steps)
    whole = left.whole and right.whole
    part = Both(left.part, right.part)
    return Base(part, members, left.end, left.mentions | right.mentions, steps, worth, whole)


def _alternatives(of: Exploration, paths: Paths) -> Iterator[Base]:
    """What the same steps lead to from one of two mentions, or from the other."""
    for one, other in _apart(of, paths):
        alike = {base.steps: base for base in other[1:]}
        for left in one[1 : MOST_JOINED + 1]:
            right = alike.get(left.steps)
            if right is not None:
                members = np.union1d(left.members, right.members)
                part = Either(left.part, right.part)
                worth = (left.worth + right.worth) / 2 + 0.9
                yield Base(part, members, left.end, left.mentions | right.mentions, left.steps, worth)


def whole_types(of: Exploration) -> Iterator[Base]:
    """All of a type, the best named ones; all nodes at one end of a relation, where these may be meant."""
    count = len(of.vocabulary.types)
    order = np.argsort(-of.type_worth, kind="stable")[:MOST_TYPES].tolist()
    large = len(of.vocabulary.graph.labels) > LARGE
    for type_ in order if count else ():
        if large and float(of.type_worth[type_]) < NAMED_TYPE:
            break
        base = _all(of, OfType(type_), -1 - type_, float(of.type_worth[type_]) - 0.6)
        if len(base.members):
            yield base
    yield from _ends(of, bool(count))


def _all(of: Exploration, part: OfType, end: int, worth: float) -> Base:
    members = of.executor.members(part)
    return Base(part, sample(members), end, frozenset(), (), worth, len(members) <= WIDEST)


def _ends(of: Exploration, typed: bool) -> Iterator[Base]:
    """The nodes at one end of the relations that the question names best."""
    wants = english.EXTREME.search(of.question) or english.COUNT.search(of.question)
    valued = any(m.values for m in of.mentions)
    if not (wants or valued or english.AGGREGATE.search(of.question)):
        return
    kinds = of.vocabulary.ends
    relations = np.argsort(-of.step_worth, kind="stable")[:10].tolist()
    for end in (2 * r + side for r in relations for side in (0, 1)):
        if typed and (end & 1 or kinds[end ^ 1] == THING):
            continue
        if kinds[end] == THING and of.schema.nodes[end] <= LARGEST_END:
            yield _all(of, OfType(-1, end), end, of.worth_of(end) - 0.7)


def typed_sets(of: Exploration, bases: Sequence[Base]) -> Iterator[Base]:
    """Sets of things of several types, less those that are not of a type that the question says."""
    said = [t for t, worth in enumerate(of.type_worth.tolist()) if worth > 0.5]
    if not said:
        return
    for base in by_worth(bases)[:40]:
        if isinstance(base.part, OfType | Entity):
            continue
        for type_ in said:
            kept = np.intersect1d(base.members, of.executor.members(OfType(type_)), assume_unique=True)
            if 0 < len(kept) < len(base.members):
                part = Both(base.part, OfType(type_))
                worth = base.worth + 0.3 * float(of.type_worth[type_])
                yield Base(part, kept, -1 - type_, base.mentions, base.steps, worth, base.whole)


def sets_without(of: Exploration, bases: Sequence[Base]) -> Iterator[Base]:
    """Sets less what is in another, or less those that have a relation, where a word says so."""
    if not english.NEGATION.search(of.question):
        return
    whole = foremost([b for b in bases if b.whole and not isinstance(b.part, Entity)], 2)
    for left in whole:
        for step in _missing(of, left):
            part = Counted(left.part, step, "=", 0)
            worth = left.worth + of.gain_of(left, step) + 0.1
            yield Base(part, NONE, left.end, left.mentions, left.steps, worth, False)
        for right in whole:
            if left is right or not right.mentions or left.mentions & right.mentions:
                continue
            less = np.setdiff1d(left.members, right.members, assume_unique=True)
            if 0 < len(less) < len(left.members):
                worth = left.worth + right.worth + 0.6
                steps = (*left.steps, *right.steps)
                mentions = left.mentions | right.mentions
                yield Base(Without(left.part, right.part), less, left.end, mentions, steps, worth)


def _missing(of: Exploration, base: Base) -> list[int]:
    """Steps that some of a set have and some have not, the best named first."""
    if len(base.members) < 2:
        return []
    steps = [s for s in of.steps_at(base.members) if of.step_worth[s // 2] > 0]
    return sorted(steps, key=lambda s: -of.worth_of(s))[:4]

"""The query graph: what a question means, as a small tree of typed parts over one graph.

A *set* part stands for nodes: one entity, all of a type, what a step leads to, what two sets share, and
so on. A `Query` asks something of a set: its members, how many there are, whether there are any, or a sum,
an average, the largest or the smallest of its values; of two sets, the share of one in the other, their
difference, or whether every member of one is in the other; any of it by group. Or it asks what its members
are called beside what they are shown as, or whether they are called so. Steps and ends are those of
`graph.steps`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from operator import attrgetter
from typing import Any, Literal

from clew.graph.steps import End, Step, opposite

Sign = Literal["=", "!=", ">", ">=", "<", "<="]
Ask = Literal[
    "list", "count", "yes", "sum", "average", "largest", "smallest", "share", "difference", "every",
    "names", "called",
]  # fmt: skip
Statistic = Literal["sum", "average", "largest", "smallest"]


@dataclass(frozen=True, slots=True)
class Anchor:
    """One node; `mention` is the place of its mention in the question's list, -1 if it has none."""

    node: int
    mention: int = -1


@dataclass(frozen=True, slots=True)
class OfType:
    """All nodes of a declared type; with `type` -1, all at the end `end` (heads or tails of a relation)."""

    type: int
    end: End = -1


@dataclass(frozen=True, slots=True)
class Walk:
    """What one step leads to from a set; see `execute.onward` for the way back."""

    source: Part
    step: Step


@dataclass(frozen=True, slots=True)
class Both:
    """What is in both sets."""

    left: Part
    right: Part


@dataclass(frozen=True, slots=True)
class Either:
    """What is in one of two sets, or in both."""

    left: Part
    right: Part


@dataclass(frozen=True, slots=True)
class Without:
    """What is in the first set and not in the second."""

    left: Part
    right: Part


@dataclass(frozen=True, slots=True)
class Value:
    """A number, or a date in days since 0001-01-01, and all that is at most `width` above it (1980s: 9).

    A date from 0 to 1 is a time of day, one below 0 is before Christ. One of every year is `yearly`: 100
    times its month, and its day. A number is in the `unit` behind it, until it is compared with something.
    """

    number: float
    date: bool = False
    width: float = 0.0
    mention: int = -1
    yearly: bool = False
    unit: str = ""

    @property
    def is_time(self) -> bool:
        """Whether it is a time of day."""
        return self.date and not self.yearly and 0 <= self.number < 1


@dataclass(frozen=True, slots=True)
class OnEdge:
    """A condition on a property of an edge; with `or_none` an edge without it fulfils it too (no end)."""

    key: str
    sign: Sign
    value: Value | str
    or_none: bool = False


@dataclass(frozen=True, slots=True)
class Qualified:
    """What one step leads to from a set, over edges whose properties fulfil all conditions."""

    source: Part
    step: Step
    conditions: tuple[OnEdge, ...]


@dataclass(frozen=True, slots=True)
class Related:
    """Members of a set that one step leads from to members of `targets` *only*, or to *all* of them."""

    source: Part
    step: Step
    how: Literal["only", "all"]
    targets: Part


@dataclass(frozen=True, slots=True)
class Amount:
    """One number of the values of a set: their average, sum, largest or smallest.

    With *own* each member is compared with what it leads to itself by `way`: *delivered after its due*.
    """

    ask: Statistic | Literal["own"]
    part: Part

    @property
    def way(self) -> tuple[Step, ...]:
        """The steps to the members of the set, from where the first one begins."""
        part, steps = self.part, list[Step]()
        while isinstance(part, Walk):
            steps.append(part.step)
            part = part.source
        return (*([opposite(part.end)] if isinstance(part, OfType) and part.type < 0 else ()), *steps[::-1])


@dataclass(frozen=True, slots=True)
class Compared:
    """Members of a set whose value, `steps` away, stands so to a value, a set's values, or an amount."""

    source: Part
    steps: tuple[Step, ...]
    sign: Sign
    value: Value | Part | Amount


@dataclass(frozen=True, slots=True)
class Counted:
    """Members of a set with so many nodes one step away; `>= 1`: those that have one, `= 0`: none.

    Of the nodes only those `among` a set count, if there is one: directors of more than three *thrillers*.
    """

    source: Part
    step: Step
    sign: Sign
    number: int
    mention: int = -1
    among: Part | None = None


@dataclass(frozen=True, slots=True)
class Extreme:
    """The `number` members with the largest or smallest value or count of nodes, `steps` away; ties count.

    With `nth` only those of the `number`-th value: the second largest. A number of 0 is all, in order.
    `among` is as for `Counted`. With a `key`, and no steps, by that property of the edges that lead to them.
    `summed`: by the sum of all values of each, *the film whose screenings sold the most tickets*.
    """

    source: Part
    steps: tuple[Step, ...]
    counted: bool
    largest: bool
    number: int = 1
    nth: bool = False
    among: Part | None = None
    key: str = ""
    summed: bool = False


Part = Anchor | OfType | Walk | Qualified | Both | Either | Without | Related | Compared | Counted | Extreme


@dataclass(frozen=True, slots=True)
class Contents:
    """What stands in a part, outer ones first; `mentions` ascend, each once, `types` are declared ones."""

    parts: tuple[Part, ...]
    entities: tuple[Anchor, ...]
    mentions: tuple[int, ...]
    steps: tuple[Step, ...]
    types: tuple[int, ...]


PERIODS = ("year", "month", "day")
"""What dates may be grouped by."""


@dataclass(frozen=True)
class Query:
    """What is asked of a set.

    `other` is the second set of a share, a difference, or *every*. `by` are steps from a member (for a sum
    or an average: from what has the value) to its group, or to dates, of which those of the same `period`
    ("year", "month" or "day") are a group. With a `key` that property of the edges which lead
    to the set is asked for, not its members; of *names* and *called* it is the tag of a language, or empty.
    `name` is the text that *called* asks about; with *names* the one that is known already, empty for what a
    thing is shown as. `said` are spans of the text that was read which operators put
    there; they are no part of what it means.
    """

    ask: Ask
    part: Part
    other: Part | None = None
    by: tuple[Step, ...] = ()
    period: str = ""
    key: str = ""
    name: str = ""
    said: tuple[tuple[int, int], ...] = field(default=(), compare=False)

    @cached_property
    def contents(self) -> Contents:
        """What stands in its parts; kept, since much asks for it of each candidate of a question."""
        both = self.part if self.other is None else Either(self.part, self.other)
        contents = contents_of(both)
        return replace(
            contents, parts=contents.parts[self.other is not None :], steps=(*contents.steps, *self.by)
        )


def contents_of(part: Part) -> Contents:
    """What stands in a part."""
    parts = parts_of(part)
    entities: list[Anchor] = []
    mentions: set[int] = set()
    steps: list[Step] = []
    types: list[int] = []
    for inner in parts:
        match inner:
            case Anchor(_, mention):
                entities.append(inner)
                mentions.add(mention)
            case OfType(type_, _) if type_ >= 0:
                types.append(type_)
            case Walk(_, step) | Qualified(_, step, _) | Related(_, step, _, _):
                steps.append(step)
                if isinstance(inner, Qualified):
                    mentions.update(c.value.mention for c in inner.conditions if isinstance(c.value, Value))
            case Counted(_, step, _, _, mention):
                steps.append(step)
                mentions.add(mention)
            case Compared(_, value_steps, _, value):
                steps += value_steps
                if isinstance(value, Value):
                    mentions.add(value.mention)
            case Extreme(_, value_steps):
                steps += value_steps
            case _:
                pass
    used = tuple(sorted(mentions - {-1}))
    return Contents(tuple(parts), tuple(entities), used, tuple(steps), tuple(types))


_INSIDE: dict[type[Any], tuple[str, ...]] = {
    **dict.fromkeys((Anchor, OfType), ()), **dict.fromkeys((Walk, Qualified), ("source",)),
    **dict.fromkeys((Both, Either, Without), ("left", "right")),
    Related: ("source", "targets"), Compared: ("source", "value"), Amount: ("part",),
    **dict.fromkeys((Counted, Extreme), ("source", "among")),
}  # fmt: skip
"""The fields of a part that hold other parts."""


def parts_of(part: Part) -> list[Part]:
    """The part and all parts inside it, outer ones first."""
    parts: list[Part] = []
    stack: list[Part | Amount] = [part]
    while stack:
        inner = stack.pop()
        if not isinstance(inner, Amount):
            parts.append(inner)
        for name in _INSIDE[type(inner)][::-1]:
            if type(value := getattr(inner, name)) in _INSIDE:
                stack.append(value)
    return parts


def with_entity(part: Part, node: int, replacement: int) -> Part:
    """The part with one entity in the place of another."""

    def changed(inner: Part) -> Part:
        return replace(inner, node=replacement) if isinstance(inner, Anchor) and inner.node == node else inner

    return mapped(part, changed)


def mapped(part: Part, change: Callable[[Part], Part]) -> Part:
    """The part with each part inside it, and then itself, changed."""

    def changed(inner: Any) -> Any:  # noqa: ANN401
        inside = {name: getattr(inner, name) for name in _INSIDE.get(type(inner), ())}
        result = replace(inner, **{name: changed(p) for name, p in inside.items()}) if inside else inner
        return change(result) if isinstance(result, Part) else result

    return changed(part)


def mentions_of(query: Query) -> tuple[int, ...]:
    """The mentions that a query uses, ascending, each once."""
    return query.contents.mentions


def entities_of(query: Query) -> tuple[int, ...]:
    """The entities that a query names, in order, each once."""
    return tuple(dict.fromkeys(anchor.node for anchor in query.contents.entities))


def steps_of(query: Query) -> tuple[Step, ...]:
    """All steps of a query, outer ones first."""
    return query.contents.steps


def key_of(query: Query) -> tuple[object, ...]:
    """Equal for queries that mean the same, whatever their mentions and the order of what is joined."""
    other = () if query.other is None else (_key(query.other),)
    texts = (query.key, query.name) if query.name else (query.key,) if query.key else ()
    return (query.ask, _key(query.part), *other, *query.by, query.period, *texts)


def last_walks(part: Part) -> tuple[Walk | Qualified, ...]:
    """The steps whose edges lead to the members of a set."""
    match part:
        case Walk() | Qualified():
            return (part,)
        case OfType(type_, end) if type_ < 0:
            return (Walk(OfType(-1, opposite(end)), opposite(end)),)
        case Both(left, right) | Either(left, right):
            return (*last_walks(left), *last_walks(right))
        case Compared(source) | Counted(source) | Extreme(source) | Related(source) | Without(source):
            return last_walks(source)
        case _:
            return ()


_ALIKE = ("mention", "width", "unit")
"""Fields in which two parts may differ and still mean the same."""
_TOLD_APART_BY = {
    kind: attrgetter("__class__", *(f.name for f in fields(kind) if f.name not in _ALIKE))
    for kind in (*_INSIDE, Value, OnEdge)
}


def _key(part: object) -> object:
    """A key that is equal for parts that mean the same; joined parts are put in one order."""
    if isinstance(part, tuple):  # steps, or conditions
        of_conditions = bool(part) and isinstance(part[0], OnEdge)
        return tuple(sorted(map(_key, part), key=repr)) if of_conditions else part
    told_apart = _TOLD_APART_BY.get(type(part))
    if told_apart is None:
        return part
    kind, *inside = told_apart(part)
    keys = map(_key, inside)
    return kind, *(sorted(keys, key=repr) if kind in (Both, Either) else keys)

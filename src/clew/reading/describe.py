"""Candidates as the ranker sees them: a row of tokens for what a candidate says, and a row of features.

Nothing in either is a word of one graph: tokens point to encoded labels and to places in the question,
features are shares, counts and likenesses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from clew.reading.candidates import Option
from clew.reading.mentions import PARTIAL, TYPO, Candidate, Mention
from clew.reading.query import (
    Both,
    Compared,
    Counted,
    Either,
    Entity,
    Extreme,
    OfType,
    Part,
    Query,
    Value,
    Walk,
    Without,
    entities_of,
    mentions_of,
    parts_of,
    steps_of,
)
from clew.reading.vocabulary import DATE, LEAF, NUMBER, Likeness, Vocabulary, content_share

Float32 = NDArray[np.float32]
MOST_TOKENS = 26


class Kind(IntEnum):
    """What a token says; `ref` is a relation, a type, or a mention where one belongs to it."""

    PAD = 0
    NONE = 1
    ANCHOR = 2
    FORWARD = 3
    BACKWARD = 4
    TYPE = 5
    NUMBER = 6
    DATE = 7
    TEXT = 8
    AND = 9
    OR = 10
    MINUS = 11
    EQUAL = 12
    UNEQUAL = 13
    ABOVE = 14
    AT_LEAST = 15
    BELOW = 16
    AT_MOST = 17
    VALUE = 18
    COUNTED = 19
    HIGHEST = 20
    LOWEST = 21
    MOST = 22
    FEWEST = 23
    SEVERAL = 24
    COUNT = 25
    YES = 26
    SUM = 27
    AVERAGE = 28
    LARGEST = 29
    SMALLEST = 30
    ALL = 31
    ANOTHER = 32
    HAS_NONE = 33
    LIST = 34


_SIGN = {
    "=": Kind.EQUAL,
    "!=": Kind.UNEQUAL,
    ">": Kind.ABOVE,
    ">=": Kind.AT_LEAST,
    "<": Kind.BELOW,
    "<=": Kind.AT_MOST,
}
_ASK = {
    "list": Kind.LIST,
    "count": Kind.COUNT,
    "yes": Kind.YES,
    "sum": Kind.SUM,
    "average": Kind.AVERAGE,
    "largest": Kind.LARGEST,
    "smallest": Kind.SMALLEST,
}
_JOIN: dict[type[Part], Kind] = {Both: Kind.AND, Either: Kind.OR, Without: Kind.MINUS}
_TARGET = {NUMBER: Kind.NUMBER, DATE: Kind.DATE, LEAF: Kind.TEXT}
RELATION_KINDS = frozenset({Kind.FORWARD, Kind.BACKWARD})
MENTION_KINDS = frozenset({Kind.ANCHOR, Kind.VALUE, Kind.COUNTED})
Token = tuple[int, int]


def tokens_of(query: Query, vocabulary: Vocabulary) -> list[Token]:
    """A query as tokens in postfix order: sets, then what is done with them, at last what is asked."""
    made: list[Token] = []
    _say(query.part, vocabulary, made)
    made.append((_ASK[query.ask], -1))
    return made


def _say(part: Part, vocabulary: Vocabulary, made: list[Token]) -> None:
    match part:
        case Entity(node, mention):
            made.append((Kind.ANCHOR, mention))
            _say_type(_type_of(node, vocabulary), made)
        case OfType(type_, end):
            made.append((Kind.ALL, -1))
            if type_ >= 0:
                made.append((Kind.TYPE, type_))
            else:
                made.append((Kind.BACKWARD if end & 1 == 0 else Kind.FORWARD, end // 2))
        case Walk(source, step):
            _say(source, vocabulary, made)
            _say_step(step, vocabulary, made)
        case Both(left, right) | Either(left, right) | Without(left, right):
            _say(left, vocabulary, made)
            _say(right, vocabulary, made)
            made.append((_JOIN[type(part)], -1))
        case Compared() | Counted() | Extreme():
            _say(part.source, vocabulary, made)
            for step in (part.step,) if isinstance(part, Counted) else part.steps:
                _say_step(step, vocabulary, made)
            made += _said_of(part)


def _said_of(part: Compared | Counted | Extreme) -> list[Token]:
    """What is said of the values or counts of a set."""
    match part:
        case Compared(_, _, sign, value):
            if isinstance(value, Value):
                return [(_SIGN[sign], -1), (Kind.VALUE, value.mention)]
            named = [(Kind.ANCHOR, p.mention) for p in parts_of(value) if isinstance(p, Entity)]
            return [(_SIGN[sign], -1), (Kind.ANOTHER, -1), *named]
        case Counted(_, _, _, 0, _):
            return [(Kind.HAS_NONE, -1)]
        case Counted(_, _, sign, _, mention):
            return [(_SIGN[sign], -1), (Kind.COUNTED, mention)]
        case Extreme(_, _, counted, largest, number):
            kinds = (Kind.MOST, Kind.FEWEST) if counted else (Kind.HIGHEST, Kind.LOWEST)
            several = [(Kind.SEVERAL, -1)] if number > 1 else []
            return [(kinds[0] if largest else kinds[1], -1), *several]


def _say_step(step: int, vocabulary: Vocabulary, made: list[Token]) -> None:
    made.append((Kind.BACKWARD if step & 1 else Kind.FORWARD, step // 2))
    end = step ^ 1
    target = _TARGET.get(vocabulary.ends[end])
    if target is not None:
        made.append((target, -1))
    else:
        _say_type(vocabulary.end_types[end], made)


def _say_type(type_: int, made: list[Token]) -> None:
    if type_ >= 0:
        made.append((Kind.TYPE, type_))


def _type_of(node: int, vocabulary: Vocabulary) -> int:
    types = vocabulary.graph.types
    if node + 1 >= len(types.offsets) or types.offsets[node] == types.offsets[node + 1]:
        return -1
    return int(types.type[types.offsets[node]])


@dataclass(frozen=True, slots=True)
class View:
    """A question with the names masked that some candidates use; `places` are spans of mentions in it."""

    text: str
    places: dict[int, tuple[int, int]]


_MASKS = "XYZW"


def names_used(query: Query) -> tuple[int, ...]:
    """The mentions whose names a query uses, ascending; they are masked in its view."""
    return tuple(
        sorted({p.mention for p in parts_of(query.part) if isinstance(p, Entity) and p.mention >= 0})
    )


def view_of(question: str, mentions: Sequence[Mention], used: Sequence[int]) -> View:
    """Mask the names of the `used` mentions, as X, Y, Z in their order; numbers and dates stay."""
    text, last = "", 0
    places: dict[int, tuple[int, int]] = {}
    shifts: list[tuple[int, int]] = [(0, 0)]
    for number, i in enumerate(sorted(used, key=lambda i: mentions[i].start)):
        mention = mentions[i]
        if mention.start < last:
            continue
        text += question[last : mention.start]
        mask = _MASKS[min(number, len(_MASKS) - 1)]
        places[i] = (len(text), len(text) + 1)
        text += mask
        last = mention.stop
        shifts.append((last, len(text) - last))
    text += question[last:]
    for i, mention in enumerate(mentions):
        if i not in places and mention.values:
            shift = max(s for s in shifts if s[0] <= mention.start)[1]
            places[i] = (mention.start + shift, mention.stop + shift)
    return View(text, places)


UNEXPLAINED = 0.45
"""A word that no relation or type of a candidate is so like is not said by it."""
FEATURES = (
    "link_least", "link_mean", "anchors", "covered", "open_strong", "open_values", "steps", "step_least",
    "step_mean", "step_exact", "explained", "explained_exact", "unexplained", "empty", "unknown_size", "size",
    "turns_back", "rare", "partial", "typo", "final_type", "types_said", "hub", "named_by_words",
    "values_used", "rank_of_candidate",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Said:
    """What a candidate says of the words outside of its mentions.

    `near` and `exact` float32 [words]: how well each is said; `named` and `spelt`: how well each step is
    named; `final_type` how well the type of the answers is, `types` the sum over the types that it says.
    """

    near: Float32
    exact: Float32
    named: list[float]
    spelt: list[float]
    final_type: float
    types: float


@dataclass(eq=False)
class Describer:
    """Features of the candidates of one question."""

    vocabulary: Vocabulary
    question: str
    mentions: Sequence[Mention]
    likeness: Likeness

    def __post_init__(self) -> None:
        graph = self.vocabulary.graph
        self._degree = graph.out.stops - graph.out.starts + graph.into.stops - graph.into.starts
        self._by = [{c.node: (c, rank) for rank, c in enumerate(m.candidates)} for m in self.mentions]
        self._length = max(1, len(self.question))
        self._triples = self.vocabulary.schema.triples

    def features(self, option: Option) -> list[float]:
        """The features of one candidate, float [FEATURES]."""
        query = option.query
        used = mentions_of(query)
        spans = [(self.mentions[i].start, self.mentions[i].stop) for i in used]
        open_ = [m for i, m in enumerate(self.mentions) if i not in used and not self._inside(m, spans)]
        links = self._links(query)
        scores = [c.score for c, _ in links] or [1.0]
        outside = content_share(self.likeness, spans)
        said = self._said(query, outside)
        near, exact, count = said.near, said.exact, max(1, int(outside.sum()))
        steps = steps_of(query)
        return [
            min(scores),
            sum(scores) / len(scores),
            len(links) / 3,
            sum(b - a for a, b in spans) / self._length,
            sum(m.strong for m in open_) / 2,
            sum(bool(m.values) and not m.candidates for m in open_) / 2,
            len(steps) / 4,
            min(said.named),
            sum(said.named) / len(said.named),
            sum(said.spelt) / len(said.spelt),
            near.sum() / count,
            exact.sum() / count,
            float((near < UNEXPLAINED).sum()) / 4,
            float(option.size == 0),
            float(option.size < 0),
            math.log1p(max(option.size, 0)) / 8,
            sum(a ^ 1 == b for a, b in pairwise(steps)) / 2,
            min((math.log1p(int(self._triples[s // 2])) for s in steps), default=5.0) / 12,
            float(any(c.how == PARTIAL for c, _ in links)),
            float(any(c.how == TYPO for c, _ in links)),
            said.final_type,
            said.types / 2,
            max((math.log1p(int(self._degree[n])) for n in entities_of(query)), default=0.0) / 12,
            float(any(not self.mentions[i].strong for i in used if self.mentions[i].candidates)),
            sum(bool(self.mentions[i].values) for i in used) / 2,
            max((rank for _, rank in links), default=0) / 6,
        ]

    def _links(self, query: Query) -> list[tuple[Candidate, int]]:
        """How the entities of a candidate were found, and as which of their mentions' candidates."""
        return [
            self._by[p.mention][p.node]
            for p in parts_of(query.part)
            if isinstance(p, Entity) and p.mention >= 0 and p.node in self._by[p.mention]
        ]

    def _said(self, query: Query, outside: NDArray[np.bool_]) -> _Said:
        """Compare the relations and types of a candidate with the words outside of its mentions."""
        like, steps = self.likeness, steps_of(query)
        relations = [s // 2 for s in steps]
        types = [p.type for p in parts_of(query.part) if isinstance(p, OfType) and p.type >= 0]
        end_types = [t for s in steps if (t := self.vocabulary.end_types[s ^ 1]) >= 0]
        near, exact = self._explained(relations, types, end_types, outside)
        final = self._final_type(query.part)
        return _Said(
            near,
            exact,
            [float(like.relations[outside, r].max(initial=0.0)) for r in relations] or [0.5],
            [float(like.exact_relations[outside, r].max(initial=0.0)) for r in relations] or [0.0],
            float(like.types[outside, final].max(initial=0.0)) if final >= 0 else 0.0,
            sum(float(like.types[outside, t].max(initial=0.0)) for t in types),
        )

    def _inside(self, mention: Mention, spans: Sequence[tuple[int, int]]) -> bool:
        return any(a < mention.stop and mention.start < b for a, b in spans)

    def _explained(
        self,
        relations: Sequence[int],
        types: Sequence[int],
        end_types: Sequence[int],
        outside: NDArray[np.bool_],
    ) -> tuple[Float32, Float32]:
        """How well each content word outside of the mentions is said by a relation or a type."""
        like = self.likeness
        rows = int(outside.sum())
        near, exact = np.zeros(rows, np.float32), np.zeros(rows, np.float32)
        for table, spelling, chosen in (
            (like.relations, like.exact_relations, relations),
            (like.types, like.exact_types, [*types, *end_types]),
        ):
            if chosen:
                near = np.maximum(near, table[outside][:, chosen].max(1, initial=0.0))
                exact = np.maximum(exact, spelling[outside][:, chosen].max(1, initial=0.0))
        return near, exact

    def _final_type(self, part: Part) -> int:
        match part:
            case OfType(type_, _):
                return type_
            case Walk(_, step):
                return self.vocabulary.end_types[step ^ 1]
            case Both(left, OfType(type_, _)):
                return type_ if type_ >= 0 else self._final_type(left)
            case Both(left, _) | Either(left, _) | Without(left, _):
                return self._final_type(left)
            case Compared(source, _, _, _) | Counted(source, _, _, _, _) | Extreme(source, _, _, _, _):
                return self._final_type(source)
            case Entity(node, _):
                return _type_of(node, self.vocabulary)

"""Candidates as rows of tokens: what each says, pointing to encoded labels and to places in the question.

No token is a word of one graph. The question beside them has the names masked that a candidate uses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from clew.graph.steps import Step, is_backward, is_tail, relation_of
from clew.query.tree import (
    Amount,
    Anchor,
    Both,
    Compared,
    Counted,
    Either,
    Extreme,
    OfType,
    Part,
    Qualified,
    Query,
    Related,
    Value,
    Walk,
    Without,
    contents_of,
)
from clew.query.vocabulary import DATE, LEAF, NUMBER, Vocabulary
from clew.reading.mentions import Mention

MOST_TOKENS, MOST_VIEWS = 26, 10
"""Tokens of a candidate, ways of masking the names of a question; candidates beyond them are not ranked."""


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
    TRUE = 35
    FALSE = 36


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
    "share": Kind.COUNT,
    "difference": Kind.COUNT,
    "every": Kind.YES,
    "names": Kind.LIST,
    "called": Kind.YES,
}
_JOIN: dict[type[Part], Kind] = {Both: Kind.AND, Either: Kind.OR, Without: Kind.MINUS}
_TARGET = {NUMBER: Kind.NUMBER, DATE: Kind.DATE, LEAF: Kind.TEXT}
RELATION_KINDS = frozenset({Kind.FORWARD, Kind.BACKWARD})
MENTION_KINDS = frozenset({Kind.ANCHOR, Kind.VALUE, Kind.COUNTED})
QueryToken = tuple[int, int]


def tokens_of(query: Query, vocabulary: Vocabulary) -> list[QueryToken]:
    """A query as tokens in postfix order: sets, then what is done with them, at last what is asked."""
    tokens: list[QueryToken] = []
    _say(query.part, vocabulary, tokens)
    tokens.append((_ASK[query.ask], -1))
    return tokens


def _say(part: Part, vocabulary: Vocabulary, tokens: list[QueryToken]) -> None:
    match part:
        case Anchor(node, -1) if node in vocabulary.truths:
            tokens.append((Kind.TRUE if vocabulary.truths[node] else Kind.FALSE, -1))
        case Anchor(node, mention):
            tokens.append((Kind.ANCHOR, mention))
            _say_type(vocabulary.type_of(node), tokens)
        case OfType(type_, end):
            tokens.append((Kind.ALL, -1))
            if type_ >= 0:
                tokens.append((Kind.TYPE, type_))
            else:
                tokens.append((Kind.FORWARD if is_tail(end) else Kind.BACKWARD, relation_of(end)))
        case Walk(source, step) | Qualified(source, step, _):
            _say(source, vocabulary, tokens)
            _say_step(step, vocabulary, tokens)
        case Related(source, step, _, targets):
            _say(source, vocabulary, tokens)
            _say(targets, vocabulary, tokens)
            _say_step(step, vocabulary, tokens)
            tokens.append((Kind.AND, -1))
        case Both(left, right) | Either(left, right) | Without(left, right):
            _say(left, vocabulary, tokens)
            _say(right, vocabulary, tokens)
            tokens.append((_JOIN[type(part)], -1))
        case Compared() | Counted() | Extreme():
            _say(part.source, vocabulary, tokens)
            for step in (part.step,) if isinstance(part, Counted) else part.steps:
                _say_step(step, vocabulary, tokens)
            tokens += _condition_tokens(part)


def _condition_tokens(part: Compared | Counted | Extreme) -> list[QueryToken]:
    """The tokens of a condition on the values or counts of a set."""
    match part:
        case Compared(_, _, sign, value):
            if isinstance(value, Value):
                return [(_SIGN[sign], -1), (Kind.VALUE, value.mention)]
            compared = value.part if isinstance(value, Amount) else value
            entities = [(Kind.ANCHOR, entity.mention) for entity in contents_of(compared).entities]
            return [(_SIGN[sign], -1), (Kind.ANOTHER, -1), *entities]
        case Counted(_, _, _, 0, _):
            return [(Kind.HAS_NONE, -1)]
        case Counted(_, _, sign, _, mention):
            return [(_SIGN[sign], -1), (Kind.COUNTED, mention)]
        case Extreme(_, _, counted, largest, number, _):
            kinds = (Kind.MOST, Kind.FEWEST) if counted else (Kind.HIGHEST, Kind.LOWEST)
            several = [(Kind.SEVERAL, -1)] if number > 1 else []
            return [(kinds[0] if largest else kinds[1], -1), *several]


def _say_step(step: Step, vocabulary: Vocabulary, tokens: list[QueryToken]) -> None:
    tokens.append((Kind.BACKWARD if is_backward(step) else Kind.FORWARD, relation_of(step)))
    target = _TARGET.get(vocabulary.kinds_reached[step])
    if target is not None:
        tokens.append((target, -1))
    else:
        _say_type(vocabulary.types_reached[step], tokens)


def _say_type(type_: int, tokens: list[QueryToken]) -> None:
    if type_ >= 0:
        tokens.append((Kind.TYPE, type_))


@dataclass(frozen=True, slots=True)
class View:
    """A question with the names masked that some candidates use; `places` are spans of mentions in it.

    `shifts`: from which character of the question on its characters stand so much further in `text`.
    """

    text: str
    places: dict[int, tuple[int, int]]
    shifts: tuple[tuple[int, int], ...] = ((0, 0),)

    def at(self, character: int) -> int:
        """Where a character of the question outside of the masked names stands in the text."""
        return character + max(s for s in self.shifts if s[0] <= character)[1]


_MASKS = "XYZW"


def names_used(query: Query) -> tuple[int, ...]:
    """The mentions whose names a query uses, ascending; they are masked in its view."""
    return tuple(sorted({p.mention for p in query.contents.entities if p.mention >= 0}))


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
    return View(text, places, tuple(shifts))

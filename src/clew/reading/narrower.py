"""What tells against a candidate beside one that says the same and more: a condition that it leaves out.

*Apartments in Midtown West* are not all homes there, where *apartment* is a name that another candidate uses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from clew.foundation.arrays import Float32
from clew.graph.steps import End
from clew.query.tree import (
    Anchor,
    Both,
    Compared,
    Counted,
    Extreme,
    OfType,
    Part,
    Query,
    Value,
    Walk,
    Without,
    key_of,
    mentions_of,
)
from clew.query.vocabulary import UNEXPLAINED, Vocabulary
from clew.reading.candidates import Option
from clew.reading.english import LIGHT
from clew.reading.likeness import Likeness, said_by_labels, types_said
from clew.reading.mentions import PARTIAL, Mention

LEFT_OUT = 0.1
"""What is left of the odds of a candidate that leaves out what another one says beside all that it says."""
SAID = 0.7
"""From this likeness by spelling and word forms on a label says a word."""
MOST_LOG_ODDS = 4.0
"""How much likelier, as a logarithm, a candidate may be for another to tell against it."""
MOST_WIDE, MOST_NARROW = 6, 24
"""Candidates, the likeliest first, that others may narrow, and that may narrow others."""


@dataclass(frozen=True, eq=False)
class Narrower:
    """Compares the candidates of one question."""

    vocabulary: Vocabulary
    mentions: Sequence[Mention]
    likeness: Likeness

    def put_right(self, options: Sequence[Option], scores: Float32) -> None:
        """Give most of the odds of each candidate that leaves out something to the likeliest that says it.

        `scores` float32 [n] are changed.
        """
        order = np.argsort(-scores, kind="stable")
        narrow = [i for i in order[:MOST_NARROW].tolist() if options[i].size != 0]
        before = scores.copy()
        for i in order[:MOST_WIDE].tolist():
            near = (j for j in narrow if before[j] >= before[i] - MOST_LOG_ODDS)
            target = next((j for j in near if self._leaves_out(options[i].query, options[j].query)), -1)
            if target >= 0:
                scores[target] = np.logaddexp(scores[target], scores[i] + math.log(1 - LEFT_OUT))
                scores[i] += math.log(LEFT_OUT)

    def _leaves_out(self, query: Query, narrow: Query) -> bool:
        """Whether another query narrows one by words that the question has and the one does not say."""
        if query.ask != narrow.ask or query.ask == "yes" or not self._narrows(narrow.part, query.part):
            return False
        surely, said = self._said_by(query, exactly=True), self._said_by(narrow, exactly=True)
        if any(isinstance(p, OfType) and p.type < 0 for p in query.contents.parts) and surely - said:
            return False  # what has an award is more than all, where words say *award*
        extra_words = said - surely
        return bool(
            (extra_words & self._named_by(narrow)) or (extra_words - self._said_by(query, exactly=False))
        )

    def _named_by(self, query: Query) -> set[int]:
        """The content words that are surely of names of a query: *robbery*, however like *crime* it is."""
        spans = [(m.start, m.stop) for i in mentions_of(query) if _is_said(m := self.mentions[i], True)]
        words = enumerate(self.likeness.words)
        return {place for place, (a, b, _) in words if any(start < b and a < stop for start, stop in spans)}

    def _narrows(self, narrow: Part, wide: Part) -> bool:
        """Whether a set is another one with more conditions, or leads from such a set by the same steps."""
        match narrow, wide:
            case Walk(inner, step), Walk(outer, wide_step) if step == wide_step and self._narrows(
                inner, outer
            ):
                return True
            case Without(inner, denied), Without(outer, wide_denied) if denied == wide_denied:
                return self._narrows(inner, outer)
            case _, OfType(type_, end) if type_ < 0 and self._is_plainly_of(narrow, end):
                return True
            case Extreme() | Counted(), Extreme() | Counted() if replace(narrow, source=wide.source) == wide:
                return self._narrows(narrow.source, wide.source)
            case _, OfType(type_, _) if type_ >= 0 and not isinstance(narrow, OfType):
                return self._is_of(narrow, type_) and all(_conditions(narrow).values())
            case _:
                narrow_conditions, wide_conditions = _conditions(narrow), _conditions(wide)
                return narrow_conditions.keys() > wide_conditions.keys() and all(
                    narrow_conditions[key] for key in narrow_conditions.keys() - wide_conditions.keys()
                )

    def _is_plainly_of(self, part: Part, end: End) -> bool:
        """Whether a set that has plain conditions is of things of the type that stands at an end."""
        type_ = self.vocabulary.end_types[end]
        is_of = type_ >= 0 and not isinstance(part, OfType) and self._is_of(part, type_)
        return is_of and all(_conditions(part).values())

    def _is_of(self, part: Part, type_: int) -> bool:
        """Whether a set that has conditions is of things of a type."""
        match part:
            case Walk(_, step):
                return self.vocabulary.types_reached[step] == type_
            case Both(left, _) | Compared(left, _, _, _) | Counted(left, _, _, _, _):
                return self._is_of(left, type_)
            case OfType(other_type, _):
                return other_type == type_
            case _:
                return False

    def _said_by(self, query: Query, *, exactly: bool) -> set[int]:
        """The content words that a query says by its names and its labels: surely, or at all."""
        spans = [(m.start, m.stop) for i in mentions_of(query) if _is_said(m := self.mentions[i], exactly)]
        types = types_said(self.vocabulary, query)
        if exactly:
            types = sorted({p.type for p in query.contents.parts if isinstance(p, OfType) and p.type >= 0})
        best = said_by_labels(self.likeness, query, types, exactly=exactly)
        places = set[int]()
        for place, (start, stop, word) in enumerate(self.likeness.words):
            is_in_name = any(a < stop and start < b for a, b in spans)
            is_said = best[place] >= (SAID if exactly else UNEXPLAINED) and not (exactly and word in LIGHT)
            if is_in_name or is_said:
                places.add(place)
        return places


def _is_said(mention: Mention, exactly: bool) -> bool:
    """Whether the words of a mention are surely those of a name, or a value."""
    return not exactly or bool(mention.values) or any(c.how < PARTIAL for c in mention.candidates)


def _conditions(part: Part) -> dict[object, bool]:
    """What holds of all members of a set, by keys, and whether it is plain: a value, or one step away."""
    match part:
        case Both(left, right):
            return _conditions(left) | _conditions(right)
        case Compared(source, steps, sign, value):
            return _conditions(source) | {(steps, sign, value): isinstance(value, Value)}
        case Counted(source, step, sign, number, _):
            return _conditions(source) | {(step, sign, number): True}
        case _:
            plain = isinstance(part, OfType) or (isinstance(part, Walk) and isinstance(part.source, Anchor))
            return {key_of(Query("list", part)): plain}

"""What is recorded as yes or no: the value says whether *there is a lift*, and which *articles are paid*."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from clew.foundation.arrays import Float32
from clew.graph.steps import backward, forward, head_end, is_backward, opposite, relation_of
from clew.query.execute import Executor, Nodes
from clew.query.tree import Anchor, Both, Counted, Extreme, OfType, Part, Query, Walk, Without, key_of, mapped
from clew.query.vocabulary import NUMBER, Vocabulary
from clew.reading import english
from clew.reading.asked_for import final_type
from clew.reading.candidates import Option
from clew.reading.mentions import Mention
from clew.reading.operator import Operator
from clew.reading.which_way import LEAST_SCORE
from clew.text.inflection import singular, singular_noun
from clew.text.normalise import Token, tokens

_ANY = re.compile(
    r"\W*(?:do|does|did|have|has|had)\s+(?:we|you|they|anyone|anybody)\s+(?:\w+\s+){0,2}any\b", re.I
)

_HOW_MUCH_OF_ALL = re.compile(
    rf"{english.HOW_MANY_OF.pattern}|\W*\bhow\s+much\b(?!\s+(?:more|less|is|are|does|do)\b)", re.I
)
MOST_OF_LABEL = 6
"""Words of a label that are looked for."""
_DETERMINER = r"(?:\s+(?:an?|any|the|their|its)(?:\s+own)?)?"
_WITH = re.compile(
    rf"(?:\s*,)?(?:\s+(?:and|but))?\s+(?:(?:with|having|(?:that|which|who)\s+(?:have|has))(?:\s+got)?(?P<no>\s+no)?"
    rf"|(?P<without>without)|(?:and|but)\s+(?:also\s+)?(?:have|has)(?P<none>\s+no)?){_DETERMINER}\s+$",
    re.I,
)
"""*With a bar*, *but without any bar*, *and have a bar*."""
_ANOTHER = re.compile(rf"(?:\s*,)?\s+and(?P<no>\s+no)?{_DETERMINER}\s+$", re.I)
_HAVE = re.compile(rf"\b(?:have|has)(?:\s+got)?(?P<no>\s+no)?{_DETERMINER}\s+$", re.I)
_ARE = re.compile(r"\b(?:is|are|was|were)\s+(?P<no>not\s+)?$", re.I)
_AND_VERB = re.compile(r"\s+(?:and|but)\s+(?=\w)", re.I)
_NOT = re.compile(r"\b(?:not|non)[\s-]+$", re.I)


def leads_to_flag(vocabulary: Vocabulary, query: Query) -> bool:
    """Whether what a query leads to says yes or no."""
    part = query.part
    if not isinstance(part, Walk) or is_backward(part.step):
        return False
    return relation_of(part.step) in vocabulary.flags


def as_asked(vocabulary: Vocabulary, question: str, query: Query) -> Query:
    """A query for the value itself, which says yes or no, as one whether it is so, where that is asked.

    So too one for things of which it is asked whether there are any: *did we buy any pumps*. How many there
    are of what several have numbers of are those of all: *how many tickets were sold on the tour*.
    """
    is_value = leads_to_flag(vocabulary, query) and english.YES_NO.search(question)
    if query.ask == "list" and (is_value or _ANY.match(question)):
        return replace(query, ask="yes")
    match query:
        case Query("list", Walk(source, step), key="") if not isinstance(source, Anchor):
            is_number = not is_backward(step) and vocabulary.kinds_reached[step] == NUMBER
            if is_number and _HOW_MUCH_OF_ALL.match(question):
                return replace(query, ask="sum")
        case _:
            pass
    return query


def that_decides(vocabulary: Vocabulary, query: Query, members: Nodes) -> tuple[bool, int]:
    """Whether it is so, and the member of a query that says it; there is one at least."""
    if not leads_to_flag(vocabulary, query):
        return True, int(members[0])
    true = [node for node in members.tolist() if vocabulary.truths.get(node)]
    return bool(true), true[0] if true else int(members[0])


def put_flags_right(
    vocabulary: Vocabulary, question: str, options: Sequence[Option], scores: Float32
) -> None:
    """Give the score of what lists *yes* and *no*, or has none of them, to what lists the things that are so.

    `scores` float32 [n + 1] are changed. Not where a question asks whether something is so.
    """
    if not vocabulary.flags or english.YES_NO.search(question):
        return
    places = {key_of(option.query): i for i, option in enumerate(options)}
    for i, option in enumerate(options):
        parts = _of_which_it_is_so(vocabulary, option.query)
        keys = (key_of(replace(option.query, part=part)) for part in parts)
        target = next((places[key] for key in keys if key in places), None)
        if target is not None:
            scores[target] = np.logaddexp(scores[target], scores[i])
            scores[i] = LEAST_SCORE


def _of_which_it_is_so(vocabulary: Vocabulary, query: Query) -> tuple[Part, ...]:
    """The things for whose values a query asks, where these say yes, or those without: where they say no."""
    match query.part:
        case Walk(source, step) if query.ask == "list" and leads_to_flag(vocabulary, query):
            is_so = True
        case Counted(source, step, "=", 0, _) if relation_of(step) in vocabulary.flags:
            is_so = False
        case _:
            return ()
    so = Walk(Anchor(vocabulary.flags[relation_of(step)][not is_so]), opposite(step))
    return (Both(source, so), so) if isinstance(source, OfType) else (Both(source, so),)


@dataclass(frozen=True, eq=False)
class FlagWords:
    """Conditions of a question that are recorded as yes or no: *clipped queens*, *have a bar and …*."""

    executor: Executor
    vocabulary: Vocabulary
    text: str
    mentions: Sequence[Mention]

    def found(self) -> Iterator[Operator]:
        """The conditions that stand beside others, in their order."""
        if not self.mentions and not english.EXTREME.search(self.text):
            return  # it is the only condition: *which queens are clipped*
        last, words = -1, tokens(self.text)
        for at in range(len(words)):
            for flag, count in self._said_at(words[at:]):
                start, stop = words[at].start, words[at + count - 1].stop
                behind = words[at + count] if at + count < len(words) else None
                span = self._span(start, stop, last, flag, behind)
                if span is not None:
                    first, last, is_so = span
                    apply = partial(self._of_flag, flag=flag, is_so=is_so)
                    label = self.vocabulary.relations[flag]
                    yield Operator(first, last, apply, certain=False, label=label)
                    break

    def _said_at(self, words: Sequence[Token]) -> Iterator[tuple[int, int]]:
        """The flags whose label some words begin with, and how many words it is."""
        if any(m.start <= words[0].start < m.stop for m in self.mentions if m.strong and m.candidates):
            return
        said = [singular(word.norm) for word in words[:MOST_OF_LABEL]]
        for flag in self.vocabulary.flags:
            label = [singular(word) for word in self.vocabulary.relations[flag].split()]
            if said[: len(label)] == label:
                yield flag, len(label)

    def _span(
        self, start: int, stop: int, last: int, flag: int, behind: Token | None
    ) -> tuple[int, int, bool] | None:
        """Which words say a condition, and whether it is affirmed; None where it is no further one."""
        text = self.text
        if (match := _WITH.search(text, 0, start)) and match.start():
            return match.start(), stop, not (match["no"] or match["without"] or match["none"])
        if (match := _ANOTHER.search(text, 0, start)) and match.start() == last:
            return last, stop, not match["no"]
        if match := _AND_VERB.match(text, stop):
            for before in (_HAVE, _ARE):
                if having := before.search(text, 0, start):
                    first = having.start() if before is _HAVE else having.start("no")
                    first = start if first < 0 else first
                    return first, match.end(), not having["no"]
        if behind is not None and text[stop : behind.start] == " " and self._is_of_type(behind, flag):
            denied = _NOT.search(text, 0, start)
            return denied.start() if denied else start, behind.start, not denied
        return None

    def _is_of_type(self, word: Token, flag: int) -> bool:
        """Whether a noun is the type of what a flag is recorded of."""
        type_ = self.vocabulary.end_types[head_end(flag)]
        return type_ >= 0 and singular_noun(self.vocabulary.types[type_]) == singular(word.norm)

    def _of_flag(self, query: Query, flag: int, is_so: bool) -> Query | None:
        """The query with the condition on the outermost set that it is recorded of."""
        if query.ask in ("yes", "every", "share", "difference"):
            return None
        sets = (p for p in query.contents.parts if not isinstance(p, Anchor | Extreme))
        old = next((part for part in sets if self._is_recorded(part, flag)), None)
        if old is None:
            return None
        node = self.vocabulary.flags[flag][not is_so]
        if node >= 0:
            new: Part = Both(old, Walk(Anchor(node), backward(flag)))
        else:
            new = Without(old, Walk(Anchor(self.vocabulary.flags[flag][is_so]), backward(flag)))
        return replace(query, part=mapped(query.part, lambda p: new if p == old else p))

    def _is_recorded(self, part: Part, flag: int) -> bool:
        type_ = self.vocabulary.end_types[head_end(flag)]
        if type_ >= 0:
            return final_type(part, self.vocabulary) == type_
        return forward(flag) in self.executor.steps(self.executor.members(part))

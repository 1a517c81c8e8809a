"""What is told of things of one type by its relations alone: two of them compared, or neither.

*A town other than the one they stand in*, *after their due date*, *neither conducted nor assisted*.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from clew.graph.steps import Step, opposite
from clew.query.execute import Executor
from clew.query.tree import Amount, Compared, Counted, OfType, Part, Query, Sign, Walk
from clew.query.vocabulary import DATE, NUMBER, Vocabulary
from clew.reading.likeness import Likeness
from clew.reading.operator import Operator
from clew.reading.spelt import content_of, says, steps_from, type_spelt
from clew.text.inflection import plural

_ASKED = r"\W*(?:(?P<many>how\s+many)|which|what|list|show(?:\s+me)?|name|find)\s+(?:(?:of|our|the|all)\s+)*"
_TOLD = r"(?P<other>(?!than\b|as\b)[^,;.?!()]{2,60}?)(?=\W*$|[,;.?!()]|\s+(?:and|but)\s)"
_ONE = r"(?:the\s+\w+\s+(?:(?:that|which|who|where)\s+)?|(?:that|where)\s+(?=\w)|(?:their|its)\s+(?:own\s+)?)"
_SOME = r"(?:some(?:body|one|thing|where)|(?:an?|some|any)\s+(?:\w+\s+)?\w+|\w+s)"
_COMPARED = (
    rf"\b{_SOME}\s+(?:other\s+than|(?:quite\s+)?different\s+(?:from|to|than))\s+{_ONE}(?=\w)",
    rf"\ba\s+different\s+\w+\s+(?:from|to|than)\s+{_ONE}(?=\w)",
    r"\bthe\s+(?P<same>same)\s+\w+\s+(?:that|who|which|as|where)\s+",
    r"\bby\s+one\s+\w+\s+(?:and|but)\s+(?=\w+(?:\s\w+)?\s+by\s+another\b)",
    r"\b(?:(?P<above>after|later\s+than|(?:more|higher|greater|larger|longer)\s+than|above|over)"
    r"|(?P<below>before|earlier\s+than|(?:less|fewer|lower|smaller|shorter)\s+than|below|under))"
    r"\s+(?:its|their)\s+(?:own\s+)?",
)
_SUBJECT = r"(?P<noun>[\w-]+)\s+(?P<first>[^,;.?!()]{3,60}?\s)"
_FORMS = [re.compile(f"{_ASKED}{_SUBJECT}{form}{_TOLD}", re.I) for form in _COMPARED]
_NEITHER = re.compile(
    rf"{_ASKED}(?P<noun>[\w-]+)\s+(?P<behind>(?:\w+\s+){{0,3}}?)(?:that|who|which)?\s*(?:(?:has|have|had|is|are|was|were|do|does|did)\s+)?"
    r"neither\s+(?P<first>[^,;.?!()]{3,40}?)\s+nor\s+(?P<other>[^,;.?!()]{3,60}?)(?=\W*$|[,;.?!()])",
    re.I,
)
_BY_ANOTHER = re.compile(r"\s+by\s+another(?:\s+\w+)?$", re.I)
_SIGNS: dict[str, Sign] = {"same": "=", "above": ">", "below": "<"}


@dataclass(frozen=True, eq=False)
class OwnThings:
    """What a question compares of each thing that it asks for with what else that thing has."""

    vocabulary: Vocabulary
    executor: Executor
    text: str
    likeness: Likeness

    def found(self) -> Iterator[Operator]:
        """*By another than*, *by the same as*, *after its*: read as all of a type, which are compared so."""
        for match in filter(None, (form.match(self.text) for form in _FORMS)):
            words = match.groupdict()
            sign = next((sign for name, sign in _SIGNS.items() if words.get(name)), "!=")
            told = _BY_ANOTHER.sub("", match["other"])
            at, behind = match.end("noun"), match["first"].split()[0]
            for stop in (at, match.start("first") + len(behind)):
                type_ = type_spelt(self.likeness, match.start("noun"), stop)
                first = match["first"] if stop == at else match["first"].removeprefix(behind)
                pair = self._pair(type_, first, told, sign) if type_ >= 0 else None
                if pair is not None:
                    rows = plural(self.vocabulary.types[type_])
                    asked = f"How many {rows}" if match["many"] else f"List all {rows}"
                    yield Operator(*match.span(), partial(self._compared, type_, *pair, sign), asked)
                    return

    def neither(self) -> Iterator[Operator]:
        """*Neither conducted nor assisted*: those of a type that have none of two relations."""
        match = _NEITHER.match(self.text)
        type_ = -1 if match is None else type_spelt(self.likeness, *match.span("noun"))
        if match is None or type_ < 0 or content_of(match["behind"]):
            return
        near = sorted(self.executor.steps(self.executor.members(OfType(type_))))
        told = (match["first"], match["other"])
        said = [[step for step in near if says(self.vocabulary, words, (step,))] for words in told]
        if all(len(steps) == 1 for steps in said) and said[0] != said[1]:
            (one,), (other,) = said
            rows = plural(self.vocabulary.types[type_])
            asked = f"How many {rows}" if match["many"] else f"List all {rows}"
            yield Operator(*match.span(), partial(self._of_neither, type_, one, other), asked)

    def _of_neither(self, type_: int, one: Step, other: Step, query: Query) -> Query | None:
        if query.part != OfType(type_):
            return None
        return replace(query, part=Counted(Counted(query.part, one, "=", 0), other, "=", 0))

    def _compared(
        self, type_: int, one: Step, way: tuple[Step, ...], sign: Sign, query: Query
    ) -> Query | None:
        """Those of all of a type of which one thing stands so to another."""
        if query.part != OfType(type_):
            return None
        own: Part = OfType(-1, opposite(way[0]))
        for further in way[1:]:
            own = Walk(own, further)
        return replace(query, part=Compared(query.part, (one,), sign, Amount("own", own)))

    def _pair(self, type_: int, first: str, told: str, sign: Sign) -> tuple[Step, tuple[Step, ...]] | None:
        """The one step that some words tell, and the one way to things like its own that others tell.

        Words that say nothing by themselves tell the one other step: *the one they stand in*.
        """
        members, reached = self.executor.members(OfType(type_)), self.vocabulary.types_reached
        near = sorted(self.executor.steps(members))
        ways = [(step,) for step in near]
        ways += [
            (s, t)
            for s in near
            if reached[s] >= 0
            for t in steps_from(self.vocabulary, int(reached[s]))
            if t != opposite(s)
        ]
        told_of, first_of = content_of(told), content_of(first)
        if not told_of and not first_of:
            return None
        pairs: list[tuple[int, Step, tuple[Step, ...]]] = []
        for step in near:
            firmly = says(self.vocabulary, first, (step,))
            for way in ways if firmly or not first_of else ():
                if way[0] == step or not self._alike(step, way[-1], of_value=sign in "<>"):
                    continue
                also = says(self.vocabulary, told, way)
                if also or (not told_of and len(way) == 1):
                    pairs.append((firmly + also, step, way))
        best = [pair[1:] for pair in pairs if pair[0] == max(pairs)[0]]
        return best[0] if len(best) == 1 else None

    def _alike(self, step: Step, other: Step, *, of_value: bool) -> bool:
        """Whether two steps lead to things of one type, or to values that have an order."""
        reached, kinds = self.vocabulary.types_reached, self.vocabulary.kinds_reached
        if of_value:
            return kinds[step] in (NUMBER, DATE) and kinds[step] == kinds[other]
        return reached[step] == reached[other] and kinds[step] == kinds[other]

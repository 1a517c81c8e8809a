"""What is told of things of one type by its relations alone: two of them compared, or neither.

*A town other than the one they stand in*, *after their due date*, *neither conducted nor assisted*.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from clew.graph.steps import Step, is_backward, opposite, relation_of
from clew.query.tree import Amount, Anchor, Both, Compared, Counted, Extreme, OfType, Part, Query, Sign, Walk
from clew.query.vocabulary import DATE, NUMBER
from clew.reading.operator import Operator
from clew.reading.spelt import Span, Spelling, Way
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
_MOST = re.compile(
    r"\W*(?:which|what)\s+(?P<noun>[\w-]+)\s+(?P<verb>(?:[\w-]+\s+){1,4}?)the\s+(?P<most>most|(?:highest|largest|biggest)\s+total"
    r"|least|fewest|(?:lowest|smallest)\s+total)\s+(?P<what>[\w-]+(?:\s[\w-]+){0,2}?)"
    r"(?:\s+(?:in\s+total|altogether|overall|in\s+all|all\s+told|so\s+far|all\s+together))?(?=\W*$)",
    re.I,
)
_BY_ANOTHER = re.compile(r"\s+by\s+another(?:\s+\w+)?$", re.I)


@dataclass(frozen=True, eq=False)
class OwnThings:
    """What a question compares of each thing that it asks for with what else that thing has."""

    spelling: Spelling
    text: str

    def found(self) -> Iterator[Operator]:
        """*By another than*, *by the same as*, *after its*: read as all of a type, which are compared so."""
        for match in filter(None, (form.match(self.text) for form in _FORMS)):
            words = match.groupdict()
            sign: Sign = ">" if words.get("above") else "<" if words.get("below") else "!="
            sign = "=" if words.get("same") else sign
            told, another = match.span("other"), _BY_ANOTHER.search(match["other"])
            told = (told[0], told[0] + another.start()) if another else told
            for stop in (match.end("noun"), match.start("first") + len(match["first"].split()[0])):
                type_ = self.spelling.type_at((match.start("noun"), stop))
                pair = self._pair(type_, (stop, match.end("first")), told, sign) if type_ >= 0 else None
                if pair is not None:
                    yield self._of_all(match, type_, partial(_compared, *pair, sign))
                    return

    def neither(self) -> Iterator[Operator]:
        """*Neither conducted nor assisted*: those of a type that have none of two relations."""
        match = _NEITHER.match(self.text)
        type_ = -1 if match is None else self.spelling.type_at(match.span("noun"))
        if match is None or type_ < 0 or self.spelling.content(match.span("behind")):
            return
        near = self.spelling.near(type_)
        one, other = (self.spelling.said(match.span(name), near) for name in ("first", "other"))
        if len(one) == len(other) == 1 and one != other:
            yield self._of_all(
                match, type_, lambda part: self._without(self._without(part, one[0]), other[0])
            )

    def _without(self, things: Part, way: Way) -> Part:
        """Those of things that have none, or of which it is recorded that they are not so."""
        no = self.spelling.vocabulary.flags.get(relation_of(way[0]), (-1, -1))[1]
        return Counted(things, way[0], "=", 0) if no < 0 else Both(things, Walk(Anchor(no), opposite(way[0])))

    def sums(self) -> Iterator[Operator]:
        """*Which film sold the most tickets*: ranked by the sum of what its rows have."""
        match, vocabulary = _MOST.match(self.text), self.spelling.vocabulary
        type_ = -1 if match is None else self.spelling.type_at(match.span("noun"))
        if match is None or type_ < 0 or self.spelling.type_at(match.span("what")) >= 0:
            return
        near, verb, what = self.spelling.near(type_), match.span("verb"), match.span("what")
        numbers = [
            w for w in (*near, *self.spelling.further(near)) if vocabulary.kinds_reached[w[-1]] == NUMBER
        ]
        ways = [w for w in numbers if self.spelling.says(what, w[-1:]) and self.spelling.says_all(verb, w)]
        if len(ways) == 1 and len(ways[0]) == 2 and is_backward(ways[0][0]):
            least = match["most"].lower().startswith(("least", "fewest", "lowest", "smallest"))
            ranked = partial(_by_sum, ways[0], largest=not least)
            yield self._of_all(match, type_, ranked)

    def _of_all(self, match: re.Match[str], type_: int, apply: Callable[[Part], Part]) -> Operator:
        """What is read as all of a type, or as how many there are, with something put around it."""
        rows = plural(self.spelling.vocabulary.types[type_])

        def around(query: Query) -> Query | None:
            return replace(query, part=apply(query.part)) if query.part == OfType(type_) else None

        many = match.groupdict().get("many")
        return Operator(*match.span(), around, f"{'How many' if many else 'List all'} {rows}")

    def _pair(self, type_: int, first: Span, told: Span, sign: Sign) -> tuple[Step, Way] | None:
        """The one step that some words tell, and the one way to things like its own that others tell.

        Words that say nothing by themselves tell the one other step: *the one they stand in*.
        """
        near = self.spelling.near(type_)
        ways, is_told, is_first = (
            [*near, *self.spelling.further(near)],
            *map(self.spelling.content, (told, first)),
        )
        pairs: list[tuple[int, Step, Way]] = []
        for (step,) in near if is_told or is_first else ():
            firmly = self.spelling.says(first, (step,))
            for way in ways if firmly or not is_first else ():
                if way[0] == step or not self._alike(step, way[-1], of_value=sign in "<>"):
                    continue
                also = self.spelling.says(told, way)
                if also or (not is_told and len(way) == 1):
                    pairs.append((firmly + also, step, way))
        best = [pair[1:] for pair in pairs if pair[0] == max(pairs)[0]]
        return best[0] if len(best) == 1 else None

    def _alike(self, step: Step, other: Step, *, of_value: bool) -> bool:
        """Whether two steps lead to things of one type, or to values that have an order."""
        vocabulary = self.spelling.vocabulary
        reached, kinds = vocabulary.types_reached, vocabulary.kinds_reached
        if of_value:
            return kinds[step] in (NUMBER, DATE) and kinds[step] == kinds[other]
        return reached[step] == reached[other] and kinds[step] == kinds[other]


def _compared(one: Step, way: Way, sign: Sign, things: Part) -> Part:
    """Those of things of which one thing stands so to another."""
    own: Part = OfType(-1, opposite(way[0]))
    for further in way[1:]:
        own = Walk(own, further)
    return Compared(things, (one,), sign, Amount("own", own))


def _by_sum(way: Way, things: Part, *, largest: bool) -> Part:
    """The one of things that has the largest or smallest sum of what a way leads to."""
    return Extreme(things, way, counted=False, largest=largest, summed=True)

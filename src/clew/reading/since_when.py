"""Questions from when, until when or how long something is so, where its edge says it by a property.

*Since when does Ann work at Acme?* asks of the triple that proves *Does Ann work at Acme?*: its property of a
name such as *since* or *start date*, or else the only one that is a date and is not called the other way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from clew.graph.values import ValueKind, parse_value
from clew.query.vocabulary import words_of_label
from clew.types import Abstention, Answer, AnswerEntity, Citation, TripleText

_ASKED_WHEN = re.compile(
    r"(?:(?P<begin>(?:since|from) (?:when|(?:what|which) (?:year|date|day))|how long(?= (?:has|have|had)\b)"
    r"|how long since)|(?:until|till|up to|to) (?:when|(?:what|which) (?:year|date|day)))"
    r"[ ,]+(?P<rest>(?:is|are|was|were|does|do|did|has|have|had) .+)",
    re.IGNORECASE | re.DOTALL,
)
_YEAR = re.compile(r"1\d{3}|20\d{2}")
_BEGIN = frozenset("since from start started starting begin began begun beginning starts begins".split())
_END = frozenset("until till to end ended ending ends finish finished stop stopped left".split())


@dataclass(frozen=True, slots=True)
class SinceWhen:
    """What such a question asks: whether something is so, and of that the begin or the end."""

    question: str
    whether: str
    begin: bool

    @classmethod
    def of(cls, question: str) -> SinceWhen | None:
        """Read a question; None if it asks for something else."""
        match = _ASKED_WHEN.fullmatch(question.strip())
        return None if match is None else cls(question, match["rest"], match["begin"] is not None)

    def answer(self, whether: Answer) -> Answer | None:
        """What the answer to `whether` says of when; None if it is not yes by one triple that has some."""
        if [answer.entity for answer in whether.answers] != ["yes"] or len(whether.citations) != 1:
            return None
        citation = whether.citations[0]
        if len(citation.triples) != 1 or not citation.triples[0].properties:
            return None
        triple = citation.triples[0]
        key, values = self._property_of(triple)
        statement = " ".join((triple.head, triple.relation, triple.tail))
        common = replace(whether, question=self.question, pattern=None, chain=None, alternatives=(), notes=())
        if not values:
            end = "since" if self.begin else "until"
            abstained = Abstention("empty_result", f"it is not recorded {end} when: {statement}")
            return replace(common, answers=(), text="", citations=(), reading=None, abstained=abstained)
        score = whether.answers[0].score
        return replace(
            common,
            answers=tuple(AnswerEntity(value, value, score) for value in values),
            text=", ".join(values),
            citations=tuple(Citation(value, citation.triples, citation.triple_ids) for value in values),
            reading=f"{key} of the edge: {statement}",
        )

    def _property_of(self, triple: TripleText) -> tuple[str, tuple[str, ...]]:
        """The property that is asked, and its values, each once."""
        asked_words, other_words = (_BEGIN, _END) if self.begin else (_END, _BEGIN)
        properties = [pair for statement in triple.properties for pair in statement]
        keys = list(dict.fromkeys(key for key, _ in properties))
        matching_keys = [key for key in keys if _words(key) & asked_words]
        if not matching_keys and self.begin:
            date_keys = [key for key in keys if _are_dates(value for k, value in properties if k == key)]
            matching_keys = (
                [key for key in date_keys if not _words(key) & other_words] if len(date_keys) == 1 else []
            )
        if not matching_keys:
            return "", ()
        return matching_keys[0], tuple(
            dict.fromkeys(value for key, value in properties if key == matching_keys[0])
        )


def _words(key: str) -> frozenset[str]:
    return frozenset(words_of_label(key).split())


def _are_dates(values: Iterable[str]) -> bool:
    """Whether all are dates, or numbers that may be years."""
    return all(parse_value(value)[0] == ValueKind.DATE or _YEAR.fullmatch(value) for value in values)

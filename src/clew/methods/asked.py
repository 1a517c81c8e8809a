"""What a question asks for, and whether an answer is that: a person, a number, a time, yes or no.

What a model replies is no answer because it names a fact: *Who directed Memento?* is not answered by 42, nor
by *yes*. Yes and no are answers where code comes to the same by a query graph of the question.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from clew.graph.graph import ValueKind
from clew.query.execute import Executor
from clew.reading.answer import answer_of, meanings_of
from clew.reading.answer_kind import AnswerKinds
from clew.reading.english import AGGREGATE, EITHER, YES_NO
from clew.reading.reader import QuestionReader
from clew.text.lexicon import Lexicon
from clew.text.verbalise import readable

Asked = Literal["yes or no", "a number", "a person", "a time", "a place", "a thing", ""]
"""What is asked for; empty where the words do not say, as in languages other than English."""

DECIDES = 0.5
"""Share of the readings of a question from which one decides it alone."""
AGREES = 0.1
"""The least share of one that decides it where it rests on facts that the model names too."""
MOST_LIKELY = 12
"""Readings whose relations are looked at."""
_WH = re.compile(r"\b(?:who|whom|whose|which|what|where|when|why|how)\b", re.I)
_HOW_MANY = re.compile(r"\bhow\s+(?:many|much)\b", re.I)
_NUMBER_OF = re.compile(r"\W*(?:\w+\W+){0,4}(?:number|count)\s+of\b", re.I)
_HOW_ADJECTIVE = re.compile(
    r"\bhow\s+(?!(?:do|does|did|is|are|was|were|can|could|come|to|would|should)\b)\w+", re.I
)
_NUMBER_NOUN = re.compile(
    r"\W*(?:is|are|was|were|s)?\W*(?:the|its|their)?\W*(?:total|sum|average|mean)\b", re.I
)
_TIME_NOUN = re.compile(r"\W*(?:year|date|day|month|time|century|decade)s?\b", re.I)
_DIGIT = re.compile(r"\d")


def asked_of(question: str) -> Asked:
    """What a question asks for by its words."""
    asking, truth = _WH.search(question), YES_NO.search(question)
    if _HOW_MANY.search(question) or _NUMBER_OF.match(question):
        return "a number"
    if truth is not None and truth.start() == 0 and asking is None:
        return "a thing" if EITHER.search(question) else "yes or no"
    if asking is None or (truth is not None and truth.start() < asking.start()):
        return ""
    word, rest = asking[0].lower(), question[asking.end() :]
    if word == "how":
        return "a number" if _HOW_ADJECTIVE.match(question, asking.start()) else ""
    if word in ("what", "which") and _NUMBER_NOUN.match(rest):
        return "a number"
    if word in ("what", "which") and _TIME_NOUN.match(rest):
        return "a time"
    by_word: dict[str, Asked] = {"who": "a person", "whom": "a person", "when": "a time", "where": "a place"}
    return by_word.get(word, "a thing" if word in ("what", "which") else "")


def misfit_of_value(question: str, value: str) -> str:
    """Why yes, no or a number that stands nowhere is not what is asked for; empty where it may be."""
    asked = asked_of(question)
    fitting = ("yes or no",) if value in ("yes", "no") else ("a number", "a time")
    return "" if asked in (*fitting, "a thing", "") else f"{asked} is asked for"


def misfit_of_label(asked: Asked, label: str, *, is_value: bool) -> str:
    """Why what is called so is not what is asked for; empty where it may be. A value is no thing."""
    has_digit = _DIGIT.search(label) is not None
    match asked:
        case "yes or no":
            is_fitting = label.casefold() in ("yes", "no", "true", "false")
        case "a number":
            is_fitting = is_value or has_digit
        case "a time":
            is_fitting = is_value or has_digit or _is_time(label)
        case "a person" | "a place":
            is_fitting = not is_value
        case _:
            is_fitting = True
    return "" if is_fitting else f"{asked} is asked for"


def says(other: str) -> str:
    """Why a value is not proved, where query graphs say another (`Judge.decides`), or nothing."""
    return f"the graph says {other}" if other else "no facts decide it"


def counts(question: str) -> bool:
    """Whether a question may be answered by a number that stands in no fact."""
    return asked_of(question) in ("a number", "") or adds_up(question)


def adds_up(question: str) -> bool:
    """Whether a question may ask for a sum or an average."""
    return AGGREGATE.search(question) is not None


@dataclass(frozen=True, slots=True)
class AskedSteps:
    """The relations that the likeliest readings of a question follow, likeliest first.

    And what the likeliest of all names: types and entities.
    """

    relations: tuple[int, ...] = ()
    types: tuple[int, ...] = ()
    entities: tuple[int, ...] = ()


@dataclass(eq=False)
class Judge:
    """Judges answers over one graph."""

    reader: QuestionReader

    @cached_property
    def _kinds(self) -> AnswerKinds:
        return AnswerKinds(self.reader.vocabulary)

    def misfit(self, asked: Asked, entity: int) -> str:
        """Why an entity is not what is asked for; empty where it may be."""
        graph = self.reader.graph
        (start, stop), types = graph.out.span(entity), graph.types.of(entity)
        is_value = start == stop and graph.values.kind[entity] != ValueKind.NONE
        is_nobody = asked == "a person" and bool(types) and all(map(self._kinds.is_nobody, types))
        return misfit_of_label(asked, readable(graph.labels[entity]), is_value=is_value or is_nobody)

    def steps(self, question: str) -> AskedSteps:
        """What the likeliest readings of a question follow."""
        likeliest = self.reader.read(question).ranking.ranked[:MOST_LIKELY]
        contents = [ranked.option.query.contents for ranked in likeliest]
        relations = dict.fromkeys(step // 2 for each in contents for step in each.steps)
        if not contents:
            return AskedSteps()
        entities = tuple(anchor.node for anchor in contents[0].entities)
        return AskedSteps(tuple(relations), contents[0].types, entities)

    def decides(self, question: str, value: str, named: frozenset[int]) -> tuple[int, ...] | str:
        """The triples by which a query graph of the question says a value (yes, no, a number).

        `named` are the triples of the facts that the model names for it. Where a likely one says another
        value, that; where none decides it, an empty text.
        """
        reader = self.reader
        graph, vocabulary = reader.graph, reader.vocabulary
        other = ""
        for meaning in meanings_of(Executor(graph), vocabulary, reader.read(question)):
            if meaning.query.ask == "list" or meaning.share < AGREES:
                continue
            draft = answer_of(graph, vocabulary, meaning.query)
            triples = tuple(dict.fromkeys(t for cited in draft.citations for t in cited.triple_ids))
            if draft.text == value and (meaning.share >= DECIDES or named & set(triples)):
                return triples
            other = other or (draft.text if meaning.share >= DECIDES else "")
        return other


def _is_time(label: str) -> bool:
    """Whether a name ends with a word for a time: *March*, *Renaissance*."""
    word = label.split()[-1].lower() if label.split() else ""
    return Lexicon.load().classes(word).get("time", 0.0) > 0.0

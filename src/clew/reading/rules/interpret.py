"""From the words of a question to its readings: mentions, what is measured, and how the words may be meant.

The `link` and `readings` steps of `methods.auto`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from clew.graph.schema import Schema
from clew.index.names.names import NamesIndex
from clew.reading.rules.comparison import Comparison, Span, compare, is_asked
from clew.reading.rules.doubt import content, credible, ending_as_asked
from clew.reading.rules.explain import Explanation, explain
from clew.reading.rules.link import Linker, given_mentions
from clew.reading.rules.measured import CLEARLY, asks_over_all
from clew.reading.rules.operators import Operator, find_operator
from clew.reading.rules.question import Question, Word, read_question, with_year
from clew.reading.rules.reading import Reading
from clew.reading.rules.readings import Reader
from clew.reading.rules.similarity import WordTable
from clew.reading.rules.spelling import mended
from clew.types import Mention, Step

PLURAL = 1.5
"""So much dearer may a reading be that takes a noun for the entity whose plural it is, not for a type."""
FIRM = 1.0
"""A reading below this cost is not doubted for an open word that may be a misspelt name."""


@dataclass(slots=True)
class Work:
    """What is known of a question while it is worked on."""

    question: Question
    comparison: Comparison
    mentions: list[Mention]
    operator: Operator
    timings: dict[str, float]
    steps: list[Step]
    given: Sequence[str] = ()
    """Names of entities that the question is about, if the user gave them."""
    score: float = 1.0
    """Confidence in the reading that is answered from."""
    only_pattern: bool = False
    """Whether only the pattern is wanted, and its matches are not read."""

    def explain(self, reading: Reading) -> Explanation:
        """What a reading explains, and what it leaves open."""
        return explain(self.comparison, reading, extra=self.operator.used)

    def time(self, stage: str, since: float) -> None:
        """Add the time since then to a stage."""
        self.timings[stage] = self.timings.get(stage, 0.0) + (perf_counter() - since) * 1000


@dataclass(frozen=True, eq=False)
class Interpreter:
    """Reads questions against one graph."""

    names: NamesIndex
    schema: Schema
    table: WordTable
    reader: Reader
    linker: Linker

    def link(self, text: str, entities: Sequence[str]) -> Work:
        """The question cut into words and compared with the graph; `entities` are names that it is about."""
        since = perf_counter()
        question = read_question(text)
        names = self.names
        linked = given_mentions(names, text, entities) if entities else self.linker.link(question)
        mentions = linked if entities else self._no_types(question, linked)
        question = self._outside(question, mentions).of_all()
        inside = {w.start for w in question.words for m in mentions if m.start <= w.start < m.stop}
        question = with_year(mended(question, self.reader.vocabulary, inside), inside)
        comparison = compare(question, self.table, self.reader.weights).with_values(
            self._values(question, mentions)
        )
        said = [part.starts for part in (question.limits, question.wanted) if part is not None]
        mentions = [m for m in mentions if not any(m.start in starts for starts in said)]
        operator = find_operator(question, comparison, self.table, self.schema)
        work = Work(question, comparison.without(operator.used), mentions, operator, {}, [], entities)
        work.time("link", since)
        return work

    def _values(self, question: Question, mentions: Sequence[Mention]) -> dict[int, list[int]]:
        """Where ordinary words start that are values, and the relations that they are values of."""
        return {
            m.start: [e // 2 for c in m.candidates[:1] for e in self.reader.ends_of(c.entity) if e % 2]
            for m in mentions
            if m.text.islower() and " " not in m.text
        }

    def _no_types(self, question: Question, mentions: Sequence[Mention]) -> list[Mention]:
        """Mentions without words in lower case that say a type (*moons*, where one is the Moon)."""
        named = self.reader.vocabulary.types_named
        types = {(w.start, w.stop) for w in question.words if w.text.islower() and named(w.norm)}
        return [m for m in mentions if (m.start, m.stop) not in types]

    def _outside(self, question: Question, mentions: Sequence[Mention]) -> Question:
        """The question without what only seems one: a superlative, a range or a number in a name.

        As in *The Last Starfighter* and *The 39 Steps*.
        """
        if question.superlative is not None:
            start = question.words[question.superlative[2]].start
            if any(m.start <= start < m.stop and self.reader.common(question, m) < 0.1 for m in mentions):
                question = replace(question, superlative=None)
        names = [m for m in mentions if " " in m.text and self.reader.common(question, m) < 0]
        if question.limits is not None and _touches(names, question.limits.starts):
            question = replace(question, limits=None)
        if question.wanted is not None and _touches(names, question.wanted.starts):
            question = replace(question, wanted=None)
        if question.counting is not None and _touches(names, question.counting.starts):
            question = replace(question, counting=None)
        return question

    def measure_what_it_has(self, work: Work, readings: list[Reading]) -> list[Reading]:
        """The readings with a measure that the things at their end have."""
        operator = work.operator
        if not readings or operator.kind not in ("extreme", "range"):
            return readings
        end = readings[0].last ^ 1
        if end == operator.end ^ 1 or self.schema.cooccur[end, operator.end] > 0:
            return readings
        comparison = compare(work.question, self.table, self.reader.weights)
        comparison = comparison.with_values(self._values(work.question, work.mentions))
        other = find_operator(work.question, comparison, self.table, self.schema, end)
        if other.kind != operator.kind:
            return readings
        work.operator, work.comparison = other, comparison.without(other.used)
        return self.readings(work)

    def readings(self, work: Work) -> list[Reading]:
        """Readings with the names as written; with misspelt ones where that leaves something open."""
        since = perf_counter()
        readings = self.reader.read(work.comparison, work.mentions)
        told = work.explain(readings[0]) if readings else None
        work.time("readings", since)
        given = any(c.how == "given" for m in work.mentions for c in m.candidates)
        if given:
            return readings
        plural = [] if told is None or readings[0].cost <= FIRM else self._plural_names(work, readings[0])
        if plural:
            mended = self.reader.read(work.comparison, [*work.mentions, *plural])
            starts = {m.start for m in plural}
            mended.sort(key=lambda r: r.cost - PLURAL * any(a.span.start in starts for a in r.anchors))
            if mended and any(a.span.start in starts for a in mended[0].anchors):
                readings, told = mended, work.explain(mended[0])
                work.mentions = [*work.mentions, *plural]
        if told is None and asks_over_all(work.comparison, work.operator):
            return readings
        if told is None or told.open_names or (told.open_words and readings[0].cost > FIRM):
            since = perf_counter()
            taken = [m for m in work.mentions if readings and _is_anchor(m, readings[0])]
            taken = [m for m in taken if told is None or not _beside_open(work.question, m, told.open_names)]
            open_words = told.open_words if told else content(work.comparison)
            guessed = self.linker.link_typos(work.question, taken)
            guessed += self.linker.link_parts(work.question, taken)
            guessed += self.linker.link_derived(work.question, open_words)
            guessed = self._no_types(work.question, guessed)
            work.time("link", since)
            since = perf_counter()
            mentions = [*work.mentions, *guessed]
            mended = self.reader.read(work.comparison, mentions) if guessed else []
            if mended and (not readings or mended[0].cost < readings[0].cost):
                readings, work.mentions = mended, mentions
            work.time("readings", since)
        credited = [r for r in readings if credible(work.comparison, r, readings)]
        return ending_as_asked(work.comparison, credited)

    def _plural_names(self, work: Work, reading: Reading) -> list[Mention]:
        """Mentions by the singular of a noun that the reading takes for a type (*strikers*: Striker)."""
        comparison, last = work.comparison, reading.last
        nouns = [
            w
            for i, w in enumerate(comparison.words)
            if is_asked(comparison.question, w)
            and not w.capital
            and all(not _overlaps(w, a.span) for a in reading.anchors)
            and comparison.node[i, last] < CLEARLY
        ]
        return self._no_types(work.question, self.linker.link_plurals(nouns))


def _overlaps(word: Word, span: Span) -> bool:
    return word.start < span.stop and span.start < word.stop


def _touches(mentions: Sequence[Mention], starts: Collection[int]) -> bool:
    return any(m.start <= start < m.stop for m in mentions for start in starts)


def _beside_open(question: Question, mention: Mention, names: Collection[str]) -> bool:
    """Whether a word that is written like a name stands open right beside a mention (*Europa Cliper*)."""
    return any(
        w.text in names
        and w.capital
        and question.text[min(w.stop, mention.stop) : max(w.start, mention.start)] == " "
        for w in question.words
    )


def _is_anchor(mention: Mention, reading: Reading) -> bool:
    return any(a.span.start == mention.start and a.span.stop == mention.stop for a in reading.anchors)

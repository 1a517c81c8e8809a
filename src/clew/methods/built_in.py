"""The built-in form of what methods ask of a question: its answer, or its pattern, by the learned reader.

The reader (`reading/`) ranks what a question may mean over this graph and says how likely each meaning is.
The likeliest is answered, or handed to a method as a pattern, if it is likely enough; else the abstention
says what is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from weakref import WeakValueDictionary

from clew.index.store.directory import Index
from clew.methods.auto.settings import AutoSettings
from clew.reading.answer import (
    DraftAnswer,
    alternatives,
    ambiguous,
    answer_of,
    drawn,
    is_operation,
    likeliest,
    says_nothing,
    taken_for,
)
from clew.reading.execute import Executor
from clew.reading.flags import leads_to_flag
from clew.reading.left_open import left_open, unknown_given
from clew.reading.mentions import HOW
from clew.reading.mutual import both_ways, either_way
from clew.reading.near_names import unknown_names
from clew.reading.open_words import (
    leaves_clause_open,
    leaves_modifier_open,
    leaves_noun_open,
    leaves_number_open,
    leaves_predicate_open,
)
from clew.reading.prove import pattern_of
from clew.reading.query import Extreme, Query, mentions_of, steps_of
from clew.reading.reader import Reading
from clew.reading.said_kinds import of_another_kind
from clew.reading.shared_reader import reader_of
from clew.reading.spelling import spelling_notes
from clew.reading.unsayable import asks_more, denies, is_denial
from clew.reading.words import say
from clew.text.embedder import Embedder
from clew.types import Abstention, Answer, Pattern, Step

SURE_NO = 0.7
"""How likely a reading must be that answers *no*, of which there is no triple."""
SURE_UNSAID, SURE_UNTYPED, SURE_GUESS = 0.7, 0.5, 0.9
"""How likely it must be where no word of the question is like a relation or a type of it: from less, who
painted a film would be who directed it.

Of 105 such readings between the first and the last, over schemas that nothing was trained on, 80 were right.
Where no types are declared, none can be said: of 141 between the second and the first 94 were. Of 58 over
graphs of fewer than `FEW_RELATIONS`, where one of a few readings is soon likely, only 35, and *yes* by a way
round of more than `MOST_STEPS` is seldom what was asked: these must be as sure as the last. What two names
share says more: of 35 from 0.3 on 29 were right.
"""
FEW_RELATIONS, MOST_STEPS = 12, 2
SURE_RANKED = 0.55
"""The same where it ranks, as *the oldest* says of what: of sixteen such readings over schemas that nothing
was trained on, those that the graph cannot answer were below."""
SURE_OF_NOUN = 0.5
"""How likely it must be where it leaves a noun open that belongs to a name: below, ten of seventeen such
readings of the development sets were right, three of four of others."""
OPERATED = 1.4
"""Power of `--confidence` that is enough for a reading that compares, ranks, counts or leaves out.

Its words are seldom those of a relation, so that it is likelier than it seems: of the development sets three
of four such readings between 0.15 and 0.3 were right."""


@dataclass(frozen=True, slots=True)
class LikelyReading:
    """A question as it was read: the likeliest query, where it has one, and how likely it is."""

    reading: Reading
    query: Query | None
    likely: float

    def least(self, confidence: float) -> float:
        """How likely it must be to be answered from; *yes* is what many unlike readings answer together."""
        operates = self.query is not None and is_operation(self.query) and self.query.ask != "yes"
        return confidence**OPERATED if operates else confidence


@dataclass(frozen=True, slots=True)
class AskedPattern:
    """The pattern of a question, whether it is asked how many fit it, and what its names were taken for."""

    pattern: Pattern
    counts: bool = False
    notes: tuple[str, ...] = ()


class BuiltInReader:
    """Answers questions over one open index, or gives their patterns, without a model."""

    name = "auto"

    def __init__(self, index: Index, embedder: Embedder, settings: AutoSettings | None = None) -> None:
        self.index, self.confidence = index, (settings or AutoSettings()).confidence
        self.reader = reader_of(index, embedder)

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer one question, or abstain with a reason; `entities` are names that it is about, if known.

        Raises EmbedderError if the shipped model cannot be opened.
        """
        return self.answered(question, id=id, entities=entities)[1]

    def answered(
        self, question: str, *, id: str | None = None, entities: Sequence[str] = ()
    ) -> tuple[LikelyReading, Answer]:
        """How a question was read, and its answer, as `answer`.

        Raises EmbedderError if the shipped model cannot be opened.
        """
        began = perf_counter()
        read = self.read(question, entities)
        likely = self._likely_enough(read, entities)
        told = Answer(question, method=self.name)
        if isinstance(likely, Abstention):
            answer = drawn(told, DraftAnswer(abstained=likely), None)
        else:
            answer = self._drafted(told, read, likely)
        recorded = read.query is not None and leads_to_flag(self.reader.vocabulary, read.query)
        if answer.text == "no" and not recorded and read.likely < SURE_NO:
            left = left_open(self.reader, self.index.names, read.reading)
            answer = drawn(told, DraftAnswer(abstained=left), None)
        return read, self._finished(answer, read.reading, began, id)

    def pattern(self, question: str, entities: Sequence[str] = ()) -> AskedPattern | Abstention:
        """The pattern of a question by itself, for methods that answer it in their own way, or why not.

        Raises EmbedderError if the shipped model cannot be opened.
        """
        read = self.read(question, entities)
        likely = self._likely_enough(read, entities)
        if isinstance(likely, Abstention):
            return likely
        unclear = self._unclear(read.reading, likely)
        if unclear is not None:
            return unclear
        pattern = pattern_of(likely, self.reader.graph)
        if pattern is None or not any(node.known for node in pattern.nodes):
            detail = f"it asks for more than relations lead to: {say(likely, self.reader.vocabulary)}"
            return Abstention("no_relation", f"{detail}. Ask with: auto")
        notes = taken_for(self.reader.graph, read.reading, likely)
        return AskedPattern(pattern, likely.ask == "count", notes)

    def read(self, question: str, entities: Sequence[str] = ()) -> LikelyReading:
        """The likeliest reading of a question, less likely where no word says its relations.

        Raises EmbedderError if the shipped model cannot be opened.
        """
        reading = self.reader.read(question, entities)
        executor = Executor(self.reader.graph)
        best = likeliest(executor, self.reader.vocabulary, reading)
        if best is None:
            return LikelyReading(reading, None, 0.0)
        query, likely = either_way(self.reader.vocabulary, executor, best.option.query), best.probability
        if likely < self._sure_unsaid(query):
            likely *= not says_nothing(self.reader.vocabulary, reading, query)
        return LikelyReading(reading, query, 0.0 if self._leaves_open(reading, query, likely) else likely)

    def _sure_unsaid(self, query: Query) -> float:
        """How likely a query must be of which no word of the question says anything."""
        vocabulary = self.reader.vocabulary
        if any(isinstance(part, Extreme) for part in query.contents.parts):
            return SURE_RANKED
        if query.ask == "list" and not is_operation(query) and len(mentions_of(query)) > 1:
            return 0.0
        way_round = query.ask == "yes" and len(steps_of(query)) > MOST_STEPS
        if way_round or len(vocabulary.relations) < FEW_RELATIONS:
            return SURE_GUESS
        return SURE_UNSAID if vocabulary.types else SURE_UNTYPED

    def _leaves_open(self, reading: Reading, query: Query, likely: float) -> bool:
        """Whether a query answers less than was asked: a noun, a modifier, a name or a *not* is not in it."""
        vocabulary, question, yes = self.reader.vocabulary, reading.question, query.ask == "yes"
        return (
            asks_more(vocabulary, question, query)
            or (not yes and denies(question, reading.mentions) and not is_denial(vocabulary, query))
            or (likely < SURE_OF_NOUN and leaves_noun_open(vocabulary, reading, query))
            or (yes and _leaves_out_a_name(reading, query))
            or leaves_number_open(reading, query)
            or leaves_modifier_open(vocabulary, reading, query)
            or leaves_clause_open(vocabulary, reading, query)
            or leaves_predicate_open(vocabulary, reading, query)
        )

    def _likely_enough(self, read: LikelyReading, entities: Sequence[str]) -> Query | Abstention:
        """The likeliest query of a question, or why it is not answered from."""
        unknown = unknown_names(self.index.names, entities)
        if unknown:
            return unknown_given(self.reader.graph, self.index.names, unknown)
        if read.query is None or read.likely < read.least(self.confidence):
            return left_open(self.reader, self.index.names, read.reading)
        return read.query

    def _unclear(self, reading: Reading, query: Query) -> Abstention | None:
        """Why a likely reading is not answered from: a name may be another thing, or is of another kind."""
        left = ambiguous(self.reader.graph, reading, query)
        return left or of_another_kind(self.reader.vocabulary, reading, query)

    def _drafted(self, told: Answer, read: LikelyReading, query: Query) -> Answer:
        """What a reading answers."""
        graph, vocabulary = self.reader.graph, self.reader.vocabulary
        unclear = self._unclear(read.reading, query)
        if unclear is None:
            query = both_ways(vocabulary, query)
            drafted, said = answer_of(graph, vocabulary, query, read.likely), say(query, vocabulary)
        else:
            drafted, said = DraftAnswer(abstained=unclear), None
        notes = (*drafted.notes, *taken_for(graph, read.reading, query))
        return drawn(told, replace(drafted, notes=notes), said)

    def _finished(self, answer: Answer, reading: Reading, began: float, id: str | None) -> Answer:
        """The answer with what was read, the nearest other readings, and the times of the stages."""
        used = answer.reading is not None
        times = {**answer.timings_ms, **reading.timings, "total": (perf_counter() - began) * 1000}
        return replace(
            answer,
            id=id,
            notes=(*spelling_notes(reading.respelt), *answer.notes),
            alternatives=alternatives(self.reader.vocabulary, reading, used),
            timings_ms={stage: round(ms, 3) for stage, ms in times.items()},
            steps=(*(answer.steps or (self._linked(reading),)), self._ranked(reading)),
        )

    def _linked(self, reading: Reading) -> Step:
        """The names of the question with their candidates."""
        entities, rows = self.reader.graph.entities, list[dict[str, object]]()
        for mention in (m for m in reading.mentions if m.candidates):
            found = [(entities[c.node], HOW[c.how], c.score) for c in mention.candidates]
            candidates = [{"entity": name, "how": how, "score": score} for name, how, score in found]
            rows.append({"text": mention.text, "candidates": candidates})
        return Step("link", {"mentions": rows})

    def _ranked(self, reading: Reading) -> Step:
        """The likeliest readings, as `--explain` shows them."""
        best = ((say(r.option.query, self.reader.vocabulary), r) for r in reading.ranking.ranked[:5])
        ranked = [{"reading": said, "probability": round(r.probability, 3)} for said, r in best]
        return Step("ranked", {"ranked": ranked, "none": round(reading.ranking.none, 3)})


def built_in_reader(index: Index, embedder: Embedder, settings: AutoSettings | None = None) -> BuiltInReader:
    """The built-in reader of a graph: one for all that ask alike, as long as one of them does."""
    settings = settings or AutoSettings()
    key = id(index.graph), id(embedder), settings.confidence
    made = _MADE.get(key)
    if made is None:
        made = _MADE[key] = BuiltInReader(index, embedder, settings)
    return made


_MADE: WeakValueDictionary[tuple[int, int, float], BuiltInReader] = WeakValueDictionary()


def _leaves_out_a_name(reading: Reading, query: Query) -> bool:
    """Whether a name of the question stands in no part of a reading, nor within one that does."""
    used = [reading.mentions[i] for i in mentions_of(query)]
    names = [m for m in reading.mentions if m.strong and m.candidates]
    return any(not any(name.overlaps(other) for other in used) for name in names)

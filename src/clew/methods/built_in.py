"""Answers without a model: the surest reading of the learned reader if sure enough, or an abstention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter

import numpy as np

from clew.index.store.directory import Index
from clew.methods.settings import AutoSettings
from clew.query.tree import Query
from clew.query.values import as_of
from clew.query.words import say
from clew.reading.account import SURE_OF_WORDS, Account, as_written, quoted, unplaced_phrases
from clew.reading.answer import (
    DraftAnswer,
    alternatives,
    ambiguous,
    answer_of,
    drawn,
    taken_for,
)
from clew.reading.called import names_asked
from clew.reading.certainty import Around, LikelyReading, likely_reading
from clew.reading.left_open import left_open, unknown_given, unknown_names, unplaced, verbs_unsaid
from clew.reading.mentions import HOW
from clew.reading.mutual import both_ways
from clew.reading.reader import Reading, reader_of
from clew.reading.spelling import spelling_notes
from clew.reading.thread import threaded
from clew.text.embedders import Embedder
from clew.types import Abstention, Answer, PlacedWord, Step

LEAST_OF_PARTIAL = 0.9
"""Probability that a label carries a word, below which a partial answer says that it left the word out."""


class BuiltInReader:
    """Answers questions over one open index without a model."""

    name = "auto"

    def __init__(self, index: Index, embedder: Embedder, settings: AutoSettings | None = None) -> None:
        self.index, self.settings = index, settings or AutoSettings()
        self.reader = reader_of(index, embedder)

    def answer(
        self,
        question: str,
        *,
        id: str | None = None,
        entities: Sequence[str] = (),
        around: Around | None = None,
    ) -> Answer:
        """Answer one question, or abstain with a reason; as `read_and_answer`."""
        return self.read_and_answer(question, id=id, entities=entities, around=around)[1]

    def read_and_answer(
        self,
        question: str,
        *,
        id: str | None = None,
        entities: Sequence[str] = (),
        around: Around | None = None,
    ) -> tuple[LikelyReading, Answer]:
        """How a question was read, and its answer; `entities` are names that it is about, if known.

        `around` makes another query of the one that it is read as, or none.
        """
        began = perf_counter()
        likeliest = self.read(question, entities, None if entities else around)
        query, account = self._likely_query(likeliest, entities)
        if around is not None and isinstance(query, Query):
            query = around(query) or Abstention("unplaced", "this does not go on from the last question")
        blank_answer = Answer(question, method=self.name, account=account)
        if isinstance(query, Abstention):
            answer = drawn(blank_answer, DraftAnswer(abstained=query), None)
        else:
            answer = self._draft_answer(blank_answer, likeliest, query)
        return likeliest, self._finish(answer, likeliest.reading, began, id)

    def read(
        self, question: str, entities: Sequence[str] = (), around: Around | None = None
    ) -> LikelyReading:
        """The surest reading of a question; `around` as for `read_and_answer`."""
        with as_of(self.settings.day):
            reading = self.reader.read(question, entities)
        asked = names_asked(self.reader, reading.whole_question, entities)
        if asked is not None:
            text = reading.whole_question
            account = Account(as_written(question, text, asked.words), np.zeros(0, np.float32))
            likeness = self.reader.compare(text)
            reading = replace(reading, question=text, mentions=asked.mentions, likeness=likeness)
            return LikelyReading(reading, asked.query, account, asked.likelihood)
        # What is answered in part says each word that may have no place.
        least = LEAST_OF_PARTIAL if self.settings.partial else 0.0
        return likely_reading(self.reader, reading, least, partial=self.settings.partial, around=around)

    def read_surely(self, question: str, around: Around | None = None) -> Query | None:
        """The query to answer a question from; None where it is left open. Raises as `read`."""
        query, _ = self._likely_query(self.read(question, around=around), ())
        query = around(query) if around is not None and isinstance(query, Query) else query
        return query if isinstance(query, Query) else None

    def _likely_query(
        self, likeliest: LikelyReading, entities: Sequence[str]
    ) -> tuple[Query | Abstention, tuple[PlacedWord, ...]]:
        """The query to answer a question from, or why there is none; and what each word is in it."""
        unknown = unknown_names(self.index.names, entities)
        if unknown:
            return unknown_given(self.reader.graph, self.index.names, unknown), ()
        reading, query, graph = likeliest.reading, likeliest.query, self.reader.graph
        # In part, words without a place do not make a reading less sure: they have to be said.
        sure = likeliest.likelihood >= SURE_OF_WORDS and not self.settings.partial
        account = likeliest.account.settled(sure=sure).words if likeliest.account else ()
        if query is None or likeliest.likelihood < self.settings.confidence:
            ambiguity = query and ambiguous(graph, self.reader.vocabulary, reading, query)
            if (
                ambiguity is not None
                and likeliest.likelihood * len(ambiguity.candidates) >= self.settings.confidence
            ):
                return ambiguity, account  # sure, but for which of one name is meant
            empty = likeliest.empty
            if empty is None or empty.share < self.settings.confidence:
                return left_open(self.reader, self.index.names, reading, query, account)
            query, account = empty.query, self.reader.account(reading, empty.query).settled(sure=False).words
        missing = unplaced(self.reader, self.index.names, reading, query, account)
        return (query if missing is None or self.settings.partial else missing), account

    def _draft_answer(self, blank_answer: Answer, likeliest: LikelyReading, query: Query) -> Answer:
        """The answer that a reading gives."""
        graph, vocabulary = self.reader.graph, self.reader.vocabulary
        ambiguity = ambiguous(graph, vocabulary, likeliest.reading, query)
        if ambiguity is None:
            query = both_ways(vocabulary, query)
            draft, words = answer_of(graph, vocabulary, query, likeliest.likelihood), say(query, vocabulary)
        else:
            draft, words = DraftAnswer(abstained=ambiguity), None
        unsaid = verbs_unsaid(blank_answer.account) if query.ask == "yes" and draft.text == "no" else []
        if unsaid:
            statement = f"I cannot place {quoted(unsaid)}; the rest reads: {words}, to which the answer is no"
            draft, words = DraftAnswer(abstained=Abstention("unplaced", statement)), None
        taken = taken_for(graph, likeliest.reading, query) if ambiguity is None else ()
        notes = (*draft.notes, *taken)
        phrases = unplaced_phrases(blank_answer.question, blank_answer.account)
        if phrases:
            notes = (*notes, f"this answers the rest: {quoted(phrases)} has no place in it")
        answer = drawn(blank_answer, replace(draft, notes=notes), words)
        return threaded(answer, query, self.reader, blank_answer.question)

    def _finish(self, answer: Answer, reading: Reading, began: float, id: str | None) -> Answer:
        """The answer with what was read, the nearest other readings, and the times of the stages."""
        entities, vocabulary = self.reader.graph.entities, self.reader.vocabulary
        mentions: list[dict[str, object]] = []
        for mention in (m for m in reading.mentions if m.candidates):
            links = [(entities[c.node], HOW[c.how], c.score) for c in mention.candidates]
            candidates = [{"entity": name, "how": how, "score": score} for name, how, score in links]
            mentions.append({"text": mention.text, "candidates": candidates})
        likeliest = ((say(r.option.query, vocabulary), r) for r in reading.ranking.ranked[:5])
        ranked = [{"reading": words, "probability": round(r.probability, 3)} for words, r in likeliest]
        placed = [word.as_json() for word in answer.account if word.as_ != "frame"]
        times = {**answer.timings_ms, **reading.timings, "total": (perf_counter() - began) * 1000}
        return replace(
            answer,
            id=id,
            notes=(*spelling_notes(reading.respelt), *answer.notes),
            alternatives=alternatives(vocabulary, reading, answer.reading is not None),
            timings_ms={stage: round(ms, 3) for stage, ms in times.items()},
            steps=(
                *(answer.steps or (Step.taken("link", {"mentions": mentions}),)),
                Step.taken("ranked", {"ranked": ranked, "none": round(reading.ranking.none, 3)}),
                Step.taken("account", {"words": placed}),
            ),
        )


def built_in_reader(index: Index, embedder: Embedder, settings: AutoSettings | None = None) -> BuiltInReader:
    """The built-in reader of a graph: one for all that ask alike."""
    settings = settings or AutoSettings()
    key = BuiltInReader, settings
    reader: BuiltInReader | None = index.made.get(key)
    if reader is None or reader.reader.embedder is not embedder:
        reader = index.made[key] = BuiltInReader(index, embedder, settings)
    return reader

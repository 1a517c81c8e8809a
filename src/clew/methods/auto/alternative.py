"""Answering from another reading of a question, which the user chose by its number."""

from __future__ import annotations

from collections.abc import Sequence

from clew.errors import UsageError
from clew.methods.built_in import BuiltInReader
from clew.reading.answer import answer_of, drawn
from clew.reading.words import say
from clew.text.counted import counted
from clew.types import Answer


def answer_alternative(
    auto: BuiltInReader, question: str, number: int, *, id: str | None = None, entities: Sequence[str] = ()
) -> Answer:
    """Answer as the alternative `number` (from 1) of the question's answer says; no model is asked.

    The answer has the same `alternatives`, so that a number goes on to mean the same. Raises UsageError where
    there is no such one.
    """
    told = auto.answer(question, id=id, entities=entities)
    if not 1 <= number <= len(told.alternatives):
        others = counted(len(told.alternatives), "other reading")
        raise UsageError(f"There is no reading {number}: the question has {others}. See `alternatives`")
    words, reader = told.alternatives[number - 1].reading, auto.reader
    chosen = next(
        ranked
        for ranked in reader.read(question, entities).ranking.ranked
        if say(ranked.option.query, reader.vocabulary) == words
    )
    drafted = answer_of(reader.graph, reader.vocabulary, chosen.option.query, chosen.probability)
    return drawn(told, drafted, words)

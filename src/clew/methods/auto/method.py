"""`auto`, the default method: the built-in reader, and a chat model where one is configured and needed.

The reader (`reading/`) ranks what a question may mean over this graph and says how likely each meaning is.
With a model, a question whose likeliest meaning is not sure is asked of it (`choose.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from time import perf_counter
from typing import TYPE_CHECKING

from clew.errors import UsageError
from clew.index.store.directory import Index
from clew.methods.built_in import BuiltInReader, built_in_reader
from clew.methods.settings import AutoSettings
from clew.query.tree import Query
from clew.query.words import say
from clew.reading.answer import DraftAnswer, answer_of, drawn
from clew.reading.thread import threaded
from clew.text.embedder import Embedder
from clew.text.normalise import counted
from clew.types import Abstention, Answer

if TYPE_CHECKING:
    from clew.llm.types import ChatModel
    from clew.methods.auto.choose import Choice

SURE_ALONE = 0.8
"""How likely an answer of the built-in reader must be for a model not to be asked."""


def make_auto(
    index: Index, embedder: Embedder, *, model: ChatModel | None = None, settings: AutoSettings | None = None
) -> BuiltInReader | AutoWithModel:
    """Make the default method: without a model the built-in reader alone."""
    plain = built_in_reader(index, embedder, settings)
    return plain if model is None else AutoWithModel(plain, model)


class AutoWithModel:
    """Answers questions over one open index; the model is asked where the built-in reader is not sure."""

    name = "auto"

    def __init__(self, plain: BuiltInReader, model: ChatModel) -> None:
        # Without a model nothing of the LLM layer is imported.
        from clew.methods.auto.choose import Chooser

        self.model, self.plain = model, plain
        self.chooser = Chooser.of(self.plain.reader)

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer one question, or abstain with a reason. Raises LlmError if the model cannot be asked."""
        from clew.llm.prompting import Talk
        from clew.llm.types import BudgetReached

        likeliest, plain_answer = self.plain.read_and_answer(question, id=id, entities=entities)
        if plain_answer.answers and likeliest.likelihood >= SURE_ALONE:
            return plain_answer
        began = perf_counter()
        reader = self.plain.reader
        talk = Talk.begin(self.model, id or question)

        @cache
        def draft_of(query: Query) -> DraftAnswer:
            return answer_of(reader.graph, reader.vocabulary, query)

        choice: Choice | Abstention
        try:
            choice = self.chooser.choose(
                likeliest.reading, talk, lambda query: draft_of(query).abstained is None
            )
        except BudgetReached as error:
            choice = Abstention("budget", str(error))
        timings = {**plain_answer.timings_ms, "choose": (perf_counter() - began) * 1000}
        timings["total"] = plain_answer.timings_ms.get("total", 0.0) + timings["choose"]
        model_answer = replace(
            plain_answer,
            model=self.model.name,
            usage=talk.usage,
            timings_ms={stage: round(ms, 3) for stage, ms in timings.items()},
            steps=(*plain_answer.steps, *talk.steps),
        )
        if isinstance(choice, Abstention):
            return drawn(model_answer, DraftAnswer(abstained=choice), None)
        if choice.query is not None:
            answer = drawn(model_answer, draft_of(choice.query), say(choice.query, reader.vocabulary))
            return threaded(answer, choice.query, reader, question)
        if plain_answer.abstained is not None or choice.problem:
            return model_answer
        abstention = Abstention("no_relation", "the model finds nothing in the graph that answers it")
        return drawn(model_answer, DraftAnswer(abstained=abstention), None)


def answer_alternative(
    auto: BuiltInReader, question: str, number: int, *, id: str | None = None, entities: Sequence[str] = ()
) -> Answer:
    """Answer as the alternative `number` (from 1) of the question's answer says; no model is asked.

    The answer has the same `alternatives`, so that a number goes on to mean the same. Raises UsageError where
    there is no such one.
    """
    likeliest, answer = auto.read_and_answer(question, id=id, entities=entities)
    if not 1 <= number <= len(answer.alternatives):
        count_text = counted(len(answer.alternatives), "other reading")
        raise UsageError(f"There is no reading {number}: the question has {count_text}. See `alternatives`")
    words, reader = answer.alternatives[number - 1].reading, auto.reader
    chosen = next(
        ranked
        for ranked in likeliest.reading.ranking.ranked
        if say(ranked.option.query, reader.vocabulary) == words
    )
    draft = answer_of(reader.graph, reader.vocabulary, chosen.option.query, chosen.probability)
    return threaded(drawn(answer, draft, words), chosen.option.query, reader, question)

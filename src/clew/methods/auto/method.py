"""`auto`, the default method: the built-in readers, and a chat model where one is configured and needed.

The reader by rules (`reading/rules`) is asked first: it is quick and seldom wrong where it answers. What it
leaves open the learned one (`reading/`) reads, which ranks what a question may mean over this graph and says
how likely each meaning is. With a model, what the two do not answer alike, or not at all, is asked of it
(`choose.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from clew.errors import UsageError
from clew.index.store.directory import Index
from clew.reading.answer import CONFIDENCE, alternatives, answer_of, likeliest
from clew.reading.execute import Executor
from clew.reading.ranker import Ranked
from clew.reading.reader import QuestionReader, Reading
from clew.reading.rules.auto import Auto, auto_of
from clew.reading.rules.link import unknown_names
from clew.reading.words import say
from clew.text.embedder import Embedder
from clew.types import Abstention, Answer, Step

if TYPE_CHECKING:
    from clew.llm.types import ChatModel


@dataclass(frozen=True, slots=True)
class Settings:
    """How sure the built-in reader must be.

    Raises UsageError for a confidence outside of [0, 1].
    """

    confidence: float = CONFIDENCE
    """Least probability of a learned reading that is answered from."""

    def __post_init__(self) -> None:
        """Check the range."""
        if not 0 <= self.confidence <= 1:
            raise UsageError(f"confidence {self.confidence} is not from 0 to 1")


def make_auto(
    index: Index, embedder: Embedder, *, model: ChatModel | None = None, settings: Settings | None = None
) -> BuiltIn | AutoWithModel:
    """Make the default method: without a model the built-in readers alone."""
    confidence = (settings or Settings()).confidence
    plain = built_in(index, embedder, confidence)
    return plain if model is None else AutoWithModel(plain, index, embedder, model)


AGREES = 0.25
"""A learned reading at least so likely that answers as the rules do makes these sure."""


@dataclass(frozen=True, slots=True)
class Considered:
    """An answer of the built-in readers, how the question was read, and whether they are sure."""

    answer: Answer
    reading: Reading
    sure: bool


class BuiltIn:
    """Answers questions over one open index without a model."""

    name = "auto"

    def __init__(self, index: Index, embedder: Embedder, *, confidence: float = CONFIDENCE) -> None:
        self.index, self.confidence = index, confidence
        self.rules: Auto = auto_of(index, embedder)
        self.reader = QuestionReader(self.rules.graph, self.rules.schema, index.names, embedder)

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer one question, or abstain with a reason; `entities` are names that it is about, if known.

        Raises EmbedderError if the shipped model cannot be opened.
        """
        began = perf_counter()
        by_rules = self.rules.answer(question, id=id, entities=entities)
        if by_rules.abstained is None:
            return by_rules
        return self._considered(question, entities, by_rules, began).answer

    def consider(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Considered:
        """Answer one question by both readers, and say whether they agree.

        Raises EmbedderError if the shipped model cannot be opened.
        """
        began = perf_counter()
        by_rules = self.rules.answer(question, id=id, entities=entities)
        return self._considered(question, entities, by_rules, began)

    def _considered(
        self, question: str, entities: Sequence[str], by_rules: Answer, began: float
    ) -> Considered:
        """The answer of the rules if they have one, else that of the learned reader where it is likely."""
        reading = self.reader.read(question, entities)
        best = likeliest(Executor(self.reader.graph), reading)
        likely = best.probability if best is not None else 0.0
        learned = self._drafted(question, best) if best is not None and likely >= AGREES else None
        answer, sure = by_rules, learned is not None and _same(learned, by_rules)
        left_open = by_rules.abstained is not None and by_rules.abstained.reason != "ambiguous_entity"
        if left_open and unknown_names(self.index.names, entities):
            sure = True
        elif left_open and learned is not None and likely >= self.confidence and learned.abstained is None:
            answer = learned
        return Considered(self._finished(answer, reading, began, by_rules.id), reading, sure)

    def _drafted(self, question: str, best: Ranked) -> Answer:
        """What the likeliest reading answers."""
        reader = self.reader
        drafted = answer_of(reader.graph, reader.vocabulary, best.option.query, best.probability)
        return Answer(
            question=question,
            answers=drafted.answers,
            text=drafted.text,
            abstained=drafted.abstained,
            citations=drafted.citations,
            pattern=drafted.pattern,
            method=self.name,
            complete=drafted.complete,
            notes=drafted.notes,
            reading=say(best.option.query, reader.vocabulary) if drafted.abstained is None else None,
        )

    def _finished(self, answer: Answer, reading: Reading, began: float, id: str | None) -> Answer:
        """The answer with what was read, the nearest other readings, and the times of the stages."""
        used = answer.reading is not None
        times = {**answer.timings_ms, **reading.timings, "total": (perf_counter() - began) * 1000}
        return replace(
            answer,
            id=id,
            alternatives=alternatives(self.reader.vocabulary, reading, used),
            timings_ms={stage: round(ms, 3) for stage, ms in times.items()},
            steps=(*answer.steps, self._step(reading)),
        )

    def _step(self, reading: Reading) -> Step:
        """What `--explain` shows of the learned reading."""
        graph = self.reader.graph
        mentions = [
            {"text": m.text, "candidates": [graph.labels[c.node] for c in m.candidates]}
            for m in reading.mentions
        ]
        ranked = [
            {
                "reading": say(r.option.query, self.reader.vocabulary),
                "probability": round(r.probability, 3),
            }
            for r in reading.ranking.ranked[:5]
        ]
        none = round(reading.ranking.none, 3)
        detail = {"mentions": mentions, "ranked": ranked, "none": none}
        return Step("ranked", detail)


def _same(one: Answer, other: Answer) -> bool:
    """Whether two answers name the same."""
    return {a.entity for a in one.answers} == {a.entity for a in other.answers} != set()


def built_in(index: Index, embedder: Embedder, confidence: float = CONFIDENCE) -> BuiltIn:
    """The built-in readers of a graph: one pair for all that ask alike, as long as one of them does."""
    key = id(index.graph), id(embedder), confidence
    made = _MADE.get(key)
    if made is None:
        made = _MADE[key] = BuiltIn(index, embedder, confidence=confidence)
    return made


_MADE: WeakValueDictionary[tuple[int, int, float], BuiltIn] = WeakValueDictionary()


class AutoWithModel:
    """Answers questions over one open index; the model is asked where the built-in readers are not sure."""

    name = "auto"

    def __init__(self, plain: BuiltIn, index: Index, embedder: Embedder, model: ChatModel) -> None:
        # Without a model nothing of the LLM layer is imported.
        from clew.methods.auto.choose import Chooser
        from clew.methods.relation_ranking import RelationRanking
        from clew.methods.schema_lines import SchemaText

        self.model, self.plain = model, plain
        reader = self.plain.reader
        schema = SchemaText.of(index, RelationRanking(index.graph, embedder))
        self.chooser = Chooser(reader.vocabulary, index.names, schema)

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer one question, or abstain with a reason.

        Raises LlmError if the model is needed and cannot be asked.
        """
        from clew.llm.prompting import Talk

        considered = self.plain.consider(question, id=id, entities=entities)
        plain = considered.answer
        if considered.sure:
            return plain
        began = perf_counter()
        reader = self.plain.reader
        talk = Talk.begin(self.model, id or question)
        choice = self.chooser.choose(considered.reading, talk)
        timings = {**plain.timings_ms, "choose": (perf_counter() - began) * 1000}
        timings["total"] = plain.timings_ms.get("total", 0.0) + timings["choose"]
        asked = replace(
            plain,
            model=self.model.name,
            usage=talk.usage,
            timings_ms={stage: round(ms, 3) for stage, ms in timings.items()},
            steps=(*plain.steps, *talk.steps),
        )
        if choice.query is None:
            return asked if plain.abstained is not None or choice.problem else self._none(asked)
        drafted = answer_of(reader.graph, reader.vocabulary, choice.query)
        return replace(
            asked,
            answers=drafted.answers,
            citations=drafted.citations,
            text=drafted.text,
            abstained=drafted.abstained,
            pattern=drafted.pattern,
            complete=drafted.complete,
            notes=drafted.notes,
            reading=say(choice.query, reader.vocabulary),
        )

    def _none(self, asked: Answer) -> Answer:
        """The abstention where the model says that the graph cannot tell."""
        detail = "the model finds nothing in the graph that answers it"
        return replace(
            asked,
            answers=(),
            citations=(),
            text="",
            abstained=Abstention("no_relation", detail),
            pattern=None,
            reading=None,
            notes=(),
        )

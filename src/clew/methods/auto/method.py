"""`auto`, the default method: the built-in readers, and a chat model where one is configured and needed.

The learned reader (`reading/`) ranks what a question may mean over this graph and says how likely each
meaning is. Where it is not sure, the reader by rules (`reading/rules`) is asked, whose answer counts if a
meaning with that answer is not unlikely; what is left open then is answered from the likeliest meaning, if it
is likely enough. With a model, what they do not answer alike, or
not at all, is asked of it (`choose.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from clew.index.store.directory import Index
from clew.methods.auto.settings import AutoSettings
from clew.methods.built_in import OPERATED, SURE, BuiltInReader
from clew.reading.answer import (
    DraftAnswer,
    answer_of,
    drawn,
    share_of,
)
from clew.reading.execute import Executor, OverBudget
from clew.reading.near_names import unknown_names
from clew.reading.query import Anchor, Both, Query, Walk
from clew.reading.reader import Reading
from clew.reading.rules.auto import MOST_RELATIONS, auto_of
from clew.reading.rules.comparison import Span
from clew.reading.rules.direction import preferred_step
from clew.reading.words import say
from clew.text.embedder import Embedder
from clew.types import Abstention, Answer

if TYPE_CHECKING:
    from clew.llm.types import ChatModel


def make_auto(
    index: Index, embedder: Embedder, *, model: ChatModel | None = None, settings: AutoSettings | None = None
) -> BuiltIn | AutoWithModel:
    """Make the default method: without a model the built-in readers alone."""
    plain = built_in(index, embedder, settings or AutoSettings())
    return plain if model is None else AutoWithModel(plain, index, embedder, model)


AGREES = 0.25
"""A learned reading at least so likely that answers as the rules do makes these sure."""
CONFIRMED, LEAST_BEST = 0.04, 0.05
"""An answer of the rules counts if readings that answer the same are so likely, beside the best one and
beside the least that this is taken for. Fitted on the domains' and PathQuestion's development halves and the
factory: at 0.1 right answers to chains are lost, below 0.04 nothing changes."""
TOLD = ("empty_result", "ambiguous_entity", "no_entity")
"""Why a likely reading is not answered: that is told then, whatever the rules say."""


@dataclass(frozen=True, slots=True)
class Learned:
    """What the learned reader makes of a question: its readings, how likely the best is, and its answer."""

    reading: Reading
    likely: float
    learned: Answer | None
    negated: bool
    """Whether the answer is of what is not recorded, which the graph can mislead about."""

    operates: bool
    """Whether the best compares, ranks, counts or leaves out, and does not only follow relations."""

    def least(self, confidence: float) -> float:
        """How likely it must be to be answered from where the rules leave the question open."""
        return confidence**OPERATED if self.operates else confidence

    def least_sure(self, confidence: float) -> float:
        """How likely it must be to be answered from whatever the rules say."""
        return 2.0 if self.negated else max(SURE, confidence)


@dataclass(frozen=True, slots=True)
class Considered:
    """An answer of the built-in readers, how the question was read, and whether they are sure."""

    answer: Answer
    reading: Reading
    sure: bool


class BuiltIn(BuiltInReader):
    """Answers questions over one open index without a model."""

    def __init__(self, index: Index, embedder: Embedder, settings: AutoSettings | None = None) -> None:
        super().__init__(index, embedder, settings)
        few = len(index.graph.relations) <= MOST_RELATIONS
        self.rules = auto_of(index, embedder) if few else None

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer one question, or abstain with a reason; `entities` are names that it is about, if known.

        Raises EmbedderError if the shipped model cannot be opened.
        """
        began = perf_counter()
        read = self._read(question, entities)
        known = not unknown_names(self.index.names, entities)
        if read.learned is not None and read.likely >= read.least_sure(self.confidence) and known:
            return self._finished(read.learned, read.reading, began, id)
        return self._considered(read, self._by_rules(question, id, entities), known, began).answer

    def consider(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Considered:
        """Answer one question by both readers, and say whether they agree.

        Raises EmbedderError if the shipped model cannot be opened.
        """
        began = perf_counter()
        by_rules = self._by_rules(question, id, entities)
        known = not unknown_names(self.index.names, entities)
        return self._considered(self._read(question, entities), by_rules, known, began)

    def _by_rules(self, question: str, id: str | None, entities: Sequence[str]) -> Answer:
        """What the rules answer; of a graph of too many relations for them, why they do not."""
        if self.rules is not None:
            return self.rules.answer(question, id=id, entities=entities)
        unknown = unknown_names(self.index.names, entities)
        if unknown:
            left = Abstention("no_entity", f'it has no entity "{", ".join(unknown)}" (given)')
        else:
            relations = len(self.index.graph.relations)
            left = Abstention(
                "no_relation",
                f"no reading is likely enough. It has {relations:,} relations; the rules, which are asked "
                f"where the ranker is not sure, read up to {MOST_RELATIONS:,}",
            )
        return Answer(question, abstained=left, method=self.name, id=id)

    def _read(self, question: str, entities: Sequence[str]) -> Learned:
        """What the learned reader makes of a question; an answer only where it is likely and can be given."""
        read = self.read(question, entities)
        query, likely = read.query, read.likely
        query = None if query is None or likely < AGREES else self._as_stated(read.reading, query, entities)
        likely = 0.0 if query is None else likely
        made = self._drafted(read.reading, query, likely) if query is not None else None
        told = made is not None and (made.abstained is None or made.abstained.reason in TOLD)
        return Learned(read.reading, likely, made if told else None, read.negated, read.operates)

    def _as_stated(self, reading: Reading, query: Query, entities: Sequence[str]) -> Query | None:
        """A question about one or two entities with who stands where as its words have it.

        None where it asks whether *A reports to B* and is read as *B to A*, or as whether B has anyone to
        report to. What is mutual may be recorded either way.
        """
        part = query.part
        if query.ask == "list" and isinstance(part, Walk) and isinstance(part.source, Anchor):
            step = self._way(reading, part.source, part.step, entities)
            turned = replace(query, part=replace(part, step=step))
            # What would find nothing was not meant to be turned around.
            return turned if step != part.step and self._finds(turned) else query
        if (
            self.rules is None
            or query.ask != "yes"
            or not isinstance(part, Both)
            or not isinstance(part.right, Anchor)
        ):
            return query
        if not isinstance(part.left, Walk) or not isinstance(part.left.source, Anchor):
            return query
        one, other, step = part.left.source.mention, part.right.mention, part.left.step
        rules = self.rules.reader
        if rules.one_way.is_mutual(step // 2):
            back = replace(query, part=replace(part, left=replace(part.left, step=step ^ 1)))
            executor = Executor(self.reader.graph)
            return query if len(executor.members(part)) or not len(executor.members(back.part)) else back
        if min(one, other) < 0 or step // 2 not in rules.one_way:
            return query
        first, second = reading.mentions[one], reading.mentions[other]
        if second.start < first.start:
            first, step = second, step ^ 1
        comparison = self.rules.interpreter.link(reading.question, entities).comparison
        return None if rules.states(comparison, Span(first.start, first.stop), step ^ 1) else query

    def _finds(self, query: Query) -> bool:
        """Whether a query has members; what has too many to follow has."""
        try:
            return len(Executor(self.reader.graph).members(query.part)) > 0
        except OverBudget:
            return True

    def _way(self, reading: Reading, entity: Anchor, step: int, entities: Sequence[str]) -> int:
        """The step as words have it, where both ends are of one sort: *who knows Bob*, *whom Bob knows*."""
        if self.rules is None or entity.mention < 0 or step // 2 not in self.rules.reader.one_way:
            return step
        mention = reading.mentions[entity.mention]
        comparison = self.rules.interpreter.link(reading.question, entities).comparison
        stated = preferred_step(comparison, Span(mention.start, mention.stop), step // 2, stated=True)
        return step if stated is None else stated

    def _considered(self, read: Learned, by_rules: Answer, known: bool, began: float) -> Considered:
        """The answer of the learned reader where it is sure, else of the rules, else where it is likely.

        That of the rules counts only if the learned reader finds readings with that answer not unlikely, or
        reads a negation, which it is not good at.
        """
        answer, sure = by_rules, read.learned is not None and _same(read.learned, by_rules)
        if by_rules.abstained is None and known and not (read.negated or self._confirmed(read, by_rules)):
            disagreeing = Abstention("no_relation", "two ways of reading it do not agree")
            answer = by_rules = drawn(by_rules, DraftAnswer(abstained=disagreeing), None)
        left_open = by_rules.abstained is not None and by_rules.abstained.reason != "ambiguous_entity"
        # *Yes* has a triple, *no* has none, and so must be sure.
        denied = by_rules.text == "no" and read.learned is not None and read.learned.text == "yes"
        least = read.least_sure(self.confidence)
        if left_open or denied:
            least = read.least(self.confidence) if left_open else self.confidence
        if read.learned is not None and read.learned.text == "no":
            least = max(least, SURE)
        if not known:
            sure = left_open
        elif read.learned is not None and read.likely >= least:
            answer = read.learned
        return Considered(self._finished(answer, read.reading, began, by_rules.id), read.reading, sure)

    def _confirmed(self, read: Learned, by_rules: Answer) -> bool:
        """Whether the learned reader finds the readings with an answer not much less likely than its best."""
        share = share_of(Executor(self.reader.graph), read.reading, by_rules)
        return share >= CONFIRMED * max(read.likely, LEAST_BEST)


def _same(one: Answer, other: Answer) -> bool:
    """Whether two answers name the same."""
    return {a.entity for a in one.answers} == {a.entity for a in other.answers} != set()


def built_in(index: Index, embedder: Embedder, settings: AutoSettings) -> BuiltIn:
    """The built-in readers of a graph: one pair for all that ask alike, as long as one of them does."""
    key = id(index.graph), id(embedder), settings.confidence
    made = _MADE.get(key)
    if made is None:
        made = _MADE[key] = BuiltIn(index, embedder, settings)
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
        choice = self.chooser.choose(considered.reading, talk, self._finds)
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
        return drawn(asked, drafted, say(choice.query, reader.vocabulary))

    def _finds(self, query: Query) -> bool:
        reader = self.plain.reader
        return answer_of(reader.graph, reader.vocabulary, query).abstained is None

    def _none(self, asked: Answer) -> Answer:
        """The abstention where the model says that the graph cannot tell."""
        left = Abstention("no_relation", "the model finds nothing in the graph that answers it")
        return drawn(asked, DraftAnswer(abstained=left), None)

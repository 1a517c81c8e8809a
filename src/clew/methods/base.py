"""The skeleton of a method that a chat model answers with: link → retrieve → read → ground.

A method writes `retrieve`, and has a prompt:

    class First(GraphMethod[KapingSettings]):
        name, settings_class = "first", KapingSettings

        def retrieve(self, question, called, run):
            return self.of_triples(run, triples_at(self.graph, entities_of(called))[:10].tolist(), called)

Linking (`FindTopicEntities`), reading (one call) and grounding (`ground.py`) are the same for all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, ClassVar, Generic, TypeVar

from clew.errors import UsageError
from clew.graph.graph import Graph
from clew.index.store.directory import Index
from clew.index.vectors.triples import with_triple_vectors
from clew.llm.managed import Talk, as_data, prompt_named
from clew.llm.reply import REPAIR_PROMPT, ChatModel, stated_answer
from clew.llm.types import BudgetReached, Request
from clew.methods.evidence import (
    Fact,
    Proofs,
    ReadEvidence,
    fact_lines,
    numbered,
    other_names,
    triples_at_node,
)
from clew.methods.ground import ASKED_YES_NO, GroundedReply, ground_reply
from clew.methods.question import Called, FindTopicEntities, Judge, entities_of, shared_names
from clew.methods.registry import ranks_triples
from clew.reading.reader import reader_of
from clew.text.embedders import Embedder
from clew.types import Abstention, Answer, Rows, Step, Verification

Result = TypeVar("Result", Answer, Verification)
SettingsT = TypeVar("SettingsT")
ZERO_SHOT = Request(temperature=0.0, max_tokens=2_048)


def needs_model(model: ChatModel | None, name: str) -> ChatModel:
    """The model; UsageError if there is none."""
    if model is None:
        raise UsageError(
            f"The method {name} needs a chat model. Name one, as in --llm ollama/llama3.1, or in Python "
            'model="ollama/llama3.1"; without a model: --method auto'
        )
    return model


class Run:
    """What a method keeps of one question: its steps and times, and `talk`, the calls of its model."""

    def __init__(self, method: str, id: str | None, model: ChatModel) -> None:
        self.method, self.id, self.talk = method, id, Talk(model, id)
        self.began, self.steps, self.timings = perf_counter(), list[Step](), dict[str, float]()

    @contextmanager
    def stage(self, name: str) -> Generator[None]:
        """Add the time of what is done here to a stage, in milliseconds."""
        since = perf_counter()
        try:
            yield
        finally:
            self.timings[name] = self.timings.get(name, 0.0) + (perf_counter() - since) * 1000

    def note(self, name: str, detail: Mapping[str, Any]) -> None:
        """Add a step to the trace when it is taken."""
        self.steps.append(Step.taken(name, detail))

    def answer(self, question: str, work: Callable[[], Answer]) -> Answer:
        """Work on a question to its end; a budget that is reached is an abstention. Raises as `work`."""
        try:
            answer = work()
        except BudgetReached as error:
            answer = Answer(question, abstained=Abstention("budget", str(error)))
        return self.finish(answer)

    def finish(self, result: Result) -> Result:
        """Return the result with who gave it, what it cost, and how it came to be."""
        self.timings["total"] = (perf_counter() - self.began) * 1000
        talk = self.talk
        return replace(
            result,
            id=self.id,
            method=self.method,
            model=talk.model.name,
            usage=talk.usage,
            timings_ms={stage: round(ms, 3) for stage, ms in self.timings.items()},
            steps=(*self.steps, *talk.steps),
        )


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The facts that a model reads, and notes on what a limit left out."""

    facts: tuple[Fact, ...]
    notes: tuple[str, ...] = ()


def first_of(triples: Sequence[int], most: int) -> tuple[Sequence[int], tuple[str, ...]]:
    """At most `most` of some triples, and a note on how many there were."""
    if len(triples) <= most:
        return triples, ()
    return triples[:most], (f"{most:,} of {len(triples):,} triples are read",)


class ModelMethod(Generic[SettingsT]):
    """What methods over an index share: a model, linking, reading in one call, and grounding."""

    name: ClassVar[str] = ""
    settings_class: type[SettingsT]
    prompt: ClassVar[tuple[str, str]] = ("clew.methods.kg_rag", "sub_answer")
    """Package and name. KG-RAG compares with the baselines by the prompt of its sub-answers."""
    sampling: ClassVar[Request] = ZERO_SHOT
    needs_topics: ClassVar[bool] = False
    """Nothing is retrieved for a question that names no entity."""

    def __init__(
        self,
        index: Index,
        embedder: Embedder,
        *,
        model: ChatModel | None = None,
        settings: SettingsT | None = None,
    ) -> None:
        self.model = needs_model(model, self.name)
        self.settings: Any = self.settings_class() if settings is None else settings
        self.index = with_triple_vectors(index, embedder) if ranks_triples([self.name]) else index
        self.graph, self.embedder = self.index.graph, embedder
        self.reader = reader_of(self.index, embedder)
        self.find_topic_entities, self.judge = FindTopicEntities(self.reader), Judge(self.reader)
        self.prepare()

    def prepare(self) -> None:
        """Make what this method alone needs, once for all questions."""

    def link(self, question: str, entities: Sequence[str], run: Run) -> Called:
        """The entities of the question, by what it calls them: proofs begin there."""
        return self.find_topic_entities.called(question, entities)

    def linked(self, question: str, entities: Sequence[str], run: Run) -> tuple[Called, Abstention | None]:
        """The entities of the question, and why nothing can be retrieved around them, if so."""
        with run.stage("link"):
            called = self.link(question, entities, run)
            if not entities and not self.needs_topics:
                return called, None
            return called, self.find_topic_entities.missing(question, entities, entities_of(called))

    def read(
        self,
        run: Run,
        evidence: ReadEvidence,
        values: Mapping[str, str],
        prompt: str | None = None,
        sampling: Request | None = None,
    ) -> GroundedReply:
        """Ask the model, and ground its reply; once more if that has no answer. Raises LlmError."""
        package, name = self.prompt
        asked, sampling, talk = prompt_named(package, prompt or name), sampling or self.sampling, run.talk
        reply = talk.ask(asked, sampling, stop=(), **values)
        grounded = ground_reply(stated_answer(reply), evidence)
        if not grounded.readable:
            second = stated_answer(talk.ask_again(asked, sampling, reply, REPAIR_PROMPT, values))
            # The first reply is the explanation: the second was to be the two lines alone.
            second = replace(second, text=reply.strip()) if second.form else second
            grounded = ground_reply(second, evidence)
        return replace(grounded, cut=talk.cut)

    def answer_of(
        self, question: str, reply: GroundedReply, *, complete: bool, notes: tuple[str, ...] = ()
    ) -> Answer:
        """The answer of a grounded reply; one that nothing proves only if the settings allow it."""
        notes = (*reply.notes, *notes)
        if reply.abstained is None:
            rows = Rows(("thing", "value"), reply.pairs) if reply.pairs else None
            text = " · ".join(map(": ".join, reply.pairs)) or reply.text
            return Answer(
                question, reply.answers(self.graph), text, citations=reply.citations(self.graph),
                complete=complete, notes=notes, rows=rows,
            )  # fmt: skip
        if reply.unproved and self.settings.allow_ungrounded:
            return ungrounded(question, reply.unproved, (reply.abstained.detail, *notes))
        return Answer(question, abstained=reply.abstained, complete=complete, notes=notes)


class GraphMethod(ModelMethod[SettingsT], ABC):
    """Links entities, retrieves facts (the part that differs), has them read, and grounds the reply."""

    needs_topics: ClassVar[bool] = True

    @abstractmethod
    def retrieve(self, question: str, called: Called, run: Run) -> Retrieved:
        """The facts that are read, around the entities of the question."""

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer one question, or abstain with a reason; `entities` are what it is about. Raises LlmError."""
        run = Run(self.name, id, self.model)
        return run.answer(question, lambda: self.work(run, question, entities))

    def work(self, run: Run, question: str, entities: Sequence[str]) -> Answer:
        """Link, retrieve, read and ground. Raises LlmError."""
        called, abstention = self.linked(question, entities, run)
        topics = entities_of(called)
        if abstention is not None:
            return Answer(question, abstained=abstention)
        with run.stage("retrieve"):
            retrieved = self.retrieve(question, called, run)
        if not retrieved.facts:
            return Answer(question, abstained=Abstention("empty_result", "nothing was retrieved"))
        known, named = dict.fromkeys(topics, ()), frozenset(topics)
        evidence = ReadEvidence(self.graph, self.judge, question, retrieved.facts, known, named)
        text = "\n".join(numbered(retrieved.facts))
        values = {"TRIPLES": text, "CONTEXT": text, "QUESTION": as_data(question)}
        with run.stage("read"):
            reply = self.read(run, evidence, values | {"NAMES": other_names(self.graph, called)})
        complete = not reply.cut and not retrieved.notes and self.is_complete(reply, retrieved)
        return self.answer_of(question, reply, complete=complete, notes=shared_names(called))

    def of_triples(
        self, run: Run, triples: Sequence[int], called: Called, notes: tuple[str, ...] = ()
    ) -> Retrieved:
        """Facts of triples; those of one relation at an entity of the question are one line."""
        graph = self.graph
        facts = fact_lines(graph, triples, dict.fromkeys(entities_of(called), ()))
        rows = [
            [graph.entities[head], graph.relations[relation], graph.entities[tail]]
            for head, relation, tail in map(graph.triple, triples)
        ]
        run.note("evidence", {"triples": rows} | ({"notes": list(notes)} if notes else {}))
        return Retrieved(facts, notes)

    def is_complete(self, reply: GroundedReply, retrieved: Retrieved) -> bool:
        """Whether no answer is left out: the lists that the answers come from were read whole."""
        triples = {triple for fact in retrieved.facts for triple in fact.triples}
        lists = reply.proofs and lists_are_whole(self.graph, reply.proofs, triples)
        return bool(lists) or reply.value in ASKED_YES_NO


def ungrounded(question: str, text: str, notes: tuple[str, ...] = ()) -> Answer:
    """An answer that no triple proves, and says so."""
    return Answer(question, text=text, grounded=False, notes=notes)


def lists_are_whole(graph: Graph, proofs: Proofs, read_triples: Collection[int]) -> bool:
    """Whether nothing was left out of the lists that answers come from: those of their last triples."""
    lists: set[tuple[int, int, int]] = set()
    for entity, proof in proofs.items():
        head, relation, tail = graph.triple(proof[-1])
        if entity in (head, tail):
            lists.add((relation, 1, tail) if entity == head else (relation, 0, head))
    return all(
        triple in read_triples
        for relation, side, node in lists
        for triple in triples_at_node(graph, node, relation, side)
    )

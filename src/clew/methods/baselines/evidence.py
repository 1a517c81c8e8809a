"""What the baselines that retrieve triples and read them once have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Generic, TypeVar

from clew.graph.graph import Graph
from clew.index.store.directory import Index
from clew.index.vectors.triple_vectors import with_triple_vectors
from clew.llm.errors import BudgetReached
from clew.llm.grounded_reply import ASKED_YES_NO, GroundedReply, ask_and_ground
from clew.llm.prompting import Sampling, Talk, as_data, prompt_named
from clew.llm.read_evidence import Proofs, ReadEvidence
from clew.llm.types import ChatModel
from clew.methods.built_in import built_in_reader
from clew.methods.fact_lines import fact_lines, other_names
from clew.methods.kg_rag.chain import edges_of, follow, given_proofs, hops_of, used_of
from clew.methods.kg_rag.retrieve import RetrievedTriples, lists_are_whole
from clew.methods.registry import ranks_triples
from clew.methods.run import Run
from clew.methods.topic_entities import Called, FindTopicEntities, entities_of, shared_names
from clew.text.embedder import Embedder
from clew.types import Abstention, Answer, AnswerEntity, Pattern, Step

ZERO_SHOT = Sampling(temperature=0.0, max_tokens=2_048)
SettingsT = TypeVar("SettingsT")


def first_of(triples: Sequence[int], most: int) -> RetrievedTriples:
    """At most `most` of some triples, and a note on how many there were."""
    if len(triples) <= most:
        return RetrievedTriples(triples)
    return RetrievedTriples(triples[:most], (f"{most:,} of {len(triples):,} triples are read",))


class EvidenceMethod(ABC, Generic[SettingsT]):
    """Links entities, retrieves triples (the part that differs), reads them, grounds the answer."""

    name = ""
    settings_class: type[SettingsT]

    def __init__(
        self,
        index: Index,
        embedder: Embedder,
        *,
        model: ChatModel | None = None,
        settings: SettingsT | None = None,
    ) -> None:
        self.settings = self.settings_class() if settings is None else settings
        ranking = ranks_triples({self.name: self.settings})
        self.index = with_triple_vectors(index, embedder) if ranking else index
        self.graph, self.model, self.embedder = self.index.graph, model, embedder
        self.find_topic_entities = FindTopicEntities.of(self.index, embedder)
        self.read_pattern = built_in_reader(self.index, embedder).pattern

    @abstractmethod
    def retrieve(self, question: str, topic_entities: Sequence[int], talk: Talk | None) -> RetrievedTriples:
        """The triples that are read."""

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer one question from retrieved triples, or abstain with a reason. Raises LlmError."""
        run = Run.begin(self.name, id, self.model)
        retrieved = RetrievedTriples()
        called: Called = {}
        try:
            with run.stage("link"):
                called = self.called(question, entities, run.talk)
                topic_entities = self.topic_entities(question, called)
                abstention = self.find_topic_entities.missing(question, entities, topic_entities)
            with run.stage("retrieve"):
                retrieved = (
                    self.retrieve(question, topic_entities, run.talk) if abstention is None else retrieved
                )
            with run.stage("read"):
                if abstention is None and not retrieved.triples:
                    abstention = Abstention("empty_result", "no triples were retrieved")
                if abstention is not None:
                    answer = Answer(question, abstained=abstention)
                elif run.talk is None:
                    answer = self._by_pattern(question, entities, retrieved.triples)
                else:
                    answer = self._by_model(question, called, retrieved.triples, run.talk)
        except BudgetReached as error:
            answer = Answer(question, abstained=Abstention("budget", str(error)))
        run.steps.append(self._step(retrieved))
        name_notes = shared_names(called) if run.talk is not None else ()
        complete = answer.complete and not retrieved.notes
        return run.finish(replace(answer, complete=complete, notes=(*answer.notes, *name_notes)))

    def called(self, question: str, entities: Sequence[str], talk: Talk | None) -> Called:
        """The entities of the question, by what it calls them: proofs begin there."""
        return self.find_topic_entities.called(question, entities)

    def topic_entities(self, question: str, called: Called) -> tuple[int, ...]:
        """Where retrieval begins: at the entities of the question."""
        return entities_of(called)

    def _step(self, retrieved: RetrievedTriples) -> Step:
        names, relations = self.graph.entities, self.graph.relations
        triples = [
            [names[head], relations[relation], names[tail]]
            for head, relation, tail in map(self.graph.triple, retrieved.triples)
        ]
        return Step(
            "evidence", {"triples": triples, **({"notes": list(retrieved.notes)} if retrieved.notes else {})}
        )

    def _by_model(self, question: str, called: Called, triples: Sequence[int], talk: Talk) -> Answer:
        """By the prompt of KG-RAG's sub-answers, as KG-RAG compares with these methods by it."""
        graph, topics = self.graph, entities_of(called)
        start_proofs: Proofs = dict.fromkeys(topics, ())
        lines = fact_lines(graph, triples, start_proofs)
        evidence = ReadEvidence(
            graph, lines.facts, start_proofs, frozenset(topics), self.find_topic_entities.is_name
        )
        values = {"TRIPLES": str(lines), "NAMES": other_names(graph, called), "QUESTION": as_data(question)}
        prompt = prompt_named("clew.methods.kg_rag", "sub_answer")
        reply = ask_and_ground(talk, prompt, ZERO_SHOT, evidence, values)
        lists = reply.proofs and lists_are_whole(graph, reply.proofs, set(triples))
        complete = not reply.cut and (bool(lists) or reply.value in ASKED_YES_NO)
        if reply.abstained is not None:
            return Answer(question, abstained=reply.abstained, complete=complete)
        answers, citations = reply.answers(graph), reply.citations(graph)
        return Answer(
            question, answers, reply.text, citations=citations, complete=complete, notes=reply.notes
        )

    def _by_pattern(self, question: str, entities: Sequence[str], triples: Sequence[int]) -> Answer:
        asked_pattern = self.read_pattern(question, entities)
        if isinstance(asked_pattern, Abstention):
            return Answer(question, abstained=asked_pattern)
        graph, pattern = self.graph, asked_pattern.pattern
        proofs, complete = follow_pattern(graph, pattern, triples)
        answer = Answer(question, pattern=pattern, complete=complete, notes=asked_pattern.notes)
        if not proofs:
            detail = "the triples that were retrieved do not hold the answer"
            return replace(answer, abstained=Abstention("empty_result", detail))
        reply, value = GroundedReply(" · ".join(graph.label(e) for e in proofs), proofs), None
        answers, citations, text = reply.answers(graph), reply.citations(graph), reply.text
        if pattern.answer is None:
            value = "yes"
        elif asked_pattern.counts:
            if not complete:
                detail = f"at least {len(answers)}, but not all triples that count were retrieved"
                return replace(answer, abstained=Abstention("not_in_evidence", detail), notes=())
            value = str(len(answers))
        if value is not None:
            text, answers = value, (AnswerEntity(value, value, 1.0),)
            citations = tuple(replace(c, answer=value) for c in citations)
        return replace(answer, answers=answers, text=text, citations=citations)


def follow_pattern(graph: Graph, pattern: Pattern, triples: Sequence[int]) -> tuple[Proofs, bool]:
    """The proved entities at the last edge of a pattern, and whether `triples` have all that it needs."""
    proofs_by_node, proofs, complete = given_proofs(pattern), dict[int, tuple[int, ...]](), True
    for hop in hops_of(pattern):
        starts = proofs_by_node[hop.start]
        complete &= used_of(graph, hop, starts, triples) == edges_of(graph, hop, starts)
        proofs = follow(graph, hop, proofs_by_node, triples)
        proofs_by_node[hop.end] = proofs
    return proofs, complete

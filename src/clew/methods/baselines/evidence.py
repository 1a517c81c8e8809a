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
from clew.llm.grounded_reply import ASKED_YES_NO, Given, GroundedReply, Proofs, ask_and_ground
from clew.llm.prompting import Sampling, Talk, as_data, prompt_named
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
        """What is read."""

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer one question from retrieved triples, or abstain with a reason. Raises LlmError."""
        run = Run.begin(self.name, id, self.model)
        found = RetrievedTriples()
        called: Called = {}
        try:
            with run.stage("link"):
                called = self.called(question, entities, run.talk)
                topic_entities = self.topic_entities(question, called)
                missing = self.find_topic_entities.missing(question, entities, topic_entities)
            with run.stage("retrieve"):
                found = self.retrieve(question, topic_entities, run.talk) if missing is None else found
            with run.stage("read"):
                if missing is None and not found.triples:
                    missing = Abstention("empty_result", "no triples were retrieved")
                if missing is not None:
                    answer = Answer(question, abstained=missing)
                elif run.talk is None:
                    answer = self._by_pattern(question, entities, found.triples)
                else:
                    answer = self._by_model(question, called, found.triples, run.talk)
        except BudgetReached as error:
            answer = Answer(question, abstained=Abstention("budget", str(error)))
        run.steps.append(self._step(found))
        shared = shared_names(called) if run.talk is not None else ()
        complete = answer.complete and not found.notes
        return run.finish(replace(answer, complete=complete, notes=(*answer.notes, *shared)))

    def called(self, question: str, entities: Sequence[str], talk: Talk | None) -> Called:
        """The entities of the question, by what it calls them: proofs begin there."""
        return self.find_topic_entities.called(question, entities)

    def topic_entities(self, question: str, called: Called) -> tuple[int, ...]:
        """Where retrieval begins: at the entities of the question."""
        return entities_of(called)

    def _step(self, found: RetrievedTriples) -> Step:
        names, relations = self.graph.entities, self.graph.relations
        told = [
            [names[head], relations[relation], names[tail]]
            for head, relation, tail in map(self.graph.triple, found.triples)
        ]
        return Step("evidence", {"triples": told, **({"notes": list(found.notes)} if found.notes else {})})

    def _by_model(self, question: str, called: Called, triples: Sequence[int], talk: Talk) -> Answer:
        """By the prompt of KG-RAG's sub-answers, as KG-RAG compares with these methods by it."""
        graph, topics = self.graph, entities_of(called)
        known: Proofs = dict.fromkeys(topics, ())
        lines = fact_lines(graph, triples, known)
        given = Given(graph, lines.facts, known, frozenset(topics), self.find_topic_entities.is_name)
        values = {"TRIPLES": str(lines), "NAMES": other_names(graph, called), "QUESTION": as_data(question)}
        prompt = prompt_named("clew.methods.kg_rag", "sub_answer")
        found = ask_and_ground(talk, prompt, ZERO_SHOT, given, values)
        lists = found.proofs and lists_are_whole(graph, found.proofs, set(triples))
        complete = not found.cut and (bool(lists) or found.value in ASKED_YES_NO)
        if found.abstained is not None:
            return Answer(question, abstained=found.abstained, complete=complete)
        answers, citations = found.answers(graph), found.citations(graph)
        return Answer(
            question, answers, found.text, citations=citations, complete=complete, notes=found.notes
        )

    def _by_pattern(self, question: str, entities: Sequence[str], triples: Sequence[int]) -> Answer:
        asked = self.read_pattern(question, entities)
        if isinstance(asked, Abstention):
            return Answer(question, abstained=asked)
        graph, pattern = self.graph, asked.pattern
        proofs, complete = follow_pattern(graph, pattern, triples)
        answer = Answer(question, pattern=pattern, complete=complete, notes=asked.notes)
        if not proofs:
            detail = "the triples that were retrieved do not hold the answer"
            return replace(answer, abstained=Abstention("empty_result", detail))
        found, said = GroundedReply(" · ".join(graph.labels[e] for e in proofs), proofs), None
        answers, citations, text = found.answers(graph), found.citations(graph), found.text
        if pattern.answer is None:
            said = "yes"
        elif asked.counts:
            if not complete:
                detail = f"at least {len(answers)}, but not all triples that count were retrieved"
                return replace(answer, abstained=Abstention("not_in_evidence", detail), notes=())
            said = str(len(answers))
        if said is not None:
            text, answers = said, (AnswerEntity(said, said, 1.0),)
            citations = tuple(replace(c, answer=said) for c in citations)
        return replace(answer, answers=answers, text=text, citations=citations)


def follow_pattern(graph: Graph, pattern: Pattern, triples: Sequence[int]) -> tuple[Proofs, bool]:
    """The proved entities at the last edge of a pattern, and whether `triples` have all that it needs."""
    known, proofs, complete = given_proofs(pattern), dict[int, tuple[int, ...]](), True
    for hop in hops_of(pattern):
        starts = known[hop.start]
        complete &= used_of(graph, hop, starts, triples) == edges_of(graph, hop, starts)
        proofs = follow(graph, hop, known, triples)
        known[hop.end] = proofs
    return proofs, complete

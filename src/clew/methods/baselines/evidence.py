"""What the baselines that retrieve triples and read them once have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from clew.grounding import ground
from clew.index.store.directory import Index
from clew.llm.errors import BudgetReached
from clew.llm.prompting import Sampling, Talk, prompt_named
from clew.llm.types import ChatModel
from clew.methods.baselines.read_triples import ReadTriples, TriplesAnswer
from clew.methods.built_in import built_in_reader
from clew.methods.run import Run
from clew.methods.topic_entities import FindTopicEntities, shared_names
from clew.text.embedder import Embedder
from clew.types import Abstention, Answer, AnswerEntity, Match, Step

ZERO_SHOT = Sampling(temperature=0.0, max_tokens=2_048)


@dataclass(frozen=True, slots=True)
class RetrievedTriples:
    """Triple ids, best first; `notes` say what a limit left out of them."""

    triples: Sequence[int] = ()
    notes: tuple[str, ...] = ()


def first_of(triples: Sequence[int], most: int) -> RetrievedTriples:
    """At most `most` of some triples, and a note on how many there were."""
    if len(triples) <= most:
        return RetrievedTriples(triples)
    return RetrievedTriples(triples[:most], (f"{most:,} of {len(triples):,} triples are read",))


class EvidenceMethod(ABC):
    """Links entities, retrieves triples (the part that differs), reads them, grounds the answer."""

    name = ""

    def __init__(self, index: Index, embedder: Embedder, *, model: ChatModel | None = None) -> None:
        self.index, self.graph, self.model, self.embedder = index, index.graph, model, embedder
        self.find_topic_entities = FindTopicEntities.of(index, embedder)
        built_in = built_in_reader(index, embedder)
        # KG-RAG compares with these by the prompt of its own sub-answers.
        prompt = prompt_named("clew.methods.kg_rag", "sub_answer")
        self.read = ReadTriples(
            built_in.reader.graph,
            built_in.pattern,
            prompt,
            ZERO_SHOT,
            lambda name: bool(index.names.exact(name)),
        )

    @abstractmethod
    def retrieve(self, question: str, topic_entities: Sequence[int], talk: Talk | None) -> RetrievedTriples:
        """What is read."""

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer one question from retrieved triples, or abstain with a reason. Raises LlmError."""
        run = Run.begin(self.name, id, self.model)
        found = RetrievedTriples()
        called: Mapping[str, tuple[int, ...]] = {}
        try:
            with run.stage("link"):
                called = self.called(question, entities, run.talk)
                topic_entities = self.topic_entities(question, called)
                missing = self.find_topic_entities.missing(question, entities, topic_entities)
            with run.stage("retrieve"):
                found = self.retrieve(question, topic_entities, run.talk) if missing is None else found
            with run.stage("read"):
                if missing is not None:
                    read = TriplesAnswer(abstained=missing)
                elif not found.triples:
                    read = TriplesAnswer(abstained=Abstention("empty_result", "no triples were retrieved"))
                else:
                    read = self.read(question, entities, called, found.triples, run.talk)
        except BudgetReached as error:
            read = TriplesAnswer(abstained=Abstention("budget", str(error)))
        run.steps.append(self._step(found))
        complete = read.complete and not found.notes
        answer = replace(self._grounded(question, read), complete=complete)
        if run.talk is not None:
            answer = replace(answer, notes=(*answer.notes, *shared_names(called)))
        return run.finish(answer)

    def called(
        self, question: str, entities: Sequence[str], talk: Talk | None
    ) -> Mapping[str, tuple[int, ...]]:
        """The entities of the question, by what it calls them: proofs begin there."""
        return self.find_topic_entities.called(question, entities)

    def topic_entities(self, question: str, called: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
        """Where retrieval begins: at the entities of the question."""
        return tuple(dict.fromkeys(entity for found in called.values() for entity in found))

    def _step(self, found: RetrievedTriples) -> Step:
        names, relations = self.graph.entities, self.graph.relations
        told = [
            [names[head], relations[relation], names[tail]]
            for head, relation, tail in map(self.graph.triple, found.triples)
        ]
        return Step("evidence", {"triples": told, **({"notes": list(found.notes)} if found.notes else {})})

    def _grounded(self, question: str, read: TriplesAnswer) -> Answer:
        if read.reply is not None and read.abstained is None:
            reply = read.reply
            answers, citations = reply.answers(self.graph), reply.citations(self.graph)
            return Answer(question, answers, reply.text, citations=citations, notes=reply.notes)
        if not read.proofs:
            return Answer(question, abstained=read.abstained, pattern=read.pattern, notes=read.notes)
        matches = [Match(0.0, 0, (entity,), proof) for entity, proof in read.proofs.items()]
        answers, citations, left = ground(self.graph, read.proofs, matches, 0)
        text, pattern = read.text, read.pattern
        said = None
        if pattern is not None and pattern.answer is None:
            said = "yes"
        elif pattern is not None and read.counts:
            if not read.complete:
                detail = f"at least {len(answers)}, but not all triples that count were retrieved"
                return Answer(question, abstained=Abstention("not_in_evidence", detail), pattern=pattern)
            said = str(len(answers))
        if said is not None:
            text, answers = said, (AnswerEntity(said, said, 1.0),)
            citations = tuple(replace(c, answer=said) for c in citations)
        return Answer(question, answers, text, left, citations, pattern, notes=read.notes)

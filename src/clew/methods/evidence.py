"""What the baselines that retrieve triples and read them once have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter

from clew.grounding import ground
from clew.index.directory import Index
from clew.llm.errors import BudgetReached
from clew.llm.types import ChatModel
from clew.methods.auto import Auto
from clew.methods.kg_rag import built_in_decompose, no_entity
from clew.steps.prompting import Sampling, Talk, prompt_named
from clew.steps.read_triples import Read, ReadTriples
from clew.steps.seeds import FindSeeds
from clew.text.embedder import Embedder
from clew.text.question import read_question
from clew.types import Abstention, Answer, AnswerEntity, Match, Step, Usage

ZERO_SHOT = Sampling(temperature=0.0, max_tokens=256)


class EvidenceMethod(ABC):
    """Links entities, retrieves triples (the part that differs), reads them, grounds the answer."""

    name = ""
    prompt = "kaping"

    def __init__(self, index: Index, embedder: Embedder, *, model: ChatModel | None = None) -> None:
        self.index, self.graph, self.model, self.embedder = index, index.graph, model, embedder
        self.auto = Auto(index, embedder)
        self.find_seeds = FindSeeds(index.names, self.auto.linker, self.auto.reader)
        decompose = built_in_decompose(self.auto)
        self.read = ReadTriples(self.graph, decompose, prompt_named(self.prompt), ZERO_SHOT)

    @abstractmethod
    def retrieve(self, question: str, seeds: Sequence[int], talk: Talk | None) -> Sequence[int]:
        """Triple ids, best first."""

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer one question from retrieved triples, or abstain with a reason. Raises LlmError."""
        began = perf_counter()
        talk = None if self.model is None else Talk.begin(self.model, id)
        timings: dict[str, float] = {}
        triples: Sequence[int] = ()
        try:
            seeds = self.seeds(question, entities, talk)
            timings["link"] = perf_counter() - began
            since = perf_counter()
            triples = self.retrieve(question, seeds, talk) if seeds else ()
            timings["retrieve"] = perf_counter() - since
            since = perf_counter()
            if not seeds:
                read = Read(abstained=no_entity(self.index, question))
            elif not triples:
                read = Read(abstained=Abstention("empty_result", "no triples were retrieved"))
            else:
                read = self.read(question, entities, seeds, triples, talk)
            timings["read"] = perf_counter() - since
        except BudgetReached as error:
            read = Read(abstained=Abstention("budget", str(error)))
        timings["total"] = perf_counter() - began
        evidence = [self.graph.triple(t) for t in triples]
        names, relations = self.graph.entities, self.graph.relations
        told = [[names[head], relations[relation], names[tail]] for head, relation, tail in evidence]
        return replace(
            self._grounded(question, read),
            id=id,
            method=self.name,
            model=None if talk is None else talk.model.name,
            usage=Usage() if talk is None else talk.usage,
            timings_ms={stage: round(1000 * seconds, 3) for stage, seconds in timings.items()},
            steps=(Step("evidence", {"triples": told}), *(() if talk is None else talk.steps)),
        )

    def seeds(self, question: str, entities: Sequence[str], talk: Talk | None) -> tuple[int, ...]:
        """Where retrieval begins."""
        return self.find_seeds(question, entities)

    def _grounded(self, question: str, read: Read) -> Answer:
        if not read.proofs:
            return Answer(question, abstained=read.abstained, pattern=read.pattern)
        matches = [Match(0.0, 0, (entity,), proof) for entity, proof in read.proofs.items()]
        answers, citations, left = ground(self.graph, read.proofs, matches, 0)
        text, pattern = read.text, read.pattern
        said = None
        if pattern is not None and pattern.answer is None:
            said = "yes"
        elif pattern is not None and read_question(question).count:
            said = str(len(answers))
        if said is not None:
            text, answers = said, (AnswerEntity(said, said, 1.0),)
            citations = tuple(replace(c, answer=said) for c in citations)
        return Answer(question, answers, text, left, citations, pattern)

"""KG-RAG: a question is taken apart; sub-questions are answered in turn from retrieved triples.

Linders and Tomczak, *Knowledge graph-extended retrieval augmented generation for question answering*, Applied
Intelligence, 2025. Steps, in the paper's order, with their files:

    3.4.1 question decomposition        decompose.py
    3.4.2 candidate triple retrieval    graph/neighbourhood.py; index/vectors/triple_vectors.py, when indexed
    3.4.3 sub-question answering        top-K here, sub_answer.py; reformulate.py
    3.4.4 answer synthesis              synthesise.py
    then  grounding                     grounding.py

Defaults: N = 3 hops, both directions (3.4.2, 4.3.1); K = 30 (4.3.1); max tokens 256, temperature 0.3, min-p
0.05, top-k 40 (Table 3); stop at `<END>` (3.4.1); repeat penalty 1.1 for sub-answers, stop at `?` for
reformulation (3.4.3); 512 tokens for synthesis (3.4.4); one seed for all steps (4.2.1). A parameter that
the model's server does not take is not sent; the trace notes it.

Deviations, with their reasons:

- The candidates of a later sub-question are the triples around earlier answers, and around the question's
  entities that it names (`frontier="answers"`): a chain can go beyond N hops, and its top K are not crowded
  out by what merely is near (Hits@1 in benchmarks/RESULTS.md). `frontier="question"` is the paper's: N hops
  from the question's entities, always.
- A later sub-question that the triples around the answers do not answer is asked once more, of those within
  N hops of them: section 4.4.3 reports plans with a 1-hop and a 2-hop sub-question.
- What is handed from sub-question to sub-question is the names that the evidence proves, not the model's
  sentence, and a sub-question without any ends the chain with an abstention: section 4.4.3 reports
  sub-answers from the model's own knowledge. The chain shows the sentence too. `handed="sentences"` is the
  paper's: sub-answers go on as they were said, and no chain ends early.
- A sub-question that repeats another or adds no new triple is dropped (over-decomposition; not with
  `handed="sentences"`), one that takes several triples is noted (under-decomposition): section 4.4.3 only
  counts them.
- At most 8 sub-questions of a plan are asked; the answer is then marked incomplete.
- What the final answer names has to be proved by the chain, in either form; its text is kept.
- The answer is the entities that the synthesis names of the last sub-answer that it names any of.
- Without a model every step has a built-in form, from the pattern of the question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Literal

from clew.errors import UsageError
from clew.graph.graph import Graph
from clew.graph.neighbourhood import CandidateTriples, HopLimits, find_candidates, hub_notes
from clew.grounding import ground
from clew.index.store.directory import Index
from clew.index.vectors.triple_vectors import TripleVectors, with_triple_vectors
from clew.llm.errors import BudgetReached
from clew.llm.prompting import Sampling, Talk, short
from clew.llm.refusals import declines
from clew.llm.types import ChatModel
from clew.methods.kg_rag.chain import Link, Plan, SubQuestion, as_chain
from clew.methods.kg_rag.decompose import Decompose, ModelDecompose, PatternDecompose
from clew.methods.kg_rag.demonstrations import Demonstration, default_demonstrations
from clew.methods.kg_rag.entities_named_in import entities_named_in, without_names
from clew.methods.kg_rag.reformulate import Handed, ModelReformulate, Reformulate, SubstituteAnswers
from clew.methods.kg_rag.sub_answer import AnswerSubQuestion, Asked, FollowHop, ModelAnswer, ground_text
from clew.methods.kg_rag.synthesise import Draft, LastAnswer, ModelSynthesis, Synthesise
from clew.methods.settings import positive
from clew.methods.topic_entities import FindTopicEntities
from clew.reading.rules.auto import Auto, auto_of
from clew.reading.rules.question import read_question
from clew.text.embedder import Embedder
from clew.text.normalise import normalise
from clew.types import Abstention, Answer, AnswerEntity, Chain, Match, Step, Usage

Frontier = Literal["question", "answers"]
TABLE_3 = Sampling(temperature=0.3, top_k=40, min_p=0.05, max_tokens=256)


@dataclass(frozen=True, slots=True)
class Settings:
    """N hops, K triples for a sub-question, where candidates begin, and hops around an earlier answer.

    `handed` says what of a sub-answer goes on: the names that are proved, or the model's sentence (3.4.3).
    `directed` follows triples from head to tail alone (3.4.2, *unidirectional*). `limits` bound a hop at
    hubs. `seed` and `temperature` are those of the model's sampling; `shots` of the `examples` (Clew's own if
    None) are in the prompt that decomposes. Raises UsageError for values out of range.
    """

    hops: int = 3
    top: int = 30
    frontier: Frontier = "answers"
    handed: Handed = "names"
    directed: bool = False
    answer_hops: int = 1
    limits: HopLimits = field(default_factory=HopLimits)
    seed: int = 0
    temperature: float = 0.3
    shots: int = 3
    examples: tuple[Demonstration, ...] | None = None

    def __post_init__(self) -> None:
        positive("kg-rag", hops=self.hops, top=self.top, answer_hops=self.answer_hops)
        if self.frontier not in ("question", "answers"):
            raise UsageError(f"There is no frontier {self.frontier!r}. It is question or answers.")
        if self.handed not in ("names", "sentences"):
            raise UsageError(f"Nothing is handed on as {self.handed!r}. It is names or sentences.")
        if self.shots < 0 or not 0 <= self.temperature <= 2:
            raise UsageError("kg-rag: shots must be at least 0, the temperature from 0 to 2")

    @property
    def sampling(self) -> Sampling:
        """Table 3, with the same seed for all steps (4.2.1)."""
        return replace(TABLE_3, seed=self.seed, temperature=self.temperature)

    @property
    def worked(self) -> tuple[Demonstration, ...]:
        """The examples of the prompt that decomposes."""
        return (default_demonstrations() if self.examples is None else self.examples)[: self.shots]


@dataclass(frozen=True, slots=True)
class Steps:
    """The exchangeable steps of KG-RAG."""

    decompose: Decompose
    answer: AnswerSubQuestion
    reformulate: Reformulate
    synthesise: Synthesise


def model_steps(graph: Graph, settings: Settings) -> Steps:
    """Make the steps as in the paper, by a chat model."""
    sampling, handed = settings.sampling, settings.handed
    return Steps(
        ModelDecompose(sampling, settings.worked),
        ModelAnswer(graph, replace(sampling, repeat_penalty=1.1)),
        ModelReformulate(graph, sampling, handed),
        ModelSynthesis(graph, replace(sampling, max_tokens=512), handed),
    )


def built_in_decompose(auto: Auto) -> PatternDecompose:
    """Make the decomposition that needs no model."""
    return PatternDecompose(auto.graph, auto.linker, auto.reader, auto.pattern)


def built_in_steps(auto: Auto, frontier: Frontier) -> Steps:
    """Make the steps that need no model; candidates around the question alone need names to go on from."""
    graph = auto.graph
    decompose = built_in_decompose(auto)
    substitute = (
        SubstituteAnswers(graph, 8, some=True) if frontier == "question" else SubstituteAnswers(graph)
    )
    return Steps(decompose, FollowHop(graph), substitute, LastAnswer(graph))


@dataclass(slots=True)
class _Work:
    """What is known of a question while it is worked on."""

    question: str
    talk: Talk | None
    plan: Plan = field(default_factory=Plan)
    seeds: tuple[int, ...] = ()
    links: list[Link] = field(default_factory=list[Link])
    notes: list[str] = field(default_factory=list[str])
    steps: list[Step] = field(default_factory=list[Step])
    timings: dict[str, float] = field(default_factory=dict[str, float])
    complete: bool = True

    def time(self, stage: str, since: float) -> None:
        self.timings[stage] = self.timings.get(stage, 0.0) + (perf_counter() - since) * 1000


class KgRag:
    """Answers with a reasoning chain, with a chat model or without."""

    name = "kg-rag"

    def __init__(
        self,
        index: Index,
        embedder: Embedder,
        *,
        model: ChatModel | None = None,
        settings: Settings | None = None,
        steps: Steps | None = None,
    ) -> None:
        self.index = with_triple_vectors(index, embedder)
        self.graph, self.model, self.settings = self.index.graph, model, settings or Settings()
        self.vectors = TripleVectors.of(self.index, embedder)
        auto = auto_of(self.index, embedder)
        self.find_topic_entities = FindTopicEntities(self.graph, self.index.names, auto.linker, auto.reader)
        self.steps = steps or (
            built_in_steps(auto, self.settings.frontier)
            if model is None
            else model_steps(self.graph, self.settings)
        )

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer one question with its reasoning chain, or abstain with a reason. Raises LlmError."""
        began = perf_counter()
        work = _Work(question, None if self.model is None else Talk.begin(self.model, id))
        try:
            answer = self._answer(work, entities)
        except BudgetReached as error:
            answer = self._abstain(work, Abstention("budget", f"{error}{_so_far(self.graph, work.links)}"))
        work.time("total", began)
        talk = work.talk
        return replace(
            answer,
            id=id,
            method=self.name,
            model=None if talk is None else talk.model.name,
            usage=Usage() if talk is None else talk.usage,
            timings_ms={stage: round(ms, 3) for stage, ms in work.timings.items()},
            steps=(*work.steps, *(() if talk is None else talk.steps)),
        )

    def _answer(self, work: _Work, entities: Sequence[str]) -> Answer:
        since = perf_counter()
        work.seeds = self.find_topic_entities(work.question, entities)
        work.time("link", since)
        since = perf_counter()
        if entities or work.talk is not None:
            missing = self.find_topic_entities.missing(work.question, entities, work.seeds)
            if missing is not None:
                return self._abstain(work, missing)
        work.plan = self.steps.decompose(work.question, entities, work.talk)
        work.complete = not work.plan.cut
        work.time("decompose", since)
        if work.plan.abstained is not None:
            return self._abstain(work, work.plan.abstained)
        if work.plan.pattern is not None:
            known = (n.entity for n in work.plan.pattern.nodes if n.known)
            work.seeds = tuple(dict.fromkeys(e for e in known if e is not None))
        candidates = self._candidates(work, work.seeds, self.settings.hops, work.question)
        for question in work.plan.questions:
            link = self._link(work, question, candidates)
            if link is None:
                continue
            if not link.proofs and self._is_whole(work, question):
                work.notes.append("over-decomposed: dropped a sub-question that is the question itself")
                continue
            work.links.append(link)
            work.complete &= link.complete
            if not link.proofs and not self._says_all:
                return self._abstain(work, self._ended(work))
        if not work.links:
            return self._abstain(work, Abstention("empty_result", "no sub-question was answered"))
        since = perf_counter()
        draft = self.steps.synthesise(work.question, work.plan, work.links, work.talk)
        work.time("synthesise", since)
        return self._grounded(work, draft)

    def _proved(self, work: _Work, draft: Draft) -> Draft:
        """The names of the final answer that the evidence of the chain proves, though no sub-answer did."""
        triples = tuple(dict.fromkeys(triple for link in work.links for triple in link.triples))
        whole = SubQuestion(work.question)
        proofs = ground_text(
            self.graph, draft.text, Asked(work.plan, whole, whole.text, triples, (), work.seeds)
        )
        declined = declines(draft.text, [self.graph.labels[e] for e in proofs])
        return draft if declined else replace(draft, proofs=proofs)

    def _candidates(
        self, work: _Work, entities: Sequence[int], hops: int, text: str, name: str = "candidates"
    ) -> CandidateTriples:
        """Section 3.4.2, with the bounds for hubs, which the trace reports."""
        since = perf_counter()
        similarity = self.vectors.similarities(text)
        settings = self.settings
        found = find_candidates(
            self.graph, entities, hops, similarity, settings.limits, directed=settings.directed
        )
        detail = {
            "entities": [self.graph.entities[e] for e in entities[:10]],
            "triples by hop": [len(hop) for hop in found.hops],
            "left out": found.left_out,
        }
        work.steps.append(Step(name, detail))
        work.complete &= not found.left_out
        work.notes += hub_notes(found)
        work.time("candidates", since)
        return found

    def _link(self, work: _Work, question: SubQuestion, candidates: CandidateTriples) -> Link | None:
        """Section 3.4.3: reformulate, take the top K, answer. None for a sub-question that adds nothing."""
        since = perf_counter()
        text, notes = question.text, ()
        if work.links:
            text, notes = self.steps.reformulate(work.plan, question, work.links, work.talk)
            work.time("reformulate", since)
        repeated = any(normalise(text) == normalise(link.asked) for link in work.links)
        if repeated and question.hop is None and not self._says_all:
            work.notes.append(f"over-decomposed: dropped a sub-question that repeats another: {text}")
            return None
        picked = self._top(work, candidates, text)
        asked = Asked(work.plan, question, text, picked, tuple(work.links), work.seeds, notes)
        link = self._sub_answer(work, asked)
        if not link.proofs and question.hop is None and self._near_answers(work):
            link = self._sub_answer(work, self._farther(work, asked))
        drops = question.hop is None and not self._says_all
        if work.links and drops and link.proofs and _adds_nothing(link, work.links):
            work.notes.append(f"over-decomposed: dropped a sub-question that adds no triple: {text}")
            return None
        return link

    def _sub_answer(self, work: _Work, asked: Asked) -> Link:
        since = perf_counter()
        link = self.steps.answer(asked, work.talk)
        work.time("sub_answers", since)
        return link

    def _near_answers(self, work: _Work) -> bool:
        """Whether triples were looked for around earlier answers, and not as far as they may be."""
        settings = self.settings
        return settings.frontier == "answers" and bool(work.links) and settings.answer_hops < settings.hops

    def _farther(self, work: _Work, asked: Asked) -> Asked:
        """The same with the top K within N hops of the answers: a sub-question of several steps (4.4.3)."""
        hops = self.settings.hops
        found = self._candidates(work, _answers(work), hops, asked.text, "candidates farther from answers")
        since = perf_counter()
        top, _ = self.vectors.top(asked.text, found.triples, self.settings.top)
        work.time("top_k", since)
        note = f"looked again, within {hops} hops of the answers before"
        return replace(asked, triples=tuple(top.tolist()), notes=(*asked.notes, note))

    def _is_whole(self, work: _Work, question: SubQuestion) -> bool:
        """Whether a sub-question among others is the question itself; without an answer it ends nothing."""
        return len(work.plan.questions) > 1 and normalise(question.text) == normalise(work.question)

    def _top(self, work: _Work, candidates: CandidateTriples, text: str) -> tuple[int, ...]:
        """The top K of the question's candidates, or of the triples around what the chain has reached."""
        settings, answers = self.settings, _answers(work)
        if settings.frontier == "question" or not answers:
            since = perf_counter()
            top, _ = self.vectors.top(text, candidates.triples, settings.top)
        else:
            named = entities_named_in(self.graph, text, work.seeds)
            around = tuple(dict.fromkeys([*answers, *named]))
            found = self._candidates(work, around, settings.answer_hops, text, "candidates of answers")
            since = perf_counter()
            # All of these triples are at the named entities; the rest of the text tells them apart.
            top, _ = self.vectors.top(without_names(self.graph, text, around), found.triples, settings.top)
        work.time("top_k", since)
        return tuple(int(t) for t in top)

    @property
    def _says_all(self) -> bool:
        """Whether the chain goes on with what the model says, proved or not, as the paper's does."""
        return self.model is not None and self.settings.handed == "sentences"

    def _ended(self, work: _Work) -> Abstention:
        """Why a chain ended early, and how far it came."""
        last = work.links[-1]
        said = short(last.text) if self.model is not None else ""
        named = f', and "{said}" is not proved by it' if said else ""
        detail = (
            f'the evidence holds no answer to "{last.asked}"{named}{_so_far(self.graph, work.links[:-1])}'
        )
        return Abstention("not_in_evidence" if said else "empty_result", detail)

    def _abstain(self, work: _Work, abstained: Abstention) -> Answer:
        pattern, chain = work.plan.pattern, self._chain(work)
        return Answer(
            work.question, abstained=abstained, chain=chain, pattern=pattern, complete=work.complete
        )

    def _chain(self, work: _Work) -> Chain | None:
        plan = work.plan
        return as_chain(self.graph, plan, work.links, work.notes) if plan.questions else None

    def _grounded(self, work: _Work, draft: Draft) -> Answer:
        """Keep what is proved; a number for *how many*, yes for a pattern that only had to hold."""
        if not draft.proofs and self._says_all:
            draft = self._proved(work, draft)
        if not draft.proofs:
            detail = f'the final answer "{short(draft.text)}" names nothing that the chain proves'
            return self._abstain(work, Abstention("not_in_evidence", detail))
        matches = [Match(0.0, 0, (entity,), proof) for entity, proof in draft.proofs.items()]
        answers, citations, left = ground(self.graph, draft.proofs, matches, 0)
        text, pattern = draft.text, work.plan.pattern
        if pattern is not None and pattern.answer is None:
            text, answers = "yes", (AnswerEntity("yes", "yes", 1.0),)
            citations = tuple(replace(c, answer="yes") for c in citations)
        elif pattern is not None and read_question(work.question).count:
            if not work.complete:
                detail = f"at least {len(answers)}, but not all triples of the chain were read"
                return self._abstain(work, Abstention("budget", detail))
            text = str(len(answers))
            answers = (AnswerEntity(text, text, 1.0),)
            citations = tuple(replace(c, answer=text) for c in citations)
        return Answer(
            work.question,
            answers,
            text,
            left,
            citations,
            pattern,
            complete=work.complete,
            chain=self._chain(work),
        )


def _answers(work: _Work) -> tuple[int, ...]:
    """What the chain has reached."""
    return tuple(dict.fromkeys(entity for link in work.links for entity in link.proofs))


def _adds_nothing(link: Link, earlier: Sequence[Link]) -> bool:
    """Whether every triple and entity of a sub-answer was there before."""
    triples = {t for e in earlier for proof in e.proofs.values() for t in proof}
    entities = {entity for e in earlier for entity in e.proofs}
    return entities >= link.proofs.keys() and all(triples.issuperset(p) for p in link.proofs.values())


def _so_far(graph: Graph, links: Sequence[Link]) -> str:
    if not links:
        return ""
    told = (f'"{link.asked}" ({len(link.proofs)} found)' for link in links)
    return f"; answered before: {', '.join(told)}"

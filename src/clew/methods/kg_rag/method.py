"""KG-RAG: a question is taken apart; sub-questions are answered in turn from retrieved triples.

Linders and Tomczak, *Knowledge graph-extended retrieval augmented generation for question answering*, Applied
Intelligence, 2025. Steps, in the paper's order, with their files:

    3.4.1 question decomposition        decompose.py
    3.4.2 candidate triple retrieval    graph/neighbourhood.py; index/vectors/triple_vectors.py, when indexed
    3.4.3 sub-question answering        top-K here, steps.py
    3.4.4 answer synthesis              steps.py
    then  grounding                     grounding.py

Defaults: N = 3 hops, both directions (3.4.2, 4.3.1); K = 30 (4.3.1); max tokens 256, temperature 0.3, min-p
0.05, top-k 40 (Table 3); stop at `<END>` (3.4.1); repeat penalty 1.1 for sub-answers, stop at `?` for
reformulation (3.4.3); 512 tokens for synthesis (3.4.4); one seed for all steps (4.2.1). A parameter that
the model's server does not take is not sent; the trace notes it.

Deviations, with their reasons:

- The candidates of a later sub-question are the triples around earlier answers (of the last sub-question, and
  of those of which it names an answer), and around the question's entities that it names
  (`frontier="answers"`): a chain can go beyond N hops, and its top K are not crowded
  out by what merely is near (Hits@1 in benchmarks/RESULTS.md). One that names no answer, but something of the
  question, is asked of the N hops around that. `frontier="question"` is the paper's: N hops from the
  question's entities, always.
- A later sub-question that the triples around the answers do not answer is asked once more, of those within
  N hops of them: section 4.4.3 reports plans with a 1-hop and a 2-hop sub-question.
- The prompt that decomposes shows what the graph records, in typed lines (`schema="none"` is the paper's),
  and other names of what the question names. A plan in ignorance of the graph asks for steps that it has not.
- Nothing is refused before the model is asked: where no entity is linked, and where the triples around those
  that are do not answer, the graph's triples that are most similar to the sub-question are read.
- Beside the top K the lists that they are a part of are read whole, as far as they fit (`lists`).
- What is handed from sub-question to sub-question is what the evidence proves, with the triples, not the
  model's sentence: section 4.4.3 reports sub-answers from the model's own knowledge. The chain shows the
  sentence too. `handed="sentences"` is the paper's: sub-answers go on as they were said.
- A plan of one sub-question asks the main question of its triples, and needs no synthesis.
- A sub-question that repeats another or adds no new triple is dropped (over-decomposition; not with
  `handed="sentences"`), one that takes several triples is noted (under-decomposition): section 4.4.3 only
  counts them.
- At most 8 sub-questions of a plan are asked; the answer is then marked incomplete.
- What the final answer names has to be proved by the chain, in either form; its text is kept.
- Answers are read from a stated form alone, and a reply may be asked for again in that form, once
  (`llm/reply.py`); 2,048 tokens for it, since a list may be long.
- Without a model every step has a built-in form, from the pattern of the question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from clew.graph.neighbourhood import CandidateTriples, find_candidates, hub_notes
from clew.index.store.directory import Index
from clew.index.vectors.triple_search import triple_search
from clew.index.vectors.triple_vectors import with_triple_vectors
from clew.llm.errors import BudgetReached
from clew.llm.grounded_reply import GroundedReply
from clew.llm.prompting import short
from clew.llm.types import ChatModel
from clew.methods.built_in import built_in_reader
from clew.methods.fact_lines import other_names
from clew.methods.kg_rag.chain import Link, Plan, SubQuestion, adds_nothing, owned_values
from clew.methods.kg_rag.retrieve import RetrievedTriples, gone_on_from, nearest_first, with_lists
from clew.methods.kg_rag.settings import KgRagSettings
from clew.methods.kg_rag.steps import AskedSubQuestion, built_in_steps, model_steps
from clew.methods.relation_ranking import RelationRanking
from clew.methods.run import Run
from clew.methods.schema_lines import SchemaText
from clew.methods.topic_entities import (
    Called,
    FindTopicEntities,
    entities_named_in,
    entities_of,
    shared_names,
    without_names,
)
from clew.text.embedder import Embedder
from clew.text.normalise import normalise
from clew.types import Abstention, Answer, AnswerEntity, Chain, Step


@dataclass(slots=True)
class _ChainState:
    """The state of a question while it is worked on."""

    question: str
    run: Run
    plan: Plan = field(default_factory=Plan)
    topic_entities: tuple[int, ...] = ()
    called: Called = field(default_factory=dict[str, tuple[int, ...]])
    links: list[Link] = field(default_factory=list[Link])
    notes: list[str] = field(default_factory=list[str])
    complete: bool = True

    @property
    def reached(self) -> tuple[int, ...]:
        """The entities that the chain has reached."""
        return tuple(dict.fromkeys(entity for link in self.links for entity in link.proofs))


class KgRag:
    """Answers with a reasoning chain, with a chat model or without."""

    name = "kg-rag"

    def __init__(
        self,
        index: Index,
        embedder: Embedder,
        *,
        model: ChatModel | None = None,
        settings: KgRagSettings | None = None,
    ) -> None:
        self.index = with_triple_vectors(index, embedder)
        self.graph, self.model, self.settings = self.index.graph, model, settings or KgRagSettings()
        self.vectors = triple_search(self.index, embedder)
        self.find_topic_entities = FindTopicEntities.of(self.index, embedder)
        self._schema = SchemaText.of(self.index, RelationRanking(self.graph, embedder))
        if model is None:
            self.steps = built_in_steps(built_in_reader(self.index, embedder), self.settings.frontier)
        else:
            self.steps = model_steps(self.settings, self._about, self.find_topic_entities)

    def _about(self, question: str, entities: Sequence[str]) -> tuple[str, str]:
        """What the prompt that decomposes says of the graph and of the question's names."""
        if self.settings.schema == "none":
            return "", ""
        called = self.find_topic_entities.called(question, entities)
        return self._schema.lines(question, entities_of(called)), other_names(self.graph, called)

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer one question with its reasoning chain, or abstain with a reason. Raises LlmError."""
        state = _ChainState(question, Run.begin(self.name, id, self.model))
        try:
            answer = self._answer(state, entities)
        except BudgetReached as error:
            answer = self._abstain(state, Abstention("budget", f"{error}{_so_far(state.links)}"))
        return state.run.finish(answer)

    def _answer(self, state: _ChainState, entities: Sequence[str]) -> Answer:
        with state.run.stage("link"):
            state.called = self.find_topic_entities.called(state.question, entities)
            state.topic_entities = entities_of(state.called)
        if entities:
            missing = self.find_topic_entities.missing(state.question, entities, state.topic_entities)
            if missing is not None:
                return self._abstain(state, missing)
        with state.run.stage("decompose"):
            state.plan = self.steps.decompose(state.question, entities, state.run.talk)
        state.complete = not state.plan.cut
        if state.plan.abstained is not None:
            return self._abstain(state, state.plan.abstained)
        if state.plan.pattern is not None:
            known_entities = (n.entity for n in state.plan.pattern.nodes if n.known)
            state.topic_entities = tuple(dict.fromkeys(e for e in known_entities if e is not None))
        candidates = self._candidates(state, state.topic_entities, self.settings.hops, state.question)
        for question in state.plan.questions:
            link = self._link(state, question, candidates)
            if link is None:
                continue
            is_whole = normalise(question.text) == normalise(state.question)
            if not link.answered and is_whole and len(state.plan.questions) > 1:
                state.notes.append("over-decomposed: dropped a sub-question that is the question itself")
                continue
            state.links.append(link)
            state.complete &= link.complete
            if not link.answered and self.model is None:
                return self._abstain(state, self._end_abstention(state))
        if not any(link.answered for link in state.links) and not self._says_all:
            return self._abstain(state, self._end_abstention(state))
        return self._grounded_answer(state, self._draft(state))

    def _draft(self, state: _ChainState) -> GroundedReply:
        """Section 3.4.4; the answer to a lone sub-question is the answer."""
        link = state.links[0]
        if self._asks_alone(state):
            return link.reply
        with state.run.stage("synthesise"):
            return self.steps.synthesise(state.question, state.called, state.links, state.run.talk)

    def _asks_alone(self, state: _ChainState) -> bool:
        """Whether a model's plan is one sub-question, in whose place the main question is asked."""
        return self.model is not None and len(state.plan.questions) == 1 and not self._says_all

    def _candidates(
        self, state: _ChainState, entities: Sequence[int], hops: int, text: str, name: str = "candidates"
    ) -> CandidateTriples:
        """Section 3.4.2, with the bounds for hubs, which the trace reports."""
        with state.run.stage("candidates"):
            similarity, limits = self.vectors.similarities(text), self.vectors.limits
            directed = self.settings.directed
            candidates = find_candidates(self.graph, entities, hops, similarity, limits, directed=directed)
        detail = {
            "entities": [self.graph.entities[e] for e in entities[:10]],
            "triples by hop": [len(hop) for hop in candidates.hops],
            "left out": candidates.left_out,
        }
        state.run.steps.append(Step(name, detail))
        state.complete &= not candidates.left_out
        state.notes += hub_notes(candidates)
        return candidates

    def _link(self, state: _ChainState, question: SubQuestion, candidates: CandidateTriples) -> Link | None:
        """Section 3.4.3: reformulate, take the top K, answer. None for a sub-question that adds nothing."""
        text, notes = question.text, ()
        if state.links:
            with state.run.stage("reformulate"):
                text, notes = self.steps.reformulate(state.plan, question, state.links, state.run.talk)
        repeated = any(normalise(text) == normalise(link.reformulated) for link in state.links)
        if repeated and question.hop is None and not self._says_all:
            state.notes.append(f"over-decomposed: dropped a sub-question that repeats another: {text}")
            return None
        question_text = state.question if self._asks_alone(state) else text
        retrieved = self._retrieve(
            state, candidates, text if question_text == text else f"{text} {question_text}"
        )
        notes = (*notes, *retrieved.notes)
        called = {} if state.links else state.called
        triples, links = tuple(retrieved.triples), tuple(state.links)
        sub_question = AskedSubQuestion(
            state.plan, question, question_text, triples, links, state.topic_entities, notes, called
        )
        link = self._sub_answer(state, sub_question)
        if not link.answered and question.hop is None and self.model is not None and not self._says_all:
            link = self._ask_farther(state, sub_question, question_text) or link
        may_drop = question.hop is None and not self._says_all
        if state.links and may_drop and link.proofs and adds_nothing(link, state.links):
            state.notes.append(f"over-decomposed: dropped a sub-question that adds no triple: {text}")
            return None
        return link

    def _sub_answer(self, state: _ChainState, sub_question: AskedSubQuestion) -> Link:
        with state.run.stage("sub_answers"):
            return self.steps.answer(sub_question, state.run.talk)

    def _ask_farther(self, state: _ChainState, sub_question: AskedSubQuestion, text: str) -> Link | None:
        """Ask once more, with the nearest triples of the whole graph and, in a chain, of N hops (4.4.3)."""
        hops, top = self.settings.hops, self.settings.k
        if self.settings.directed:
            return None
        triples = self.vectors.nearest(text, top).tolist()
        note = "looked again, in the whole graph"
        if state.reached and self.settings.frontier == "answers":
            candidates = self._candidates(state, state.reached, hops, text, "candidates farther from answers")
            triples += self.vectors.top(text, candidates.triples, top)[0].tolist()
            note = f"looked again, within {hops} hops of the answers before and in the whole graph"
        new_triples = [triple for triple in dict.fromkeys(triples) if triple not in sub_question.triples]
        if not new_triples:
            return None
        return self._sub_answer(
            state, replace(sub_question, triples=tuple(new_triples), notes=(*sub_question.notes, note))
        )

    def _retrieve(self, state: _ChainState, candidates: CandidateTriples, text: str) -> RetrievedTriples:
        """The top K of the question's candidates, or of the triples around what the chain has reached."""
        settings, answers, starts = self.settings, state.reached, state.topic_entities
        if settings.frontier == "answers" and answers:
            named_entities = entities_named_in(self.graph, text, state.topic_entities)
            if named_entities and not entities_named_in(self.graph, text, answers):
                # It goes on from no answer: it is asked as the first one is.
                starts = named_entities
                candidates = self._candidates(state, named_entities, settings.hops, text)
            else:
                reached = gone_on_from(self.graph, text, [link.proofs for link in state.links])
                owners = [h.head for link in state.links for h in owned_values(self.graph, link)]
                starts = tuple(dict.fromkeys([*reached, *owners, *named_entities]))
                hops = settings.answer_hops
                candidates = self._candidates(state, starts, hops, text, "candidates of answers")
        with state.run.stage("top_k"):
            return self._nearest(candidates, text, starts)

    def _nearest(self, candidates: CandidateTriples, text: str, starts: tuple[int, ...]) -> RetrievedTriples:
        settings = self.settings
        if not settings.lists or settings.frontier == "question":
            return RetrievedTriples(self.vectors.top(text, candidates.triples, settings.k)[0].tolist())
        # All of these triples are at the named entities; the rest of the text tells them apart.
        words = without_names(self.graph, text, starts)
        nearest = nearest_first(self.vectors, candidates, words, settings.k)
        if not nearest and self.model is not None and not settings.directed:
            nearest = self.vectors.nearest(text, settings.k).tolist()
        if self.model is None:
            return RetrievedTriples(nearest)
        return with_lists(self.graph, nearest, set(starts))

    @property
    def _says_all(self) -> bool:
        """Whether the chain goes on with what the model says, proved or not, as the paper's does."""
        return self.model is not None and self.settings.handed == "sentences"

    def _end_abstention(self, state: _ChainState) -> Abstention:
        """Why a chain ended early, and how far it came."""
        last = state.links[-1]
        last_text = short(last.text) if self.model is not None else ""
        unproved_note = f', and "{last_text}" is not proved by it' if last_text else ""
        detail = (
            f'the evidence holds no answer to "{last.reformulated}"{unproved_note}{_so_far(state.links[:-1])}'
        )
        return Abstention("not_in_evidence" if last_text else "empty_result", detail)

    def _abstain(self, state: _ChainState, abstained: Abstention) -> Answer:
        pattern, chain = state.plan.pattern, self._chain(state)
        return Answer(
            state.question, abstained=abstained, chain=chain, pattern=pattern, complete=state.complete
        )

    def _chain(self, state: _ChainState) -> Chain | None:
        if not state.plan.questions:
            return None
        sub_answers = tuple(link.as_sub_answer(self.graph) for link in state.links)
        return Chain(state.plan.reasoning, sub_answers, (*state.plan.notes, *state.notes))

    def _grounded_answer(self, state: _ChainState, draft: GroundedReply) -> Answer:
        """Keep what is proved; a number for *how many*, yes for a pattern that only had to hold."""
        if draft.abstained is not None:
            return self._abstain(state, draft.abstained)
        if not draft.answered:
            detail = f'the final answer "{short(draft.text)}" names nothing that the chain proves'
            return self._abstain(state, Abstention("not_in_evidence", detail))
        answers, citations, text = draft.answers(self.graph), draft.citations(self.graph), draft.text
        pattern = state.plan.pattern
        if pattern is not None and pattern.answer is None:
            text = "yes"
        elif pattern is not None and state.plan.counts:
            if not state.complete:
                detail = f"at least {len(answers)}, but not all triples of the chain were read"
                return self._abstain(state, Abstention("budget", detail))
            text = str(len(answers))
        if pattern is not None and text != draft.text:
            answers = (AnswerEntity(text, text, 1.0),)
            citations = tuple(replace(c, answer=text) for c in citations)
        notes = (*draft.notes, *shared_names(state.called)) if pattern is None else state.plan.notes
        return Answer(
            state.question, answers, text, None, citations, pattern,
            complete=state.complete and not draft.cut, chain=self._chain(state), notes=notes,
        )  # fmt: skip


def _so_far(links: Sequence[Link]) -> str:
    if not links:
        return ""
    answered = (f'"{link.reformulated}" ({len(link.proofs)} found)' for link in links)
    return f"; answered before: {', '.join(answered)}"

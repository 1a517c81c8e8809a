"""KG-RAG: a question is taken apart; sub-questions are answered in turn from retrieved triples.

Linders and Tomczak, *Knowledge graph-extended retrieval augmented generation for question answering*, Applied
Intelligence, 2025. Steps, in the paper's order, with their files:

    3.4.1 question decomposition        decompose.py
    3.4.2 candidate triple retrieval    graph/neighbourhood.py; index/vectors/triples.py, when indexed
    3.4.3 sub-question answering        here
    3.4.4 answer synthesis              here
    then  grounding                     methods/ground.py

Defaults: N = 3 hops, both directions (3.4.2, 4.3.1); K = 30 (4.3.1); max tokens 256, temperature 0.3, min-p
0.05, top-k 40 (Table 3); stop at `<END>` (3.4.1); repeat penalty 1.1 for sub-answers, stop at `?` for
reformulation (3.4.3); 512 tokens for synthesis (3.4.4); one seed for all steps (4.2.1). A parameter that
the model's server does not take is not sent; the trace notes it.

Deviations, with their reasons:

- `letter=True` is the paper's: none of what follows, but for the bounds and the grounding at the end.
- Records of things are read beside triples (`records.py`): a line for each with what it has and lacks; each
  heading says how many of a kind there are and what is not shown, so that *not*, *none*, counts and
  superlatives can be told. Where records of all kinds that the plan asks of fit, one call answers the main
  question from them, and there is no chain; `records="steps"` keeps the chain.
- No model rewrites a sub-question (3.4.3): the answers that it refers to are put behind it, and
  all earlier answers stand in its prompt, with pairs (*Ann: 1970*) and the facts that they rest on. A step
  may come out as *none* (shown by the facts, and not asked again) or as *not told*.
- The candidates of a later sub-question are the triples around earlier answers (of the last sub-question, and
  of those of which it names an answer), and around the question's entities that it names: a chain can go
  beyond N hops, and its top K are not crowded out by what merely is near (Hits@1 in benchmarks/RESULTS.md).
  One that names no answer, but something of the question, is asked of the N hops around that.
- A later sub-question that the triples around the answers do not answer is asked once more, of those within
  N hops of them: section 4.4.3 reports plans with a 1-hop and a 2-hop sub-question.
- The prompt that decomposes shows what the graph records, in typed lines, and other names of what the
  question names. A plan in ignorance of the graph asks for steps that it has not.
- Nothing is refused before the model is asked: where no entity is linked, and where the triples around those
  that are do not answer, the graph's triples that are most similar to the sub-question are read.
- Beside the top K the lists that they are a part of are read whole, as far as they fit.
- What is handed from sub-question to sub-question is what the evidence proves, with the triples, not the
  model's sentence: section 4.4.3 reports sub-answers from the model's own knowledge. The chain shows the
  sentence too.
- A plan of one sub-question asks the main question of its triples, and needs no synthesis.
- A sub-question that repeats another or adds no new triple is dropped (over-decomposition), one that takes
  several triples is noted (under-decomposition): section 4.4.3 only counts them.
- At most 8 sub-questions of a plan are asked; the answer is then marked incomplete.
- What the final answer names has to be proved by the chain, in either form; its text is kept.
- Answers are read from a stated form alone, and a reply may be asked for again in that form, once
  (`llm/reply.py`); 2,048 tokens for it, since a list may be long.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from clew.graph.graph import Graph
from clew.graph.neighbourhood import CandidateTriples, find_candidates, hub_notes
from clew.index.vectors.triples import triple_search
from clew.llm.managed import Talk, as_data, data_line, data_lines, prompt_named, short
from clew.llm.reply import declines
from clew.llm.types import BudgetReached, Request
from clew.methods.base import ModelMethod, Run, lists_are_whole
from clew.methods.evidence import (
    LONG_LIST,
    Fact,
    Proofs,
    ReadEvidence,
    fact_lines,
    numbered,
    of_relation,
    other_names,
    triples_at_node,
)
from clew.methods.ground import GroundedReply
from clew.methods.kg_rag.decompose import (
    LONGEST_QUESTION,
    Link,
    Plan,
    adds_nothing,
    answer_line,
    decompose,
    default_demonstrations,
    known_proofs,
    owned_values,
)
from clew.methods.kg_rag.records import RecordsView
from clew.methods.names_view import NamesView
from clew.methods.question import (
    AskedSteps,
    Called,
    entities_named_in,
    entities_of,
    shared_names,
    without_names,
)
from clew.methods.schema_view import SchemaView
from clew.methods.settings import KgRagSettings
from clew.text.normalise import normalise
from clew.text.verbalise import readable
from clew.types import Abstention, Answer, Chain

# Which triples a sub-question is answered from (KG-RAG sections 3.4.2, 3.4.3): the top K, and whole lists.
#
# Beyond the paper, the top K keep the relations that matter, and hold all of their triples at what the sub-
# question starts from, so that *which films* has its list and *how many* is right; the paper's K cuts lists
# at 30. One that names nothing to start from (*the oldest vessel*) is asked of the values of all of its type.

MOST_ADDED_TRIPLES = 300
"""Triples that whole lists may add to the top K."""
MOST_READ, MOST_NEAR = 4, 3
"""Relations that the likeliest readings of a sub-question follow, and others of the nearest triples.

Of 188 sub-questions of a strong model, 186 had all facts that its answers rest on among these: 21 facts on
average in the place of 30 (benchmarks/RESULTS.md).
"""
MOST_OF_AN_END = 30
"""Least, and greatest, values that are read of a relation that is too long."""


def gone_on_from(graph: Graph, text: str, sub_answers: Sequence[Proofs]) -> tuple[int, ...]:
    """The entities of the last sub-answer and of those that a text names; of all where it names none."""
    answers = [proofs for proofs in sub_answers if proofs]
    named_entities = set(entities_named_in(graph, text, (entity for proofs in answers for entity in proofs)))
    continued = [proofs for proofs in answers if proofs is answers[-1] or named_entities & proofs.keys()]
    gone_on = continued if named_entities else answers
    return tuple(dict.fromkeys(entity for proofs in gone_on for entity in proofs))


def with_lists(
    graph: Graph, nearest: Sequence[int], asked: AskedSteps, starts: Collection[int]
) -> tuple[list[int], list[str]]:
    """The nearest triples that matter, and the whole lists that they are a part of; and notes.

    Those of the likeliest readings' relations matter, and of the nearest few. Of values in a list that does
    not fit, the least and the greatest are read.
    """
    starts = starts or asked.entities
    near = list(dict.fromkeys(graph.triple(triple)[1] for triple in nearest))
    if asked.relations:
        read = asked.relations[:MOST_READ]
        near = [*read, *[relation for relation in near if relation not in read][:MOST_NEAR]]
    if asked.relations and not starts:
        near, nearest = list(asked.relations[:2]), ()
    evidence = dict.fromkeys(triple for triple in nearest if graph.triple(triple)[1] in near)
    notes, room = list[str](), MOST_ADDED_TRIPLES
    for relation in near:
        for triples in _lists(graph, relation, asked.types, starts):
            missing = [triple for triple in triples if triple not in evidence]
            if len(missing) > room:
                counts = np.unique(graph.out.neighbour[np.array(missing)], return_counts=True)[1]
                if len(counts) <= 30 and (counts >= LONG_LIST).all():
                    evidence |= dict.fromkeys(missing)  # a line for each says all (`fact_lines`)
                    continue
                missing = _ends(graph, missing)
                shown = len(evidence.keys() & set(triples)) + len(missing)
                name, which = graph.relation_labels[relation], ", the least and the greatest" * bool(missing)
                notes.append(f"{shown:,} of {len(triples):,} triples of {name} are read{which}")
            room -= len(missing)
            evidence |= dict.fromkeys(missing)
    return list(evidence), notes


def _lists(
    graph: Graph, relation: int, types: Sequence[int], starts: Collection[int]
) -> Iterator[Sequence[int]]:
    """The triples of a relation at the starts, as heads (0) or tails (1); else those of the types."""
    if starts:
        for side in (0, 1):
            yield [triple for node in starts for triple in triples_at_node(graph, node, relation, side)]
        return
    triples = of_relation(graph, relation)
    if types:
        is_asked = graph.types.having(types[0])
        for other in types[1:]:
            is_asked = is_asked | graph.types.having(other)
        of_types = is_asked[graph.out.owners(triples)] | is_asked[graph.out.neighbour[triples]]
        triples = triples[of_types] if of_types.any() else triples
    yield triples.tolist()


def _ends(graph: Graph, triples: Sequence[int]) -> list[int]:
    """The triples with the least and the greatest values; empty where they have none."""
    tails = graph.out.neighbour[np.array(triples)]
    if not graph.values.kind[tails].all():
        return []
    order = np.argsort(graph.values.value[tails], kind="stable")
    return [triples[at] for at in (*order[:MOST_OF_AN_END], *order[-MOST_OF_AN_END:])]


TABLE_3 = Request(temperature=0.3, top_k=40, min_p=0.05, max_tokens=256)
ANSWER_TOKENS = 2_048
"""Tokens of a reply that states answers."""
_REFERS_BACK = re.compile(
    r"\b(?:that|those|these|this|they|them|theirs?|it|its|he|she|him|his|hers?|such|same|former|latter|each|"
    r"both|either|ones?|answers?|results?)\b",
    re.I,
)
MOST_SUB_ANSWER_TRIPLES = 80
"""Triples of one sub-answer that the prompt shows."""


def table_3(seed: int, temperature: float) -> Request:
    """Return the sampling of Table 3, with the same seed for all steps (4.2.1)."""
    return replace(TABLE_3, seed=seed, temperature=temperature)


@dataclass(slots=True)
class _ChainState:
    """A question while it is worked on."""

    question: str
    run: Run
    called: Called = field(default_factory=dict[str, tuple[int, ...]])
    plan: Plan = field(default_factory=Plan)
    links: list[Link] = field(default_factory=list[Link])
    notes: list[str] = field(default_factory=list[str])
    complete: bool = True
    about: str = ""
    """The line of a prompt with what a user says that the question is about."""

    @property
    def topics(self) -> tuple[int, ...]:
        """The entities of the question."""
        return entities_of(self.called)

    @property
    def reached(self) -> tuple[int, ...]:
        """The entities that the chain has reached."""
        return tuple(dict.fromkeys(entity for link in self.links for entity in link.proofs))


class KgRag(ModelMethod[KgRagSettings]):
    """Answers with a reasoning chain."""

    name, settings_class = "kg-rag", KgRagSettings

    def prepare(self) -> None:
        """Open the search for triples."""
        self.vectors = triple_search(self.index, self.embedder)
        self._schema, self._names = SchemaView(self.reader), NamesView(self.reader)
        self._records = RecordsView(self._schema, self.judge)
        self._sampling = table_3(self.settings.seed, self.settings.temperature)
        self._answer_sampling = replace(self._sampling, max_tokens=ANSWER_TOKENS, repeat_penalty=1.1)

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer one question with its reasoning chain, or abstain with a reason. Raises LlmError."""
        state = _ChainState(question, Run(self.name, id, self.model))
        try:
            answer = self._answer_by_chain(state, entities)
        except BudgetReached as error:
            answer = self._abstain(state, Abstention("budget", f"{error}{_so_far(state.links)}"))
        return state.run.finish(answer)

    def _answer_by_chain(self, state: _ChainState, entities: Sequence[str]) -> Answer:
        state.called, missing = self.linked(state.question, entities, state.run)
        if entities:
            names = "; ".join(data_line(readable(self.graph.labels[topic])) for topic in state.topics)
            state.about = f"The question is about: {names}\n" if names else ""
        if missing is not None:
            return self._abstain(state, missing)
        with state.run.stage("decompose"):
            state.plan = self._decompose(state, entities)
        state.complete = not state.plan.cut
        if (answer := self._answer_from_records(state)) is not None:
            return answer
        candidates = self._candidates(state, state.topics, self.settings.hops, state.question)
        for question in state.plan.questions:
            link = self._link(state, question, candidates)
            if link is None:
                continue
            is_whole = normalise(question) == normalise(state.question)
            if not link.reply.answered and is_whole and len(state.plan.questions) > 1:
                state.notes.append("over-decomposed: dropped a sub-question that is the question itself")
                continue
            state.links.append(link)
            state.complete &= link.complete
        last = state.links[-1]
        if self._asks_alone(state):
            return self._grounded_answer(state, last.reply)
        told = any(link.reply.answered or link.reply.shows_none for link in state.links)
        if not told and not self._letter:
            return self._abstain(state, self._end_abstention(state))
        with state.run.stage("synthesise"):
            return self._grounded_answer(state, self._synthesise(state))

    def _decompose(self, state: _ChainState, entities: Sequence[str]) -> Plan:
        """Section 3.4.1, with what the graph records, and other names of what the question names."""
        examples = default_demonstrations() if self.settings.examples is None else self.settings.examples
        schema = names = ""
        if not self._letter:
            given = [self.graph.entities[topic] for topic in state.topics] if entities else []
            reading = self.reader.read(state.question, given)
            schema = self._schema.text(reading)
            names = self._names.block(reading, "plain")
        shown, talk = examples[: self.settings.shots], state.run.talk
        return decompose(talk, state.question, self._sampling, shown, schema, names, letter=self._letter)

    def _answer_from_records(self, state: _ChainState) -> Answer | None:
        """The answer by one call where records of all that the plan asks of fit; None where they do not."""
        if self._letter or self.settings.records != "once":
            return None
        with state.run.stage("records"):
            asked = dict.fromkeys((state.question, *state.plan.questions))
            records = self._records.of(tuple(asked), state.topics)
        if records is None:
            return None
        detail = {"things": len(records.facts), "the whole graph": records.whole}
        state.run.note("records", detail)
        steps = state.plan.questions
        text = "\n".join(data_line(f"{number}. {step}") for number, step in enumerate(steps, 1))
        values = {
            "EARLIER": "",
            "FACTS": "\n".join(records.lines()),
            "NAMES": state.about + other_names(self.graph, state.called),
            "STEPS": f"<steps>\n{text}\n</steps>\n" if len(steps) > 1 else "",
            "QUESTION": as_data(state.question),
        }
        known, named, facts = dict.fromkeys(state.topics, ()), frozenset(state.topics), records.facts
        evidence = ReadEvidence(self.graph, self.judge, state.question, facts, known, named, whole=True)
        with state.run.stage("sub_answers"):
            reply = self.read(state.run, evidence, values, "read_facts", self._answer_sampling)
        if not (records.whole or reply.answered or reply.shows_none):
            state.notes.append("records of the kinds that are asked of do not tell: asked step by step")
            return None
        question = steps[0] if len(steps) == 1 else state.question
        if len(steps) > 1:
            state.notes.append(f"{len(steps)} sub-questions were answered at once, from whole records")
        state.complete &= not reply.cut
        state.links.append(Link(question, state.question, reply, records.triples, reply.notes, not reply.cut))
        return self._grounded_answer(state, reply)

    @property
    def _letter(self) -> bool:
        """Whether all is as in the paper: the chain goes on with what the model says, proved or not."""
        return self.settings.letter

    def _asks_alone(self, state: _ChainState) -> bool:
        """Whether the plan is one sub-question, in whose place the main question is asked."""
        return len(state.plan.questions) == 1 and not self._letter

    def _candidates(
        self, state: _ChainState, entities: Sequence[int], hops: int, text: str, name: str = "candidates"
    ) -> CandidateTriples:
        """Candidate triples (section 3.4.2), with the bounds for hubs, which the trace reports."""
        vectors, directed = self.vectors, self.settings.directed
        with state.run.stage("candidates"):
            scores, limits = vectors.similarities(text), vectors.limits
            candidates = find_candidates(self.graph, entities, hops, scores, limits, directed=directed)
        detail = {
            "entities": [self.graph.entities[e] for e in entities[:10]],
            "triples by hop": [len(hop) for hop in candidates.hops],
            "left out": candidates.left_out,
        }
        state.run.note(name, detail)
        state.complete &= not candidates.left_out
        state.notes += hub_notes(candidates)
        return candidates

    def _link(self, state: _ChainState, question: str, candidates: CandidateTriples) -> Link | None:
        """Section 3.4.3: reformulate, take the top K, answer. None for a sub-question that adds nothing."""
        text, notes = question, list[str]()
        if state.links and self._letter:
            with state.run.stage("reformulate"):
                text = self._reformulate(state, question, notes)
        elif state.links:
            text = self._with_answers(state, question)
        if not self._letter and any(normalise(text) == normalise(link.asked) for link in state.links):
            state.notes.append(f"over-decomposed: dropped a sub-question that repeats another: {text}")
            return None
        asked = state.question if self._asks_alone(state) else text
        sought = text if asked == text else f"{text} {asked}"
        triples, shown_notes = self._retrieve(state, candidates, sought, asked)
        link = self._sub_answer(state, question, asked, triples, (*notes, *shown_notes))
        told = link.reply.answered or link.reply.shows_none
        if not told and not self._letter:
            link = self._ask_farther(state, link) or link
        if state.links and not self._letter and link.proofs and adds_nothing(link, state.links):
            state.notes.append(f"over-decomposed: dropped a sub-question that adds no triple: {text}")
            return None
        return link

    def _with_answers(self, state: _ChainState, question: str) -> str:
        """A sub-question with the answers that it goes on from behind it: *… these films (Alien; Heat)?*."""
        last = next((link for link in reversed(state.links) if link.proofs), None)
        if last is None or not _REFERS_BACK.search(question):
            return question
        names = answer_line(self.graph, last, 20)
        return f"{question.rstrip('?. ')} ({names})?"

    def _reformulate(self, state: _ChainState, question: str, notes: list[str]) -> str:
        """A model puts the answers so far into a sub-question; what is no question changes nothing."""
        earlier = "\n".join(
            f"{data_line(f'{number}. {link.asked}')}\nAnswer: {data_line(link.reply.text)}"
            for number, link in enumerate(state.links, 1)
        )
        names = [self.graph.labels[entity] for link in state.links for entity in link.proofs]
        text = reformulate(state.run.talk, question, earlier, self._sampling, names)
        if not text:
            notes.append("the reformulation is no question: the sub-question is asked as it was")
        return text or question

    def _sub_answer(
        self,
        state: _ChainState,
        question: str,
        asked: str,
        triples: Sequence[int],
        notes: tuple[str, ...],
    ) -> Link:
        """A sub-question answered from triples, best first; of its reply, what they prove counts."""
        graph, called = self.graph, {} if state.links else state.called
        start_proofs = known_proofs(graph, state.links, state.topics)
        # In a chain, what the main question names may well answer a sub-question that does not.
        topics = frozenset(() if state.links else state.topics)
        named_entities = topics | set(entities_named_in(graph, asked, start_proofs))
        if self._letter:
            prompt, facts, about = "sub_answer", fact_lines(graph, triples, start_proofs), ""
            values = {"TRIPLES": "\n".join(numbered(facts)) or "(none)"}
        else:
            prompt, facts, values = self._facts_of_step(state, asked, triples, notes, start_proofs)
            about = state.about
        evidence = ReadEvidence(
            graph, self.judge, asked, facts, start_proofs, named_entities, not self._letter
        )
        values |= {"NAMES": about + other_names(graph, called), "QUESTION": data_lines([asked])}
        with state.run.stage("sub_answers"):
            reply = self.read(state.run, evidence, values, prompt, self._answer_sampling)
        earlier_proofs, proofs = {*start_proofs.values(), ()}, reply.proofs.values()
        notes = (*notes, *reply.notes)
        if proofs and all(proof[:-1] not in earlier_proofs and len(proof) > 1 for proof in proofs):
            notes = (*notes, "under-decomposed: this sub-question spans several triples")
        complete = lists_are_whole(graph, reply.proofs, set(triples)) and not reply.cut
        return Link(question, asked, reply, tuple(triples), notes, complete)

    def _facts_of_step(
        self, state: _ChainState, asked: str, triples: Sequence[int], notes: Sequence[str], known: Proofs
    ) -> tuple[str, tuple[Fact, ...], dict[str, str]]:
        """What a step of a chain reads: earlier answers, records of what it is about, and other triples."""
        earlier, facts = self._answers_text(state.links, known)
        about = entities_named_in(self.graph, asked, known) or state.reached or state.topics
        about = about or self.judge.steps(asked).entities
        records = self._records.of_things(about, asked)
        recorded = set(records.triples)
        lines = fact_lines(self.graph, [t for t in triples if t not in recorded], known)
        shown = records.lines(len(facts) + 1)
        facts = (*facts, *records.facts)
        shown += numbered(lines, len(facts) + 1)
        shown += [data_line(f"({note})") for note in notes]
        values = {
            "EARLIER": f"<answers>\n{earlier}\n</answers>\n" if earlier else "",
            "FACTS": "\n".join(shown) or "(none)",
            "STEPS": "",
        }
        return "read_facts", (*facts, *lines), values

    def _ask_farther(self, state: _ChainState, link: Link) -> Link | None:
        """Ask once more, with the nearest triples of the whole graph and, in a chain, of N hops (4.4.3)."""
        hops, top, text = self.settings.hops, self.settings.k, link.asked
        triples = self.vectors.nearest(text, top).tolist()
        note = "looked again, in the whole graph"
        if state.reached:
            candidates = self._candidates(state, state.reached, hops, text, "candidates farther from answers")
            triples += self.vectors.top(text, candidates.triples, top)[0].tolist()
            note = f"looked again, within {hops} hops of the answers before and in the whole graph"
        new_triples = [triple for triple in dict.fromkeys(triples) if triple not in link.triples]
        notes = (*link.notes, note)
        return self._sub_answer(state, link.question, text, new_triples, notes) if new_triples else None

    def _retrieve(
        self, state: _ChainState, candidates: CandidateTriples, text: str, asked: str
    ) -> tuple[Sequence[int], Sequence[str]]:
        """The top K of the question's candidates, or of the triples around what the chain has reached."""
        answers, starts = state.reached, state.topics
        if self._letter:
            with state.run.stage("top_k"):
                return self.vectors.top(text, candidates.triples, self.settings.k)[0].tolist(), ()
        if answers:
            named_entities = entities_named_in(self.graph, text, state.topics)
            if named_entities and not entities_named_in(self.graph, text, answers):
                # It goes on from no answer: it is asked as the first one is.
                starts = named_entities
                candidates = self._candidates(state, named_entities, self.settings.hops, text)
            else:
                reached = gone_on_from(self.graph, text, [link.proofs for link in state.links])
                owners = [owner for link in state.links for owner, _, _ in owned_values(self.graph, link)]
                starts = tuple(dict.fromkeys([*reached, *owners, *named_entities]))
                candidates = self._candidates(state, starts, 1, text, "candidates of answers")
        with state.run.stage("top_k"):
            # All of these triples are at the named entities; the rest of the text tells them apart.
            words = without_names(self.graph, text, starts)
            near, far = (
                CandidateTriples(hops).triples for hops in (candidates.hops[:1], candidates.hops[1:])
            )
            first = self.vectors.top(words, near, self.settings.k)[0].tolist()
            room = self.settings.k - len(first) + self.settings.k // 2
            nearest = first + (self.vectors.top(words, far, room)[0].tolist() if room else [])
            nearest = nearest or self.vectors.nearest(text, self.settings.k).tolist()
            return with_lists(self.graph, nearest, self.judge.steps(asked), set(starts))

    def _synthesise(self, state: _ChainState) -> GroundedReply:
        """Section 3.4.4, from the sub-answers with the triples that prove them."""
        start_proofs = known_proofs(self.graph, state.links, state.topics)
        answers, facts = self._answers_text(state.links, start_proofs)
        named, whole = frozenset(state.topics), not self._letter
        evidence = ReadEvidence(self.graph, self.judge, state.question, facts, start_proofs, named, whole)
        values = {
            "ANSWERS": answers,
            "NAMES": other_names(self.graph, state.called),
            "QUESTION": as_data(state.question),
        }
        sampling = replace(self._sampling, max_tokens=ANSWER_TOKENS)
        prompt = "synthesise" if self._letter else "conclude"
        return self.read(state.run, evidence, values, prompt, sampling)

    def _answers_text(self, links: Sequence[Link], start_proofs: Proofs) -> tuple[str, tuple[Fact, ...]]:
        lines, facts = list[str](), list[Fact]()
        for number, link in enumerate(links, 1):
            triples = tuple(dict.fromkeys([*(p[-1] for p in link.proofs.values()), *link.reply.rests_on]))
            if self._letter:
                lines += [f"[{number}] {data_line(link.asked)}", f"Answer: {data_line(link.reply.text)}"]
                facts.append(Fact(triples))
                continue
            # What was known before a link: its own answers are the lists of its facts.
            proofs_before = {e: proof for e, proof in start_proofs.items() if e not in link.proofs}
            # Facts that it names go on as they were read: a record says what a thing lacks, too.
            cited = link.reply.cited
            if sum(len(fact.triples) for fact in cited) > MOST_SUB_ANSWER_TRIPLES:
                cited = ()
            stated = {triple for fact in cited for triple in fact.triples}
            others = [triple for triple in triples if triple not in stated]
            link_facts = (*cited, *fact_lines(self.graph, others[:MOST_SUB_ANSWER_TRIPLES], proofs_before))
            hidden_count = len(others) - MOST_SUB_ANSWER_TRIPLES
            lines += [data_line(f"{number}. {link.asked}"), *numbered(link_facts, len(facts) + 1)]
            lines += [f"({hidden_count:,} more facts are not shown)"] if hidden_count > 0 else []
            lines.append(f"Answer: {answer_line(self.graph, link)}")
            facts += link_facts
        return "\n".join(lines), tuple(facts)

    def _end_abstention(self, state: _ChainState) -> Abstention:
        """Why a chain ended early, and how far it came."""
        last = state.links[-1]
        last_text = short(last.reply.text)
        if last.reply.shows_none:
            return Abstention("empty_result", f"the facts show that there is none: {last_text}")
        unproved_note = f', and "{last_text}" is not proved by it' if last_text else ""
        detail = f'the evidence holds no answer to "{last.asked}"{unproved_note}{_so_far(state.links[:-1])}'
        return Abstention("not_in_evidence" if last_text else "empty_result", detail)

    def _abstain(self, state: _ChainState, abstained: Abstention) -> Answer:
        return Answer(state.question, abstained=abstained, chain=self._chain(state), complete=state.complete)

    def _chain(self, state: _ChainState) -> Chain | None:
        if not state.plan.questions:
            return None
        sub_answers = tuple(link.as_sub_answer(self.graph) for link in state.links)
        return Chain(state.plan.reasoning, sub_answers, (*state.plan.notes, *state.notes))

    def _grounded_answer(self, state: _ChainState, reply: GroundedReply) -> Answer:
        """The final answer with its chain; what a lone question lacks is said as that of a chain."""
        complete = state.complete and not reply.cut
        answer = self.answer_of(state.question, reply, complete=complete, notes=shared_names(state.called))
        abstained = answer.abstained
        if reply.shows_none:
            detail = f"the facts show that there is none: {short(reply.text)}"
            return self._abstain(state, Abstention("empty_result", detail))
        if self._asks_alone(state) and abstained is not None and abstained.reason != "ungrounded":
            answer = self._abstain(state, self._end_abstention(state))
        return replace(answer, chain=self._chain(state))


def reformulate(talk: Talk, question: str, earlier: str, sampling: Request, names: Sequence[str] = ()) -> str:
    """A sub-question with the answers of earlier ones in it; empty where the reply is none, or refuses.

    The reply stops at its question mark (3.4.3), unless a name in it may hold one.
    """
    prompt = prompt_named("clew.methods.kg_rag", "reformulate")
    shown = [question, *earlier.splitlines()]
    asking = any("?" in (s if s.startswith("Answer: ") else s.rstrip("? ")) for s in shown)
    stop = () if asking else ("?",)
    reply = talk.ask(prompt, sampling, stop=stop, QUESTION=as_data(question), EARLIER=earlier)
    lines = [line.strip(' "*') for line in reply.splitlines() if any(c.isalnum() for c in line)]
    text = next((line for line in reversed(lines) if line.endswith("?")), lines[-1] if lines else "")
    if not text or len(text) > LONGEST_QUESTION:
        return ""
    text = text.rstrip("?. ") + "?"
    return "" if declines(text, names) and not declines(question) else text


def _so_far(links: Sequence[Link]) -> str:
    if not links:
        return ""
    answered = (f'"{link.asked}" ({len(link.proofs)} found)' for link in links)
    return f"; answered before: {', '.join(answered)}"

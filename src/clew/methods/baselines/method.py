"""Baselines: without the graph, or with triples and documents that a model reads."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from clew.graph.neighbourhood import best_of, find_candidates, hub_notes, triples_at
from clew.graph.walks.kernels import weighted_sums
from clew.index.store.directory import Index
from clew.index.vectors.triples import TripleVectors, triple_search
from clew.llm.managed import Talk, as_data, data_lines, listed, prompt_named, short
from clew.llm.reply import ChatModel, declines
from clew.llm.types import Request
from clew.methods.base import ZERO_SHOT, GraphMethod, Retrieved, Run, first_of, needs_model, ungrounded
from clew.methods.kg_rag.decompose import Plan, decompose, default_demonstrations
from clew.methods.kg_rag.method import reformulate, table_3
from clew.methods.question import Called, entities_of
from clew.methods.settings import (
    KapingSettings,
    KgGptSettings,
    KgRetrievalSettings,
    LlmSettings,
    TripleRagSettings,
    VectorRagSettings,
)
from clew.methods.simgrag.write_pattern import default_shots
from clew.text.embedders import Embedder, unit_rows
from clew.text.normalise import normalise
from clew.text.verbalise import relation_text
from clew.types import Abstention, Answer, Chain, SubAnswer

# Two baselines without the graph, whose answers are not grounded.
#
# `llm` is the model alone, zero-shot (KG-RAG section 4.2.2). `llm-qd` takes the question apart and answers
# the sub-questions itself: LLM+QD of KG-RAG's Experiment 2 (same section), with KG-RAG's decomposition,
# reformulation and synthesis, and the zero-shot prompt of `llm` for each sub-question.


class Llm:
    """Asks the model."""

    name = "llm"

    def __init__(
        self,
        index: Index,
        embedder: Embedder,
        *,
        model: ChatModel | None = None,
        settings: LlmSettings | None = None,
    ) -> None:
        self.model = needs_model(model, self.name)
        self.settings = settings or LlmSettings()
        self.sampling = table_3(self.settings.seed, self.settings.temperature)

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer one question, ungrounded. Raises LlmError."""
        run = Run(self.name, id, self.model)
        return run.answer(
            question, lambda: ungrounded_answer(question, self._ask_alone(run.talk, question, self.sampling))
        )

    def _ask_alone(self, talk: Talk, question: str, sampling: Request) -> str:
        """Ask a question with nothing but examples: the first worked questions of SimGRAG, answers alone."""
        shots = default_shots().of("question", self.settings.shots)
        examples = "".join(f"Question: {as_data(s.query)}\nAnswer: {', '.join(s.answers)}\n\n" for s in shots)
        prompt = prompt_named("clew.methods.baselines", "llm").with_values(examples=examples)
        return talk.ask(prompt, sampling, EXAMPLES=examples, QUESTION=as_data(question))


class LlmQd(Llm):
    """Asks the model step by step."""

    name = "llm-qd"

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer one question with a chain, ungrounded. Raises LlmError."""
        run = Run(self.name, id, self.model)
        talk, links, plan = run.talk, list[SubAnswer](), Plan()

        def work() -> Answer:
            nonlocal plan
            plan = decompose(talk, question, self.sampling, default_demonstrations(), letter=True)
            sampling = replace(self.sampling, repeat_penalty=1.1)
            for text in plan.questions:
                asked = text
                if links:
                    asked = reformulate(talk, text, _answers_text(links), self.sampling) or text
                links.append(SubAnswer(text, asked, self._ask_alone(talk, asked, sampling)))
            prompt = prompt_named("clew.methods.baselines", "llm_qd_synthesise")
            sampling, answers = replace(self.sampling, max_tokens=512), _answers_text(links)
            return ungrounded_answer(
                question, talk.ask(prompt, sampling, ANSWERS=answers, QUESTION=as_data(question))
            )

        answer = run.answer(question, work)
        chain = Chain(plan.reasoning, tuple(links), plan.notes) if links else None
        return replace(answer, chain=chain, complete=not plan.cut)


def _answers_text(links: Sequence[SubAnswer]) -> str:
    """Sub-questions with their answers, for a prompt."""
    return data_lines(line for link in links for line in (link.asked, f"Answer: {link.text}"))


def ungrounded_answer(question: str, text: str) -> Answer:
    """An answer that no triple proves; an abstention if it is empty, or says that the model has none."""
    if not text:
        return Answer(question, abstained=Abstention("not_in_evidence", "the model gave no answer"))
    if declines(text):
        detail = f'the model says that it has no answer: "{short(text)}"'
        return Answer(question, abstained=Abstention("not_in_evidence", detail))
    return ungrounded(question, text)


# Baselines that retrieve triples around the question's entities, or documents, and have a model read them.
#
# `kaping`: Baek, Aji and Saffari, *Knowledge-augmented language model prompting for zero-shot knowledge graph
# question answering*, 2023: 1 hop, since more degraded it; top 10 by similarity; zero-shot. It is LLM+KG in
# KG-RAG's Experiment 2 (with hops=3, top=30).
#
# `triple-rag`: *Vanilla RAG* of Walk&Retrieve (section 3, after Sen et al. 2023): 5 triples drawn uniformly
# from all 1-hop facts of the question's entities. The draw is a function of the seed and the question.
#
# `kg-retrieval`: *KG-retrieval* of SynaptiQA (section 4.3): the LLM extracts entities; attributes and one-hop
# relations of these are read from the graph; all of it goes to the LLM. At hubs the first triples by relation
# in turn are taken, so that every relation of an entity is seen.
#
# `kg-gpt`: Kim, Kwon, Jo and Choi, *KG-GPT: A general framework for reasoning on knowledge graphs using large
# language models*, 2023, as SimGRAG describes it (sections 2 and 6): sentence segmentation; relation
# retrieval, where the model sees all candidate relations; inference over the evidence. Candidate relations of
# a sub-sentence are all that the entities reached so far have, and its relations are walked both ways from
# where the one before ended.
#
# `vector-rag`: *Vector-retrieval* of SynaptiQA (section 4.3): the most similar documents. A document is what
# the graph says of one entity: its outgoing triples, verbalised, whose vector is the sum of the triples'
# vectors, so that nothing is embedded again.

MOST_SENTENCES = 5
"""Sub-sentences of KG-GPT that are used."""
MOST_DOCUMENT_TRIPLES = 60
"""Triples of one document that are read."""
_NUMBER = re.compile(r"^\s*(?:\d{1,2}[.):]|[-*])\s*(.+)$")


class Kaping(GraphMethod[KapingSettings]):
    """Triples by similarity with the whole question."""

    name, settings_class = "kaping", KapingSettings

    def prepare(self) -> None:
        """Open the search that compares triples with a question."""
        self.vectors = triple_search(self.index, self.embedder)

    def retrieve(self, question: str, called: Called, run: Run) -> Retrieved:
        """The most similar triples within the hops."""
        topic_entities = entities_of(called)
        similarity, limits = self.vectors.similarities(question), self.vectors.limits
        candidates = find_candidates(self.graph, topic_entities, self.settings.hops, similarity, limits)
        triples, _ = self.vectors.top(question, candidates.triples, self.settings.k)
        return self.of_triples(run, triples.tolist(), called, hub_notes(candidates))


class TripleRag(GraphMethod[TripleRagSettings]):
    """Triples at random."""

    name, settings_class = "triple-rag", TripleRagSettings

    def retrieve(self, question: str, called: Called, run: Run) -> Retrieved:
        """Draw from the 1-hop facts."""
        facts = np.sort(triples_at(self.graph, entities_of(called)))
        draw = random.Random(f"{self.settings.seed} {question}")  # noqa: S311 (a sample, no secret)
        drawn = draw.sample(range(len(facts)), min(self.settings.k, len(facts)))
        return self.of_triples(run, facts[drawn].tolist(), called)


class KgRetrieval(GraphMethod[KgRetrievalSettings]):
    """All triples of the entities."""

    name, settings_class = "kg-retrieval", KgRetrievalSettings

    def link(self, question: str, entities: Sequence[str], run: Run) -> Called:
        """The entities that are given, that the model lists, or that are linked."""
        if not entities:
            prompt = prompt_named("clew.methods.baselines", "kg_retrieval_entities")
            names = listed(run.talk.ask(prompt, ZERO_SHOT, QUESTION=as_data(question)))
            if mentions := self.find_topic_entities.called(question, names):
                return mentions
        return super().link(question, entities, run)

    def retrieve(self, question: str, called: Called, run: Run) -> Retrieved:
        """Attributes and relations, both ways; of each relation in turn."""
        triples = triples_at(self.graph, entities_of(called))
        relations = self.graph.out.relation[triples]
        _, first, group = np.unique(relations, return_index=True, return_inverse=True)
        by_group = np.argsort(group, kind="stable")
        starts = np.searchsorted(group[by_group], np.arange(len(first)))
        turn = np.empty(len(relations), np.intp)
        turn[by_group] = np.arange(len(relations)) - starts[group[by_group]]
        in_turn = triples[np.lexsort((first[group], turn))].tolist()
        read, notes = first_of(in_turn, self.settings.k)
        return self.of_triples(run, read, called, notes)


class KgGpt(GraphMethod[KgGptSettings]):
    """Triples over the relations that were chosen."""

    name, settings_class = "kg-gpt", KgGptSettings

    def retrieve(self, question: str, called: Called, run: Run) -> Retrieved:
        """The evidence: triples of the chosen relations, sub-sentence by sub-sentence."""
        prompt = prompt_named("clew.methods.baselines", "kg_gpt_segment")
        reply = run.talk.ask(prompt, ZERO_SHOT, QUESTION=as_data(question))
        sentences = [m[1] for line in reply.splitlines() if (m := _NUMBER.match(line))] or [question]
        notes: tuple[str, ...] = ()
        if len(sentences) > MOST_SENTENCES:
            notes = (f"the model wrote {len(sentences)} sub-sentences; {MOST_SENTENCES} are used",)
        out, evidence = self.graph.out, np.empty(0, np.int64)
        frontier = np.array(entities_of(called), np.int64)
        for sentence in sentences[:MOST_SENTENCES]:
            candidates = triples_at(self.graph, frontier.tolist())
            candidates = candidates[~np.isin(candidates, evidence)]
            relations = out.relation[candidates]
            chosen = self._choose(sentence, np.unique(relations).tolist(), run.talk)
            triples = candidates[np.isin(relations, chosen)]
            if not len(triples):
                continue
            evidence = np.concatenate([evidence, triples])
            ends = np.concatenate([out.owners(triples), out.neighbour[triples].astype(np.int64)])
            reached = np.setdiff1d(ends, frontier)
            frontier = reached if len(reached) else frontier
        read, cut_notes = first_of(evidence.tolist(), 200)
        return self.of_triples(run, read, called, (*notes, *cut_notes))

    def _choose(self, sentence: str, relations: Sequence[int], talk: Talk) -> list[int]:
        """The relations that the model chooses of some; other names are left out."""
        names = {relation: relation_text(self.graph.relation_labels[relation]) for relation in relations}
        relation_by_name = {normalise(name): relation for relation, name in names.items()}
        reply = talk.ask(
            prompt_named("clew.methods.baselines", "kg_gpt_relations"), ZERO_SHOT,
            COUNT=str(self.settings.k),
            RELATIONS=data_lines(names.values()), SENTENCE=as_data(sentence),
        )  # fmt: skip
        chosen = (
            relation_by_name[norm] for line in listed(reply) if (norm := normalise(line)) in relation_by_name
        )
        return list(dict.fromkeys(chosen))[: self.settings.k]


class VectorRag(GraphMethod[VectorRagSettings]):
    """Whole neighbourhoods by similarity."""

    name, settings_class, needs_topics = "vector-rag", VectorRagSettings, False

    def prepare(self) -> None:
        """Sum the vectors of each entity's triples: float32 [documents, d]."""
        triple_vectors, out = TripleVectors.of(self.index, self.embedder), self.graph.out
        sums = np.empty((self.graph.nodes, triple_vectors.rows.shape[1]), np.float32)
        once = np.ones(out.edges, np.uint16)
        weighted_sums(triple_vectors.rows, triple_vectors.scales, once, out.offsets, sums)
        self._vectors = unit_rows(sums)

    def retrieve(self, question: str, called: Called, run: Run) -> Retrieved:
        """The triples of the documents that are nearest: no entity need be linked."""
        triples, notes = list[int](), list[str]()
        scores = self._vectors @ self.embedder.embed([question])[0]
        for node in best_of(scores, self.settings.k, np.arange(len(scores))).tolist():
            start, stop = self.graph.out.span(node)
            triples += range(start, min(stop, start + MOST_DOCUMENT_TRIPLES))
            if stop - start > MOST_DOCUMENT_TRIPLES:
                name = self.graph.labels[node]
                notes.append(f"{MOST_DOCUMENT_TRIPLES} of the {stop - start:,} triples of {name} are read")
        return self.of_triples(run, triples, called, tuple(notes))

"""Baselines that read triples around the question's entities: the most similar, any, all, or the chosen.

`kaping`: Baek, Aji and Saffari, *Knowledge-augmented language model prompting for zero-shot knowledge graph
question answering*, 2023: 1 hop, since more degraded it; top 10 by similarity; zero-shot. It is LLM+KG in
KG-RAG's Experiment 2 (with hops=3, top=30).

`triple-rag`: *Vanilla RAG* of Walk&Retrieve (section 3, after Sen et al. 2023): 5 triples drawn uniformly
from all 1-hop facts of the question's entities. The draw is a function of the seed and the question.

`kg-retrieval`: *KG-retrieval* of SynaptiQA (section 4.3): the LLM extracts entities; attributes and one-hop
relations of these are read from the graph; all of it goes to the LLM. Without a model the linker finds the
entities. At hubs the first `most` triples by relation in turn are taken, so that every relation of an entity
is seen.

`kg-gpt`: Kim, Kwon, Jo and Choi, *KG-GPT: A general framework for reasoning on knowledge graphs using large
language models*, 2023, as SimGRAG describes it (sections 2 and 6): sentence segmentation; relation retrieval,
where the model sees all candidate relations; inference over the evidence. Candidate relations of a
sub-sentence are all that the entities reached so far have, and its relations are walked both ways from where
the one before ended. Without a model the sub-sentences are the edges of the question's pattern.

Without a model, the question's pattern is followed through the triples.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from clew.graph.neighbourhood import find_candidates, hub_notes, triples_at
from clew.index.vectors.triple_search import TripleSearch, triple_search
from clew.llm.prompting import Talk, as_data, data_lines, listed, prompt_named
from clew.methods.baselines.evidence import ZERO_SHOT, EvidenceMethod, first_of
from clew.methods.baselines.settings import (
    KapingSettings,
    KgGptSettings,
    KgRetrievalSettings,
    TripleRagSettings,
)
from clew.methods.kg_rag.chain import follow, given_proofs, hops_of
from clew.methods.kg_rag.retrieve import RetrievedTriples
from clew.methods.topic_entities import Called
from clew.text.labels import relation_text
from clew.text.normalise import normalise
from clew.types import Abstention

MOST_SENTENCES = 5
_NUMBER = re.compile(r"^\s*(?:\d{1,2}[.):]|[-*])\s*(.+)$")


class Kaping(EvidenceMethod[KapingSettings]):
    """Triples by similarity with the whole question."""

    name, settings_class = "kaping", KapingSettings

    @cached_property
    def vectors(self) -> TripleSearch:
        """The search that compares triples with a question."""
        return triple_search(self.index, self.embedder)

    def retrieve(self, question: str, topic_entities: Sequence[int], talk: Talk | None) -> RetrievedTriples:
        """The most similar triples within the hops."""
        similarity, limits = self.vectors.similarities(question), self.vectors.limits
        candidates = find_candidates(self.graph, topic_entities, self.settings.hops, similarity, limits)
        triples, _ = self.vectors.top(question, candidates.triples, self.settings.k)
        return RetrievedTriples(triples.tolist(), hub_notes(candidates))


class TripleRag(EvidenceMethod[TripleRagSettings]):
    """Triples at random."""

    name, settings_class = "triple-rag", TripleRagSettings

    def retrieve(self, question: str, topic_entities: Sequence[int], talk: Talk | None) -> RetrievedTriples:
        """Draw from the 1-hop facts."""
        facts = np.sort(triples_at(self.graph, topic_entities))
        draw = random.Random(f"{self.settings.seed} {question}")  # noqa: S311 (a sample, no secret)
        drawn = draw.sample(range(len(facts)), min(self.settings.k, len(facts)))
        return RetrievedTriples(facts[drawn].tolist())


class KgRetrieval(EvidenceMethod[KgRetrievalSettings]):
    """All triples of the entities."""

    name, settings_class = "kg-retrieval", KgRetrievalSettings

    def called(self, question: str, entities: Sequence[str], talk: Talk | None) -> Called:
        """The entities that are given, that the model lists, or that are linked."""
        if not entities and talk is not None:
            prompt = prompt_named("clew.methods.baselines", "kg_retrieval_entities")
            names = listed(talk.ask(prompt, ZERO_SHOT, QUESTION=as_data(question)))
            if mentions := self.find_topic_entities.called(question, names):
                return mentions
        return super().called(question, entities, talk)

    def retrieve(self, question: str, topic_entities: Sequence[int], talk: Talk | None) -> RetrievedTriples:
        """Attributes and relations, both ways; of each relation in turn."""
        triples = triples_at(self.graph, topic_entities)
        return first_of(triples[_turn_order(self.graph.out.relation[triples])].tolist(), self.settings.k)


def _turn_order(relations: NDArray[np.integer]) -> NDArray[np.intp]:
    """Positions in the order of turns: the first of each relation, then the second of each, and so on."""
    _, first, group = np.unique(relations, return_index=True, return_inverse=True)
    by_group = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[by_group], np.arange(len(first)))
    turn = np.empty(len(relations), np.intp)
    turn[by_group] = np.arange(len(relations)) - starts[group[by_group]]
    return np.lexsort((first[group], turn))


class KgGpt(EvidenceMethod[KgGptSettings]):
    """Triples over the relations that were chosen."""

    name, settings_class = "kg-gpt", KgGptSettings

    def retrieve(self, question: str, topic_entities: Sequence[int], talk: Talk | None) -> RetrievedTriples:
        """The evidence: triples of the chosen relations, sub-sentence by sub-sentence."""
        if talk is None:
            return self._follow_pattern(question, topic_entities)
        prompt = prompt_named("clew.methods.baselines", "kg_gpt_segment")
        reply = talk.ask(prompt, ZERO_SHOT, QUESTION=as_data(question))
        sentences = [m[1] for line in reply.splitlines() if (m := _NUMBER.match(line))] or [question]
        notes: tuple[str, ...] = ()
        if len(sentences) > MOST_SENTENCES:
            notes = (f"the model wrote {len(sentences)} sub-sentences; {MOST_SENTENCES} are used",)
        out, evidence = self.graph.out, np.empty(0, np.int64)
        frontier = np.array(topic_entities, np.int64)
        for sentence in sentences[:MOST_SENTENCES]:
            candidates = triples_at(self.graph, frontier.tolist())
            candidates = candidates[~np.isin(candidates, evidence)]
            relations = out.relation[candidates]
            chosen = self._choose(sentence, np.unique(relations).tolist(), talk)
            triples = candidates[np.isin(relations, chosen)]
            if not len(triples):
                continue
            evidence = np.concatenate([evidence, triples])
            ends = np.concatenate([out.owners(triples), out.neighbour[triples].astype(np.int64)])
            reached = np.setdiff1d(ends, frontier)
            frontier = reached if len(reached) else frontier
        retrieved = first_of(evidence.tolist(), self.settings.most)
        return RetrievedTriples(retrieved.triples, (*notes, *retrieved.notes))

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

    def _follow_pattern(self, question: str, topic_entities: Sequence[int]) -> RetrievedTriples:
        names = [self.graph.entities[seed] for seed in topic_entities]
        asked_pattern = self.read_pattern(question, ())
        if isinstance(asked_pattern, Abstention):
            asked_pattern = self.read_pattern(question, names)
        if isinstance(asked_pattern, Abstention):
            return first_of(triples_at(self.graph, topic_entities).tolist(), self.settings.most)
        pattern = asked_pattern.pattern
        proofs_by_node, evidence = given_proofs(pattern), dict[int, None]()
        for hop in hops_of(pattern):
            candidates = triples_at(self.graph, list(proofs_by_node[hop.start]))
            triples = np.sort(candidates[self.graph.out.relation[candidates] == hop.relation]).tolist()
            proofs_by_node[hop.end] = follow(self.graph, hop, proofs_by_node, triples)
            evidence |= dict.fromkeys(triples)
        return RetrievedTriples(list(evidence))

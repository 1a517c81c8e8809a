"""Baselines that read triples around the question's entities with one prompt: the most similar, any, or all.

`kaping`: Baek, Aji and Saffari, *Knowledge-augmented language model prompting for zero-shot knowledge graph
question answering*, 2023: 1 hop, since more degraded it; top 10 by similarity; zero-shot. It is LLM+KG in
KG-RAG's Experiment 2 (with hops=3, top=30).

`triple-rag`: *Vanilla RAG* of Walk&Retrieve (section 3, after Sen et al. 2023): 5 triples drawn uniformly
from all 1-hop facts of the question's entities. The draw is a function of the seed and the question.

`kg-retrieval`: *KG-retrieval* of SynaptiQA (section 4.3): the LLM extracts entities; attributes and one-hop
relations of these are read from the graph; all of it goes to the LLM. Without a model the linker finds the
entities. At hubs the first `most` triples by relation in turn are taken, so that every relation of an entity
is seen.

Without a model, the question's pattern is followed through the triples.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from clew.graph.neighbourhood import find_candidates, hub_notes, triples_at
from clew.index.vectors.triple_search import TripleSearch, triple_search
from clew.llm.prompting import Talk, as_data, listed, prompt_named
from clew.methods.baselines.evidence import ZERO_SHOT, EvidenceMethod, first_of
from clew.methods.baselines.settings import KapingSettings, KgRetrievalSettings, TripleRagSettings
from clew.methods.kg_rag.retrieve import RetrievedTriples
from clew.methods.topic_entities import Called


class Kaping(EvidenceMethod[KapingSettings]):
    """Triples by similarity with the whole question."""

    name, settings_class = "kaping", KapingSettings

    @cached_property
    def vectors(self) -> TripleSearch:
        """What compares triples with a question."""
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
            if found := self.find_topic_entities.called(question, names):
                return found
        return super().called(question, entities, talk)

    def retrieve(self, question: str, topic_entities: Sequence[int], talk: Talk | None) -> RetrievedTriples:
        """Attributes and relations, both ways; of each relation in turn."""
        triples = triples_at(self.graph, topic_entities)
        return first_of(triples[_in_turn(self.graph.out.relation[triples])].tolist(), self.settings.k)


def _in_turn(relations: NDArray[np.integer]) -> NDArray[np.intp]:
    """Positions in the order of turns: the first of each relation, then the second of each, and so on."""
    _, first, group = np.unique(relations, return_index=True, return_inverse=True)
    by_group = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[by_group], np.arange(len(first)))
    turn = np.empty(len(relations), np.intp)
    turn[by_group] = np.arange(len(relations)) - starts[group[by_group]]
    return np.lexsort((first[group], turn))

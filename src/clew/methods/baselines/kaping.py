"""`kaping`: the triples around the question's entities that are most similar to the question, and one prompt.

Baek, Aji and Saffari, *Knowledge-augmented language model prompting for zero-shot knowledge graph question
answering*, 2023: 1 hop, since more degraded it; top 10 by similarity; zero-shot. It is LLM+KG in KG-RAG's
Experiment 2 (with hops=3, top=30). Without a model, the question's pattern is followed through the triples.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from clew.graph.neighbourhood import find_candidates, hub_notes
from clew.index.vectors.triple_search import TripleSearch, triple_search
from clew.llm.prompting import Talk
from clew.methods.baselines.evidence import EvidenceMethod
from clew.methods.baselines.settings import KapingSettings
from clew.methods.kg_rag.retrieve import RetrievedTriples


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

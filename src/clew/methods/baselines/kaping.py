"""`kaping`: the triples around the question's entities that are most similar to the question, and one prompt.

Baek, Aji and Saffari, *Knowledge-augmented language model prompting for zero-shot knowledge graph question
answering*, 2023: 1 hop, since more degraded it; top 10 by similarity; zero-shot. It is LLM+KG in KG-RAG's
Experiment 2 (with hops=3, top=30). Without a model, the question's pattern is followed through the triples.
"""

from __future__ import annotations

from collections.abc import Sequence

from clew.graph.neighbourhood import find_candidates, hub_notes
from clew.index.store.directory import Index
from clew.index.vectors.triple_search import triple_search
from clew.index.vectors.triple_vectors import with_triple_vectors
from clew.llm.prompting import Talk
from clew.llm.types import ChatModel
from clew.methods.baselines.evidence import EvidenceMethod, RetrievedTriples
from clew.methods.baselines.settings import KapingSettings
from clew.text.embedder import Embedder


class Kaping(EvidenceMethod):
    """Triples by similarity with the whole question."""

    name = "kaping"

    def __init__(
        self,
        index: Index,
        embedder: Embedder,
        *,
        model: ChatModel | None = None,
        settings: KapingSettings | None = None,
    ) -> None:
        super().__init__(with_triple_vectors(index, embedder), embedder, model=model)
        self.vectors = triple_search(self.index, embedder)
        self.settings = settings or KapingSettings()

    def retrieve(self, question: str, topic_entities: Sequence[int], talk: Talk | None) -> RetrievedTriples:
        """The most similar triples within the hops."""
        similarity = self.vectors.similarities(question)
        candidates = find_candidates(
            self.graph, topic_entities, self.settings.hops, similarity, self.vectors.limits
        )
        triples, _ = self.vectors.top(question, candidates.triples, self.settings.k)
        return RetrievedTriples(triples.tolist(), hub_notes(candidates))

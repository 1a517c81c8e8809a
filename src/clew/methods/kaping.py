"""`kaping`: the triples around the question's entities that are most similar to the question, and one prompt.

Baek, Aji and Saffari, *Knowledge-augmented language model prompting for zero-shot knowledge graph question
answering*, 2023: 1 hop, since more degraded it; top 10 by similarity; zero-shot. It is LLM+KG in KG-RAG's
Experiment 2 (with hops=3, top=30). Without a model, the question's pattern is followed through the triples.
"""

from __future__ import annotations

from collections.abc import Sequence

from clew.graph.candidates import find_candidates
from clew.index.directory import Index
from clew.index.triple_vectors import TripleVectors, with_triple_vectors
from clew.llm.types import ChatModel
from clew.methods.evidence import EvidenceMethod
from clew.steps.prompting import Talk
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
        hops: int = 1,
        top: int = 10,
    ) -> None:
        super().__init__(with_triple_vectors(index, embedder), embedder, model=model)
        self.vectors = TripleVectors.of(self.index, embedder)
        self.hops, self.top = hops, top

    def retrieve(self, question: str, seeds: Sequence[int], talk: Talk | None) -> Sequence[int]:
        """The most similar triples within the hops."""
        similarity = self.vectors.similarities(question)
        candidates = find_candidates(self.graph, seeds, self.hops, similarity)
        triples, _ = self.vectors.top(question, candidates.triples, self.top)
        return [int(t) for t in triples]

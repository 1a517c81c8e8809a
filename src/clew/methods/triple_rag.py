"""`triple-rag`: five facts around the question's entities, drawn at random, and one prompt.

*Vanilla RAG* of Walk&Retrieve (section 3, after Sen et al. 2023): 5 triples drawn uniformly from all 1-hop
facts of the question's entities. The draw is a function of the seed and the question.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from clew.graph.candidates import unranked_candidates
from clew.index.directory import Index
from clew.llm.types import ChatModel
from clew.methods.evidence import EvidenceMethod
from clew.steps.prompting import Talk
from clew.text.embedder import Embedder


class TripleRag(EvidenceMethod):
    """Triples at random."""

    name = "triple-rag"

    def __init__(
        self,
        index: Index,
        embedder: Embedder,
        *,
        model: ChatModel | None = None,
        count: int = 5,
        seed: int = 0,
    ) -> None:
        super().__init__(index, embedder, model=model)
        self.count, self.seed = count, seed

    def retrieve(self, question: str, seeds: Sequence[int], talk: Talk | None) -> Sequence[int]:
        """Draw from the 1-hop facts."""
        facts = sorted(int(t) for t in unranked_candidates(self.graph, seeds, 1))
        draw = random.Random(f"{self.seed} {question}")  # noqa: S311 (a sample, no secret)
        return draw.sample(facts, min(self.count, len(facts)))

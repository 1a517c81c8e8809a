"""`triple-rag`: five facts around the question's entities, drawn at random, and one prompt.

*Vanilla RAG* of Walk&Retrieve (section 3, after Sen et al. 2023): 5 triples drawn uniformly from all 1-hop
facts of the question's entities. The draw is a function of the seed and the question.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from clew.graph.neighbourhood import triples_at
from clew.llm.prompting import Talk
from clew.methods.baselines.evidence import EvidenceMethod
from clew.methods.baselines.settings import TripleRagSettings
from clew.methods.kg_rag.retrieve import RetrievedTriples


class TripleRag(EvidenceMethod[TripleRagSettings]):
    """Triples at random."""

    name, settings_class = "triple-rag", TripleRagSettings

    def retrieve(self, question: str, topic_entities: Sequence[int], talk: Talk | None) -> RetrievedTriples:
        """Draw from the 1-hop facts."""
        facts = np.sort(triples_at(self.graph, topic_entities))
        draw = random.Random(f"{self.settings.seed} {question}")  # noqa: S311 (a sample, no secret)
        drawn = draw.sample(range(len(facts)), min(self.settings.k, len(facts)))
        return RetrievedTriples(facts[drawn].tolist())

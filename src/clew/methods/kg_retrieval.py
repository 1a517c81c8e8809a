"""`kg-retrieval`: the question's entities, their attributes and one-hop relations, and one prompt.

*KG-retrieval* of SynaptiQA (section 4.3): the LLM extracts entities; attributes and one-hop relations of
these are read from the graph; all of it goes to the LLM. Without a model the linker finds the entities. At
hubs the first `most` triples by relation in turn are taken, so that every relation of an entity is seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from clew.graph.candidates import unranked_candidates
from clew.index.directory import Index
from clew.llm.types import ChatModel
from clew.methods.evidence import ZERO_SHOT, EvidenceMethod
from clew.steps.prompting import Talk, data_line, prompt_named
from clew.text.embedder import Embedder

MOST_NAMES = 10
"""Names that are taken from the model's list."""


class KgRetrieval(EvidenceMethod):
    """All triples of the entities."""

    name = "kg-retrieval"

    def __init__(
        self, index: Index, embedder: Embedder, *, model: ChatModel | None = None, most: int = 200
    ) -> None:
        super().__init__(index, embedder, model=model)
        self.most = most

    def seeds(self, question: str, entities: Sequence[str], talk: Talk | None) -> tuple[int, ...]:
        """The entities that are given, that the model lists, or that are linked."""
        if entities or talk is None:
            return super().seeds(question, entities, talk)
        reply = talk.ask(prompt_named("kg_retrieval_entities"), ZERO_SHOT, QUESTION=data_line(question))
        names = [line.strip(' -*"\t') for line in reply.splitlines()][:MOST_NAMES]
        found = [hit.entity for name in names if name for hit in self.index.names.exact(name)]
        return tuple(dict.fromkeys(found)) or super().seeds(question, entities, talk)

    def retrieve(self, question: str, seeds: Sequence[int], talk: Talk | None) -> Sequence[int]:
        """Attributes and relations, both ways; of each relation in turn."""
        by_relation: dict[int, list[int]] = {}
        for triple in unranked_candidates(self.graph, seeds, 1):
            by_relation.setdefault(int(self.graph.out.relation[triple]), []).append(int(triple))
        turns = zip_longest(*by_relation.values())
        return [t for turn in turns for t in turn if t is not None][: self.most]

"""`kg-retrieval`: the question's entities, their attributes and one-hop relations, and one prompt.

*KG-retrieval* of SynaptiQA (section 4.3): the LLM extracts entities; attributes and one-hop relations of
these are read from the graph; all of it goes to the LLM. Without a model the linker finds the entities. At
hubs the first `most` triples by relation in turn are taken, so that every relation of an entity is seen.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clew.graph.neighbourhood import triples_at
from clew.llm.prompting import Talk, as_data, listed, prompt_named
from clew.methods.baselines.evidence import ZERO_SHOT, EvidenceMethod, first_of
from clew.methods.baselines.settings import KgRetrievalSettings
from clew.methods.kg_rag.retrieve import RetrievedTriples
from clew.methods.topic_entities import Called


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

"""`kg-gpt`: cut the question into sub-sentences, choose relations for each, infer from their triples.

Kim, Kwon, Jo and Choi, *KG-GPT: A general framework for reasoning on knowledge graphs using large language
models*, 2023, as SimGRAG describes it (sections 2 and 6): sentence segmentation; relation retrieval, where
the model sees all candidate relations; inference over the evidence. Entities may be given (the oracle of its
evaluation) or are linked. Candidate relations of a sub-sentence are all that the entities reached so far
have, and its relations are walked both ways from where the one before ended. Without a model the
sub-sentences are the edges of the question's pattern, and their relations those of the edges.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from clew.graph.neighbourhood import triples_at
from clew.llm.prompting import Talk, as_data, data_lines, listed, prompt_named
from clew.methods.baselines.evidence import ZERO_SHOT, EvidenceMethod, first_of
from clew.methods.baselines.settings import KgGptSettings
from clew.methods.kg_rag.chain import follow, given_proofs, hops_of
from clew.methods.kg_rag.retrieve import RetrievedTriples
from clew.text.labels import relation_text
from clew.text.normalise import normalise
from clew.types import Abstention

MOST_SENTENCES = 5
_NUMBER = re.compile(r"^\s*(?:\d{1,2}[.):]|[-*])\s*(.+)$")


class KgGpt(EvidenceMethod[KgGptSettings]):
    """Triples over the relations that were chosen."""

    name, settings_class = "kg-gpt", KgGptSettings

    def retrieve(self, question: str, topic_entities: Sequence[int], talk: Talk | None) -> RetrievedTriples:
        """The evidence: triples of the chosen relations, sub-sentence by sub-sentence."""
        if talk is None:
            return self._of_pattern(question, topic_entities)
        prompt = prompt_named("clew.methods.baselines", "kg_gpt_segment")
        reply = talk.ask(prompt, ZERO_SHOT, QUESTION=as_data(question))
        sentences = [m[1] for line in reply.splitlines() if (m := _NUMBER.match(line))] or [question]
        notes: tuple[str, ...] = ()
        if len(sentences) > MOST_SENTENCES:
            notes = (f"the model wrote {len(sentences)} sub-sentences; {MOST_SENTENCES} are used",)
        out, taken = self.graph.out, np.empty(0, np.int64)
        frontier = np.array(topic_entities, np.int64)
        for sentence in sentences[:MOST_SENTENCES]:
            around = triples_at(self.graph, frontier.tolist())
            around = around[~np.isin(around, taken)]
            relations = out.relation[around]
            chosen = self._choose(sentence, np.unique(relations).tolist(), talk)
            triples = around[np.isin(relations, chosen)]
            if not len(triples):
                continue
            taken = np.concatenate([taken, triples])
            ends = np.concatenate([out.owners(triples), out.neighbour[triples].astype(np.int64)])
            reached = np.setdiff1d(ends, frontier)
            frontier = reached if len(reached) else frontier
        read = first_of(taken.tolist(), self.settings.most)
        return RetrievedTriples(read.triples, (*notes, *read.notes))

    def _choose(self, sentence: str, relations: Sequence[int], talk: Talk) -> list[int]:
        """The relations that the model chooses of some; other names are left out."""
        names = {relation: relation_text(self.graph.relation_labels[relation]) for relation in relations}
        named = {normalise(name): relation for relation, name in names.items()}
        reply = talk.ask(
            prompt_named("clew.methods.baselines", "kg_gpt_relations"), ZERO_SHOT,
            COUNT=str(self.settings.k),
            RELATIONS=data_lines(names.values()), SENTENCE=as_data(sentence),
        )  # fmt: skip
        found = (named[norm] for line in listed(reply) if (norm := normalise(line)) in named)
        return list(dict.fromkeys(found))[: self.settings.k]

    def _of_pattern(self, question: str, topic_entities: Sequence[int]) -> RetrievedTriples:
        names = [self.graph.entities[seed] for seed in topic_entities]
        asked = self.read_pattern(question, ())
        if isinstance(asked, Abstention):
            asked = self.read_pattern(question, names)
        if isinstance(asked, Abstention):
            return first_of(triples_at(self.graph, topic_entities).tolist(), self.settings.most)
        pattern = asked.pattern
        known, taken = given_proofs(pattern), dict[int, None]()
        for hop in hops_of(pattern):
            around = triples_at(self.graph, list(known[hop.start]))
            triples = np.sort(around[self.graph.out.relation[around] == hop.relation]).tolist()
            known[hop.end] = follow(self.graph, hop, known, triples)
            taken |= dict.fromkeys(triples)
        return RetrievedTriples(list(taken))

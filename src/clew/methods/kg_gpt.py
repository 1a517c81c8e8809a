"""`kg-gpt`: cut the question into sub-sentences, choose relations for each, infer from their triples.

Kim, Kwon, Jo and Choi, *KG-GPT: A general framework for reasoning on knowledge graphs using large language
models*, 2023, as SimGRAG describes it (sections 2 and 6): sentence segmentation; relation retrieval, where
the model sees all candidate relations; inference over the evidence. Entities may be given (the oracle of its
evaluation) or are linked. The i-th sub-sentence's relations are walked both ways from where the (i-1)-th
ended. Without a model the sub-sentences are the edges of the question's pattern, and their relations those
of the edges.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from clew.graph.candidates import unranked_candidates
from clew.index.directory import Index
from clew.index.vectors import relation_text
from clew.llm.types import ChatModel
from clew.methods.evidence import ZERO_SHOT, EvidenceMethod
from clew.steps.chain import follow, given_proofs, hops_of
from clew.steps.prompting import Talk, data_line, data_lines, prompt_named
from clew.text.embedder import Embedder
from clew.text.normalise import normalise
from clew.types import Abstention

MOST_SENTENCES = 5
_NUMBER = re.compile(r"^\s*(?:\d{1,2}[.):]|[-*])\s*(.+)$")


class KgGpt(EvidenceMethod):
    """Triples over the relations that were chosen."""

    name = "kg-gpt"

    def __init__(
        self,
        index: Index,
        embedder: Embedder,
        *,
        model: ChatModel | None = None,
        relations: int = 3,
        most: int = 200,
    ) -> None:
        super().__init__(index, embedder, model=model)
        self.relations, self.most = relations, most
        self._relation_of = {
            normalise(relation_text(name)): i for i, name in enumerate(self.graph.relation_labels)
        }

    def retrieve(self, question: str, seeds: Sequence[int], talk: Talk | None) -> Sequence[int]:
        """The evidence: triples of the chosen relations, sub-sentence by sub-sentence."""
        if talk is None:
            return self._of_pattern(question, seeds)
        taken: dict[int, None] = {}
        frontier = list(seeds)
        for sentence in self._segment(question, talk):
            chosen = self._choose(sentence, talk)
            around = unranked_candidates(self.graph, frontier, 1)
            triples = [
                int(t) for t in around if int(self.graph.out.relation[t]) in chosen and int(t) not in taken
            ]
            if not triples:
                continue
            taken |= dict.fromkeys(triples)
            ends = dict.fromkeys(node for t in triples for node in self.graph.triple(t)[::2])
            frontier = [node for node in ends if node not in frontier] or frontier
        return list(taken)[: self.most]

    def _segment(self, question: str, talk: Talk) -> list[str]:
        reply = talk.ask(prompt_named("kg_gpt_segment"), ZERO_SHOT, QUESTION=data_line(question))
        found = [m[1] for line in reply.splitlines() if (m := _NUMBER.match(line))]
        return found[:MOST_SENTENCES] or [question]

    def _choose(self, sentence: str, talk: Talk) -> set[int]:
        """The relations that the model chooses; names that are no relation of the graph are left out."""
        names = data_lines(relation_text(name) for name in self.graph.relation_labels)
        reply = talk.ask(
            prompt_named("kg_gpt_relations"), ZERO_SHOT,
            COUNT=str(self.relations), RELATIONS=names, SENTENCE=data_line(sentence),
        )  # fmt: skip
        stripped = (_NUMBER.sub(r"\1", line).strip(' "') for line in reply.splitlines())
        found = [self._relation_of[n] for line in stripped if (n := normalise(line)) in self._relation_of]
        return set(found[: self.relations])

    def _of_pattern(self, question: str, seeds: Sequence[int]) -> Sequence[int]:
        names = [self.graph.entities[seed] for seed in seeds]
        pattern = self.read.decompose.pattern(question, ())
        if isinstance(pattern, Abstention):
            pattern = self.read.decompose.pattern(question, names)
        if isinstance(pattern, Abstention):
            return [int(t) for t in unranked_candidates(self.graph, seeds, 1)][: self.most]
        known, taken = given_proofs(pattern), dict[int, None]()
        for hop in hops_of(pattern):
            around = sorted(int(t) for t in unranked_candidates(self.graph, list(known[hop.start]), 1))
            known[hop.end] = follow(self.graph, hop, known, around)
            taken |= dict.fromkeys(t for proof in known[hop.end].values() for t in proof)
        return list(taken)

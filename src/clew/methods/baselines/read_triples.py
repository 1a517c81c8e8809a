"""The `read` step over a bare set of triples, as the baselines retrieve it: → grounded answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clew.graph.graph import Graph
from clew.index.vectors.triple_vectors import triple_line
from clew.llm.prompting import Prompt, Sampling, Talk, as_data, data_lines, short
from clew.llm.refusals import declines
from clew.methods.kg_rag.chain import (
    Plan,
    Proofs,
    SubQuestion,
    edges_of,
    follow,
    given_proofs,
    hops_of,
    used_of,
)
from clew.methods.kg_rag.decompose import PatternDecompose
from clew.methods.kg_rag.sub_answer import Asked, ground_text
from clew.types import Abstention, Pattern


@dataclass(frozen=True, slots=True)
class Read:
    """What was read: its text, the entities in it with their proofs, or why there are none.

    `complete` says that the triples held all that the graph has for what was asked, as far as that is known.
    """

    text: str = ""
    proofs: Proofs | None = None
    abstained: Abstention | None = None
    pattern: Pattern | None = None
    complete: bool = True


@dataclass(frozen=True, slots=True)
class ReadTriples:
    """Reads with a model, by a prompt with TRIPLES and QUESTION; without one, by the question's pattern."""

    graph: Graph
    decompose: PatternDecompose
    prompt: Prompt
    sampling: Sampling

    def __call__(
        self,
        question: str,
        entities: Sequence[str],
        seeds: Sequence[int],
        triples: Sequence[int],
        talk: Talk | None,
    ) -> Read:
        """Read the answer. Raises LlmError."""
        return (
            self._by_pattern(question, entities, triples)
            if talk is None
            else self._by_model(question, seeds, triples, talk)
        )

    def _by_model(self, question: str, seeds: Sequence[int], triples: Sequence[int], talk: Talk) -> Read:
        lines = data_lines(triple_line(self.graph, t) for t in triples)
        text = talk.ask(self.prompt, self.sampling, TRIPLES=lines, QUESTION=as_data(question))
        asked = Asked(Plan(), SubQuestion(question), question, tuple(triples), (), tuple(seeds))
        proofs = ground_text(self.graph, text, asked)
        if proofs and not declines(text, [self.graph.labels[e] for e in proofs]):
            return Read(text, proofs)
        why = "says that there is no answer" if proofs else "names nothing that the evidence proves"
        return Read(text, None, Abstention("not_in_evidence", f'"{short(text)}" {why}'))

    def _by_pattern(self, question: str, entities: Sequence[str], triples: Sequence[int]) -> Read:
        pattern = self.decompose.pattern(question, entities)
        if isinstance(pattern, Abstention):
            return Read(abstained=pattern)
        proofs, complete = read_pattern(self.graph, pattern, triples)
        if not proofs:
            detail = "the triples that were retrieved do not hold the answer"
            return Read(abstained=Abstention("empty_result", detail), pattern=pattern, complete=complete)
        text = " · ".join(self.graph.labels[e] for e in proofs)
        return Read(text, proofs, pattern=pattern, complete=complete)


def read_pattern(graph: Graph, pattern: Pattern, triples: Sequence[int]) -> tuple[Proofs, bool]:
    """Follow all edges of a pattern through `triples`: the entities at its last edge, with proofs.

    Also whether no triple that the graph has for an edge was missing among `triples`.
    """
    known, proofs, complete = given_proofs(pattern), dict[int, tuple[int, ...]](), True
    for hop in hops_of(pattern):
        starts = known[hop.start]
        complete &= used_of(graph, hop, starts, triples) == edges_of(graph, hop, starts)
        proofs = follow(graph, hop, known, triples)
        known[hop.end] = proofs
    return proofs, complete

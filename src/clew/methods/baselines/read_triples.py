"""The `read` step over a bare set of triples, as the baselines retrieve it: → grounded answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from clew.graph.graph import Graph
from clew.llm.evidence_names import IsName
from clew.llm.grounded_reply import ASKED_YES_NO, Given, GroundedReply, ask_and_ground
from clew.llm.prompting import Prompt, Sampling, Talk, as_data
from clew.methods.built_in import AskedPattern
from clew.methods.fact_lines import fact_lines, other_names
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
from clew.methods.kg_rag.retrieve import lists_are_whole
from clew.methods.kg_rag.sub_answer import AskedSubQuestion, known_proofs
from clew.types import Abstention, Pattern


@dataclass(frozen=True, slots=True)
class TriplesAnswer:
    """What was read: its text, the entities in it with their proofs, or why there are none.

    `counts`: it is asked how many there are. `complete` says that the triples held all that the graph has for
    what was asked, as far as that is known.
    """

    text: str = ""
    proofs: Proofs | None = None
    abstained: Abstention | None = None
    pattern: Pattern | None = None
    counts: bool = False
    complete: bool = True
    reply: GroundedReply | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadTriples:
    """Reads with a model, by a prompt with TRIPLES and QUESTION; without one, by the question's pattern."""

    graph: Graph
    read_pattern: Callable[[str, Sequence[str]], AskedPattern | Abstention]
    prompt: Prompt
    sampling: Sampling
    is_name: IsName | None = None

    def __call__(
        self,
        question: str,
        entities: Sequence[str],
        called: Mapping[str, tuple[int, ...]],
        triples: Sequence[int],
        talk: Talk | None,
    ) -> TriplesAnswer:
        """Read the answer; `called` are the question's entities by what it calls them. Raises LlmError."""
        if talk is None:
            return self._by_pattern(question, entities, triples)
        topic_entities = tuple(dict.fromkeys(entity for found in called.values() for entity in found))
        asked = AskedSubQuestion(
            Plan(), SubQuestion(question), question, tuple(triples), (), topic_entities, called=called
        )
        return self._by_model(asked, talk)

    def _by_model(self, asked: AskedSubQuestion, talk: Talk) -> TriplesAnswer:
        known = known_proofs(self.graph, asked)
        lines = fact_lines(self.graph, asked.triples, known)
        given = Given(self.graph, lines.facts, known, frozenset(asked.topic_entities), self.is_name)
        values = {
            "TRIPLES": str(lines),
            "NAMES": other_names(self.graph, asked.called),
            "QUESTION": as_data(asked.text),
        }
        found = ask_and_ground(talk, self.prompt, self.sampling, given, values)
        lists = found.proofs and lists_are_whole(self.graph, found.proofs, set(asked.triples))
        complete = not found.cut and (bool(lists) or found.value in ASKED_YES_NO)
        return TriplesAnswer(found.text, found.proofs, found.abstained, reply=found, complete=complete)

    def _by_pattern(self, question: str, entities: Sequence[str], triples: Sequence[int]) -> TriplesAnswer:
        asked = self.read_pattern(question, entities)
        if isinstance(asked, Abstention):
            return TriplesAnswer(abstained=asked)
        pattern = asked.pattern
        proofs, complete = read_pattern(self.graph, pattern, triples)
        if not proofs:
            detail = "the triples that were retrieved do not hold the answer"
            left = Abstention("empty_result", detail)
            return TriplesAnswer(abstained=left, pattern=pattern, complete=complete, notes=asked.notes)
        text = " · ".join(self.graph.labels[e] for e in proofs)
        return TriplesAnswer(
            text, proofs, pattern=pattern, counts=asked.counts, complete=complete, notes=asked.notes
        )


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

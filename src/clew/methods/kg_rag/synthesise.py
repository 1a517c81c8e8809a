"""The `synthesise` step (KG-RAG section 3.4.4): sub-questions and their answers → the final answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from clew.graph.graph import Graph
from clew.llm.evidence_names import IsName
from clew.llm.grounded_reply import Fact, Given, GroundedReply, Proofs, ask_and_ground
from clew.llm.prompting import Sampling, Talk, as_data, data_line, prompt_named
from clew.methods.fact_lines import fact_lines, other_names
from clew.methods.kg_rag.chain import Link
from clew.methods.kg_rag.reformulate import answer_line
from clew.methods.kg_rag.settings import Handed
from clew.methods.kg_rag.sub_answer import known_proofs
from clew.methods.topic_entities import Called, entities_of

MOST_SUB_ANSWER_TRIPLES = 80
"""Triples of one sub-answer that the prompt shows."""


Synthesise = Callable[[str, Called, Sequence[Link], Talk | None], GroundedReply]
"""Answers the main question, with what it calls its entities, from the chain: without proofs and value if
nothing that was said is in it. Raises LlmError."""


@dataclass(frozen=True, slots=True)
class ModelSynthesis:
    """By a chat model, zero-shot, from the sub-answers with the triples that prove them ("facts")."""

    graph: Graph
    sampling: Sampling
    handed: Handed = "facts"
    is_name: IsName | None = None

    def __call__(
        self, question: str, called: Called, links: Sequence[Link], talk: Talk | None
    ) -> GroundedReply:
        """Ask the model; what it states has to be proved by the chain."""
        if talk is None:
            raise ValueError("this form needs a model")
        topics = entities_of(called)
        known = known_proofs(self.graph, links, topics)
        told, facts = self._told(links, known)
        given = Given(self.graph, facts, known, frozenset(topics), self.is_name)
        values = {"ANSWERS": told, "NAMES": other_names(self.graph, called), "QUESTION": as_data(question)}
        prompt = prompt_named("clew.methods.kg_rag", "synthesise")
        return ask_and_ground(talk, prompt, self.sampling, given, values)

    def _told(self, links: Sequence[Link], known: Proofs) -> tuple[str, tuple[Fact, ...]]:
        lines, facts = list[str](), list[Fact]()
        for number, link in enumerate(links, 1):
            triples = tuple(dict.fromkeys([*(p[-1] for p in link.proofs.values()), *link.rests_on]))
            if self.handed == "sentences":
                lines += [f"[{number}] {data_line(link.asked)}", f"Answer: {data_line(link.text)}"]
                facts.append(Fact(triples))
                continue
            # What was known before a link: its own answers are the lists of its facts.
            before = {entity: proof for entity, proof in known.items() if entity not in link.proofs}
            shown = fact_lines(self.graph, triples[:MOST_SUB_ANSWER_TRIPLES], before, len(facts) + 1)
            more = len(triples) - MOST_SUB_ANSWER_TRIPLES
            lines += [data_line(f"{number}. {link.asked}"), *shown.lines]
            lines += [f"({more:,} more facts are not shown)"] if more > 0 else []
            lines.append(f"Answer: {answer_line(self.graph, link)}")
            facts += shown.facts
        return "\n".join(lines), tuple(facts)


@dataclass(frozen=True, slots=True)
class LastAnswer:
    """Without a model: what was found for the pattern's answer."""

    graph: Graph

    def __call__(
        self, question: str, called: Called, links: Sequence[Link], talk: Talk | None
    ) -> GroundedReply:
        """The last link's entities."""
        proofs = links[-1].proofs
        return GroundedReply(" · ".join(self.graph.labels[e] for e in proofs), proofs)

"""The `synthesise` step (KG-RAG section 3.4.4): sub-questions and their answers → the final answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from clew.graph.graph import Graph
from clew.llm.evidence_names import IsName
from clew.llm.grounded_reply import Fact, Given, ask_and_ground
from clew.llm.prompting import Prompt, Sampling, Talk, as_data, data_line, prompt_named
from clew.methods.fact_lines import fact_lines, other_names
from clew.methods.kg_rag.chain import Link, Plan, Proofs
from clew.methods.kg_rag.reformulate import answer_line
from clew.methods.kg_rag.settings import Handed
from clew.methods.kg_rag.sub_answer import known_proofs
from clew.types import Abstention

MOST_SUB_ANSWER_TRIPLES = 80
"""Triples of one sub-answer that the prompt shows."""


@dataclass(frozen=True, slots=True)
class Synthesis:
    """A final answer: its text, and the entities that it rests on with their proofs; or a value with triples.

    `abstained` says why there is none.
    """

    text: str
    proofs: Proofs
    value: str = ""
    rests_on: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    abstained: Abstention | None = None
    cut: bool = False


class Synthesise(Protocol):
    """Answers the main question from the chain."""

    def __call__(self, main: Main, plan: Plan, links: Sequence[Link], talk: Talk | None) -> Synthesis:
        """Answer; without proofs and value if nothing that was said is in the chain. Raises LlmError."""
        ...


@dataclass(frozen=True, slots=True)
class Main:
    """The main question, its entities, and what it calls them."""

    question: str
    topic_entities: tuple[int, ...] = ()
    called: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])


@dataclass(frozen=True, slots=True)
class ModelSynthesis:
    """By a chat model, zero-shot, from the sub-answers with the triples that prove them.

    Names alone lose which value belongs to which of them; `handed="sentences"` is the paper's form.
    """

    graph: Graph
    sampling: Sampling
    handed: Handed = "facts"
    is_name: IsName | None = None
    prompt: Prompt = field(default_factory=lambda: prompt_named("clew.methods.kg_rag", "synthesise"))

    def __call__(self, main: Main, plan: Plan, links: Sequence[Link], talk: Talk | None) -> Synthesis:
        """Ask the model; what it states has to be proved by the chain."""
        if talk is None:
            raise ValueError("this form needs a model")
        known = known_proofs(self.graph, links, main.topic_entities)
        told, facts = self._told(links, known)
        given = Given(self.graph, facts, known, frozenset(main.topic_entities), self.is_name)
        values = {
            "ANSWERS": told,
            "NAMES": other_names(self.graph, main.called),
            "QUESTION": as_data(main.question),
        }
        found = ask_and_ground(talk, self.prompt, self.sampling, given, values)
        return Synthesis(
            found.text, found.proofs, found.value, found.rests_on, found.notes, found.abstained, found.cut
        )

    def _told(self, links: Sequence[Link], known: Proofs) -> tuple[str, tuple[Fact, ...]]:
        lines, facts = list[str](), list[Fact]()
        for number, link in enumerate(links, 1):
            triples = tuple(dict.fromkeys([*(p[-1] for p in link.proofs.values()), *link.rests_on]))
            if self.handed == "sentences":
                lines += [f"[{number}] {data_line(link.asked)}", f"Answer: {data_line(link.text)}"]
                facts.append(Fact(triples))
                continue
            shown = fact_lines(
                self.graph,
                triples[:MOST_SUB_ANSWER_TRIPLES],
                self._before(links, number, known),
                len(facts) + 1,
            )
            more = len(triples) - MOST_SUB_ANSWER_TRIPLES
            lines += [data_line(f"{number}. {link.asked}"), *shown.lines]
            lines += [f"({more:,} more facts are not shown)"] if more > 0 else []
            lines.append(f"Answer: {answer_line(self.graph, link)}")
            facts += shown.facts
        return "\n".join(lines), tuple(facts)

    def _before(self, links: Sequence[Link], number: int, known: Proofs) -> Proofs:
        """What was known before a link: its own answers are the lists of its facts."""
        own = links[number - 1].proofs
        return {entity: proof for entity, proof in known.items() if entity not in own}


@dataclass(frozen=True, slots=True)
class LastAnswer:
    """Without a model: what was found for the pattern's answer."""

    graph: Graph

    def __call__(self, main: Main, plan: Plan, links: Sequence[Link], talk: Talk | None) -> Synthesis:
        """The last link's entities."""
        proofs = links[-1].proofs
        return Synthesis(" · ".join(self.graph.labels[e] for e in proofs), proofs)

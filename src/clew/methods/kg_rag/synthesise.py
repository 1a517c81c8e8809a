"""The `synthesise` step (KG-RAG section 3.4.4): sub-questions and their answers → the final answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from clew.graph.graph import Graph
from clew.llm.prompting import Prompt, Sampling, Talk, as_data, prompt_named
from clew.llm.refusals import declines
from clew.methods.kg_rag.chain import Link, Plan, Proofs
from clew.methods.kg_rag.entities_named_in import entities_named_in
from clew.methods.kg_rag.reformulate import Handed, told


@dataclass(frozen=True, slots=True)
class Draft:
    """A final answer: its text, and the entities that it rests on with their proofs."""

    text: str
    proofs: Proofs


class Synthesise(Protocol):
    """Answers the main question from the chain."""

    def __call__(self, question: str, plan: Plan, links: Sequence[Link], talk: Talk | None) -> Draft:
        """Answer; without proofs if nothing that was said is in the chain. Raises LlmError."""
        ...


@dataclass(frozen=True, slots=True)
class ModelSynthesis:
    """By a chat model, zero-shot."""

    graph: Graph
    sampling: Sampling
    handed: Handed = "names"
    prompt: Prompt = field(default_factory=lambda: prompt_named("clew.methods.kg_rag", "synthesise"))

    def __call__(self, question: str, plan: Plan, links: Sequence[Link], talk: Talk | None) -> Draft:
        """Ask the model; the answers are what it names of the last sub-answer that it names anything of.

        A reply that repeats the chain names entities of earlier sub-answers too: they are steps, not answers.
        """
        if talk is None:
            raise ValueError("this form needs a model")
        answers = told(self.graph, links, self.handed)
        text = talk.ask(self.prompt, self.sampling, ANSWERS=answers, QUESTION=as_data(question))
        for link in reversed(links):
            named = entities_named_in(self.graph, text, link.proofs)
            if named and not declines(text, [self.graph.labels[e] for e in named]):
                return Draft(text, {e: link.proofs[e] for e in named})
        return Draft(text, {})


@dataclass(frozen=True, slots=True)
class LastAnswer:
    """Without a model: what was found for the pattern's answer."""

    graph: Graph

    def __call__(self, question: str, plan: Plan, links: Sequence[Link], talk: Talk | None) -> Draft:
        """The last link's entities."""
        proofs = links[-1].proofs
        return Draft(" · ".join(self.graph.labels[e] for e in proofs), proofs)

"""The `answer a sub-question` step (KG-RAG section 3.4.3): its top-K triples → a grounded answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from clew.graph.graph import Graph
from clew.index.vectors.triple_vectors import triple_line
from clew.llm.prompting import Prompt, Sampling, Talk, data_lines, prompt_named
from clew.llm.refusals import declines
from clew.methods.kg_rag.chain import Link, Plan, Proofs, SubQuestion, edges_of, follow, given_proofs, used_of
from clew.methods.kg_rag.entities_named_in import ends_of, entities_named_in, prove


@dataclass(frozen=True, slots=True)
class Asked:
    """A sub-question to be answered: as it is asked, from which triples (best first), after which links.

    `seeds` are the entities of the main question.
    """

    plan: Plan
    question: SubQuestion
    text: str
    triples: tuple[int, ...]
    earlier: Sequence[Link]
    seeds: tuple[int, ...]
    notes: tuple[str, ...] = ()


class AnswerSubQuestion(Protocol):
    """Answers a sub-question from triples."""

    def __call__(self, asked: Asked, talk: Talk | None) -> Link:
        """Answer; a link without proofs if the triples do not hold the answer. Raises LlmError."""
        ...


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """By a chat model, zero-shot; of what it says, the names that the evidence proves count."""

    graph: Graph
    sampling: Sampling
    prompt: Prompt = field(default_factory=lambda: prompt_named("clew.methods.kg_rag", "sub_answer"))

    def __call__(self, asked: Asked, talk: Talk | None) -> Link:
        """Ask the model, and ground its reply."""
        if talk is None:
            raise ValueError("this form needs a model")
        lines = data_lines(triple_line(self.graph, t) for t in asked.triples)
        text = talk.ask(self.prompt, self.sampling, TRIPLES=lines, QUESTION=data_lines([asked.text]))
        proofs = ground_text(self.graph, text, asked)
        notes = list(asked.notes)
        known = known_proofs(asked)
        longest = max((len(p) - min(map(len, known.values()), default=0) for p in proofs.values()), default=0)
        if longest > 1 and not asked.earlier:
            notes.append(f"under-decomposed: this sub-question spans {longest} triples")
        elif asked.earlier and proofs and _leaps(self.graph, proofs, known):
            notes.append("under-decomposed: this sub-question spans several triples")
        if proofs and declines(text, [self.graph.labels[e] for e in proofs]):
            notes.append("the model says that the evidence holds no answer: the names in its text are none")
            proofs = {}
        elif not proofs and entities_named_in(self.graph, text, ends_of(self.graph, asked.triples)):
            notes.append(
                "perhaps under-decomposed: the evidence does not connect what was named to what was asked"
            )
        return Link(asked.question, asked.text, text, proofs, asked.triples, tuple(notes))


def _leaps(graph: Graph, proofs: Proofs, known: Proofs) -> bool:
    """Whether every proof goes more than one triple beyond what was known."""
    held = set(known.values())
    return all(proof[:-1] not in held for proof in proofs.values())


def known_proofs(asked: Asked) -> dict[int, tuple[int, ...]]:
    """What is known when a sub-question is asked: the question's entities and the earlier answers."""
    known: dict[int, tuple[int, ...]] = {seed: () for seed in asked.seeds}
    for link in asked.earlier:
        known |= {e: p for e, p in link.proofs.items() if e not in known}
    return known


def ground_text(graph: Graph, text: str, asked: Asked) -> dict[int, tuple[int, ...]]:
    """The entities of the evidence that a text names, with proofs; others than the sub-question's first."""
    evidence = list(dict.fromkeys([*asked.triples, *(t for link in asked.earlier for t in link.triples)]))
    named = entities_named_in(graph, text, ends_of(graph, asked.triples))
    repeated = set(entities_named_in(graph, asked.text, named))
    proofs = prove(graph, [e for e in named if e not in repeated], known_proofs(asked), evidence)
    if proofs or not repeated:
        return proofs
    return prove(graph, [e for e in named if e not in asked.seeds], known_proofs(asked), evidence)


@dataclass(frozen=True, slots=True)
class FollowHop:
    """Without a model: the triples of the sub-question's edge at what is known."""

    graph: Graph

    def __call__(self, asked: Asked, talk: Talk | None) -> Link:
        """Walk the edge through the given triples; notes how many the whole graph has."""
        hop, pattern = asked.question.hop, asked.plan.pattern
        if hop is None or pattern is None:
            raise ValueError("this form needs a pattern")
        known = given_proofs(pattern)
        for link in asked.earlier:
            if link.question.hop is not None:
                known[link.question.hop.end] = link.proofs
        proofs = follow(self.graph, hop, known, asked.triples)
        total = edges_of(self.graph, hop, known[hop.start])
        used = used_of(self.graph, hop, known[hop.start], asked.triples)
        notes = list(asked.notes)
        if used < total:
            notes.append(
                f"{used} of the {total} triples of this step are among the {len(asked.triples)} given"
            )
        text = ", ".join(self.graph.labels[e] for e in proofs) or "not in these triples"
        return Link(asked.question, asked.text, text, proofs, asked.triples, tuple(notes), used == total)

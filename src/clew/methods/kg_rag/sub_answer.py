"""The `answer a sub-question` step (KG-RAG section 3.4.3): its top-K triples → a grounded answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from clew.graph.graph import Graph
from clew.llm.evidence_names import IsName
from clew.llm.grounded_reply import Given, ask_and_ground
from clew.llm.prompting import Sampling, Talk, data_lines, prompt_named
from clew.methods.fact_lines import fact_lines, other_names
from clew.methods.kg_rag.chain import (
    Link,
    Plan,
    Proofs,
    SubQuestion,
    edges_of,
    follow,
    given_proofs,
    held_values,
    used_of,
)
from clew.methods.kg_rag.retrieve import lists_are_whole
from clew.methods.topic_entities import Called, entities_named_in


@dataclass(frozen=True, slots=True)
class AskedSubQuestion:
    """A sub-question to be answered: as it is asked, from which triples (best first), after which links.

    `topic_entities` are the entities of the main question, `called` what it calls them.
    """

    plan: Plan
    question: SubQuestion
    text: str
    triples: tuple[int, ...]
    earlier: Sequence[Link]
    topic_entities: tuple[int, ...]
    notes: tuple[str, ...] = ()
    called: Called = field(default_factory=dict[str, tuple[int, ...]])


AnswerSubQuestion = Callable[[AskedSubQuestion, Talk | None], Link]
"""Answers a sub-question from triples: a link without proofs if they do not hold it. Raises LlmError."""


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """By a chat model, zero-shot; of what it states as its answer, what the evidence proves counts."""

    graph: Graph
    sampling: Sampling
    is_name: IsName | None = None

    def __call__(self, asked: AskedSubQuestion, talk: Talk | None) -> Link:
        """Ask the model, and ground its reply."""
        if talk is None:
            raise ValueError("this form needs a model")
        known = known_proofs(self.graph, asked.earlier, asked.topic_entities)
        lines = fact_lines(self.graph, asked.triples, known)
        # In a chain, what the main question names may well answer a sub-question that does not.
        own = frozenset(() if asked.earlier else asked.topic_entities)
        names = own | set(entities_named_in(self.graph, asked.text, known))
        given = Given(self.graph, lines.facts, known, names, self.is_name)
        values = {
            "TRIPLES": str(lines),
            "NAMES": other_names(self.graph, asked.called),
            "QUESTION": data_lines([asked.text]),
        }
        prompt = prompt_named("clew.methods.kg_rag", "sub_answer")
        found = ask_and_ground(talk, prompt, self.sampling, given, values)
        notes = (*asked.notes, *found.notes)
        held, proofs = {*known.values(), ()}, found.proofs.values()
        if proofs and all(proof[:-1] not in held and len(proof) > 1 for proof in proofs):
            notes = (*notes, "under-decomposed: this sub-question spans several triples")
        complete = lists_are_whole(self.graph, found.proofs, set(asked.triples))
        return Link(
            asked.question, asked.text, found.text, found.proofs, asked.triples, notes,
            complete=complete and not found.cut, value=found.value, rests_on=found.rests_on,
        )  # fmt: skip


def known_proofs(graph: Graph, earlier: Sequence[Link], topic_entities: Sequence[int]) -> Proofs:
    """Where proofs begin: the earlier answers, the last ones first, and the question's entities."""
    known: dict[int, tuple[int, ...]] = {}
    for link in reversed(earlier):
        known |= {e: p for e, p in link.proofs.items() if e not in known}
        # What has a value that was found is found too.
        known |= {h.head: (h.triple,) for h in held_values(graph, link) if h.head not in known}
    return known | {seed: () for seed in topic_entities if seed not in known}


@dataclass(frozen=True, slots=True)
class FollowHop:
    """Without a model: the triples of the sub-question's edge at what is known."""

    graph: Graph

    def __call__(self, asked: AskedSubQuestion, talk: Talk | None) -> Link:
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

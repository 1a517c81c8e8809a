"""What KG-RAG hands from sub-question to sub-question: a plan, and the links of the chain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clew.graph.graph import Graph, ValueKind, triple_text
from clew.llm.prompting import data_line
from clew.methods.evidence import Proofs
from clew.methods.ground import GroundedReply
from clew.text.labels import readable
from clew.types import SubAnswer

MOST_REPEATED_NAMES = 200
"""Names of one sub-answer that a prompt repeats."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A question taken apart; `cut`: sub-questions were left out."""

    reasoning: str = ""
    questions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """A sub-question as planned and as `asked`, its grounded `reply`, and the triples given for it."""

    question: str
    asked: str
    reply: GroundedReply
    triples: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    complete: bool = True

    @property
    def proofs(self) -> Proofs:
        """The answers with their proofs."""
        return self.reply.proofs

    def as_sub_answer(self, graph: Graph) -> SubAnswer:
        """By names, for people."""
        answers = tuple(answer.label for answer in self.reply.answers(graph))
        evidence, citations = tuple(triple_text(graph, t) for t in self.triples), self.reply.citations(graph)
        return SubAnswer(self.question, self.asked, self.reply.text, answers, evidence, citations, self.notes)


@dataclass(frozen=True, slots=True)
class OwnedValue:
    """A value of a sub-answer with its owner: *party 6* has *4*, by a triple."""

    head: int
    triple: int
    value: int


def owned_values(graph: Graph, link: Link) -> tuple[OwnedValue, ...]:
    """The values of a sub-answer with their owners, if several things have them; else empty."""
    values, proofs = graph.values, link.proofs
    if not all(values.datatype[e] >= 0 or values.kind[e] != ValueKind.NONE for e in proofs):
        return ()
    owned: list[OwnedValue] = []
    for triple in dict.fromkeys([*(p[-1] for p in proofs.values() if p), *link.reply.rests_on]):
        head, _, tail = graph.triple(triple)
        if tail in proofs:
            owned.append(OwnedValue(head, triple, tail))
    return tuple(owned) if len({item.head for item in owned}) > 1 else ()


def adds_nothing(link: Link, earlier: Sequence[Link]) -> bool:
    """Whether a sub-answer says once more what one before it says; one that leaves some out narrows it."""
    triples = {t for e in earlier for proof in e.proofs.values() for t in proof}
    repeats = any(link.proofs.keys() == e.proofs.keys() for e in earlier)
    return repeats and all(triples.issuperset(p) for p in link.proofs.values())


def known_proofs(graph: Graph, earlier: Sequence[Link], topic_entities: Sequence[int]) -> Proofs:
    """Where proofs begin: the earlier answers, the last ones first, and the question's entities."""
    proofs: dict[int, tuple[int, ...]] = {}
    for link in reversed(earlier):
        proofs |= {e: p for e, p in link.proofs.items() if e not in proofs}
        # The owner of a value that is proved is proved too.
        proofs |= {h.head: (h.triple,) for h in owned_values(graph, link) if h.head not in proofs}
    return proofs | {seed: () for seed in topic_entities if seed not in proofs}


def earlier_answers(graph: Graph, links: Sequence[Link], *, sentences: bool = False) -> str:
    """Sub-questions and their answers, for a prompt: the names that are proved, or the model's sentences."""
    lines: list[str] = []
    for number, link in enumerate(links, 1):
        answer = data_line(link.reply.text) if sentences else answer_line(graph, link)
        lines += [data_line(f"{number}. {link.asked}"), f"Answer: {answer}"]
    return "\n".join(lines)


def answer_line(graph: Graph, link: Link) -> str:
    """The answer to a sub-question, with its type, and values with their owners: *Ann; Bea (person)*."""
    if not link.proofs:
        return data_line(link.reply.value) or "not found"
    names = [data_line(readable(graph.labels[e])) for e in link.proofs]
    if owned := owned_values(graph, link):
        labels = {item.value: readable(graph.labels[item.value]) for item in owned}
        names = [data_line(f"{readable(graph.labels[item.head])}: {labels[item.value]}") for item in owned]
    remainder = f" and {len(names) - MOST_REPEATED_NAMES} more" if len(names) > MOST_REPEATED_NAMES else ""
    types = [set(graph.types.of(entity)) for entity in link.proofs]
    common = sorted(set.intersection(*types)) if not owned else []
    kind = " or ".join(data_line(readable(graph.types.names[type_])) for type_ in common)
    return f"{'; '.join(names[:MOST_REPEATED_NAMES])}{remainder}{f' ({kind})' if kind else ''}"

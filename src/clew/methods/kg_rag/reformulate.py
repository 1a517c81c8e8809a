"""The `reformulate` step (KG-RAG section 3.4.3): the answers so far go into the next sub-question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from clew.graph.graph import Graph
from clew.llm.prompting import Sampling, Talk, as_data, data_line, prompt_named
from clew.llm.refusals import declines
from clew.methods.kg_rag.chain import Link, Plan, SubQuestion, held_values
from clew.methods.kg_rag.decompose import LONGEST_QUESTION, hop_text
from clew.methods.kg_rag.settings import Handed
from clew.text.labels import readable

MOST_REPEATED_NAMES = 30
"""Names of one sub-answer that a prompt repeats."""


Reformulate = Callable[[Plan, SubQuestion, Sequence[Link], Talk | None], tuple[str, tuple[str, ...]]]
"""Puts earlier answers into a sub-question: (plan, sub-question, links before it, talk) → the question to
ask, and notes. Raises LlmError."""


@dataclass(frozen=True, slots=True)
class ModelReformulate:
    """By a chat model, which stops at the question mark."""

    graph: Graph
    sampling: Sampling
    handed: Handed = "facts"

    def __call__(
        self, plan: Plan, question: SubQuestion, earlier: Sequence[Link], talk: Talk | None
    ) -> tuple[str, tuple[str, ...]]:
        """Ask the model; a reply that is no question leaves the sub-question as it was."""
        if talk is None:
            raise ValueError("this form needs a model")
        known = earlier_answers(self.graph, earlier, self.handed)
        stop = stop_of_question(question.text, known)
        prompt = prompt_named("clew.methods.kg_rag", "reformulate")
        reply = talk.ask(prompt, self.sampling, stop=stop, QUESTION=as_data(question.text), EARLIER=known)
        names = [self.graph.labels[entity] for link in earlier for entity in link.proofs]
        text = reformulated(reply, question.text, names)
        if not text:
            return question.text, ("the reformulation is no question: the sub-question is asked as it was",)
        return text, ()


def stop_of_question(question: str, earlier: str) -> tuple[str, ...]:
    """Where a reformulation stops: at its question mark (3.4.3), unless a name in it may hold one."""
    lines = [question, *earlier.splitlines()]
    answers = (line.removeprefix("Answer: ") for line in lines if line.startswith("Answer: "))
    asked = (line.rstrip("? ") for line in lines if not line.startswith("Answer: "))
    return () if any("?" in text for text in (*asked, *answers)) else ("?",)


def reformulated(reply: str, question: str, names: Sequence[str] = ()) -> str:
    """The question of a reply that puts `names` into another; empty where it has none, or refuses."""
    text = as_question(reply)
    return "" if declines(text, names) and not declines(question) else text


def as_question(reply: str) -> str:
    """The question in a reply that was stopped at its mark: its last line, empty where that is too long."""
    lines = [line.strip(' "*') for line in reply.splitlines()]
    text = next((line for line in reversed(lines) if any(c.isalnum() for c in line)), "")
    if not text or len(text) > LONGEST_QUESTION:
        return ""
    return text.rstrip("?. ") + "?"


def earlier_answers(graph: Graph, links: Sequence[Link], handed: Handed = "facts") -> str:
    """Sub-questions and their answers, for a prompt: the names that are proved, or the model's sentences."""
    lines: list[str] = []
    for number, link in enumerate(links, 1):
        answer = data_line(link.text) if handed == "sentences" else answer_line(graph, link)
        lines += [data_line(f"{number}. {link.asked}"), f"Answer: {answer}"]
    return "\n".join(lines)


def answer_line(graph: Graph, link: Link) -> str:
    """The names or the value that answer a sub-question; each name is cut by itself, and more are counted.

    Values of several things are told with these (*party 6: 4*).
    """
    if not link.proofs:
        return data_line(link.value) or "not found"
    names = [data_line(readable(graph.labels[e])) for e in link.proofs]
    if held := held_values(graph, link):
        of = {each.value: readable(graph.labels[each.value]) for each in held}
        names = [data_line(f"{readable(graph.labels[each.head])}: {of[each.value]}") for each in held]
    more = f" and {len(names) - MOST_REPEATED_NAMES} more" if len(names) > MOST_REPEATED_NAMES else ""
    return f"{'; '.join(names[:MOST_REPEATED_NAMES])}{more}"


@dataclass(frozen=True, slots=True)
class SubstituteAnswers:
    """Without a model: the names that were found, in their place.

    More than `most` names would blur what a sub-question asks for. They are left out then, if the triples to
    choose from are around them anyway, else (`some`) the first are named.
    """

    graph: Graph
    most: int = 3
    some: bool = False

    def __call__(
        self, plan: Plan, question: SubQuestion, earlier: Sequence[Link], talk: Talk | None
    ) -> tuple[str, tuple[str, ...]]:
        """Write the sub-question of the hop again, with names."""
        hop = question.hop
        if hop is None or plan.pattern is None:
            return question.text, ()
        ends = {link.question.hop.end: link for link in earlier if link.question.hop is not None}
        found = ends[hop.start].proofs if hop.start in ends else {}
        names = [readable(self.graph.labels[e]) for e in found]
        if len(names) > self.most:
            names = names[: self.most] if self.some else []
        return hop_text(self.graph, plan.pattern, hop, names, joins=hop.end in ends), ()

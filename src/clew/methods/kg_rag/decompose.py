"""The `decompose` step (KG-RAG section 3.4.1): a question → reasoning and sub-questions.

A model is shown demonstrations (Table 2), Clew's own or a user's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from clew.errors import InputError
from clew.foundation.json_form import read_json
from clew.graph.graph import Graph
from clew.llm.errors import ReplyInvalid
from clew.llm.extract import read_value
from clew.llm.prompting import Sampling, Talk, as_data, data_line, prompt_named
from clew.llm.shapes import ShapeError, build
from clew.methods.built_in import AskedPattern
from clew.methods.kg_rag.chain import Hop, Plan, SubQuestion, hops_of
from clew.methods.simgrag.examples import DECOMPOSITIONS
from clew.text.labels import readable, relation_text
from clew.text.normalise import normalise
from clew.types import Abstention, Pattern

MOST_QUESTIONS = 8
"""Sub-questions that are asked; a model that writes more is cut off, and the answer says so."""
LONGEST_QUESTION = 2_000
"""Characters of a sub-question; a longer line is none."""
MOST_DEMONSTRATIONS = 64
DEMONSTRATIONS_ADVICE = (
    'Write {"decompositions": [{"question": "…", "reasoning": "…", "sub_questions": ["…"]}]}'
)
_NUMBERED = re.compile(
    r"^(?:[-*•]\s+)?(?:(?:sub-?\s?question|question|step|q)\s*)?\(?\d{1,3}[.):]+\s*(.+?)$", re.IGNORECASE
)
_BULLET = re.compile(r"^[-*•]\s+(.+?)$")
_TITLE = re.compile(r"^(?:the\s+)?sub-?\s?questions?(?:\s+(?:are|is))?\s*(?::\s*(.*)|)$", re.IGNORECASE)
_REASONING = re.compile(r"^(?:reasoning|chain[- ]of[- ]thought|cot)\s*(?::\s*|$)", re.IGNORECASE)
_IN_LINE = re.compile(r"\s+(?=\(?\d{1,2}[.)]\s)")
_MARKUP = re.compile(r"\*\*|^#+\s*|^```\w*\s*$")
SCHEMA = """\
The graph records the following, and nothing else; ask for its relations, and take the steps that it has.
<graph>
{}
</graph>
"""
"""A prompt's lines on a graph."""
About = Callable[[str, Sequence[str]], tuple[str, str]]
"""(question, entities) → what the graph records, as lines, and other names of what the question names."""
Decompose = Callable[[str, Sequence[str], Talk | None], Plan]
"""Takes a question apart: (question, names that the user gives for what it is about, talk of forms that ask a
model) → plan. Raises LlmError."""


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A question, why it is taken apart so, and its sub-questions; one that needs no other is its own."""

    question: str
    reasoning: str
    sub_questions: Annotated[tuple[str, ...], Meta(min_length=1)]

    def __str__(self) -> str:
        numbered = (f"{number}. {data_line(text)}" for number, text in enumerate(self.sub_questions, 1))
        lines = (f"Reasoning: {data_line(self.reasoning)}", "Sub-questions:", *numbered, "<END>")
        return "\n".join((f"Question: {as_data(self.question)}", *lines))


@dataclass(frozen=True, slots=True)
class _File:
    decompositions: Annotated[tuple[Demonstration, ...], Meta(max_length=MOST_DEMONSTRATIONS)]


@cache
def default_demonstrations() -> tuple[Demonstration, ...]:
    """The examples that come with Clew: of one, two and three hops, as the paper's."""
    text = files("clew.methods.kg_rag").joinpath("prompts", "examples.json").read_text("utf-8")
    return demonstrations_from(json.loads(text), "examples")


def read_demonstrations(path: Path) -> tuple[Demonstration, ...]:
    """Read a user's decompositions; Clew's own, if the file has none. Raises InputError."""
    return demonstrations_from(read_json(path, DEMONSTRATIONS_ADVICE), str(path))


def demonstrations_from(value: object, where: str) -> tuple[Demonstration, ...]:
    """Read examples from JSON; where there are none, Clew's own. InputError says which is wrong."""
    if isinstance(value, dict) and DECOMPOSITIONS not in value:
        return default_demonstrations()
    try:
        return build(_File, value).decompositions
    except ShapeError as error:
        raise InputError(f"{where}: {error}. {DEMONSTRATIONS_ADVICE}") from error


@dataclass(frozen=True, slots=True)
class ModelDecompose:
    """By a chat model, with examples; it thinks first, then numbers sub-questions, and ends at `<END>`."""

    sampling: Sampling
    examples: Sequence[Demonstration] = field(default_factory=default_demonstrations)
    about: About | None = None

    def __call__(self, question: str, entities: Sequence[str], talk: Talk | None) -> Plan:
        """Ask the model and read its reply."""
        if talk is None:
            raise ValueError("this form needs a model")
        examples = "\n\n".join(map(str, self.examples))
        prompt = prompt_named("clew.methods.kg_rag", "decompose").with_values(examples=examples)
        schema, names = self.about(question, entities) if self.about else ("", "")
        schema_text = SCHEMA.format(schema) if schema else ""
        values = {"EXAMPLES": examples, "SCHEMA": schema_text, "NAMES": names, "QUESTION": as_data(question)}
        reply = talk.ask(prompt, self.sampling, stop=("<END>",), **values)
        return plan_of(reply, question)


def plan_of(reply: str, question: str) -> Plan:
    """Read a decomposition from a model's reply.

    Without any sub-question, or with the question itself, the question is asked as it is. Repeated
    sub-questions are dropped, and those beyond `MOST_QUESTIONS`; the notes say so.
    """
    reasoning, listed = _split(reply)
    texts_by_norm: dict[str, str] = {}
    notes: list[str] = []
    for text in listed:
        norm = normalise(text)
        if len(text) > LONGEST_QUESTION:
            notes.append(f"a sub-question of {len(text):,} characters is none, and is left out")
        elif norm in texts_by_norm:
            notes.append(f"over-decomposed: dropped a repeated sub-question: {text}")
        elif norm:
            texts_by_norm[norm] = text
    texts = list(texts_by_norm.values())
    if not texts:
        texts = [question]
        if not listed:
            notes.append("the model named no sub-questions: the question is asked as it is")
    cut = len(texts) > MOST_QUESTIONS
    if cut:
        budget = f"the budget is {MOST_QUESTIONS}, so the others are left out"
        notes.append(f"the model wrote {len(texts)} sub-questions; {budget}")
    return Plan(reasoning, tuple(map(SubQuestion, texts[:MOST_QUESTIONS])), tuple(notes), cut=cut)


@dataclass(frozen=True)
class DecompositionReply:
    """A decomposition in JSON, which some models write unasked."""

    sub_questions: list[str]
    reasoning: str = ""


def _split(reply: str) -> tuple[str, list[str]]:
    """Reasoning, and the listed lines after the title `Sub-questions`; without a title, those that ask."""
    if "{" in reply:
        try:
            value = read_value(reply, lambda value: build(DecompositionReply, value))
        except ReplyInvalid:
            pass
        else:
            return value.reasoning.strip(), [text.strip() for text in value.sub_questions]
    lines = [line for raw in reply.splitlines() if (line := _MARKUP.sub("", raw.strip()).strip())]
    title_match = next(((i, m[1] or "") for i, line in enumerate(lines) if (m := _TITLE.match(line))), None)
    if title_match is None:
        items = {line: _NUMBERED.match(line) or _BULLET.match(line) for line in lines}
        listed = {line: item[1] for line, item in items.items() if item and item[1].endswith("?")}
        return _join_reasoning(line for line in lines if line not in listed), list(listed.values())
    title, same_line = title_match
    lines_after = [*(_IN_LINE.split(same_line) if same_line else ()), *lines[title + 1 :]]
    numbered = [m[1] for line in lines_after if (m := _NUMBERED.match(line))]
    listed = numbered or [m[1] for line in lines_after if (m := _BULLET.match(line))]
    return _join_reasoning(lines[:title]), listed or [line for line in lines_after if line.endswith("?")]


def _join_reasoning(lines: Iterable[str]) -> str:
    return " ".join(filter(None, (_REASONING.sub("", line, 1) for line in lines)))


@dataclass(frozen=True, slots=True)
class PatternDecompose:
    """Without a model: one sub-question for each edge of the pattern that `read` makes of the question."""

    graph: Graph
    read: Callable[[str, Sequence[str]], AskedPattern | Abstention]

    def __call__(self, question: str, entities: Sequence[str], talk: Talk | None) -> Plan:
        """Read the question, and ask for its edges one by one."""
        asked_pattern = self.read(question, entities)
        if isinstance(asked_pattern, Abstention):
            return Plan(abstained=asked_pattern)
        graph, pattern = self.graph, asked_pattern.pattern
        hops = hops_of(pattern)
        questions = tuple(
            SubQuestion(hop_text(graph, pattern, hop, (), joins=any(h.end == hop.end for h in hops[:i])), hop)
            for i, hop in enumerate(hops)
        )
        steps = " then ".join(f'"{relation_text(graph.relation_labels[h.relation])}"' for h in hops)
        known_names = " and ".join(node.name for node in pattern.nodes if node.known)
        reasoning = f"From {known_names} the question leads over {steps}."
        return Plan(reasoning, questions, asked_pattern.notes, pattern, asked_pattern.counts)


def hop_text(graph: Graph, pattern: Pattern, hop: Hop, names: Sequence[str], *, joins: bool = False) -> str:
    """The sub-question of a hop as a triple with a gap, the form of all triples: `(The Crow, has genre, ?)`.

    `names` stand for a start that earlier sub-questions found; `joins` says that they found the end as well.
    """
    start, end = _label(graph, pattern, hop.start), _label(graph, pattern, hop.end)
    start = start or " or ".join(names) or "each of these"
    end = end or ("which of these?" if joins else "?")
    relation = relation_text(graph.relation_labels[hop.relation])
    return f"({start}, {relation}, {end})" if hop.forward else f"({end}, {relation}, {start})"


def _label(graph: Graph, pattern: Pattern, node: int) -> str:
    entity = pattern.nodes[node].entity
    return "" if entity is None else readable(graph.labels[entity])

"""Section 3.4.1 of KG-RAG: a question → sub-questions (Table 2), and the chain of their answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from clew.errors import InputError
from clew.foundation.forms import read_json
from clew.graph.graph import Graph, ValueKind, triple_text
from clew.llm.managed import Talk, as_data, data_line, prompt_named
from clew.llm.reply import ShapeError, build, read_value
from clew.llm.types import ReplyInvalid, Request
from clew.methods.evidence import Proofs
from clew.methods.ground import GroundedReply
from clew.methods.simgrag.write_pattern import DECOMPOSITIONS
from clew.text.normalise import normalise
from clew.text.verbalise import readable
from clew.types import SubAnswer


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


def owned_values(graph: Graph, link: Link) -> tuple[tuple[int, int, int], ...]:
    """The values of a sub-answer as (owner, triple, value), if several things have them; else empty."""
    values, proofs = graph.values, link.proofs
    if not all(values.datatype[e] >= 0 or values.kind[e] != ValueKind.NONE for e in proofs):
        return ()
    proving = dict.fromkeys([*(p[-1] for p in proofs.values() if p), *link.reply.rests_on])
    triples = ((triple, *graph.triple(triple)) for triple in proving)
    owned = [(head, triple, tail) for triple, head, _, tail in triples if tail in proofs]
    return tuple(owned) if len({owner for owner, _, _ in owned}) > 1 else ()


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
        proofs |= {owner: (t,) for owner, t, _ in owned_values(graph, link) if owner not in proofs}
    return proofs | {seed: () for seed in topic_entities if seed not in proofs}


def answer_line(graph: Graph, link: Link, most: int = 200) -> str:
    """The answer to a sub-question: names with their type, or with their owners, or that there are none."""
    if not link.proofs:
        nothing = "none: the facts show that there is none" if link.reply.shows_none else "not told"
        pairs = list(map(": ".join, link.reply.pairs))
        return data_line(link.reply.value or "; ".join(pairs or link.reply.texts)) or nothing
    labels = {e: data_line(readable(graph.labels[e])) for e in link.proofs}
    names = list(labels.values())
    pairs = link.reply.pairs or [(graph.label(o), graph.label(e)) for o, _, e in owned_values(graph, link)]
    if pairs:
        names = [data_line(f"{readable(thing)}: {readable(value)}") for thing, value in pairs]
        paired = {text for pair in pairs for text in pair}
        names += [name for e, name in labels.items() if graph.label(e) not in paired]
    remainder = f" and {len(names) - most} more" if len(names) > most else ""
    types = [set(graph.types.of(entity)) for entity in link.proofs]
    common = sorted(set.intersection(*types)) if not pairs else []
    kind = " or ".join(data_line(readable(graph.types.names[type_])) for type_ in common)
    return f"{'; '.join(names[:most])}{remainder}{f' ({kind})' if kind else ''}"


MOST_QUESTIONS = 8
"""Sub-questions that are asked; a model that writes more is cut off, and the answer says so."""
LONGEST_QUESTION = 2_000
"""Characters of a sub-question; a longer line is none."""
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


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A question, why it is taken apart so, and its sub-questions; one that needs no other is its own."""

    question: str
    reasoning: str
    sub_questions: Annotated[tuple[str, ...], Meta(min_length=1)]

    @property
    def as_json(self) -> str:
        """The question, and the reply to it as an object."""
        reply = {"reasoning": self.reasoning, "sub_questions": list(self.sub_questions)}
        return f"Question: {as_data(self.question)}\n{as_data(json.dumps(reply, ensure_ascii=False))}"

    @property
    def as_text(self) -> str:
        """The question, and the reply to it in lines, as in Table 2."""
        numbered = (f"{number}. {data_line(text)}" for number, text in enumerate(self.sub_questions, 1))
        lines = (f"Reasoning: {data_line(self.reasoning)}", "Sub-questions:", *numbered, "<END>")
        return "\n".join((f"Question: {as_data(self.question)}", *lines))


@dataclass(frozen=True, slots=True)
class _File:
    decompositions: Annotated[tuple[Demonstration, ...], Meta(max_length=64)]


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


def decompose(
    talk: Talk,
    question: str,
    sampling: Request,
    demonstrations: Sequence[Demonstration],
    schema: str = "",
    names: str = "",
    *,
    letter: bool = False,
) -> Plan:
    """Have a model take a question apart, by the paper's `letter` or as JSON. Raises LlmError.

    `schema` is what the graph records, `names` are other names of what the question names.
    """
    examples = "\n\n".join(each.as_text if letter else each.as_json for each in demonstrations)
    name, stop = ("decompose", ("<END>",)) if letter else ("decompose_json", ())
    prompt = prompt_named("clew.methods.kg_rag", name).with_values(examples=examples)
    schema_text = SCHEMA.format(schema) if schema else ""
    values = {"EXAMPLES": examples, "SCHEMA": schema_text, "NAMES": names, "QUESTION": as_data(question)}
    return plan_of(talk.ask(prompt, sampling, stop=stop, **values), question)


def plan_of(reply: str, question: str) -> Plan:
    """Read a decomposition from a model's reply; the notes say which sub-questions were dropped.

    Without any sub-question, or with the question itself, the question is asked as it is.
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
    return Plan(reasoning, tuple(texts[:MOST_QUESTIONS]), tuple(notes), cut=cut)


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

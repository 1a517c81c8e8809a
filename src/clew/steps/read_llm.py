"""The `read` step with a model: verbalised subgraph-augmented generation (SimGRAG section 4.4.

Tables 18 and 19).

The model reads the subgraphs and names answers, or judges a claim. A reply in JSON is read as such; one in
prose, as the paper has them (*According to graphs [1][2], the writer is …*), for the names of the evidence
that stand in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from clew.llm.errors import ReplyInvalid
from clew.llm.extract import clean, read_value
from clew.llm.shapes import build
from clew.llm.typed import complete_parsed
from clew.llm.types import ChatModel, Reply, Request, ask
from clew.steps.declined import declines
from clew.steps.simgrag_prompts import Prompt, Shot, Triples, read_prompt
from clew.text.normalise import normalise

YES_NO = ("yes", "no")
Judged = Literal["True", "False", "Unknown"]
LONGEST_PROSE = 20_000
"""Characters of a reply in prose that are looked through."""
_VERDICT = re.compile(
    r"\b(true|supported|false|refuted|unknown|not enough info(?:rmation)?)\b", re.IGNORECASE
)
_JUDGED: dict[str, Judged] = {
    "true": "True", "supported": "True", "false": "False", "refuted": "False", "unknown": "Unknown",
}  # fmt: skip


@dataclass(frozen=True)
class AnswersReply:
    """What the model is asked for, of a question."""

    answers: list[str]
    reason: str = field(default="")


@dataclass(frozen=True)
class VerdictReply:
    """What the model is asked for, of a claim."""

    verdict: str
    reason: str = field(default="")


@dataclass(frozen=True, slots=True)
class ReadAnswers:
    """Names that the model gives as answers, as it writes them, and its reason."""

    answers: tuple[str, ...]
    reason: str
    prompt: Prompt
    replies: tuple[Reply, ...]


@dataclass(frozen=True, slots=True)
class ReadVerdict:
    """The model's verdict on a claim, and its reason."""

    verdict: Judged
    reason: str
    prompt: Prompt
    replies: tuple[Reply, ...]


async def read_answers(
    model: ChatModel, question: str, graphs: Sequence[Triples], shots: Sequence[Shot], names: Iterable[str]
) -> ReadAnswers:
    """Ask a model what the evidence answers; `names` are those that an answer may be, for replies in prose.

    Raises:
        LlmError: the model cannot be asked.

    """
    prompt = read_prompt("question", question, graphs, shots)
    request = ask(prompt.text, temperature=0.0)
    known = list(names)
    typed = await complete_parsed(model, request, lambda text: _answers(text, request, known))
    return ReadAnswers(tuple(typed.value.answers), typed.value.reason, prompt, typed.replies)


async def read_verdict(
    model: ChatModel, claim: str, graphs: Sequence[Triples], shots: Sequence[Shot]
) -> ReadVerdict:
    """Ask a model whether the evidence supports a claim; a reply without a verdict is repaired once.

    Raises:
        LlmError: the model cannot be asked, or gives no verdict.

    """
    prompt = read_prompt("claim", claim, graphs, shots)
    request = ask(prompt.text, temperature=0.0)
    typed = await complete_parsed(model, request, lambda text: _verdict(text, request))
    return ReadVerdict(_JUDGED[typed.value.verdict], typed.value.reason, prompt, typed.replies)


def _answers(text: str, request: Request, names: Sequence[str]) -> AnswersReply:
    cleaned = clean(text, request.messages, request.stop)
    try:
        return read_value(cleaned, lambda value: build(AnswersReply, value))
    except ReplyInvalid:
        return AnswersReply(named_answers(cleaned[:LONGEST_PROSE], names), cleaned[:200])


def _verdict(text: str, request: Request) -> VerdictReply:
    cleaned = clean(text, request.messages, request.stop)
    try:
        reply = read_value(cleaned, lambda value: build(VerdictReply, value))
        said = [reply.verdict.strip().lower()]
    except ReplyInvalid:
        reply = VerdictReply("", cleaned[:200])
        said = [hit.lower() for hit in _VERDICT.findall(cleaned[:LONGEST_PROSE])]
    found = "unknown" if said and said[-1].startswith("not enough") else said[-1] if said else ""
    if found not in _JUDGED:
        raise ReplyInvalid('the verdict is not "True", "False" or "Unknown"', text)
    return VerdictReply(found, reply.reason)


def named_answers(text: str, names: Iterable[str]) -> list[str]:
    """The names that a text answers with: those in it, none where it says that it has no answer."""
    named = named_in(text, names)
    if normalise(text).split(" ", 1)[0] in YES_NO:
        return named
    return [] if declines(text, [name for name in named if name not in YES_NO]) else named


def named_in(text: str, names: Iterable[str]) -> list[str]:
    """The names that stand in a text as whole words.

    A name inside a longer one that stands there does not count.
    """
    said = f" {normalise(text)} "
    found = [(normalise(name), name) for name in dict.fromkeys(names)]
    there = sorted(
        ((n, name) for n, name in found if n and f" {n} " in said), key=lambda f: (-len(f[0]), f[0])
    )
    kept: list[str] = []
    for plain, name in there:
        if f" {plain} " in said:
            kept.append(name)
            said = said.replace(f" {plain} ", " | ")
    return kept

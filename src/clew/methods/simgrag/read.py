"""The `read` step with a model: verbalised subgraph-augmented generation (SimGRAG, Tables 18, 19).

The model reads the subgraphs and names answers, or judges a claim. A reply in JSON is read as such; one in
prose, as the paper has them (*According to graphs [1][2], the writer is …*), for the names of the evidence
that stand in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from clew.llm.errors import ReplyInvalid
from clew.llm.extract import clean, read_value
from clew.llm.refusals import declines
from clew.llm.shapes import build
from clew.llm.typed import complete_parsed
from clew.llm.types import ChatModel, Reply, Request, ask
from clew.methods.simgrag.examples import Prompt, Shot, Triples, read_prompt
from clew.text.normalise import normalise

YES_NO = ("yes", "no")
Judged = Literal["True", "False", "Unknown"]
LONGEST_PROSE = 20_000
"""Characters of a reply in prose that are looked through."""
_VERDICT = re.compile(
    r"((?:\bnot|n['’]t)\s+(?:be(?:en)?\s+)?(?:\w+ly\s+)?)?"
    r"\b((?:un)?true|(?:un)?supported|false|refuted|unknown|not enough info(?:rmation)?)\b",
    re.IGNORECASE,
)
_NOT: dict[str, Judged] = {"true": "False"}
"""What a negated word says; *not supported* and *not refuted* say nothing."""
_JUDGED: dict[str, Judged] = {
    "true": "True", "supported": "True", "false": "False", "refuted": "False", "untrue": "False",
}  # fmt: skip


@dataclass(frozen=True)
class AnswersReply:
    """What the model is asked for, of a question."""

    answers: list[str]
    reason: str = field(default="")


@dataclass(frozen=True)
class VerdictReply:
    """What the model is asked for, of a claim."""

    verdict: str | bool
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
    verdict, reason = typed.value
    return ReadVerdict(verdict, reason, prompt, typed.replies)


def _answers(text: str, request: Request, names: Sequence[str]) -> AnswersReply:
    cleaned = clean(text, request.messages, request.stop)
    try:
        return read_value(cleaned, lambda value: answers_of(value, names))
    except ReplyInvalid:
        return AnswersReply(named_answers(cleaned[:LONGEST_PROSE], names), cleaned[:200])


def answers_of(value: object, names: Iterable[str]) -> AnswersReply:
    """Read the answers of a JSON object: a list under `answers` or `answer`, or a text that names some.

    Raises ShapeError: there are none.
    """
    fields = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    said = fields.get("answers", fields.get("answer"))
    if isinstance(said, str):
        fields = {"answers": named_answers(said, names), "reason": fields.get("reason", "")}
    elif isinstance(said, list):
        texts = [f"{each:g}" if type(each) in (int, float) else each for each in cast("list[Any]", said)]
        fields = {"answers": texts, "reason": fields.get("reason", "")}
    return build(AnswersReply, fields)


def _verdict(text: str, request: Request) -> tuple[Judged, str]:
    """Verdict and reason of a reply. Raises ReplyInvalid."""
    cleaned = clean(text, request.messages, request.stop)
    try:
        reply = read_value(cleaned, lambda value: build(VerdictReply, value))
        said = str(reply.verdict)
    except ReplyInvalid:
        reply = VerdictReply("", cleaned[:200])
        said = cleaned[:LONGEST_PROSE]
    judged = _judged(said)
    if judged is None:
        raise ReplyInvalid('the verdict is not "True", "False" or "Unknown"', text)
    return judged, reply.reason


def _judged(text: str) -> Judged | None:
    """The last verdict that a text gives; None where it gives none."""
    hits = list(_VERDICT.finditer(text))
    if not hits:
        return None
    negated, word = bool(hits[-1][1]), hits[-1][2].lower()
    if declines(text):
        return "Unknown"
    return _NOT.get(word, "Unknown") if negated else _JUDGED.get(word, "Unknown")


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

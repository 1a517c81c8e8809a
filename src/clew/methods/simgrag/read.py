"""The `read` step with a model: verbalised subgraph-augmented generation (SimGRAG, Tables 18, 19).

The model reads the subgraphs and states answers, or judges a claim. Answers are read from the form that
states them alone (`llm/reply.py`); of prose, as the paper has it (*According to graphs [1][2], the writer is
…*), none are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from clew.llm.errors import ReplyInvalid
from clew.llm.extract import clean, read_value
from clew.llm.prompting import Prompt
from clew.llm.refusals import declines
from clew.llm.reply import StatedAnswer, is_none, stated_answer
from clew.llm.shapes import build
from clew.llm.typed import complete_parsed
from clew.llm.types import ChatModel, Request, ask
from clew.methods.simgrag.examples import Shot, ShownTriples, read_prompt

ModelVerdict = Literal["True", "False", "Unknown"]
LONGEST_PROSE = 20_000
"""Characters of a reply in prose that are looked through."""
_GRAPH = re.compile(r"\[(\d{1,3})\]")
_YES_NO = re.compile(r"\W*(?:yes|no)\W*", re.IGNORECASE)
_VERDICT = re.compile(
    r"((?:\bnot|n['’]t)\s+(?:be(?:en)?\s+)?(?:\w+ly\s+)?)?"
    r"\b((?:un)?true|(?:un)?supported|false|refuted|unknown|not enough info(?:rmation)?)\b",
    re.IGNORECASE,
)
_JUDGED: dict[str, ModelVerdict] = {
    "true": "True", "supported": "True", "false": "False", "refuted": "False", "untrue": "False",
}  # fmt: skip


@dataclass(frozen=True)
class VerdictReply:
    """What the model is asked for, of a claim."""

    verdict: str | bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ReadAnswers:
    """Names that the model gives as answers, as it writes them, and its reason."""

    answers: tuple[str, ...]
    reason: str
    prompt: Prompt


@dataclass(frozen=True, slots=True)
class ReadVerdict:
    """The model's verdict on a claim, and its reason."""

    verdict: ModelVerdict
    reason: str
    prompt: Prompt

    @property
    def graphs(self) -> tuple[int, ...]:
        """Positions of the subgraphs that the reason names, as in *graph [1] says so*."""
        return tuple(dict.fromkeys(int(n) - 1 for n in _GRAPH.findall(self.reason) if int(n)))


async def read_answers(
    model: ChatModel, question: str, graphs: Sequence[ShownTriples], shots: Sequence[Shot]
) -> ReadAnswers:
    """Ask a model what the evidence answers; a reply that does not state it is repaired once.

    Raises LlmError: the model cannot be asked, or states no answer.
    """
    prompt = read_prompt("question", question, graphs, shots)
    request = ask(prompt.user, temperature=0.0)
    typed = await complete_parsed(model, request, lambda text: _stated(text, request))
    stated = typed.value
    items = () if len(stated.items) == 1 and is_none(stated.items[0]) else stated.items
    return ReadAnswers(items, stated.text, prompt)


async def read_verdict(
    model: ChatModel,
    claim: str,
    graphs: Sequence[ShownTriples],
    shots: Sequence[Shot],
    *,
    closed_world: bool = False,
    names: str = "",
) -> ReadVerdict:
    """Ask a model whether the evidence supports a claim; a reply without a verdict is repaired once.

    `closed_world` and `names` are as in `read_prompt`. Raises LlmError: the model cannot be asked, or gives
    no verdict.
    """
    prompt = read_prompt("claim", claim, graphs, shots, closed_world=closed_world, names=names)
    request = ask(prompt.user, temperature=0.0)
    typed = await complete_parsed(model, request, lambda text: _verdict(text, request))
    verdict, reason = typed.value
    return ReadVerdict(verdict, reason, prompt)


def _stated(text: str, request: Request) -> StatedAnswer:
    """What a reply states, in JSON or by its last line. Raises ReplyInvalid."""
    stated = stated_answer(clean(text, request.messages, request.stop))
    if stated.form == "" or (stated.form == "bare" and not _YES_NO.fullmatch(stated.text)):
        raise ReplyInvalid('it is no JSON object with "answers"', text)
    return stated


def _verdict(text: str, request: Request) -> tuple[ModelVerdict, str]:
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


def _judged(text: str) -> ModelVerdict | None:
    """The last verdict that a text gives; None where it gives none."""
    hits = list(_VERDICT.finditer(text))
    if not hits:
        return None
    negated, word = bool(hits[-1][1]), hits[-1][2].lower()
    if declines(text):
        return "Unknown"
    if negated:  # *not supported* and *not refuted* say nothing
        return "False" if word == "true" else "Unknown"
    return _JUDGED.get(word, "Unknown")

"""The one form in which a reply states its answer, and the only place where an answer is read.

A reply explains first, as it likes, and ends with the lines that `FORM` asks for, or it is a JSON object with
`answers` (and `facts`). A name in the explanation is never an answer. A reply that is nothing but one line
may state its answer bare: what it lists is read strictly (`methods/ground.py`), or not at all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal, cast

from clew.llm.errors import ReplyInvalid
from clew.llm.extract import read_value
from clew.llm.refusals import declines
from clew.llm.shapes import ShapeError


def _text(name: str) -> str:
    return files("clew.llm").joinpath("prompts", f"{name}.txt").read_text("utf-8").rstrip("\n")


FORM = _text("form")
"""What prompts ask for, in place of their slot `{{FORM}}`."""

REPAIR_PROMPT = _text("repair")
"""The message after a reply that states no answer."""

LONGEST_REPLY = 100_000
"""Characters of a reply that are read."""
LONGEST_BARE = 2_000
"""Characters of a line that may be an answer without the form."""
MOST_FACTS = 10_000
"""Numbers of facts that are read."""

ReplyForm = Literal["line", "json", "bare", "refusal", ""]

_MARKS = r"[\s>*_`#\-•]*"
_LINE = re.compile(
    rf"^{_MARKS}(?:the\s+|my\s+)?(?:final\s+|short\s+)?answers?\b(?:\s+(?:is|are))?[*_`]*\s*:[*_` \t]*(.*)$",
    re.I,
)
_FACTS = re.compile(
    rf"^{_MARKS}(?:facts?|graphs?|statements?|lines?)(?:\s+used)?[*_`]*\s*:[*_` \t]*"
    r"([\s\d,;\-–#\[\]()&.]*|none)$",
    re.I,
)
_RANGE = re.compile(r"(\d{1,6})(?:\s*[-–]\s*(\d{1,6}))?")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+(.+)$")
_NONE = frozenset(("none", "n/a", "null", "nothing", "unknown", "no answer", "not known", "not stated"))
_QUOTES = " \t\"'“”‘’`*_"


@dataclass(frozen=True, slots=True)
class StatedAnswer:
    """What a reply states.

    `items` are its answers as they are written, which may be one that says that there is none (`is_none`);
    `facts` the numbers of the facts that it rests on; `text` its own words, without the lines of the form;
    `form` how it was stated, empty where it was not.
    """

    items: tuple[str, ...]
    facts: tuple[int, ...]
    text: str
    form: ReplyForm

    @property
    def has_form(self) -> bool:
        """Whether the reply states an answer, or that there is none."""
        return self.form != ""


def stated_answer(reply: str) -> StatedAnswer:
    """Read what a clean reply states: by its last `Answer:` line, JSON, a bare line, or a refusal."""
    reply = reply[:LONGEST_REPLY]
    lines = reply.splitlines()
    at = max((i for i, line in enumerate(lines) if _LINE.match(line)), default=-1)
    if at >= 0:
        return _from_lines(lines, at)
    return _from_json(reply) or _bare(lines)


def _from_lines(lines: list[str], at: int) -> StatedAnswer:
    match = _LINE.match(lines[at])
    answer_text = "" if match is None else match[1]
    stop = at + 1
    if not answer_text.strip(_QUOTES):
        while stop < len(lines) and (bullet := _BULLET.match(lines[stop])):
            answer_text += f"; {bullet[1]}"
            stop += 1
        if stop == at + 1 and stop < len(lines):
            answer_text, stop = lines[stop], stop + 1
    while answer_text.rstrip().endswith(";") and stop < len(lines) and lines[stop].strip():
        answer_text, stop = f"{answer_text} {lines[stop]}", stop + 1
    facts: tuple[int, ...] = ()
    text_lines: list[str] = []
    for line in (*lines[:at], *lines[stop:]):
        numbers = _FACTS.match(line)
        if numbers:
            facts = fact_numbers(numbers[1])
        elif not _LINE.match(line):
            text_lines.append(line)
    return StatedAnswer(_items(answer_text.split(";")), facts, "\n".join(text_lines).strip(), "line")


def _from_json(reply: str) -> StatedAnswer | None:
    if "{" not in reply:
        return None
    try:
        fields = read_value(reply, _with_answers)
    except ReplyInvalid:
        return None
    answers = fields.get("answers", fields.get("answer"))
    items = answers if isinstance(answers, list) else [answers]
    texts = [_json_item(item) for item in cast("list[Any]", items)]
    if isinstance(answers, str):
        texts = answers.split(";")
    text = str(fields.get("text") or fields.get("reason") or "")
    facts = fields.get("facts", "")
    numbers = fact_numbers(str(facts).strip("[]")) if isinstance(facts, (list, str, int)) else ()
    return StatedAnswer(_items(texts), numbers, text, "json")


def _with_answers(value: Any) -> dict[str, Any]:  # noqa: ANN401
    """The object of a reply. Raises ShapeError for a value that states no answers."""
    fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    answers = fields.get("answers", fields.get("answer", ...))
    answer_items = cast("list[Any]", answers) if isinstance(answers, list) else [answers]
    if answers is ... or any(isinstance(item, (dict, list)) for item in answer_items):
        raise ShapeError("answers", "a list of names, numbers, true or false")
    return fields


def _json_item(item: object) -> str:
    if isinstance(item, bool):
        return "yes" if item else "no"
    return "" if item is None else f"{item:.15g}" if isinstance(item, float) else str(item)


def _bare(lines: list[str]) -> StatedAnswer:
    """A reply of one line that may be an answer itself; otherwise a refusal, or nothing."""
    text = "\n".join(lines).strip()
    filled_lines = [line for line in lines if line.strip()]
    if not text or declines(text):
        return StatedAnswer((), (), text, "refusal" if text else "")
    if len(filled_lines) == 1 and len(filled_lines[0]) <= LONGEST_BARE and text[0] not in "{[`":
        return StatedAnswer(_items([text.rstrip(".")]), (), text, "bare")
    return StatedAnswer((), (), text, "")


def _items(texts: list[str]) -> tuple[str, ...]:
    """Items without quotes, each once."""
    return tuple(dict.fromkeys(item for text in texts if (item := " ".join(text.split()).strip(_QUOTES))))


def is_none(item: str) -> bool:
    """Whether an item says that there is no answer; a thing of the graph may be called *Unknown*, too."""
    return item.casefold().strip(" .()") in _NONE or declines(item)


def fact_numbers(text: str) -> tuple[int, ...]:
    """Numbers and ranges of a list, in its order, each once; at most `MOST_FACTS`."""
    numbers: dict[int, None] = {}
    for first, last in _RANGE.findall(text):
        start, stop = int(first), int(last or first)
        if stop - start >= MOST_FACTS:
            continue
        numbers |= dict.fromkeys(range(start, stop + 1))
        if len(numbers) >= MOST_FACTS:
            break
    return tuple(numbers)

"""From a model's raw text to the one JSON value in it.

Taken off first: thoughts (`<think>…</think>`), an echoed prompt, the model's stop tokens and what follows
them, and backslashes of Markdown.
Nothing is mended: what is not JSON goes back to the model once, with the reason (see `typed.py`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeVar, cast

from clew.llm.errors import ReplyInvalid
from clew.llm.shapes import ShapeError
from clew.llm.types import Message

T = TypeVar("T")

LONGEST_JSON_REPLY = 1_000_000
"""Characters of a reply that are read."""
JSON_BEGINNINGS = 64
"""Places of a reply at which JSON may begin and turn out not to be JSON."""

_THOUGHT = re.compile(r"\s*<(think|thinking|thought|reasoning)>(.*?)(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_STOP = re.compile(
    r"<\|(?:im_end|im_start|endoftext|eot_id|end|end_of_text|eom_id|end_of_turn|start_header_id)\|>"
    r"|<(?:end_of_turn|start_of_turn|eos)>|</s>|<s>|\[/?INST\]|<｜end▁of▁sentence｜>"
)
_ROLE = re.compile(
    r"\s*(?:<\|im_start\|>|<start_of_turn>|#+\s*)?(?:system|user|assistant|model)\s*:?\s*\n", re.I
)
_FENCE = re.compile(r"```[A-Za-z]*[ \t]*\r?\n?(.*?)(?:```|\Z)", re.DOTALL)
_OPENING = re.compile(r"[{\[]")
_ESCAPED = re.compile(r"(?<!\\)\\(?=[_*\[\]])")
"""A backslash of Markdown, which no string of JSON and no query language has there."""
_STRING_OR_END = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|(;)""", re.DOTALL)
_STATEMENT_MEMBERS = ("cypher", "sparql", "query", "statement")


def clean(text: str, messages: Sequence[Message] = (), stop: Sequence[str] = ()) -> str:
    r"""Take off thoughts, an echo of the messages, stop tokens with what follows them, and escapes (`\_`)."""
    text = _without_echo(text[:LONGEST_JSON_REPLY], messages)
    text = without_thoughts(text)
    leading = _STOP.match(text.lstrip())
    while leading and leading.end():
        text = text.lstrip()[leading.end() :]
        leading = _STOP.match(text.lstrip())
    text = _STOP.split(text, maxsplit=1)[0]
    for word in stop:
        if word:
            text = text.split(word, 1)[0]
    return _ESCAPED.sub("", text.strip())


def _without_echo(text: str, messages: Sequence[Message]) -> str:
    remainder = text
    for message in messages:
        start = remainder.lstrip()
        label = _ROLE.match(start)
        if label:
            start = start[label.end() :].lstrip()
        message_text = message.text.strip()
        if not message_text or not start.startswith(message_text):
            continue
        remainder = start[len(message_text) :]
        remainder = re.sub(r"^\s*<\|im_end\|>", "", remainder)
    if remainder is not text:
        label = _ROLE.match(remainder.lstrip())
        remainder = remainder.lstrip()[label.end() :] if label else remainder
    return remainder


def without_thoughts(text: str) -> str:
    """A reply without what a model said to itself before it (`<think>…</think>`)."""
    thought = _THOUGHT.match(text)
    while thought:
        text = text[thought.end() :]
        thought = _THOUGHT.match(text)
    # Some chat templates open the thought in the prompt, so only its end is in the reply.
    end = _THOUGHT_END.search(text)
    return text[end.end() :] if end else text


class _Twice(ValueError):
    pass


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))
        raise _Twice(f"the member {twice!r} is there twice")
    return members


def _no_constant(name: str) -> Any:  # noqa: ANN401
    raise _Twice(f"{name} is not a JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=_members, parse_constant=_no_constant)


def values(text: str) -> Iterator[tuple[Any, str]]:
    """Yield the JSON values of a clean text, outermost only, as (value, "") or (None, why it is not JSON)."""
    at, failures = 0, 0
    while failures < JSON_BEGINNINGS:
        opening = _OPENING.search(text, at)
        if opening is None:
            return
        try:
            value, at = _DECODER.raw_decode(text, opening.start())
            json.dumps(value, ensure_ascii=False).encode()
        except _Twice as error:
            yield None, str(error)
            at, failures = opening.end(), JSON_BEGINNINGS
        except json.JSONDecodeError as error:
            yield None, f"{error.msg} (character {error.pos} of {len(text)})"
            at, failures = opening.end(), failures + 1
        except UnicodeEncodeError:
            yield None, "a string has half of a surrogate pair"
            failures += 1
        except (ValueError, RecursionError):
            yield None, "it is nested too deeply, or has a number with too many digits"
            return
        else:
            yield value, ""


def read_value(text: str, build: Callable[[Any], T]) -> T:
    """Find the one JSON value in a clean text that `build` accepts; inside code fences first.

    Raises ReplyInvalid: there is none, or there are two that differ.
    """
    if not text:
        raise ReplyInvalid("it is empty", text)
    problem = ""
    blocks = fenced(text)
    for part in ("\n".join(blocks), text) if blocks else (text,):
        accepted_values, first_problem = _accept_values(part, build)
        if len(accepted_values) > 1:
            raise ReplyInvalid(
                f"it has {len(accepted_values)} different JSON values where one is asked for", text
            )
        if accepted_values:
            return accepted_values[0]
        problem = problem or first_problem
    raise ReplyInvalid(problem or "there is no JSON in it", text)


def fenced(text: str) -> list[str]:
    """What stands between marks of code; the last may be left open."""
    return _FENCE.findall(text)


def statements(text: str) -> list[str]:
    """Texts of a clean reply that may be one statement of a query language, in the order to try them.

    A JSON object tells its statement in a member (`{"cypher": "MATCH …"}`), and code stands in fences; each
    of several in a row is one.
    """
    members = [value for value, why in values(text) if not why and isinstance(value, dict)]
    told = [
        statement
        for value in cast("list[dict[str, Any]]", members)
        for name in _STATEMENT_MEMBERS
        if isinstance(statement := value.get(name), str)
    ]
    found: list[str] = []
    for block in told or fenced(text) or [text]:
        ends = [match.end() for match in _STRING_OR_END.finditer(block) if match[1]]
        found += [block[start:end] for start, end in pairwise([0, *ends, len(block)])]
    return [statement for piece in found if (statement := piece.strip())]


def _accept_values(text: str, build: Callable[[Any], T]) -> tuple[list[T], str]:
    accepted_values: list[T] = []
    problem, depth = "", -1
    for value, why in values(text):
        if why:
            problem = problem or f"it is not valid JSON: {why}"
            continue
        try:
            built = build(value)
        except ShapeError as error:
            # The problem deepest in a value is that of the value that comes nearest.
            if error.path.count(".") + error.path.count("[") > depth:
                depth, problem = error.path.count(".") + error.path.count("["), str(error)
            continue
        if built not in accepted_values:
            accepted_values.append(built)
    return accepted_values, problem

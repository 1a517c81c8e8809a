"""Demonstrations of KG-RAG: decompositions in the prompt (section 3.4.1, Table 2), own ones or a user's."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, cast

from clew.errors import InputError
from clew.llm.prompting import as_data, data_line
from clew.methods.simgrag.examples import DECOMPOSITIONS

MOST = 64
ADVICE = 'Write {"decompositions": [{"question": "…", "reasoning": "…", "sub_questions": ["…"]}]}'


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A question, why it is taken apart so, and its sub-questions; one that needs no other is its own."""

    question: str
    reasoning: str
    sub_questions: tuple[str, ...]

    def __str__(self) -> str:
        numbered = (f"{number}. {data_line(text)}" for number, text in enumerate(self.sub_questions, 1))
        lines = (f"Reasoning: {data_line(self.reasoning)}", "Sub-questions:", *numbered, "<END>")
        return "\n".join((f"Question: {as_data(self.question)}", *lines))


@cache
def default_demonstrations() -> tuple[Demonstration, ...]:
    """The examples that come with Clew: of one, two and three hops, as the paper's."""
    text = files("clew.methods.kg_rag").joinpath("prompts", "examples.json").read_text("utf-8")
    return demonstrations_from(json.loads(text), "examples")


def demonstrations_from(value: object, where: str) -> tuple[Demonstration, ...]:
    """Read examples from JSON; where there are none, Clew's own. InputError says which is wrong."""
    if not isinstance(value, dict):
        raise InputError(f"{where}: not an object. {ADVICE}")
    items = cast("dict[str, object]", value).get(DECOMPOSITIONS)
    if items is None:
        return default_demonstrations()
    if not isinstance(items, list) or len(cast("list[object]", items)) > MOST:
        raise InputError(f"{where}: {DECOMPOSITIONS!r} is not a list of at most {MOST} examples. {ADVICE}")
    return tuple(
        _demonstration(item, f"{where}: {DECOMPOSITIONS}[{at}]")
        for at, item in enumerate(cast("list[object]", items))
    )


def _demonstration(item: object, where: str) -> Demonstration:
    fields: dict[str, Any] = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
    question, reasoning, parts = (fields.get(key) for key in ("question", "reasoning", "sub_questions"))
    if not isinstance(question, str) or not isinstance(reasoning, str):
        raise InputError(f"{where}: 'question' and 'reasoning' are not both strings. {ADVICE}")
    texts = cast("list[object]", parts) if isinstance(parts, list) else []
    if not texts or not all(isinstance(text, str) for text in texts):
        raise InputError(f"{where}: 'sub_questions' is not a list of strings. {ADVICE}")
    return Demonstration(question, reasoning, tuple(cast("Sequence[str]", texts)))

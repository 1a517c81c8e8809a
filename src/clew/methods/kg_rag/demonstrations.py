"""Demonstrations of KG-RAG: decompositions in the prompt (section 3.4.1, Table 2), own ones or a user's."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from clew.errors import InputError
from clew.json_form import read_json
from clew.llm.prompting import as_data, data_line
from clew.llm.shapes import ShapeError, build
from clew.methods.simgrag.examples import DECOMPOSITIONS

MOST_DEMONSTRATIONS = 64
DEMONSTRATIONS_ADVICE = (
    'Write {"decompositions": [{"question": "…", "reasoning": "…", "sub_questions": ["…"]}]}'
)


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

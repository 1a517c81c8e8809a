"""Recorded replies of a strong model (`tests/data/replies`): they are replayed, and a new prompt has none."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from clew.errors import LlmError
from clew.llm.testing import ScriptedModel
from clew.llm.types import Message, Request

FOLDER = Path(__file__).resolve().parents[1] / "data" / "replies"


def key_of(messages: tuple[Message, ...]) -> str:
    """What a prompt is known by: the start of the hash of its turns."""
    turns = json.dumps([[m.role, m.text] for m in messages], ensure_ascii=False)
    return hashlib.sha256(turns.encode()).hexdigest()[:20]


@cache
def recorded(method: str) -> Mapping[str, str]:
    """The replies of a method, by the key of the prompt."""
    with gzip.open(FOLDER / f"{method}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return {record["key"]: record["reply"] for record in map(json.loads, lines)}


@cache
def traces(method: str) -> tuple[dict[str, Any], ...]:
    """What came of each question: set, id, question, gold, and the answers that the method gave."""
    with gzip.open(FOLDER / "questions.jsonl.gz", "rt", encoding="utf-8") as lines:
        return tuple(trace for trace in map(json.loads, lines) if trace["method"] == method)


def replaying(method: str) -> ScriptedModel:
    """A model that says what was recorded; a prompt that was not asked is an error that shows its end."""

    def reply(request: Request) -> str | LlmError:
        said = recorded(method).get(key_of(request.messages))
        last = request.messages[-1].text[-300:]
        return LlmError(f"No reply was recorded to this prompt: …{last}") if said is None else said

    return ScriptedModel(reply)

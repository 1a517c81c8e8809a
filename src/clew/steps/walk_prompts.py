"""The prompts of Walk&Retrieve (Fig.

2), from files; what a user or a graph says in them is delimited data.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from clew.llm.types import Message, Request

_SLOT = re.compile(r"\{\{([A-Z]+)\}\}")
_UNSEEN = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]+")
LONGEST = 1000
"""Characters of one line of data."""


@dataclass(frozen=True, slots=True)
class WalkPrompt:
    """A prompt file: system and user text with slots, and a hash of both."""

    system: str
    user: str
    version: str

    def request(self, temperature: float = 0.0, **values: str) -> Request:
        """Fill the slots, all in one pass, so that no value is read as a slot."""
        user = _SLOT.sub(lambda slot: values[slot[1]], self.user)
        return Request((Message("system", self.system), Message("user", user)), temperature=temperature)


@cache
def walk_prompt(name: str) -> WalkPrompt:
    """Read `prompts/walks_NAME.txt`."""
    text = files("clew.steps").joinpath("prompts", f"walks_{name}.txt").read_text("utf-8")
    system, _, user = text.partition("=== user ===")
    return WalkPrompt(system.strip(), user.strip(), hashlib.sha256(text.encode()).hexdigest()[:12])


def as_line(text: str) -> str:
    """Make a text one line of data that cannot end its block."""
    line = _UNSEEN.sub(" ", text).strip().replace("<", "‹").replace(">", "›")
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"

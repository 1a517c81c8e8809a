"""How names are compared, for every method and data set alike."""

from __future__ import annotations

import re
from functools import lru_cache

from clew.text.normalise import normalise

_YES = frozenset(("yes", "true", "supported", "correct"))
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)%?")
_NO = frozenset(("no", "false", "refuted", "incorrect"))


@lru_cache(maxsize=200_000)
def name_form(name: str) -> str:
    """Give the form in which names are compared: no case, accents, punctuation, underscores.

    Two names are the same if their forms are equal, or if one is given as an alias of the other.
    """
    return normalise(name)


def strict_form(name: str) -> str:
    """Give the form of KG-RAG's exact match: lower case, ends stripped."""
    return name.lower().strip()


def holds_name(text_form: str, name: str) -> bool:
    """Whether a text, in its form, holds a name as whole words."""
    form = name_form(name)
    return bool(form) and f" {form} " in f" {text_form} "


def is_computed(name: str) -> bool:
    """Whether a gold answer is a number or yes / no: computed from the graph, and no name in it."""
    text = name.strip().replace(",", "")
    return name_form(name) in _YES | _NO or bool(_NUMBER.fullmatch(text))


def truth_of(text: str) -> bool | None:
    """Read yes or no, true or false, from the first word of an answer; None if it is neither."""
    words = name_form(text).split()
    if not words:
        return None
    return True if words[0] in _YES else False if words[0] in _NO else None

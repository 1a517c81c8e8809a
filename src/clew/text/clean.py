"""Texts of users without control characters; what is too long to be a question is refused."""

from __future__ import annotations

import re

from clew.errors import UsageError

MOST_WORDS = 300
MOST_CHARACTERS = 10_000
"""A longer question is not a question; the second limit is for text without spaces."""

_TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
"""Sequences that drive a terminal: they are whole, or their letters would be words of a question."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def clean(text: str) -> str:
    """Turn control characters and sequences into spaces, and bytes that were no text into a mark."""
    return _SURROGATE.sub("\ufffd", _CONTROL.sub(" ", _TERMINAL.sub(" ", text))).strip()


def clean_question(question: str, what: str = "question") -> str:
    """Clean a question (or a claim: `what`).

    UsageError if nothing is left or it is longer than a question.
    """
    if not isinstance(question, str):  # pyright: ignore[reportUnnecessaryIsInstance] - of callers without types
        kind = type(question).__name__
        raise UsageError(f"The {what} is {kind}, not a text. Give a str")
    cleaned = clean(question)
    if not cleaned:
        example = "ask" if what == "question" else "verify"
        told = "Who directed Memento?" if what == "question" else "Christopher Nolan directed Memento."
        raise UsageError(f'The {what} is empty. Write one, as in: clew {example} films.tsv "{told}"')
    words = len(cleaned.split())
    if words > MOST_WORDS:
        raise UsageError(f"The {what} has {words:,} words; at most {MOST_WORDS} are read. Give a shorter one")
    if len(cleaned) > MOST_CHARACTERS:
        raise UsageError(
            f"The {what} has {len(cleaned):,} characters; at most {MOST_CHARACTERS:,} are read. Shorten it"
        )
    return cleaned

"""Texts of users without control characters; what is too long to be a question is refused."""

from __future__ import annotations

import re

from clew.errors import UsageError

MOST_QUESTION_WORDS = 300
LONGEST_TEXT = 10_000
"""A longer question is not a question; the second limit is for text without spaces."""

_TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
"""Sequences that drive a terminal: they are whole, or their letters would be words of a question."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def clean(text: str) -> str:
    """Turn control characters and sequences into spaces, and bytes that were no text into a mark."""
    return _SURROGATE.sub("\ufffd", _CONTROL.sub(" ", _TERMINAL.sub(" ", text))).strip()


def clean_question(question: str, what: str = "question") -> str:
    """Clean a question (or a claim: `what`); UsageError if nothing is left or it is longer than one."""
    _refuse_non_text(question, what)
    cleaned = clean(question)
    if not cleaned:
        command = "ask" if what == "question" else "verify"
        example_text = (
            "Who directed Memento?" if what == "question" else "Christopher Nolan directed Memento."
        )
        raise UsageError(f'The {what} is empty. Write one, as in: clew {command} films.tsv "{example_text}"')
    words = len(cleaned.split())
    if words > MOST_QUESTION_WORDS:
        raise UsageError(
            f"The {what} has {words:,} words; at most {MOST_QUESTION_WORDS} are read. Give a shorter one"
        )
    if len(cleaned) > LONGEST_TEXT:
        raise UsageError(
            f"The {what} has {len(cleaned):,} characters; at most {LONGEST_TEXT:,} are read. Shorten it"
        )
    return cleaned


def clean_query(query: str) -> str:
    """Check that a query is a text; UsageError if it is none or is empty."""
    _refuse_non_text(query, "query")
    if not query.strip():
        raise UsageError("The query is empty. Write one, as in: SELECT ?head { ?head ?relation ?tail }")
    return query


def _refuse_non_text(value: object, what: str) -> None:
    if not isinstance(value, str):
        raise UsageError(f"The {what} is {type(value).__name__}, not a text. Give a str")

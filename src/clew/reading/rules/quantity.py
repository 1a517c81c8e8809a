"""How many of something a question asks for: *more than five films*, *at least two*, *three or more*."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from clew.reading.english import COMPARATORS
from clew.reading.rules.english import NUMBERS, SUPERLATIVES, TIMED
from clew.text.words import Word

EXACTLY = frozenset("exactly precisely only just".split())
MOST_NOUNS = 3
"""Words of a noun phrase that is counted (*two former clubs*)."""


@dataclass(frozen=True, slots=True)
class Counting:
    """From `low` to `high` of what the `nouns` name; `starts`: where the other words of it start."""

    low: float
    high: float
    nouns: tuple[Word, ...]
    starts: frozenset[int]

    def holds(self, number: int) -> bool:
        """Whether so many are asked for."""
        return self.low <= number <= self.high


def find_counting(words: Sequence[Word]) -> Counting | None:
    """The first count that a question names, None if there is none."""
    for at in range(len(words)):
        found = _compared(words, at) or _or_more(words, at)
        if found is None:
            continue
        low, high, after = found
        nouns = noun_phrase(words, after)
        if nouns:
            return Counting(low, high, nouns, frozenset(w.start for w in words[at:after]))
    return None


_OPENING = frozenset(phrase.split()[0] for phrase in COMPARATORS) | EXACTLY


def may_compare(norm: str) -> bool:
    """Whether a comparator may begin with a word."""
    return norm in _OPENING or norm.endswith("er")


def comparator(norms: Sequence[str]) -> tuple[int, bool] | None:
    """Before a number: (1 for larger values, -1 for smaller; whether the number itself counts)."""
    found = COMPARATORS.get(" ".join(norms))
    if found is not None or len(norms) != 2 or norms[1] != "than" or not norms[0].endswith("er"):
        return found
    known = SUPERLATIVES.get(norms[0][:-2] + "est")
    return None if known is None else (known[0], False)


def number_of(word: Word) -> int | None:
    """The whole number that a word is."""
    if word.norm == "one":
        return 1
    return NUMBERS.get(word.norm) or (
        int(word.norm) if word.norm.isdecimal() and len(word.norm) < 16 else None
    )


def noun_phrase(words: Sequence[Word], start: int) -> tuple[Word, ...]:
    """The words that stand together from a position on and name what is counted."""
    phrase: list[Word] = []
    for word in words[start : start + MOST_NOUNS]:
        plain = word.text[:1].islower() and word.text.isalpha()
        verb = bool(phrase) and word.norm.endswith(("ed", "ing"))
        if not plain or word.weight < LEAST_WEIGHT or verb:
            break
        phrase.append(word)
    return tuple(phrase)


LEAST_WEIGHT = 0.3
"""A function word is no noun."""


def _compared(words: Sequence[Word], at: int) -> tuple[float, float, int] | None:
    """(low, high, position after it) of *more than five*, *at least two*, *exactly one*."""
    if not may_compare(words[at].norm):
        return None
    norms = [w.norm for w in words[at : at + 3]]
    for length in (3, 2, 1):
        number = number_of(words[at + length]) if at + length < len(words) else None
        if number is None:
            continue
        if length == 1 and norms[0] in EXACTLY:
            return number, number, at + 2
        found = comparator(norms[:length]) if norms[0] not in TIMED else None
        if found is None:
            continue
        sign, counts = found
        bound = number + (0 if counts else sign)
        low, high = (bound, math.inf) if sign > 0 else (1, bound)
        return low, high, at + length + 1
    return None


def _or_more(words: Sequence[Word], at: int) -> tuple[float, float, int] | None:
    """*Three or more*, *two or fewer*."""
    number = number_of(words[at])
    norms = [w.norm for w in words[at + 1 : at + 3]]
    if number is None or norms[:1] != ["or"] or norms[1:] not in (["more"], ["fewer"], ["less"]):
        return None
    return (number, math.inf, at + 3) if norms[1] == "more" else (1, number, at + 3)

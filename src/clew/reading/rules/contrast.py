"""Two things compared in a question: *which is longer, X or Y*, *is X older than Y*, *did X die before Y*."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clew.reading.rules.english import MEASURES, SUPERLATIVES
from clew.reading.rules.question import Question, Word

BEFORE_AFTER = {"before": (-1, "date"), "after": (1, "date"), "sooner": (-1, "date")}
MORE = {"more": 1, "less": -1, "fewer": -1}


@dataclass(frozen=True, slots=True)
class Contrast:
    """What is compared, and where the two things stand.

    `sign`: 1 where the larger value is asked for, -1 the smaller; `attribute`: as in `SUPERLATIVES`;
    `word`: the word that compares, `hinge`: the one between the two things; `choice`: one of the two is
    asked for, else yes or no.
    """

    sign: int
    attribute: str
    word: Word
    hinge: Word
    choice: bool

    @property
    def counts(self) -> bool:
        """Whether it may ask how many there are (*more films*)."""
        return self.word.norm in ("more", "most", "less", "least", "fewer", "fewest")


def find_contrast(question: Question) -> Contrast | None:
    """The comparison that a question asks for, None if it asks for none."""
    words = question.words
    hinge = _choice_hinge(words)
    if hinge is not None:
        for at, word in enumerate(words):
            found = _measure(words, at) or SUPERLATIVES.get(word.norm)
            if found is not None and word is not hinge:
                return Contrast(*found, word, hinge, True)
        return None
    if not question.yes_no:
        return None
    for at, word in enumerate(words):
        found = _measure(words, at)
        than = next((w for w in words[at + 1 :] if w.norm == "than"), None)
        if found is not None and than is not None:
            return Contrast(*found, word, than, False)
        if word.norm in ("before", "after") and (
            question.limits is None or word.start not in question.limits.starts
        ):
            return Contrast(*BEFORE_AFTER[word.norm], word, word, False)
    return None


def _choice_hinge(words: Sequence[Word]) -> Word | None:
    """The last *or*; the *and* of *which of X and Y*, *between X and Y*."""
    last = next((w for w in reversed(words) if w.norm == "or"), None)
    if last is not None:
        return last
    opens = next(
        (
            at
            for at, w in enumerate(words)
            if w.norm == "between" or (w.norm == "of" and at and words[at - 1].norm in ("which", "who"))
        ),
        None,
    )
    return None if opens is None else next((w for w in words[opens:] if w.norm == "and"), None)


def _measure(words: Sequence[Word], at: int) -> tuple[int, str] | None:
    """(sign, attribute) of a comparative: *longer*, *more expensive*, *more films*, *earlier*."""
    norm = words[at].norm
    after = words[at + 1].norm if at + 1 < len(words) else ""
    if norm in MORE:
        return MORE[norm], MEASURES.get(after, "")
    if norm.endswith("er") and norm[:-2] + "est" in SUPERLATIVES:
        return SUPERLATIVES[norm[:-2] + "est"]
    return BEFORE_AFTER.get(norm)

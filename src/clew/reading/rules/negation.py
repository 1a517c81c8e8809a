"""What a question leaves out: *not by X*, *without a genre*, *have no children*, *except X*.

A negated question is cut into two that are not: what is asked for at all (`base`), and what is left out of
it. Both keep the places of their characters, so that mentions stand where they stood.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from clew.reading.rules.english import AUXILIARY
from clew.text.words import Word

Kind = Literal["part", "none", "except"]

CONTRACTED = {
    f"{word}nt": word for word in "is are was were do does did has have had would could should".split()
} | {"wont": "will", "cant": "can"}
"""*Isn't* and the like, as they are normalised."""
NEVER = frozenset({"not", "never"})
LACKING = frozenset({"no", "without"})
EXCEPT = (
    ("except", "for"),
    ("apart", "from"),
    ("aside", "from"),
    ("other", "than"),
    ("except",),
    ("excluding",),
)
EXCEPTING = frozenset(first for first, *_ in EXCEPT)
RELATIVE = frozenset("that who which whose and but".split())
ANY = frozenset("a an any either".split())
POSSESSING = frozenset("have has had with".split())


@dataclass(frozen=True, slots=True)
class Negation:
    """A question cut at what it leaves out.

    `kind`: a `part` of what is asked for is left out, and `positive` asks for it; those that have `none` of
    what `nouns` name are asked for; or the entity named from `start` to `stop` is no answer (`except`).
    """

    kind: Kind
    base: str
    positive: str
    start: int
    stop: int
    word: str
    nouns: tuple[Word, ...] = ()


def is_negating(words: Sequence[Word], at: int) -> bool:
    """Whether the word at a position negates."""
    norm = words[at].norm
    return norm in CONTRACTED or norm in NEVER or norm in LACKING or _except(words, at) > 0


def find_negation(
    text: str,
    words: Sequence[Word],
    names: Collection[tuple[int, int]],
    likely: Collection[tuple[int, int]],
) -> Negation | None:
    """The one negation of a question; None if there is none, or more than one.

    `names`: first character and the one after the last of each name of an entity; `likely`: of those that are
    written like names.
    """

    def inside(word: Word) -> bool:
        return any(start <= word.start < stop for start, stop in likely)

    found = [at for at, w in enumerate(words) if is_negating(words, at) and not inside(w)]
    if len(found) != 1 or found[0] == 0:
        return None
    at = found[0]
    length = _except(words, at)
    if length:
        return _cut_name(text, words, at, length, names)
    start = _clause(words, at)
    end = len(text.rstrip(" ?.!"))
    base = _blank(text, words[start].start, end)
    span = (words[start].start, end, words[at].text)
    several = next((i for i in range(at, len(words)) if words[i].norm in ANY or words[i].norm == "no"), None)
    if several is None and any(begin >= words[at].start for begin, _ in names):
        return Negation("part", base, _positive(text, words, at, start), *span)
    first = at if several is None else several
    nouns = tuple(w for w in words[first + 1 :] if w.weight >= LEAST_WEIGHT and w.norm not in NEVER)
    return Negation("none", base, "", *span, nouns) if nouns else None


LEAST_WEIGHT = 0.3


def _except(words: Sequence[Word], at: int) -> int:
    """How many words from a position on mean *except*."""
    if words[at].norm not in EXCEPTING:
        return 0
    return next((len(e) for e in EXCEPT if tuple(w.norm for w in words[at : at + len(e)]) == e), 0)


def _cut_name(
    text: str, words: Sequence[Word], at: int, length: int, names: Collection[tuple[int, int]]
) -> Negation | None:
    """The question without *except X*."""
    begin = words[at + length - 1].stop
    after = sorted(span for span in names if span[0] >= begin)
    if not after:
        return None
    first = min(start for start, _ in after)
    start, stop = max((span for span in after if span[0] == first), key=lambda span: span[1])
    if text[begin:start].strip() not in ("", "the"):
        return None
    base = _blank(text, words[at].start, stop)
    return Negation("except", base, "", start, stop, words[at].text)


def _clause(words: Sequence[Word], at: int) -> int:
    """The position where the negated clause begins: *that do not …*, *but not …*, *have no …*."""
    norm = words[at].norm
    before = at - 1
    if norm in NEVER or norm == "no":
        while before > 0 and (words[before].norm in AUXILIARY or words[before].norm in POSSESSING):
            before -= 1
    start = before + 1
    if words[before].norm in RELATIVE and before > 0:
        start = before
    return max(start, 1)


def _positive(text: str, words: Sequence[Word], at: int, start: int) -> str:
    """The question without its *not*: *do not treat* is *do treat*, *but not by X* is *and by X*."""
    word = words[at]
    kept = {"without": "with"}.get(word.norm, CONTRACTED.get(word.norm, ""))
    text = text[: word.start] + kept.ljust(word.stop - word.start) + text[word.stop :]
    joint = words[start]
    if joint.norm == "but":
        text = text[: joint.start] + "and" + text[joint.stop :]
    return text


def _blank(text: str, start: int, stop: int) -> str:
    return text[:start] + " " * (stop - start) + text[stop:]

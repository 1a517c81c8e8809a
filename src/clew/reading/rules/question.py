"""What a question says by itself, before any graph is looked at: words, weights and cues.

The words themselves are in `text.english`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from clew.graph.graph import ValueKind
from clew.graph.values import parse_value, year_of
from clew.reading.rules.english import (
    AUXILIARY,
    BEFORE_NUMBER,
    BEFORE_SUPERLATIVE,
    FOREMOST,
    FUNCTION,
    IDIOMS,
    INTERROGATIVE,
    KIN,
    KINDS,
    LIGHT,
    MEASURES,
    NUMBERS,
    SHARE,
    SHORTENED,
    STAND_INS,
    SUPERLATIVES,
    TIMED,
    TITLES,
    WH_CLASSES,
)
from clew.reading.rules.focus import asked_nouns
from clew.reading.rules.quantity import Counting, comparator, find_counting, may_compare, number_of
from clew.text.normalise import Token, tokens
from clew.text.words import Word

__all__ = ["ABOUT", "Limits", "Question", "Wanted", "Word", "read_question", "weigh", "with_year"]


@dataclass(frozen=True, slots=True)
class Limits:
    """A range that a question names: *after 2010*, *in the 1980s*, *over 120 minutes*.

    From `low` to `high`, and whether these count; `starts`: the characters at which its words start; `years`:
    whether it is a range of years.
    """

    low: float
    high: float
    low_counts: bool
    high_counts: bool
    starts: frozenset[int]
    years: bool

    def hold(self, value: float, *, dated: bool = False) -> bool:
        """Whether a value lies in the range; of a date (`dated`, days since 0001-01-01) its year."""
        if dated and self.years:
            value = year_of(value)
        above = value > self.low or (self.low_counts and value == self.low)
        return above and (value < self.high or (self.high_counts and value == self.high))


@dataclass(frozen=True, slots=True)
class Wanted:
    """How many answers a question wants: *the first 3*, *top five*; `starts`: where its words start."""

    number: int
    starts: frozenset[int]


@dataclass(frozen=True, slots=True)
class Question:
    """A question cut into words, with its cues.

    `classes`: what *who*, *where* or *when* asks for; `yes_no`, `count`: whether it asks for these;
    `superlative`: (sign, attribute, word position); `limits`, `wanted`: the range and the number it names;
    `counting`: how many of something the answers have; `asked`: where the nouns that say what is asked for
    start.
    """

    text: str
    words: tuple[Word, ...]
    classes: Mapping[str, float]
    yes_no: bool
    count: bool
    superlative: tuple[int, str, int] | None
    limits: Limits | None = None
    wanted: Wanted | None = None
    counting: Counting | None = None
    asked: frozenset[int] = frozenset()

    def of_all(self) -> Question:
        """The question for all of them: the words that say how many are wanted say nothing more."""
        if self.wanted is None:
            return self
        starts = self.wanted.starts
        words = tuple(
            replace(w, norm="the", weight=0.0, capital=False) if w.start in starts else w for w in self.words
        )
        return replace(self, words=words, superlative=_superlative([w.norm for w in words]))


def with_year(question: Question, taken: Collection[int]) -> Question:
    """The question with *in 2003* as a range, where it names none and the year, not `taken`, is no name."""
    if question.limits is not None:
        return question
    for before, word in pairwise(question.words):
        year = float(word.norm) if len(word.norm) == 4 and word.norm.isdecimal() else 0.0
        if word.start in taken or not 1000 <= year <= 2100 or before.norm not in AT_YEAR:
            continue
        starts = {before.start, word.start} if before.norm in YEARS else {word.start}
        return replace(question, limits=Limits(year, year, True, True, frozenset(starts), True))
    return question


YEARS = frozenset("year years".split())
AT_YEAR = YEARS | frozenset("in during of since from".split())
"""Words before a year in which something is."""


def weigh(norm: str, capital: bool) -> float:
    """How much it costs to leave a word unexplained: 0 for function words, 1 for content words."""
    if norm in SHARE:
        return SHARE[norm]
    if norm in FUNCTION:
        return 0.0
    if norm in LIGHT:
        return LIGHT[norm]
    return 1.3 if capital else 1.0


def read_question(text: str) -> Question:
    """Cut and read a question; never fails."""
    words = _cut(text)
    norms = [w.norm for w in words]
    first = next((n for n in norms if n in INTERROGATIVE), "")
    after = norms[norms.index(first) + 1] if first and norms.index(first) + 1 < len(norms) else ""
    classes = WH_CLASSES.get(first) or WH_CLASSES.get(STAND_INS.get(after, ""), {})
    words = [w if w.norm not in WH_CLASSES or w.norm == first else replace(w, norm="that") for w in words]
    count = any(
        (a == "how" and b in ("many", "much")) or (a == "number" and b == "of") for a, b in pairwise(norms)
    )
    yes_no = bool(norms) and norms[0] in AUXILIARY and norms[1:2] != ["you"]
    superlative, limits, wanted = _superlative(norms), _limits(words), _wanted(words)
    counting, asked = find_counting(words), asked_nouns(words, text)
    return Question(text, tuple(words), classes, yes_no, count, superlative, limits, wanted, counting, asked)


def _habits(words: list[Word]) -> list[Word]:
    """*Did X use to play* asks of what *X used to play* says."""
    if not words or words[0].norm != "did":
        return words
    after = [*(w.norm for w in words[1:]), ""]
    return [
        replace(w, norm="used") if (w.norm, n) == ("use", "to") else w
        for w, n in zip(words, after, strict=True)
    ]


def _cut(text: str) -> list[Word]:
    """The words, with idioms, contractions, measures, kinds and kin put plainly."""
    found = tokens(text)
    telling = _capitals_tell(found)
    words: list[Word] = []
    for at, token in enumerate(found):
        name, norm = _is_name(token, at, telling), token.norm
        words.append(
            Word(token.text, norm, token.start, token.stop, weigh(norm, name), name, SHARE.get(norm, 0.0))
        )
    words = _join_idioms(_spell_out(_lighten_titles(_habits(words))))
    return _name_origin(_name_doing(_name_measures(_name_kinds(_double_grand(words)))))


def _capitals_tell(found: Sequence[Token]) -> bool:
    """Whether capital letters mark names: not where nearly every word has one."""
    content = [t for t in found[1:] if t.norm not in FUNCTION and t.text[:1].isalpha()]
    return len(content) < 4 or not all(t.text[:1].isupper() for t in content)


def _is_name(token: Token, position: int, telling: bool) -> bool:
    """Written like a name: capitalised inside the sentence, or with digits."""
    if token.norm in FUNCTION:
        return False
    return any(c.isdigit() for c in token.text) or (telling and position > 0 and token.text[:1].isupper())


def _superlative(norms: Sequence[str]) -> tuple[int, str, int] | None:
    """(sign, attribute, position) of *the longest …*, *X's latest …*, *the most expensive …*."""
    if norms[-1:] and norms[-1] in LATEST and len(norms) > 2 and not DOING & set(norms):
        # *Which was released first*, *who was hired most recently*, *who earns the least*.
        last = len(norms) - 1
        if norms[-1] in ("most", "least"):
            return (*SUPERLATIVES[norms[-1]], last) if norms[-2] == "the" else None
        if norms[-1] != "recently" or norms[-2] == "most":
            return LATEST[norms[-1]], "date", last
    for at, norm in enumerate(norms):
        if norm not in SUPERLATIVES or (at > 0 and norms[at - 1] not in BEFORE_SUPERLATIVE):
            continue
        sign, attribute = SUPERLATIVES[norm]
        after = norms[at + 1] if at + 1 < len(norms) else ""
        if norm in ("most", "least") and after in SUPERLATIVES:
            return sign * SUPERLATIVES[after][0], SUPERLATIVES[after][1], at + 1
        if norm in ("most", "least") and after in MEASURES:
            return sign, MEASURES[after], at + 1
        if not after and norm in ("last", "first", "least", "most", "top"):
            continue
        return sign, attribute, at
    return None


DOING = frozenset("do does did".split())
"""With one of these, *last* is a verb (*how long does it last*)."""
LATEST = {"first": -1, "earliest": -1, "last": 1, "latest": 1, "recently": 1, "most": 1, "least": -1}
"""Words that are superlatives at the end of a question."""
MOST_WANTED = 1000
"""Larger numbers are years and the like."""


def _wanted(words: Sequence[Word]) -> Wanted | None:
    """*The first 3 films*, *which 5 films*, *the three oldest people*."""
    for before, word, after in zip(words, words[1:], words[2:], strict=False):
        number = NUMBERS.get(word.norm) or (
            int(word.norm) if word.norm.isdecimal() and len(word.norm) < 16 else 0
        )
        plain = after.text.islower() and after.text.isalpha() and after.norm not in FUNCTION
        if not 2 <= number <= MOST_WANTED or not (plain or before.norm in FOREMOST):
            continue
        later = any(w.norm in SUPERLATIVES and w.start > word.start for w in words)
        if before.norm in ("first", "any") or (before.norm == "top" and later):
            return Wanted(number, frozenset({before.start, word.start}))
        if before.norm in FOREMOST or before.norm in BEFORE_NUMBER:
            return Wanted(number, frozenset({word.start}))
    return None


def _number(text: str) -> float | None:
    kind, value = parse_value(text)
    return value if kind == ValueKind.NUMBER else None


def _limits(words: Sequence[Word]) -> Limits | None:
    """The range named by a comparator and a number, by *between … and …*, or by a decade."""
    for at in range(len(words)):
        found = _decade(words[at]) or _between(words[at : at + 4]) or _compared(words, at)
        if found is not None:
            return found
    return None


def _decade(word: Word) -> Limits | None:
    """*The 1980s*."""
    if len(word.norm) != 5 or not word.norm[:4].isdigit() or not word.norm.endswith("0s"):
        return None
    decade = float(word.norm[:4])
    return Limits(decade, decade + 9, True, True, frozenset({word.start}), True)


def _between(span: Sequence[Word]) -> Limits | None:
    """*Between 1990 and 2000*: four words."""
    if len(span) < 4 or (span[0].norm, span[2].norm) != ("between", "and"):
        return None
    low, high = _number(span[1].text), _number(span[3].text)
    if low is None or high is None:
        return None
    starts = frozenset(w.start for w in span)
    return Limits(low, high, True, True, starts, low >= 1000 and high <= 2100)


def _compared(words: Sequence[Word], at: int) -> Limits | None:
    """A comparator of up to three words from position `at`, then a number."""
    if not may_compare(words[at].norm):
        return None
    norms = [w.norm for w in words]
    for length in (3, 2, 1):
        found = comparator(norms[at : at + length])
        following = words[at + length : at + length + 1]
        number = _number(following[0].text) if found and following else None
        if found and following and number is None:
            number = number_of(following[0])
        if found is None or number is None or (norms[at] == "from" and not _goes_on(norms, at + 2)):
            continue
        starts = frozenset(w.start for w in words[at : at + length + 1])
        low, high = (number, math.inf) if found[0] > 0 else (-math.inf, number)
        timed = norms[at] in TIMED and 1000 <= number <= 2100
        return Limits(low, high, found[1], found[1], starts, timed)
    return None


def _goes_on(norms: Sequence[str], at: int) -> bool:
    """*From 2010 on*, *from 2010 onwards*: a plain *from 2010* is no range."""
    return norms[at : at + 1] == ["on"] or norms[at : at + 1] == ["onwards"]


def _double_grand(words: list[Word]) -> list[Word]:
    """*grandson* is the son of a child: the kinship twice."""
    doubled: list[Word] = []
    for word in words:
        kin = word.norm.removeprefix("grand")
        doubled.append(word if kin == word.norm or kin not in KIN else replace(word, norm=kin))
        if doubled[-1] is not word:
            doubled.append(replace(word, norm=kin, doubled=True))
    return doubled


def _join_idioms(words: list[Word]) -> list[Word]:
    """Replace every idiom by one word over its span; the longest first."""
    joined: list[Word] = []
    at = 0
    while at < len(words):
        length = next((n for n in (4, 3, 2) if _is_idiom(words[at : at + n], n)), 1)
        joined.append(words[at] if length == 1 else _one_word(words[at : at + length]))
        at += length
    return joined


def _is_idiom(span: Sequence[Word], length: int) -> bool:
    phrase = " ".join(w.norm for w in span)
    return len(span) == length and phrase in IDIOMS and not any(w.capital for w in span[1:])


def _one_word(span: Sequence[Word]) -> Word:
    norm, text = IDIOMS[" ".join(w.norm for w in span)], " ".join(w.text for w in span)
    return Word(text, norm, span[0].start, span[-1].stop, weigh(norm, False), False, SHARE.get(norm, 0.0))


def _lighten_titles(words: list[Word]) -> list[Word]:
    """*President Lincoln*, *Lake Superior*: before a name, a title need not be a part of it."""
    return [
        replace(word, weight=LIGHT["kind"], capital=False)
        if word.norm in TITLES and word.capital and after is not None and after.capital
        else word
        for word, after in zip(words, [*words[1:], None], strict=False)
    ]


def _name_kinds(words: list[Word]) -> list[Word]:
    """*What sort of film*: the kind is what is asked for, so it counts as a content word."""
    return [
        replace(word, norm="kind", weight=1.0)
        if word.norm in KINDS and at > 0 and words[at - 1].norm in ("which", "what")
        else word
        for at, word in enumerate(words)
    ]


ABOUT = "topic|subject"
"""What *about* asks for."""


def _spell_out(words: list[Word]) -> list[Word]:
    """*What's* is *what is*; *about* asks for a topic."""
    return [
        replace(word, norm="is")
        if word.norm == "'s" and at > 0 and words[at - 1].norm in SHORTENED
        else replace(word, norm=ABOUT, weight=0.5)
        if word.norm == "about"
        else word
        for at, word in enumerate(words)
    ]


def _name_doing(words: list[Word]) -> list[Word]:
    """*What does she do*: her profession."""
    norms = [w.norm for w in words]
    if norms[:1] != ["what"] or norms[1:2] not in (["does"], ["do"], ["did"]) or norms[2:][-1:] != ["do"]:
        return words
    return [*words[:-1], replace(words[-1], norm="profession", weight=1.0)]


def _name_origin(words: list[Word]) -> list[Word]:
    """*Where is she from*: her origin."""
    if not words or words[0].norm != "where" or words[-1].norm != "from":
        return words
    return [*words[:-1], replace(words[-1], norm=ORIGIN, weight=1.0)]


ORIGIN = "origin|nationality|birthplace|country"


def _name_measures(words: list[Word]) -> list[Word]:
    """*How long*: the attribute that the adjective measures is what is asked for."""
    return [
        replace(word, norm=MEASURES[word.norm], weight=1.0)
        if word.norm in MEASURES and at > 0 and words[at - 1].norm == "how"
        else word
        for at, word in enumerate(words)
    ]

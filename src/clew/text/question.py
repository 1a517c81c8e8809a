"""What a question says by itself, before any graph is looked at: words, weights and cues.

Everything here is general English; nothing is of one graph or data set.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from clew.graph.graph import ValueKind
from clew.graph.literals import parse_value
from clew.text.normalise import Token, tokens

FUNCTION = frozenset(
    """a an the this that these those of in on at by for from to with within into onto over under through
    and or nor but if then than as so is are was were be been being am do does did done has have had having
    can could will would shall should may might must it its he his him she her they them their theirs i me my
    we us our you your who whom whose which what when where why how there here 's s t not no also too very
    just any some each every all both either neither such only ever yet still please s'
    id im ive ill whats whos wheres whens hows thats lets dont doesnt didnt isnt arent wasnt werent cant wont""".split()
)
"""Words that say nothing of what is asked for; they are free."""

LIGHT: Mapping[str, float] = {
    **dict.fromkeys(
        """few couple apply applies applicable name names named tell give show list find get provide identify know want like let see look say
        mention called known listed considered found many much more most several various different certain
        other another others same similar common share shares shared sharing together likewise else besides
        available possible main primary principal respective particular overall entire whole total number
        one ones two three first second kind kinds sort sorts type types thing things way ways question answer
        exactly actually really currently people person someone somebody anyone anybody everyone everything anything member members whoever fall falls go goes come
        comes came went gone got get gets make makes made take takes took use uses used involve involved involving concern related""".split(),
        0.3,
    ),
    **dict.fromkeys(
        """appear appears appeared appearing occur occurs occurred happen happens happened exist exists existed belong
        belongs include includes included contain contains contained""".split(),
        0.5,
    ),
}
"""Words that say little; left unexplained they cost less than a content word."""

SHARE: Mapping[str, float] = {
    **dict.fromkeys("share shares shared sharing same common co fellow together alongside".split(), 1.0),
    "collaborated": 0.3,
    **dict.fromkeys("also other others another both else besides too likewise".split(), 0.6),
}
"""Words that send a path back through the relation it came by, and how strongly."""

AUXILIARY = frozenset("is are was were do does did has have had can could will would am be".split())

WH_CLASSES: Mapping[str, Mapping[str, float]] = {
    "who": {"person": 1.0, "group": 0.5},
    "whom": {"person": 1.0, "group": 0.5},
    "whose": {"person": 1.0, "group": 0.5},
    "where": {"location": 1.0, "artifact": 0.6, "group": 0.3},
    "when": {"time": 1.0},
}
"""What a question word asks for: noun classes and how well they fit."""

COMPARATORS: Mapping[str, tuple[int, bool]] = {
    "after": (1, False),
    "since": (1, True),
    "from": (1, True),
    "over": (1, False),
    "above": (1, False),
    "exceeding": (1, False),
    "before": (-1, False),
    "until": (-1, True),
    "under": (-1, False),
    "below": (-1, False),
    "more than": (1, False),
    "greater than": (1, False),
    "longer than": (1, False),
    "later than": (1, False),
    "larger than": (1, False),
    "higher than": (1, False),
    "older than": (-1, False),
    "newer than": (1, False),
    "less than": (-1, False),
    "fewer than": (-1, False),
    "shorter than": (-1, False),
    "earlier than": (-1, False),
    "smaller than": (-1, False),
    "lower than": (-1, False),
    "younger than": (1, False),
    "at least": (1, True),
    "at most": (-1, True),
    "no more than": (-1, True),
    "no less than": (1, True),
}
"""Words before a number: (1 for larger values, -1 for smaller; whether the number itself counts)."""

INTERROGATIVE = frozenset((*WH_CLASSES, "which", "what", "how"))
"""The first of these asks; a later *who* only relates (*films by a director who …*)."""

SUPERLATIVES: Mapping[str, tuple[int, str]] = {
    # word: (+1 for the largest value, -1 for the smallest; the attribute that it measures, "" for any)
    **dict.fromkeys("most highest largest biggest greatest maximum top max".split(), (1, "")),
    **dict.fromkeys("least lowest smallest minimum fewest min tiniest".split(), (-1, "")),
    **dict.fromkeys("latest newest last recent".split(), (1, "date")),
    **dict.fromkeys("earliest oldest first".split(), (-1, "date")),
    "longest": (1, "length|duration"),
    "shortest": (-1, "length|duration|height"),
    "tallest": (1, "height"),
    "heaviest": (1, "weight"),
    "lightest": (-1, "weight"),
    "youngest": (1, "birth"),
    "cheapest": (-1, "price"),
    "fastest": (1, "speed"),
    "slowest": (-1, "speed"),
    "richest": (1, "wealth"),
    "deepest": (1, "depth"),
    "hottest": (1, "temperature"),
    "coldest": (-1, "temperature"),
    "closest": (-1, "distance"),
    "nearest": (-1, "distance"),
    "farthest": (1, "distance"),
    "furthest": (1, "distance"),
    "widest": (1, "width"),
}

MEASURES: Mapping[str, str] = {
    "recent": "date",
    "old": "age",
    "tall": "height",
    "high": "height",
    "long": "length|duration",
    "big": "size",
    "large": "size",
    "heavy": "weight",
    "far": "distance",
    "deep": "depth",
    "fast": "speed",
    "wide": "width",
    "expensive": "price",
    "hot": "temperature",
    "cold": "temperature",
    "rich": "wealth",
    "populous": "population",
}
"""*how old*: the attribute that an adjective measures (WordNet's attribute pointer, the common ones)."""


IDIOMS: Mapping[str, str] = {
    "other half": "spouse",
    "better half": "spouse",
    "significant other": "spouse",
    "life partner": "spouse",
    "line of work": "profession",
    "line of business": "profession",
    "walk of life": "profession",
    "do for a living": "profession",
    "does for a living": "profession",
    "did for a living": "profession",
    "work as": "profession",
    "works as": "profession",
    "worked as": "profession",
    "work for": "employer",
    "works for": "employer",
    "worked for": "employer",
    "working for": "employer",
    "come from": "origin",
    "comes from": "origin",
    "came from": "origin",
    "based in": "location",
    "situated in": "location",
    "passed away": "died",
    "pass away": "die",
    "take place": "occur",
    "takes place": "occurs",
    "took place": "occurred",
    "made up of": "composed",
    "consist of": "composed",
    "consists of": "composed",
    "part of": "member",
    "belong to": "member",
    "belongs to": "member",
    "brought up": "raised",
    "grow up": "raised",
    "grew up": "raised",
    "set up": "founded",
    "took over": "acquired",
    "come out": "released",
    "comes out": "released",
    "came out": "released",
    "coming out": "released",
    "work with": "collaborated",
    "works with": "collaborated",
    "worked with": "collaborated",
    "working with": "collaborated",
    "collaborated with": "collaborated",
    "came up with": "created",
    "come up with": "created",
    "made with": "with",
    "make with": "with",
    "in charge of": "head",
    "go by": "name",
}
"""Phrases that mean one word (general English)."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the question: its characters [start, stop), normal form, weight and whether capitalised."""

    text: str
    norm: str
    start: int
    stop: int
    weight: float
    capital: bool
    share: float = 0.0
    doubled: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """A range that a question names (*after 2010*, *in the 1980s*, *over 120 minutes*): from `low` to `high`, whether
    these count, the characters at which its words start, and whether it is one of years.
    """

    low: float
    high: float
    low_counts: bool
    high_counts: bool
    starts: frozenset[int]
    years: bool

    def hold(self, value: float) -> bool:
        """Whether a value lies in the range."""
        above = value > self.low or (self.low_counts and value == self.low)
        return above and (value < self.high or (self.high_counts and value == self.high))


@dataclass(frozen=True, slots=True)
class Question:
    """A question cut into words, with its cues.

    `classes`: what *who*, *where* or *when* asks for; `yes_no`, `count`; `superlative`: (sign, attribute, word position).
    """

    text: str
    words: tuple[Word, ...]
    classes: Mapping[str, float]
    yes_no: bool
    count: bool
    superlative: tuple[int, str, int] | None
    limits: Limits | None = None


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
    found = tokens(text)
    telling = _capitals_tell(found)
    words = [
        Word(
            token.text, token.norm, token.start, token.stop, weigh(token.norm, name), name, _share(token.norm)
        )
        for token, name in ((t, _is_name(t, i, telling)) for i, t in enumerate(found))
    ]
    words = _spell_out(words)
    words = _name_measures(_name_kinds(_double_grand(_join_idioms(words))))
    norms = [w.norm for w in words]
    first = next((n for n in norms if n in INTERROGATIVE), "")
    after = norms[norms.index(first) + 1] if first and norms.index(first) + 1 < len(norms) else ""
    classes = WH_CLASSES.get(first) or WH_CLASSES.get(STAND_INS.get(after, ""), {})
    words = [w if w.norm not in WH_CLASSES or w.norm == first else replace(w, norm="that") for w in words]
    count = any(
        (a == "how" and b in ("many", "much")) or (a == "number" and b == "of")
        for a, b in zip(norms, norms[1:], strict=False)
    )
    superlative = _superlative(norms)
    yes_no = bool(norms) and norms[0] in AUXILIARY and norms[1:2] != ["you"]
    return Question(text, tuple(words), classes, yes_no, count, superlative, _limits(words))


def _capitals_tell(found: Sequence[Token]) -> bool:
    """Whether capital letters mark names: not where nearly every word has one."""
    content = [t for t in found[1:] if t.norm not in FUNCTION and t.text[:1].isalpha()]
    return len(content) < 4 or not all(t.text[:1].isupper() for t in content)


def _is_name(token: Token, position: int, telling: bool) -> bool:
    """Written like a name: capitalised inside the sentence, or with digits."""
    if token.norm in FUNCTION:
        return False
    return any(c.isdigit() for c in token.text) or (telling and position > 0 and token.text[:1].isupper())


BEFORE_SUPERLATIVE = frozenset("the 's its his her their whose which what most least very".split())


def _superlative(norms: Sequence[str]) -> tuple[int, str, int] | None:
    """(sign, attribute, position) of *the longest …*, *X's latest …*, *the most expensive …*."""
    for at, norm in enumerate(norms):
        if norm not in SUPERLATIVES or at == 0 or norms[at - 1] not in BEFORE_SUPERLATIVE:
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


def _number(text: str) -> float | None:
    kind, value = parse_value(text)
    return value if kind == ValueKind.NUMBER else None


def _limits(words: Sequence[Word]) -> Limits | None:
    """The range named by a comparator and a number, by *between … and …*, or by a decade."""
    norms = [w.norm for w in words]
    for at, word in enumerate(words):
        if len(word.norm) == 5 and word.norm[:4].isdigit() and word.norm.endswith("0s"):
            decade = float(word.norm[:4])
            return Limits(decade, decade + 9, True, True, frozenset({word.start}), True)
        if word.norm == "between" and norms[at + 2 : at + 3] == ["and"] and at + 3 < len(words):
            low, high = _number(words[at + 1].text), _number(words[at + 3].text)
            if low is not None and high is not None:
                starts = frozenset(w.start for w in words[at : at + 4])
                return Limits(low, high, True, True, starts, low >= 1000 and high <= 2100)
        for length in (3, 2, 1):
            found = COMPARATORS.get(" ".join(norms[at : at + length]))
            following = words[at + length : at + length + 1]
            number = _number(following[0].text) if found and following else None
            if found is None or number is None or (norms[at] == "from" and not _goes_on(norms, at + 2)):
                continue
            starts = frozenset(w.start for w in words[at : at + length + 1])
            low, high = (number, math.inf) if found[0] > 0 else (-math.inf, number)
            timed = norms[at] in TIMED and 1000 <= number <= 2100
            return Limits(low, high, found[1], found[1], starts, timed)
    return None


TIMED = frozenset("after before since until from later earlier newer older younger".split())


def _goes_on(norms: Sequence[str], at: int) -> bool:
    """*From 2010 on*, *from 2010 onwards*: a plain *from 2010* is no range."""
    return norms[at : at + 1] == ["on"] or norms[at : at + 1] == ["onwards"]


def _share(norm: str) -> float:
    """How strongly a word asks for a way back; *co-star* comes as *co* and *star*."""
    return SHARE.get(norm, 0.0)


KIN = frozenset(
    "father mother parent parents dad mom mum child children kid kids son sons daughter daughters heir".split()
)


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
    """Replace every idiom by one word over its span."""
    joined: list[Word] = []
    at = 0
    while at < len(words):
        for length in (4, 3, 2):
            span = words[at : at + length]
            meaning = IDIOMS.get(" ".join(w.norm for w in span)) if len(span) == length else None
            if meaning is not None and not any(w.capital for w in span[1:]):
                text = " ".join(w.text for w in span)
                joined.append(
                    Word(
                        text,
                        meaning,
                        span[0].start,
                        span[-1].stop,
                        weigh(meaning, False),
                        False,
                        _share(meaning),
                    )
                )
                at += length
                break
        else:
            joined.append(words[at])
            at += 1
    return joined


KINDS = frozenset("kind kinds sort sorts type types".split())


def _name_kinds(words: list[Word]) -> list[Word]:
    """*What sort of film*: the kind is what is asked for, so it counts as a content word."""
    return [
        replace(word, norm="kind", weight=1.0)
        if word.norm in KINDS and at > 0 and words[at - 1].norm in ("which", "what")
        else word
        for at, word in enumerate(words)
    ]


def _spell_out(words: list[Word]) -> list[Word]:
    """*What's* is *what is*; *about* asks for a topic."""
    return [
        replace(word, norm="is")
        if word.norm == "'s" and at > 0 and words[at - 1].norm in SHORTENED
        else replace(word, norm="topic|subject", weight=0.5)
        if word.norm == "about"
        else word
        for at, word in enumerate(words)
    ]


STAND_INS: Mapping[str, str] = {
    **dict.fromkeys("person people individual individuals someone".split(), "who"),
    **dict.fromkeys("place places location".split(), "where"),
    **dict.fromkeys("year years date dates day".split(), "when"),
}
"""*Which person* asks like *who*."""

SHORTENED = INTERROGATIVE | frozenset("that there it he she here this".split())


def _name_measures(words: list[Word]) -> list[Word]:
    """*How long*: the attribute that the adjective measures is what is asked for."""
    return [
        replace(word, norm=MEASURES[word.norm], weight=1.0)
        if word.norm in MEASURES and at > 0 and words[at - 1].norm == "how"
        else word
        for at, word in enumerate(words)
    ]

"""What a question says by itself, before any graph is looked at: words, weights and cues.

Everything here is general English; nothing is of one graph or data set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from clew.text.normalise import tokens

FUNCTION = frozenset(
    """a an the this that these those of in on at by for from to with within into onto over under through
    and or nor but if then than as so is are was were be been being am do does did done has have had having
    can could will would shall should may might must it its he his him she her they them their theirs i me my
    we us our you your who whom whose which what when where why how there here 's s t not no also too very
    just any some each every all both either neither such only ever yet still please s'""".split()
)
"""Words that say nothing of what is asked for; they are free."""

LIGHT: Mapping[str, float] = {
    **dict.fromkeys(
        """name names named tell give show list find get provide identify know want like let see look say
        mention called known listed considered found many much more most several various different certain
        other another others same similar common share shares shared sharing together likewise else besides
        available possible main primary principal respective particular overall entire whole total number
        one ones two three first second kind kinds sort sorts type types thing things way ways question answer
        exactly actually really currently people person someone somebody anyone anybody fall falls go goes come
        comes make makes made take takes took use uses used involve involved involving concern related""".split(),
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
    **dict.fromkeys("also other others another both else besides too likewise".split(), 0.6),
}
"""Words that send a path back through the relation it came by, and how strongly."""

AUXILIARY = frozenset("is are was were do does did has have had can could will would am be".split())

WH_CLASSES: Mapping[str, Mapping[str, float]] = {
    "who": {"person": 1.0, "group": 0.5},
    "whom": {"person": 1.0, "group": 0.5},
    "whose": {"person": 1.0, "group": 0.5},
    "where": {"location": 1.0, "group": 0.3},
    "when": {"time": 1.0},
}
"""What a question word asks for: noun classes and how well they fit."""

SUPERLATIVES: Mapping[str, tuple[int, str]] = {
    # word: (+1 for the largest value, -1 for the smallest; the attribute that it measures, "" for any)
    **dict.fromkeys("most highest largest biggest greatest maximum top max".split(), (1, "")),
    **dict.fromkeys("least lowest smallest minimum fewest min tiniest".split(), (-1, "")),
    **dict.fromkeys("latest newest last recent".split(), (1, "date")),
    **dict.fromkeys("earliest oldest first".split(), (-1, "date")),
    "longest": (1, "length"), "shortest": (-1, "length"), "tallest": (1, "height"), "heaviest": (1, "weight"),
    "lightest": (-1, "weight"), "youngest": (1, "birth"), "cheapest": (-1, "price"), "fastest": (1, "speed"),
    "slowest": (-1, "speed"), "richest": (1, "wealth"), "deepest": (1, "depth"), "hottest": (1, "temperature"),
    "coldest": (-1, "temperature"), "closest": (-1, "distance"), "nearest": (-1, "distance"),
    "farthest": (1, "distance"), "furthest": (1, "distance"), "widest": (1, "width"),
}

MEASURES: Mapping[str, str] = {
    "old": "age", "tall": "height", "high": "height", "long": "length", "big": "size", "large": "size",
    "heavy": "weight", "far": "distance", "deep": "depth", "fast": "speed", "wide": "width", "expensive": "price",
    "hot": "temperature", "cold": "temperature", "rich": "wealth", "populous": "population",
}
"""*how old*: the attribute that an adjective measures (WordNet's attribute pointer, the common ones)."""


IDIOMS: Mapping[str, str] = {
    "other half": "spouse", "better half": "spouse", "significant other": "spouse", "life partner": "spouse",
    "line of work": "profession", "line of business": "profession", "walk of life": "profession",
    "do for a living": "profession", "does for a living": "profession", "did for a living": "profession",
    "work as": "profession", "works as": "profession", "worked as": "profession", "work for": "employer",
    "works for": "employer", "worked for": "employer", "working for": "employer",
    "come from": "origin", "comes from": "origin", "came from": "origin", "based in": "location",
    "situated in": "location", "passed away": "died", "pass away": "die", "take place": "occur",
    "takes place": "occurs", "took place": "occurred", "made up of": "composed", "consist of": "composed",
    "consists of": "composed", "part of": "member", "belong to": "member", "belongs to": "member",
    "brought up": "raised", "grow up": "raised", "grew up": "raised", "set up": "founded", "took over": "acquired",
    "in charge of": "head", "go by": "name",
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
    words = [
        Word(token.text, token.norm, token.start, token.stop, weigh(token.norm, capital), capital, _share(token.norm))
        for token, capital in ((t, i > 0 and t.text[:1].isupper()) for i, t in enumerate(tokens(text)))
    ]
    words = _name_kinds(_double_grand(_join_idioms(words)))
    norms = [w.norm for w in words]
    classes = next((WH_CLASSES[n] for n in norms if n in WH_CLASSES), {})
    count = any(
        a == "how" and b in ("many", "much") or a == "number" and b == "of"
        for a, b in zip(norms, norms[1:], strict=False)
    )
    superlative = next(
        ((*SUPERLATIVES[n], i) for i, n in enumerate(norms) if n in SUPERLATIVES), None
    )
    yes_no = bool(norms) and norms[0] in AUXILIARY and norms[1:2] != ["you"]
    return Question(text, tuple(words), classes, yes_no, count, superlative)


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
            if meaning is not None:
                text = " ".join(w.text for w in span)
                joined.append(Word(text, meaning, span[0].start, span[-1].stop, 1.0, False))
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

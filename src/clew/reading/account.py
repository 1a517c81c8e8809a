"""The account of words: what each word of a text is in the query graph that it is read as.

A word is a name, a relation, a type, a value or an operator of the query graph, or frame (function words,
talk); what is left is unplaced, and a reading with an unplaced word is not answered as if it were the text.
Names, numbers and words that restrict (*not*, *only*, *last year*, *each*, *at least*) must be carried by a
part: that is code. Which content words labels carry is learned (`placing.py`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property, reduce
from itertools import pairwise, takewhile

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import Float32
from clew.graph.steps import Step, head_end, is_backward, opposite, relation_of, tail_end
from clew.graph.values import UNITS
from clew.query.execute import Executor, OverBudget, difference, union
from clew.query.tree import (
    Anchor,
    Both,
    Compared,
    Counted,
    Either,
    Extreme,
    OfType,
    Part,
    Qualified,
    Query,
    Related,
    Value,
    Walk,
    Without,
    steps_of,
)
from clew.query.values import ORDINALS
from clew.query.vocabulary import DATE, LEAF, MOST_READ, NUMBER, THING, UNEXPLAINED, Vocabulary
from clew.query.words import NEARLY_ALL
from clew.reading import english
from clew.reading.asked_for import (
    answers_with_time,
    asked_type,
    asks_when,
    final_type,
    living_asked_for,
    names_a_thing,
    reached_by,
)
from clew.reading.comparisons import is_comparative
from clew.reading.denial import denial_spans, denials, denied_words, has_denying_word
from clew.reading.edge_words import ENDS, EdgeKeys
from clew.reading.english import ANY_PEOPLE, ANYONE, BEING, DOING, FUNCTION, GOING, HAVING, LIGHT
from clew.reading.kinship import kin_terms, naming, recorded_sex, sex_of, sex_said
from clew.reading.likeness import ONE_CONCEPT, SPELT, Likeness
from clew.reading.mentions import EXACT, PARTIAL, PLURAL, TYPO, WORDS, Mention, says_which, spans_of
from clew.reading.name_runs import HONORIFICS
from clew.reading.placing import WordRows, shipped_placing, word_rows
from clew.reading.pronouns import unresolved_pronouns
from clew.reading.ranker import GraphRanker
from clew.reading.signs import MEASURED_IN
from clew.reading.thesaurus import shipped_thesaurus
from clew.text.inflection import is_participle, singular
from clew.text.lexicon import ADJECTIVE, ADVERB, LEAST_KIN, NOUN, VERB, Lexicon
from clew.text.normalise import POSSESSIVE, Token, normalise, tokens, words_of
from clew.types import Place, PlacedWord

SURE_OF_WORDS = 0.8
"""From this likelihood on a reading carries words that a label of it is likely to say, where they ask for
more than that: *how strong* of the alcohol. Of 880 questions over graphs that nothing was fitted on 4 were as
sure with such words open, and of 1,180 that the trees were fitted on 7; all were read right."""
SAYS_IT = 0.6
"""From this likeness on a word says a label, though a thing is called so too: *movies* of a type `film`."""
LEAST_OF_NAME = 0.97
"""How likely a word must be carried that is the name of a thing of which a query does not speak."""
LEAST_OF_OTHER = 0.85
"""And one that says what is asked for, of which the thesaurus has another concept than of any label of the
query."""
LEAST_OF_GOOD = 0.5
"""And *best* and its like, which do not say by what."""
_GOOD = frozenset(("best", "worst", "better", "worse"))
_PLACES = ("location", "artifact", "group", "object")
"""What is somewhere: towns, buildings, departments, bays."""
LEAST_PLACE = 0.1
ONE_SLIP, TWO_SLIPS = 4, 8
"""Letters of a word in which one letter, and in which two, may be wrong."""
_YES_OF = re.compile(r"\W*(is|are|was|were|does|do|did|has|have|had|can)\s+", re.I)
_YES_OF_THE = re.compile(r"\W*(is|are|was|were|does|did|has|had)\s+(?:the|an?|all|both|every|each)\b", re.I)
_BEFORE_NAME = re.compile(r"\b(?:before|after)(?=\s+[\"'“]?[A-Z])")
_QUOTED = re.compile(r"[\"“«„]([^\"“”«»„]+)[\"”»“]")
_NAMING, _QUOTES = re.compile(r"(?: called| named|:)? ?[\"'“‘]?", re.I), "\"'”’ "
_OPENING = re.compile(
    r"\W*(?:(?:and|so|but)\s+)?(?:(?P<when>when\b(?!\s*,)|(?:at|in|on)\s+(?:what|which)\s+(?:time(?:\s+of\s+(?:the\s+)?day)?|year|date|day|month)\b)"
    r"|(?P<where>where)\b"
    r"|(?P<how>how\s+(?:old|wide|tall|high|deep|long|heavy|far|big|large|fast|thick)\b))(?=\s+(?:\w+\s+)?"
    rf"(?:{'|'.join(BEING | DOING | HAVING)})\b)",
    re.I,
)
"""Words with which a question opens that say of what kind its answer is."""
_WHO = re.compile(r"\W*(?:and\s+|so\s+)?(who)\b", re.I)
_WHAT_OR_WHICH = re.compile(
    r"\W*(?:and\s+|so\s+)?(?:(what)(?:['’]s|\s+(?:is|are|was|were|did|does|do|has|have|had))\b"
    r"|which\s+(?:(?:of|our|the|all)\s+)*(?!(?:of|is|are|was|were|did|does|do|has|have|had)\b)([a-z]+)\b)",
    re.I,
)
_WHOSE = re.compile(r"\W*(whose)\s+(\w+)\b", re.I)
_ASKED_THING = re.compile(r"\W*(?:and\s+)?(?:which|what)\s+(\w+)\s+(\w+)\b", re.I)
_TIME_OF_DAY = re.compile(
    r"\b(?:what|which)\s+time\b(?!\s+of\s+(?:the\s+)?year\b)|\btime\s+of\s+(?:the\s+)?day\b|\b(?:what|which)\s+hours?\b|\bo['’]clock\b",
    re.I,
)
_WHEN_DID = re.compile(
    r"\W*(?:and\s+|so\s+)?when\s+(?:did|does|do|will)\s+(?:(?:we|they|you|he|she|it|i|one)\s+(?=(?P<verb>\w))|(?:the\s+)?)",
    re.I,
)
_PARTICLE = re.compile(r"\s+(?:in|on|up|over|off|out|down|away|back)\b", re.I)
_HOW_OLD, _WHEN = re.compile(r"\bhow\s+(old)\b", re.I), re.compile(r"\b(?:years?|when|dates?)\b", re.I)
_WHAT_YEAR = re.compile(r"\b(?:what|which)\s+(?:year|date)\b", re.I)
_NTH = rf"(?:{'|'.join(ORDINALS[1:10])}|\d*(?:2nd|3rd|\dth))"
_RANKS = re.compile(
    r"\b(?:\w{3,}est|most(?:\s+recently)?|least|fewest|best|worst|(?<!to the )top|bottom|max(?:imum)?"
    r"|min(?:imum)?|latest|first(?!\s+place\W*$)|last)\b",
    re.I,
)
_MOST_OTHER = re.compile(r"\b(?:the\s+)?(?:most|fewest)\s+(other)\s+\w+s\b", re.I)
_RANKED = re.compile(r"\b(?:\w{2,}est|most|least)\s+$", re.I)
_EXTREMES = frozenset("maximum max minimum min peak highest lowest deepest longest largest smallest".split())
"""What the largest or smallest is called where it is recorded."""
_LASTS = re.compile(
    r"(?<!\bthe )(?<!\bat )\blast(?=\W*$|\s+(?:for|until|more|less|longer|over|under|at)\b)", re.I
)
"""*Last* as a verb: *how long does it last*."""
_NUMBERS = frozenset(("number", "numbers"))
_PERIOD = (
    "(?:years?|months?|weeks?|quarters?|decades?|centur(?:y|ies)|seasons?|days?|hours?|summer|winter|spring"
    "|autumn)"
)
_WHY = re.compile(r"\W*(?:and\s+|so\s+)?(why|how\s+come|for\s+(?:what|which)\s+reasons?)\b", re.I)
_REASONS = frozenset(
    "reason reasons cause causes caused purpose motive grounds explanation because why".split()
)
_AND_WHEN = re.compile(r"[,;–—-]\s*(when)\s+(?:did|does|do|was|were|is|are|will)\b", re.I)
_WHICH_DAY = re.compile(r"\b(?:what|which)\s+(?:\w+\s+)?(day)\b", re.I)
_HOW_MANY_PERIODS = re.compile(rf"\bhow\s+many\s+(?:\w+\s+)?{_PERIOD}\b(?!\s+of\b)", re.I)
_HOW_MANY_PEOPLE = re.compile(rf"\bhow\s+many\s+({'|'.join(sorted(ANY_PEOPLE))})\b", re.I)
_YEAR, _IN = re.compile(r"[12]\d{3}"), re.compile(r"\b(?:in|during|since|before|after)\s+$", re.I)
_PLAIN_DATES = frozenset("date day time year when month on at in of".split())
_TAKES_TO = re.compile(r"\b(?:takes?|took|taken|taking)\b[^,;?]*\bto\s+$", re.I)
_STILL = re.compile(r"\b(?:still|no\s+longer)\s+$", re.I)
_MORE_ASKED = re.compile(
    r"[.?!;]\s+(?:(?:please|and)\s+)?(?:give|list|name|show|tell)\s+(?:me\s+)?(?:(?:the|their|its|all|just|only)\s+)*"
    r"([a-z]+)\b",
    re.I,
)
"""What is asked for in a sentence of its own: *Give me the sponsors.*"""
_CODES_ASKED = re.compile(r"\b(?<!of )(?:numbers|codes|ids|refs)\b(?!\s+of\b)", re.I)
_CODE_WORDS = _NUMBERS | frozenset("id ids code codes ref refs reference references one ones".split())
_LONGEST = frozenset("longest shortest longer shorter".split())
_BY_COUNT = english.NARROWS | frozenset("frequent active busy productive prolific used many much".split())
"""Adjectives by which what there is most of is ranked."""
_WORD = re.compile(r"[^\W\d_]{4,}")
_SAYS_LITTLE = (LIGHT - GOING) | ANYONE
_OR = re.compile(r"[^\w]*\b(or)\b[^\w]*(?:(?:the|in|of|by|with|from|at|for)\b\W*)*", re.I)
_LONGER = re.compile(r"\b(?:longer|shorter)\s+than\b(?!\W*\d)", re.I)
_LONGER_OR_UNTIL = re.compile(rf"{_LONGER.pattern}|\b(?:until|till)\b", re.I)
_MEN, _NEXT_WORD = frozenset(("man", "men")), 5
_A = re.compile(r"\b(?:an?|any)\s$", re.I)
_BESIDE = re.compile(r"(?:['’]s)?[ -]")
_HEAD = re.compile(
    r"\W*(?:and\s+|so\s+)?(?:(?:which|what|how\s+many|list|show|name|find)\s+(?:(?:all|me|the|of|our)\s+)*)?(\w+)\b"
    r"(?!\s+of\b)",
    re.I,
)
"""The noun right behind the words that ask, which has no other behind it with *of*: *which ships*."""
_WHOM = re.compile(r"\W*(?:whom?|what|which\s+\w+)\s+(?:do|does|did)\s+.+?\s+(\w+)\W*$", re.I)
_MOST_BEFORE_NOUN = 2
_END_OF_CLAUSE = re.compile(r"[,;:.?!]|\s(?:and|but|or)\s")
_LACKING = re.compile(r"\b(?:no|without(?:\s+an?y?)?)\s+$", re.I)
_FROM = re.compile(r"\bfrom\W*$", re.I)
_RANKED_NOUN = re.compile(r"\b(top|best|worst|leading|highest|lowest|most|least|\w{3,}est)\s+(\w+)\b", re.I)
PERSON = 0.8
"""The share of a noun's senses that are persons, from which it means one."""
_UNIT_ASKED = (
    re.compile(r"\bhow\s+many\s+([a-z]{2,})\b", re.I),
    re.compile(r"\bin\s+([a-z]{2,}\d?)\b", re.I),
)
_MEASURES = frozenset(measure for measure, _ in UNITS.values())
_THEY = re.compile(r"['’]s?\s.*\b(?:did|do|does|has|have|had|is|are|was|were)\s+(?:they|he|she|it)\s+$", re.I)
_THE_ONE_WHO = re.compile(r"\bthe\s+\w+\s+(?:who|that)?$", re.I)
_ASKS_BY_VERB = re.compile(r"\W*who\s+", re.I)
_ASKS_BY_NOUN = re.compile(r"\W*(?:what|who)(?:['’]s| is| was| are| were)\s+(?:the|an?)\s+", re.I)
_ASKS_OF_EVENT = re.compile(
    r"\W*(?:when|where|why|(?:(?:at|in|on|from|since)\s+)?(?:what|which)\s+(?:time|year|date|day|month)"
    rf"|how\s+(?:long|often|far|much)|since\s+when)\s+(?:{'|'.join(BEING | DOING | HAVING)})\b",
    re.I,
)
_HOW = re.compile(r"\W*how\s+", re.I)
_VAGUE = frozenset("many much long far often old big large high good come soon".split())
"""*How wide* asks for what is called so; *how big* for some measure."""
_ASKS_BY_COUNT = re.compile(r"\W*how\s+many\s+(?:\w+\s+)?", re.I)
_BEHIND_NOUN = re.compile(r"\s+(?:of|for)\b", re.I)
COMMONEST = 3_000
"""The number of a word among those of the encoder, the commonest first (from 2,000 on), from which it says
something by itself: *edited*; not *works*."""
_DEGREE = re.compile(r"\w{3,}(?:est|er)|best|worst|better|worse")
"""Superlatives and comparatives that say by what is ranked or compared."""


@dataclass(frozen=True, slots=True)
class _Carried:
    """What the parts of a query graph carry beside names and labels."""

    ranks: bool
    compares: bool
    counts: bool
    sums: bool
    every: bool
    subtracts: bool
    lasts: bool
    joins: bool
    lists: bool
    nothing: bool = False


_EXACTLY = ("exactly", "precisely")
_RESTRICTIONS = (
    (rf"\b{_NTH}[-\s]+(?:most|least|best|worst|\w{{2,}}est)\b", "nothing"),
    (r"\b(?:than|above|below|over|under|exceed\w*)\s+(?:the\s+)?(?:average|mean|typical)\b", "nothing"),
    (
        r"\bhow\s+(?:much|many)\s+(?:\w+\s+)??(?:\w{2,}er|more|less|fewer)\b(?=[^?]*\bthan\b(?!\s*\d))",
        "nothing",
    ),
    (
        r"\b(?:for|in|by|of|at|on|per)\s+(?:each|every)\b|\bper\s+\w+|\brespectively\b"
        r"|(?<!list )(?<!show )(?<!name )(?<!give )(?<!find )(?<!me )(?<!us )\beach\b(?!\s+other\b)",
        "nothing",
    ),
    (r"\b(?:start|begin|end)\w*\s+(?:with|in)\s+the\s+(?:letters?|words?|prefix)\b", "nothing"),
    (r"\b(?:start|begin|end)\w*\s+(?:with|in)\s+(?-i:['\"“‘]?[A-Z](?!\w))", "nothing"),
    (r"\b(?:what|which)\s+(?:percent(?:age)?|share|proportion|fraction|ratio|%)\s+of\b", "nothing"),
    (r"\b(?:related|connected|linked)(?=\W*$|\s+to\s+(?:each\s+other|one\s+another)\b)", "nothing"),
    (
        rf"\b(?:last|past|next|previous)\s+(?:\w+\s+)?{_PERIOD}\b|\bago\b|\b(?:yesterday|tomorrow)\b",
        "nothing",
    ),
    (r"(?<!once )(?<!twice )\ban?\s+(?:year|month|week|day|night|hour)\b(?=\s+[a-z])", "lists"),
    (r"\b(?:decades?|centur(?:y|ies)|millenni(?:um|a))\b(?!\s+(?:of|from)\b)", "nothing"),
    (r"\b(?:still|no\s+longer|any\s?more)\b", "lasts"),
    (r"\bboth\b(?=[^?]*\band\b)", "joins"),
    (r"\b(?:on|in|of|at|for|by|to|with|from)\s+both\s+(?:\w+\s+)?\w+s\b(?![^?]*\band\b)", "every"),
    (r"\b(?:again|twice|thrice|repeatedly|once\s+more)\b", "counts"),
    (r"\b(?:and|or|with|by|for|to|from|at)\s+another\b", "counts"),
    (
        r"\b(?:alone|single-?handed(?:ly)?|on\s+(?:his|her|its|their)\s+own)(?=\W*$|\s+(?:or|and|in|at)\b)",
        "nothing",
    ),
    (english.JUST_SO_MANY.pattern, "compares"),
    (rf"(?!{english.JUST_SO_MANY.pattern}){english.ONLY.pattern}", "ranks"),
    (r"\b(?:at\s+(?:least|most)|(?:more|less|fewer|(?!other|rather)\w{2,}er)\s+than)\b", "compares"),
    (r"\b(?:average|avg|(?<!i )(?<!you )mean)\b", "sums"),
    (r"\b(?:before|after)\s+the\s+(?:last|latest|first)\b(?:\s+(?:one|time)\b)?", "nothing"),
    (r"\b(?:difference|by\s+how\s+(?:much|many))\b", "subtracts"),
    (rf"\b(?:{'|'.join(_EXACTLY)})\b", "compares"),
    (r"^\W*(?:is|are|was|were|do|does|did|has|have|had|can)\s+(?:every|each|all)\b", "every"),
    (
        r"(?<!list )(?<!show )(?<!name )(?<!give )(?<!find )(?<!me )(?<!us )(?<!for )(?<!in )\bevery\b",
        "every",
    ),
)
"""Words that restrict or ask for more, and what of a query graph carries them."""
_PATTERNS = [(re.compile(pattern, re.I), carried) for pattern, carried in _RESTRICTIONS]


@dataclass(frozen=True, eq=False)
class Account:
    """The words of a text with their places, and how likely its content words outside of names are carried.

    `shares` float32 [n].
    """

    words: tuple[PlacedWord, ...]
    shares: Float32

    @property
    def open_words(self) -> int:
        """How many words have no place."""
        return sum(word.as_ == "unplaced" for word in self.words)

    def settled(self, *, sure: bool) -> Account:
        """The account of the reading that is chosen: labels of a sure one say what they are likely to say."""

        def place(word: PlacedWord) -> PlacedWord:
            if word.as_ != "unplaced" or not word.part:
                return word
            return replace(word, as_="relation") if sure else replace(word, part="")

        return replace(self, words=tuple(map(place, self.words)))

    def without_open_words(self) -> Account:
        """The account of a text that is read without the words that have no place."""
        words = tuple(word for word in self.words if word.as_ != "unplaced")
        return Account(words, np.zeros(0, np.float32))

    def features(self) -> tuple[float, ...]:
        """`OF_ACCOUNT`: what it tells of the reading as a whole."""
        odds = np.sort(
            np.log(np.clip(self.shares, LEAST_SHARE, 1) / np.clip(1 - self.shares, LEAST_SHARE, 1))
        )
        if not len(odds):
            return (MOST_ODDS, MOST_ODDS, MOST_ODDS, 0.0, float(self.open_words))
        return (odds[0], odds[:2][-1], odds.mean(), np.minimum(odds, 0).sum(), float(self.open_words))


OF_ACCOUNT = ("placed_least", "placed_second", "placed_mean", "placed_against", "unplaced")
LEAST_SHARE, MOST_ODDS = 1e-4, 9.2
"""Shares below count no further; the log odds of where there is no content word."""


@dataclass(frozen=True, eq=False)
class Accountant:
    """Places the words of texts over one graph."""

    ranker: GraphRanker
    edge_keys: EdgeKeys

    @property
    def vocabulary(self) -> Vocabulary:
        """The words of the graph."""
        return self.ranker.vocabulary

    def account(
        self,
        text: str,
        mentions: Sequence[Mention],
        likeness: Likeness,
        query: Query,
        least: float = 0.0,
        *,
        is_whole: bool = True,
    ) -> Account:
        """What each word of a text is, if it is read as a query that speaks of some of `mentions`.

        With `least` a content word that is near no label of the query, and no light one, has its place only
        if it is so likely that a label carries it. A text that is not whole lacks words of operators of the
        query. Raises EmbedderError if the model cannot be opened.
        """
        account = _Account(self, text, mentions, likeness, query, least, is_whole=is_whole)
        return Account(tuple(account.words()), account.shares)

    def rows(
        self, text: str, mentions: Sequence[Mention], likeness: Likeness, query: Query, used: Sequence[int]
    ) -> WordRows:
        """What is known of the content words that stand in none of the mentions that are `used`."""
        taken = spans_of(mentions, used)
        return word_rows(self.ranker, text, mentions, likeness, query, taken)


class _Name:
    """What an entity is called, to tell which words are of its name."""

    def __init__(self, names: Sequence[str]) -> None:
        self._words = {word for name in names for word in _name_words(name)}
        self._stems = {Lexicon.load().stem(word) for word in self._words}
        self._families = [name.partition(",")[0] for name in names if _LAST_FIRST.fullmatch(name)]
        self._all_inverted = len(self._families) == len(names)

    def has(self, norm: str) -> bool:
        """Whether a word is one of the name as it is."""
        return norm in self._words or singular(norm) in self._words

    def says(self, norm: str) -> bool:
        """Whether a word is one of the name: as it is, cut short, or with a slip."""
        if self.has(norm):
            return True
        if any(c.isdigit() for c in norm):
            return False
        if Lexicon.load().stem(norm) in self._stems or any(
            w.startswith(norm) for w in self._words if len(norm) != 2
        ):
            return True
        if len(norm) < ONE_SLIP:
            return False
        from rapidfuzz.distance import OSA

        most = 2 if len(norm) >= TWO_SLIPS else 1
        return any(OSA.distance(norm, w, score_cutoff=most) <= most for w in self._words)

    def lacks_family(self, norms: Sequence[str]) -> bool:
        """Whether all its names are as *Last, First*, and none of some words stands before the comma."""
        families = [w for family in self._families for w in words_of(family)]
        return self._all_inverted and bool(families) and not any(n in families for n in norms)


_LAST_FIRST = re.compile(r"[^\W\d_][^\d,]*, [^\W\d_][^\d,]*")


def _name_words(name: str) -> set[str]:
    """The words of a name, and what two or three of them are written as one."""
    words = words_of(name)
    pairs = {"".join(words[i : i + n]) for n in (2, 3) for i in range(len(words) - n + 1)}
    return {*words, *pairs}


def _means(word: str, other: str) -> bool:
    """Whether a word is another, or means it by its main sense."""
    return Lexicon.load().similarity(word, other) >= LEAST_KIN


def _is_superlative(word: str) -> bool:
    """Whether a word that may rank does: *fewest*, *oldest*; not *forest*."""
    if not word.endswith("est") or word in ("best", "fewest", "latest"):
        return True
    base = word[:-3]
    forms = {base, base + "e", base[:-1] + "y" if base.endswith("i") else base, base[:-1]}
    return any(b in forms for b in Lexicon.load().lemmas(word))


def unplaced_phrases(text: str, words: Sequence[PlacedWord]) -> list[str]:
    """The words that have no place, those that stand together as one phrase; of a name the whole of it."""
    spans: list[list[int]] = []
    is_open = False
    for before, word, after in zip([None, *words], words, [*words[1:], None], strict=False):
        if word.as_ == "unplaced":
            near = [n for n in (before, after) if n is not None and word.text[:1].isupper()]
            parts = [word, *(n for n in near if _is_joined(text, word, n))]
            begin, end = min(p.begin for p in parts), max(p.end for p in parts)
            if is_open or (spans and begin < spans[-1][1]):
                spans[-1][1] = max(end, spans[-1][1])
            else:
                spans.append([begin, end])
            is_open = True
        elif word.as_ != "frame":
            is_open = False
    return list(dict.fromkeys(text[a:b] for a, b in spans))


def _is_joined(text: str, word: PlacedWord, name: PlacedWord) -> bool:
    """Whether a word of a name stands right beside another word."""
    between = text[min(word.end, name.end) : max(word.begin, name.begin)]
    return name.as_ == "name" and between in (" ", "-")


def quoted(phrases: Sequence[str]) -> str:
    """Phrases in quotation marks, in one line."""
    return " and ".join(f'"{phrase}"' for phrase in phrases)


def as_written(
    written: str, read: str, words: Sequence[PlacedWord], rest: Place = "frame"
) -> tuple[PlacedWord, ...]:
    """The words of a question as it was written, from those of how it is read; `rest`: all others."""
    if written == read:
        return tuple(words)
    tokens_written = [t for t in tokens(written) if t.norm != POSSESSIVE and any(c.isalnum() for c in t.norm)]
    norms = [t.norm for t in tokens_written], [normalise(w.text) for w in words]
    placed: list[PlacedWord] = [PlacedWord(t.start, t.stop, t.text, rest) for t in tokens_written]
    for tag, first, last, other, _ in SequenceMatcher(None, *norms, autojunk=False).get_opcodes():
        for i in range(first, last) if tag in ("equal", "replace") else ():
            if other + i - first < len(words):
                word = words[other + i - first]
                placed[i] = replace(placed[i], as_=word.as_, part=word.part)
    return tuple(placed)


class _Account:
    """The account of one text."""

    def __init__(
        self,
        of: Accountant,
        text: str,
        mentions: Sequence[Mention],
        likeness: Likeness,
        query: Query,
        least: float,
        *,
        is_whole: bool,
    ) -> None:
        self.least, self.is_whole = least, is_whole
        self.text, self.mentions, self.likeness, self.query = text, mentions, likeness, query
        self.vocabulary, self.of = of.vocabulary, of
        self.tokens = [t for t in tokens(text) if t.norm != POSSESSIVE and any(c.isalnum() for c in t.norm)]
        self.placed: dict[int, tuple[Place, str]] = {}
        self.shares = np.zeros(0, np.float32)
        self.carried_words: set[int] = set()
        """Where words are said by code to be carried: of operators, and *the Bakery Goods category*."""
        self.degrees: dict[int, str] = {}
        """Words of operators that say by what is ranked or compared, which must be carried: *nicest*."""
        self.names = {a: self._mention_of(a) for a in query.contents.entities}
        self.used = sorted({*query.contents.mentions, *self.names.values()} - {-1})
        parts = query.contents.parts
        ranks = any(isinstance(p, Extreme) for p in parts) or query.ask in ("largest", "smallest")
        counts = query.ask == "count" or any(isinstance(p, Counted) for p in parts)
        self.carried = _Carried(
            ranks=ranks,
            compares=ranks or any(isinstance(p, Compared | Counted) for p in parts),
            counts=counts,
            sums=query.ask in ("average", "sum"),
            subtracts=query.ask == "difference",
            every=query.ask == "every" or any(isinstance(p, Related) for p in parts),
            # That there is a date says that it happened, not that it is so to this day.
            lasts=not any(self.vocabulary.is_of_time(opposite(p.step)) for p in parts if isinstance(p, Walk)),
            lists=query.ask != "count",
            joins=any(isinstance(p, Both | Either | Related) for p in parts)
            or len(query.contents.entities) + sum(isinstance(p, Compared | Counted) for p in parts) > 1,
        )
        self.own = self._own_labels()

    def words(self) -> Iterator[PlacedWord]:
        """Each word with its place, in their order."""
        self._place_beginnings()
        for anchor, mention in self.names.items():
            if mention >= 0:
                self._place_name(anchor.node, self.mentions[mention])
        self._place_halves()
        self._place_values()
        self._place_choice()
        self._place_or()
        self._place_true_of_names()
        self._place_codes()
        self._place_compared_times()
        self._place_units()
        for token in (t for start, stop in self.query.said for t in self._inside(start, stop)):
            self._put(token, "operator", "")
            self.carried_words.add(token.start)
        for token in (t for t in self.tokens if t.norm in english.HAPPENING and not self._is_near(t)):
            self._put(token, "frame", "")
            self.carried_words.add(token.start)
        self._place_restrictions()
        self._place_written_as_names()
        self._place_content()
        for token in self.tokens:
            as_, part = self.placed.get(token.start, ("frame", ""))
            yield PlacedWord(token.start, token.stop, token.text, as_, part)

    def _put(self, token: Token, as_: Place, part: str) -> None:
        self.placed.setdefault(token.start, (as_, part))

    def _inside(self, start: int, stop: int) -> list[Token]:
        return [t for t in self.tokens if t.start < stop and start < t.stop]

    # names

    def _mention_of(self, anchor: Anchor) -> int:
        """The mention of an entity; where the query does not say it, one that may stand for it, or -1."""
        if anchor.mention >= 0:
            return anchor.mention
        may_be = (i for i, m in enumerate(self.mentions) if any(c.node == anchor.node for c in m.candidates))
        return next(may_be, -1)

    def _place_name(self, node: int, mention: Mention) -> None:
        """The words of the mention of an entity, and those written as names right beside it."""
        label = self.vocabulary.graph.labels[node]
        candidate = next((c for c in mention.candidates if c.node == node), None)
        inside = self._inside(mention.start, mention.stop)
        name = _Name(self._names_of(node))
        if candidate is None or candidate.how not in (PARTIAL, TYPO, WORDS):
            for token in inside:
                self._put(token, "name", label)
        else:
            lacks_family = name.lacks_family([t.norm for t in inside])
            # *Died* is no *Die Blechtrommel*.
            is_other = candidate.how == WORDS and not any(
                t.text[:1].isupper() or name.has(t.norm) for t in inside if t.norm not in FUNCTION
            )
            for token in inside:
                if token.norm in FUNCTION and token.text.islower():
                    self._put(token, "frame", "")
                elif is_other:
                    self._put(token, "unplaced", "")
                elif not lacks_family and name.says(token.norm):
                    self._put(token, "name", label)
                elif lacks_family or self._is_of_name(token):
                    self._put(token, "unplaced", "")
        self._place_kind(node, mention)
        if not self._in_title_case:
            for token in self._beside(mention):
                if name.says(token.norm):
                    self._put(token, "name", label)
                elif not self._is_label(token):
                    self._put(token, "unplaced", "")

    def _place_halves(self) -> None:
        """Parts of two names that are written as one are no names: *Raven's Nest* of two places."""
        parts = [
            self.mentions[m] for a, m in self.names.items() if m >= 0 and self._is_part_of_name(a.node, m)
        ]
        for one, other in pairwise(sorted(parts, key=lambda m: m.start)):
            if _BESIDE.fullmatch(self.text, one.stop, max(one.stop, other.start)):
                for token in (*self._inside(one.start, one.stop), *self._inside(other.start, other.stop)):
                    self.placed[token.start] = ("unplaced", "")

    def _is_part_of_name(self, node: int, mention: int) -> bool:
        return any(c.node == node and c.how == PARTIAL for c in self.mentions[mention].candidates)

    def _place_kind(self, node: int, mention: Mention) -> None:
        """A word beside a name that spells a type of the entity; *the genre Drama* of a tag has no place."""
        for token in self.tokens:
            before = token.stop <= mention.start and _NAMING.fullmatch(self.text, token.stop, mention.start)
            behind = mention.stop <= token.start and not self.text[mention.stop : token.start].strip(_QUOTES)
            if not before and not behind:
                continue
            relations, types = self._spelt(token)
            if np.isin(self.vocabulary.types_of(node), types).any():
                self._put(token, "type", token.norm)
                self.carried_words.add(token.start)
            elif (
                len(relations) + len(types)
                and self._is_noun(token)
                and not any(self._stands_at(n, relations) for n in (node, *self._some_members()[:1]))
                and self._is_left_unsaid(token)
            ):
                self._put(token, "unplaced", "")  # not so *British authors*, of what `author` leads to

    def _is_noun(self, token: Token) -> bool:
        lexicon = Lexicon.load()
        is_verb = lexicon.mostly_verb(token.norm) or is_participle(token.norm) or token.norm.endswith("ing")
        return not is_verb and token.norm not in english.PREPOSITIONS

    def _is_left_unsaid(self, token: Token) -> bool:
        """Whether no word but this one, and not this one, says a relation of the query."""
        rest = [i for i, (start, _, _) in enumerate(self.likeness.words) if start != token.start]
        said = [near[rest].max(initial=0.0) for kind, _, near, _ in self.own if kind == "relation"]
        return not self._is_near(token) and min(said, default=0.0) < UNEXPLAINED

    def _spelt(self, token: Token) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The relations and the declared types that a word spells."""
        like = self.likeness
        rows = [i for i, (a, b, _) in enumerate(like.words) if a < token.stop and token.start < b]
        tables = like.exact_relations[rows], like.exact_types[rows]
        relations, types = (np.flatnonzero(table.max(0, initial=0.0) >= SPELT) for table in tables)
        return relations, types

    def _stands_at(self, node: int, relations: NDArray[np.int64]) -> bool:
        """Whether an entity is the head or the tail of one of some relations."""
        sides = (self.vocabulary.graph.out, self.vocabulary.graph.into)
        return any(np.isin(side.relation[slice(*side.span(node))], relations).any() for side in sides)

    def _names_of(self, node: int) -> list[str]:
        graph = self.vocabulary.graph
        aliases = np.flatnonzero(graph.aliases.entity == node).tolist()
        return [graph.labels[node], *(graph.aliases.names[i] for i in aliases)]

    def _beside(self, mention: Mention) -> Iterator[Token]:
        """The words that are written as names and stand right before or behind a name, as far as they go."""
        inside = [i for i, t in enumerate(self.tokens) if t.start < mention.stop and mention.start < t.stop]
        if not inside:
            return
        for at, way in ((inside[0], -1), (inside[-1], 1)):
            here = at
            while 0 <= here + way < len(self.tokens):
                token, last = self.tokens[here + way], self.tokens[here]
                between = self.text[min(token.stop, last.stop) : max(token.start, last.start)]
                if between not in (" ", "-") or not self._is_of_name(token) or self._is_used(token):
                    break
                yield token
                here += way

    def _is_used(self, token: Token) -> bool:
        return any(
            m.start < token.stop and token.start < m.stop for m in (self.mentions[i] for i in self.used)
        )

    def _is_of_name(self, token: Token) -> bool:
        """Whether a word is written as one of a name: a capital, or the first one and no verb."""
        # *S waves* are no *P waves*; *grade A*, where nobody writes the article so.
        is_letter = len(token.text) == 1 and (
            token.text not in "AI" or (token.text == "A" and token.start > 0)
        )
        if (token.norm in FUNCTION and not is_letter) or token.norm in HONORIFICS | ANYONE:
            return False
        if not token.text[:1].isupper():
            return False
        if any(start <= token.start < stop for start, stop in self._denials):
            return False
        return token is not self.tokens[0] or not Lexicon.load().verb(token.norm)

    @property
    def _in_title_case(self) -> bool:
        content = [t for t in self.tokens[1:] if t.norm not in FUNCTION and t.text[:1].isalpha()]
        return len(content) >= 4 and all(t.text[:1].isupper() for t in content)

    def _place_written_as_names(self) -> None:
        """Quoted words, capitals within a sentence and digits that no part carries are unplaced."""
        quoted = [m.span(1) for m in _QUOTED.finditer(self.text)]
        numbers = {p.number for p in self.query.contents.parts if isinstance(p, Extreme)}
        for at, token in enumerate(self.tokens):
            if token.start in self.placed or self._is_label(token):
                continue
            is_quoted = any(a <= token.start and token.stop <= b for a, b in quoted)
            if token.norm.isdigit() and float(token.norm) in numbers:
                self._put(token, "operator", "rank")
            elif self._must_be_carried(token, at, is_quoted):
                self._put(token, "unplaced", "")

    def _must_be_carried(self, token: Token, at: int, is_quoted: bool) -> bool:
        """Whether a word has digits, is quoted, or is written as a name within the sentence."""
        if any(c.isdigit() for c in token.norm) or (is_quoted and token.norm not in FUNCTION):
            return True
        if token.norm in FUNCTION and any(  # *Grade I*
            m.start == token.start and m.text == token.text and any(c.how == EXACT for c in m.candidates)
            for m in self.mentions
        ):
            return True
        return at > 0 and not self._in_title_case and self._is_new_name(token)

    def _is_new_name(self, token: Token) -> bool:
        """Whether a word is written as one of a name within a sentence, and is near no label of the query."""
        is_first = self.text[: token.start].rstrip(" \"'“‘(").endswith((".", "!", "?", ":", ";"))
        return not is_first and self._is_of_name(token) and not self._is_near(token)

    # values and operators

    def _place_values(self) -> None:
        for part in self.query.contents.parts:
            match part:
                case Compared(_, _, _, Value() as value) if value.mention >= 0:
                    self._place_value(value.mention)
                case Counted(_, step, _, _, mention) if mention >= 0:
                    at, reached = self.mentions[mention], self.vocabulary.types_reached[step]
                    behind = takewhile(
                        lambda t: len(self._spelt(t)[1]), (t for t in self.tokens if t.start >= at.stop)
                    )
                    # *On more than one jury* are no juries with more than one member.
                    for noun in list(behind)[-1:] if reached >= 0 else ():
                        if reached not in self._spelt(noun)[1]:
                            self._put(noun, "unplaced", "")
                    # *The two members* are not those of two things.
                    if self.text[: at.start].lower().endswith("the "):
                        self._place_inside(at, "unplaced", "")
                    self._place_value(mention)
                case _:
                    pass
        self._place_years()
        self._place_counts()
        for mention in self._numbers_before_nouns():
            if len(self._some_members()) == mention.values[0].number and self.query.ask != "count":
                self._place_inside(mention, "operator", "as many")
            else:
                self._place_inside(mention, "unplaced", "")

    def _place_counts(self) -> None:
        """*9 pupils* are that many, and not those of year 9; those of *year 9 pupils* are."""
        for mention in (
            self.mentions[m] for m in self.names.values() if m >= 0 and self.mentions[m].text.isdigit()
        ):
            behind = next((t for t in self.tokens if t.start == mention.stop + 1), None)
            is_counted = (
                behind is not None and singular(behind.norm) != behind.norm and len(self._spelt(behind)[1])
            )
            is_said = any(t.stop == mention.start - 1 and self._is_label(t) for t in self.tokens)
            if is_counted and not is_said and not _YEAR.fullmatch(mention.text):
                for token in self._inside(mention.start, mention.stop):
                    self.placed[token.start] = ("unplaced", "")

    def _place_years(self) -> None:
        """*Who rented a van in 2019*, where rentals have dates: it is not the year of the van."""
        relations = {relation_of(step) for step in steps_of(self.query)}
        if not any(
            any(self.of.edge_keys.dated(r)) for r in relations & self.of.edge_keys.of_relations.keys()
        ):
            return
        for mention in (self.mentions[m] for m in self.names.values() if m >= 0):
            if _YEAR.fullmatch(mention.text) and _IN.search(self.text, 0, mention.start):
                for token in self._inside(mention.start, mention.stop):
                    self.placed[token.start] = ("unplaced", "")

    def _numbers_before_nouns(self) -> Iterator[Mention]:
        """Numbers that are written as words before what they count, and are in no part: *which two films*."""
        lexicon = Lexicon.load()
        for at, mention in enumerate(self.mentions):
            behind = next((t for t in self.tokens if t.start == mention.stop + 1), None)
            if at in self.used or behind is None or not mention.text.isalpha() or not mention.values:
                continue
            value = mention.values[0]
            if value.number >= 2 and not value.date and lexicon.uses(behind.norm, NOUN) > 0:
                yield mention

    def _place_value(self, mention: int) -> None:
        span = self.mentions[mention]
        self._place_inside(span, "value", span.text)

    def _place_inside(self, mention: Mention, as_: Place, part: str) -> None:
        for token in self._inside(mention.start, mention.stop):
            self._put(token, as_, part)

    def _place_choice(self) -> None:
        """The values between which a question leaves the choice, if one answers it: *a tram or a bus*."""
        match self.query:
            case Query("list", Walk(Anchor(), step)) if english.EITHER.search(self.text):
                nodes = set(self.vocabulary.some_tails(relation_of(step)).tolist())
            case _:
                return
        choices = [m for m in self._unused_mentions() if any(c.node in nodes for c in m.candidates)]
        between = [self.text[a.stop : b.start] for a, b in pairwise(choices)]
        opening = _YES_OF.match(self.text)
        if not between or not english.EITHER.search(between[-1]):
            return
        members = self._some_members()
        if not members or not set(members) <= {c.node for m in choices for c in m.candidates}:
            return
        for mention in choices:
            self._place_inside(mention, "value", mention.text)
            self.carried_words.update(t.start for t in self._inside(mention.start, mention.stop))
        for token in self._inside(*opening.span(1)) if opening is not None else ():
            self._put(token, "frame", "")

    def _place_or(self) -> None:
        """*Or* between two names is no *and*: *with jasmine or tuberose*."""
        names = sorted((self.mentions[m] for m in self.names.values() if m >= 0), key=lambda m: m.start)
        if any(isinstance(p, Either) for p in self.query.contents.parts):
            return
        for one, other in pairwise(names):
            hit = _OR.fullmatch(self.text, one.stop, max(one.stop, other.start))
            for token in self._inside(*hit.span(1)) if hit is not None else ():
                self._put(token, "unplaced", "")

    def _place_true_of_names(self) -> None:
        """What is recorded of a name that it is said of: *whose dog is Rex*, *is Rex Ann's dog*."""
        names = [(self.mentions[m], a.node) for a, m in self.names.items() if m >= 0]
        for said in self._unused_mentions():
            nodes = {c.node for c in said.candidates if c.how <= PLURAL}
            for name, node in names:
                between = self.text[min(said.stop, name.stop) : max(said.start, name.start)].strip(_QUOTES)
                is_being = said.stop <= name.start and between.lower() in english.BEING
                is_beside = is_being or says_which(self.text, name, said)
                is_predicate = (
                    self.query.ask == "yes"
                    and _YES_OF.fullmatch(self.text, 0, name.start) is not None
                    and not self.text[said.stop :].strip(" ?.!")
                )
                if (is_beside or is_predicate) and nodes & self._values_of(node):
                    for token in self._inside(said.start, said.stop):
                        self._put(token, "value", said.text)
                        self.carried_words.add(token.start)

    def _unused_mentions(self) -> list[Mention]:
        """The mentions that the query does not use, nor their words."""
        used = [self.mentions[i] for i in self.used]
        return [
            m
            for i, m in enumerate(self.mentions)
            if m.candidates and i not in self.used and not any(m.overlaps(u) for u in used)
        ]

    def _values_of(self, node: int) -> set[int]:
        """The tails of an entity."""
        out = self.vocabulary.graph.out
        return set(out.neighbour[slice(*out.span(node))].tolist())

    def _place_codes(self) -> None:
        """*Number* behind what has codes for values: *phone number* of `phone`."""
        for before, token in pairwise(self.tokens):
            if token.norm not in _NUMBERS or self.text[before.stop : token.start] != " ":
                continue
            kind, label, near, _ = self._best_label(before)
            relations = {relation_of(step) for step in steps_of(self.query)}
            said = [r for r in relations if self.vocabulary.relations[r] == label]
            if kind == "relation" and near >= ONE_CONCEPT and any(map(self._are_codes, said)):
                self._put(token, kind, label)
                self.carried_words.add(token.start)

    def _are_codes(self, relation: int) -> bool:
        """Whether the values of a relation are digits, with a few letters: *0151 220*, *BA 12*."""
        labels = self.vocabulary.graph.labels
        if self.vocabulary.ends[tail_end(relation)] == THING:
            return False
        tails = self.vocabulary.some_tails(relation)[:MOST_READ].tolist()
        values = [labels[node] for node in tails]
        return bool(tails) and all(any(c.isdigit() for c in v) and not _WORD.search(v) for v in values)

    def _place_beginnings(self) -> None:
        """*When did she start* of the one date of hers that is a beginning: `hired`."""
        starting = [t for t in self.tokens if t.norm in english.STARTING and not self._is_used(t)]
        if not starting:
            return
        vocabulary = self.vocabulary
        of_query = {relation_of(step) for step in steps_of(self.query)}
        types = {int(vocabulary.end_types[head_end(relation)]) for relation in of_query}
        begin = [
            relation
            for relation, label in enumerate(vocabulary.relations)
            if vocabulary.is_of_time(tail_end(relation)) and not english.BEGINNINGS.isdisjoint(label.split())
        ]
        said = [relation for relation in begin if relation in of_query]
        rivals = [r for r in begin if int(vocabulary.end_types[head_end(r)]) in types]
        if len(said) == 1 and rivals == said:
            for token in starting:
                self._put(token, "relation", vocabulary.relations[said[0]])
                self.carried_words.add(token.start)

    def _place_restrictions(self) -> None:
        """Words that restrict: carried by an operator, or by a label that has them, or unplaced."""
        self._place_denials()
        self._place_kin()
        self._place_yes_or_no()
        self._place_sexes()
        self._place_living()
        self._place_types()
        self._place_asked_type()
        self._place_asked_thing()
        self._place_flags()
        self._place_pronouns()
        self._place_ranked_person()
        self._place_ways()
        for pattern, carried in _PATTERNS:
            for match in pattern.finditer(self.text):
                self._restrict(*match.span(), match[0].lower(), getattr(self.carried, carried))
        for match in english.SUM.finditer(self.text) if self.carried.sums or self.carried.counts else ():
            self._restrict(*match.span(), match[0].lower(), carried=True)
        for match in _RANKS.finditer(self.text):
            if _is_superlative(match[0].lower()) and not _LASTS.match(self.text, match.start()):
                is_recorded = any(not _EXTREMES.isdisjoint(label.split()) for _, label, _, _ in self.own)
                self._restrict(*match.span(), match[0].lower(), self.carried.ranks or is_recorded)
        for match in _MOST_OTHER.finditer(self.text):  # *the service that most other services depend on*
            self._restrict(*match.span(1), "other", self.carried.ranks)
        for match in _HOW_OLD.finditer(self.text) if self._lists_times() else ():
            if not _WHEN.search(self.text, 0, match.start()) and not _WHAT_YEAR.search(self.text):
                self._restrict(*match.span(1), "age", carried=False)
        self._place_unsaid()
        self._place_measured()
        self._place_question_word()
        self._place_time_of_day()
        if self.query.ask == "list" and (not self._lists_numbers() or self._is_of_each()):
            for match in english.HOW_MANY.finditer(self.text):
                is_ranked = self.carried.ranks and _RANKED.search(self.text, 0, match.start()) is not None
                self._restrict(*match.span(), "count", self.carried.counts or is_ranked)

    def _place_unsaid(self) -> None:
        """Where nothing ranks, the words that ask do not ask for the largest; *numbers* are no number."""
        if self.carried.ranks and self.is_whole and not self._says_rank():
            asking = 2 if self.text.lower().startswith("how") else 1
            for token in self.tokens[:asking]:
                self._put(token, "unplaced", "")
        for pattern in (_CODES_ASKED, _HOW_MANY_PERIODS) if self.query.ask == "count" else ():
            for match in pattern.finditer(self.text):
                self._restrict(*match.span(), "asked", carried=False)
        for token in (t for m in _MORE_ASKED.finditer(self.text) for t in self._inside(*m.span(1))):
            type_, spelt = final_type(self.query.part, self.vocabulary), self._spelt(token)[1]
            is_nobody = type_ >= 0 and self.of.ranker.kinds.is_nobody(type_)
            if (len(spelt) and type_ not in spelt) or (token.norm in ANY_PEOPLE and is_nobody):
                self._put(token, "unplaced", "")
        why, day = _WHY.match(self.text), _WHICH_DAY.search(self.text)
        if why and not any(_REASONS.intersection(label.split()) for _, label, _, _ in self.own):
            self._restrict(*why.span(1), "asked", carried=False)
        when = _AND_WHEN.search(self.text)
        if when is not None and self.query.ask == "list" and not self._lists_times():
            self._restrict(*when.span(1), "asked", carried=False)
        if day is not None and self._lists_times() and self._are_years():
            self._restrict(*day.span(1), "asked", carried=False)

    def _says_rank(self) -> bool:
        outside = (t.norm for t in self.tokens if not self._is_used(t))
        return any(english.SUPERLATIVE.fullmatch(norm) or is_comparative(norm) for norm in outside)

    def _are_years(self) -> bool:
        """Whether years alone are recorded of what is asked for."""
        return all(self.vocabulary.graph.labels[node].isdigit() for node in self._some_members())

    def _place_measured(self) -> None:
        """*The most expensive* is not what there is most of, *the most popular* is; *tallest* is no mass."""
        ranked = [p for p in self.query.contents.parts if isinstance(p, Extreme)]
        steps = [p.steps[-1] for p in ranked if p.steps and not p.counted]
        for token in (t for t in self.tokens if t.norm in _LONGEST and any(map(self._is_end, steps))):
            self._put(token, "unplaced", "")  # who left last was not there the longest
        for token in (t for t in self.tokens if ranked and t.norm in MEASURED_IN):
            units = {self.vocabulary.unit_of(relation_of(step)) for step in steps} - {""}
            if units and MEASURED_IN[token.norm] not in {UNITS[unit][0] for unit in units}:
                self._put(token, "unplaced", "")
        if not ranked or not all(part.counted for part in ranked):
            return
        lexicon = Lexicon.load()
        for before, token in pairwise(self.tokens):
            others = lexicon.uses(token.norm, NOUN) + lexicon.uses(token.norm, VERB)
            is_measure = lexicon.uses(token.norm, ADJECTIVE) > others and token.norm not in _BY_COUNT
            if before.norm in ("most", "least") and is_measure and not self._is_near(token):
                self._put(token, "unplaced", "")

    def _is_end(self, step: Step) -> bool:
        """Whether a step leads to a time that ends something: *left in*."""
        label = self.vocabulary.relations[relation_of(step)]
        return self.vocabulary.is_of_time(opposite(step)) and not ENDS.isdisjoint(label.split())

    def _place_units(self) -> None:
        """A unit in which a number is asked for is that of its values, or unplaced: no *feet* of metres."""
        hits = [hit for pattern in _UNIT_ASKED for hit in pattern.finditer(self.text)]
        asked = [hit for hit in hits if hit[1].lower() in UNITS]
        measures = [t for t in self.tokens if t.norm in _MEASURES]
        if not asked and not measures:
            return
        steps = {s for s in steps_of(self.query) if self.vocabulary.kinds_reached[s] == NUMBER}
        listed = reached_by(self.query.part) if self.query.ask == "list" and not self.query.key else None
        is_text = listed is not None and self.vocabulary.kinds_reached[listed] in (THING, LEAF)
        own = self.vocabulary.unit_of(relation_of(steps.pop())) if len(steps) == 1 else ""
        for hit in asked if own or is_text else ():
            inside = self._inside(*hit.span(1))
            is_own = bool(own) and UNITS[hit[1].lower()] == UNITS[own]
            for token in inside if not any(map(self._is_used, inside)) else ():
                self._put(token, *(("relation", own) if is_own else ("unplaced", "")))
        for token in (t for t in measures if own and t.norm == UNITS[own][0]):
            self._put(token, "relation", own)  # the *speed* of `max kmh`
            self.carried_words.add(token.start)

    def _place_compared_times(self) -> None:
        """Who came later has not been there for longer; what is valid until a day did not end before it."""
        compared = (p.steps[-1] for p in self.query.contents.parts if isinstance(p, Compared) and p.steps)
        if any(self.vocabulary.is_of_time(opposite(step)) for step in compared):
            pattern = _LONGER_OR_UNTIL if self.query.ask == "yes" else _LONGER
            for match in pattern.finditer(self.text):
                self._restrict(*match.span(), match[0].lower(), carried=False)

    def _place_time_of_day(self) -> None:
        """A time of day is none of dates alone."""
        hit = _TIME_OF_DAY.search(self.text)
        if hit is None or self.query.ask != "list" or not answers_with_time(self.query, self.vocabulary):
            return
        if not any(":" in self.vocabulary.graph.labels[node] for node in self._some_members()):
            self._restrict(*hit.span(), "asked", carried=False)

    def _place_question_word(self) -> None:
        """*When* is answered with a time, *where* with none and no number, *how old* with a measure.

        Nor is *where* answered with rows that only a code tells apart, *who* with what is done, and
        *whose dog* with dogs.
        """
        query, opening = self.query, _OPENING.match(self.text)
        type_ = final_type(query.part, self.vocabulary) if query.ask == "list" else -1
        whose = _WHOSE.match(self.text)
        who, kinds = _WHO.match(self.text), self.of.ranker.kinds
        is_doing = type_ >= 0 and not query.key and kinds.are_rows(type_)
        if who is not None and is_doing:
            self._restrict(*who.span(1), "asked", carried=False)
        step = reached_by(query.part)
        is_number = step is not None and self.vocabulary.kinds_reached[step] == NUMBER
        is_time = answers_with_time(query, self.vocabulary)
        is_day = step is not None and self.vocabulary.is_of_time(opposite(step))
        if who is not None and query.ask == "list" and (is_number or is_day):
            self._restrict(*who.span(1), "asked", carried=False)
        if query.ask == "list" and not query.key and who is None:
            self._place_asked_of_rows(type_)
        whom = _WHOM.match(self.text)
        if whom is not None and step is not None and not is_backward(step):
            label = self.vocabulary.relations[relation_of(step)].split()[-1]
            is_role = Lexicon.load().classes(label).get("person", 0.0) >= PERSON
            if is_role and whom[1].lower() == label:  # *whom does Ann mentor*: not her mentor
                for token in self._inside(*whom.span(1)):
                    self._put(token, "unplaced", "")
        noun = "" if type_ < 0 or query.key else self._noun_of(type_)
        if whose is not None and singular(whose[2].lower()) == noun:
            self._restrict(*whose.span(1), "asked", carried=False)
        if opening is None or query.ask != "list" or query.key or isinstance(query.part, Anchor):
            return
        is_right = not (is_time and self._lists_times()) and not is_number if opening["where"] else is_time
        if opening["where"] and type_ >= 0:
            is_right = is_right and not (kinds.are_codes(query) or kinds.are_numbered(type_))
        elif opening["where"] and step is not None:
            is_right = is_right and self._says_place(step)
        if not is_right and not (opening["how"] and is_number):
            self._restrict(*opening.span(opening.lastgroup or 0), "asked", carried=False)

    def _place_asked_of_rows(self, type_: int) -> None:
        """*What did Ann borrow* is not answered with codes of loans, nor *which books*, but *which loans*."""
        hit = _WHAT_OR_WHICH.match(self.text)
        if hit is None or type_ < 0:
            return
        lexicon = Lexicon.load()
        if hit[1] is not None:
            nouns = [t for t in self.tokens if not is_participle(t.norm) and lexicon.uses(t.norm, NOUN) > 0]
            is_said = any(self._best_label(t)[0] == "type" for t in nouns)
        else:
            asked, own = lexicon.classes(hit[2].lower()), lexicon.classes(self._noun_of(type_))
            is_said = hit[2].lower() in _CODE_WORDS or not asked.keys().isdisjoint(own)
        if is_said or not self.vocabulary.are_called_by_codes(self._some_members()):
            return
        for token in self._inside(*hit.span(1 if hit[1] else 2)):
            if not self._is_near(token):
                self._restrict(token.start, token.stop, "asked", carried=False)

    def _noun_of(self, type_: int) -> str:
        return singular(self.vocabulary.types[type_].split()[-1])

    def _place_ranked_person(self) -> None:
        """*The top scorer* is somebody, *the cheapest thing* something, and no number."""
        for match in _RANKED_NOUN.finditer(self.text) if self.query.ask in ("largest", "smallest") else ():
            noun = match[2].lower()
            if noun in ANYONE or Lexicon.load().classes(noun).get("person", 0.0) >= PERSON:
                self._restrict(*match.span(1), "asked", carried=False)

    def _place_ways(self) -> None:
        """*From* and *to* are those of a relation that is said whole: *from club*, and not `current club`."""
        norms = {singular(t.norm): t for t in self.tokens}
        used = {relation_of(step) for step in steps_of(self.query)}
        said = [self.vocabulary.relations[r].split() for r in used]
        for relation, (way, *rest) in self.vocabulary.ways.items():
            if way not in norms or relation in used:
                continue
            is_said = all(singular(word) in norms for word in rest)
            if is_said and any(w[-1] == rest[-1] and not norms.keys() >= set(w) for w in said):
                self._put(norms[way], "unplaced", "")

    def _says_place(self, step: Step) -> bool:
        """Whether texts may be places by the label of the step to them: *floor*, *based in*; not *status*."""
        words = self.vocabulary.relations[relation_of(step)].split()
        classes = [Lexicon.load().classes(word) for word in words]
        is_of_places = any(of.get(name, 0.0) >= LEAST_PLACE for of in classes for name in _PLACES)
        is_origin = _FROM.search(self.text) is not None  # *where do we get it from*: of the supplier
        return is_of_places or is_origin or not english.PREPOSITIONS.isdisjoint(words) or not any(classes)

    def _place_denials(self) -> None:
        """Words that deny, as many as the query does; and what is read as a label that denies it."""
        labels = [self.vocabulary.relations[relation_of(step)] for step in steps_of(self.query)]
        outside = [t for t in self.tokens if not self._is_used(t)]
        opposites = [t for t in outside if self._is_opposite(t, labels)]
        spans = [*self._denials, *((t.start, t.stop) for t in opposites)]
        room = denials(self.vocabulary, self.query)
        for label in labels:
            denied = denied_words(label)
            if not denied and not has_denying_word(label):
                continue
            positive = [t for t in outside if any(_means(t.norm, word) for word in denied)]
            if not positive and not has_denying_word(label):
                room -= 1  # it says itself: *dislikes*; or *covered* is not what *discovered* denies
            if not denied:
                positive = [t for t in outside if t.norm not in english.RELATIVE]
            for token in positive if not spans else ():
                self._put(token, "unplaced", "")
        self._place_lacking(outside if room > 0 and not spans else [])
        for nor in (t for t in self.tokens if t.norm == "nor"):
            self._restrict(nor.start, nor.stop, "not", room > 1)
        is_double = room > len(spans) and any(map(has_denying_word, labels))
        for number, (start, stop) in enumerate(sorted(spans)):
            for token in self._inside(start, stop) if is_double else ():
                self._put(token, "unplaced", "")
            self._restrict(start, stop, "not", number < room and not self._denies_other(stop))

    def _denies_other(self, stop: int) -> bool:
        """Whether what stands behind a denial is of the query, and not what the query denies.

        *Without it as their main database*, where those are meant whose main database it is.
        """
        parts = self.query.contents.parts
        denied = [p for p in parts if isinstance(p, Without) or (isinstance(p, Counted) and p.number == 0)]
        if len(denied) != 1 or len(self._denials) != 1:
            return False
        one = denied[0]
        steps = (one.step,) if isinstance(one, Counted) else steps_of(Query("list", one.right))
        labels = {self.vocabulary.relations[relation_of(step)] for step in steps}
        said: set[bool] = set()
        end = _END_OF_CLAUSE.search(self.text, stop)
        for token in self._inside(stop, end.start() if end else len(self.text)):
            if self._is_used(token):
                return False
            kind, label, near, _ = self._best_label(token)
            if kind == "relation" and near >= SAYS_IT:
                said.add(label in labels)
        return said == {False}

    def _place_lacking(self, outside: Sequence[Token]) -> None:
        """Lights *with no main lamp* are no lamps; *step-free* denies nothing of `step free access`.

        `outside`: the words outside of names, where the query denies and none of them does.
        """
        for part in self.query.contents.parts:
            if isinstance(part, Counted) and part.number == 0 and is_backward(part.step):
                label = re.escape(self.vocabulary.relations[relation_of(part.step)])
                for match in re.finditer(rf"\b(?:no|without(?: an?y?)?) ({label})\b", self.text, re.I):
                    for token in self._inside(*match.span(1)):
                        self._put(token, "unplaced", "")
        for token in (t for t in outside if t.norm == "free" and self._is_label(t)):
            self._put(token, "unplaced", "")

    @cached_property
    def _denials(self) -> tuple[tuple[int, int], ...]:
        return tuple(denial_spans(self.text, self.mentions))

    def _is_opposite(self, token: Token, labels: Sequence[str]) -> bool:
        """Whether a word denies one of a label: *dislikes* of `likes`, *closed* of `opens to public`."""
        stems = frozenset[str]() if has_denying_word(token.norm) else denied_words(token.norm)
        words = [singular(word) for label in labels for word in label.split()]
        if singular(token.norm) in words:
            return False
        plain = [word for label in labels if not denied_words(label) for word in label.split()]
        if Lexicon.load().is_opposite(token.norm, plain):
            return True
        return any(_means(stem, word) for stem in stems for word in words)

    def _place_kin(self) -> None:
        """Kin terms that no relation of the query names are unplaced: *grandfather* of `father`.

        *Mum and dad* are both `parent`; what has no sex may be told by several steps: *grandparents*.
        """
        labels = [self.vocabulary.relations[relation_of(step)] for step in steps_of(self.query)]
        unnamed: dict[str, Token] = {}
        for token, after in zip(self.tokens, [*self.tokens[1:], None], strict=False):
            if not kin_terms(token.norm) or self._is_used(token) or self._is_label(token):
                continue
            how = [h for label in labels if (h := naming(token.norm, label)) is not None]
            sex = sex_of(token.norm)
            is_told = "named" in how or (not sex and len(how) > 1) or self._is_married(token, labels)
            if how and not is_told and not self._is_compound(token, after):
                unnamed[sex if "broader" in how else token.norm] = token
        for token in unnamed.values() if unnamed.keys() != {"female", "male"} else ():
            self._put(token, "unplaced", "")

    def _place_yes_or_no(self) -> None:
        """*Is Ann …* is answered with yes or no, and not with what she has; *before Bob* compares."""
        opening = _YES_OF.match(self.text)
        is_timed = self.carried.compares or any(isinstance(p, Qualified) for p in self.query.contents.parts)
        for match in _BEFORE_NAME.finditer(self.text) if opening is not None else ():
            self._restrict(*match.span(), "compared", is_timed)
        if opening is None or self.query.ask in ("yes", "every") or self.query.key:
            return
        is_of_name = any(m.strong and m.candidates and m.start == opening.end() for m in self.mentions)
        if is_of_name or _YES_OF_THE.match(self.text):
            self._restrict(*opening.span(1), "yes or no", carried=False)

    def _place_sexes(self) -> None:
        """*Women* are unplaced, if the query does not ask for them.

        Where no sexes are recorded *men* may be people, and *the woman who* is one for whoever says it.
        """
        for token in self.tokens:
            sex = sex_said(token.norm)
            if not sex or self._is_used(token) or self._is_label(token):
                continue  # near *sex*, which all have
            is_known = token.norm in _MEN or _THE_ONE_WHO.search(self.text[: token.stop + _NEXT_WORD])
            if recorded_sex(self.vocabulary, sex) is not None or not is_known:
                self._put(token, "unplaced", "")

    def _place_pronouns(self) -> None:
        """Pronouns that stand for nothing in the text are unplaced: *Who directed her?*."""
        if any(m.start == m.stop for m in self.mentions):
            return  # it is given what they stand for
        names = [(m.start, m.stop) for i, m in enumerate(self.mentions) if i in self.used or m.strong]
        for token in unresolved_pronouns(self.text, names):
            self._put(token, "unplaced", "")

    def _place_types(self) -> None:
        """Words that spell a declared type which is not that of the query are unplaced: *which persons*."""
        types, counts_others = self._types_that_hold(), self._counts_nobody()
        for start, (begin, end, _) in enumerate(self.likeness.words):
            spelt = np.flatnonzero(self.likeness.exact_types[start] >= SPELT).tolist()
            for token in self._inside(begin, end) if spelt and not types & set(spelt) else ():
                is_anyone = token.norm in ANY_PEOPLE and not counts_others
                is_said = self._is_used(token) or self._is_near(token) or is_anyone
                if not is_said and not self._are_all_of(spelt):
                    self._put(token, "unplaced", "")

    def _place_asked_thing(self) -> None:
        """*Which shipyard* is no number, no year and no text, unless the relation to it is called so."""
        step = reached_by(self.query.part) if self.query.ask == "list" and not self.query.key else None
        hit = _ASKED_THING.match(self.text)
        kind = None if step is None else self.vocabulary.kinds_reached[step]
        if hit is None or kind not in (NUMBER, DATE, LEAF):
            return
        behind = hit[2].lower()
        is_verb = behind in BEING | DOING | HAVING or Lexicon.load().verb(behind)
        for token in self._inside(*hit.span(1)) if is_verb else ():
            is_of_others = len(self._spelt(token)[0]) > 0 if kind == LEAF else names_a_thing(hit[1].lower())
            is_said = self._best_label(token)[2] >= SPELT or self._is_label(token) or self._is_used(token)
            if is_of_others and not is_said:
                self._put(token, "unplaced", "")

    def _place_asked_type(self) -> None:
        """*Which interpreters* is answered with interpreters: where none is one, the word has no place."""
        type_ = asked_type(self.text, self.mentions, self.likeness)
        is_of_it = type_ < 0 or final_type(self.query.part, self.vocabulary) == type_
        if is_of_it or self.query.ask not in ("list", "count") or self.query.key:
            return
        if any(type_ in self.vocabulary.types_of(node) for node in self._some_members()):
            return
        head = _HEAD.match(self.text)
        if head is None or self._lists_numbers():
            return
        noun, exact = singular(self.vocabulary.types[type_]), self.likeness.exact_types[:, type_].tolist()
        short = noun.isalpha() and not Lexicon.load().known(noun)  # *work orders* of a type `wo`
        said = {
            a for (a, _, _), like in zip(self.likeness.words, exact, strict=True) if short and like >= SPELT
        }
        for token in [t for t in self.tokens if t.start >= head.start(1)][: _MOST_BEFORE_NOUN + 1]:
            if (singular(token.norm) == noun or token.start in said) and not self._is_used(token):
                self._put(token, "unplaced", "")
                return
            if not self._narrows_noun(token):
                return

    def _narrows_noun(self, token: Token) -> bool:
        """Whether a word before a noun says which of them: *sponsored animals*, *young doctors*."""
        lexicon = Lexicon.load()
        is_adjective = lexicon.uses(token.norm, ADJECTIVE) > lexicon.uses(token.norm, NOUN)
        return token.norm not in FUNCTION and (is_participle(token.norm) or is_adjective)

    def _place_flags(self) -> None:
        """What is named whole and is yes or no of things has to be asked for: *and are in use*."""
        used = {relation_of(step) for step in steps_of(self.query)}
        for relation in self.vocabulary.flags.keys() - used:
            label = rf"\b{re.escape(self.vocabulary.relations[relation])}\b"
            for match in re.finditer(label, self.text, re.I):
                inside = self._inside(*match.span())
                for token in inside if not any(self._is_used(t) or self._is_near(t) for t in inside) else ():
                    self._put(token, "unplaced", "")

    def _place_living(self) -> None:
        """*Which animals* is not answered with what is no living thing: rows of visits."""
        type_ = final_type(self.query.part, self.vocabulary)
        is_nobody = type_ >= 0 and self.of.ranker.kinds.is_nobody(type_, groups=False)
        if is_nobody and self.query.ask in ("list", "count"):
            for token in self._inside(*living_asked_for(self.text, self.mentions)):
                if not self._spelt(token)[1].size and not self._is_near(token):
                    self._put(token, "unplaced", "")
        people = _HOW_MANY_PEOPLE.search(self.text) if self.query.ask == "count" else None
        for token in self._inside(*people.span(1)) if people and self._counts_nobody() else ():
            if not self._is_used(token) and not self._is_near(token):
                self._put(token, "unplaced", "")

    def _counts_nobody(self) -> bool:
        """Whether the query counts what is no person: *how many people* are not as many as their orders.

        The same holds for what it ranks or filters by: *the most people* are not the most orders.
        """
        counted = final_type(self.query.part, self.vocabulary) if self.query.ask == "count" else -1
        if counted >= 0 and _HOW_MANY_PEOPLE.search(self.text):
            # *How many people came* are no concerts.
            return self.of.ranker.kinds.is_nobody(counted, groups=False)
        types = [counted]
        for part in self.query.contents.parts:
            match part:
                case Counted(_, step) | Extreme(_, (*_, step), True):
                    types.append(int(self.vocabulary.types_reached[step]))
                case _:
                    pass
        return any(type_ >= 0 and self.of.ranker.kinds.is_nobody(type_) for type_ in types)

    def _are_all_of(self, types: Sequence[int]) -> bool:
        """Whether all that some step of the query leads to is of some types, though it does not say so."""
        executor = Executor(self.vocabulary.graph)
        typed = reduce(union, (executor.members(OfType(type_)) for type_ in types))
        try:
            sets = [executor.members(p) for p in self.query.contents.parts if isinstance(p, Walk | Anchor)]
        except OverBudget:
            return False
        return any(len(nodes) and not len(difference(nodes, typed)) for nodes in sets)

    def _types_that_hold(self) -> set[int]:
        """The declared types that the query asks for, or that nearly all have to which its steps lead."""
        schema, types = self.vocabulary.schema, set(self.query.contents.types)
        for step in steps_of(self.query):
            for end in (step, opposite(step)):
                type_ = int(self.vocabulary.end_types[end])
                if type_ >= 0 and schema.typed[end, type_] >= NEARLY_ALL * schema.nodes[end]:
                    types.add(type_)
        return types

    def _is_married(self, token: Token, labels: list[str]) -> bool:
        """Whether a word is *wife* or *husband* of `spouse`: a sex that is not recorded is taken on trust."""
        words = [singular(word) for label in labels for word in label.split()]
        is_broader = any("spouse" in terms for terms in kin_terms(token.norm)[1:])
        return is_broader and any("spouse" in terms for w in words for terms in kin_terms(w)[:1])

    def _is_compound(self, token: Token, after: Token | None) -> bool:
        """Whether a word is the first of a compound: *sister* of *sister city*."""
        if after is None or self.text[token.stop : after.start] != " ":
            return False
        return after.text.islower() and Lexicon.load().uses(after.norm, NOUN) > 0

    def _lists_times(self) -> bool:
        """Whether dates or years are listed, which are no ages."""
        query, part = self.query, self.query.part
        return (
            query.ask == "list" and isinstance(part, Walk) and self.vocabulary.is_of_time(opposite(part.step))
        )

    @cached_property
    def _lists_people(self) -> bool:
        """Whether what the query lists or counts is of a declared type that means persons."""
        type_ = final_type(self.query.part, self.vocabulary)
        return type_ >= 0 and self.of.ranker.kinds.are_people(type_)

    def _lists_numbers(self) -> bool:
        step = reached_by(self.query.part)
        return step is not None and self.vocabulary.kinds_reached[step] not in (THING, LEAF)

    def _is_of_each(self) -> bool:
        """Whether *how many tickets* is read as a number that is not how many: the `ticket price`."""
        match = english.HOW_MANY_OF.match(self.text)
        words = self.vocabulary.relations[relation_of(steps_of(self.query)[0])].split()
        if match is None or singular(match[1].lower()) not in map(singular, words[:-1]):
            return False
        said = [w for w in words if w not in FUNCTION and not is_participle(w)]
        if not said or english.AMOUNT.fullmatch(said[-1]):
            return False
        return singular(said[-1]) != singular(match[1].lower())

    def _restrict(self, start: int, stop: int, part: str, carried: bool) -> None:
        inside = list(self._inside(start, stop))
        is_label = any(map(self._is_label, inside))
        for token in inside:
            if is_label and token.norm in ("than", "per"):
                continue  # *broader than*, of a relation `broader`
            if carried and _DEGREE.fullmatch(token.norm) and token.norm not in FUNCTION:
                self.degrees[token.start] = part
            elif carried:
                self._put(token, "operator", part)
                if token.norm in _EXACTLY:
                    self.carried_words.add(token.start)
            elif not self._is_label(token) and not (
                token.norm in FUNCTION
                and " " in self.text[start:stop].strip()
                and token.norm in english.PREPOSITIONS
            ):
                self._put(token, "unplaced", "")

    # content words

    def _own_labels(self) -> list[tuple[Place, str, Float32, Float32]]:
        """The labels of the query: what it is, its words, and the likenesses of the content words to it."""
        like = self.likeness
        ends = [p.end for p in self.query.contents.parts if isinstance(p, OfType) and p.type < 0]
        own: list[tuple[Place, str, Float32, Float32]] = [
            ("relation", self.vocabulary.relations[r], like.relations[:, r], like.exact_relations[:, r])
            for r in sorted({relation_of(step) for step in (*steps_of(self.query), *ends)})
        ]
        for t in sorted(self._types_that_hold()):
            own.append(("type", self.vocabulary.types[t], like.types[:, t], like.exact_types[:, t]))
        return own

    def _best_label(self, token: Token) -> tuple[Place, str, float, float]:
        """The label of the query that a word is most like: what it is, its words, and how like."""
        rows = [i for i, (a, b, _) in enumerate(self.likeness.words) if a < token.stop and token.start < b]
        best: tuple[Place, str, float, float] = ("frame", "", 0.0, 0.0)
        for kind, label, near, exact in self.own:
            for row in rows:
                if near[row] > best[2]:
                    best = (kind, label, float(near[row]), float(exact[row]))
        return best

    def _is_label(self, token: Token) -> bool:
        """Whether a word is one of a label of the query by its spelling; *last* in *last serviced on*."""
        if self._best_label(token)[3] >= SPELT:
            return True
        said = {token.norm, *english.EACH_PERIOD.get(token.norm, ()), *english.IN_FULL.get(token.norm, ())}
        return any(not said.isdisjoint(label.split()) for _, label, _, _ in self.own)

    def _is_near(self, token: Token) -> bool:
        return self._best_label(token)[2] >= UNEXPLAINED

    def _named_by(self, token: Token) -> set[int]:
        """The things that a word is the name of, and no label of the query: *comedies* of the genre.

        Where no types are declared it may as well say what things are: *films*, which is a tag as well.
        """
        if not self.vocabulary.types or token.norm in FUNCTION:
            return set()
        inside = (m for m in self.mentions if m.start <= token.start and token.stop <= m.stop)
        named = {m.candidates[0].node for m in inside if m.candidates and m.candidates[0].how <= PLURAL}
        words = (word for _, label, _, _ in self.own for word in label.split())
        return set[int]() if named and singular(token.norm) in map(singular, words) else named

    def _means_something(self, token: Token) -> bool:
        """*Hake* of *European hake*, *took an hour to load*, *still open*: words that must have a place."""
        before = (_TAKES_TO, _STILL, _THEY)
        return self._is_head_of_name(token) or any(p.search(self.text, 0, token.start) for p in before)

    def _is_head_of_name(self, token: Token) -> bool:
        """Whether a rare word is the last one of what things are called: a kind of what the graph has."""
        if token.norm in self.of.ranker.ranker.common_words:
            return False
        inside = (m for m in self.mentions if m.start == token.start and m.stop == token.stop)
        nodes = [c.node for m in inside for c in m.candidates if c.how in (PARTIAL, WORDS)]
        heads = (words_of(self.vocabulary.graph.labels[node])[-1:] for node in nodes)
        return any(singular(token.norm) in map(singular, head) for head in heads)

    def _some_have(self, values: set[int]) -> bool:
        """Whether some of a set that the query goes over has one of some values, and others have not."""
        if all(not values.isdisjoint(self._values_of(node)) for node in self._some_members()):
            return False
        sets = (part for part in self.query.contents.parts if not isinstance(part, Anchor | OfType))
        without = ({values.isdisjoint(self._values_of(n)) for n in self._some_members(part)} for part in sets)
        return any(len(has_none) > 1 for has_none in without)

    def _has_another(self, values: set[int]) -> bool:
        """Whether a name of the query has another value of a relation that leads to one of some values."""
        out, into = self.vocabulary.graph.out, self.vocabulary.graph.into
        relations = {r for value in values for r in into.relation[slice(*into.span(value))].tolist()}
        for anchor in self.query.contents.entities if self.query.ask == "yes" else ():
            own = out.relation[slice(*out.span(anchor.node))].tolist()
            if relations.intersection(own) and values.isdisjoint(self._values_of(anchor.node)):
                return True
        return False

    def _some_members(self, part: Part | None = None) -> list[int]:
        """The first of what the query, or a part, leads to; none where that takes too many edges."""
        try:
            return Executor(self.vocabulary.graph).members(part or self.query.part)[:MOST_READ].tolist()
        except OverBudget:
            return []

    def _is_what_is_asked(self, token: Token) -> bool:
        """Whether a word says what is asked for: *who edited*, *when was she born*, *what is the fee for*."""
        before, behind = self.text[: token.start], self.text[token.stop :]
        of_event = _ASKS_OF_EVENT.match(self.text)
        if of_event is not None and token.start >= of_event.end():
            is_verb = is_participle(token.norm) or Lexicon.load().mostly_verb(token.norm)
            return is_verb and not token.norm.endswith("ing")
        if _ASKS_BY_VERB.fullmatch(before):
            common, lexicon = self.of.ranker.ranker.common_words, Lexicon.load()
            forms = (token.norm, *lexicon.lemmas(token.norm))
            return lexicon.verb(token.norm) and min(common.get(f, COMMONEST) for f in forms) >= COMMONEST
        if _ASKS_BY_COUNT.fullmatch(before):
            return self._is_counted(token)
        return bool(_ASKS_BY_NOUN.fullmatch(before) and _BEHIND_NOUN.match(behind))

    def _is_how(self, token: Token) -> bool:
        """Whether a word says by what is asked how much: *how wide*; *how big* is any measure."""
        return _HOW.fullmatch(self.text, 0, token.start) is not None and token.norm not in _VAGUE

    def _says_other_event(self, token: Token) -> bool:
        """Whether it is asked when something happened that is another label: *when was it listed*."""
        of_event = _ASKS_OF_EVENT.match(self.text) if asks_when(self.text) else None
        return of_event is not None and token.start >= of_event.end() and len(self._spelt(token)[0]) > 0

    def _says_what_happened(self, token: Token) -> bool:
        """Whether a verb says of what the time is asked, and the query goes further than to a plain date.

        *When was the route laid out* is no date of the calls on it, nor *when did it land* a departure.
        """
        words = {word for kind, label, _, _ in self.own if kind == "relation" for word in label.split()}
        is_plain = len(steps_of(self.query)) == 1 and words <= _PLAIN_DATES
        lexicon = Lexicon.load()
        is_verb = is_participle(token.norm) or lexicon.mostly_verb(token.norm)
        return not is_plain and is_verb and token.norm not in _SAYS_LITTLE

    def _is_other_event(self, token: Token, near: float) -> bool:
        """Whether the verb of *when did she leave* is known for something else than the labels: *joined*."""
        did = _WHEN_DID.match(self.text)
        names = [
            m.stop + 1 for m in map(self.mentions.__getitem__, self.used) if did and m.start == did.end()
        ]
        if did is None or near >= SPELT or token.start != max(names, default=did.start("verb")):
            return False
        thesaurus, norms = shipped_thesaurus(), [t.norm for t in self.tokens]
        own = frozenset().union(*(thesaurus.label_concepts(label) for _, label, _, _ in self.own))
        said = thesaurus.concepts(norms, self.tokens.index(token))
        is_phrase = _PARTICLE.match(self.text, token.stop)  # *take over*, which is no taking
        return bool(own and said) and own.isdisjoint(said) and token.norm not in LIGHT and not is_phrase

    @cached_property
    def _are_of_events(self) -> bool:
        """Whether the labels of the query say what happened: *started* is not when somebody was born."""
        words = [word for kind, label, _, _ in self.own if kind == "relation" for word in label.split()]
        return any(is_participle(word) and Lexicon.load().verb(word) for word in words)

    def _is_counted(self, token: Token) -> bool:
        """Whether a noun says what there are so many of, which is of a declared type or a number itself."""
        lexicon = Lexicon.load()
        if token.norm in ANY_PEOPLE | ANYONE | {"times"} or {token.norm, singular(token.norm)} & UNITS.keys():
            return False
        if lexicon.mostly_verb(token.norm) or is_participle(token.norm):
            return False
        is_known = self.query.ask == "list" or final_type(self.query.part, self.vocabulary) >= 0
        is_other_type = len(self._spelt(token)[1]) > 0
        return is_known and not is_other_type and bool(lexicon.classes(token.norm))

    def _is_attribute(self, token: Token) -> bool:
        """Whether a word is an adjective before what it narrows: *famous films*, *older films*."""
        before = self.text[: token.start].rpartition(" ")[0].rpartition(" ")[2].lower()
        behind = next((t for t in self.tokens if t.start == token.stop + 1), None)
        if behind is None or {token.norm, behind.norm} & FUNCTION or not (token.text + behind.text).islower():
            return False
        if token.norm in _SAYS_LITTLE or token.norm in english.NARROWS_NOTHING - english.NARROWS:
            return False
        is_degree = before in ("most", "least") or (self.carried.compares and token.norm.endswith("er"))
        if is_degree or token.start in self.degrees or singular(token.norm) != token.norm:
            return False
        lexicon = Lexicon.load()
        others = sum(lexicon.uses(token.norm, part) for part in (NOUN, VERB, ADVERB))
        is_noun = lexicon.uses(behind.norm, NOUN) > 0
        return is_noun and lexicon.uses(token.norm, ADJECTIVE) > 2 * others

    def _least_share(self, token: Token, near: float, *, is_name: bool, is_other: bool) -> float:
        """How likely a label has to carry a word, that it has its place."""
        if is_name and near < SAYS_IT:
            return LEAST_OF_NAME
        if near < UNEXPLAINED and (self._is_how(token) or self._says_other_event(token)):
            return LEAST_OF_NAME
        if near < UNEXPLAINED and self.query.ask == "yes" and _A.search(self.text, 0, token.start):
            lexicon = Lexicon.load()
            is_noun = lexicon.uses(token.norm, NOUN) > lexicon.uses(token.norm, ADJECTIVE)
            # *Does she own a dog*, *is it a big flight*.
            if self._is_attribute(token):
                return math.inf
            return LEAST_OF_NAME if is_noun else shipped_placing().least
        if asks_when(self.text) and near < UNEXPLAINED and self._says_what_happened(token):
            return LEAST_OF_NAME
        if is_other and self._is_what_is_asked(token):
            is_event = near < UNEXPLAINED and asks_when(self.text) and self._are_of_events
            is_event = is_event and not any(self._is_near(t) for t in self.tokens)
            return LEAST_OF_NAME if is_event else LEAST_OF_OTHER
        if token.norm in _GOOD:
            return LEAST_OF_GOOD
        if near < UNEXPLAINED and _LACKING.search(self.text, 0, token.start):
            return LEAST_OF_OTHER  # *with no year*
        if near < UNEXPLAINED and self._means_something(token):
            return LEAST_OF_NAME
        is_attribute = near < UNEXPLAINED and self._is_attribute(token)
        return LEAST_OF_NAME if is_attribute else shipped_placing().least

    def _place_content(self) -> None:
        """The other content words, as the trees tell."""
        rows = self.of.rows(self.text, self.mentions, self.likeness, self.query, self.used)
        carried = shipped_placing().of(rows)
        starts = [self.likeness.words[place][0] for place in rows.places]
        self.shares = np.where([start in self.carried_words for start in starts], 1, carried).astype(
            np.float32
        )
        by_start = {
            self.likeness.words[place][0]: share for place, share in zip(rows.places, carried, strict=True)
        }
        elsewhere = {start for start, is_other in zip(starts, rows.say_another(), strict=True) if is_other}
        for token in self.tokens:
            inside = [s for start, s in by_start.items() if token.start <= start < token.stop]
            if token.start in self.placed or not inside:
                continue
            kind, label, near, _ = self._best_label(token)
            if self._is_other_event(token, near):
                self._put(token, "unplaced", "")
                continue
            share = min(inside)
            named = self._named_by(token)
            if named and near >= SAYS_IT and (self._some_have(named) or self._has_another(named)):
                self._put(token, "unplaced", "")  # *dramas* of plays
                continue
            least = self._least_share(token, near, is_name=bool(named), is_other=token.start in elsewhere)
            if token.norm in ANY_PEOPLE and self._lists_people:
                share = 1.0
            near = 0.0 if token.norm in GOING else near
            is_idle = near >= UNEXPLAINED or token.norm in _SAYS_LITTLE
            if share < least or (not is_idle and 1 - (1 - share) * (1 - near) < self.least):
                is_likely = share >= shipped_placing().least and not named and not self._is_attribute(token)
                is_likely = is_likely and not asks_when(self.text)  # *when did she leave*
                self._put(token, "unplaced", label if is_likely else "")
            elif token.start in self.degrees:
                self._put(token, "operator", self.degrees[token.start])
            elif near >= UNEXPLAINED:
                self._put(token, kind, label)

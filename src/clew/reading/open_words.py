"""Words that a reading must say, and does not: what narrows what is asked for, a number that is of a name.

*Animated films*, where nothing says which are; *8 Merchant House*, which is no Merchant House.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clew.query.tree import Compared, Counted, Extreme, OfType, Query, Without, mentions_of, steps_of
from clew.query.vocabulary import UNEXPLAINED, Vocabulary
from clew.reading.english import (
    AGGREGATE,
    ANYONE,
    COUNT,
    EXTREME,
    FUNCTION,
    LIGHT,
    MUTUAL,
    NARROWS_NOTHING,
    NEGATION,
    SUPERLATIVE,
    is_rank,
    mutual_words,
)
from clew.reading.likeness import said_by_labels, types_said
from clew.reading.mentions import Mention
from clew.reading.reader import Reading
from clew.text.lexicon import Lexicon

_RELATIVE = (
    r"(?:with|without|that|(?<!and )(?:who|whose)"
    r"|which(?=\s+(?:is|are|was|were|ha[sd]|have|do|does|did|can|could|will)\b))"
)
_CLAUSE = re.compile(
    rf"(?<=\w)\s+{_RELATIVE}\s+(?!who|whom|which|what)(?P<said>(?:\w+\s+with\s+)?[^,;:?!.()]+?)"
    rf"(?=\s+{_RELATIVE}\s|[,;:?!.()]|$)",
    re.I,
)
"""A clause behind what it narrows."""
_COMPOUND = re.compile(r"(?:[^\W_]+-)+$")
_LAST_WORD = re.compile(r"(?:^|[^\W_]+|[^\w\s'’])\s*$")
_BEFORE_MODIFIER = frozenset(
    "the a an all any some every each many no other of in at from with for by on across among about than as"
    " show list name find give count".split()
)
"""Words that a modifier follows; behind others (*who visited planets*) a word before a noun may be a verb."""
_FIRST_ONLY = frozenset(("which", "what"))
"""Such words, at the beginning of a question alone: else what follows *which* is a verb."""
_HOW_WELL = re.compile(
    r"(?:best|worst|longest|shortest|highest|lowest|fastest|slowest)[-\s]+(?:\w+ed|serving|running|standing)\b",
    re.I,
)
"""Words that rank by what is done: *best attended*, *longest-serving*."""
_ASKS_WHICH = re.compile(r"\W*(?:which|what|how many)\s+(?!(?:are|is|were|was|do|does|did)\b)\w+", re.I)
_PREDICATE = re.compile(
    r"\b(?:have|has|had|are|is|were|was|do|does|did|can|could|will|get|gets|need|needs)\b", re.I
)
_EXISTING = frozenset(
    """exist exists there offered available listed recorded known included covered present stored registered
    kept held given shown mentioned altogether ordered sorted""".split()
)
"""What may be said of all there are."""
_OPERATIONS = (AGGREGATE, COUNT, EXTREME, NEGATION)
MOST_UNSAID_STEPS = 2
"""Steps that may lead from one name to the other unsaid."""
LIKE_A_TYPE = 0.7
"""From this likeness on a word says a type."""


def leaves_open(vocabulary: Vocabulary, reading: Reading, query: Query) -> bool:
    """Whether a query answers more than was asked, as it says nothing of what narrows it."""
    return (
        leaves_number_open(reading, query)
        or leaves_modifier_open(vocabulary, reading, query)
        or leaves_clause_open(vocabulary, reading, query)
        or leaves_predicate_open(vocabulary, reading, query)
        or goes_round(reading, query)
    )


def goes_round(reading: Reading, query: Query) -> bool:
    """Whether a *yes* is found by a way round: over several steps, of which some are said by no word."""
    steps, like = steps_of(query), reading.likeness.relations
    if query.ask != "yes" or len(steps) <= MOST_UNSAID_STEPS:
        return False
    return any(like[:, step // 2].max(initial=0.0) < UNEXPLAINED for step in steps)


def leaves_modifier_open(vocabulary: Vocabulary, reading: Reading, query: Query) -> bool:
    """Whether a word right before one that says a type of a query narrows it, and is like no label of it."""
    like, text, types = reading.likeness, reading.question, types_said(vocabulary, query)
    names = _names(reading, query)
    values = [m.start for m in names if m.candidates and text[m.start : m.start + 1].islower()]
    for place in _unsaid_places(vocabulary, reading, query):
        start, stop, word = like.words[place]
        next_word = next((i for i, (at, _, _) in enumerate(like.words) if text[stop:at] == " "), -1)
        narrows = next_word >= 0 and like.types[next_word, types].max(initial=0.0) >= LIKE_A_TYPE
        narrows = narrows and not Lexicon.load().mostly_verb(like.words[next_word][2])
        narrows = narrows or any(text[stop:at] == " " for at in values)
        begin = _start_of_compound(text, start)
        is_named = any(m.start < stop and begin < m.stop for m in names) or any(
            match.start() <= start < match.end() for match in _HOW_WELL.finditer(text)
        )
        is_named = is_named or (word in MUTUAL and _says_mutual(vocabulary, query))
        if narrows and not is_named and _may_narrow(word) and _is_modifier_at(text, begin):
            return True
    return False


def _says_mutual(vocabulary: Vocabulary, query: Query) -> bool:
    """Whether a relation of a query holds both ways by its name: *neighbouring* is what *borders*."""
    return any(mutual_words(vocabulary.relations[step // 2]) for step in steps_of(query))


def leaves_clause_open(vocabulary: Vocabulary, reading: Reading, query: Query) -> bool:
    """Whether a clause of the question narrows what is asked for, and a query says no word of it.

    *Stations in Thornfield with a waiting room*, *games of Vasquez that were banned*.
    """
    text, unsaid = reading.question, set(_unsaid_places(vocabulary, reading, query))
    spans = [(m.start, m.stop) for m in _names(reading, query)]
    operated = any(isinstance(p, Compared | Counted | Extreme | Without) for p in query.contents.parts)
    for clause in _CLAUSE.finditer(text):
        start, stop = clause.span("said")
        ranked = operated and any(pattern.search(text, start, stop) for pattern in _OPERATIONS)
        if ranked or any(a < stop and start < b for a, b in spans):
            continue
        inside = [
            place
            for place, (at, end, word) in enumerate(reading.likeness.words)
            if start <= at and end <= stop and word not in FUNCTION and _may_narrow(word)
        ]
        if inside and all(place in unsaid for place in inside):
            return True
    return False


def leaves_number_open(reading: Reading, query: Query) -> bool:
    """Whether a number beside a name of a query is none of it: *8 Merchant House* is no Merchant House."""
    text, used = reading.question, mentions_of(query)
    names = [m for m in _names(reading, query) if m.strong and m.candidates]
    numbers = [
        m
        for i, m in enumerate(reading.mentions)
        if m.values and i not in used and m.text.isdigit() and not is_rank(text, m.start, m.stop)
        if not any(m.overlaps(name) for name in names)
    ]
    return any(" " in (text[m.stop : n.start], text[n.stop : m.start]) for m in numbers for n in names)


def leaves_predicate_open(vocabulary: Vocabulary, reading: Reading, query: Query) -> bool:
    """Whether a query is of all of a type, where the question says something of those that it asks for.

    *Which transformers are leaking oil?*, *how many customers are active?*.
    """
    if not isinstance(query.part, OfType) or query.ask not in ("list", "count"):
        return False
    opening = _ASKS_WHICH.match(reading.question)
    verb = None if opening is None else _PREDICATE.search(reading.question, opening.end())
    if verb is None:
        return False
    words = (reading.likeness.words[place] for place in _unsaid_places(vocabulary, reading, query))
    return any(at >= verb.end() and w not in _EXISTING and _may_narrow(w) for at, _, w in words)


def _names(reading: Reading, query: Query) -> list[Mention]:
    return [reading.mentions[i] for i in mentions_of(query)]


def _unsaid_places(vocabulary: Vocabulary, reading: Reading, query: Query) -> Iterator[int]:
    """The content words, by their places, that stand in no name of a query, no number, and no label of it."""
    like, names = reading.likeness, [*_names(reading, query), *(m for m in reading.mentions if m.values)]
    word_likeness = said_by_labels(like, query, types_said(vocabulary, query), exactly=False)
    for place, (start, stop, word) in enumerate(like.words):
        if word in FUNCTION or word in LIGHT or any(m.start < stop and start < m.stop for m in names):
            continue
        if word_likeness[place] < UNEXPLAINED:
            yield place


def _may_narrow(word: str) -> bool:
    restricts = word.isalpha() and word not in NARROWS_NOTHING and word not in ANYONE
    return restricts and not any(pattern.fullmatch(word) for pattern in _OPERATIONS)


def _start_of_compound(text: str, start: int) -> int:
    """Where the word begins that is joined to another one by a hyphen, as *grown* in *shade-grown*."""
    match = _COMPOUND.search(text, 0, start)
    return match.start() if match else start


def _is_modifier_at(text: str, start: int) -> bool:
    """Whether the word that begins at `start` stands where a modifier does: first, or behind an article."""
    match = _LAST_WORD.search(text[:start].lower())
    before = match[0].strip() if match else ""
    if before in _FIRST_ONLY:
        return not text[: match.start() if match else 0].strip()
    ranks = SUPERLATIVE.fullmatch(before) is not None and before not in FUNCTION
    return ranks or not before or before in _BEFORE_MODIFIER

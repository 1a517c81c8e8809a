"""Mentions: spans of a question that may be names, numbers or dates, each with what it may stand for.

Nothing is decided here: a span keeps several candidates, spans may overlap, and how each was found is a
feature of the ranking. At most `MOST_MENTIONS` are kept; `mention_finder.py` finds them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from clew.query.tree import Value
from clew.query.values import values_in
from clew.reading.english import FUNCTION
from clew.text.lexicon import Lexicon

GIVEN, EXACT, ALIAS, NORMAL, PLURAL, PARTIAL, TYPO, WORDS, MEANT = range(9)
"""How a candidate was found. WORDS: all words of the name stand in the question, in any order."""
HOW = ("given", "exact", "alias", "normalised", "plural", "part", "typo", "words", "meant")
QUALITY = (1.0, 1.0, 0.97, 0.93, 0.85, 0.7, 0.6, 0.75, 0.95)
MOST_MENTIONS = 10


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node that a mention may stand for; `score` in [0, 1], `how` it was found."""

    node: int
    how: int
    score: float


@dataclass(frozen=True, slots=True)
class Mention:
    """A span of the question, in characters, and the nodes or the values that it may stand for."""

    start: int
    stop: int
    text: str
    candidates: tuple[Candidate, ...] = ()
    values: tuple[Value, ...] = ()
    strong: bool = True
    """Written like a name, or of several words: a reading that leaves it open leaves much open."""

    def overlaps(self, other: Mention) -> bool:
        """Whether the spans share a character."""
        return self.start < other.stop and other.start < self.stop

    def touches(self, spans: Iterable[tuple[int, int]]) -> bool:
        """Whether it shares a character with one of some spans [start, stop)."""
        return any(start < self.stop and self.start < stop for start, stop in spans)


_BEFORE_NAME = re.compile(r"\s+(?:(?:called|named)\s+)?[\"'“‘]?", re.I)
_BEHIND_NAME = re.compile(r"[\"'”’]?(?:\s+(?:of|from)\s+|\s*[,(]\s*)(?:the\s+)?", re.I)


def says_which(question: str, name: Mention, said: Mention) -> bool:
    """Whether a mention beside a name may say which one of the name is meant: *Ann Lee of Oslo*."""
    if said.stop <= name.start:
        return _BEFORE_NAME.fullmatch(question, said.stop, name.start) is not None
    return name.stop <= said.start and _BEHIND_NAME.fullmatch(question, name.stop, said.start) is not None


def spans_of(mentions: Sequence[Mention], places: Iterable[int]) -> list[tuple[int, int]]:
    """The characters [start, stop) of some mentions, given by their places."""
    return [(mentions[i].start, mentions[i].stop) for i in places]


def surest_candidates(nodes: Iterable[Candidate]) -> list[Candidate]:
    """The candidates, without guesses where one has this very name: *Kenya* is not *Mount Kenya*."""
    candidates = list(nodes)
    if any(c.how in (GIVEN, EXACT) for c in candidates):
        return [c for c in candidates if c.how not in (PARTIAL, TYPO, WORDS)]
    return candidates


def is_certain(nodes: Iterable[Candidate]) -> bool:
    """Whether one of the candidates has this very name."""
    return any(c.how in (GIVEN, EXACT, ALIAS, NORMAL) for c in nodes)


def _without_repeats(mentions: Sequence[Mention]) -> list[Mention]:
    """The mentions without candidates that a better mention around the same place has.

    A misspelt name is better than what is spelt right in it: *Court* in *Broklyne Court*.
    """
    misspelt = [(m, c.node) for m in mentions for c in m.candidates if c.how == TYPO]
    mentions = [
        replace(m, candidates=tuple(c for c in m.candidates if not _is_part_of_misspelt(m, c, misspelt)))
        for m in mentions
    ]
    ranked = sorted(
        (m for m in mentions if m.candidates),
        key=lambda m: (-m.candidates[0].score, m.start - m.stop, m.start),
    )
    taken: list[tuple[Mention, set[int]]] = []
    for mention in ranked:
        taken_nodes = {n for better, nodes in taken if better.overlaps(mention) for n in nodes}
        candidates = tuple(c for c in mention.candidates if c.node not in taken_nodes)
        if candidates:
            taken.append((replace(mention, candidates=candidates), {c.node for c in candidates}))
    return [mention for mention, _ in taken]


def _is_part_of_misspelt(
    mention: Mention, candidate: Candidate, misspelt: Sequence[tuple[Mention, int]]
) -> bool:
    """Whether a guess at a node by some words stands inside of its whole name, misspelt."""
    return candidate.how in (PARTIAL, WORDS) and any(
        node == candidate.node
        and m.start <= mention.start
        and mention.stop <= m.stop
        and m.text != mention.text
        for m, node in misspelt
    )


def likeliest_mentions(mentions: Sequence[Mention], lexicon: Lexicon) -> list[Mention]:
    """The mentions that are most likely names, each marked by whether it is written like one."""
    distinct = _without_repeats(mentions)
    marked = _without_inner([replace(m, strong=_is_strong(m, lexicon)) for m in distinct])
    marked.sort(key=lambda m: (-_weight(m), m.start, -m.stop))
    chosen: list[Mention] = []
    for mention in marked:
        inside = [c for c in chosen if c.start <= mention.start and mention.stop <= c.stop]
        sure = any(c.strong and c.candidates[0].how <= NORMAL for c in inside)
        if not inside or (len(inside) < 2 and (not sure or mention.candidates[0].how <= NORMAL)):
            chosen.append(mention)
    return sorted(chosen[:MOST_MENTIONS], key=lambda m: (m.start, -m.stop))


def _without_inner(mentions: Sequence[Mention]) -> list[Mention]:
    """The mentions without those inside of a longer name that is written out: *Korea* in *South Korea*.

    And without guesses at names that take some words of such a name and some beside it.
    """
    full_names = [
        m
        for m in mentions
        if m.strong
        and len(re.split(r"[\s_]+", m.text)) > 1
        and (m.text[0].isupper() or "_" in m.text)
        and any(c.how in (GIVEN, EXACT) for c in m.candidates)
    ]
    return [m for m in mentions if not any(_is_taken(m, o) for o in full_names)]


def _is_taken(mention: Mention, name: Mention) -> bool:
    """Whether the words of a mention are better taken for a name that is written out."""
    is_given = any(c.how == GIVEN for c in mention.candidates)
    if is_given or not mention.overlaps(name) or (mention.start, mention.stop) == (name.start, name.stop):
        return False
    if name.start <= mention.start and mention.stop <= name.stop:
        return True
    around = mention.start <= name.start and name.stop <= mention.stop
    return not around and all(c.how in (PARTIAL, TYPO, WORDS) for c in mention.candidates)


def _is_strong(mention: Mention, lexicon: Lexicon) -> bool:
    words = [w for w in re.findall(r"\w+", mention.text) if w.lower() not in FUNCTION]
    certain = mention.candidates[0].how in (GIVEN, EXACT, ALIAS, NORMAL)
    written = any(w[:1].isupper() or w[:1].isdigit() for w in words) and mention.start > 0
    unknown = any(not lexicon.known(w.lower()) for w in words)
    return certain and (len(words) > 1 or written or unknown)


def _weight(mention: Mention) -> float:
    words = len(mention.text.split())
    return mention.candidates[0].score + 0.25 * min(words, 6) + 0.3 * mention.strong


def _is_some_digits(mention: Mention, question: str, number: tuple[int, int]) -> bool:
    """Whether a mention is some digits of a number that has more of them."""
    inside = number[0] <= mention.start and mention.stop <= number[1] and mention.text.isdigit()
    is_given = any(c.how == GIVEN for c in mention.candidates)
    return inside and not is_given and mention.text != re.sub(r"\D", "", question[number[0] : number[1]])


def with_values(question: str, mentions: Sequence[Mention]) -> list[Mention]:
    """The mentions with the numbers and dates of a question; one that is a name too has both.

    Digits of a longer number are no name, unless it is given: no *5* in *2.5*.
    """
    values_by_span = values_in(question)
    numbers = [span for span, values in values_by_span.items() if not any(v.date for v in values)]
    result = [m for m in mentions if not any(_is_some_digits(m, question, span) for span in numbers)]
    place_by_span = {(m.start, m.stop): i for i, m in enumerate(result)}
    for (start, stop), values in values_by_span.items():
        at = place_by_span.get((start, stop))
        if at is not None:
            result[at] = replace(result[at], values=values)
        else:
            result.append(Mention(start, stop, question[start:stop], (), values, strong=False))
    return sorted(result, key=lambda m: (m.start, -m.stop))

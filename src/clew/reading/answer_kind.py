"""What sort of thing a question asks for, and what sort a candidate answers with: by WordNet's noun classes.

*Who* asks for a person, *where* for a place, *which film* for what films are. Where no types are declared,
what stands at an end of a relation is told by the noun that the relation is (*spouse*, *release year*), who
acts (*directed by*), where (*lives in*); and by the other ends that most of the same nodes have.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from clew.foundation.arrays import Float32
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
    Walk,
    Without,
)
from clew.query.vocabulary import DATE, NUMBER, Vocabulary
from clew.reading.asked_type import LEAD, asks_who
from clew.reading.english import BEING, FUNCTION
from clew.reading.mentions import Mention
from clew.text.lexicon import CLASSES, Lexicon

KINDS = ("kind_like", "kind_known")
"""How like the sort of answer is to what is asked for, in [0, 1], and whether both are known."""
LEAST_SHARED = 0.3
"""Ends that a smaller share of an end's nodes have say nothing of its sort."""
LEAST_LIKE, PEOPLE = 0.3, 0.9
"""A type that is less like persons, groups and animals is nobody; a noun as like persons asks for people."""
MOST_RELATIONS = 2_000
"""Relations of a graph up to which other ends tell the kind of an end too: each takes a row of all ends."""
_ASKED_KIND = re.compile(
    r"\b(?:(?P<who>who|whom)|(?P<where>where)|(?P<when>when)"
    r"|(?:which|what|how many|list|name|show|find|give)(?P<noun>\b.*))",
    re.I | re.S,
)
_KIND_OF = re.compile(r"^\W*(?:kinds?|types?|sorts?)\s+of\b", re.I)
_WHOSE = re.compile(r"\W*whose\b", re.I)
_WHICH_NOUN = re.compile(r"\W*(?:which|what|how many)\b", re.I)
_NO_NOUN = re.compile(
    r"\W*(?:who|whom|whose|when|where|how|why|(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b)",
    re.I,
)
"""What no noun that is asked for stands behind at once."""
_PLACES = frozenset("in at near".split())
_BEFORE_NOUN = FUNCTION | BEING


def _class_vector(name: str) -> Float32:
    vector = np.zeros(len(CLASSES), np.float32)
    vector[CLASSES.index(name)] = 1
    return vector


UNKNOWN = np.zeros(len(CLASSES), np.float32)
_WHO = (_class_vector("person"), _class_vector("group"), _class_vector("animal"))
_BY_WORD = {"who": _class_vector("person"), "where": _class_vector("location"), "when": _class_vector("time")}


def asked_kind(question: str, mentions: Sequence[Mention]) -> Float32:
    """The classes of what a question asks for, of length 1; zeros where its words do not say."""
    match = _ASKED_KIND.search(question)
    if match is None:
        return UNKNOWN
    for name, kind in _BY_WORD.items():
        if match[name] is not None:
            return kind
    start = match.start("noun")
    of = _KIND_OF.match(question[start:])
    return _noun_kind(_noun_behind(question, start + (of.end() if of else 0), mentions))


def asks_people(question: str, mentions: Sequence[Mention]) -> bool:
    """Whether a question begins with *who* or *whose*, or with a noun of persons alone: *pupils of*."""
    if asks_who(question) or _WHOSE.match(question):
        return True
    return float(_noun_kind(noun_asked_for(question, mentions)) @ _WHO[0]) >= PEOPLE


def noun_asked_for(question: str, mentions: Sequence[Mention]) -> str:
    """The noun that follows the word that asks, or that a question begins with; empty where there is none."""
    match = _WHICH_NOUN.match(question) or LEAD.match(question)
    start = match.end() if match else 0
    return "" if _NO_NOUN.match(question, start) else _noun_behind(question, start, mentions)


def _noun_behind(question: str, start: int, mentions: Sequence[Mention]) -> str:
    """The head of the first noun phrase from a place on; names before it are of it (*European countries*)."""
    lexicon, noun = Lexicon.load(), ""
    for word in re.finditer(r"[^\W_]+", question[start:]):
        at = start + word.start()
        text = word[0].lower()
        is_named = any(m.strong and m.candidates and m.start <= at < m.stop for m in mentions)
        if is_named or (not noun and text in _BEFORE_NOUN):
            continue
        if text in FUNCTION or lexicon.mostly_verb(text) or not lexicon.classes(text):
            break
        noun = text
    return noun


def _noun_kind(word: str) -> Float32:
    vector = UNKNOWN.copy()
    for name, share in (Lexicon.load().classes(word) if word else {}).items():
        vector[CLASSES.index(name)] = share
    return _unit(vector)


def _unit(vector: Float32) -> Float32:
    length = float(np.linalg.norm(vector))
    return vector / length if length else vector


@dataclass(eq=False)
class AnswerKinds:
    """The sorts of the ends and types of one graph."""

    vocabulary: Vocabulary
    _kinds: dict[int, Float32] = field(default_factory=dict[int, Float32])
    _relation_kinds: dict[int, Float32] = field(default_factory=dict[int, Float32])

    def features(self, queries: Sequence[Query], kind_asked_for: Float32) -> Float32:
        """How like what queries answer with is to what is asked for, float32 [n, KINDS]."""
        features = np.zeros((len(queries), len(KINDS)), np.float32)
        if not kind_asked_for.any():
            return features
        for row, query in enumerate(queries):
            kind = self._part_kind(query.part) if query.ask in ("list", "count") else UNKNOWN
            if kind.any():
                features[row] = float(kind @ kind_asked_for), 1
        return features

    def answers_nobody(self, query: Query, type_: int) -> bool:
        """Whether what a query lists, of a declared type or -1, is no person or group, as it is written."""
        if type_ >= 0:
            return self.is_nobody(type_)
        match query:
            case Query("list", Walk(_, step)):
                return self.vocabulary.are_words(step ^ 1)
            case _:
                return False

    def are_codes(self, query: Query) -> bool:
        """Whether what a query lists or counts has codes for names, so that it is nobody."""
        match query:
            case Query("list" | "count", Walk(_, step)):
                return self.vocabulary.are_codes(step ^ 1)
            case _:
                return False

    def is_nobody(self, type_: int) -> bool:
        """Whether nothing that a declared type may mean is a person, a group of them, or an animal."""
        kind = self._type_kind(type_)
        return bool(kind.any()) and max(float(kind @ one) for one in _WHO) < LEAST_LIKE

    def _part_kind(self, part: Part) -> Float32:
        match part:
            case OfType(type_, end):
                return UNKNOWN if type_ >= 0 else self.of_end(end)
            case Walk(_, step) | Qualified(_, step, _):
                return self.of_end(step ^ 1)
            case Both(_, OfType(type_, _)) if type_ >= 0:
                return UNKNOWN
            case Both(left, _) | Either(left, _) | Without(left, _):
                return self._part_kind(left)
            case Compared(source) | Counted(source) | Extreme(source) | Related(source):
                return self._part_kind(source)
            case Anchor():
                return UNKNOWN

    def _type_kind(self, type_: int) -> Float32:
        return _noun_kind(self.vocabulary.types[type_].split()[-1])

    def of_end(self, end: int) -> Float32:
        """The classes of what stands at an end, of length 1; zeros where it has a type or nothing says."""
        if self.vocabulary.end_types[end] >= 0:
            return UNKNOWN
        kind = self._kinds.get(end)
        if kind is None:
            kind = self._kinds[end] = _unit(self._end_kind(end) + self._kind_of_other_ends(end))
        return kind

    def _kind_of_other_ends(self, end: int) -> Float32:
        """What other ends say of one, each as far as its nodes are of them."""
        vocabulary = self.vocabulary
        if len(vocabulary.relations) > MOST_RELATIONS:
            return UNKNOWN
        shares = vocabulary.schema.together.row(end) / max(1, int(vocabulary.schema.nodes[end]))
        other_ends = [e for e in np.flatnonzero(shares >= LEAST_SHARED).tolist() if e != end]
        return sum((float(shares[e]) * self._end_kind(e) for e in other_ends), start=UNKNOWN)

    def _end_kind(self, end: int) -> Float32:
        kind = self._relation_kinds.get(end)
        if kind is None:
            kind = self._relation_kinds[end] = self._kind_of_relation(end)
        return kind

    def _kind_of_relation(self, end: int) -> Float32:
        """What the type or the values of an end say of it, or the name of its relation."""
        vocabulary = self.vocabulary
        if vocabulary.end_types[end] >= 0:
            return self._type_kind(vocabulary.end_types[end])
        if vocabulary.ends[end] in (DATE, NUMBER):
            is_time = vocabulary.ends[end] == DATE or bool(vocabulary.schema.years[end])
            return _class_vector("time" if is_time else "quantity")
        words = [w for w in vocabulary.relations[end // 2].split() if w not in BEING]
        return _tail_kind(words) if end & 1 else _head_kind(words)


def _tail_kind(words: Sequence[str]) -> Float32:
    """What a relation says of its tails: *spouse*, *place of birth*, *directed by*, *lives in*."""
    if not words:
        return UNKNOWN
    lexicon, last = Lexicon.load(), words[-1]
    if last == "by":
        return _BY_WORD["who"] if len(words) > 1 and lexicon.agent(words[-2]) else UNKNOWN
    if last in _PLACES:
        return _BY_WORD["where"]
    noun = words[words.index("of") - 1] if "of" in words[1:-1] else last
    return UNKNOWN if lexicon.mostly_verb(noun) else _noun_kind(noun)


def _head_kind(words: Sequence[str]) -> Float32:
    """What a relation says of its heads: *capital of*."""
    return _noun_kind(words[-2]) if len(words) > 1 and words[-1] == "of" else UNKNOWN

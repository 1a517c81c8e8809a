"""A noun that *of* or *'s* joins to a name, and that a reading does not say: *the music of Memento*."""

from __future__ import annotations

import re

from clew.reading.describe import UNEXPLAINED
from clew.reading.english import FUNCTION, LIGHT
from clew.reading.query import Query, mentions_of, steps_of
from clew.reading.reader import Reading
from clew.reading.vocabulary import Vocabulary, types_said

_OF_NAME = re.compile(r"\s*(?:of|for)\s+(?:the\s+|an?\s+)?", re.I)
_OWNED = re.compile(r"\s*['’]s?\s+")
_ASKED_FOR = re.compile(r"(?:\b(?:which|what|list|name|show|find|all|any|other|how many)\s+|^\W*)$", re.I)
"""Before what is asked for itself, which no label may say where no types are declared: *which films of X*."""


def leaves_noun_open(vocabulary: Vocabulary, reading: Reading, query: Query) -> bool:
    """Whether a word that *of*, *for* or *'s* joins to a name of a query is like no label of the query."""
    like, text = reading.likeness, reading.question
    names = [reading.mentions[i] for i in mentions_of(query)]
    types, relations = types_said(vocabulary, query), sorted({s // 2 for s in steps_of(query)})
    for place, (start, stop, word) in enumerate(like.words):
        if word in FUNCTION or word in LIGHT or any(m.start < stop and start < m.stop for m in names):
            continue
        if _ASKED_FOR.search(text[:start]):
            continue
        joined = any(
            (stop <= m.start and _OF_NAME.fullmatch(text, stop, m.start))
            or (m.stop <= start and _OWNED.fullmatch(text, m.stop, start))
            for m in names
        )
        said = like.relations[place, relations].max(initial=0.0)
        if joined and max(said, like.types[place, types].max(initial=0.0)) < UNEXPLAINED:
            return True
    return False

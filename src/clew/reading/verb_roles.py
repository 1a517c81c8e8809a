"""Verbs that give their subject another part than a relation does, however near the two are.

*Ann teaches at Marrow* is no *Ann, educated at, Marrow*: who teaches is who educates, and the relation is of
who is educated. *Ann runs Acme* is no *Ann, works at, Acme*: what is run is no place.
"""

from __future__ import annotations

from collections.abc import Sequence

from clew.query.vocabulary import UNEXPLAINED
from clew.reading.english import BEING
from clew.reading.likeness import Likeness
from clew.reading.mentions import Mention
from clew.text.inflection import is_participle
from clew.text.lexicon import Lexicon

SAME_AGENT = 0.5
"""Likeness of two nouns for who does something, from which they are of one kind: *teacher*, *educator*."""
_PREPOSITIONS = frozenset("at by for from in into of on over to under with within".split())
_AGENT = ("er", "or")


def verb_of_another_part(
    text: str, mentions: Sequence[Mention], likeness: Likeness, rows: Sequence[int], relation: int, label: str
) -> str | None:
    """The verb of a text, among its `rows`, that gives its subject another part than a relation does."""
    words = label.split()
    if len(words) < 2 or words[-1] not in _PREPOSITIONS:
        return None
    lexicon = Lexicon.load()
    for row in rows:
        start, stop, verb = likeness.words[row]
        if not lexicon.verb(verb) or verb == words[0]:
            continue
        has_object = any(m.start == stop + 1 for m in mentions)
        if is_participle(words[0]):
            is_passive = not BEING.isdisjoint(text[:start].lower().split()[-2:])
            if not is_passive and _are_of_one_agent(verb, words[0]):
                return verb
        elif has_object and likeness.relations[row, relation] < UNEXPLAINED and lexicon.verb(words[0]):
            return verb
    return None


def _are_of_one_agent(verb: str, participle: str) -> bool:
    """Whether who does one thing is of the kind of who does the other: *teaches*, *educated*."""
    lexicon = Lexicon.load()
    agents = [noun for noun in lexicon.agent(participle) if noun.endswith(_AGENT)]
    return any(
        lexicon.similarity(one, other) >= SAME_AGENT for one in lexicon.agent(verb) for other in agents
    )

"""Whether the verb of a claim gives its subject another part than a relation does.

*Ann teaches at Marrow* is no *Ann, educated at, Marrow*, however near the two verbs are: who teaches is who
educates, and the relation is of who is educated. *Ann runs Acme* is no *Ann, works at, Acme*: what is run is
no place.
"""

from __future__ import annotations

from clew.reading.paths import Exploration
from clew.text.lexicon import Lexicon

SAME_AGENT = 0.5
"""Likeness of two nouns for who does something, from which they are of one kind: *teacher*, *educator*."""
_PREPOSITIONS = frozenset("at by for from in into of on over to under with within".split())
_PASSIVE = frozenset("am is are was were be been being get gets got gotten".split())
_AGENT = ("er", "or")


def is_of_agent(of: Exploration, row: int, relation: int) -> bool:
    """Whether an active verb is of who does what a relation says was done to its head (*educated at*)."""
    label = of.vocabulary.relations[relation].split()
    lexicon = Lexicon.load()
    if len(label) < 2 or label[-1] not in _PREPOSITIONS or not _is_participle(lexicon, label[0]):
        return False
    start, _, word = of.likeness.words[row]
    if not lexicon.verb(word) or word == label[0] or _PASSIVE & set(of.question[:start].lower().split()[-2:]):
        return False
    agents = [noun for noun in lexicon.agent(label[0]) if noun.endswith(_AGENT)]
    return any(
        lexicon.similarity(one, other) >= SAME_AGENT for one in lexicon.agent(word) for other in agents
    )


def is_of_object(of: Exploration, row: int, relation: int) -> bool:
    """Whether a verb has an object right behind it, where a relation has a preposition (*works at*)."""
    label = of.vocabulary.relations[relation].split()
    lexicon = Lexicon.load()
    if len(label) < 2 or label[-1] not in _PREPOSITIONS or not lexicon.verb(label[0]):
        return False
    _, stop, word = of.likeness.words[row]
    right_behind = any(m.start == stop + 1 for m in of.mentions)
    return right_behind and lexicon.verb(word) and not _is_participle(lexicon, label[0])


def _is_participle(lexicon: Lexicon, word: str) -> bool:
    """Whether a word is a form of a verb for what was done: *educated*, *born*, *held*."""
    return lexicon.verb(word) and lexicon.lemmas(word)[0] != word and not word.endswith(("s", "ing"))

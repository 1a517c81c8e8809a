"""The declared type that a question asks for by its name: *which suppliers*, *list all drugs*, *ships of*."""

from __future__ import annotations

import re
from collections.abc import Sequence

from clew.reading.english import FUNCTION, NARROWS_NOTHING
from clew.reading.likeness import Likeness
from clew.reading.mentions import Mention
from clew.text.lexicon import Lexicon

_ASKED_TYPE = re.compile(r"\b(?:which|what|how many|whose)\s+((?:[\w-]+\s*){1,3})", re.I)
LEAD = re.compile(
    r"^\W*(?:(?:and|so|please|list|show|find|give|return|display|count|get|me|us|all|the|our|my|your|any|every|each|number"
    r"|what|are|is|of|an?|some|names?|ids?)\s+)*",
    re.I,
)
_WHO = re.compile(r"\W*(?:(?:and|so|but|then|please|tell|show|me)\W+)*whom?\b", re.I)
_JOINING = frozenset(("and", "or", "s"))
_LABELS = frozenset("name names id ids".split())
_WORD = re.compile(r"[^\W_]+")
_WHICH = re.compile(r"\b(?:which|what)\s+$", re.I)
SPELT = 0.79
"""Least likeness by spelling of a word and a type that it names."""
OTHER, UNKNOWN = 0.05, 0.3
"""What is left of the probability of a reading that answers with another type, or with no declared one."""


def asked_type(question: str, mentions: Sequence[Mention], likeness: Likeness) -> int:
    """The type whose name follows the word that asks, the last one of a run of such names; -1 for none."""
    if not likeness.types.shape[1]:
        return -1
    match = _ASKED_TYPE.search(question)
    if match is None:
        return _first_noun(question, mentions, likeness)
    start, stop = match.span(1)
    last_type, before = -1, start
    for word, (a, b, _) in enumerate(likeness.words):
        if a < start or b > stop:
            continue
        if last_type >= 0 and question[before:a].strip():
            break  # *languages are films*
        before = b
        if any(m.strong and m.start <= a and b <= m.stop for m in mentions):
            break
        type_ = int(likeness.exact_types[word].argmax())
        if likeness.exact_types[word, type_] >= SPELT:
            last_type = type_
        elif last_type >= 0:
            break
    return last_type


def asks_who(question: str) -> bool:
    """Whether a question asks for people, or for a group of them."""
    return _WHO.match(question) is not None


def _first_noun(question: str, mentions: Sequence[Mention], likeness: Likeness) -> int:
    """The type that the first noun of a question names, where it is no part of a longer noun; -1 for none."""
    words = {start: word for word, (start, _, _) in enumerate(likeness.words)}
    lead, last_type = LEAD.match(question), -1
    start = lead.end() if lead else 0
    if any(_is_relation(likeness, word) for at, word in words.items() if at < start):
        return -1
    for at in _WORD.finditer(question, start):
        text = at[0].lower()
        if last_type < 0 and text in NARROWS_NOTHING:
            continue
        is_named = any(m.strong and m.start <= at.start() < m.stop for m in mentions)
        if last_type < 0 and (is_named or text in _JOINING):
            continue  # *Italian or Portuguese players*
        if text in FUNCTION or is_named:
            return last_type
        place = words.get(at.start(), -1)
        type_ = int(likeness.exact_types[place].argmax()) if place >= 0 else -1
        if type_ >= 0 and likeness.exact_types[place, type_] >= SPELT:
            last_type = type_
        elif last_type >= 0:
            lexicon = Lexicon.load()
            is_noun = bool(lexicon.classes(text)) and not lexicon.mostly_verb(text)
            return -1 if is_noun and not text.endswith("ing") else last_type
    return last_type


def _is_relation(likeness: Likeness, word: int) -> bool:
    """Whether a graph records what a word like *name* says: then it is asked for, and not what has it."""
    is_label = likeness.words[word][2] in _LABELS
    return is_label and float(likeness.exact_relations[word].max(initial=0.0)) >= SPELT


def is_kind(likeness: Likeness, question: str, row: int) -> bool:
    """Whether a content word says of which kind the answers are, which the graph does not: *which town …*."""
    like = max(table[row].max(initial=0.0) for table in (likeness.exact_relations, likeness.exact_types))
    return like < SPELT and _WHICH.search(question[: likeness.words[row][0]]) is not None

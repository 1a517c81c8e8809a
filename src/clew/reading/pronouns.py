"""Pronouns that stand for nothing in their own text, as in *Who directed her?*."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from clew.reading.english import ANYONE, BEING, DOING, FUNCTION, PREPOSITIONS
from clew.reading.framing import SOURCES, TALK
from clew.text.lexicon import NOUN, VERB, Lexicon
from clew.text.normalise import POSSESSIVE, Token, tokens

_PERSONS = frozenset("he she him her his hers".split())
_THINGS = frozenset("it its".split())
_OBJECTS = frozenset("him her it them".split())
_OWNING = frozenset("his its their theirs hers".split())
_PRONOUNS = _PERSONS | _THINGS | {"them", "their", "theirs", "there"}
"""*They* is left out, which may be people in general: *what do they want for it*."""
_DETERMINERS = frozenset("the a an which what any every each all some no most more last first".split())
_WHO = frozenset("who whom whose".split())
_BOUNDARY = re.compile(
    r"[,;:.!?–—]|\s-+\s|\b(?:and|or|but|that|which|who|whom|whose|where|when|while|if|because|before|after|until"
    r"|since|than|as|so|to|with|in|of|for|from)\b",
    re.I,
)
"""What may part a pronoun from the subject, which it cannot stand for as the object of its verb."""
_EMPTY = re.compile(
    r"\b(?:is|was|be|does|did|will|has|would|can)\s+it\b(?!(?:\s+(?:in|on|at|of|by|from|about))?\W*$)|\bit['’]s\b"
    r"|\bit\s+(?:is|was|be|takes?|took|that|to|costs?|would|will|might|may|should|could|seems?)\b"
    r"|\b(?:made?|makes?|making|takes?|took|call(?:ed)?|puts?|keeps?|let)\s+it\b"
    r"|\b(?:is|are|was|were|be|been)\s+there\b|\bthere['’]?s?\s+(?:is|are|was|were|be|been|has|have)\b|\bthere['’]s\b"
    r"|\b(?:he|his) or (?:she|hers?)\b|\bof them all\b",
    re.I,
)
"""Pronouns that stand for nothing: *is it true*, *it takes*, *made it*, *is there*, *of them all*."""
_POINTS = re.compile(r"\b(?:this|that|these|those)(?=\W*$)", re.I)
"""A word at the end that points at something: *Who said that?*"""


def unresolved_pronouns(text: str, names: Sequence[tuple[int, int]]) -> Iterator[Token]:
    """The pronouns of a text that stand for no name, noun or person before them; `names`: where names are.

    The object of a verb does not stand for the subject right before: *Michael Mann directed him*.
    """
    words = [t for t in tokens(text) if t.norm != POSSESSIVE]
    empty = [m.span() for m in _EMPTY.finditer(text)]
    points = [m.start() for m in _POINTS.finditer(text)]
    for at, token in enumerate(words):
        is_pronoun = token.norm in _PRONOUNS or token.start in points
        if not is_pronoun or any(a <= token.start < b for a, b in (*names, *empty)):
            continue
        if not _is_resolved(text, words, at, names):
            yield token


def _is_resolved(text: str, words: Sequence[Token], at: int, names: Sequence[tuple[int, int]]) -> bool:
    token = words[at]
    before = [t for t in words[:at] if not any(a <= t.start < b for a, b in names)]
    owns = token.norm in _OWNING or (token.norm == "her" and _owns_next(words[at + 1 :]))
    named = [a for a, _ in names if a < token.start]
    after = ["", *(t.norm for t in before)]
    nouns = (
        t.start for t, last in zip(before, after, strict=False) if _may_stand_for(token.norm, t.norm, last)
    )
    stood_for = sorted([*named, *nouns])
    if not stood_for:
        asked = [t for t in before if t.norm in _WHO]
        is_told_later = any(a > token.start and "," in text[token.stop : a] for a, _ in names)
        is_who = owns and token.norm not in _THINGS and asked and not _is_being(words, asked[-1])
        return is_told_later or bool(is_who)
    is_object = token.norm in _OBJECTS and not owns
    return (
        not is_object or len(stood_for) > 1 or bool(_BOUNDARY.search(text, stood_for[0], words[at - 1].start))
    )


def _is_being(words: Sequence[Token], who: Token) -> bool:
    """Whether *who* is asked what it is: *Who is her husband*."""
    after = next((t.norm for t in words if t.start > who.start), "")
    return after in BEING or after in DOING


def _owns_next(behind: Sequence[Token]) -> bool:
    """Whether *her* stands before what is hers: *her films*."""
    return bool(behind) and behind[0].norm not in FUNCTION and behind[0].norm not in PREPOSITIONS


def _may_stand_for(pronoun: str, word: str, before: str) -> bool:
    """Whether a pronoun may stand for a noun behind `before`: *she* for a person, *it* for a thing."""
    if word in ANYONE:
        return True
    if word in FUNCTION or word in TALK or word in SOURCES:
        return False
    lexicon = Lexicon.load()
    if not lexicon.known(word):
        return True
    as_noun, as_verb = lexicon.uses(word, NOUN), lexicon.uses(word, VERB)
    if (not as_noun and as_verb) or (
        before not in _DETERMINERS and (as_noun <= as_verb or word.endswith("ed"))
    ):
        return False
    is_person = lexicon.classes(word).get("person", 0.0) > 0
    return is_person or pronoun not in _PERSONS

"""Which noun of a question says what is asked for: *which films*, *how many films*, *list all films*."""

from __future__ import annotations

from collections.abc import Sequence

from clew.reading.rules.english import AUXILIARY, INTERROGATIVE, REQUESTS
from clew.text.words import Word

CONTENT = 0.9
"""Weight from which on a word is no mere helper (*names*, *list*, *kinds*)."""
SKIPPED = frozenset(
    "me us all the a an every each any some other another different list names name of".split()
)
"""Words that may stand between a request, or *which*, and its noun."""
OTHERS = frozenset("other another different".split())
BEHIND = frozenset("by in from with that for on at to where who whose which starring".split())
"""What a bare noun phrase goes on with (*films by X*)."""
RELATIVE = frozenset("that who whose which".split())
VERBAL = ("ed", "ing")
"""Endings of verbs."""


def asked_nouns(words: Sequence[Word], text: str) -> frozenset[int]:
    """The characters at which the nouns start that say what is asked for."""
    after = {at for at in range(len(words)) if _after_which(words, at, text)}
    counted = _counted(words)
    found = after or counted or _requested(words) or _bare(words)
    return frozenset(words[at].start for at in found)


def is_plain(word: Word) -> bool:
    """A content word without an ending of a plural or a verb."""
    return word.weight >= CONTENT and not word.capital and not word.norm.endswith(("s", *VERBAL))


def _after_which(words: Sequence[Word], at: int, text: str) -> bool:
    """Whether a word is the noun after *which* or *what*; of two (*what film genre*) the second."""
    word, before = words[at], _before(words, at)
    if not word.weight or word.norm in OTHERS:
        return False
    if _is_which(words, before):
        if at + 1 < len(words) and is_plain(word) and _is_plural(words, at + 1):
            return False
        return not (at + 1 < len(words) and is_plain(word) and is_plain(words[at + 1]))
    if at < 1 or before != at - 1:
        return False
    modifier, asking = words[before], _before(words, before)
    if not _is_which(words, asking):
        return False
    if is_plain(modifier) and (is_plain(word) or _is_plural(words, at)):
        return True
    named = modifier.capital and text[modifier.stop : word.start] == " "
    return named and word.weight >= CONTENT and not word.capital and not word.norm.endswith(VERBAL)


def _is_plural(words: Sequence[Word], at: int) -> bool:
    """Whether it is a plural before the verb (*horror films are*), no verb itself (*which wins*)."""
    word, after = words[at], words[at + 1].norm if at + 1 < len(words) else ""
    written = word.norm.endswith("s") and not word.capital and word.weight >= CONTENT
    return written and (after in AUXILIARY or after in RELATIVE)


def _is_which(words: Sequence[Word], at: int) -> bool:
    """Whether *which* or *what* asks there; after a noun it only relates (*years in which …*)."""
    if at < 0 or words[at].norm not in ("which", "what"):
        return False
    return at < 2 or words[at - 1].norm not in BEHIND or words[at - 2].weight < CONTENT


def _before(words: Sequence[Word], at: int) -> int:
    """The place of the word before, over *other* and the like; -1 if there is none."""
    at -= 1
    while at >= 0 and words[at].norm in OTHERS:
        at -= 1
    return at


def _counted(words: Sequence[Word]) -> set[int]:
    """*How many films*, *the number of films*."""
    for at in range(len(words) - 2):
        pair = (words[at].norm, words[at + 1].norm)
        if pair in (("how", "many"), ("number", "of")):
            return _noun(words, _skip(words, at + 2))
    return set()


def _requested(words: Sequence[Word]) -> set[int]:
    """*List all films*, *give me the names of all films*."""
    at = 1 if words and words[0].norm == "please" else 0
    if at >= len(words) or words[at].norm not in REQUESTS or _asks(words):
        return set()
    return _noun(words, _skip(words, at + 1))


def _bare(words: Sequence[Word]) -> set[int]:
    """*Films by X*, *years in which …*."""
    if not words or words[0].weight < CONTENT or _asks(words):
        return set()
    found = _noun(words, 0)
    goes_on = {words[at + 1].norm for at in found if at + 1 < len(words)}
    fits = bool(goes_on & BEHIND) or any(norm.endswith("ed") for norm in goes_on)
    return found if fits and AUXILIARY.isdisjoint(goes_on) else set()


def _skip(words: Sequence[Word], at: int) -> int:
    while at < len(words) and words[at].norm in SKIPPED:
        at += 1
    return at


def _noun(words: Sequence[Word], at: int) -> set[int]:
    """The head of the noun phrase that begins at a place: its first plural, else its last word."""
    last: int | None = None
    while at < len(words) and words[at].weight >= CONTENT:
        verbal = words[at].norm.endswith(VERBAL)
        if verbal and last is not None:
            break
        if not verbal and not words[at].capital and not words[at].norm.endswith("ly"):
            last = at
            if words[at].norm.endswith("s") and not words[at].norm.endswith("ss"):
                break
        at += 1
    return set() if last is None else {last}


def _asks(words: Sequence[Word]) -> bool:
    """Whether an interrogative asks; after a preposition or a noun it only relates (*years in which*)."""
    for at, word in enumerate(words):
        if word.norm not in INTERROGATIVE or at == 0:
            continue
        relates = words[at - 1].norm in BEHIND or words[at - 1].weight >= CONTENT
        if not relates or at + 1 == len(words):
            return True
    return bool(words) and words[0].norm in INTERROGATIVE

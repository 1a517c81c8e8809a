"""What a clause of a claim says as a question asks for it: *X opened in May* → *did X open in May*.

And what is said of one thing as it is said of another: *joined before Bo did* → *Bo joined*.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from clew.claims.claim_text import ClaimText, Item
from clew.reading.english import BEING, DOING, FUNCTION, HAVING, PREPOSITIONS
from clew.text.inflection import is_participle
from clew.text.lexicon import Lexicon

MOST_VERBS = 3
"""Words of a claim that are taken for its verb."""
_WORD = re.compile(r"[^\W\d_]+")
_ARTICLE = re.compile(r"\b(?:the|an?)\s+$", re.IGNORECASE)
_BEGINS_CLAUSE = frozenset("that which who whose to".split())
_THE_SAME = re.compile(
    r"(?:(?:it|he|she|they)\s+(?:(?:did|does|do|has|had|was|were)\s+(?=(?:in|on|at|for|by|with)\s))?"
    r"|(?:the\s+ones?|that|those)\s+)(?=[a-z])",
    re.IGNORECASE,
)
"""What stands for the subject of the clause before, or for what is said there of another."""


def asking(asks: str, said: str) -> str:
    """A question: the words that ask, and what they ask for."""
    is_name = said.partition(" ")[0].lower() not in FUNCTION
    return f"{asks} {said if is_name else said[:1].lower() + said[1:]}".strip() + "?"


def inversions(claim: ClaimText) -> Iterator[str]:
    """A statement with its subject behind the verb, for each word that may be the verb."""
    text = claim.text
    for start, stop in verbs_of(claim.items, text, 0)[:MOST_VERBS]:
        yield inverted(text[:start], text[start:stop], text[stop:])


def said_of_both(claim: ClaimText, other: ClaimText, *, of_subject: bool) -> Iterator[tuple[str, str]]:
    """What a clause says, and what is said of another thing, each as a question asks for it.

    What is said of the other is a clause of its own, or stands in the place of the subject, or of what is
    behind the same preposition. `of_subject`: the clause lacks its subject, which is what is asked for.
    """
    text, same = claim.text, _THE_SAME.match(other.text)
    rest = other.part(same.end() if same else 0, len(other.text))
    verbs = [(0, 0)] if of_subject else verbs_of(claim.items, text, 0)[:MOST_VERBS]
    first = rest.text.partition(" ")[0].lower()
    if of_subject and first not in PREPOSITIONS:  # *more boats reached Oslo than Bergen*
        for item in (i for i in claim.items if i.stop == len(text)):
            yield text, f"{_ARTICLE.sub('', text[: item.start])}{rest.text}"
        return
    if first in PREPOSITIONS:
        words = [w for w in _WORD.finditer(text) if w[0].lower() in PREPOSITIONS]
        places = [w for w in words if not any(i.start <= w.start() < i.stop for i in claim.items)]
        for hit in ([w for w in places if w[0].lower() == first] or places)[-1:]:
            at, of_other = hit.start(), rest.text
            for start, stop in verbs:
                subject, verb, behind = text[:start], text[start:stop], text[stop:]
                is_before = at < start
                twin = f"{text[:at]}{of_other}" if is_before else subject
                yield (
                    inverted(subject, verb, behind),
                    inverted(twin, verb, behind if is_before else f"{text[stop:at]}{of_other}"),
                )
        return
    own = [v for v in verbs_of(rest.items, rest.text, -1 if same else 0) if _is_finite(rest.text[slice(*v)])]
    for start, stop in verbs:
        subject = text[:start] if same else rest.text[: own[0][0]] if own else rest.text
        verb, behind = (
            (rest.text[slice(*own[0])], rest.text[own[0][1] :]) if own else (text[start:stop], text[stop:])
        )
        if not same or own:
            yield inverted(text[:start], text[start:stop], text[stop:]), inverted(subject, verb, behind)


def _is_finite(word: str) -> bool:
    """Whether a word is surely a verb of a clause."""
    form = word.lower()
    return form in BEING | DOING | HAVING or is_participle(form) or Lexicon.load().mostly_verb(form)


def inverted(subject: str, verb: str, rest: str) -> str:
    """A statement with its subject behind *is*, *has* or *did*."""
    subject = subject.strip()
    if not subject:
        return f"{verb}{rest}".strip()
    first = subject.partition(" ")[0]
    subject = subject[:1].lower() + subject[1:] if first.lower() in FUNCTION and first != "I" else subject
    if verb.lower() in BEING | DOING or (verb.lower() in HAVING and _is_auxiliary(rest)):
        return f"{verb.capitalize()} {subject}{rest.rstrip()}"
    lemma = base_of(verb)
    is_third_person = verb != lemma and verb.endswith("s")
    doing = "Does" if is_third_person else "Do" if verb in (lemma, "have") else "Did"
    return f"{doing} {subject} {lemma}{rest.rstrip()}"


def base_of(verb: str) -> str:
    """The base form of a verb: *keep* of *keeps* and *kept*."""
    lexicon = Lexicon.load()
    if verb.endswith("s") and lexicon.verb(verb[:-1]):
        return verb[:-1]
    return next((base for base in lexicon.lemmas(verb) if base != verb and lexicon.verb(base)), verb)


def _is_auxiliary(rest: str) -> bool:
    """Whether *has* stands before a verb: *has placed*, *has only been*."""
    words = [word[0] for word in _WORD.finditer(rest)][:2]
    return any(is_participle(w.lower()) or w.lower() in ("been", "had") for w in words[:1]) or (
        len(words) > 1 and words[0].lower() in FUNCTION and words[1].lower() in ("been", "had")
    )


def verbs_of(items: Sequence[Item], text: str, start: int) -> list[tuple[int, int]]:
    """Where the verb of a subject may be, none behind *that*: auxiliaries, else verbs, else participles."""
    lexicon = Lexicon.load()
    behind = [word for word in _WORD.finditer(text, start) if word.start() > start]
    outside = [w for w in behind if not any(i.start <= w.start() < i.stop for i in items)]
    auxiliaries, verbs, participles = (
        list[tuple[int, int]](),
        list[tuple[int, int]](),
        list[tuple[int, int]](),
    )
    in_clause = False
    for word in outside:
        form = word[0].lower()
        is_auxiliary = form in BEING | DOING | HAVING
        if form in _BEGINS_CLAUSE:
            in_clause = not any(i.start == word.end() + 1 for i in items) or form != "to"
        elif is_auxiliary or (lexicon.verb(form) and word[0].islower()):
            is_past = form.endswith("ed") or is_participle(form)
            is_past = is_past and not any(i.stop + 1 == word.start() for i in items)
            places = auxiliaries if is_auxiliary else participles if is_past else verbs
            places += [] if in_clause else [word.span()]
            in_clause = False
    is_sure = any(lexicon.mostly_verb(text[slice(*verb)].lower()) for verb in verbs)
    return auxiliaries or (verbs if is_sure else sorted(verbs + participles))

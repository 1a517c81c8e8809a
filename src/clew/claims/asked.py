"""A claim as the questions that it answers: *X opened after Y* → *Did X open after Y?*.

One that says how many there are is the question for that, too: *Six people came* → *How many people came?*.
So a claim is read by the reader of questions, whole.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace

from clew.claims.claim_readings import COUNTING, LEAST_OF_ROLE, TIMED
from clew.claims.claim_text import ClaimedValue, ClaimText, Item, negations
from clew.graph.values import currencies_beside
from clew.query.tree import Compared, Counted, Extreme, Part, Query, Walk, mentions_of
from clew.reading.account import unplaced_phrases
from clew.reading.answer import ambiguous
from clew.reading.certainty import likely_reading
from clew.reading.comparisons import than_words
from clew.reading.english import BEING, DOING, FUNCTION, HAVING
from clew.reading.mentions import PARTIAL
from clew.reading.reader import QuestionReader, Reading
from clew.text.inflection import is_participle
from clew.text.lexicon import Lexicon

LEAST_SURE = 0.75
"""Least likelihood of the question that a claim is read as (those that are answered have 0.5 at least)."""
MOST_VERBS = 3
"""Words of a claim that are taken for its verb."""
_WORD = re.compile(r"[^\W\d_]+")
_BEGINS_CLAUSE = frozenset("that which who whose to".split())
SO_MANY = re.compile(
    r"(?:at\s+(?:least|most)|(?:no\s+)?(?:more|fewer|less)\s+than|over|under|exactly|precisely|only|just)?"
    r"\s*(?:the\s+)?",
    re.IGNORECASE,
)
"""What stands before a number that things are so many as."""
_COMPARED = re.compile(rf"\s*\b{SO_MANY.pattern}$", re.IGNORECASE)
"""What stands between a verb and the number that it is compared with."""
_HERE = re.compile(r"\s*(?:we|(?:the|our|this)\s+(?P<noun>[a-z]+))\s+(?:(?:have|has)\s+)?$", re.IGNORECASE)
"""A subject that may stand for all that a graph holds: *we*, *the zoo*."""
_HOLDS = frozenset("have own hold keep list contain include".split())
"""Verbs by which that has what there is."""
_NOUN = re.compile(r"\s+(?:of\s+(?:the|our|its|their|his|her)\s+)?(?=[^\W\d_])")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and the number that a claim says is its answer; None where it says *yes*."""

    question: str
    number: ClaimedValue | None = None


@dataclass(frozen=True, slots=True)
class AskedReading:
    """What a question that a claim answers means; `is_by_part`: some name of it by a part of it alone."""

    query: Query
    is_by_part: bool


def read_asked(reader: QuestionReader, asked: Asked) -> AskedReading | None:
    """How a question is read, if surely, with a place for each word and one thing for each name.

    Raises EmbedderError if the shipped model cannot be opened.
    """
    reading = _as_asked(reader.read(asked.question), asked)
    likeliest = likely_reading(reader, reading, LEAST_OF_ROLE)
    query, account = likeliest.query, likeliest.account
    if query is None or account is None or likeliest.likelihood < LEAST_SURE:
        return None
    asks = ("count", "list") if asked.number else ("yes", "every")
    if query.ask not in asks or query.by or query.key or unplaced_phrases(asked.question, account.words):
        return None
    if ambiguous(reader.graph, reader.vocabulary, reading, query) is not None:
        return None
    parts = query.contents.parts
    if any(map(_compares_unlike, parts)) or not (
        asked.number or query.other or any(map(_is_of_whole, parts))
    ):
        return None
    used = [reading.mentions[m] for m in mentions_of(query)]
    is_by_part = any(m.candidates and m.candidates[0].how >= PARTIAL for m in used if not m.values)
    return AskedReading(query, is_by_part)


def _is_of_whole(part: Part) -> bool:
    """Whether a part says what no piece of a claim does, which is of two things or of a thing and a value."""
    return isinstance(part, Extreme | Counted) or (
        isinstance(part, Compared) and isinstance(part.value, Walk)
    )


def _compares_unlike(part: Part) -> bool:
    """Whether a part compares a value of one thing with another relation's of another: *taller than Emil*."""
    return (
        isinstance(part, Compared) and isinstance(part.value, Walk) and part.steps[-1:] != (part.value.step,)
    )


def _as_asked(reading: Reading, asked: Asked) -> Reading:
    """A reading in which a question of yes or no asks whether a set has members, instead of for them.

    Words that compare and name no measure (*after*, *more than*) have their place in what compares.
    """
    hits = than_words(reading.question, 0, reading.mentions)
    spans = tuple(hit.span() for hit in hits if hit[0].lower() in TIMED | COUNTING)

    def changed(query: Query) -> Query:
        is_set = query.ask == "list" and not query.by and not query.key
        compares = any(isinstance(part, Compared | Counted) for part in query.contents.parts)
        said = (*query.said, *spans) if compares else query.said
        return replace(query, ask="yes" if is_set and not asked.number else query.ask, said=said)

    ranked = tuple(
        replace(r, option=replace(r.option, query=changed(r.option.query))) for r in reading.ranking.ranked
    )
    return replace(reading, ranking=replace(reading.ranking, ranked=ranked))


def asked_by(claim: ClaimText, words: Container[str]) -> Iterator[Asked]:
    """The questions that a claim answers, for its number before those of yes or no.

    `words` are those of the graph: what is called by one of them does not stand for all of it.
    """
    text = claim.text.rstrip(" .!?\"'")
    begin = claim.frame + len(text[claim.frame :]) - len(text[claim.frame :].lstrip())
    if negations(text[begin:]):
        return
    verbs = verbs_of(claim.items, text, begin)[:MOST_VERBS]
    for item in claim.items:
        noun = _NOUN.match(text, item.stop)
        if (
            item.value is None
            or currencies_beside(text, item.start, item.stop)[0]
            or item.value.timed
            or item.value.count is None
            or not noun
        ):
            continue
        if _COMPARED.fullmatch(text, begin, item.start):
            yield Asked(f"How many {text[noun.end() :]}?", item.value)
        for start, stop in (v for v in verbs if v[1] <= item.start):
            between, here = _COMPARED.sub("", text[stop : item.start]), _HERE.match(text[:start], begin)
            is_whole = here is not None and not (here["noun"] and here["noun"].lower() in words)
            if is_whole and not between.strip() and _base_of(text[start:stop]) in _HOLDS:
                yield Asked(f"How many {text[noun.end() :]} are there?", item.value)
                continue
            asking = _inverted(text, begin, start, stop, f"{between} ")
            yield Asked(
                f"How many {text[noun.end() :]} {asking[0].lower()}{asking[1:]}".strip() + "?", item.value
            )
    for start, stop in verbs:
        yield Asked(_inverted(text, begin, start, stop, text[stop:]) + "?")


def _inverted(text: str, begin: int, start: int, stop: int, rest: str) -> str:
    """A statement whose verb stands at [start, stop), its subject behind *is*, *has* or *did*."""
    subject, verb = text[begin:start].strip(), text[start:stop]
    first = subject.partition(" ")[0]
    subject = subject[:1].lower() + subject[1:] if first.lower() in FUNCTION and first != "I" else subject
    if verb.lower() in BEING | DOING or (verb.lower() in HAVING and _is_auxiliary(rest)):
        return f"{verb.capitalize()} {subject}{rest.rstrip()}"
    lemma = _base_of(verb)
    is_third_person = verb != lemma and verb.endswith("s")
    doing = "Does" if is_third_person else "Do" if verb in (lemma, "have") else "Did"
    return f"{doing} {subject} {lemma}{rest.rstrip()}"


def _base_of(verb: str) -> str:
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
    behind = list(_WORD.finditer(text, start))[1:]
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
            in_clause = True
        elif is_auxiliary or (lexicon.verb(form) and word[0].islower()):
            is_past = form.endswith("ed") or is_participle(form)
            places = auxiliaries if is_auxiliary else participles if is_past else verbs
            places += [] if in_clause else [word.span()]
            in_clause = False
    return auxiliaries or verbs or participles

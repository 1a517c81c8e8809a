"""A claim as the questions that it answers: *X opened after Y* → *Did X open after Y?*.

One that says how many there are is the question for that, too: *Six people came* → *How many people came?*;
and one that says of a thing that it stands above all others is the question which: *K2 is the highest peak*.
So a claim is read by the reader of questions, whole.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from clew.claims.claim_readings import COUNTING, LEAST_OF_ROLE, TIMED, says_ways
from clew.claims.claim_text import ClaimedValue, ClaimText, Item, negations
from clew.graph.values import currencies_beside
from clew.query.tree import Anchor, Both, Compared, Counted, Extreme, Part, Query, Walk, mentions_of, steps_of
from clew.reading.account import unplaced_phrases
from clew.reading.answer import ambiguous
from clew.reading.certainty import likely_reading
from clew.reading.comparisons import than_words
from clew.reading.english import BEING, DOING, FUNCTION, HAVING, SUPERLATIVE
from clew.reading.mentions import PARTIAL
from clew.reading.reader import QuestionReader, Reading
from clew.text.inflection import is_participle
from clew.text.lexicon import Lexicon

LEAST_SURE = 0.75
"""Least likelihood of the question that a claim is read as (those that are answered have 0.5 at least)."""
LEAST_SURE_OF_ONE, LEAST_OF_ONE = 0.85, 0.85
"""Least likelihood of one that says of two things what pieces do, and least share of each of its words that
a label carries it. That says what is not so; another verb would be as likely (*left the team*), so that
nothing is supported by it but what is said by *is* and *has*."""
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
HERE = re.compile(r"\s*(?:we|(?:the|our|this)\s+(?P<noun>[a-z]+))\s+(?:(?:have|has)\s+)?$", re.IGNORECASE)
"""A subject that may stand for all that a graph holds: *we*, *the zoo*."""
HOLDS = frozenset("have own hold keep list contain include".split())
"""Verbs by which that has what there is."""
_NOUN = re.compile(r"\s+(?:of\s+(?:the|our|its|their|his|her)\s+)?(?=[^\W\d_])")
_ALL_THERE = re.compile(
    r"\s+(?:(?:in|on)\s+(?:the|our|this)\s+(?P<noun>[a-z]+)"
    r"|(?:that\s+|which\s+)?(?:(?:are|is|we)\s+)?(?P<verb>[a-z]+))$",
    re.IGNORECASE,
)
"""What may end a claim and stand for all that a graph holds: *in the fleet*, *are listed*."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and the number that a claim says is its answer; None where it says *yes*."""

    question: str
    number: ClaimedValue | None = None
    answer: Item | None = None
    """What a claim says is the answer of a question which."""
    is_of_being: bool = False
    """Whether it asks by *is* or *has* and no verb behind it."""
    is_of_value: bool = False


@dataclass(frozen=True, slots=True)
class AskedReading:
    """What a question that a claim answers means, and which of it may be told by that: that it is, or is not.

    What a part of a name stands for refutes nothing.
    """

    query: Query
    supports: bool
    refutes: bool


def read_asked(reader: QuestionReader, asked: Asked) -> AskedReading | None:
    """How a question is read, if surely, with a place for each word and one thing for each name.

    Raises EmbedderError if the shipped model cannot be opened.
    """
    reading = _as_asked(reader.read(asked.question), asked)
    asks = ("count", "list") if asked.number else ("list",) if asked.answer else ("yes", "every")
    # Each word of what pieces do not say at all must be surely said; else it is enough to tell otherwise.
    for least, least_sure in ((LEAST_OF_ROLE, LEAST_SURE), (LEAST_OF_ONE, LEAST_SURE_OF_ONE)):
        likeliest = likely_reading(reader, reading, least)
        query, account = likeliest.query, likeliest.account
        if query is None or account is None or likeliest.likelihood < least_sure:
            continue
        if query.ask not in asks or query.by or query.key or unplaced_phrases(asked.question, account.words):
            continue
        parts, is_of_one = query.contents.parts, least == LEAST_OF_ONE
        if any(map(_compares_unlike, parts)) or ambiguous(reader.graph, reader.vocabulary, reading, query):
            continue
        is_whole = asked.number is not None or query.other is not None or any(map(_is_of_whole, parts))
        if is_of_one and not asked.answer and any(isinstance(p, Compared | Extreme) for p in parts):
            continue  # by what it is compared must be said
        if not is_whole and not is_of_one:
            continue
        used = [reading.mentions[m] for m in mentions_of(query)]
        if is_of_one and asked.is_of_value:
            continue  # of what unit and column it is is not said
        by_part = [m for m in used if m.candidates and m.candidates[0].how >= PARTIAL and not m.values]
        # A part of what is no name of its own (*aluminium*) is surely of one thing, if of one alone.
        refutes = likeliest.likelihood >= LEAST_SURE_OF_ONE or not by_part
        refutes = refutes and all(len(m.candidates) == 1 and m.text.islower() for m in by_part)
        refutes = refutes and says_ways(reader.vocabulary, steps_of(query), asked.question)
        if asked.answer is not None:
            query = _of_answer(query, asked.answer)
            return None if query is None else AskedReading(query, True, refutes)
        return AskedReading(query, not is_of_one or asked.is_of_being, refutes)
    return None


def _of_answer(query: Query, answer: Item) -> Query | None:
    """Whether what is claimed to be an answer is one; None where its name is that of several things."""
    best = [c.node for c in answer.candidates if c.how == answer.candidates[0].how]
    is_ranked = any(isinstance(p, Extreme) and p.number == 1 for p in query.contents.parts)
    return Query("yes", Both(query.part, Anchor(best[0]))) if is_ranked and len(best) == 1 else None


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
        is_yes = is_set and not asked.number and not asked.answer
        return replace(query, ask="yes" if is_yes else query.ask, said=said)

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
    whole, text = text, without_whole(claim.items, text, words)
    yield from _of_ranked(claim, begin, dict.fromkeys((whole, text)))
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
        elif item.start == begin and not verbs:
            yield Asked(f"How many {text[noun.end() :]} are there?", item.value)
        for start, stop in (v for v in verbs if v[1] <= item.start):
            between, here = _COMPARED.sub("", text[stop : item.start]), HERE.match(text[:start], begin)
            is_whole = here is not None and not (here["noun"] and here["noun"].lower() in words)
            if is_whole and not between.strip() and base_of(text[start:stop]) in HOLDS:
                yield Asked(f"How many {text[noun.end() :]} are there?", item.value)
                continue
            asking = _inverted(text, begin, start, stop, f"{between} ")
            yield Asked(
                f"How many {text[noun.end() :]} {asking[0].lower()}{asking[1:]}".strip() + "?", item.value
            )
    for start, stop in verbs:
        after = _WORD.match(text, stop + 1)
        is_of_being = text[start:stop].lower() in BEING | HAVING and not (
            after and is_participle(after[0]) and not any(i.start == after.start() for i in claim.items)
        )
        is_of_being = is_of_being or base_of(text[start:stop].lower()) in HOLDS
        asking, is_of_value = (
            _inverted(text, begin, start, stop, text[stop:]),
            any(i.value for i in claim.items),
        )
        yield Asked(f"{asking}?", is_of_being=is_of_being, is_of_value=is_of_value)


def _of_ranked(claim: ClaimText, begin: int, texts: Iterable[str]) -> Iterator[Asked]:
    """The questions which thing stands above all others, of which a claim says that it is its subject."""
    for text in texts:
        for start, stop in verbs_of(claim.items, text, begin)[:MOST_VERBS]:
            subject = [i for i in claim.items if i.candidates and text[i.stop : start] == " "]
            is_alone = subject and text[begin : subject[0].start].lower() in ("", "the ")
            if is_alone and (asking := _which(claim, text, start, stop)):
                yield Asked(asking, answer=subject[0])


def without_whole(items: Sequence[Item], text: str, words: Container[str]) -> str:
    """A text without what ends it and stands for all that there is: *buses in the fleet*, *is listed*."""
    hit = _ALL_THERE.search(text)
    if hit is None or any(i.stop > hit.start() for i in items):
        return text
    noun = hit["noun"]
    is_whole = noun.lower() not in words if noun else base_of(hit["verb"].lower()) in HOLDS
    return text[: hit.start()] if is_whole else text


def _which(claim: ClaimText, text: str, start: int, stop: int) -> str:
    """The question for what a claim says stands above all others, from its verb on; empty for none."""
    hits = SUPERLATIVE.finditer(text, stop)
    is_ranked = any(not any(i.start <= h.start() < i.stop for i in claim.items) for h in hits)
    return f"Which {text[start:]}?" if is_ranked else ""


def _inverted(text: str, begin: int, start: int, stop: int, rest: str) -> str:
    """A statement whose verb stands at [start, stop), its subject behind *is*, *has* or *did*."""
    subject, verb = text[begin:start].strip(), text[start:stop]
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
            in_clause = not any(i.start == word.end() + 1 for i in items) or form != "to"
        elif is_auxiliary or (lexicon.verb(form) and word[0].islower()):
            is_past = form.endswith("ed") or is_participle(form)
            is_past = is_past and not any(i.stop + 1 == word.start() for i in items)
            places = auxiliaries if is_auxiliary else participles if is_past else verbs
            places += [] if in_clause else [word.span()]
            in_clause = False
    return auxiliaries or verbs or participles

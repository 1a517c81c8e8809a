"""Claims of all, of none or of so many of a kind: *All grants are active*, *Three statues are in Room 7*.

What is said of the kind is read as a question is (*Which grants are active?*), and so is the kind by itself
(*Which grants are there?*). Both are sets of the query graph: whether every member of one is in the other, or
how many are, is looked up.
"""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass
from functools import reduce

from clew.claims.asked import (
    HERE,
    HOLDS,
    LEAST_OF_ONE,
    LEAST_SURE,
    SO_MANY,
    says_each,
    with_bounds,
    without_whole,
)
from clew.claims.claim_text import (
    EXCEPTED,
    HALF,
    NOBODY,
    NOBODY_DOES,
    NONE_OF,
    ClaimText,
    Item,
    negations,
    positive,
)
from clew.claims.clauses import base_of, verbs_of
from clew.query.execute import Executor, difference
from clew.query.tree import Anchor, Either, OfType, Part, Sign
from clew.reading.account import unplaced_phrases
from clew.reading.asked_for import final_type
from clew.reading.certainty import likely_reading
from clew.reading.english import BEING, DOING, HAVING
from clew.reading.mentions import NORMAL
from clew.reading.mutual import both_ways
from clew.reading.reader import QuestionReader
from clew.text.inflection import plural, singular_noun
from clew.text.lexicon import Lexicon

LEAST_SURE_SPELT = 0.55
"""Least likelihood of the question that a claim is read as, where labels are spelt by each of its words."""
MOST_WAYS = 4
_OF_THEM = r"(?:\s+one)?(?:\s+of)?(?:\s+(?:the|its|his|her|their|these|those|our))?\s+(?=[^\W\d_])"
_ALL = re.compile(rf"(?P<not>not\s+)?(?<!\bof\s)\b(?:all|every|each)(?!\s+other\b){_OF_THEM}", re.IGNORECASE)
_ONE = re.compile(r"one\s+(?!of\b)(?=[a-z])", re.IGNORECASE)
_NOUN = re.compile(_OF_THEM)
_OR_OTHER = re.compile(r"(?:(?<=\bor)|(?<=\band))\s+(?:any\s+)?other(?=\s+[a-z])", re.IGNORECASE)
"""*Huts or other shelters* are shelters."""
_OF_ALL = re.compile(r"\s+of\s+(?:[^,;]*\s)?", re.IGNORECASE)
_SO_CALLED = re.compile(
    r"\s+(?:different\s+)?(?P<kind>[a-z][^,;]*?)\s+(?:(?:(?:who|that|which)\s+)?(?:are|is|were)\s+)?"
    r"(?:called|named)\s+(?:(?:simply|just|only|the)\s+)*[\"'“‘]?",
    re.IGNORECASE,
)
_THERE_ARE = re.compile(r"there\s+(?:are|is|were|was)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Quantified:
    """A claim of a kind: ways to part its words, from `start` on, from what is said, as a question for it.

    Of all of the kind if there is no `number`; `denied`: it is not so.
    """

    start: int
    ways: tuple[tuple[str, str], ...]
    number: int | None = None
    sign: Sign = "="
    denied: bool = False
    called: Item | None = None
    """The name that so many of the kind have."""
    total: int | None = None
    """How many of the kind there are: *three of the four lighthouses*."""
    of_half: bool = False
    """Whether the sign is how those that are so stand to half of all: *most hotels*."""


@dataclass(frozen=True, slots=True)
class KindReading:
    """The kind, and those of it that a claim speaks of; `unplaced`: why there is neither."""

    kind: Part | None = None
    told: Part | None = None
    unplaced: tuple[str, ...] = ()


def quantified(claim: ClaimText, words: Container[str]) -> Quantified | None:
    """How a claim speaks of a kind; None where it does not. `words` are those of the graph."""
    claim = reduce(lambda c, hit: c.without(*hit.span()), [*_OR_OTHER.finditer(claim.text)][::-1], claim)
    text = claim.text.rstrip(" .!?\"'")
    begin = claim.frame + len(text[claim.frame :]) - len(text[claim.frame :].lstrip())
    if (called := _so_called(claim, text, begin, words)) is not None:
        return called
    nobody = NOBODY_DOES.match(text, begin)
    if nobody is not None and not EXCEPTED.match(text, begin):
        return Quantified(nobody.end(), (("", f"Who {text[nobody.end() :]}?"),), 1, ">=", denied=True)
    if NOBODY.match(text, begin) and not NONE_OF.match(text, begin):
        return None
    if (counted := _counted(claim, begin)) is not None:
        return counted
    for hit in _ALL.finditer(text, begin):
        if not any(i.start < hit.end() and hit.start() < i.stop for i in claim.items):
            if hit.start() == begin:
                claim, total = _without_total(claim, hit.end())
                text = claim.text.rstrip(" .!?\"'")
                if not {"no", "without"}.issuperset(map(str.lower, negations(text[hit.end() :]))):
                    return Quantified(hit.end(), ())  # *all are not* may be *none is* or *not all are*
                ways = _ways(claim, text, hit.end())
                return Quantified(hit.end(), ways, denied=bool(hit["not"]), total=total)
            return _of_object(claim, text, begin, hit)
    return None


def _counted(claim: ClaimText, begin: int) -> Quantified | None:
    """A claim that so many, or so great a part, or none of a kind is something."""
    claim, total = _without_total(claim)
    text = claim.text.rstrip(" .!?\"'")
    for item in claim.items[:1]:
        number = item.value.count if item.value and not item.value.timed and not item.candidates else None
        noun = _NOUN.match(text, item.stop)
        if number is not None and item.value and noun and SO_MANY.fullmatch(text, begin, item.start):
            ways = _ways(claim, text, noun.end())
            return Quantified(noun.end(), ways, number, item.value.sign, total=total)
    half = HALF.match(text, begin)
    if half is not None and (noun := _NOUN.match(text, half.end())) is not None:
        sign: Sign = ">" if half["more"] else "<" if half["less"] else "="
        return Quantified(noun.end(), _ways(claim, text, noun.end()), sign=sign, of_half=True)
    one = _ONE.match(text, begin)
    if one is not None:
        return Quantified(one.end(), _ways(claim, text, one.end()), 1, ">=")
    none = None if EXCEPTED.match(text, begin) else NONE_OF.match(text, begin)
    if none is not None:
        return Quantified(none.end(), _ways(claim, text, none.end()), 1, ">=", denied=True)
    return None


def _so_called(claim: ClaimText, text: str, begin: int, words: Container[str]) -> Quantified | None:
    """*Two players are called X*, *we have three parts called X*: how many of a kind have one name."""
    number, name = (claim.items[0], claim.items[-1]) if len(claim.items) > 1 else (None, None)
    if number is None or name is None or name.stop != len(text) or not name.candidates:
        return None
    said = _SO_CALLED.fullmatch(text, number.stop, name.start)
    here, there = HERE.match(text[: number.start], begin), _THERE_ARE.match(text, begin)
    start = there.end() if there else begin
    for verb, stop in verbs_of(claim.items, text[: number.start], begin):
        here = HERE.match(text[:verb], begin)
        is_whole = here is not None and not (here["noun"] and here["noun"].lower() in words)
        start = stop + 1 if is_whole and base_of(text[verb:stop]) in HOLDS else start
    count = number.value.count if number.value else None
    if said is None or count is None or not number.value or not SO_MANY.fullmatch(text, start, number.start):
        return None
    kind = without_whole((), said["kind"], words)
    return Quantified(said.start("kind"), ((kind, ""),), count, number.value.sign, called=name)


def _without_total(claim: ClaimText, start: int = -1) -> tuple[ClaimText, int | None]:
    """A claim without the number of all of a kind of which it speaks, and this: *two of our nine clubs*.

    It stands at `start`, if that is said: *all nine clubs*.
    """
    text, of = claim.text, claim.items[:1]
    counted = (i for i in claim.items if i.value and not i.value.timed and i.value.count is not None)
    all_ = next((i for i in counted if (i not in of if start < 0 else i.start == start)), None)
    noun = _NOUN.match(text, all_.stop) if all_ else None
    if all_ is None or all_.value is None or noun is None:
        return claim, None
    is_of = start >= 0 or (of[0].value is not None and _OF_ALL.fullmatch(text, of[0].stop, all_.start))
    if not is_of or (start < 0 and verbs_of(claim.items, text[: all_.stop], of[0].stop)):
        return claim, None
    return claim.without(all_.start, noun.end()), all_.value.count


def _ways(claim: ClaimText, text: str, start: int) -> tuple[tuple[str, str], ...]:
    """The ways to part what is said from its subject, a kind; *not* within is read of neither."""
    verbs = verbs_of(claim.items, text, start)[:MOST_WAYS]
    kinds = [text[start:at].strip() for at, _ in verbs]
    return tuple(
        (kind, f"Which {kind} {_agreeing(text[at:stop], kind)}{text[stop:]}?")
        for kind, (at, stop) in zip(kinds, verbs, strict=True)
    )


def _agreeing(verb: str, kind: str) -> str:
    """A verb that is said of none or one of several, as it is said of several: *none of the pubs opens*."""
    if singular_noun(kind.lower()) == kind.lower():
        return verb
    irregular = {"is": "are", "was": "were", "has": "have", "does": "do"}
    return irregular.get(verb.lower()) or (base_of(verb) if verb.endswith("s") else verb)


def _of_object(claim: ClaimText, text: str, begin: int, hit: re.Match[str]) -> Quantified:
    """*U1 serves all stations*: all of a kind behind the verb, *Which stations does U1 serve?*."""
    before = [i for i in claim.items if i.stop <= hit.start()]
    if not before:
        return Quantified(hit.end(), ())
    subject, kind = text[begin : before[-1].stop], text[hit.end() :]
    verb = text[before[-1].stop : hit.start()]
    denied = bool(hit["not"]) or bool(negations(verb))
    first, *rest = positive(verb).split() or [""]
    if first in BEING | DOING or (first in HAVING and rest):
        question = f"Which {kind} {first} {subject} {' '.join(rest)}?"
    else:
        lemma = next((b for b in Lexicon.load().lemmas(first.lower()) if b != first), first)
        question = f"Which {kind} does {subject} {' '.join((lemma, *rest))}?"
    return Quantified(hit.end(), ((kind.strip(), question),), denied=denied)


def read_kind(reader: QuestionReader, said: Quantified) -> KindReading:
    """The sets that a claim speaks of, by the first way that is read surely. Raises EmbedderError."""
    unplaced: tuple[str, ...] = ()
    executor = Executor(reader.graph)
    if said.called is not None:
        named = [Anchor(c.node) for c in said.called.candidates if c.how <= NORMAL]
        kind = kind_of(reader, said.ways[0][0])
        return KindReading(kind, reduce(Either, named)) if named else KindReading()
    for kind_words, question in said.ways:
        told = _set_of(reader, question)
        kind = kind_of(reader, kind_words) if kind_words else told.told  # of nobody none is so
        unplaced = unplaced or told.unplaced
        if kind is None:
            continue
        if told.told is not None and not len(difference(executor.members(told.told), executor.members(kind))):
            return KindReading(kind, told.told)
        type_ = final_type(kind, reader.vocabulary)
        if told.told is None and type_ >= 0:
            # Of a kind it is enough to know of which things of its type it is so.
            noun = "things" if isinstance(kind, OfType) else plural(reader.vocabulary.types[type_])
            told = _set_of(reader, question.replace(kind_words, noun, 1))
            if told.told is not None:
                return KindReading(kind, told.told)
    return KindReading(unplaced=unplaced)


def kind_of(reader: QuestionReader, words: str) -> Part | None:
    """What a subject stands for: all of a type, or those that a question finds."""
    nouns = [singular_noun(name) for name in reader.vocabulary.types]
    noun = singular_noun(words.lower())
    return OfType(nouns.index(noun)) if noun in nouns else _set_of(reader, f"Which {words} are there?").told


def _set_of(reader: QuestionReader, question: str) -> KindReading:
    """What a question asks for, where it is read surely and all of its words have a place."""
    likeliest = likely_reading(reader, with_bounds(reader.read(question)), LEAST_OF_ONE, may_be_empty=True)
    query, account = likeliest.query, likeliest.account
    if query is None or account is None:
        return KindReading()
    unplaced = tuple(unplaced_phrases(question, account.words))
    is_set = query.ask == "list" and not query.by and not query.key
    least = LEAST_SURE_SPELT if says_each(reader, likeliest, spelt=True) else LEAST_SURE
    if unplaced or not is_set or likeliest.likelihood < least or not says_each(reader, likeliest):
        return KindReading(unplaced=unplaced)
    return KindReading(told=both_ways(reader.vocabulary, query).part)

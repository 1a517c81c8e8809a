"""Questions and claims of names: *what else is X called*, *X's German name*, *X is also called Y*.

They are told by their form, and are the query graphs *names* and *called* of X. What is asked is no relation
of the graph (`graph.naming`), so that nothing is ranked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from clew.graph.naming import TAGS, Name, names_of
from clew.query.execute import Executor
from clew.query.tree import Anchor, Query
from clew.reading.english import FUNCTION
from clew.reading.mentions import Mention
from clew.reading.reader import QuestionReader
from clew.text.normalise import normalise, tokens
from clew.types import Place, PlacedWord

_SAID = {
    "{X}": r"(?P<x>.+?)",
    "{Y}": r"[\"'“]?(?P<y>.+?)[\"'”]?",
    "{LANGUAGE}": rf"(?P<language>{'|'.join(sorted(TAGS, key=len, reverse=True))})",
    "{IS}": r"(?:is|are|was|were)",
    "{CALLED}": r"(?:called|named|known(?: as)?|referred to(?: as)?)",
    "{TOO}": r"(?:also|otherwise|alternatively|sometimes|else|too|as well)",
    "{OTHER}": r"(?:(?:(?:all|any|some|of|the|an?) )*"
    r"(?:(?:another|other|alternative|alternate|further) names?|alias(?:es)?|synonyms?))",
    "{NAME}": r"(?:name|label|word|title)",
    "{WHAT}": r"(?:(?:what|which)(?:['’]s| is| are| was| were) |(?:list|show|give|tell)(?: me)? )?",
    "{NOT}": r"(?P<not> not|n['’]t)?",
}


def _patterns(forms: Sequence[str]) -> list[re.Pattern[str]]:
    texts = (reduce(lambda text, key: text.replace(key, _SAID[key]), _SAID, form) for form in forms)
    return [re.compile(rf"\W*{text}\W*".replace(" ", r"\s+"), re.I) for text in texts]


_QUESTIONS = _patterns((
    "what else {IS} {X}(?: {TOO})? {CALLED}",
    "(?:what|how) {IS} {X} {TOO} {CALLED}(?: as)?",
    "(?:what|how) {IS} {X} {CALLED} {TOO}",
    "{WHAT}{OTHER} (?:of|for) {X}",
    "{WHAT}{X}['’]s? {OTHER}",
    "(?:what|which) {OTHER} (?:does|do|did|has|have) {X}(?: (?:have|go by|use))?",
    "(?:by|under) (?:what|which) {OTHER} {IS} {X} {CALLED}",
    "(?:what|how) {IS} {X}(?: (?:{CALLED}|said|written))? in {LANGUAGE}",
    "(?:how|what) (?:do|does|would|can) (?:you|one|we|they) (?:say|call|write) {X} in {LANGUAGE}",
    "{WHAT}(?:the )?{LANGUAGE} {NAME} (?:of|for) {X}",
    "{WHAT}(?:the )?{NAME} (?:of|for) {X} in {LANGUAGE}",
    "{WHAT}{X}['’]s? {LANGUAGE} {NAME}",
    "{WHAT}{X}['’]s? {NAME} in {LANGUAGE}",
    "{IS} {X}(?: {TOO})? {CALLED} {Y}(?: in {LANGUAGE})?",
    "{IS} {Y} {OTHER} (?:of|for) {X}",
    "{IS} {Y} (?:the|an?) {LANGUAGE} {NAME} (?:of|for) {X}",
    "{IS} {X}['’]s? {LANGUAGE} {NAME} {Y}",
))  # fmt: skip
_CLAIMS = _patterns((
    "{X} {IS}{NOT}(?: {TOO})? {CALLED} {Y}(?: in {LANGUAGE})?",
    "in {LANGUAGE},? {X} {IS}{NOT}(?: {TOO})? {CALLED} {Y}",
    "{OTHER} (?:of|for) {X} {IS}{NOT} {Y}",
    "{Y} {IS}{NOT} {OTHER} (?:of|for) {X}",
    "{Y} {IS}{NOT} (?:the|an?) {LANGUAGE} {NAME} (?:of|for) {X}",
    "(?:the|an?) {LANGUAGE} {NAME} (?:of|for) {X} {IS}{NOT} {Y}",
    "{X}['’]s? {LANGUAGE} {NAME} {IS}{NOT} {Y}",
))  # fmt: skip


_LANGUAGE_ALONE = _patterns(("(?:in )?{LANGUAGE}(?: {NAME})?", "(?:the |its )?{LANGUAGE} {NAME}"))


def asks_for_names(text: str) -> bool:
    """Whether a text has the form of a question for names, whatever it is of."""
    return any(pattern.fullmatch(text) for pattern in _QUESTIONS)


def in_language(query: Query, text: str) -> Query | None:
    """A query of names, for those of a language that is all that a text says: *and in Italian?*."""
    said = next(filter(None, (pattern.fullmatch(text) for pattern in _LANGUAGE_ALONE)), None)
    if said is None or query.ask not in ("names", "called"):
        return None
    return replace(query, ask="names", key=TAGS[_group(said, "language").lower()], name="")


@dataclass(frozen=True, slots=True)
class AskedNames:
    """What a text asks, or says, of the names of a thing; `mentions` are those of the text."""

    query: Query
    mentions: tuple[Mention, ...]
    words: tuple[PlacedWord, ...]
    likelihood: float
    """How likely the thing is the one that is named."""
    denied: bool = False


def names_asked(reader: QuestionReader, text: str, entities: Sequence[str] = ()) -> AskedNames | None:
    """How a question asks for names of a thing of which sources record some; None for any other."""
    return next(_read(reader, _QUESTIONS, text, entities), None)


def names_claimed(reader: QuestionReader, text: str) -> AskedNames | None:
    """How a claim says what a thing is called, as `names_asked`."""
    return next(_read(reader, _CLAIMS, text, ()), None)


def _read(
    reader: QuestionReader, patterns: Sequence[re.Pattern[str]], text: str, entities: Sequence[str]
) -> Iterator[AskedNames]:
    mentions: tuple[Mention, ...] = ()
    for said in (match for pattern in patterns if (match := pattern.fullmatch(text)) is not None):
        mentions = mentions or reader.name(text, entities)
        for place, mention in enumerate(mentions):
            before = text[said.start("x") : max(mention.start, said.start("x"))].strip().lower()
            if mention.stop != said.end("x") or before not in ("", "the", "a", "an"):
                continue
            for candidate in mention.candidates:
                if names := names_of(reader.graph, candidate.node):
                    label = reader.graph.labels[candidate.node]
                    query = _query(said, Anchor(candidate.node, place), mention.text, label, names)
                    words = _placed(text, said, mention, label)
                    yield AskedNames(query, mentions, words, candidate.score, bool(_group(said, "not")))


def _group(said: re.Match[str], name: str) -> str:
    return str(said.groupdict().get(name) or "").strip()


def _query(said: re.Match[str], thing: Anchor, text: str, label: str, names: Sequence[Name]) -> Query:
    language, called = _group(said, "language"), _group(said, "y")
    tag = TAGS[language.lower()] if language else ""
    if called:
        return Query("called", thing, key=tag, name=called)
    # Said by another name than the one that it is shown as, it is also called by that one.
    is_further = not tag and normalise(text) != normalise(label)
    is_further = is_further and any(normalise(name.text) == normalise(text) for name in names)
    return Query("names", thing, key=tag, name=text if is_further else "")


def _placed(text: str, said: re.Match[str], mention: Mention, label: str) -> tuple[PlacedWord, ...]:
    """What each word is: the thing and the name that is said, the language, and how it is asked."""
    places: list[tuple[int, int, Place, str]] = [(mention.start, mention.stop, "name", label)]
    for group in ("y", "language"):
        if value := _group(said, group):
            places.append((*said.span(group), "value", value))
    words: list[PlacedWord] = []
    for token in tokens(text):
        is_idle, place = token.norm in FUNCTION, next((p for p in places if p[0] <= token.start < p[1]), None)
        kind, part = place[2:] if place else ("frame", "") if is_idle else ("operator", "called")
        words.append(PlacedWord(token.start, token.stop, token.text, kind, part))
    return tuple(words)


def verdict_of(executor: Executor, asked: AskedNames) -> tuple[bool | None, list[tuple[int, Name]]]:
    """Whether a claim of names is so, and what sources say; None where they do not tell.

    It is not so where a thing is called otherwise in that language, not by a further name but by its own.
    """
    found = [(member, name) for member, _, name in executor.names(asked.query)]
    if found or not asked.query.key:
        return (True, found) if found else (None, [])
    others = executor.names(Query("names", asked.query.part, key=asked.query.key))
    own = [(member, name) for member, _, name in others if not name.is_further]
    return (False, own) if own else (None, [])

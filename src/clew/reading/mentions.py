"""Mentions: the spans of a question that may be names, numbers or dates, each with what it may stand for.

Nothing is decided here: a span keeps several candidates, spans may overlap, and how each was found is a
feature of the ranking. At most `MOST_MENTIONS` are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from clew.graph.graph import Values
from clew.index.names.containing import nodes_containing
from clew.index.names.names import NamesIndex
from clew.reading.category_words import CategoryWords
from clew.reading.demonyms import places_named
from clew.reading.english import FUNCTION, singular
from clew.reading.name_runs import (
    NUMERAL,
    WITH_SYMBOLS,
    WordKinds,
    around,
    digits,
    is_joined,
    joined,
    like_names,
    may_be_name,
    may_be_said_by,
    written_like_names,
)
from clew.reading.name_words import NameWords
from clew.reading.query import Value
from clew.reading.values import values_in
from clew.reading.vocabulary import Vocabulary
from clew.text.lexicon import Lexicon
from clew.text.normalise import Token, tokens

MOST_MENTIONS, MOST_CANDIDATES = 10, 6
LEAST_PART, PART = 4, 0.6
"""Letters of a word that names the few nodes which have it in theirs, and what is left of its quality."""
LIKE = 0.72
"""Least similarity of a misspelt name."""
LEAST_MISSPELT, MOST_TRIED = 5, 24
"""Letters of a misspelt name, and how many runs of words are looked for as one."""
LONGEST_BLOB = 64_000_000
"""Bytes of names in which a part of a name is looked for; in more of them that would take too long."""

MOST_BY_WORD = 60_000
"""Nodes of a graph whose names are found by their words in any order, which takes a table in memory."""

GIVEN, EXACT, ALIAS, NORMAL, PLURAL, PARTIAL, TYPO, WORDS, MEANT = range(9)
"""How a candidate was found. WORDS: all words of the name stand in the question, in any order."""
HOW = ("given", "exact", "alias", "normalised", "plural", "part", "typo", "words", "meant")
QUALITY = (1.0, 1.0, 0.97, 0.93, 0.85, 0.7, 0.6, 0.75, 0.95)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node that a mention may stand for; `score` in [0, 1], `how` it was found."""

    node: int
    how: int
    score: float


@dataclass(frozen=True, slots=True)
class Mention:
    """A span of the question, in characters, and the nodes or the values that it may stand for."""

    start: int
    stop: int
    text: str
    candidates: tuple[Candidate, ...] = ()
    values: tuple[Value, ...] = ()
    strong: bool = True
    """Written like a name, or of several words: a reading that leaves it open leaves much open."""

    def overlaps(self, other: Mention) -> bool:
        """Whether the spans share a character."""
        return self.start < other.stop and other.start < self.stop


def spans_of(mentions: Sequence[Mention], places: Iterable[int]) -> list[tuple[int, int]]:
    """The characters [start, stop) of some mentions, given by their places."""
    return [(mentions[i].start, mentions[i].stop) for i in places]


@dataclass(frozen=True, eq=False)
class MentionFinder:
    """Finds mentions by the names index of a graph."""

    names: NamesIndex
    lexicon: Lexicon
    typing: frozenset[str] = frozenset()
    """Words of the graph's relations and types, which are no misspelt names."""
    by_word: NameWords | None = None
    """Names by their words, where there are not too many."""
    values: Values | None = None
    """The numbers and dates of the graph."""
    by_meaning: CategoryWords | None = None
    """Categories by other words."""

    @classmethod
    def of(cls, names: NamesIndex, vocabulary: Vocabulary, lexicon: Lexicon) -> Self:
        """The finder of a graph; names of a large one are not found by their words."""
        graph = vocabulary.graph
        words = NameWords(names, lexicon) if graph.nodes <= MOST_BY_WORD else None
        categories = CategoryWords.of(vocabulary, lexicon)
        return cls(names, lexicon, vocabulary.words, words, graph.values, categories)

    @cached_property
    def _kinds(self) -> WordKinds:
        return WordKinds(self.lexicon, self.typing)

    def find(self, question: str, entities: Sequence[str] = ()) -> list[Mention]:
        """All mentions of a question, by their place; `entities` are names that it is known to be about."""
        question_tokens = tokens(question)
        spans: dict[tuple[int, int], dict[int, Candidate]] = {}
        self._add_entities(question, entities, spans)
        self._add_exact(question, question_tokens, spans)
        self._add_codes(question, question_tokens, spans)
        self._add_plural(question, question_tokens, spans)
        self._add_partial(question, question_tokens, spans)
        self._add_words(question, question_tokens, spans)
        self._add_typos(question, question_tokens, spans)
        self._drop_other_names(question, question_tokens, spans)
        self._add_categories(question_tokens, spans)
        mentions = [
            _mention(question, span, _surest_candidates(nodes.values()))
            for span, nodes in spans.items()
            if nodes
        ]
        foremost = _likeliest_mentions(_without_repeats(mentions), question, self.lexicon)
        return with_values(question, foremost)

    def _add_entities(
        self, question: str, entities: Sequence[str], spans: dict[tuple[int, int], dict[int, Candidate]]
    ) -> None:
        for name in entities:
            start = question.casefold().find(name.casefold())
            span = (start, start + len(name)) if start >= 0 else (len(question), len(question))
            for hit in self.names.exact(name)[:MOST_CANDIDATES]:
                spans.setdefault(span, {})[hit.entity] = Candidate(hit.entity, GIVEN, 1.0)

    def _add_exact(
        self,
        question: str,
        question_tokens: Sequence[Token],
        spans: dict[tuple[int, int], dict[int, Candidate]],
    ) -> None:
        for hit in self.names.spans(question, question_tokens):
            words = question_tokens[hit.start : hit.stop]
            if not may_be_name(words, at_start=hit.start == 0):
                continue
            nodes = spans.setdefault((words[0].start, words[-1].stop), {})
            for name in hit.hits[:MOST_CANDIDATES]:
                how = ALIAS if name.kind == "alias" else EXACT if name.exact else NORMAL
                nodes.setdefault(name.entity, Candidate(name.entity, how, QUALITY[how]))
        for span, places in places_named(question_tokens, self.typing, frozenset(spans)):
            for name in (hit for place in places for hit in self.names.exact(place)):
                candidate = Candidate(name.entity, ALIAS, QUALITY[PLURAL])
                spans.setdefault(span, {}).setdefault(name.entity, candidate)

    def _add_codes(
        self,
        question: str,
        question_tokens: Sequence[Token],
        spans: dict[tuple[int, int], dict[int, Candidate]],
    ) -> None:
        """Codes that are joined otherwise, *HP40* and *HP 40* for HP-40, and names that end in symbols."""
        for first, last in (
            (t, u) for i, t in enumerate(question_tokens) for u in question_tokens[i : i + 2]
        ):
            span = (first.start, last.stop)
            for written in joined(question[span[0] : span[1]]) if first.norm not in FUNCTION else ():
                for hit in self.names.exact(written)[:MOST_CANDIDATES]:
                    candidate = Candidate(hit.entity, NORMAL, QUALITY[NORMAL])
                    spans.setdefault(span, {}).setdefault(hit.entity, candidate)
        for written in WITH_SYMBOLS.finditer(question):
            for hit in self.names.exact(written[0]):
                if self.names.graph.labels[hit.entity].casefold() == written[0].casefold():
                    spans.setdefault(written.span(), {})[hit.entity] = Candidate(
                        hit.entity, EXACT, QUALITY[EXACT]
                    )

    def _add_plural(
        self,
        question: str,
        question_tokens: Sequence[Token],
        spans: dict[tuple[int, int], dict[int, Candidate]],
    ) -> None:
        base = [replace(t, norm=singular(t.norm)) if t.norm not in FUNCTION else t for t in question_tokens]
        if all(a.norm == b.norm for a, b in zip(base, question_tokens, strict=True)):
            return
        for hit in self.names.spans(question, base):
            words = base[hit.start : hit.stop]
            if words[-1].norm == question_tokens[hit.stop - 1].norm or not may_be_name(words):
                continue
            nodes = spans.setdefault((words[0].start, words[-1].stop), {})
            for name in hit.hits[:MOST_CANDIDATES]:
                nodes.setdefault(name.entity, Candidate(name.entity, PLURAL, QUALITY[PLURAL]))

    def _add_partial(
        self,
        question: str,
        question_tokens: Sequence[Token],
        spans: dict[tuple[int, int], dict[int, Candidate]],
    ) -> None:
        """Names that hold a run of words which are written like a name, or a code."""
        if len(self.names.graph.labels.blob) > LONGEST_BLOB:
            return
        for start, stop in written_like_names(question, question_tokens, self._kinds):
            span = (question_tokens[start].start, question_tokens[stop - 1].stop)
            text = question[span[0] : span[1]]
            cases = (text, text.title(), text.upper(), text.lower(), text.capitalize())
            for written in dict.fromkeys((*cases, *joined(text), *joined(text.upper()))):
                nodes = [n for n in nodes_containing(self.names, written) or [] if not self._is_value(n)]
                for node in nodes[:MOST_CANDIDATES]:
                    share = min(1.0, len(text) / max(1, len(self.names.graph.labels[node])))
                    score = QUALITY[PARTIAL] + 0.2 * share
                    spans.setdefault(span, {}).setdefault(node, Candidate(node, PARTIAL, score))
                if nodes:
                    break

    def _is_value(self, node: int) -> bool:
        """Whether a node is a number or a date: a year is no part of the name of a day."""
        return self.values is not None and bool(self.values.kind[node])

    def _add_words(
        self,
        question: str,
        question_tokens: Sequence[Token],
        spans: dict[tuple[int, int], dict[int, Candidate]],
    ) -> None:
        """Names all or most of whose words stand in the question, in any order and form."""
        if self.by_word is None:
            return
        content = [t for t in question_tokens if t.norm not in FUNCTION and t.norm != "'s"]
        sure = [span for span, nodes in spans.items() if _certain(nodes.values())]
        for node, share, places in self.by_word.named_by([t.norm for t in content]):
            used = [content[i] for i in places]
            if not may_be_said_by(question_tokens, used, sure):
                continue
            span = (used[0].start, used[-1].stop)
            if span[1] - span[0] > 12 * len(used) + 24 or any(
                node in nodes and nodes[node].how <= PARTIAL
                for (start, _), nodes in spans.items()
                if start <= span[0]
            ):
                continue
            score = QUALITY[WORDS] * share
            spans.setdefault(span, {}).setdefault(node, Candidate(node, WORDS, score))
        taken = [span for span, nodes in spans.items() if nodes]
        for token in content:
            inside = any(a <= token.start and token.stop <= b for a, b in taken)
            if inside or self._kinds.types(token) or len(token.norm) < LEAST_PART or token.norm.isdigit():
                continue
            nodes = self.by_word.with_word(token.norm)
            if len(nodes) > 1 and token.text.islower() and singular(token.norm) != token.norm:
                continue  # *hotels* are no Quay Street Hotel
            for node in nodes:
                candidate = Candidate(node, WORDS, QUALITY[WORDS] * PART)
                spans.setdefault((token.start, token.stop), {}).setdefault(node, candidate)

    def _add_categories(
        self, question_tokens: Sequence[Token], spans: dict[tuple[int, int], dict[int, Candidate]]
    ) -> None:
        """Categories that words mean which are of no name and of no label."""
        if self.by_meaning is None:
            return
        taken = [span for span, nodes in spans.items() if nodes]
        for token in question_tokens:
            inside = any(a <= token.start and token.stop <= b for a, b in taken)
            if inside or token.norm in FUNCTION or len(token.norm) < LEAST_PART or self._kinds.types(token):
                continue
            for node, near in self.by_meaning.meant_by(token.norm):
                candidate = Candidate(node, MEANT, QUALITY[MEANT] * near)
                spans.setdefault((token.start, token.stop), {})[node] = candidate

    def _drop_other_names(
        self,
        question: str,
        question_tokens: Sequence[Token],
        spans: dict[tuple[int, int], dict[int, Candidate]],
    ) -> None:
        """Leave out guesses by a common word of a longer name: *Mount Verity* is not Mount Orrin."""
        sure = [span for span, nodes in spans.items() if _certain(nodes.values())]
        for (start, stop), nodes in spans.items():
            inside = [i for i, t in enumerate(question_tokens) if start <= t.start and t.stop <= stop]
            if not inside or not all(self._kinds.is_common(question_tokens[i]) for i in inside):
                continue
            neighbours = [
                t
                for i in (inside[0] - 1, inside[-1] + 1)
                if 0 <= i < len(question_tokens)
                and is_joined(question, t := question_tokens[i], (start, stop))
                if self._kinds.is_of_name(t) and not any(a <= t.start and t.stop <= b for a, b in sure)
            ]
            for node in [n for n, c in nodes.items() if neighbours and c.how in (PARTIAL, WORDS)]:
                label = {t.norm for t in tokens(self.names.graph.labels[node])}
                if any(t.norm not in label for t in neighbours):
                    del nodes[node]

    def _add_typos(
        self,
        question: str,
        question_tokens: Sequence[Token],
        spans: dict[tuple[int, int], dict[int, Candidate]],
    ) -> None:
        covered = [
            any(a <= t.start and t.stop <= b and _certain(nodes.values()) for (a, b), nodes in spans.items())
            for t in question_tokens
        ]
        content = [t.norm not in FUNCTION and not self._kinds.types(t) for t in question_tokens]
        unknown = [
            c and not NUMERAL.fullmatch(t.norm) and not self.lexicon.known(t.norm)
            for c, t in zip(content, question_tokens, strict=True)
        ]
        odd = [
            u or (c and t.text[:1].isupper() and not NUMERAL.fullmatch(t.norm))
            for c, u, t in zip(content, unknown, question_tokens, strict=True)
        ]
        tried = 0
        for first, last in (*like_names(question_tokens, odd), *around(content, unknown)):
            words = question_tokens[first:last]
            if any(covered[first:last]) or sum(len(t.norm) for t in words) < LEAST_MISSPELT:
                continue
            span = (words[0].start, words[-1].stop)
            text = question[span[0] : span[1]]
            if span in spans or tried >= MOST_TRIED or self.names.exact(text):
                continue  # it is spelt right: of what it names nothing may be left
            tried += 1
            for hit in self.names.fuzzy(text, MOST_CANDIDATES):
                # Another number is another thing.
                same = digits(text) == digits(self.names.graph.labels[hit.entity])
                if hit.score >= LIKE and same:
                    candidate = Candidate(hit.entity, TYPO, QUALITY[TYPO] * hit.score)
                    spans.setdefault(span, {}).setdefault(hit.entity, candidate)


def _surest_candidates(nodes: Iterable[Candidate]) -> list[Candidate]:
    """The candidates, without guesses where one has this very name: *Kenya* is not *Mount Kenya*."""
    candidates = list(nodes)
    if any(c.how in (GIVEN, EXACT) for c in candidates):
        return [c for c in candidates if c.how not in (PARTIAL, TYPO, WORDS)]
    return candidates


def _certain(nodes: Iterable[Candidate]) -> bool:
    return any(c.how in (GIVEN, EXACT, ALIAS, NORMAL) for c in nodes)


def _mention(question: str, span: tuple[int, int], nodes: Iterable[Candidate]) -> Mention:
    best = sorted(nodes, key=lambda c: (-c.score, c.node))[:MOST_CANDIDATES]
    return Mention(span[0], span[1], question[span[0] : span[1]], tuple(best))


def _without_repeats(mentions: Sequence[Mention]) -> list[Mention]:
    """The mentions without candidates that a better mention around the same place has.

    A misspelt name is better than what is spelt right in it: *Court* in *Broklyne Court*.
    """
    misspelt = [(m, c.node) for m in mentions for c in m.candidates if c.how == TYPO]
    mentions = [
        replace(m, candidates=tuple(c for c in m.candidates if not _is_part_of_misspelt(m, c, misspelt)))
        for m in mentions
    ]
    ranked = sorted(
        (m for m in mentions if m.candidates),
        key=lambda m: (-m.candidates[0].score, m.start - m.stop, m.start),
    )
    taken: list[tuple[Mention, set[int]]] = []
    for mention in ranked:
        taken_nodes = {n for better, nodes in taken if better.overlaps(mention) for n in nodes}
        candidates = tuple(c for c in mention.candidates if c.node not in taken_nodes)
        if candidates:
            taken.append((replace(mention, candidates=candidates), {c.node for c in candidates}))
    return [mention for mention, _ in taken]


def _is_part_of_misspelt(
    mention: Mention, candidate: Candidate, misspelt: Sequence[tuple[Mention, int]]
) -> bool:
    """Whether a guess at a node by some words stands inside of its whole name, misspelt."""
    return candidate.how in (PARTIAL, WORDS) and any(
        node == candidate.node
        and m.start <= mention.start
        and mention.stop <= m.stop
        and m.text != mention.text
        for m, node in misspelt
    )


def _likeliest_mentions(mentions: Sequence[Mention], question: str, lexicon: Lexicon) -> list[Mention]:
    """The mentions that are most likely names, each marked by whether it is written like one."""
    marked = _without_inner([replace(m, strong=_is_strong(m, lexicon)) for m in mentions])
    marked.sort(key=lambda m: (-_weight(m), m.start, -m.stop))
    chosen: list[Mention] = []
    for mention in marked:
        inside = [c for c in chosen if c.start <= mention.start and mention.stop <= c.stop]
        sure = any(c.strong and c.candidates[0].how <= NORMAL for c in inside)
        if not inside or (len(inside) < 2 and (not sure or mention.candidates[0].how <= NORMAL)):
            chosen.append(mention)
    return sorted(chosen[:MOST_MENTIONS], key=lambda m: (m.start, -m.stop))


def _without_inner(mentions: Sequence[Mention]) -> list[Mention]:
    """The mentions without those inside of a longer name that is written out: *Korea* in *South Korea*.

    And without guesses at names that take some words of such a name and some beside it.
    """
    full_names = [
        m
        for m in mentions
        if m.strong
        and len(re.split(r"[\s_]+", m.text)) > 1
        and (m.text[0].isupper() or "_" in m.text)
        and any(c.how in (GIVEN, EXACT) for c in m.candidates)
    ]
    return [m for m in mentions if not any(_is_taken(m, o) for o in full_names)]


def _is_taken(mention: Mention, name: Mention) -> bool:
    """Whether the words of a mention are better taken for a name that is written out."""
    is_given = any(c.how == GIVEN for c in mention.candidates)
    if is_given or not mention.overlaps(name) or (mention.start, mention.stop) == (name.start, name.stop):
        return False
    if name.start <= mention.start and mention.stop <= name.stop:
        return True
    around = mention.start <= name.start and name.stop <= mention.stop
    return not around and all(c.how in (PARTIAL, TYPO, WORDS) for c in mention.candidates)


def _is_strong(mention: Mention, lexicon: Lexicon) -> bool:
    words = [w for w in re.findall(r"\w+", mention.text) if w.lower() not in FUNCTION]
    certain = mention.candidates[0].how in (GIVEN, EXACT, ALIAS, NORMAL)
    written = any(w[:1].isupper() or w[:1].isdigit() for w in words) and mention.start > 0
    unknown = any(not lexicon.known(w.lower()) for w in words)
    return certain and (len(words) > 1 or written or unknown)


def _weight(mention: Mention) -> float:
    words = len(mention.text.split())
    return mention.candidates[0].score + 0.25 * min(words, 6) + 0.3 * mention.strong


def with_values(question: str, mentions: Sequence[Mention]) -> list[Mention]:
    """The mentions with the numbers and dates of a question; one that is a name too has both."""
    place_by_span = {(m.start, m.stop): i for i, m in enumerate(mentions)}
    result = list(mentions)
    for (start, stop), values in values_in(question).items():
        at = place_by_span.get((start, stop))
        if at is not None:
            result[at] = replace(result[at], values=values)
        else:
            result.append(Mention(start, stop, question[start:stop], (), values, strong=False))
    return sorted(result, key=lambda m: (m.start, -m.stop))

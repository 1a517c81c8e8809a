"""Which spans of a question may name entities: exact, alias, normalised, then typos, then embedding.

The linker proposes; which words are mentions is decided together with the reading of the question
(`steps.readings`), since in many graphs common words are names too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from clew.index.names.containing import nodes_containing
from clew.index.names.names import NameHit, NamesIndex
from clew.reading.demonyms import places_of
from clew.reading.rules.english import FUNCTION, TITLES
from clew.reading.rules.question import Question, Word
from clew.text.embedder import Embedder
from clew.text.lexicon import Lexicon
from clew.text.normalise import Token, tokens
from clew.types import Candidate, Mention

MOST_MENTIONS = 12
MOST_CANDIDATES = 5
LIKE = 0.72
"""Least similarity of a misspelt name: two edits need seven characters or so (*Nolan* is not *Poland*)."""
DERIVED = 0.45
"""Least similarity of another form of a word with the word."""
ALIKE = 0.4
"""Least cosine of another form of a word with the word."""
MOST_FORMS = 60
PLURAL, DEMONYM, PART = 0.95, 0.93, 0.85
"""Scores of a name in the plural, of the country that an adjective is of, and of a part of a name."""
INSIDE = frozenset("of the with in on for to a an de la le von van".split())
"""Small words inside names."""
SHORTEST = 4
"""Letters that a part of a name has at least."""


@dataclass(frozen=True, eq=False)
class Linker:
    """Proposes mentions from the names index."""

    names: NamesIndex
    lexicon: Lexicon
    embedder: Embedder

    def link(self, question: Question) -> list[Mention]:
        """Mentions by exact, alias and normalised names; the longest first, at most `MOST_MENTIONS`."""
        text = question.text
        found = tokens(text)
        mentions = [
            Mention(
                found[hit.start].start,
                found[hit.stop - 1].stop,
                text[found[hit.start].start : found[hit.stop - 1].stop],
                tuple(_candidate(h) for h in hit.hits[:MOST_CANDIDATES]),
            )
            for hit in self.names.spans(text, found)
            if any(c.isalnum() for t in found[hit.start : hit.stop] for c in t.norm)
        ]
        mentions = self._with_plurals(text, found, mentions)
        mentions = self._with_demonyms(text, found, mentions)
        mentions.sort(key=lambda m: (m.start - m.stop, m.start))
        return mentions[:MOST_MENTIONS]

    def _with_plurals(self, text: str, found: Sequence[Token], mentions: Sequence[Mention]) -> list[Mention]:
        """The mentions with those of several words by their singular: *live albums* → Live album.

        One word is a mention by its singular only where it is one as it stands.
        """
        singular = [self._singular(token) for token in found]
        if singular == list(found):
            return list(mentions)
        own = {(m.start, m.stop): m for m in mentions}
        for hit in self.names.spans(text, singular):
            start, stop = found[hit.start].start, found[hit.stop - 1].stop
            named = own.get((start, stop))
            if singular[hit.stop - 1] is found[hit.stop - 1] or (hit.stop - hit.start == 1 and named is None):
                continue
            named = named or Mention(start, stop, text[start:stop], ())
            own[start, stop] = _with_candidates(named, hit.hits, PLURAL, "plural")
        return list(own.values())

    def _singular(self, token: Token) -> Token:
        """A word in lower case by its base form, if it may be a plural."""
        if not token.text.islower() or not token.norm.endswith("s"):
            return token
        base = next((b for b in self.lexicon.lemmas(token.norm) if b != token.norm), None)
        return token if base is None else replace(token, norm=base)

    def _with_demonyms(self, text: str, found: Sequence[Token], mentions: Sequence[Mention]) -> list[Mention]:
        """The mentions with those by an adjective of a country: *French* → France."""
        kept = {(m.start, m.stop): m for m in mentions}
        for size in (1, 2):
            for at in range(len(found) - size + 1):
                start, stop = found[at].start, found[at + size - 1].stop
                span = text[start:stop]
                if not span[:1].isupper():
                    continue
                hits = [h for place in places_of(span) for h in self.names.exact(place)]
                if hits:
                    named = kept.get((start, stop)) or Mention(start, stop, span, ())
                    kept[start, stop] = _with_candidates(named, hits, DEMONYM, "demonym")
        return list(kept.values())

    def link_parts(self, question: Question, taken: Sequence[Mention]) -> list[Mention]:
        """Mentions by a part of a name: *Kurosawa* → Akira Kurosawa; only whole runs of open names."""
        found = tokens(question.text)
        mentions: list[Mention] = []
        for start, stop in self._runs(found, taken):
            span = question.text[found[start].start : found[stop - 1].stop]
            nodes = nodes_containing(self.names, span)
            if not nodes and span.islower():
                nodes = nodes_containing(self.names, span.title())
            if nodes and len(nodes) <= MOST_CANDIDATES:
                candidates = tuple(Candidate(node, PART, "part") for node in nodes)
                mentions.append(Mention(found[start].start, found[stop - 1].stop, span, candidates))
        return mentions

    def _runs(self, found: Sequence[Token], taken: Sequence[Mention]) -> list[tuple[int, int]]:
        """Runs of tokens that are written like names or unknown, without titles before them."""
        runs: list[tuple[int, int]] = []
        start: int | None = None
        for at in range(len(found) + 1):
            name = at < len(found) and self._may_name(found[at], at) and not _overlaps(found[at], taken)
            if name and start is None:
                start = at
            if not name and start is not None and self._goes_on(found, at, taken):
                continue
            if not name and start is not None:
                while start < at - 1 and found[start].norm in TITLES:
                    start += 1
                beside = [found[i] for i in (start - 1, at) if 0 <= i < len(found)]
                held = any(_overlaps(t, taken) and t.text[:1].isupper() for t in beside)
                if not held and sum(len(t.norm) for t in found[start:at]) >= SHORTEST:
                    runs.append((start, at))
                start = None
        return runs

    def _goes_on(self, found: Sequence[Token], at: int, taken: Sequence[Mention]) -> bool:
        """Whether a small word stands inside what may be one name (*Gone with the Wind*)."""
        while at < len(found) and found[at].norm in INSIDE:
            at += 1
            if at < len(found) and self._may_name(found[at], at) and not _overlaps(found[at], taken):
                return True
        return False

    def _may_name(self, token: Token, at: int) -> bool:
        if token.norm in FUNCTION or not token.norm.isalpha():
            return False
        known = self.lexicon.known(token.norm)
        return not known or (at > 0 and token.text[:1].isupper())

    def link_typos(self, question: Question, taken: Sequence[Mention]) -> list[Mention]:
        """Mentions by misspelt names: spans of unknown or capitalised words that overlap no `taken` one."""
        text = question.text
        found = tokens(text)
        proposals: list[Mention] = []
        for start, stop in self._spans(found, taken):
            span = text[found[start].start : found[stop - 1].stop]
            if self.names.exact(span):
                continue  # it is spelt right: of what it names nothing may be left
            hits = [h for h in self.names.fuzzy(span, MOST_CANDIDATES) if h.score >= LIKE]
            if hits:
                candidates = tuple(Candidate(h.entity, h.score, "typo") for h in hits)
                proposals.append(Mention(found[start].start, found[stop - 1].stop, span, candidates))
        proposals.sort(key=lambda m: (-m.candidates[0].score, m.start - m.stop, m.start))
        return proposals[:MOST_MENTIONS]

    def link_derived(self, question: Question, words: Sequence[str]) -> list[Mention]:
        """Mentions by another form of a word: *westerns* → Western, *animated* → Animation."""
        mentions: list[Mention] = []
        for word in question.words:
            if word.text not in words:
                continue
            near = {base: 1.0 for base in self.lexicon.lemmas(word.norm)} | self.lexicon.related(word.norm)
            ranked = sorted(
                ((s, f) for f, s in near.items() if s >= DERIVED and f != word.norm), reverse=True
            )
            hits = [
                (hit.entity, score, form)
                for score, form in ranked[:MOST_FORMS]
                for hit in self.names.exact(form)
            ]
            if not hits:
                continue
            vectors = self.embedder.embed([word.norm, *(form for _, _, form in hits)])
            found = [
                Candidate(entity, 0.7 + 0.25 * score, "normalised")
                for (entity, score, _), near in zip(hits, vectors[1:] @ vectors[0], strict=True)
                if near >= ALIKE
            ]
            if found:
                mentions.append(Mention(word.start, word.stop, word.text, tuple(found[:MOST_CANDIDATES])))
        return mentions

    def link_plurals(self, words: Sequence[Word]) -> list[Mention]:
        """Mentions by the singular of a word: *strikers* → Striker."""
        mentions: list[Mention] = []
        for word in words:
            bases = [b for b in self.lexicon.lemmas(word.norm) if b != word.norm and word.norm.endswith("s")]
            hits = [hit for base in bases for hit in self.names.exact(base)]
            if hits:
                found = tuple(Candidate(h.entity, PLURAL, "plural") for h in hits[:MOST_CANDIDATES])
                mentions.append(Mention(word.start, word.stop, word.text, found))
        return mentions

    def _spans(self, found: Sequence[Token], taken: Sequence[Mention]) -> list[tuple[int, int]]:
        spans: list[tuple[int, int]] = []
        for start in range(len(found)):
            for stop in range(start + 1, min(len(found), start + 8) + 1):
                words = found[start:stop]
                if words[0].norm in FUNCTION and words[0].norm not in ("the", "a", "an"):
                    break
                if words[-1].norm in FUNCTION:
                    continue
                if any(m.start < words[-1].stop and words[0].start < m.stop for m in taken):
                    break
                if any(c.isdigit() for w in words for c in w.norm):
                    continue
                content = [w for w in words if w.norm not in FUNCTION]
                unknown = all(w.text[:1].isupper() or not self.lexicon.known(w.norm) for w in content)
                if unknown and sum(len(w.norm) for w in words) >= 4:
                    spans.append((start, stop))
        return spans


def _with_candidates(
    mention: Mention, hits: Sequence[NameHit], score: float, how: Literal["plural", "demonym"]
) -> Mention:
    """The mention with entities that it has not yet, behind those that it has."""
    known = {c.entity for c in mention.candidates}
    new = [Candidate(h.entity, score, how) for h in hits if h.entity not in known]
    return replace(mention, candidates=(*mention.candidates, *new[:MOST_CANDIDATES]))


def _overlaps(token: Token, mentions: Sequence[Mention]) -> bool:
    return any(m.start < token.stop and token.start < m.stop for m in mentions)


def _candidate(hit: NameHit) -> Candidate:
    if hit.kind == "alias":
        return Candidate(hit.entity, 0.98 if hit.exact else 0.93, "alias")
    return Candidate(hit.entity, 1.0 if hit.exact else 0.95, "exact" if hit.exact else "normalised")


def given_mentions(names: NamesIndex, text: str, entities: Sequence[str]) -> list[Mention]:
    """Mentions of entities that the user names, where the text holds the name; else at its end.

    Names that the graph lacks are left out: see `unknown_names`.
    """
    mentions: list[Mention] = []
    for name in entities:
        hits = names.exact(name)
        if not hits:
            continue
        start = text.casefold().find(name.casefold())
        span = (start, start + len(name)) if start >= 0 else (len(text), len(text))
        candidates = tuple(
            Candidate(h.entity, 1.0 if h.exact else 0.95, "given") for h in hits[:MOST_CANDIDATES]
        )
        mentions.append(Mention(*span, name, candidates))
    return mentions

"""What a claim names: entities, by their names or by a part of one, and values.

A part of a name is enough beside a thing that the graph has next to it: *Nolan directed Memento*.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from clew.claims.claim_edges import Item
from clew.claims.claim_text import NEGATIONS, ClaimText
from clew.graph.graph import Graph, ValueKind
from clew.reading.rules.comparison import Comparison
from clew.reading.rules.english import FUNCTION
from clew.reading.rules.link import Linker
from clew.reading.rules.question import Word
from clew.reading.rules.readings import Reader
from clew.reading.rules.vocabulary import is_noun
from clew.text.lexicon import Lexicon
from clew.text.normalise import normalise
from clew.types import Candidate, Mention

COMMON = 0.1
"""Cost from which words may also be just words, and not a name."""
CONTENT = 0.9
"""Weight from which a word may be a name."""
SAYS_RELATION = 0.5
"""Similarity from which a word may rather name a relation than a thing."""
IS_RELATION = 0.95
"""Similarity from which a word is the name of a relation."""
NAMES_END = 0.3
"""Similarity of a thing's name with a relation from which it is like it as one of its ends."""
TIE = 1e-6
PART = 0.9
"""Score of a part of a name."""
LEAST_PART = 0.5
"""Share of a name's words that a part of it needs."""
MOST_NEIGHBOURS = 2000
"""Neighbours of a thing whose names are looked at, heads and tails each."""
MOST_CANDIDATES = 3
MOST_ITEMS = 7


@dataclass(frozen=True, slots=True)
class ClaimItems:
    """Finds what a claim names in one graph."""

    graph: Graph
    linker: Linker
    reader: Reader

    def find(self, claim: ClaimText, comparison: Comparison) -> list[list[Item]]:
        """What the claim names, in the order of the text, each with the entities that it may be."""
        mentions = self._mentions(claim, comparison)
        items = [[self._item(comparison, m, c) for c in m.candidates[:MOST_CANDIDATES]] for m in mentions]
        for value in claim.values:
            clash = [m for m in mentions if m.start < value.stop and value.start < m.stop]
            if not clash or all(m.stop - m.start <= value.stop - value.start for m in clash):
                over = [i for i in items if i[0].start < value.stop and value.start < i[0].stop]
                items = [i for i in items if i not in over]
                names = over[0] if _may_be_name(value.text) and over else []
                items.append([*names, Item(value.start, value.stop, value.text, value=value)])
        return sorted(items, key=lambda i: i[0].start)[:MOST_ITEMS]

    def _mentions(self, claim: ClaimText, comparison: Comparison) -> list[Mention]:
        """The names of a claim.

        The surest first: whole, part of a neighbour's, misspelt, in another form.
        """
        question = claim.question
        named = [m for m in self.linker.link(question) if m.start >= claim.frame]
        chosen = self._apart(comparison, named, [])
        chosen = self._apart(comparison, self._parts_of_names(claim, comparison, chosen), chosen)
        if any(w.capital for w in _open(claim, comparison, chosen)):
            chosen = self._apart(comparison, self.linker.link_typos(question, chosen), chosen)
            chosen = self._apart(comparison, self._parts_of_names(claim, comparison, chosen), chosen)
        derived = self.linker.link_derived(question, [w.text for w in _open(claim, comparison, chosen)])
        return self._apart(comparison, list(self._meant(comparison, derived)), chosen)

    def _apart(
        self, comparison: Comparison, mentions: Sequence[Mention], kept: Sequence[Mention]
    ) -> list[Mention]:
        """Mentions that do not overlap: those `kept`, then names before common words, the longest first."""
        taken, question = list(kept), comparison.question
        ranked = sorted(
            mentions, key=lambda m: (self.reader.common(question, m) > COMMON, m.start - m.stop, m.start)
        )
        for mention in ranked:
            if not any(m.start < mention.stop and mention.start < m.stop for m in taken):
                taken.append(mention)
        return sorted(taken, key=lambda m: m.start)

    def _parts_of_names(
        self, claim: ClaimText, comparison: Comparison, chosen: Sequence[Mention]
    ) -> list[Mention]:
        """Mentions by some words of the name of a neighbour of what is named already."""
        runs = [
            run
            for run in _runs(_open(claim, comparison, chosen))
            if len(run) > 1 or _is_capital(run[0]) or not self._says_relation(comparison, run[0])
        ]
        if not runs or not chosen:
            return []
        lexicon = self.reader.vocabulary.lexicon
        found: dict[tuple[int, int], dict[int, float]] = {}
        for node in self._neighbours(chosen):
            name = self._name(node)
            for run in runs:
                share = _share(name, _forms(lexicon, [w.norm for w in run]))
                if share >= LEAST_PART:
                    found.setdefault((run[0].start, run[-1].stop), {})[node] = share
        text = claim.text
        return [
            Mention(start, stop, text[start:stop], _best(nodes)) for (start, stop), nodes in found.items()
        ]

    def _neighbours(self, chosen: Sequence[Mention]) -> list[int]:
        """Nodes next to what is named, literals that are numbers or dates aside."""
        near: dict[int, None] = {}
        for mention in chosen:
            entity = mention.candidates[0].entity
            for side in (self.graph.out, self.graph.into):
                start, stop = side.span(entity)
                stop = min(stop, start + MOST_NEIGHBOURS)
                near.update(dict.fromkeys(side.neighbour[start:stop].tolist()))
        kind = self.graph.values.kind
        return [n for n in near if kind[n] == ValueKind.NONE]

    def _alike(self, comparison: Comparison, word: Word) -> float:
        """How well a word names the relation that it names best."""
        return float(comparison.relation[comparison.words.index(word)].max(initial=0.0))

    def _says_relation(self, comparison: Comparison, word: Word) -> bool:
        return self._alike(comparison, word) >= SAYS_RELATION

    def said_by_the_way(
        self, claim: ClaimText, comparison: Comparison, items: Sequence[Sequence[Item]]
    ) -> frozenset[int]:
        """Where the words begin that need no explanation.

        Negations, the frame, units of values; what only repeats a name or says of what kind something is.
        """
        end = self.described(claim, items)
        least = IS_RELATION if claim.indefinite else SAYS_RELATION
        words = [
            w
            for w in comparison.words
            if w.norm in NEGATIONS
            or w.start < claim.frame
            or any(v.unit is not None and v.stop <= w.start <= v.stop + 2 for v in claim.values)
            or (w.start < end and self._alike(comparison, w) < least)
            or self._repeats_name(w, items)
            or self._says_kind(comparison, w, items)
        ]
        return frozenset(w.start for w in words)

    def described(self, claim: ClaimText, items: Sequence[Sequence[Item]]) -> int:
        """Where the words end that say of what kind the unnamed thing is that the claim begins with."""
        return claim.frame if any(i[0].start < claim.described for i in items) else claim.described

    def _repeats_name(self, word: Word, items: Sequence[Sequence[Item]]) -> bool:
        """Whether a word is a part of the whole name of something (*the Syrian club X* for *X (Syria)*)."""
        forms = _forms(self.reader.vocabulary.lexicon, [word.norm])
        return any(
            i[0].entity >= 0
            and word.weight >= CONTENT
            and _share(self._name(i[0].entity), forms) > 0
            and not i[0].start <= word.start < i[0].stop
            for i in items
        )

    def _says_kind(self, comparison: Comparison, word: Word, items: Sequence[Sequence[Item]]) -> bool:
        """Whether a noun says what the name right after it is (*the dish Bandeja paisa*).

        It claims nothing that can be checked where the graph declares no type of the thing, and where it
        names no relation (*director Ridley Scott* does).
        """
        types = self.graph.types
        return (
            any(
                i[0].start == word.stop + 1
                and i[0].entity >= 0
                and types.offsets[i[0].entity] == types.offsets[i[0].entity + 1]
                for i in items
            )
            and not word.capital
            and is_noun(self.reader.vocabulary.lexicon, word.norm)
            and not self._says_relation(comparison, word)
        )

    def _name(self, node: int) -> list[frozenset[str]]:
        return _forms(self.reader.vocabulary.lexicon, normalise(self.graph.labels[node]).split())

    def _meant(self, comparison: Comparison, derived: Sequence[Mention]) -> Iterator[Mention]:
        """Mentions by another form of a word that does not rather name a relation."""
        for mention in derived:
            rows = _rows(comparison, mention)
            if comparison.relation[rows].max(initial=0.0) >= SAYS_RELATION:
                ends = tuple(c for c in mention.candidates if self._is_end(comparison, rows, c))
                mention = replace(mention, candidates=ends)
            if mention.candidates:
                yield mention

    def _item(self, comparison: Comparison, mention: Mention, candidate: Candidate) -> Item:
        rows = _rows(comparison, mention)
        common = self.reader.common(comparison.question, mention)
        if common > COMMON and self._is_end(comparison, rows, candidate):
            common = 0.0
        cost = max(common, 0.0) + 3 * (1 - candidate.score)
        optional = common > COMMON or self._is_relation(comparison, rows)
        return Item(mention.start, mention.stop, mention.text, candidate.entity, None, cost, optional)

    def _is_end(self, comparison: Comparison, rows: Sequence[int], candidate: Candidate) -> bool:
        """Whether words that are like a relation are the name of one of its ends.

        *Euro* is like *currency* because it is one, so that it names the thing and not the relation.
        """
        like = comparison.relation[rows].max(axis=0, initial=0.0)
        ends = {s // 2 for s in self.reader.ends_of(candidate.entity)}
        best = max((float(like[r]) for r in ends), default=0.0)
        return best >= NAMES_END and best >= float(like.max(initial=0.0)) - TIE

    def _is_relation(self, comparison: Comparison, rows: Sequence[int]) -> bool:
        """Whether all words, none of them written like a name, are the name of one relation too."""
        words = [comparison.words[r] for r in rows]
        if not rows or any(w.capital for w in words):
            return False
        return bool((np.min(comparison.relation[rows], axis=0) >= IS_RELATION).any())


def _open(claim: ClaimText, comparison: Comparison, chosen: Sequence[Mention]) -> list[Word]:
    """Content words of what is claimed that are no part of a mention or value."""
    taken = [(m.start, m.stop) for m in chosen] + [(v.start, v.stop) for v in claim.values]
    return [
        w
        for w in comparison.words
        if w.weight >= CONTENT
        and w.start >= claim.frame
        and not any(start < w.stop and w.start < stop for start, stop in taken)
    ]


def _may_be_name(value: str) -> bool:
    """Whether a value is a word, written like a name (*Nine*)."""
    return value.isalpha() and value[0].isupper()


def _runs(words: Sequence[Word]) -> list[list[Word]]:
    """Words that stand side by side, all of them written like names or none."""
    runs: list[list[Word]] = [[w] for w in words[:1]]
    for before, word in pairwise(words):
        if word.start <= before.stop + 1 and _is_capital(word) == _is_capital(before):
            runs[-1].append(word)
        else:
            runs.append([word])
    return runs


def _is_capital(word: Word) -> bool:
    """Whether a word begins with a capital letter, also the first of a sentence."""
    return word.text[:1].isupper()


def _forms(lexicon: Lexicon, words: Sequence[str]) -> list[frozenset[str]]:
    """Each word that says something, in all its base forms; *Colombian* also as *Colombia*."""
    return [
        frozenset((w, *lexicon.lemmas(w), *([w[:-1]] if w.endswith("an") else [])))
        for w in words
        if w not in FUNCTION
    ]


def _share(name: Sequence[frozenset[str]], part: Sequence[frozenset[str]]) -> float:
    """Share of a name's words that are in a part of it; 0 if the part has words that the name has not."""
    if not part or not all(any(forms & other for other in name) for forms in part):
        return 0.0
    return sum(any(forms & other for other in part) for forms in name) / len(name)


def _best(nodes: dict[int, float]) -> tuple[Candidate, ...]:
    ranked = sorted(nodes, key=lambda n: (-nodes[n], n))[:MOST_CANDIDATES]
    return tuple(Candidate(n, PART, "normalised") for n in ranked)


def _rows(comparison: Comparison, mention: Mention) -> list[int]:
    """Rows of a mention's words."""
    return [r for r, w in enumerate(comparison.words) if mention.start <= w.start < mention.stop]

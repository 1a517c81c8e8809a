"""How like the words of a question are to those of a graph: by meaning, by spelling, and as short forms."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import Float32
from clew.graph.steps import relation_of
from clew.query.tree import OfType, Query, steps_of
from clew.query.vocabulary import Vocabulary, is_short_for, written_out
from clew.reading.english import FUNCTION
from clew.reading.thesaurus import shipped_thesaurus
from clew.text.embedders import Embedder
from clew.text.inflection import singular
from clew.text.lexicon import Lexicon

_BEFORE_STEM = 2
"""First letters that words of one stem share, but for a few that the lexicon has (*dying*, *die*)."""
SHORT = 0.85
"""How like a word is to letters that may be short for it."""
ONE_CONCEPT = 0.75
"""How like words are that the thesaurus has for one concept."""
SPELT = 0.79
"""From this likeness by spelling on a word is a label's."""
SHARPNESS = 0.05
"""Likenesses that differ by so much differ by a factor of e in their shares."""
MOST_KEPT = 1 << 26
"""How like words are to labels, that are remembered: so many numbers twice."""


@dataclass(frozen=True, eq=False)
class Likeness:
    """How the content words of one question are like the words of a graph.

    `words` are the question's content words; `relations` float32 [words, R] and `types` float32 [words, T]
    how like each is to each label, in [0, 1]; `exact_*` the same by spelling and word forms alone.
    """

    words: tuple[tuple[int, int, str], ...]
    relations: Float32
    types: Float32
    exact_relations: Float32
    exact_types: Float32


NO_LIKENESS = Likeness((), *(np.zeros((0, 0), np.float32) for _ in range(4)))
"""That of a text of whose words nothing is asked."""


@dataclass(eq=False)
class WordMatcher:
    """Compares the words of questions with those of a vocabulary."""

    vocabulary: Vocabulary
    embedder: Embedder
    lexicon: Lexicon

    def __post_init__(self) -> None:
        """Embed the labels and their words, once."""
        labels = (*self.vocabulary.relations, *self.vocabulary.types)
        self._count = len(labels)
        self._owners = np.array([number for number, _ in self.vocabulary.further], np.int64)
        labels += tuple(words for _, words in self.vocabulary.further)
        self._parts = [tuple(singular(w) for w in t.split()) for t in labels]
        self._words = sorted({w for part in self._parts for w in part})
        self._place = {w: i for i, w in enumerate(self._words)}
        self._alone = {part[0] for part in self._parts if len(part) == 1}
        label_words = [[self._place[w] for w in part if w not in FUNCTION] for part in self._parts]
        lengths = np.array([len(places) for places in label_words], np.int64)
        self._content_labels = np.flatnonzero(lengths)
        self._share = 0.6 + 0.4 / lengths[self._content_labels]
        self._places = np.array([place for places in label_words for place in places], np.int64)
        self._starts = (np.cumsum(lengths) - lengths)[self._content_labels]
        self._label_vectors = self.embedder.embed(list(labels))
        self._rows: dict[str, tuple[Float32, Float32]] = {}
        self._stems: dict[str, dict[str, list[int]]] = {}

    def compare(self, question: str) -> Likeness:
        """Compare the content words of a question with all labels."""
        words = tuple(
            (m.start(), m.end(), m[0].lower())
            for m in re.finditer(r"[^\W_]+", question)
            if m[0].lower() not in FUNCTION or m[0].lower() in ("who", "when", "where")
        )
        count = len(self.vocabulary.relations)
        if not words:
            none = np.zeros((0, self._count), np.float32)
            return Likeness((), none[:, :count], none[:, count:], none[:, :count], none[:, count:])
        rows = [self._row(word) for _, _, word in words]
        meaning, spelling = np.stack([r[0] for r in rows]), np.stack([r[1] for r in rows])
        for first, stop, place in self._initials_in(question, words):
            single = np.zeros(len(self._words), np.float32)
            single[place] = SHORT
            row = self._of_labels(self._of_words(single))
            for table in (meaning, spelling):
                np.maximum(table[first:stop], row, out=table[first:stop])
        return Likeness(
            words, meaning[:, :count], meaning[:, count:], spelling[:, :count], spelling[:, count:]
        )

    def _initials_in(
        self, question: str, words: Sequence[tuple[int, int, str]]
    ) -> Iterator[tuple[int, int, int]]:
        """Runs of words whose initials are a word of the labels that is none: [first, stop) and its place.

        *Work orders* of `wo`, *serial number* of `sn`.
        """
        for first, stop in combinations(range(len(words) + 1), 2):
            initials = "".join(word[0] for _, _, word in words[first:stop])
            between = (question[a[1] : b[0]] for a, b in pairwise(words[first:stop]))
            if stop - first > 1 and initials in self._initials and all(gap in " -" for gap in between):
                yield first, stop, self._place[initials]

    @cached_property
    def _initials(self) -> frozenset[str]:
        """The words of labels that are no words, and may be initials."""
        return frozenset(
            w for w in self._words if 1 < len(w) < 5 and w.isalpha() and not self.lexicon.known(w)
        )

    def _of_words(self, single: Float32) -> Float32:
        """How like labels are, by their words alone, to what is so like each word: float32 [labels]."""
        exact = np.zeros(len(self._parts), np.float32)
        if len(self._content_labels):
            exact[self._content_labels] = (
                np.maximum.reduceat(single[self._places], self._starts) * self._share
            )
        return exact

    def _row(self, word: str) -> tuple[Float32, Float32]:
        row = self._rows.get(word)
        if row is None:
            if (len(self._rows) + 1) * len(self._parts) > MOST_KEPT:
                self._rows.clear()
            row = self._rows[word] = self._compare_word(word)
        return row

    def _compare_word(self, word: str) -> tuple[Float32, Float32]:
        base = singular(word)
        if base not in self._place:
            word = base = written_out(base)
        vector = self.embedder.embed([word])[0]
        near = np.clip(self._label_vectors @ vector, 0, 1)
        single = np.zeros(len(self._words), np.float32)
        alike = {*self._meaning, *self._places_of_stem(base), self._place.get(base, -1)}
        for i in alike - {-1}:
            single[i] = self._word_likeness(base, self._words[i])
        places = self._places_of_concepts(base)
        single[places] = np.maximum(single[places], ONE_CONCEPT)
        single[self._short_for(base)] = SHORT
        exact = self._of_words(single)
        return self._of_labels(np.maximum(near, exact)), self._of_labels(exact)

    def _of_labels(self, row: Float32) -> Float32:
        """A row of all labels with what their further words are like: float32 [relations and types]."""
        likeness = row[: self._count]
        if len(self._owners):
            likeness = likeness.copy()
            np.maximum.at(likeness, self._owners, row[self._count :])
        return likeness

    @cached_property
    def _meaning(self) -> list[int]:
        """The places of words that are like others by their meaning."""
        return [i for i, word in enumerate(self._words) if self.lexicon.has_meaning(word)]

    def _places_of_concepts(self, word: str) -> list[int]:
        """The places of words of the concepts that a word says, if it is no label by itself."""
        if word in self._alone:
            return []
        concepts = shipped_thesaurus().concepts([word], 0)
        return sorted({i for concept in concepts for i in self._by_concept.get(concept, ())})

    @cached_property
    def _by_concept(self) -> dict[int, list[int]]:
        """The places of all words, by the concepts that they say."""
        thesaurus, places = shipped_thesaurus(), dict[int, list[int]]()
        for i, word in enumerate(self._words):
            for concept in thesaurus.concepts([word], 0):
                places.setdefault(concept, []).append(i)
        return places

    def _short_for(self, word: str) -> list[int]:
        """The places of what is no word, but may be short for one."""
        may_be = (i for i in self._by_letter.get(word[:1], ()) if is_short_for(self._words[i], word))
        return [i for i in may_be if not self.lexicon.known(self._words[i])]

    @cached_property
    def _by_letter(self) -> dict[str, list[int]]:
        """The places of all words, by their first letter."""
        places: dict[str, list[int]] = {}
        for i, word in enumerate(self._words):
            places.setdefault(word[0], []).append(i)
        return places

    def _places_of_stem(self, word: str) -> list[int]:
        """The places of words of the same stem, of those without a meaning."""
        begin = word[:_BEFORE_STEM]
        if begin not in self._stems:
            places_by_stem = self._stems[begin] = dict[str, list[int]]()
            for i in self._by_begin.get(begin, ()):
                places_by_stem.setdefault(self.lexicon.stem(self._words[i]), []).append(i)
        return self._stems[begin].get(self.lexicon.stem(word), [])

    @cached_property
    def _by_begin(self) -> dict[str, list[int]]:
        """The places of words that are like others by their stem alone, by their first letters."""
        places: dict[str, list[int]] = {}
        meaning = set(self._meaning)
        for i, word in enumerate(self._words):
            if i not in meaning and not word.isdigit():
                places.setdefault(word[:_BEFORE_STEM], []).append(i)
        return places

    def _word_likeness(self, word: str, label_word: str) -> float:
        if word == label_word:
            return 1.0
        if word in FUNCTION or label_word in FUNCTION or word.isdigit():
            return 0.0
        return self.lexicon.nearness(word, label_word)


def types_said(vocabulary: Vocabulary, query: Query) -> list[int]:
    """The declared types that a query names, or that its steps lead to, ascending."""
    types = {p.type for p in query.contents.parts if isinstance(p, OfType) and p.type >= 0}
    return sorted(types | {t for s in steps_of(query) if (t := vocabulary.types_reached[s]) >= 0})


def said_by_labels(likeness: Likeness, query: Query, types: Sequence[int], *, exactly: bool) -> Float32:
    """How like each content word is to the label most like it, of a query's relations or some types.

    float32 [words]; `exactly`: by spelling and word forms.
    """
    relations = sorted({relation_of(step) for step in steps_of(query)})
    tables = (
        (likeness.exact_relations, likeness.exact_types) if exactly else (likeness.relations, likeness.types)
    )
    best = [
        table[:, labels].max(1, initial=0.0) for table, labels in zip(tables, (relations, types), strict=True)
    ]
    return np.maximum(*best)


def content_share(likeness: Likeness, spans: Sequence[tuple[int, int]]) -> NDArray[np.bool_]:
    """Which content words stand outside of some spans, bool [words]."""
    return np.array([not any(a < q and p < b for a, b in spans) for p, q, _ in likeness.words], np.bool_)

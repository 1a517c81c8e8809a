"""The words of a graph: its relations and types as text, their ends, and how a question names them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import Float32
from clew.graph.graph import Graph
from clew.graph.schema import Schema
from clew.reading.english import FUNCTION, singular
from clew.reading.query import OfType, Query, steps_of
from clew.reading.sets import Kept
from clew.reading.short_forms import is_short_for, written_out
from clew.text.embedder import Embedder
from clew.text.lexicon import Lexicon

THING, NUMBER, DATE, LEAF = range(4)
"""What the nodes at an end are: things, numbers, dates, or plain texts that no relation leaves."""
UNEXPLAINED = 0.45
"""A word that no relation or type of a candidate is so like is not said by it."""
MOSTLY = 0.5
TRUTH = {"yes": True, "y": True, "true": True, "t": True, "no": False, "n": False, "false": False, "f": False}
"""How values are written that say whether something is so."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
PAST = frozenset("former formerly previous previously past ex".split())
"""Words in the name of a relation that holds no longer."""
INVERTED = frozenset("inverse inverted inv reverse reversed".split())
"""Words in the name of a relation that only say of which other one it is the inverse."""
_HAVING = frozenset(("has", "is", "was", "have"))
_DEEPEST = 2
"""Parts of a dotted name that are read, from its end."""

_BEFORE_STEM = 2
"""First letters that words of one stem share, but for a few that the lexicon has (*dying*, *die*)."""
SHORT = 0.85
"""How like a word is to letters that may be short for it."""
MOST_KEPT = 1 << 26
"""How like words are to labels, that are remembered: so many numbers twice."""


def words_of_label(label: str) -> str:
    """A label as words: *film.film.directed_by* → *film directed by*, *inCountry* → *in country*."""
    last = re.split(r"[/#]", label.rstrip("/#"))[-1] or label
    parts = [p for p in last.split(".") if p]
    text = " ".join(dict.fromkeys(parts[-_DEEPEST:])) if len(parts) > 1 else last
    text = re.sub(r"[_\W]+", " ", _CAMEL.sub(" ", text))
    return " ".join(text.lower().split()) or label


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Texts of relations and types, and kinds of ends, of one graph."""

    graph: Graph
    schema: Schema
    relations: tuple[str, ...]
    types: tuple[str, ...]
    ends: tuple[int, ...]
    """THING, NUMBER, DATE or LEAF, by end."""
    end_types: tuple[int, ...]
    """The declared type of most nodes of each end, -1 where none is."""

    @classmethod
    def of(cls, graph: Graph, schema: Schema) -> Vocabulary:
        """Read the words of a graph."""
        relations = tuple(written_out(words_of_label(label)) for label in graph.relation_labels)
        types = tuple(written_out(words_of_label(name)) for name in graph.types.names)
        end_types = _end_types(schema)
        return cls(graph, schema, relations, types, _kinds(graph, schema, end_types), end_types)

    def may_meet(self, one: int, other: int) -> bool:
        """Whether some node stands at both of two ends; an end of -1 - type is all of a type."""
        if one < 0 and other < 0:
            return True
        if one >= 0 and other >= 0:
            return self.schema.together.meet(one, other)
        return bool(self.schema.typed[max(one, other), -1 - min(one, other)])

    def types_of(self, node: int) -> NDArray[np.int32]:
        """The declared types of a node."""
        types = self.graph.types
        none = node + 1 >= len(types.offsets)
        return types.type[:0] if none else types.type[types.offsets[node] : types.offsets[node + 1]]

    def type_of(self, node: int) -> int:
        """The first declared type of a node, -1 where it has none."""
        types = self.types_of(node)
        return int(types[0]) if len(types) else -1

    def all_of_type(self, end: int, type_: int) -> bool:
        """Whether all nodes at an end are of a declared type."""
        return bool(self.schema.typed[end, type_] == self.schema.nodes[end])

    @cached_property
    def kept(self) -> Kept:
        """Sets that do not depend on a question."""
        return Kept()

    @cached_property
    def around(self) -> Kept:
        """What lies around sets that do not depend on a question."""
        return Kept(1_000_000)

    @cached_property
    def canonical(self) -> NDArray[np.int64]:
        """The step that stands for each, int64 [steps]: another where a relation has an inverse.

        *narrower* stands for *broader* against its direction, and one way of a symmetric relation for both.
        A relation that is only named as an inverse (`in_country_inverse`) is never gone over.
        """
        same = np.arange(2 * len(self.relations))
        for one, other in enumerate(self.schema.inverse.tolist()):
            if other < 0 or self.schema.inverse[other] != one:
                continue
            if self._is_inverted(other, one):
                same[2 * other], same[2 * other + 1] = 2 * one + 1, 2 * one
            elif not self._is_inverted(one, other):
                same[2 * one + 1] = 2 * other
        return same

    def _is_inverted(self, relation: int, other: int) -> bool:
        """Whether a relation is named as the inverse of another."""
        mine, others = set(self.relations[relation].split()), set(self.relations[other].split())
        return others < mine and mine - others <= INVERTED

    def back_over(self, step: int) -> int:
        """The step that leads back over another."""
        return self._back[step]

    @cached_property
    def _back(self) -> tuple[int, ...]:
        return tuple(self.canonical[np.arange(len(self.canonical)) ^ 1].tolist())

    @cached_property
    def past_relations(self) -> frozenset[int]:
        """The relations that are of what was once (`formerClub`), by their names."""
        return frozenset(r for r, label in enumerate(self.relations) if PAST.intersection(label.split()))

    @cached_property
    def flags(self) -> dict[int, tuple[int, int]]:
        """Relations whose values say yes or no, with the node of each, -1 where no head has it."""
        few = np.flatnonzero(self.schema.nodes[1::2] <= len(TRUTH)).tolist()
        relation, tail = _sampled(self.graph)
        tails = tail[np.argsort(relation, kind="stable")]
        stops = np.cumsum(np.bincount(relation, minlength=len(self.relations))).tolist()
        found = {r: self._flag(tails[stops[r - 1] if r else 0 : stops[r]]) for r in few}
        return {r: flag for r, flag in found.items() if flag is not None}

    def _flag(self, tails: NDArray[np.int32]) -> tuple[int, int] | None:
        nodes = [-1, -1]
        for node in sorted(set(tails.tolist())):
            truth = TRUTH.get(self.graph.labels[node].lower())
            if truth is None:
                return None
            nodes[not truth] = node
        return None if nodes == [-1, -1] else (nodes[0], nodes[1])

    @cached_property
    def truths(self) -> dict[int, bool]:
        """The nodes that say yes or no for some relation."""
        return {
            node: truth
            for flag in self.flags.values()
            for node, truth in zip(flag, (True, False), strict=True)
            if node >= 0
        }

    @cached_property
    def relations_by_words(self) -> dict[tuple[str, ...], list[int]]:
        """Relations by the words of their labels, as they are and written out."""
        return _by_words(self.relations, self.graph.relation_labels)

    @cached_property
    def types_by_words(self) -> dict[tuple[str, ...], list[int]]:
        """Types by the words of their labels, as they are and written out."""
        return _by_words(self.types, self.graph.types.names)

    @cached_property
    def words(self) -> frozenset[str]:
        """All words of relations and types, as they are and written out."""
        labels = map(words_of_label, (*self.graph.relation_labels, *self.graph.types.names))
        return frozenset(w for text in (*self.relations, *self.types, *labels) for w in text.split())


def _by_words(texts: Sequence[str], labels: Sequence[str]) -> dict[tuple[str, ...], list[int]]:
    """Labels by their words; also without *has* or *is* before them."""
    made: dict[tuple[str, ...], list[int]] = {}
    for at, (text, label) in enumerate(zip(texts, labels, strict=True)):
        written = {tuple(text.split()), tuple(words_of_label(label).split())}
        forms = {words[1:] for words in written if len(words) > 1 and words[0] in _HAVING} | written
        for form in forms:
            made.setdefault(form, []).append(at)
    return made


def _kinds(graph: Graph, schema: Schema, end_types: tuple[int, ...]) -> tuple[int, ...]:
    kinds: list[int] = []
    only_leaves = _only_leaves(graph)
    for end in range(2 * len(schema.triples)):
        if schema.dates[end] >= MOSTLY:
            kinds.append(DATE)
        elif schema.numbers[end] >= MOSTLY:
            kinds.append(NUMBER)
        elif end & 1 and end_types[end] < 0 and only_leaves[end // 2]:
            kinds.append(LEAF)
        else:
            kinds.append(THING)
    return tuple(kinds)


_SAMPLE = 200_000


def _sampled(graph: Graph) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Relations and tails of the triples, of some of them where there are many."""
    slots = graph.out.slots(max(1, graph.triples // _SAMPLE))
    return graph.out.relation[slots], graph.out.neighbour[slots]


def _only_leaves(graph: Graph) -> NDArray[np.bool_]:
    """Which relations have nearly only tails from which nothing goes on, bool [R]."""
    relation, tail = _sampled(graph)
    leaves = (graph.out.stops[tail] - graph.out.starts[tail]) == 0
    triples = np.bincount(relation, minlength=len(graph.relations))
    return np.bincount(relation, leaves, minlength=len(graph.relations)) > 0.9 * triples


def _end_types(schema: Schema) -> tuple[int, ...]:
    typed = schema.typed
    if not typed.shape[1]:
        return (-1,) * len(schema.nodes)
    best = typed.argmax(axis=1)
    share = typed[np.arange(len(best)), best] / np.maximum(schema.nodes, 1)
    return tuple(int(b) if s >= MOSTLY else -1 for b, s in zip(best, share, strict=True))


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


@dataclass(eq=False)
class WordMatcher:
    """Compares the words of questions with those of a vocabulary."""

    vocabulary: Vocabulary
    embedder: Embedder
    lexicon: Lexicon

    def __post_init__(self) -> None:
        """Embed the labels and their words, once."""
        labels = (*self.vocabulary.relations, *self.vocabulary.types)
        self._parts = [tuple(singular(w) for w in t.split()) for t in labels]
        self._words = sorted({w for part in self._parts for w in part})
        self._place = {w: i for i, w in enumerate(self._words)}
        said = [[self._place[w] for w in part if w not in FUNCTION] for part in self._parts]
        lengths = np.array([len(places) for places in said], np.int64)
        self._said = np.flatnonzero(lengths)
        self._share = 0.6 + 0.4 / lengths[self._said]
        self._places = np.array([place for places in said for place in places], np.int64)
        self._starts = (np.cumsum(lengths) - lengths)[self._said]
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
            none = np.zeros((0, len(self._parts)), np.float32)
            return Likeness((), none[:, :count], none[:, count:], none[:, :count], none[:, count:])
        rows = [self._row(word) for _, _, word in words]
        meaning, spelling = np.stack([r[0] for r in rows]), np.stack([r[1] for r in rows])
        return Likeness(
            words, meaning[:, :count], meaning[:, count:], spelling[:, :count], spelling[:, count:]
        )

    def _row(self, word: str) -> tuple[Float32, Float32]:
        known = self._rows.get(word)
        if known is None:
            if (len(self._rows) + 1) * len(self._parts) > MOST_KEPT:
                self._rows.clear()
            known = self._rows[word] = self._compare_word(word)
        return known

    def _compare_word(self, word: str) -> tuple[Float32, Float32]:
        base = singular(word)
        if base not in self._place:
            word = base = written_out(base)
        vector = self.embedder.embed([word])[0]
        near = np.clip(self._label_vectors @ vector, 0, 1)
        single = np.zeros(len(self._words), np.float32)
        alike = {*self._meaning, *self._of_stem(base), self._place.get(base, -1)}
        for i in alike - {-1}:
            single[i] = self._word_likeness(base, self._words[i])
        single[self._short_for(base)] = SHORT
        exact = np.zeros(len(self._parts), np.float32)
        if len(self._said):
            exact[self._said] = np.maximum.reduceat(single[self._places], self._starts) * self._share
        return np.maximum(near, exact), exact

    @cached_property
    def _meaning(self) -> list[int]:
        """The places of words that are like others by their meaning."""
        return [i for i, word in enumerate(self._words) if self.lexicon.has_meaning(word)]

    def _short_for(self, word: str) -> list[int]:
        """The places of what is no word, but may be short for one."""
        may_be = (i for i in self._by_letter.get(word[:1], ()) if is_short_for(self._words[i], word))
        return [i for i in may_be if not self.lexicon.known(self._words[i])]

    @cached_property
    def _by_letter(self) -> dict[str, list[int]]:
        """The places of all words, by their first letter."""
        found: dict[str, list[int]] = {}
        for i, word in enumerate(self._words):
            found.setdefault(word[0], []).append(i)
        return found

    def _of_stem(self, word: str) -> list[int]:
        """The places of words of the same stem, of those without a meaning."""
        begin = word[:_BEFORE_STEM]
        if begin not in self._stems:
            found = self._stems[begin] = dict[str, list[int]]()
            for i in self._by_begin.get(begin, ()):
                found.setdefault(self.lexicon.stem(self._words[i]), []).append(i)
        return self._stems[begin].get(self.lexicon.stem(word), [])

    @cached_property
    def _by_begin(self) -> dict[str, list[int]]:
        """The places of words that are like others by their stem alone, by their first letters."""
        found: dict[str, list[int]] = {}
        meaning = set(self._meaning)
        for i, word in enumerate(self._words):
            if i not in meaning and not word.isdigit():
                found.setdefault(word[:_BEFORE_STEM], []).append(i)
        return found

    def _word_likeness(self, word: str, other: str) -> float:
        if word == other:
            return 1.0
        if word in FUNCTION or other in FUNCTION or word.isdigit():
            return 0.0
        return self.lexicon.similarity(word, other)


def types_said(vocabulary: Vocabulary, query: Query) -> list[int]:
    """The declared types that a query names, or that its steps lead to, ascending."""
    named = {p.type for p in query.contents.parts if isinstance(p, OfType) and p.type >= 0}
    return sorted(named | {t for s in steps_of(query) if (t := vocabulary.end_types[s ^ 1]) >= 0})


def said_by_labels(likeness: Likeness, query: Query, types: Sequence[int], *, exactly: bool) -> Float32:
    """How like each content word is to the label most like it, of a query's relations or some types.

    float32 [words]; `exactly`: by spelling and word forms.
    """
    relations = sorted({step // 2 for step in steps_of(query)})
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

"""What Clew knows about English words: base forms, synonyms, derivations, word classes.

The table is a pruned WordNet 3.0 (Princeton University; licence in `data/WORDNET-LICENSE.txt`), made by
`scripts/build_lexicon.py`. Lemmas are in alphabetical order, senses in the order of their lemma, each lemma's nouns
first, then verbs, adjectives and adverbs, each in WordNet's order (most frequent first).

Similarity is the product of the steps of the best path between two words: into a sense, along synonyms, derivations
and hypernyms, and out again. A hypernym step counts more the more specific it is (Lin 1998, with the intrinsic information
content of Seco, Veale and Hayes 2004).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from heapq import heappop, heappush
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, Self, cast

import numpy as np
from numpy.typing import NDArray

from clew.errors import FormatError

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]

DATA = Path(__file__).parent / "data" / "lexicon.npz"
NOUN, VERB, ADJECTIVE, ADVERB = 0, 1, 2, 3
CLASSES = (
    "act", "animal", "artifact", "attribute", "body", "cognition", "communication", "event", "feeling", "food",
    "group", "location", "motive", "object", "person", "phenomenon", "plant", "possession", "process", "quantity",
    "relation", "shape", "state", "substance", "time",
)  # fmt: skip
"""WordNet's lexicographer files of nouns, from number 4 on; the classes of `Lexicon.classes`."""
FIRST_CLASS, PERSON = 4, 18

SUFFIXES: dict[int, tuple[tuple[str, str], ...]] = {
    NOUN: (
        ("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man"),
        ("ies", "y"),
    ),
    VERB: (
        ("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""),
    ),
    ADJECTIVE: (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
}  # fmt: skip
"""Rules of detachment (WordNet's morphy(7WN))."""

SYNONYM, DERIVED, STEM, HYPERNYM = 0.87, 0.92, 0.9, 0.7
SIDES = (0.85, 0.7, 0.85, 0.6)
"""Steps to an attribute, a similar adjective, a verb of the same group, a member of a group."""
HEAD, MODIFIER = 0.6, 0.5
"""Steps from a closed compound to its last part (a songwriter is a writer) and to its first."""
FLOOR = 0.25
"""Similarities below count as 0."""
MOVES: dict[str, dict[str, str]] = {
    "": {"up": "u", "down": "d"},
    "u": {"up": "uu", "down": "ud"},
    "d": {"down": "dd"},
}
"""Hypernym steps that a path may take: two up, two down, or up and down to a sibling."""


class Stemmer(Protocol):
    """The part of snowballstemmer that is used."""

    def stemWord(self, word: str) -> str:  # noqa: N802
        """The stem of one word."""
        ...


@dataclass(frozen=True, eq=False)
class Links:
    """A sparse relation by row: the targets of row i are `target[offsets[i]:offsets[i + 1]]`."""

    offsets: list[int]
    target: Int64
    weight: Float64

    @classmethod
    def of(cls, rows: int, source: Int64, target: Int64, weight: Float64) -> Self:
        """Group (source, target, weight) triples by source."""
        order = np.argsort(source, kind="stable")
        offsets = np.zeros(rows + 1, np.int64)
        np.cumsum(np.bincount(source, minlength=rows), out=offsets[1:])
        return cls(offsets.tolist(), target[order], weight[order])

    def row(self, index: int) -> Iterator[tuple[int, float]]:
        """(target, weight) pairs of one row."""
        start, stop = self.offsets[index], self.offsets[index + 1]
        return zip(self.target[start:stop].tolist(), self.weight[start:stop].tolist(), strict=True)


@dataclass(frozen=True, slots=True)
class Entry:
    """What is looked up once for a word: its readings, its stem, and lemma id → similarity."""

    ids: tuple[int, ...]
    stem: str
    related: dict[int, float]


class Lexicon:
    """English words and how near they are; immutable, loaded by `Lexicon.load()`."""

    def __init__(self, table: Mapping[str, NDArray[Any]]) -> None:
        names = table["lemmas"].tobytes().decode("utf-8").split("\n")
        self._names = names
        self._ids = dict(zip(names, range(len(names)), strict=True))
        lines = (line.split(" ") for line in table["exceptions"].tobytes().decode("utf-8").split("\n"))
        self._irregular = {form: bases for form, *bases in lines}
        self._senses(table)
        self._relations(table)
        self._entry = lru_cache(8192)(self._look_up)
        self.lemmas = lru_cache(32768)(self._lemmas)
        self.stem = lru_cache(32768)(self._stem)
        self._stemmer: Stemmer | None = None

    @classmethod
    def load(cls, path: Path = DATA) -> Self:
        """Read the table (about 25 ms).

        Raises:
            FormatError: the file is missing or damaged; the installation is then incomplete.
        """
        try:
            with np.load(path) as file:
                return cls({name: file[name] for name in file.files})
        except (OSError, ValueError, KeyError) as error:
            raise FormatError(f"{path}: cannot read the lexicon ({error}). Install clew again.") from error

    def _senses(self, table: Mapping[str, NDArray[Any]]) -> None:
        """Arrays per sense: synset, lemma, part of speech, mainness in (0, 1]."""
        per_lemma = table["senses"].astype(np.int64)
        self._first = np.concatenate([[0], np.cumsum(per_lemma)])
        self._synset = _integers(table["synset"], delta=True)
        self._topic = table["topic"].astype(np.int64)
        self._lemma = np.repeat(np.arange(len(per_lemma)), per_lemma)
        pos = _part_of_speech(self._topic)[self._synset]
        self._count = np.exp2(table["count"] / 24) - 1
        self._pos = pos
        group = self._lemma * 4 + pos
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        sizes = np.diff(starts, append=len(group))
        rank = np.arange(len(group)) - np.repeat(starts, sizes) + 1
        top = np.repeat(np.maximum.reduceat(self._count, starts), sizes)
        total = np.zeros((len(per_lemma), 4))
        total[group[starts] // 4, group[starts] % 4] = np.add.reduceat(self._count, starts)
        self._total = total
        has = np.zeros(total.shape, np.bool_)
        has[self._lemma, pos] = True
        self._has = has @ np.array([1, 2, 4, 8])
        share = (total[self._lemma, pos] + 1) / (total.max(1)[self._lemma] + 1)
        frequency = np.sqrt((self._count + 0.5) / (top + 0.5))
        self._main = (0.5 * frequency + 0.5 / np.sqrt(rank)) * (0.6 + 0.4 * np.sqrt(share))

    def _relations(self, table: Mapping[str, NDArray[Any]]) -> None:
        """The links between synsets and between senses, with the factor of each step."""
        synsets = len(self._topic)
        content = table["content"] / 255
        child, parent = _integers(table["up"][0], delta=True), _integers(table["up"][1])
        lin = HYPERNYM * 2 * content[parent] / (content[parent] + content[child] + 1e-9)
        self._up = Links.of(synsets, child, parent, lin)
        self._down = Links.of(synsets, parent, child, lin)
        a, b = _integers(table["side"][0], delta=True), _integers(table["side"][1])
        factor = np.array(SIDES)[table["side_kind"]]
        self._side = Links.of(
            synsets, np.concatenate([a, b]), np.concatenate([b, a]), np.concatenate([factor, factor])
        )
        a = _integers(table["derived"][0], delta=True)
        b = a + _integers(table["derived"][1])
        factor = DERIVED * np.sqrt(np.sqrt(self._main[a] * self._main[b]))
        self._derived = Links.of(
            len(self._synset), np.concatenate([a, b]), np.concatenate([b, a]), np.concatenate([factor, factor])
        )
        self._words = Links.of(synsets, self._synset, np.arange(len(self._synset)), self._main)

    def __contains__(self, word: str) -> bool:
        """Whether the word, as it is, is a lemma of the table."""
        return word.lower() in self._ids

    def _lemmas(self, word: str) -> tuple[str, ...]:
        """Base forms of a word, the most frequent reading first; the word itself when nothing is known.

        `left` → `leave`, `left`; `directed` → `direct`, `directed`; `children` → `child`.
        """
        word = word.lower()
        found: dict[str, float] = {}
        for base in self._irregular.get(word, ()):
            found[base] = float(self._total[self._ids[base]].max())
        if word in self._ids:
            found[word] = float(self._total[self._ids[word]].max())
        for pos, rules in SUFFIXES.items():
            for suffix, ending in rules:
                base = word.removesuffix(suffix) + ending
                index = self._ids.get(base, -1) if word.endswith(suffix) else -1
                if index >= 0 and len(base) > 1 and self._has[index] >> pos & 1:
                    found[base] = max(found.get(base, 0.0), float(self._total[index, pos]))
        return tuple(sorted(found, key=lambda base: (-found[base], base))) or (word,)

    def _stem(self, word: str) -> str:
        """The Snowball (Porter 2) stem of a word, lower-cased."""
        if self._stemmer is None:
            import snowballstemmer

            self._stemmer = cast(Stemmer, snowballstemmer.stemmer("english"))
        return self._stemmer.stemWord(word.lower())

    def classes(self, word: str) -> Mapping[str, float]:
        """Shares of the classes of a word's noun senses by their frequency, summing to 1; empty for a non-noun.

        `director` → mostly `person`, `city` → `location`, `year` → `time`; for the names see `CLASSES`.
        """
        weights: dict[str, float] = {}
        for base in self.lemmas(word):
            index = self._ids.get(base)
            if index is None or not self._has[index] & 1:
                continue
            for rank, sense in enumerate(range(self._first[index], self._first[index + 1])):
                topic = int(self._topic[self._synset[sense]])
                if self._pos[sense] == NOUN and topic >= FIRST_CLASS:
                    name = CLASSES[topic - FIRST_CLASS]
                    weights[name] = weights.get(name, 0.0) + float(self._count[sense]) + 1 / (1 + rank)
        total = sum(weights.values())
        ranked = sorted(weights.items(), key=lambda item: -item[1])
        return MappingProxyType({name: weight / total for name, weight in ranked})

    def agent(self, word: str) -> tuple[str, ...]:
        """Nouns for persons that derive from the word, best first: `directed` → `director`, `music` → `musician`."""
        found: dict[str, float] = {}
        for base in self.lemmas(word):
            index = self._ids.get(base)
            if index is None:
                continue
            for sense in range(self._first[index], self._first[index + 1]):
                for other, factor in self._derived.row(sense):
                    if self._topic[self._synset[other]] == PERSON and self._lemma[other] != index:
                        name = self._names[self._lemma[other]]
                        found[name] = max(found.get(name, 0.0), factor * float(self._main[sense]))
        return tuple(sorted(found, key=lambda name: (-found[name], name)))

    def related(self, word: str) -> dict[str, float]:
        """Lemmas near the word with their similarity (those of `similarity`, as seen from this word), best first."""
        near = self._entry(word).related
        return {self._names[i]: score for i, score in sorted(near.items(), key=lambda item: -item[1])}

    def similarity(self, a: str, b: str) -> float:
        """How near two words are in meaning, in [0, 1]; symmetric.

        1 the same lemma; 0.9 the same stem or derived from each other; about 0.8 main-sense synonyms; 0.5 to 0.6
        hypernym of a main sense; about 0.4 two steps; less for rarer senses; 0 below 0.25.
        """
        one, two = self._entry(a), self._entry(b)
        best = STEM if one.stem == two.stem else 0.0
        for i in two.ids:
            best = max(best, one.related.get(i, 0.0))
        for i in one.ids:
            best = max(best, two.related.get(i, 0.0))
        return 1.0 if best < 1.0 and a.lower() == b.lower() else best

    def _look_up(self, word: str) -> Entry:
        """The entry of a word: all its readings together, and the parts of a closed compound."""
        word = word.lower()
        ids = tuple(self._ids[base] for base in self.lemmas(word) if base in self._ids)
        related: dict[int, float] = {}
        top = max((float(self._total[i].max()) for i in ids), default=0.0)
        for i in ids:
            weight = 0.5 + 0.5 * ((float(self._total[i].max()) + 1) / (top + 1)) ** 0.5
            _merge(related, self._walk(i), weight)
        for part, weight in self._parts(word):
            _merge(related, self._walk(part), weight)
        related.update(dict.fromkeys(ids, 1.0))
        return Entry(ids, self.stem(word), {i: s for i, s in related.items() if s >= FLOOR})

    def _parts(self, word: str) -> list[tuple[int, float]]:
        """The two parts of a closed compound of common words of four letters or more, with their factors."""
        if not re.fullmatch(r"[a-z]{8,}", word):
            return []
        for cut in range(4, len(word) - 3):
            parts = [self._ids.get(self.lemmas(part)[0], -1) for part in (word[:cut], word[cut:])]
            if all(part >= 0 and self._total[part].max() >= 2 for part in parts):
                return [(parts[0], MODIFIER), (parts[1], HEAD)]
        return []

    def _walk(self, start: int) -> dict[int, float]:
        """Lemma id → product of the best path from lemma `start`, in descending order from every sense."""
        reached: dict[int, float] = {start: 1.0}
        seen: set[tuple[int, str]] = set()
        heap: list[tuple[float, int, str, int]] = []
        for sense in range(self._first[start], self._first[start + 1]):
            heappush(heap, (-float(self._main[sense]), int(self._synset[sense]), "", sense))
            self._derive(sense, 1.0, reached, heap)
        while heap:
            value, synset, moves, origin = heappop(heap)
            if (synset, moves) in seen:
                continue
            seen.add((synset, moves))
            self._leave(synset, -value, origin, reached, heap)
            for other, factor in self._side.row(synset):
                _push(heap, -value * factor, other, moves)
            for step, after in MOVES.get(moves, {}).items():
                for other, factor in (self._up if step == "up" else self._down).row(synset):
                    _push(heap, -value * factor, other, after)
        return reached

    def _leave(
        self, synset: int, value: float, origin: int, reached: dict[int, float], heap: list[tuple[float, int, str, int]]
    ) -> None:
        """Out of a synset to its words, and on to what derives from them."""
        for sense, main in self._words.row(synset):
            if sense == origin:
                continue
            lemma = int(self._lemma[sense])
            score = value * SYNONYM * main
            if score > reached.get(lemma, FLOOR):
                reached[lemma] = score
            if value * SYNONYM * DERIVED > FLOOR:
                self._derive(sense, value * SYNONYM, reached, heap)

    def _derive(
        self, sense: int, value: float, reached: dict[int, float], heap: list[tuple[float, int, str, int]]
    ) -> None:
        """From a sense to the words that derive from it."""
        for other, factor in self._derived.row(sense):
            score, lemma = value * factor, int(self._lemma[other])
            if score > reached.get(lemma, FLOOR):
                reached[lemma] = score
            _push(heap, score, int(self._synset[other]), "", other)


def _push(
    heap: list[tuple[float, int, str, int]], value: float, synset: int, moves: str, origin: int = -1
) -> None:
    """Queue a synset unless nothing that it leads to can count."""
    if value * SYNONYM > FLOOR:
        heappush(heap, (-value, synset, moves, origin))


def _merge(into: dict[int, float], scores: dict[int, float], weight: float) -> None:
    """Take over the larger of the scores, times `weight`."""
    for key, score in scores.items():
        if score * weight > into.get(key, 0.0):
            into[key] = score * weight


def _integers(planes: NDArray[Any], *, delta: bool = False) -> Int64:
    """int64 [n] from uint8 [3, n] byte planes of 24-bit integers, which are differences if `delta`."""
    low, middle, high = planes.astype(np.int64)
    values = low | middle << 8 | high << 16
    values = np.where(values >= 1 << 23, values - (1 << 24), values)
    return np.cumsum(values) if delta else values


def _part_of_speech(topic: Int64) -> Int64:
    """Part of speech from numbers of lexicographer files."""
    return np.select(
        [(topic >= 3) & (topic <= 28), (topic >= 29) & (topic <= 43), topic == 2], [NOUN, VERB, ADVERB], ADJECTIVE
    ).astype(np.int64)

"""What Clew knows about English words: base forms, synonyms, derivations, word classes.

The table is a pruned WordNet 3.0 (Princeton University; licence in `data/WORDNET-LICENSE.txt`), made by
`scripts/build_lexicon.py`. Lemmas are in alphabetical order, senses in the order of their lemma, each lemma's
nouns first, then verbs, adjectives and adverbs, each in WordNet's order (most frequent first).

Similarity is the product of the steps of the best path between two words: into a sense, along synonyms,
derivations and hypernyms, and out again. A hypernym step counts more the more specific it is (Lin 1998, with
the intrinsic information content of Seco, Veale and Hayes 2004).
"""

from __future__ import annotations

import re
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from heapq import heappop, heappush
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import Any, Self
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from clew.errors import FormatError
from clew.foundation.arrays import LOADING, Float64, Int32
from clew.foundation.system import check

# The arrays of the lexicon as its file packs them, and as they are looked into.


@dataclass(frozen=True, eq=False)
class Links:
    """A sparse relation: the targets of row i are `target[offsets[i]:offsets[i + 1]]`.

    Memory views, since their elements are plain Python numbers, many times faster to reach than NumPy's.
    """

    offsets: memoryview
    target: memoryview
    weight: memoryview

    @classmethod
    def of(cls, sizes: Int32, target: Int32, weight: Float64) -> Self:
        """Links from the number of targets of every row, all targets (int32) and their weights (float64)."""
        return cls(offsets_of(sizes), target.data, weight.data)

    def row(self, index: int) -> Iterator[tuple[int, float]]:
        """(target, weight) pairs of one row."""
        start, stop = self.offsets[index], self.offsets[index + 1]
        return zip(self.target[start:stop], self.weight[start:stop], strict=True)


def integers_of(planes: NDArray[Any], *, delta: bool = False) -> Int32:
    """int32 [n] from uint8 [3, n] byte planes of integers modulo 2^24, which are differences if `delta`."""
    parts = np.zeros((planes.shape[1], 4), np.uint8)
    parts[:, :3] = planes.T
    values = parts.reshape(-1).view("<i4").astype(np.int32, copy=False)
    return np.cumsum(values, dtype=np.int32) & 0xFFFFFF if delta else values


def links_of(planes: NDArray[Any], rows: int) -> tuple[Int32, Int32, Int32]:
    """(source of every link, number of links of every row, target of every link), all int32."""
    values = integers_of(planes)
    sizes = values[:rows]
    source = np.repeat(np.arange(rows, dtype=np.int32), sizes)
    return source, sizes, (source + values[rows:]) & 0xFFFFFF


def offsets_of(sizes: Int32) -> memoryview:
    """int64 [rows + 1]: where every row starts, and the end."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)]).data


LEXICON_FILE = Path(__file__).parent / "data" / "lexicon.npz"
NOUN, VERB, ADJECTIVE, ADVERB = 0, 1, 2, 3
CLASSES = (
    "act", "animal", "artifact", "attribute", "body", "cognition", "communication", "event", "feeling",
    "food", "group", "location", "motive", "object", "person", "phenomenon", "plant", "possession",
    "process", "quantity", "relation", "shape", "state", "substance", "time",
)  # fmt: skip
"""WordNet's lexicographer files of nouns, from number 4 on; the classes of `Lexicon.classes`."""
FIRST_CLASS, PERSON = 4, 18

SUFFIXES = (
    (NOUN, "s", ""), (NOUN, "ses", "s"), (NOUN, "xes", "x"), (NOUN, "zes", "z"), (NOUN, "ches", "ch"),
    (NOUN, "shes", "sh"), (NOUN, "men", "man"), (NOUN, "ies", "y"), (VERB, "s", ""), (VERB, "ies", "y"),
    (VERB, "es", "e"), (VERB, "es", ""), (VERB, "ed", "e"), (VERB, "ed", ""), (VERB, "ing", "e"),
    (VERB, "ing", ""), (ADJECTIVE, "er", ""), (ADJECTIVE, "est", ""), (ADJECTIVE, "er", "e"),
    (ADJECTIVE, "est", "e"),
)  # fmt: skip
"""Rules of detachment (WordNet's morphy(7WN)): part of speech, suffix, ending."""

SYNONYM, DERIVED, STEM = 0.87, 0.92, 0.9
TO_HYPERNYM, DOWN = 0, 1
LINK_STEPS = (0.7, 0.7, 0.85, 0.7, 0.85, 0.6)
"""Steps by kind of link: hypernym, hyponym, attribute, similar adjective, verb of the same group, member."""
TO_HEAD, MODIFIER = 0.6, 0.5
"""Steps from a closed compound to its last part (a songwriter is a writer) and to its first."""
LEAST_TERM = 0.6
"""From this weight of a sense on a word means it by itself: *child* as somebody's child."""
SAME_VERB = 0.7
"""How near two verbs are that say the same."""
LEAST_KIN = 0.8
"""From this nearness on a word means another."""
LEAST_SIMILARITY = 0.25
"""Similarities below count as 0."""
MOVES: dict[str, tuple[str | None, str | None]] = {"": ("u", "d"), "u": ("uu", "ud"), "d": (None, "dd")}
"""What a path may have of hypernym steps, and what each becomes by a step up or down."""
TAG_COUNTS = tuple(2 ** (code / 24) - 1 for code in range(256))
"""Tag counts by their code."""
LEXICOGRAPHER_PARTS = (ADJECTIVE, ADJECTIVE, ADVERB, *[NOUN] * 26, *[VERB] * 15, ADJECTIVE)
"""Part of speech by number of WordNet's lexicographer file."""

Queue = list[tuple[float, int, str, int]]
"""A heap of (-value, synset, hypernym moves so far, sense by which the path came in or -1)."""


@dataclass(frozen=True, slots=True)
class Readings:
    """What a word may be read as: lemmas, a stem, and the parts of a closed compound with weights."""

    ids: tuple[int, ...]
    stem: str
    parts: tuple[tuple[int, float], ...] = ()


LONGEST_WORD = 64
"""A word of more letters is no word, and has nothing near it."""

MOSTLY_VERB = 0.8
"""Share of a word's uses as a verb from which it is hardly a noun."""


class Lexicon:
    """English words and how near they are; immutable, loaded by `Lexicon.load()`."""

    def __init__(self, table: Mapping[str, NDArray[Any]]) -> None:
        self._names = table["lemmas"].tobytes().decode("ascii").split("\n")
        lines = (line.split(" ") for line in table["exceptions"].tobytes().decode("ascii").split("\n"))
        self._irregular = {word: bases for word, *bases in lines}
        self._first = offsets_of(table["senses"].astype(np.int32))
        synset = integers_of(table["synset"], delta=True)
        lemma = np.repeat(np.arange(len(table["senses"]), dtype=np.int32), table["senses"])
        self._synset, self._lemma = synset.data, lemma.data
        self._topic, self._count = table["topic"].data, table["count"].data
        main = table["main"] / 255
        self._main = main.data
        order = np.argsort(synset, kind="stable").astype(np.int32)
        sizes = np.bincount(synset, minlength=len(table["topic"])).astype(np.int32)
        self._words = Links.of(sizes, order, main[order])
        source, sizes, target = links_of(table["derived"], len(synset))
        self._derivations = Links.of(sizes, target, DERIVED * (main[source] * main[target]) ** 0.125)
        _, sizes, target = links_of(table["opposite"], len(synset))
        self._opposites = Links.of(sizes, target, np.ones(len(target)))
        source, sizes, target = links_of(table["link"], len(table["topic"]))
        kind = table["link_kind"]
        content = table["content"] / 255 + 1e-9
        parent = np.where(kind == TO_HYPERNYM, target, source)
        lin = 2 * content[parent] / (content[source] + content[target])
        self._kind = kind.data
        self._synset_links = Links.of(
            sizes, target, np.array(LINK_STEPS)[kind] * np.where(kind <= DOWN, lin, 1.0)
        )
        self._readings = lru_cache(32768)(self._find_readings)
        self._related_lemmas = lru_cache(8192)(self._look_up)
        self.lemmas = lru_cache(32768)(self._lemmas)
        self.stem = lru_cache(32768)(self._stem)
        self.kin_terms = lru_cache(4096)(self._kin_terms)
        self._stemmer: Any = None
        self._stemmer_lock = Lock()

    @staticmethod
    def load(path: Path = LEXICON_FILE) -> Lexicon:
        """The lexicon of a table, read once (25 ms). Raises FormatError: the installation is incomplete."""
        with LOADING:
            return _read(path)

    def _find(self, lemma: str) -> int:
        """Return the id of a lemma, -1 if the table lacks it."""
        index = bisect_left(self._names, lemma)
        return index if index < len(self._names) and self._names[index] == lemma else -1

    def _frequency(self, index: int, pos: int | None = None) -> float:
        """Count the lemma's senses (of one part of speech) in the tagged corpus; -1 if it has none."""
        total = -1.0
        for sense in range(self._first[index], self._first[index + 1]):
            if pos is None or LEXICOGRAPHER_PARTS[self._topic[self._synset[sense]]] == pos:
                total = max(total, 0.0) + TAG_COUNTS[self._count[sense]]
        return total

    def _senses(self, lemma: str) -> range:
        """Return the senses of a lemma; none if the table lacks it."""
        index = self._find(lemma)
        return range(self._first[index], self._first[index + 1]) if index >= 0 else range(0)

    def __contains__(self, word: str) -> bool:
        """Whether the word, as it is, is a lemma of the table."""
        return self._find(word.lower()) >= 0

    def known(self, word: str) -> bool:
        """Whether the word or a base form of it is a lemma of the table."""
        return any(base in self for base in self.lemmas(word))

    def _lemmas(self, word: str) -> tuple[str, ...]:
        """Base forms, the most frequent reading first (`left` → `leave`, `left`); an unknown word itself.

        Such a word may be a plural: `keywords` → `keywords`, `keyword`.
        """
        word = word.lower()
        if len(word) > LONGEST_WORD:
            return (word,)
        frequencies = {base: self._frequency(self._find(base)) for base in self._irregular.get(word, ())}
        word_index = self._find(word)
        if word_index >= 0:
            frequencies[word] = self._frequency(word_index)
        noun_or_verb = word_index >= 0 and self._frequency(word_index, ADJECTIVE) < 0
        for pos, suffix, ending in SUFFIXES:
            base = word.removesuffix(suffix) + ending
            if not word.endswith(suffix) or len(base) < 2 or (pos == ADJECTIVE and noun_or_verb):
                continue
            index = self._find(base)
            frequency = self._frequency(index, pos) if index >= 0 else -1.0
            if frequency >= 0:
                frequencies[base] = max(frequencies.get(base, 0.0), frequency)
        plural = (
            word.isalpha() and len(word) > 4 and word.endswith("s") and not word.endswith(("ss", "us", "is"))
        )
        if not frequencies and plural:
            return word, word[:-1]
        return tuple(sorted(frequencies, key=lambda base: (-frequencies[base], base))) or (word,)

    def _stem(self, word: str) -> str:
        """Return the Snowball (Porter 2) stem of a word, lower-cased."""
        if self._stemmer is None:
            import snowballstemmer

            self._stemmer = snowballstemmer.stemmer("english")
        # The stemmer works in fields of its own: of two threads at once, both would get wrong stems.
        with self._stemmer_lock:
            return self._stemmer.stemWord(word.lower())

    def classes(self, word: str) -> Mapping[str, float]:
        """Return the shares of the `CLASSES` of a word's noun senses, by frequency; empty for a non-noun."""
        weights: dict[str, float] = {}
        for base in self.lemmas(word):
            for rank, sense in enumerate(self._senses(base)):
                topic = self._topic[self._synset[sense]]
                if LEXICOGRAPHER_PARTS[topic] == NOUN and topic >= FIRST_CLASS:
                    name = CLASSES[topic - FIRST_CLASS]
                    weights[name] = weights.get(name, 0.0) + TAG_COUNTS[self._count[sense]] + 1 / (1 + rank)
        total = sum(weights.values())
        ranked_weights = sorted(weights.items(), key=lambda item: -item[1])
        return MappingProxyType({name: weight / total for name, weight in ranked_weights})

    def verb(self, word: str) -> bool:
        """Whether the word may be a form of a verb."""
        return any(self._frequency(i, VERB) >= 0 for i in self._ids(word))

    def _ids(self, word: str) -> tuple[int, ...]:
        """Return the ids of the base forms of a word that the table has."""
        return tuple(i for i in map(self._find, self.lemmas(word)) if i >= 0)

    def mostly_verb(self, word: str) -> bool:
        """Whether the word is a verb far more often than anything else: *knows*, not *awards*."""
        ids = self._ids(word)
        as_verb = sum(self._frequency(i, VERB) for i in ids)
        return as_verb >= MOSTLY_VERB * max(1.0, sum(map(self._frequency, ids)))

    def uses(self, word: str, part: int) -> float:
        """How often a word is used as one part of speech (`NOUN`, `VERB` …), in the tagged corpus."""
        return sum(max(0.0, self._frequency(i, part)) for i in self._ids(word))

    def verb_share(self, word: str) -> float:
        """Share of the uses of a word as a verb, of those as a verb or a noun; 0 for a word of neither."""
        as_verb = self.uses(word, VERB)
        return as_verb / (as_verb + self.uses(word, NOUN)) if as_verb else 0.0

    def opposites(self, word: str) -> frozenset[str]:
        """The verbs that say the opposite of a word: *hire* of *fired*."""
        senses = (sense for lemma in self.lemmas(word) for sense in self._senses(lemma))
        others = (other for sense in senses for other, _ in self._opposites.row(sense))
        return frozenset(self._names[self._lemma[other]] for other in others)

    def is_opposite(self, word: str, others: Iterable[str]) -> bool:
        """Whether a verb is the opposite of one of some words, and is like none: *fired* of `employer`."""
        opposites = self.opposites(word)
        return bool(opposites) and any(
            max(self.nearness(opposite, other) for opposite in opposites) >= SAME_VERB
            and self.nearness(word, other) < SAME_VERB
            for other in others
        )

    def agent(self, word: str) -> tuple[str, ...]:
        """Return nouns for persons that derive from the word, best first: `directed` → `director`."""
        scores: dict[str, float] = {}
        for base in self.lemmas(word):
            for sense in self._senses(base):
                for derived_sense, factor in self._derivations.row(sense):
                    name = self._names[self._lemma[derived_sense]]
                    if self._topic[self._synset[derived_sense]] == PERSON and name != base:
                        scores[name] = max(scores.get(name, 0.0), factor * self._main[sense])
        return tuple(sorted(scores, key=lambda name: (-scores[name], name)))

    def _kin_terms(self, word: str) -> tuple[frozenset[str], ...]:
        """The words of a kin term's sense and of each broader one below *relative*, nearest first."""
        for sense in (s for base in self.lemmas(word) for s in self._senses(base)):
            if self._main[sense] >= LEAST_TERM:
                broader = self._broader(self._synset[sense])
                if any("relative" in names for names in broader[1:]):
                    return tuple(names for names in broader if "relative" not in names)
        return ()

    def _broader(self, synset: int) -> list[frozenset[str]]:
        """The words of a sense of persons, and of its hypernyms as far as *relative*, nearest first."""
        words: dict[int, frozenset[str]] = {}
        queue = [synset]
        for at in queue:
            if at in words or self._topic[at] != PERSON:
                continue
            words[at] = frozenset(self._names[self._lemma[sense]] for sense, _ in self._words.row(at))
            kinds = self._kind[self._synset_links.offsets[at] : self._synset_links.offsets[at + 1]]
            links = zip(self._synset_links.row(at), kinds, strict=True)
            queue += [target for (target, _), kind in links if kind == TO_HYPERNYM]
        return list(words.values())

    def has_meaning(self, word: str) -> bool:
        """Whether anything is near the word in meaning: else only words of its stem are like it."""
        check()
        if word.isdigit():
            return word in self
        # Not by `_related_lemmas`: a graph may have 100,000 words, and what is near them takes long to find.
        return len(word) <= LONGEST_WORD and (self.known(word) or bool(self._parts(word.lower())))

    def similarity(self, a: str, b: str) -> float:
        """Say how near two words are in meaning, in [0, 1]; symmetric.

        1 the same lemma; 0.9 the same stem or derived from each other; about 0.8 main-sense synonyms;
        0.5 to 0.6 hypernym of a main sense; about 0.4 two steps; less for rarer senses; 0 below 0.25.
        """
        return max(self.nearness(a, b), self.nearness(b, a))

    def nearness(self, word: str, other: str) -> float:
        """Say how near a word is to another, as `similarity`, by what is found from the other alone."""
        if word.lower() == other.lower():
            return 1.0
        readings, similarities = self._readings(word), self._related_lemmas(other)
        best = STEM if readings.stem == self._readings(other).stem else 0.0
        for i, weight in (*((i, 1.0) for i in readings.ids), *readings.parts):
            best = max(best, weight * similarities.get(i, 0.0))
        return best if best >= LEAST_SIMILARITY else 0.0

    def kin(self, word: str) -> dict[str, float]:
        """Return the lemmas that mean what a word does, with how near each is, as `similarity` says."""
        scores: dict[str, float] = {}
        for base in self.lemmas(word):
            scores[base] = 1.0
            for sense in self._senses(base):
                weight = SYNONYM * self._main[sense]
                synonyms = [
                    (word_sense, weight * main) for word_sense, main in self._words.row(self._synset[sense])
                ]
                for word_sense, score in (*synonyms, *self._derivations.row(sense)):
                    name = self._names[self._lemma[word_sense]]
                    if score >= LEAST_KIN:
                        scores[name] = max(scores.get(name, 0.0), score)
        return scores

    def _find_readings(self, word: str) -> Readings:
        check()
        word = word.lower()
        if len(word) > LONGEST_WORD:
            return Readings((), word)
        return Readings(self._ids(word), self.stem(word), tuple(self._parts(word)))

    def _look_up(self, word: str) -> dict[int, float]:
        """Lemma id → similarity: what is near all readings of a word and the parts of a closed compound."""
        readings = self._readings(word)
        frequencies = [self._frequency(i) + 1 for i in readings.ids]
        weights = [0.5 + 0.5 * (frequency / max(frequencies)) ** 0.5 for frequency in frequencies]
        similarities: dict[int, float] = {}
        for start, weight in (*zip(readings.ids, weights, strict=True), *readings.parts):
            for i, near in self._walk(start).items():
                similarities[i] = max(similarities.get(i, 0.0), near * weight)
        similarities.update(dict.fromkeys(readings.ids, 1.0))
        return {i: s for i, s in similarities.items() if s >= LEAST_SIMILARITY}

    def _parts(self, word: str) -> list[tuple[int, float]]:
        """Return the parts of a closed compound, common words of four letters or more, with factors."""
        if not re.fullmatch(r"[a-z]{8,}", word):
            return []
        for cut in range(4, len(word) - 3):
            modifier = self._common_lemma(word[:cut])
            if modifier >= 0 and (head := self._common_lemma(word[cut:])) >= 0:
                return [(modifier, MODIFIER), (head, TO_HEAD)]
        return []

    def _common_lemma(self, word: str) -> int:
        """Return the id of the best lemma of a word, -1 if it is not common."""
        index = self._find(self.lemmas(word)[0])
        return index if index >= 0 and self._frequency(index) >= 2 else -1

    def _walk(self, start: int) -> dict[int, float]:
        """Lemma id → product of the best path from lemma `start`."""
        reached: dict[int, float] = {start: 1.0}
        seen: set[tuple[int, str]] = set()
        queue: Queue = []
        for sense in range(self._first[start], self._first[start + 1]):
            heappush(queue, (-self._main[sense], self._synset[sense], "", sense))
            self._derive(sense, 1.0, reached, queue)
        while queue:
            value, synset, moves, origin = heappop(queue)
            if (synset, moves) in seen:
                continue
            seen.add((synset, moves))
            self._leave(synset, -value, origin, reached, queue)
            if -value * max(LINK_STEPS) * SYNONYM > LEAST_SIMILARITY:
                self._step(synset, -value, moves, queue)
        return reached

    def _step(self, synset: int, value: float, moves: str, queue: Queue) -> None:
        """From a synset to those beside, above and below it."""
        up, down = MOVES.get(moves, (None, None))
        kinds = self._kind[self._synset_links.offsets[synset] : self._synset_links.offsets[synset + 1]]
        for (next_synset, factor), kind in zip(self._synset_links.row(synset), kinds, strict=True):
            next_moves = up if kind == TO_HYPERNYM else down if kind == DOWN else moves
            if next_moves is not None:
                _push(queue, value * factor, next_synset, next_moves)

    def _leave(self, synset: int, value: float, origin: int, reached: dict[int, float], queue: Queue) -> None:
        """Out of a synset to its words, and on to what derives from them."""
        for sense, main in self._words.row(synset):
            if sense == origin:
                continue
            score, lemma = value * SYNONYM * main, self._lemma[sense]
            if score > reached.get(lemma, LEAST_SIMILARITY):
                reached[lemma] = score
            if value * SYNONYM * DERIVED > LEAST_SIMILARITY:
                self._derive(sense, value * SYNONYM, reached, queue)

    def _derive(self, sense: int, value: float, reached: dict[int, float], queue: Queue) -> None:
        """From a sense to the words that derive from it."""
        for derived_sense, factor in self._derivations.row(sense):
            score, lemma = value * factor, self._lemma[derived_sense]
            if score > reached.get(lemma, LEAST_SIMILARITY):
                reached[lemma] = score
            _push(queue, score, self._synset[derived_sense], "", derived_sense)


def _push(queue: Queue, value: float, synset: int, moves: str, origin: int = -1) -> None:
    """Queue a synset unless nothing that it leads to can count."""
    if value * SYNONYM > LEAST_SIMILARITY:
        heappush(queue, (-value, synset, moves, origin))


@cache
def _read(path: Path) -> Lexicon:
    try:
        with path.open("rb") as opened, np.load(opened) as file:
            return Lexicon({name: file[name] for name in file.files})
    except (OSError, EOFError, ValueError, KeyError, BadZipFile, zlib.error) as error:
        raise FormatError(f"{path}: cannot read the lexicon ({error}). Install clew again.") from error

"""Names by the stems of their words, in any order: *the Agency of the Moon* for Moon Agency."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from itertools import chain, islice

import numpy as np

from clew.foundation.arrays import Int32
from clew.index.names import NamesIndex
from clew.reading.english import FUNCTION
from clew.text.lexicon import Lexicon
from clew.text.normalise import words_of

FEW = 3
"""A word is a name for the nodes that have it in theirs where these are so few."""
MOST_WORDS, MOST_STEMS = 12, 8
"""Words of a name, and stems of these but function words, that is found by them in any order."""
MOST_OF_STEM, LEAST_SHARE = 3000, 0.6
"""A word of more names names none of them; of a name at least this share of its words is said."""
_ODD = re.compile(r".y?(?:ing|ed|'s)")
"""The words, as *dying*, whose stem, *die*, may not begin with their first two letters."""


class NameWords:
    """Names, of labels and aliases, by the stems of their words.

    Kept as arrays: the words of each name, and the names that have each word. Words are cut to stems when one
    that begins like them is asked for.
    """

    def __init__(self, index: NamesIndex, lexicon: Lexicon) -> None:
        """Index the words of all names of at least two words and at most twelve."""
        graph, self._lexicon = index.graph, lexicon
        number: dict[str, int] = {}
        nodes, words, starts = array("i"), array("i"), array("q", [0])
        aliases = zip(graph.aliases.entity.tolist(), graph.aliases.names, strict=True)
        for node, name in chain(enumerate(graph.labels), aliases):
            norms = words_of(name)
            content = dict.fromkeys(n for n in norms if n not in FUNCTION)
            if len(content) > 1 and len(norms) <= MOST_WORDS:
                nodes.append(node)
                words.extend(number.setdefault(n, len(number)) for n in content)
                starts.append(len(words))
        self._node = np.array(nodes, np.int32)
        self._starts, self._words = np.array(starts, np.int64), np.array(words, np.int32)
        order = np.argsort(self._words, kind="stable")
        self._names = np.repeat(np.arange(len(nodes), dtype=np.int32), np.diff(self._starts))[order]
        self._name_starts = np.searchsorted(self._words[order], np.arange(len(number) + 1))
        self._word = tuple(number)
        self._alike: dict[str, list[int]] = {}
        for word, id in number.items():
            self._alike.setdefault(self._beginning(word), []).append(id)
        self._by_stem: dict[str, dict[str, list[int]]] = {}

    def _beginning(self, word: str) -> str:
        """The first two letters of the stem of a word."""
        return (self._lexicon.stem(word) if _ODD.match(word) else word)[:2]

    def _names_with_stem(self, stem: str) -> Int32:
        """The names with a word of a stem, ascending."""
        stems = self._by_stem.get(stem[:2])
        if stems is None:
            stems = dict[str, list[int]]()
            for id in self._alike.get(stem[:2], ()):
                stems.setdefault(self._lexicon.stem(self._word[id]), []).append(id)
            self._by_stem[stem[:2]] = stems
        places = [slice(self._name_starts[id], self._name_starts[id + 1]) for id in stems.get(stem, ())]
        return _distinct(np.concatenate([self._names[place] for place in places])) if places else _NONE

    def _stems(self, name: int) -> frozenset[str]:
        """The stems of a name's words, two to eight; none of another name."""
        words = self._words[self._starts[name] : self._starts[name + 1]].tolist()
        stems = frozenset(self._lexicon.stem(self._word[id]) for id in words)
        return stems if 1 < len(stems) <= MOST_STEMS else frozenset()

    def named_by(self, words: Sequence[str]) -> list[tuple[int, float, list[int]]]:
        """Nodes whose words are among `words`: node, share of its words, their places; best first."""
        places: dict[str, int] = {}
        for i, word in enumerate(words):
            places.setdefault(self._lexicon.stem(word), i)
        having = [names for names in map(self._names_with_stem, places) if len(names) <= MOST_OF_STEM]
        matches: list[tuple[int, float, list[int]]] = []
        for name, count in _counts(having):
            stems = self._stems(name)
            if stems and count >= LEAST_SHARE * len(stems):
                share = count / len(stems)
                used = sorted(places[s] for s in stems if s in places)
                matches.append((int(self._node[name]), share * share, used))
        matches.sort(key=lambda f: (-f[1], -len(f[2]), f[0]))
        return matches[:8]

    def with_word(self, word: str) -> list[int]:
        """The nodes of whose names a word is part, where these are few."""
        names = (
            name for name in self._names_with_stem(self._lexicon.stem(word)).tolist() if self._stems(name)
        )
        nodes = sorted({int(self._node[name]) for name in islice(names, 4 * FEW)})
        return nodes if len(nodes) <= FEW else []


_NONE = np.empty(0, np.int32)


def _distinct(values: Int32) -> Int32:
    """Sorted, each once."""
    values = np.sort(values)
    return values[np.append(True, values[1:] != values[:-1])]


def _counts(having: Sequence[Int32]) -> list[tuple[int, int]]:
    """What is in at least two of some arrays, each of which has it once, and in how many."""
    if len(having) < 2:
        return []
    together = np.sort(np.concatenate(having))
    first = np.flatnonzero(np.append(True, together[1:] != together[:-1])) if len(together) else _NONE
    counts = np.diff(np.append(first, len(together)))
    return [(int(together[at]), int(count)) for at, count in zip(first, counts, strict=True) if count > 1]

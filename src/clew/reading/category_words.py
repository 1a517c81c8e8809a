"""Categories by other words: *poisoned* for `poison`, *freelancers* for `freelance`, *shut* for `closed`.

A category is what a relation leads to that has few values, each of many things: a status, a kind, a colour.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from clew.reading.english import FUNCTION
from clew.reading.vocabulary import LEAF, Vocabulary
from clew.text.lexicon import Lexicon
from clew.text.normalise import words_of

MOST_CATEGORIES = 300
"""Values of a relation that leads to categories."""
MOST_MEANT, LEAST_LETTERS = 3, 4


@dataclass(frozen=True, eq=False)
class CategoryWords:
    """The categories of a graph whose name is one word of English, by the words that are near it."""

    lexicon: Lexicon
    nodes: dict[str, list[tuple[int, float]]]
    """By lemma: nodes, each with how near the lemma is to its name, in [0, 1]."""
    stems: dict[str, list[int]]

    @classmethod
    def of(cls, vocabulary: Vocabulary, lexicon: Lexicon) -> Self:
        """Read the categories of a graph."""
        nodes: dict[str, list[tuple[int, float]]] = {}
        stems: dict[str, list[int]] = {}
        for node, word in _named_by_one_word(vocabulary, lexicon):
            stems.setdefault(lexicon.stem(word), []).append(node)
            for lemma, near in lexicon.kin(word).items():
                nodes.setdefault(lemma, []).append((node, near))
        return cls(lexicon, nodes, stems)

    def meant_by(self, word: str) -> list[tuple[int, float]]:
        """The categories that a word is nearest to, with how near it is; none where several are."""
        near: dict[int, float] = dict.fromkeys(self.stems.get(self.lexicon.stem(word), ()), 0.9)
        for lemma in self.lexicon.lemmas(word):
            for node, how in self.nodes.get(lemma, ()):
                near[node] = max(near.get(node, 0.0), how)
        best = max(near.values(), default=0.0)
        return sorted((node, how) for node, how in near.items() if how == best)[:MOST_MEANT]


def _named_by_one_word(vocabulary: Vocabulary, lexicon: Lexicon) -> list[tuple[int, str]]:
    graph, found = vocabulary.graph, dict[int, str]()
    few = np.flatnonzero(vocabulary.schema.nodes[1::2] <= MOST_CATEGORIES).tolist()
    for relation in few:
        if vocabulary.ends[2 * relation + 1] != LEAF or relation in vocabulary.flags:
            continue
        for node in np.unique(vocabulary.tails(relation)).tolist():
            words = [w for w in words_of(graph.labels[node]) if w not in FUNCTION]
            if len(words) == 1 and len(words[0]) >= LEAST_LETTERS and lexicon.known(words[0]):
                found[node] = words[0]
    return sorted(found.items())

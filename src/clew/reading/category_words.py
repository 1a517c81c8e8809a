"""Categories by other words: *poisoned* for `poison`, *freelancers* for `freelance`, *shut* for `closed`.

A category is what a relation leads to that has few values, each of many things: a status, a kind, a colour.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from clew.query.vocabulary import Vocabulary
from clew.reading.english import FUNCTION
from clew.text.lexicon import Lexicon
from clew.text.normalise import words_of

MOST_OF_RELATION, MOST_CATEGORIES = 300, 2000
"""Values of a relation that leads to categories; categories of a graph, those of most edges."""
MOST_MEANT, LEAST_LETTERS = 3, 4
_SAME_STEM = 0.9


@dataclass(frozen=True, eq=False)
class CategoryWords:
    """The categories of a graph whose name is one word of English, by the words that are near it."""

    lexicon: Lexicon
    by_lemma: dict[str, list[tuple[int, float]]]
    """Nodes, each with how near the lemma is to its name, in [0, 1]."""
    by_stem: dict[str, list[int]]

    @classmethod
    def of(
        cls,
        vocabulary: Vocabulary,
        lexicon: Lexicon,
        of_relation: int = MOST_OF_RELATION,
        most: int = MOST_CATEGORIES,
    ) -> Self:
        """Read the categories of a graph: at most so many of a relation, and in all those of most edges."""
        by_lemma: dict[str, list[tuple[int, float]]] = {}
        by_stem: dict[str, list[int]] = {}
        for node in _categories(vocabulary, of_relation, most):
            words = [w for w in words_of(vocabulary.graph.labels[node]) if w not in FUNCTION]
            if len(words) == 1 and len(words[0]) >= LEAST_LETTERS and lexicon.known(words[0]):
                by_stem.setdefault(lexicon.stem(words[0]), []).append(node)
                for lemma, near in lexicon.kin(words[0]).items():
                    by_lemma.setdefault(lemma, []).append((node, near))
        return cls(lexicon, by_lemma, by_stem)

    def meant_by(self, word: str) -> list[tuple[int, float]]:
        """The categories that a word is nearest to, at most three, with how near it is."""
        near = dict.fromkeys(self.by_stem.get(self.lexicon.stem(word), ()), _SAME_STEM)
        for lemma in self.lexicon.lemmas(word):
            for node, nearness in self.by_lemma.get(lemma, ()):
                near[node] = max(near.get(node, 0.0), nearness)
        best = max(near.values(), default=0.0)
        return [(node, nearness) for node, nearness in sorted(near.items()) if nearness == best][:MOST_MEANT]


def _categories(vocabulary: Vocabulary, of_relation: int, most: int) -> list[int]:
    """The nodes that are categories, ascending."""
    into, texts = vocabulary.graph.into, vocabulary.texts_of_few(of_relation)
    edges = into.stops[texts] - into.starts[texts]
    categories = np.sort(texts[np.argsort(-edges, kind="stable")[:most]])
    return [node for node in categories.tolist() if node not in vocabulary.truths]

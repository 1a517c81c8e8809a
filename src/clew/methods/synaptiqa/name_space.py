"""Spaces of names: labels, relations, attributes or values of a graph, with a vector for each name.

SynaptiQA (section III.B) embeds entities, relations and attributes each by themselves, and compares a name
of a query with those of its own kind only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from rapidfuzz import fuzz, process

from clew.foundation.arrays import Float32
from clew.text.embedder import Embedder
from clew.text.labels import relation_text
from clew.text.lexicon import Lexicon
from clew.text.normalise import normalise

SAME = 1.0
"""Score of names that differ in case, underscores, accents or number (`Movies`, `movie`) only."""
NEARLY = 0.99
"""Score of the best name that is another one."""
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Near:
    """A name of the graph like one that it lacks; `score` in [0, 1], 1: the same, written otherwise.

    `why` it is proposed, where that is not for its likeness.
    """

    name: str
    score: float
    why: str = ""


class NameSpace:
    """Names of one kind, compared by meaning and by letters."""

    def __init__(self, names: Sequence[str], embedder: Embedder, lexicon: Lexicon) -> None:
        self.names = tuple(dict.fromkeys(names))
        self._known = frozenset(self.names)
        self._embedder, self._lexicon = embedder, lexicon
        self._folded = [self._fold(name) for name in self.names]

    def __contains__(self, name: str) -> bool:
        return name in self._known

    @cached_property
    def _vectors(self) -> Float32:
        return self._embedder.embed([words_of(name) for name in self.names])

    def scores(self, text: str) -> Float32:
        """Return how like a text every name is, float32 [names], in [0, 1]: cosine or letters, the larger."""
        if not self.names:
            return np.zeros(0, np.float32)
        cosine = self._vectors @ self._embedder.embed([words_of(text)])[0]
        folded = self._fold(text)
        letters = process.cdist([folded], self._folded, scorer=fuzz.ratio)[0] / 100
        same = np.array([folded == other for other in self._folded])
        # Letters and meaning may both come near to 1 for names that are not the same.
        return np.where(same, SAME, np.clip(np.maximum(cosine, letters), 0, NEARLY)).astype(np.float32)

    def meanings(self, text: str) -> Float32:
        """Return the cosines of a text, such as a question, and every name, float32 [names]."""
        if not self.names:
            return np.zeros(0, np.float32)
        return self._vectors @ self._embedder.embed([text])[0]

    def nearest(self, text: str, count: int) -> tuple[Near, ...]:
        """Return the `count` names most like a text, best first; ties in the order of the names."""
        scores = self.scores(text)
        order = np.argsort(-scores, kind="stable")[:count]
        return tuple(Near(self.names[i], round(float(scores[i]), 4)) for i in order.tolist())

    def _fold(self, text: str) -> str:
        """Return the stems of the words of a text, without spaces."""
        words = normalise(words_of(text)).split()
        return "".join(self._lexicon.stem(word) for word in words) or text


def words_of(name: str) -> str:
    """Return the words of a name: `ACTED_IN` is *acted in*, `productName` *product name*."""
    words = relation_text(name[:_LONGEST])
    return words.lower() if words.isupper() else words

"""The declared type that a noun means which does not name one: *clients* are customers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from clew.foundation.arrays import Float32
from clew.reading.answer_kind import noun_asked_for
from clew.reading.asked_type import SPELT
from clew.reading.likeness import Likeness
from clew.reading.mentions import Mention

LEAST_NEAR, LEAST_APART = 0.5, 0.12
"""Least cosine of a noun and the type that it means, and how much nearer that is than any other: of 36 nouns
over four graphs 20 were so near to a type, which was the right one of all of them."""

MOST_TYPES = 200
"""Of more types none is told: each takes a millisecond, once."""
MOST_NOUNS = 10_000
"""Nouns that are remembered."""


@dataclass(frozen=True, eq=False)
class NearTypes:
    """Compares nouns with the types of one graph, by the encoder: `encode` gives unit vectors of texts."""

    types: Sequence[str]
    encode: Callable[[Sequence[str]], Float32]
    _known: dict[str, int] = field(default_factory=dict[str, int])

    @cached_property
    def _vectors(self) -> Float32:
        return self.encode(self.types)

    def meant(self, question: str, mentions: Sequence[Mention], likeness: Likeness) -> int:
        """The type that is meant by the noun that a question asks for, -1 where none or a relation is."""
        noun = noun_asked_for(question, mentions) if 1 < len(self.types) <= MOST_TYPES else ""
        if not noun or _is_relation(likeness, noun):
            return -1
        if noun not in self._known:
            if len(self._known) >= MOST_NOUNS:
                self._known.clear()
            near = self._vectors @ self.encode([noun])[0]
            second, first = np.argsort(near)[-2:].tolist()
            is_near = near[first] >= LEAST_NEAR and near[first] - near[second] >= LEAST_APART
            self._known[noun] = first if is_near else -1
        return self._known[noun]


def _is_relation(likeness: Likeness, noun: str) -> bool:
    return any(
        word == noun and float(exact.max(initial=0.0)) >= SPELT
        for (_, _, word), exact in zip(likeness.words, likeness.exact_relations, strict=True)
    )

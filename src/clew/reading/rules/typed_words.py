"""Words that say declared types, and the nodes of a reading that are of them.

*Planets that have a moon discovered by X*: nothing is both a planet and a moon, so that two nodes are meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from clew.graph.graph import Graph
from clew.reading.rules.comparison import Comparison
from clew.reading.rules.vocabulary import Vocabulary

Bools = NDArray[np.bool_]

CALLED = 0.8
"""Evidence from which the name of a type is the name of a relation too."""
MOST_WORDS = 4
"""Words for types that are looked at; the first of them."""


@dataclass(frozen=True, eq=False)
class TypedWords:
    """Compares the words of a question that say types with the nodes of readings of one graph."""

    graph: Graph
    vocabulary: Vocabulary

    @cached_property
    def overlap(self) -> Bools:
        """Bool [T, T]: pairs of types that one node has."""
        types = self.graph.types
        count = len(types.names)
        both = np.eye(count, dtype=bool)
        sizes = np.diff(types.offsets)
        owners = np.repeat(np.arange(len(sizes)), sizes)
        for apart in range(1, int(sizes.max(initial=0))):
            same = owners[:-apart] == owners[apart:]
            both[types.type[:-apart][same], types.type[apart:][same]] = True
        return both | both.T

    def said(self, comparison: Comparison) -> dict[int, list[int]]:
        """Row of a word → the types that it says."""
        named = {i: self.vocabulary.types_named(w.norm) for i, w in enumerate(comparison.words)}
        return dict([(row, types) for row, types in named.items() if types][:MOST_WORDS])

    def missing(
        self,
        comparison: Comparison,
        said: dict[int, list[int]],
        steps: Sequence[int],
        entities: Sequence[int],
        ends: Sequence[Sequence[int]],
    ) -> int:
        """How many of the words have no node of their type for themselves.

        `entities` are the names of a reading; `ends`: for every other node the ends that it has. Words that
        name one of the `steps` need no node.
        """
        words = [t for row, t in said.items() if comparison.cover[row, list(steps)].max() < CALLED]
        if not words:
            return 0
        nodes = [self._types_of(entity) for entity in entities] + [self._may_be(node) for node in ends]
        places = [[None, *(n for n, of in enumerate(nodes) if of[types].any())] for types in words]
        return min(self._lacking(words, chosen) for chosen in product(*places))

    def _lacking(self, words: Sequence[list[int]], places: Sequence[int | None]) -> int:
        """Words without a place, and pairs at one place that nothing can be both of."""
        lacking = sum(place is None for place in places)
        for one, other in combinations(range(len(words)), 2):
            same = places[one] is not None and places[one] == places[other]
            lacking += same and not self.overlap[np.ix_(words[one], words[other])].any()
        return lacking

    def _types_of(self, entity: int) -> Bools:
        types = self.graph.types
        of = np.zeros(len(types.names), bool)
        of[types.type[types.offsets[entity] : types.offsets[entity + 1]]] = True
        return of

    def _may_be(self, ends: Sequence[int]) -> Bools:
        """The types that a node with all of the ends may have."""
        return np.asarray((self.vocabulary.type_share[list(ends)] > 0).all(axis=0))

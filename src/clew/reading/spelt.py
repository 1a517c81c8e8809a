"""What words of a question spell in the schema, or mean there: types, and ways from their things."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clew.graph.steps import Step, opposite, relation_of
from clew.query.execute import Executor
from clew.query.tree import OfType
from clew.query.vocabulary import DATE, Vocabulary
from clew.reading.english import ANYONE, FUNCTION, LIGHT
from clew.reading.likeness import ONE_CONCEPT, SPELT, Likeness
from clew.text.lexicon import Lexicon

_TIMES = frozenset("date day time year".split())
Span = tuple[int, int]
Way = tuple[Step, ...]


@dataclass(frozen=True, eq=False)
class Spelling:
    """The content words of one question beside the types and relations of a graph."""

    vocabulary: Vocabulary
    executor: Executor
    likeness: Likeness

    def content(self, span: Span) -> list[int]:
        """The words between two places that say something by themselves, by their numbers."""
        lemmas, idle = Lexicon.load().lemmas, FUNCTION | ANYONE | LIGHT
        inside = (
            (w, word) for w, (a, b, word) in enumerate(self.likeness.words) if span[0] <= a and b <= span[1]
        )
        return [w for w, word in inside if idle.isdisjoint((word, *lemmas(word)))]

    def type_at(self, span: Span) -> int:
        """The one declared type that each word between two places names or means; -1 for none."""
        words = [w for w, (a, b, _) in enumerate(self.likeness.words) if span[0] <= a and b <= span[1]]
        if not words or not self.likeness.types.shape[1]:
            return -1
        scores = self.likeness.types[words].min(0)
        found = np.flatnonzero(scores >= max(ONE_CONCEPT, float(scores.max()))).tolist()
        return found[0] if len(found) == 1 else -1

    def says(self, span: Span, way: Sequence[Step]) -> int:
        """How plainly words say a way: 2 by its labels and types, 1 by what means these.

        0 where a word says nothing of it, a step of it is not said, or no word says anything by itself.
        """
        words = self.content(span)
        if not words:
            return 0
        like = np.stack([self._like(step)[words] for step in way])
        if (like.max(0) < ONE_CONCEPT).any() or (like.max(1) < ONE_CONCEPT).any():
            return 0
        return 2 if (like.max(0) >= SPELT).all() else 1

    def says_all(self, span: Span, way: Sequence[Step]) -> bool:
        """Whether each word between two places that says something says something of a way."""
        like = np.stack([self._like(step)[self.content(span)] for step in way])
        return bool((like.max(0) >= ONE_CONCEPT).all())

    def _like(self, step: Step) -> np.ndarray:
        """How like each content word is to the label of a step, or to the type that it leads to."""
        like, type_ = self.likeness.relations[:, relation_of(step)], self.vocabulary.types_reached[step]
        if self.vocabulary.kinds_reached[step] == DATE:  # *due date* of `due`
            return np.maximum(like, [word in _TIMES for _, _, word in self.likeness.words])
        return like if type_ < 0 else np.maximum(like, self.likeness.types[:, type_])

    def said(self, span: Span, ways: Sequence[Way]) -> list[Way]:
        """Those of some ways that the words between two places say the most plainly."""
        plain = [self.says(span, way) for way in ways]
        return [way for way, said in zip(ways, plain, strict=True) if said and said == max(plain)]

    def near(self, type_: int) -> list[Way]:
        """The steps from the things of a type."""
        return [(step,) for step in sorted(self.executor.steps(self.executor.members(OfType(type_))))]

    def further(self, ways: Sequence[Way]) -> list[Way]:
        """What goes on from ways of one step, by what the ends of relations are declared to be."""
        reached, ends = self.vocabulary.types_reached, self.vocabulary.end_types
        steps = range(2 * len(self.vocabulary.relations))
        return [
            (one, other)
            for (one,) in ways
            for other in steps
            if reached[one] >= 0 and ends[other] == reached[one] and other != opposite(one)
        ]

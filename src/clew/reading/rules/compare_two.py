"""Two entities compared by a value that both have, or by how many edges of one kind they have.

The answer is read off two values, which are cited; where the graph lacks one of them, or does not tell which
value is meant, it is an abstention.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew.graph.graph import Graph
from clew.graph.schema import Schema
from clew.grounding import cite
from clew.reading.rules.comparison import Comparison, Float
from clew.reading.rules.contrast import Contrast
from clew.reading.rules.counted import DATED, named_end
from clew.reading.rules.explain import EXPLAINED
from clew.reading.rules.found import Found, text_of
from clew.reading.rules.operators import NAMED
from clew.reading.rules.quantity import noun_phrase
from clew.reading.rules.question import Word
from clew.reading.rules.read import edges_at, values_of
from clew.reading.rules.similarity import WordTable
from clew.types import Abstention, AnswerEntity, Mention, Pattern, PatternEdge, PatternNode

BEGINNING = "birth|founded|established|built|created|start"
"""What *older* means where no word says which date."""
SIZE = "size|area|population|capacity"
"""What *bigger* means where no word says it."""
APART = 0.03
"""By this much the value that is meant must be named better than any other."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What an entity is compared by: a value, and the ids of the triples that say it."""

    entity: int
    value: float
    triples: tuple[int, ...]


def compare_two(
    graph: Graph,
    schema: Schema,
    table: WordTable,
    comparison: Comparison,
    contrast: Contrast,
    mentions: Sequence[Mention],
) -> Found:
    """Which of two entities has the larger or smaller value, or whether the first has."""
    pairs = _pairs(comparison, contrast, mentions)
    if not pairs:
        unknown = " ".join(w.text for w in comparison.question.words if w.capital and not _in(w, mentions))
        if unknown:
            return Found(abstained=Abstention("no_entity", f'it has no entity like "{unknown}"'))
        detail = f'it finds no two things to compare by "{contrast.word.text}"'
        return Found(abstained=Abstention("no_relation", detail))
    found: dict[tuple[int, int], Found] = {}
    for one, other in pairs:
        for a in one.candidates:
            for b in other.candidates:
                if a.entity != b.entity and (a.entity, b.entity) not in found:
                    two = _Two(graph, schema, table, comparison, contrast, (one, other))
                    answered = two.compare(a.entity, b.entity)
                    if answered is not None:
                        found[a.entity, b.entity] = answered
        if found:
            break
    if len({f.text for f in found.values()}) > 1:
        names = tuple(dict.fromkeys(graph.entities[e] for pair in found for e in pair))
        return Found(abstained=Abstention("ambiguous_entity", f"it may be {' or '.join(names)}", names))
    if found:
        return next(iter(found.values()))
    names = " and ".join(f'"{m.text}"' for m in pairs[0])
    detail = f'it records nothing for {names} that "{contrast.word.text}" could compare'
    return Found(abstained=Abstention("no_relation", detail))


def _pairs(
    comparison: Comparison, contrast: Contrast, mentions: Sequence[Mention]
) -> list[tuple[Mention, Mention]]:
    """The mentions on both sides of the hinge, the longest first."""
    words, hinge = comparison.question.words, contrast.hinge
    free = [m for m in mentions if m.stop <= contrast.word.start or m.start >= contrast.word.stop]

    def touches(start: int, stop: int) -> bool:
        return not any(w.weight >= 0.9 and w.start >= start and w.stop <= stop for w in words)

    right = [m for m in free if m.start >= hinge.stop and touches(hinge.stop, m.start)]
    left = [m for m in free if m.stop <= hinge.start]
    if contrast.choice:
        left = [m for m in left if touches(m.stop, hinge.start)]
    pairs = [(a, b) for a in left for b in right]
    return sorted(pairs, key=lambda p: (p[0].start - p[0].stop + p[1].start - p[1].stop, p[0].start))


def _in(word: Word, mentions: Sequence[Mention]) -> bool:
    return any(m.start <= word.start < m.stop for m in mentions)


@dataclass(frozen=True, eq=False)
class _Two:
    """One comparison of two mentions."""

    graph: Graph
    schema: Schema
    table: WordTable
    comparison: Comparison
    contrast: Contrast
    pair: tuple[Mention, Mention]

    def compare(self, one: int, other: int) -> Found | None:
        """The answer for two entities; None where they have no value in common that the words name."""
        relation = self._relation(one, other)
        if relation is not None:
            sides = [self._value(e, relation) for e in (one, other)]
            return self._answer(sides, self._sign(relation), (relation, relation * 2))
        end = self._counted(one, other)
        if end is None:
            return None
        sides = [self._count(e, end) for e in (one, other)]
        return self._answer(sides, self.contrast.sign, (end // 2, end))

    def _rows(self) -> list[int]:
        """The words that may name what is compared."""
        return [
            i
            for i, w in enumerate(self.comparison.words)
            if w.weight >= 0.3 and w is not self.contrast.word and not _in(w, self.pair)
        ]

    def _relation(self, one: int, other: int) -> int | None:
        tails = np.arange(len(self.schema.triples)) * 2 + 1
        timed = self.schema.years[tails] | (self.schema.dates[tails] >= DATED)
        shared = [
            r
            for r in np.flatnonzero(timed | self.schema.measured[tails])
            if all(values_of(self.graph, e, int(r)) for e in (one, other))
        ]
        rows = self._rows()
        named = self.comparison.relation[rows].max(axis=0) if rows else np.zeros(len(tails))
        meant = self._meant(named, timed)
        ranked = sorted(((float(meant[r]), int(r)) for r in shared), reverse=True)
        if not ranked or ranked[0][0] < NAMED:
            return None
        if len(ranked) > 1 and ranked[1][0] > ranked[0][0] - APART:
            return None
        return ranked[0][1] if self._explained(ranked[0][1]) else None

    def _meant(self, named: Float, timed: NDArray[np.bool_]) -> Float:
        """[R]: how far each relation is what the comparing word and the others name."""
        attribute, word = self.contrast.attribute, self.contrast.word.norm
        if attribute == "date":
            age = self.table.compare(["age"]).relation[0]
            begins = NAMED + 0.2 * self.table.compare([BEGINNING]).relation[0]
            return np.where(timed, np.maximum(named, begins), np.where(age >= 0.9, age, 0.0))
        if attribute:
            return np.maximum(named, self.table.compare([attribute]).relation[0])
        if self.contrast.counts:
            return named
        size = NAMED + 0.2 * self.table.compare([SIZE]).relation[0]
        itself = self.table.compare([word]).relation[0]
        return np.where(timed, 0.0, np.maximum.reduce([named, size, itself]))

    def _sign(self, relation: int) -> int:
        tail = 2 * relation + 1
        dated = self.schema.years[tail] or self.schema.dates[tail] >= DATED
        return -self.contrast.sign if self.contrast.attribute == "date" and not dated else self.contrast.sign

    def _explained(self, relation: int) -> bool:
        """Whether every content word names the relation, or of what type the two are."""
        comparison = self.comparison
        spoken = comparison.question.words
        for row in self._rows():
            word = comparison.words[row]
            if word.weight < 0.9 or comparison.relation[row, relation] >= EXPLAINED:
                continue
            before = spoken[spoken.index(word) - 1].norm if spoken.index(word) else ""
            typed = before in ("which", "what") or any(word.stop + 1 == m.start for m in self.pair)
            if not typed:
                return False
        return True

    def _value(self, entity: int, relation: int) -> Measured:
        value, tail = max(
            values_of(self.graph, entity, relation), key=lambda v: (self.contrast.sign * v[0], -v[1])
        )
        return Measured(entity, value, (self.graph.find_triple(entity, relation, tail),))

    def _counted(self, one: int, other: int) -> int | None:
        """The end whose edges are counted (*more films*)."""
        if not self.contrast.counts:
            return None
        at = self.comparison.question.words.index(self.contrast.word)
        nouns = noun_phrase(self.comparison.question.words, at + 1)
        found = named_end(self.comparison, self.schema, nouns, self._rows())
        if found is None or not any(edges_at(self.graph, e, found.end) for e in (one, other)):
            return None
        return found.end

    def _count(self, entity: int, end: int) -> Measured:
        triples = edges_at(self.graph, entity, end)
        return Measured(entity, float(len(triples)), tuple(triples))

    def _answer(self, sides: Sequence[Measured], sign: int, asked: tuple[int, int]) -> Found:
        first, second = sides
        triples = (*first.triples, *second.triples)
        pattern = self._pattern(sides, *asked)
        if not self.contrast.choice:
            word = "yes" if sign * first.value > sign * second.value else "no"
            answer = AnswerEntity(word, word, 1.0)
            return Found((answer,), (cite(self.graph, word, triples),), word, pattern)
        best = max(sign * s.value for s in sides)
        winners = [s.entity for s in sides if sign * s.value == best]
        answers = tuple(AnswerEntity(self.graph.entities[e], self.graph.labels[e], 1.0) for e in winners)
        citations = tuple(cite(self.graph, a.entity, triples) for a in answers)
        return Found(answers, citations, text_of(answers), pattern)

    def _pattern(self, sides: Sequence[Measured], relation: int, end: int) -> Pattern:
        """An edge of the relation at each of the two."""
        nodes: list[PatternNode] = []
        edges: list[PatternEdge] = []
        for number, side in enumerate(sides, 1):
            at = len(nodes)
            nodes.append(PatternNode(self.graph.entities[side.entity], known=True, entity=side.entity))
            nodes.append(PatternNode(f"UNKNOWN {number}", known=False))
            head, tail = (at, at + 1) if end % 2 == 0 else (at + 1, at)
            edges.append(PatternEdge(head, self.graph.relations[relation], tail, fixed=relation))
        return Pattern(tuple(nodes), tuple(edges), None)

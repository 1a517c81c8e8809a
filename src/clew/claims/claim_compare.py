"""Claims that compare two entities.

*A is longer than B*, *A was released before B*, *A directed more films than B*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from clew.claims.claim_edges import COUNTED, Item, Scene, triple_of, walk
from clew.claims.claim_text import ClaimComparison, ClaimText, find_comparison
from clew.reading.rules.read import values_of
from clew.reading.rules.similarity import WordTable

NAMED = 0.3
"""Least similarity of an attribute with the relation that measures it."""
YEARS = (1000, 2100)
MOST_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Comparing:
    """Two items and how the claim compares them."""

    first: Item
    second: Item
    how: ClaimComparison


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured of both items, larger first if `holds` and the claim says so.

    None where it is not recorded.
    """

    holds: bool | None
    triples: tuple[int, ...] = ()


def find_comparing(claim: ClaimText, items: Sequence[Item]) -> Comparing | None:
    """The first two neighbouring entities that a word such as *longer … than* stands between."""
    for a, b in pairwise(items):
        if a.entity >= 0 and b.entity >= 0:
            how = find_comparison(claim.question.words, a.stop, b.start)
            if how is not None:
                return Comparing(a, b, how)
    return None


def measure(scene: Scene, table: WordTable, comparing: Comparing) -> Measured:
    """Compare the two as the claim does.

    By a measured relation that both have, or by a number of neighbours.
    """
    counted = _count(scene, comparing)
    if counted is not None:
        return counted
    relation = _relation(scene, table, comparing)
    if relation is None:
        return Measured(None)
    graph = scene.graph
    first, second = (values_of(graph, i.entity, relation) for i in (comparing.first, comparing.second))
    if not first or not second:
        return Measured(None)
    sign = comparing.how.sign
    mine, theirs = max(first, key=lambda v: sign * v[0]), max(second, key=lambda v: sign * v[0])
    triples = (
        graph.find_triple(comparing.first.entity, relation, mine[1]),
        graph.find_triple(comparing.second.entity, relation, theirs[1]),
    )
    return Measured(sign * mine[0] > sign * theirs[0], triples)


def _relation(scene: Scene, table: WordTable, comparing: Comparing) -> int | None:
    """The relation with values of both that the words, or the attribute compared, name best."""
    schema, how = scene.reader.schema, comparing.how
    tails = np.arange(len(schema.triples)) * 2 + 1
    years = (schema.low[tails] >= YEARS[0]) & (schema.high[tails] <= YEARS[1]) & (schema.numbers[tails] > 0)
    timed = years | (schema.dates[tails] > 0)
    measured = timed | (schema.numbers[tails] > 0)
    held = np.array(
        [
            all(len(values_of(scene.graph, i.entity, r)) for i in (comparing.first, comparing.second))
            if m
            else False
            for r, m in enumerate(measured)
        ],
        bool,
    )
    rows = scene.words(0, len(scene.comparison.question.text))
    named = scene.comparison.relation[rows].max(axis=0) if rows else np.zeros(len(held))
    if how.attribute == "date":
        named = np.where(timed, np.maximum(named, NAMED), 0.0)
    elif how.attribute:
        named = np.maximum(named, table.compare([how.attribute]).relation[0])
    named = np.where(held, named, 0.0)
    best = int(named.argmax()) if len(named) else 0
    return best if len(named) and named[best] >= NAMED else None


def _count(scene: Scene, comparing: Comparing) -> Measured | None:
    """*More films than*: the numbers of what a step leads to that the words name.

    None if nothing is counted.
    """
    how, comparison = comparing.how, scene.comparison
    nouns = [r for r in range(len(comparison.words)) if how.start < comparison.words[r].start < how.stop]
    if how.attribute or not nouns:
        return None
    schema = scene.reader.schema
    steps = np.arange(len(scene.reader.fixed))
    counts = schema.numbers[steps ^ 1] < 0.5
    fits = comparison.node[nouns].max(axis=0) * counts
    score = np.where(fits >= COUNTED, fits + scene.evidence(scene.words(0, how.start)), 0.0)
    step = int(score.argmax())
    if score[step] <= 0:
        return None
    graph = scene.graph
    reached = [walk(graph, i.entity, step) for i in (comparing.first, comparing.second)]
    if not any(len(r) for r in reached):
        return Measured(None)
    triples = tuple(
        triple_of(graph, i.entity, step, int(n))
        for i, nodes in zip((comparing.first, comparing.second), reached, strict=True)
        for n in nodes[:MOST_SHOWN]
    )
    return Measured(how.sign * len(reached[0]) > how.sign * len(reached[1]), triples)

"""Edges that are counted: which end of which relation a noun means (*more than five films*, *no genre*)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clew.graph.graph import Graph
from clew.steps.comparison import Comparison, is_asked
from clew.steps.explain import EXPLAINED
from clew.steps.vocabulary import class_fit
from clew.text.question import Word

SURE = 0.5
"""Evidence from which a noun or a verb names the relation whose edges are counted."""
APART = 0.05
"""By this much the end that is meant must be named better than any other."""


@dataclass(frozen=True, slots=True)
class CountedEnd:
    """An end (see `graph.schema`) whose edges are counted; `used`: the characters at which its words start."""

    end: int
    used: frozenset[int]


def named_end(comparison: Comparison, noun: Word, rows: Sequence[int]) -> CountedEnd | None:
    """The end at which things have edges to what `noun` names; None where the words do not tell.

    `rows` are the words that may tell: the noun itself, the verb, and what the things are.
    """
    at = [i for i in rows if comparison.words[i].start == noun.start]
    if not at:
        return None
    row, others = at[0], [i for i in rows if i != at[0]]
    ends = np.arange(comparison.step.shape[1])
    counted = np.maximum(comparison.cover[row], comparison.node[row])
    verbs = comparison.relation[others].max(axis=0) if others else np.zeros(len(ends) // 2)
    things = comparison.kind[others].max(axis=0) if others else np.zeros(len(ends))
    classes = comparison.question.classes
    if classes:
        things = np.maximum(things, class_fit(comparison.vocabulary.classes, classes))
    told = counted + verbs[ends // 2]
    score = np.where(np.maximum(counted, verbs[ends // 2]) >= SURE, told + 0.5 * things, 0.0)
    score = np.where(counted >= EXPLAINED, score, 0.0)
    best = int(score.argmax())
    inverse = int(comparison.vocabulary.inverse[best // 2])
    same = {best, 2 * inverse + 1 - best % 2} if inverse >= 0 else {best}
    rival = max((float(score[e]) for e in ends if int(e) not in same), default=0.0)
    if score[best] == 0 or rival > score[best] - APART:
        return None
    used = {comparison.words[i].start for i in others if comparison.relation[i, best // 2] >= SURE}
    return CountedEnd(best, frozenset({noun.start, *used}))


def asked_rows(comparison: Comparison) -> list[int]:
    """The words right after *which* or *what*."""
    return [i for i, w in enumerate(comparison.words) if is_asked(comparison.question, w)]


def edges_at(graph: Graph, node: int, end: int) -> list[int]:
    """Ids of the triples of a relation at one end of a node."""
    relation, forward = end // 2, end % 2 == 0
    side = graph.out if forward else graph.into
    start, stop = int(side.offsets[node]), int(side.offsets[node + 1])
    relations = side.relation[start:stop]
    low = start + int(np.searchsorted(relations, relation, "left"))
    high = start + int(np.searchsorted(relations, relation, "right"))
    others = [int(n) for n in side.neighbour[low:high]]
    return [graph.find_triple(*((node, relation, n) if forward else (n, relation, node))) for n in others]

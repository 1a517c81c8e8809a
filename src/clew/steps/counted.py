"""Edges that are counted: which end of which relation a noun means (*more than five films*, *no genre*)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clew.steps.comparison import Comparison
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


def named_end(comparison: Comparison, nouns: Sequence[Word], rows: Sequence[int]) -> CountedEnd | None:
    """The end at which things have edges to what `nouns` name; None where the words do not tell.

    `rows` are the words that may tell: the nouns themselves, the verb, and what the things are.
    """
    starts = {w.start for w in nouns}
    at = [i for i in rows if comparison.words[i].start in starts]
    if not at:
        return None
    others = [i for i in rows if i not in at]
    ends = np.arange(comparison.step.shape[1])
    counted = np.maximum(comparison.cover[at], comparison.node[at]).max(axis=0)
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
    return CountedEnd(best, frozenset(starts | used))

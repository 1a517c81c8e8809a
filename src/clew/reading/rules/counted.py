"""Edges that are counted: which end of which relation a noun means (*more than five films*, *no genre*)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clew.graph.schema import Schema
from clew.reading.rules.comparison import Comparison, Float, is_asked
from clew.reading.rules.explain import EXPLAINED
from clew.reading.rules.question import Word
from clew.reading.rules.vocabulary import class_fit, of_other_types

SURE = 0.5
"""Evidence from which a noun or a verb names the relation whose edges are counted."""
CLEARLY = 0.85
"""The same where it is only by their type that the noun names what is counted."""
SAME = 0.9
"""Lexical similarity of a word with itself in another form."""
HARDLY = 0.2
"""Where the verb names the relation, so little of the noun has to be explained."""
FORWARD = 0.06
"""What the end from which a relation is read has ahead of the other."""
DATED = 0.5
"""Least share of a relation's tails that are dates."""
APART = 0.05
"""By this much the end that is meant must be named better than any other."""


@dataclass(frozen=True, slots=True)
class CountedEnd:
    """An end (see `graph.schema`) whose edges are counted; `used`: where the words that say so start."""

    end: int
    used: frozenset[int]


def named_end(
    comparison: Comparison,
    schema: Schema,
    nouns: Sequence[Word],
    rows: Sequence[int],
    least: float = 1,
) -> CountedEnd | None:
    """The end at which things have edges to what `nouns` name; None where the words do not tell.

    `rows` are the words that may tell: the nouns themselves, the verb, and what the things are; `least` is
    how many edges some of them must have.
    """
    starts = {w.start for w in nouns}
    at = [i for i in rows if comparison.words[i].start in starts]
    if not at:
        return None
    others = [i for i in rows if i not in at]
    verbal = [i for i in others if not is_asked(comparison.question, comparison.words[i])]
    ends = np.arange(comparison.step.shape[1])
    node = comparison.node[at].max(axis=0)
    counted = np.maximum(comparison.cover[at].max(axis=0), node)
    verbs = comparison.relation[verbal].max(axis=0)[ends // 2] if verbal else np.zeros(len(ends))
    possible = (
        ((schema.repeated if least > 1 else schema.nodes) > 0) & ~schema.measured & (schema.dates < DATED)
    )
    possible[[e for r in comparison.vocabulary.typing for e in (2 * r, 2 * r + 1)]] = False
    possible &= (np.maximum(comparison.cover[at].max(axis=0), verbs) >= SURE) | (node >= CLEARLY)
    possible &= counted >= np.where(verbs >= SURE, HARDLY, EXPLAINED)
    for row in at:
        possible &= ~of_other_types(comparison.vocabulary, comparison.words[row].norm)
    for row in set(others) - set(verbal):
        possible &= ~of_other_types(comparison.vocabulary, comparison.words[row].norm)[ends ^ 1]
    score = np.where(possible, counted + verbs + 0.5 * _things(comparison, others), 0.0)
    score += np.where(possible, FORWARD * _reads_forward(comparison, at), 0.0)
    best = int(score.argmax())
    inverse = int(comparison.vocabulary.inverse[best // 2])
    same = {best, best ^ 1, 2 * inverse + 1 - best % 2, 2 * inverse + best % 2}
    rival = max((float(score[e]) for e in ends if int(e) not in same), default=0.0)
    if score[best] == 0 or rival > score[best] - APART:
        return None
    used = {comparison.words[i].start for i in verbal if comparison.relation[i, best // 2] >= SURE}
    return CountedEnd(best, frozenset(starts | used))


def _things(comparison: Comparison, rows: Sequence[int]) -> Float:
    """[S]: how well the words say of what type the nodes of each end are."""
    things = comparison.kind[list(rows)].max(axis=0) if rows else np.zeros(comparison.kind.shape[1])
    classes = comparison.question.classes
    return np.maximum(things, class_fit(comparison.vocabulary.classes, classes)) if classes else things


def _reads_forward(comparison: Comparison, rows: Sequence[int]) -> Float:
    """[S]: 1 for the end that has what the words in `rows` name, by the name of the relation.

    A noun before *of* names the heads (`subsidiary_of`), so tails have it; who does it stands at the tail of
    `founded_by`, so heads have founders, and tails what they founded. Else heads have what they lead to.
    """
    vocabulary = comparison.vocabulary
    similar = vocabulary.lexicon.similarity
    backward = np.zeros(len(vocabulary.labels))
    for relation, label in enumerate(vocabulary.labels):
        if label and label[-1] in ("of", "by"):
            said = max((similar(comparison.words[i].norm, w) for i in rows for w in label[:-1]), default=0.0)
            backward[relation] = said >= SAME if label[-1] == "of" else said < SURE
    return np.stack([1 - backward, backward], axis=1).reshape(-1)

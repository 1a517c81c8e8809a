"""How well the steps and types of candidates say the words of a question, for many candidates at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clew.foundation.arrays import Float32, Float64, Int64
from clew.query.tree import Query
from clew.query.vocabulary import UNEXPLAINED, Vocabulary
from clew.reading.likeness import Likeness

OF_LABELS = (
    "steps", "step_least", "step_mean", "step_exact", "explained", "explained_exact", "unexplained",
    "turns_back", "rare", "types_said", "left_then_right", "right_then_left",
)  # fmt: skip
MOST_RARE = 0.5
"""Logarithms of sizes end here: larger graphs than the ranker was trained on look to it like large ones."""
WITHOUT_STEPS, RARE_WITHOUT_STEPS = 0.5, 5 / 12
"""How well a step is said, and how rare it is, where there is none."""


def label_features(
    vocabulary: Vocabulary, likeness: Likeness, words: Sequence[int], queries: Sequence[Query]
) -> Float64:
    """`OF_LABELS` of queries by how they say some words of the question, float64 [n, OF_LABELS].

    Where a query is no chain, all that is said is taken to be in order.
    """
    steps, types = (_padded([getattr(q.contents, name) for q in queries]) for name in ("steps", "types"))
    none = steps < 0
    count = (~none).sum(1)
    relations, ends = np.where(none, -1, steps // 2), np.full(steps.shape, -1)
    ends[~none] = vocabulary.types_at_ends[steps[~none] ^ 1]
    tables = (likeness.relations, likeness.types), (likeness.exact_relations, likeness.exact_types)
    near, exact = (
        (
            how_like(relation_table, words, relations),
            how_like(type_table, words, types),
            how_like(type_table, words, ends),
        )
        for relation_table, type_table in tables
    )
    word_likeness = np.concatenate(near, 2).max(2)
    by_step, by_type = near[0].max(0, initial=0.0), near[1].max(0, initial=0.0)
    explained = word_likeness.sum(0) / max(1, len(words))
    columns = (
        count / 4,
        np.where(count, np.where(none, np.inf, by_step).min(1), WITHOUT_STEPS),
        np.where(count, by_step.sum(1) / np.maximum(1, count), WITHOUT_STEPS),
        exact[0].max(0, initial=0.0).sum(1) / np.maximum(1, count),
        explained,
        np.concatenate(exact, 2).max(2).sum(0) / max(1, len(words)),
        (word_likeness < UNEXPLAINED).sum(0) / 4,
        (steps[:, :-1] ^ 1 == steps[:, 1:]).sum(1) / 2,
        _how_rare(vocabulary, relations),
        by_type.sum(1) / 2,
        explained,
        explained,
    )
    return np.stack(columns, axis=1)


def _how_rare(vocabulary: Vocabulary, relations: Int64) -> Float64:
    """The logarithm of the triples of the rarest relation of each query."""
    least, is_relation = np.full(relations.shape, np.inf), relations >= 0
    least[is_relation] = np.log1p(vocabulary.schema.triples[relations[is_relation]]) / 12
    return np.minimum(MOST_RARE, np.where(is_relation.any(1), least.min(1), RARE_WITHOUT_STEPS))


def how_like(table: Float32, words: Sequence[int], labels: Int64) -> Float64:
    """How like some words are to labels, 0 where there is none (-1): float64 [words, *labels]."""
    used, places = np.unique(labels, return_inverse=True)
    label_likeness = np.zeros((len(words), len(used)))
    label_likeness[:, used >= 0] = table[np.array(words, np.int64)[:, None], used[used >= 0]]
    return label_likeness[:, places.reshape(labels.shape)]


def _padded(rows: Sequence[Sequence[int]]) -> Int64:
    """Rows of unequal length, -1 behind the end of each: int64 [n, longest], one column at least."""
    longest = max(1, *map(len, rows))
    return np.array([[*row, *[-1] * (longest - len(row))] for row in rows], np.int64)

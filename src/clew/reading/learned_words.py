"""Which labels of a graph the words of questions ask for, learned from questions and what was right.

IBM model 1 (Brown et al. 1993): each label of a right candidate is asked for by one of the question's words.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

ROUNDS = 6
LEAST_WORD_LIKENESS = 0.35
"""Likeness below which a word is not kept; what is less changes the order of candidates little."""
DOUBT = 1.0
"""Times that a word was seen are taken to be so many more, without any label."""


@dataclass(frozen=True, eq=False)
class LikelyWords:
    """Words, the label that each is like (relations, then types), and how much: parallel arrays [n]."""

    words: tuple[str, ...] = ()
    labels: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    values: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))


def likely_words(examples: Sequence[tuple[Sequence[str], Mapping[int, float]]]) -> LikelyWords:
    """Learn from (words, label → weight) of each question."""
    word_counts = Counter(word for words, labels in examples if labels for word in words)
    counted: dict[tuple[str, int], float] = {}
    for _ in range(ROUNDS):
        counted = _count_pairs(examples, counted)
    likely = ((word, label, n / (word_counts[word] + DOUBT)) for (word, label), n in counted.items())
    entries = sorted(entry for entry in likely if entry[2] >= LEAST_WORD_LIKENESS)
    return LikelyWords(
        tuple(k[0] for k in entries),
        np.array([k[1] for k in entries], np.int64),
        np.array([k[2] for k in entries], np.float32),
    )


def _count_pairs(
    examples: Sequence[tuple[Sequence[str], Mapping[int, float]]], before: Mapping[tuple[str, int], float]
) -> dict[tuple[str, int], float]:
    """How often each word asks for each label, given how often it seemed to before; at first equally."""
    of_word: dict[str, float] = defaultdict(float)
    for (word, _), count in before.items():
        of_word[word] += count
    counted: dict[tuple[str, int], float] = defaultdict(float)
    for words, labels in examples:
        for label, weight in labels.items():
            shares = [before.get((w, label), 0.0) / of_word[w] if before else 1.0 for w in words]
            total = sum(shares)
            for word, share in zip(words, shares, strict=True):
                if share > 0.0:
                    counted[word, label] += weight * share / total
    return counted

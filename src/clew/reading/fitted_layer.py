"""The weights that `clew fit` learns for one graph, with NumPy alone, and the questions behind them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import Float32
from clew.reading.adapter import NO_CANDIDATE, Adapter, AdapterAbout, Symbol
from clew.reading.features import FEATURES
from clew.reading.feedback import Feedback
from clew.reading.learned_words import LikelyWords

MOST_TERMS, MOST_SYMBOLS = 1500, 800
LEAST_SEEN = 2
"""Questions that a term must stand in."""
STEPS, RATE = 50, 0.08


@dataclass(frozen=True, slots=True)
class ExampleRow:
    """A candidate; None of them is a row too."""

    symbols: tuple[Symbol, ...]
    features: Float32
    score: float
    right: bool


@dataclass(frozen=True, slots=True)
class Example:
    """A question with its candidates, none of them last, and the labels that right ones have."""

    feedback: Feedback
    terms: tuple[str, ...]
    words: tuple[str, ...]
    rows: tuple[ExampleRow, ...]
    labels: dict[int, float]

    @property
    def covered(self) -> bool:
        """Whether a candidate is right."""
        return any(row.right for row in self.rows[:-1])


@dataclass(frozen=True, eq=False)
class Table:
    """Examples as arrays: rows [R] of all questions [N] one after the other.

    `terms` float32 [N, terms + 1], `symbols` int64 [R, S] (as many as there are symbols: none),
    `features` float32 [R, FEATURES], `scores` float32 [R], `of` int64 [R] the question of each row.
    """

    terms: Float32
    symbols: NDArray[np.int64]
    features: Float32
    scores: Float32
    right: NDArray[np.bool_]
    of: NDArray[np.int64]
    starts: NDArray[np.int64]


class Layer:
    """The weights while they are learned."""

    def __init__(self, terms: Sequence[str], symbols: Sequence[Symbol], moments: Float32) -> None:
        self.terms, self.symbols, self.moments = tuple(terms), tuple(symbols), moments
        self.term_at = {term: i for i, term in enumerate(terms)}
        self.symbol_at = {symbol: i for i, symbol in enumerate(symbols)}
        shapes = ((len(terms) + 1, len(symbols) + 1), (len(FEATURES),), (1,))
        self.weights: list[Float32] = [np.zeros(shape, np.float32) for shape in shapes]
        self.weights[2][0] = 1.0

    @classmethod
    def of(cls, examples: Sequence[Example]) -> Layer:
        """A layer for the terms and symbols that some examples have, with nothing learned."""
        terms = Counter(t for e in examples for t in e.terms)
        right_symbols = Counter(
            s for e in examples for s in {s for r in e.rows for s in r.symbols if r.right}
        )
        all_symbols = Counter(s for e in examples for s in {s for r in e.rows for s in r.symbols})
        symbols = [
            *dict(right_symbols.most_common(MOST_SYMBOLS)),
            *dict(all_symbols.most_common(MOST_SYMBOLS)),
        ]
        features = [r.features for e in examples for r in e.rows[:-1]] or [np.zeros(len(FEATURES))]
        moments = np.stack([np.mean(features, 0), np.std(features, 0) + 0.05]).astype(np.float32)
        frequent_terms = [t for t, n in terms.most_common(MOST_TERMS) if n >= LEAST_SEEN]
        return cls(frequent_terms, list(dict.fromkeys([NO_CANDIDATE, *symbols]))[:MOST_SYMBOLS], moments)

    def table(self, examples: Sequence[Example]) -> Table:
        """Examples as arrays."""
        rows = [row for e in examples for row in e.rows]
        counts = np.array([len(e.rows) for e in examples], np.int64)
        terms = np.zeros((len(examples), len(self.terms) + 1), np.float32)
        terms[:, -1] = 1.0
        for i, e in enumerate(examples):
            terms[i, [self.term_at[t] for t in e.terms if t in self.term_at]] = 1 / np.sqrt(len(e.terms))
        longest = max(len(row.symbols) for row in rows)
        symbols = np.full((len(rows), longest), len(self.symbols), np.int64)
        for i, row in enumerate(rows):
            places = [self.symbol_at[s] for s in row.symbols if s in self.symbol_at]
            symbols[i, : len(places)] = places
        features = (np.stack([row.features for row in rows]) - self.moments[0]) / self.moments[1]
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        features[starts + counts - 1] = 0.0
        return Table(
            terms,
            symbols,
            features.astype(np.float32),
            np.array([row.score for row in rows], np.float32),
            np.array([row.right for row in rows]),
            np.repeat(np.arange(len(examples)), counts),
            starts,
        )

    def _shares(self, table: Table) -> Float32:
        """The probability of each row among those of its question, float32 [R]."""
        matrix, weight, sharpness = self.weights
        symbol_scores = table.terms @ matrix
        symbol_scores[:, -1] = 0.0
        scores = sharpness[0] * table.scores + table.features @ weight
        scores = scores + symbol_scores[table.of[:, None], table.symbols].sum(1)
        scores -= np.maximum.reduceat(scores, table.starts)[table.of]
        shares = np.exp(scores)
        return shares / np.add.reduceat(shares, table.starts)[table.of]

    def shares(self, examples: Sequence[Example]) -> list[Float32]:
        """The probabilities of the rows of each example."""
        table = self.table(examples)
        return np.split(self._shares(table), table.starts[1:])

    def train(self, examples: Sequence[Example], strength: float) -> None:
        """Go on from the weights as they are, with a penalty of `strength` on their squares."""
        table = self.table(examples)
        means = [np.zeros_like(w) for w in self.weights]
        spreads = [np.zeros_like(w) for w in self.weights]
        for step in range(1, STEPS + 1):
            gradients = self._gradients(table, strength)
            rate = RATE * (1 - step / (STEPS + 1))
            for weight, gradient, mean, spread in zip(self.weights, gradients, means, spreads, strict=True):
                mean += 0.1 * (gradient - mean)
                spread += 0.01 * (gradient**2 - spread)
                root = np.sqrt(spread / (1 - 0.99**step)) + 1e-6
                weight -= rate / (1 - 0.9**step) * mean / root

    def _gradients(self, table: Table, strength: float) -> list[Float32]:
        shares = self._shares(table)
        right = shares * table.right
        targets = right / np.maximum(1e-9, np.add.reduceat(right, table.starts))[table.of]
        wrong = (shares - targets).astype(np.float32)
        count, width = len(table.terms), len(self.symbols) + 1
        places = (table.of[:, None] * width + table.symbols).ravel()
        by_symbol = np.bincount(places, np.repeat(wrong, table.symbols.shape[1]), count * width)
        by_symbol = by_symbol.reshape(count, width).astype(np.float32)
        by_symbol[:, -1] = 0.0
        matrix, weight, sharpness = self.weights
        return [
            (table.terms.T @ by_symbol + strength * matrix).astype(np.float32),
            (table.features.T @ wrong + strength * weight).astype(np.float32),
            np.array([wrong @ table.scores + strength * (sharpness[0] - 1.0)], np.float32),
        ]

    def adapter(self, about: AdapterAbout, words: LikelyWords) -> Adapter:
        """The weights and words as an adapter, which is written to the index."""
        matrix, weight, sharpness = self.weights
        features = np.stack([weight, *self.moments]).astype(np.float32)
        return Adapter(
            about,
            self.terms,
            self.symbols,
            matrix[:, :-1].copy(),
            features,
            float(sharpness[0]),
            words.words,
            words.labels,
            words.values,
        )

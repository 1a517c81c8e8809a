"""The first look at all candidates of a question: by their features alone, so that the head reads fewer.

A small network that `scripts/train_reader/train_first_pass.py` trains; `model/first_pass.npz` keeps it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import LOADING, Float32

CANDIDATES_KEPT = 40
"""Candidates that go on. Of 8,130 questions of people a right one, if any, is among them for 95 %,
among 80 for 98; yet of 80 no more is right first, and more that is wrong shares what is likely."""
MOST_OF_KIND = 3.0
"""Tokens of one kind beyond which more of them count no further."""

DIGITS = 3
"""Digits of scores by which candidates are told apart."""


@dataclass(frozen=True, eq=False)
class FirstPass:
    """`mean` and `scale` float32 [F], `inner` float32 [F, H], `bias` and `outer` float32 [H]."""

    mean: Float32
    scale: Float32
    inner: Float32
    bias: Float32
    outer: Float32

    @classmethod
    def open(cls, path: Path) -> FirstPass:
        """Read a trained one. Raises OSError, KeyError or ValueError for a file that is none."""
        with LOADING, np.load(path) as arrays:
            return cls(*(arrays[name] for name in ("mean", "scale", "inner", "bias", "outer")))

    def best(
        self, rows: Float32, other_scores: Float32 | None = None, most: int = CANDIDATES_KEPT
    ) -> NDArray[np.int64]:
        """The places of the best of some candidates, ascending; `rows` as of `calibration.rows_of`.

        `other_scores` are added to their scores: logits, float32 [n].
        """
        if len(rows) <= most:
            return np.arange(len(rows))
        scores = self.scores(rows) if other_scores is None else self.scores(rows) + other_scores
        # Rounded, as the sums of several threads differ from those of one in the last digits.
        return np.sort(np.argsort(-scores.round(DIGITS), kind="stable")[:most])

    def scores(self, rows: Float32) -> Float32:
        """How likely rows are, in logits among those of one question, float32 [n]."""
        within = (np.minimum(rows, MOST_OF_KIND) - self.mean) / self.scale
        # Not `@`: so small a product wakes the threads of BLAS, which then wait in a loop for some 30 ms.
        inner = np.einsum("nf,fh->nh", within, self.inner)
        return np.maximum(inner + self.bias, 0) @ self.outer

"""From the head's scores to probabilities: a linear layer that is fitted on questions nothing was trained on.

The head is surer than it is right. Its scores are made flatter, and what it is wrong about in the same way
over all graphs (how sizes, negation or words left open count) is added; the score that no candidate is right
follows from the likeliest one. `scripts/train_reader/calibrate.py` fits it; it is kept in `model/model.json`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from clew.foundation.arrays import Float32
from clew.reading.alignment import ALIGNED
from clew.reading.answer_kind import KINDS
from clew.reading.features import COMPARED, FEATURES, with_distances
from clew.reading.tokens import Kind, QueryToken

FROM_BEST = tuple(f"{name}_from_best" for name in COMPARED)
KNOWN_BEFORE = (*FEATURES, *FROM_BEST, *(kind.name for kind in Kind))
"""What is known of a candidate before the encoder reads: features, how often each kind of token is in it."""
OF_CANDIDATES = (*KNOWN_BEFORE, *KINDS, *ALIGNED)
"""What weighs in the score of a candidate; the weights of `ALIGNED` also say which alignment is the best."""
OF_NONE = ("one", "best_score", "log_candidates", *KNOWN_BEFORE)
"""What makes the score of none: one, the best score, how many candidates there are, what the best is."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """Weights: `sharpness` of all scores, `candidates` float32 [OF_CANDIDATES], `none` float32 [OF_NONE]."""

    sharpness: float
    candidates: Float32
    none: Float32

    @classmethod
    def of(cls, sharpness: float, candidates: Mapping[str, float], none: Mapping[str, float]) -> Calibration:
        """Weights by their names, 0 where one is not named. Raises KeyError for a name that is not there."""
        unknown = [*(set(candidates) - set(OF_CANDIDATES)), *(set(none) - set(OF_NONE))]
        if unknown:
            raise KeyError(unknown[0])
        arrays = [
            np.array([weights.get(name, 0.0) for name in names], np.float32)
            for weights, names in ((candidates, OF_CANDIDATES), (none, OF_NONE))
        ]
        return cls(sharpness, *arrays)

    @property
    def of_alignment(self) -> Float32:
        """The weights of what an alignment is made of, float32 [ALIGNED]."""
        return self.candidates[-len(ALIGNED) :]

    def scores(self, scores: Float32, rows: Float32) -> Float32:
        """Scores of candidates and none, float32 [n + 1], from the head's.

        `rows` float32 [n, OF_CANDIDATES]: `rows_of`, sorts of answers, and the features of alignments.
        """
        calibrated = self.sharpness * scores
        calibrated[:-1] += rows @ self.candidates
        calibrated[-1] += none_of(scores, rows, int(calibrated[:-1].argmax())) @ self.none
        return calibrated.astype(np.float32)


PLAIN = Calibration.of(1.0, {}, {})
"""Weights that leave scores as they are."""


def rows_of(features: Float32, tokens: Sequence[Sequence[QueryToken]]) -> Float32:
    """What is known of candidates before the encoder reads: float32 [n, KNOWN_BEFORE]."""
    places = [row * len(Kind) + kind for row, row_tokens in enumerate(tokens) for kind, _ in row_tokens]
    kinds = np.bincount(places, minlength=len(tokens) * len(Kind)).reshape(len(tokens), len(Kind))
    return np.concatenate([with_distances(features), kinds.astype(np.float32)], axis=1)


def none_of(scores: Float32, rows: Float32, best: int) -> Float32:
    """What makes the score of none, where the candidate `best` is the likeliest: float32 [OF_NONE]."""
    front = np.array([1.0, scores[best], np.log(len(rows))], np.float32)
    return np.concatenate([front, rows[best, : len(KNOWN_BEFORE)]])

"""Trees side by side, as scikit-learn's histogram boosting grows them: rows of features → probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from clew.errors import EmbedderError
from clew.foundation.arrays import LOADING, Float32
from clew.reading.alignment import ALIGNED
from clew.reading.asked_for import KINDS
from clew.reading.features import COMPARED, FEATURES, with_distances
from clew.reading.tokens import Kind, QueryToken

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


ROWS_AT_ONCE = 64
MODEL = Path(__file__).with_name("model")


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees over features, each of at most 32 leaves, which are the bits of a number.

    Inner nodes: at each the value of feature `feature` int32 [nodes, trees] is compared with `least` float32;
    where it is above, the leaves `lost` uint32 are out of reach. The lowest one that none has lost is where
    the tree ends, and its `value` float32 [trees, leaves], in logits, is what it says. `others` are further
    arrays of the file. (Lucchese et al., QuickScorer, SIGIR 2015.)
    """

    feature: NDArray[np.int32]
    least: Float32
    lost: NDArray[np.uint32]
    value: Float32
    start: float
    others: Mapping[str, Float32]

    @classmethod
    def open(cls, path: Path, names: Sequence[str]) -> Trees:
        """Read trees over these features. Raises EmbedderError for a file that holds none."""
        try:
            with LOADING, np.load(path) as file:
                arrays = {name: file[name] for name in file.files}
            if arrays.pop("names").tolist() != list(names):
                raise ValueError("it is of another version")
            feature, least, lost, value = (arrays.pop(name) for name in ("feature", "least", "lost", "value"))
            return cls(feature, least, lost, value, float(arrays.pop("start")), arrays)
        except (OSError, KeyError, ValueError, EOFError, BadZipFile) as error:
            raise EmbedderError(
                f"{path}: cannot read the reader's model ({error}). Install clew again."
            ) from error

    def of(self, rows: Float32) -> Float32:
        """The probability that the trees give to each row, float32 [n]; `rows` float32 [n, features]."""
        trees, logits = np.arange(len(self.value)), np.full(len(rows), self.start)
        for first in range(0, len(rows), ROWS_AT_ONCE):
            here = rows[first : first + ROWS_AT_ONCE]
            above = here.take(self.feature.ravel(), axis=1).reshape(-1, *self.feature.shape) > self.least
            lost = np.bitwise_or.reduce(np.multiply(above, self.lost, dtype=np.uint32), axis=1)
            leaf = np.frexp(~lost & (lost + np.uint32(1)))[1] - 1
            logits[first : first + ROWS_AT_ONCE] += self.value[trees, leaf].sum(1, dtype=np.float64)
        return (1 / (1 + np.exp(-logits))).astype(np.float32)


@cache
def shipped_trees(name: str, names: tuple[str, ...], folder: Path = MODEL) -> Trees:
    """Trees of the package, or of another folder, read once a process. Raises EmbedderError."""
    return Trees.open(folder / name, names)

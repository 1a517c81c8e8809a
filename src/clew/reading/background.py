"""Labels of the world, with which the words of a text are compared beside the labels of one graph.

*Composer* is nearest to `written by` in a graph that records no composer. In the world `composer` itself is
far nearer, and that is not much like `written by`: so the word does not mean it.

`model/background.npz` keeps vectors of the names of Wikidata's properties (CC0) and Freebase's relations
(CC BY) by the shipped encoder; `scripts/train_reader/background.py` writes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from clew.errors import EmbedderError
from clew.foundation.arrays import Float32
from clew.reading.fitted import MODEL
from clew.reading.likeness import SHARPNESS

OF_BACKGROUND = ("rank", "own", "best", "lead", "alike", "means", "profile")
"""Of a word: how many labels of the world are nearer to it than those of the query; how near the nearest of
these is, and of the world; how far that leads where it is not like them; how like them it is, the nearest are
together, and how alike the word and they are to all labels."""
ALIKE = 0.6
"""Labels less alike than this are not said by the same word."""


@dataclass(frozen=True, eq=False)
class Seen:
    """A word or a label beside the labels of the world: how near these are, float32 [n].

    `centred`: the same less its mean, of length 1; `weights`: of these labels by nearness, which sum to 1.
    """

    near: Float32
    centred: Float32
    weights: Float32


@dataclass(frozen=True, eq=False)
class Background:
    """Unit vectors of the labels of the world, float32 [n, 384]."""

    vectors: Float32

    def see(self, vector: Float32) -> Seen:
        """A unit vector beside them, float32 [384]."""
        near = self.vectors @ vector
        weights = np.exp((near - near.max()) / SHARPNESS)
        centred = near - near.mean()
        return Seen(near, centred / max(float(np.linalg.norm(centred)), 1e-9), weights / weights.sum())

    def compare(self, words: Sequence[Seen], labels: Sequence[Seen], own: Float32) -> Float32:
        """What labels of the world tell of words and labels of a query, [words, OF_BACKGROUND].

        `own`: how near these are to each other, float32 [words, labels].
        """
        rows = np.full((len(words), len(OF_BACKGROUND)), -1, np.float32)
        alike = np.stack([label.near for label in labels]) if labels else np.zeros((1, 1), np.float32)
        nearest = alike.max(0)
        for row, word, likeness in zip(rows, words, own, strict=True):
            most = float(word.near.max())
            if not labels:
                row[[0, 2, 3]] = np.log1p(len(self.vectors)), most, most + 1
                continue
            best = int(likeness.argmax())
            near = float(likeness[best])
            others = word.near[alike[best] < ALIKE].max(initial=-1.0)
            row[:4] = np.log1p((word.near > near).sum()), near, most, others - near
            row[4:6] = nearest[word.near.argmax()], word.weights @ nearest
            row[6] = max(float(word.centred @ label.centred) for label in labels)
        return rows


@cache
def shipped_background(path: Path = MODEL / "background.npz") -> Background:
    """The labels of the package, read once a process.

    Raises:
        EmbedderError: the file is missing or damaged.

    """
    try:
        with np.load(path) as arrays:
            return Background(arrays["vectors"].astype(np.float32) * arrays["scale"])
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise EmbedderError(
            f"{path}: cannot read the reader's model ({error}). Install clew again."
        ) from error

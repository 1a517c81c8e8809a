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

MODEL = Path(__file__).with_name("model")


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees over features: int32 and float32 [trees, nodes], each beginning with its first node.

    At a node the value of feature `feature` is compared with `least`; it goes on at `low` where it is not
    above, at `high` where it is. A leaf goes on at itself, and its `value`, in logits, is what its tree says.
    `others` are further arrays of the file.
    """

    feature: NDArray[np.int32]
    least: Float32
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    value: Float32
    start: float
    depth: int
    others: Mapping[str, Float32]

    @classmethod
    def open(cls, path: Path, names: Sequence[str]) -> Trees:
        """Read trees over these features. Raises EmbedderError for a file that holds none."""
        try:
            with LOADING, np.load(path) as file:
                arrays = {name: file[name] for name in file.files}
            if arrays.pop("names").tolist() != list(names):
                raise ValueError("it is of another version")
            feature, least, low, high, value = (
                arrays.pop(name) for name in ("feature", "least", "low", "high", "value")
            )
            start, depth = float(arrays.pop("start")), int(arrays.pop("depth"))
            return cls(feature, least, low, high, value, start, depth, arrays)
        except (OSError, KeyError, ValueError, EOFError, BadZipFile) as error:
            raise EmbedderError(
                f"{path}: cannot read the reader's model ({error}). Install clew again."
            ) from error

    def of(self, rows: Float32) -> Float32:
        """The probability that the trees give to each row, float32 [n]; `rows` float32 [n, features]."""
        trees = np.arange(len(self.feature))
        at = np.zeros((len(rows), len(trees)), np.int32)
        row_places = np.arange(len(rows))[:, None]
        for _ in range(self.depth):
            above = rows[row_places, self.feature[trees, at]] > self.least[trees, at]
            at = np.where(above, self.high[trees, at], self.low[trees, at])
        logits = self.value[trees, at].sum(1, dtype=np.float64) + self.start
        return (1 / (1 + np.exp(-logits))).astype(np.float32)


@cache
def shipped_trees(name: str, names: tuple[str, ...], folder: Path = MODEL) -> Trees:
    """Trees of the package, or of another folder, read once a process. Raises EmbedderError."""
    return Trees.open(folder / name, names)

"""All vectors in one matrix, compared one by one: exact and without another package, for 200,000 or so."""

from __future__ import annotations

from pathlib import Path
from typing import Self

import numpy as np

from clew.errors import UsageError
from clew.foundation.arrays import Float32, Int64, load_array
from clew.index.vectors.backends.base import Nearest, check_file, check_query, check_rows, save_file


class FlatVectors:
    """`ids` int64 [n] and `vectors` float32 [n, dimension]."""

    name = "numpy"

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._ids = np.zeros(0, np.int64)
        self._vectors = np.zeros((0, dimension), np.float32)

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, ids: Int64, vectors: Float32) -> None:
        """Add vectors; see `VectorIndex`."""
        check_rows(self.dimension, ids, vectors)
        if np.isin(ids, self._ids).any():
            raise UsageError("an id is there already: remove it first")
        self._ids = np.concatenate([self._ids, ids])
        self._vectors = np.concatenate([self._vectors, vectors])

    def remove(self, ids: Int64) -> None:
        """Remove vectors; see `VectorIndex`."""
        stays = ~np.isin(self._ids, ids)
        self._ids, self._vectors = self._ids[stays], self._vectors[stays]

    def search(self, query: Float32, k: int, within: Int64 | None = None) -> Nearest:
        """Find the nearest; ties in order of the ids."""
        check_query(self.dimension, query)
        ids, vectors = self._ids, self._vectors
        if within is not None:
            is_within = np.isin(ids, within)
            ids, vectors = ids[is_within], vectors[is_within]
        difference = vectors - query
        squared = np.einsum("ij,ij->i", difference, difference)
        k = min(k, len(squared))
        near = np.flatnonzero(squared <= np.partition(squared, k - 1)[k - 1]) if k else np.zeros(0, np.int64)
        near = near[np.lexsort((ids[near], squared[near]))][:k]
        return Nearest(ids[near], np.sqrt(squared[near]))

    def save(self, path: Path) -> None:
        """Write to `path`; see `VectorIndex`."""

        def write(new_path: Path) -> None:
            with new_path.open("wb") as file:
                np.save(file, self._ids)
                np.save(file, self._vectors)

        save_file(path, self.name, self.dimension, write)

    @classmethod
    def open(cls, path: Path, dimension: int | None = None, *, writable: bool = False) -> Self:
        """Open what `save` wrote; FormatError if it is damaged or of another dimension."""
        _, file_dimension = check_file(path, cls.name, dimension)
        opened = cls(file_dimension)
        with path.open("rb") as file:
            opened._ids = load_array(file)
            opened._vectors = load_array(file)
        return opened

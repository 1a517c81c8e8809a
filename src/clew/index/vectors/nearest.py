"""What finds the vectors nearest to a query: the protocol, and faiss."""

from __future__ import annotations

import errno
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from clew.errors import FormatError, IndexAccessError, MissingExtra, UsageError
from clew.foundation.arrays import Float32, Int64
from clew.index.store.files import disk_errors


class VectorStoreError(IndexAccessError):
    """A vector database that does not answer, or refuses."""


@dataclass(frozen=True, eq=False)
class Nearest:
    """Vectors nearest to a query: `ids` int64 [k] and L2 `distances` float [k], ascending."""

    ids: Int64
    distances: NDArray[np.floating[Any]]


class VectorIndex(Protocol):
    """Vectors by id, searched by L2 distance; ids are chosen by the caller and differ."""

    @property
    def dimension(self) -> int:
        """Length of the vectors."""
        ...

    def __len__(self) -> int:
        """How many vectors there are."""
        ...

    def add(self, ids: Int64, vectors: Float32) -> None:
        """Add vectors float32 [n, dimension] with new ids; whether they are new is not checked."""
        ...

    def search(self, query: Float32, k: int) -> Nearest:
        """The `k` nearest to `query` float32 [dimension], or all there are. UsageError for another shape."""
        ...

    def save(self, path: Path) -> None:
        """Write to `path`; raises IndexAccessError."""
        ...


def check_query(dimension: int, query: Float32) -> None:
    """Raise a UsageError unless the query has the dimension."""
    if query.shape != (dimension,):
        raise UsageError(f"a query of shape {list(query.shape)}: [{dimension}] is needed")


def check_dimension(path: Path, found: int, wanted: int | None) -> None:
    """Raise a FormatError if vectors of a file are of another dimension."""
    if wanted is not None and found != wanted:
        raise FormatError(
            f"{path}: holds vectors of dimension {found}, the embedder gives {wanted}. Index again"
        )


# faiss: eight bits a component, and a part of the cells that are nearest.
#
# Components are whole numbers of one step for all, so that faiss compares bytes and makes no floats of them.
# A cell is what k-means makes; with few of them a search reads long runs of memory. What the eight bits or
# the cells cost in recall is won back by asking for more and measuring again.

LARGEST, MIDDLE = 127, 128.5
"""Steps of the largest component, and what makes them positive and rounds them when they are cut down."""
SCANNED_A_RESULT = 75
"""A search compares at least so many vectors for each one that is asked for."""
LEAST_CELLS = 205
"""Cells that a search reads at least: recall depends on their number, hardly on how many there are."""


def faiss_module() -> Any:  # noqa: ANN401
    """Import faiss; MissingExtra if it is not installed."""
    try:
        import faiss
    except ImportError as error:
        raise MissingExtra("faiss-cpu", "faiss") from error
    return faiss


class FaissVectors:
    """Compares the vectors of the nearest cells, of few cells all; `_index` is there once trained."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._index: Any = None
        self._step = 1.0

    def __len__(self) -> int:
        return 0 if self._index is None else int(self._index.ntotal)

    def train(self, vectors: Float32, count: int) -> None:
        """Choose cells and ranges from a sample of the `count` vectors that will be added."""
        faiss = faiss_module()
        # So few that finding the nearest of them costs little.
        cells = min(int(np.clip(1.3 * np.sqrt(count), 1, 4096)), len(vectors))
        bits, metric = faiss.ScalarQuantizer.QT_8bit_direct, faiss.METRIC_L2
        quantizer = faiss.IndexFlatL2(self.dimension)
        index = faiss.IndexIVFScalarQuantizer(quantizer, self.dimension, cells, bits, metric)
        index.by_residual = False
        index.cp.max_points_per_centroid = 64
        index.cp.min_points_per_centroid = 1
        index.cp.niter = 8
        self._step = float(np.float32(np.abs(vectors).max(initial=0.0) / LARGEST)) or 1.0
        index.train(self._bytes(vectors))
        index.sq.rangestat_arg = self._step  # where it is kept
        self._index = index

    def _bytes(self, vectors: Float32) -> Float32:
        """Turn vectors into what faiss cuts down to bytes: components in steps, shifted into 0 to 255."""
        return np.clip(vectors / np.float32(self._step) + np.float32(MIDDLE), 0, 255, dtype=np.float32)

    def add(self, ids: Int64, vectors: Float32) -> None:
        """Add vectors; see `VectorIndex`."""
        if self._index is None:
            self.train(vectors, len(vectors))
        index: Any = self._index
        index.add_with_ids(self._bytes(vectors), ids.astype(np.int64))

    def search(self, query: Float32, k: int) -> Nearest:
        """Find the nearest by the stored eight bits; see `VectorIndex`."""
        check_query(self.dimension, query)
        k = min(k, len(self))
        if not k:
            return Nearest(np.zeros(0, np.int64), np.zeros(0, np.float32))
        cells = self._index.nlist
        needed = int(np.ceil(SCANNED_A_RESULT * k * cells / len(self)))
        reading = faiss_module().SearchParametersIVF(nprobe=min(cells, max(needed, LEAST_CELLS)))
        squared, ids = self._index.search(self._bytes(query[None]), k, params=reading)
        is_hit = ids[0] >= 0
        return Nearest(ids[0][is_hit], np.sqrt(np.maximum(squared[0][is_hit], 0)) * self._step)

    def save(self, path: Path) -> None:
        """Write to `path`; see `VectorIndex`."""
        with disk_errors(path):
            try:
                faiss_module().write_index(self._index, str(path))
            except RuntimeError as error:  # faiss does not say which error of the system it was
                full = path.parent.is_dir() and shutil.disk_usage(path.parent).free < (1 << 20)
                raise OSError(errno.ENOSPC if full else errno.EIO, str(error)) from error

    @classmethod
    def open(cls, path: Path, dimension: int | None = None) -> Self:
        """Open what `save` wrote, mapped; FormatError if it is damaged or of another dimension."""
        faiss = faiss_module()
        try:
            index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
        except RuntimeError as error:
            raise FormatError(f"{path}: faiss cannot read it ({error}). Index the sources again") from error
        check_dimension(path, index.d, dimension)
        opened = cls(index.d)
        opened._index, opened._step = index, float(index.sq.rangestat_arg)
        return opened

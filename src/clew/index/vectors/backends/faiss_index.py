"""Backends of faiss: eight bits a component; all compared, or a part of the cells that are nearest.

Components are whole numbers of one step for all, so that faiss compares bytes and makes no floats of them. A
cell is what k-means makes; with few of them a search reads long runs of memory. What the eight bits or the
cells cost in recall is won back by asking for more and measuring again.
"""

from __future__ import annotations

import errno
import shutil
from pathlib import Path
from typing import Any, Self

import numpy as np

from clew.errors import FormatError, MissingExtra, UsageError
from clew.foundation.arrays import Float32, Int64
from clew.index.vectors.backends.base import Nearest, check_file, check_query, check_rows, save_file

LARGEST, MIDDLE = 127, 128.5
"""Steps of the largest component, and what makes them positive and rounds them when they are cut down."""
TRAINING_A_CELL = 64
"""Vectors of each cell that k-means sees."""
SCANNED_A_RESULT = 75
"""A search compares at least so many vectors for each one that is asked for."""
MEBIBYTE = 1 << 20
LEAST_CELLS = 205
"""Cells that a search reads at least: recall depends on their number, hardly on how many there are."""


def faiss_module() -> Any:  # noqa: ANN401
    """Import faiss; MissingExtra if it is not installed."""
    try:
        import faiss
    except ImportError as error:
        raise MissingExtra("faiss-cpu", "faiss") from error
    return faiss


class _FaissVectors:
    """What both backends share; `_index` is trained once the first vectors are added."""

    name = ""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._index: Any = None
        self._step = 0.0

    def _make(self, count: int) -> Any:  # noqa: ANN401
        raise NotImplementedError

    def _ids(self) -> Int64:
        raise NotImplementedError

    def __len__(self) -> int:
        return 0 if self._index is None else int(self._index.ntotal)

    def train(self, vectors: Float32, count: int) -> None:
        """Choose cells and ranges from a sample of the `count` vectors that will be added."""
        index = self._make(count)
        self._step = float(np.float32(np.abs(vectors).max(initial=0.0) / LARGEST)) or 1.0
        index.train(self._bytes(vectors))
        self._quantizer(index).rangestat_arg = self._step
        self._index = index

    def _quantizer(self, index: Any) -> Any:  # noqa: ANN401
        """Return the part of faiss that encodes vectors; the step is kept as the argument of its range."""
        raise NotImplementedError

    def _bytes(self, vectors: Float32) -> Float32:
        """Turn vectors into what faiss cuts down to bytes: components in steps, shifted into 0 to 255."""
        if not self._step:
            return np.ascontiguousarray(vectors, np.float32)
        return np.clip(vectors / np.float32(self._step) + np.float32(MIDDLE), 0, 255, dtype=np.float32)

    def add(self, ids: Int64, vectors: Float32) -> None:
        """Add vectors; the first ones train the index unless `train` did. See `VectorIndex`."""
        check_rows(self.dimension, ids, vectors)
        if not len(ids):
            return
        if self._index is None:
            self.train(vectors, len(vectors))
        if np.isin(ids, self._ids()).any():
            raise UsageError("an id is there already: remove it first")
        self.add_new(ids, vectors)

    def add_new(self, ids: Int64, vectors: Float32) -> None:
        """Add vectors whose ids are known to be new, without looking; for building."""
        self._index.add_with_ids(self._bytes(vectors), ids.astype(np.int64))

    def remove(self, ids: Int64) -> None:
        """Remove vectors; see `VectorIndex`."""
        if self._index is not None:
            self._index.remove_ids(np.ascontiguousarray(ids, np.int64))

    def search(self, query: Float32, k: int, within: Int64 | None = None) -> Nearest:
        """Find the nearest by the stored eight bits; see `VectorIndex`."""
        check_query(self.dimension, query)
        k = min(k, len(self) if within is None else len(within))
        if not k or self._index is None:
            return Nearest(np.zeros(0, np.int64), np.zeros(0, np.float32))
        squared, ids = self._index.search(self._bytes(query[None]), k, params=self._reading(k, within))
        is_hit = ids[0] >= 0
        return Nearest(ids[0][is_hit], np.sqrt(np.maximum(squared[0][is_hit], 0)) * (self._step or 1.0))

    def _reading(self, k: int, within: Int64 | None) -> Any:  # noqa: ANN401
        """Say how much a search for `k` reads."""
        faiss = faiss_module()
        return None if within is None else faiss.SearchParameters(sel=faiss.IDSelectorBatch(within))

    def save(self, path: Path) -> None:
        """Write to `path`; see `VectorIndex`."""
        faiss = faiss_module()
        index = self._index if self._index is not None else self._make(0)

        def write(new_path: Path) -> None:
            try:
                faiss.write_index(index, str(new_path))
            except RuntimeError as error:  # faiss does not say which error of the system it was
                full = path.parent.is_dir() and shutil.disk_usage(path.parent).free < MEBIBYTE
                raise OSError(errno.ENOSPC if full else errno.EIO, str(error)) from error

        save_file(path, self.name, self.dimension, write)

    @classmethod
    def open(cls, path: Path, dimension: int | None = None, *, writable: bool = False) -> Self:
        """Open what `save` wrote, mapped unless `writable`; FormatError as of `check_file`."""
        faiss = faiss_module()
        _, file_dimension = check_file(path, cls.name, dimension)
        opened = cls(file_dimension)
        try:
            index = faiss.read_index(str(path), 0 if writable else faiss.IO_FLAG_MMAP_IFC)
        except RuntimeError as error:
            raise FormatError(f"{path}: faiss cannot read it ({error}). Index the sources again") from error
        opened._index = index if index.is_trained else None
        # 0 in older files, which hold a range for each component instead.
        opened._step = float(opened._quantizer(index).rangestat_arg)
        return opened


class FaissFlat(_FaissVectors):
    """All vectors are compared: quick up to about a million."""

    name = "faiss-flat"

    def _make(self, count: int) -> Any:  # noqa: ANN401
        faiss = faiss_module()
        bytes_ = faiss.ScalarQuantizer.QT_8bit_direct
        return faiss.IndexIDMap2(faiss.IndexScalarQuantizer(self.dimension, bytes_, faiss.METRIC_L2))

    def _quantizer(self, index: Any) -> Any:  # noqa: ANN401
        return faiss_module().downcast_index(index.index).sq

    def _ids(self) -> Int64:
        return faiss_module().vector_to_array(self._index.id_map)


class FaissCells(_FaissVectors):
    """The nearest of some cells are compared: for more than a million."""

    name = "faiss-ivf"

    def _make(self, count: int) -> Any:  # noqa: ANN401
        faiss = faiss_module()
        # So few that finding the nearest of them costs little.
        cells = int(np.clip(1.3 * np.sqrt(count), 4, 4096))
        quantizer = faiss.IndexFlatL2(self.dimension)
        index = faiss.IndexIVFScalarQuantizer(
            quantizer, self.dimension, cells, faiss.ScalarQuantizer.QT_8bit_direct, faiss.METRIC_L2
        )
        index.by_residual = False
        index.cp.max_points_per_centroid = TRAINING_A_CELL
        index.cp.niter = 8
        return index

    def _quantizer(self, index: Any) -> Any:  # noqa: ANN401
        return index.sq

    def _ids(self) -> Int64:
        faiss = faiss_module()
        lists = self._index.invlists
        sizes = [lists.list_size(i) for i in range(self._index.nlist)]
        parts = [faiss.rev_swig_ptr(lists.get_ids(i), size).copy() for i, size in enumerate(sizes) if size]
        return np.concatenate([np.zeros(0, np.int64), *parts])

    def _reading(self, k: int, within: Int64 | None) -> Any:  # noqa: ANN401
        faiss = faiss_module()
        cells = self._index.nlist
        if within is not None:
            return faiss.SearchParametersIVF(sel=faiss.IDSelectorBatch(within), nprobe=cells)
        needed = SCANNED_A_RESULT * k * cells / max(1, len(self))
        cells_read = min(cells, max(int(np.ceil(needed)), LEAST_CELLS))
        return faiss.SearchParametersIVF(nprobe=cells_read)

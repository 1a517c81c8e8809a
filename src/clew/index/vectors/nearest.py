"""What finds the vectors nearest to a query: the protocol, the envelope of its files, and faiss."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import struct
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from clew.errors import FormatError, IndexAccessError, InputError, MissingExtra, UsageError
from clew.foundation.arrays import Float32, Int64
from clew.index.store.files import disk_errors, sync_path

# The protocol of vector backends, and the envelope of their files.
#
# A file is what the backend writes, then a trailer: a mark, the length of all before it, the backend, the
# dimension, and a checksum of sampled blocks. It is written aside and put in place at once.

_MARK = b"CLEWVEC1"
_TRAILER = struct.Struct("<8sq16si16s")
_BLOCK, _SAMPLES = 4096, 16


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
        """Write to `path`, all or nothing; raises IndexAccessError."""
        ...


def check_query(dimension: int, query: Float32) -> None:
    """Raise a UsageError unless the query has the dimension."""
    if query.shape != (dimension,):
        raise UsageError(f"a query of shape {list(query.shape)}: [{dimension}] is needed")


def save_file(path: Path, backend: str, dimension: int, write: Callable[[Path], object]) -> None:
    """Let `write` write a file, seal it, and put it in place of `path`; raises IndexAccessError."""
    new_path = path.with_name(f"{path.name}.new")
    with disk_errors(path):
        try:
            write(new_path)
            length = new_path.stat().st_size
            with new_path.open("r+b") as file:
                digest = _sample_digest(file, length)
                file.seek(length)
                file.write(_TRAILER.pack(_MARK, length, backend.encode(), dimension, digest))
            sync_path(new_path)
            os.replace(new_path, path)
            sync_path(path.parent)
        finally:
            new_path.unlink(missing_ok=True)


def check_file(path: Path, backends: Collection[str] = (), dimension: int | None = None) -> tuple[str, int]:
    """(backend, dimension) of a file; FormatError if it is damaged or of none of the `backends` expected."""
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - _TRAILER.size))
            trailer = file.read()
            if len(trailer) < _TRAILER.size or not trailer.startswith(_MARK):
                raise FormatError(f"{path}: not a file of vectors, or truncated. Index the sources again")
            _, length, name, file_dimension, digest = _TRAILER.unpack(trailer)
            if length + _TRAILER.size != size or _sample_digest(file, length) != digest:
                raise FormatError(f"{path}: damaged. Index the sources again")
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file of vectors") from error
    file_backend = name.rstrip(b"\0").decode()
    if backends and file_backend not in backends:
        names = " or ".join(backends)
        raise FormatError(f"{path}: holds vectors of the backend {file_backend}, not {names}")
    if dimension is not None and file_dimension != dimension:
        raise FormatError(
            f"{path}: holds vectors of dimension {file_dimension}, the embedder gives {dimension}. Index "
            "again"
        )
    return file_backend, file_dimension


def _sample_digest(file: BinaryIO, length: int) -> bytes:
    """Digest of blocks spread over the first `length` bytes."""
    digest = hashlib.blake2b(digest_size=16)
    for i in range(_SAMPLES):
        start = max(0, length - _BLOCK) * i // (_SAMPLES - 1)
        file.seek(start)
        digest.update(file.read(min(_BLOCK, length - start)))
    return digest.digest()


# faiss: eight bits a component; all compared, or a part of the cells that are nearest.
#
# Components are whole numbers of one step for all, so that faiss compares bytes and makes no floats of them.
# A cell is what k-means makes; with few of them a search reads long runs of memory. What the eight bits or
# the cells cost in recall is won back by asking for more and measuring again.

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


class FaissVectors:
    """Compares all vectors, which is quick up to about a million, or with `cells` those of the nearest cells.

    There is an `_index` after training, by `train` or by the first vectors that are added.
    """

    FLAT, CELLS = "faiss-flat", "faiss-ivf"

    def __init__(self, dimension: int, *, cells: bool = False) -> None:
        self.dimension, self.name = dimension, self.CELLS if cells else self.FLAT
        self._index: Any = None
        self._step = 0.0

    def __len__(self) -> int:
        return 0 if self._index is None else int(self._index.ntotal)

    def _make(self, count: int) -> Any:  # noqa: ANN401
        faiss = faiss_module()
        bits, metric = faiss.ScalarQuantizer.QT_8bit_direct, faiss.METRIC_L2
        if self.name == self.FLAT:
            return faiss.IndexIDMap2(faiss.IndexScalarQuantizer(self.dimension, bits, metric))
        # So few that finding the nearest of them costs little.
        cells = int(np.clip(1.3 * np.sqrt(count), 4, 4096))
        quantizer = faiss.IndexFlatL2(self.dimension)
        index = faiss.IndexIVFScalarQuantizer(quantizer, self.dimension, cells, bits, metric)
        index.by_residual = False
        index.cp.max_points_per_centroid = TRAINING_A_CELL
        index.cp.niter = 8
        return index

    def _quantizer(self, index: Any) -> Any:  # noqa: ANN401
        """Return the part of faiss that encodes vectors; the step is kept as the argument of its range."""
        return index.sq if self.name == self.CELLS else faiss_module().downcast_index(index.index).sq

    def train(self, vectors: Float32, count: int) -> None:
        """Choose cells and ranges from a sample of the `count` vectors that will be added."""
        index = self._make(count)
        self._step = float(np.float32(np.abs(vectors).max(initial=0.0) / LARGEST)) or 1.0
        index.train(self._bytes(vectors))
        self._quantizer(index).rangestat_arg = self._step
        self._index = index

    def _bytes(self, vectors: Float32) -> Float32:
        """Turn vectors into what faiss cuts down to bytes: components in steps, shifted into 0 to 255."""
        if not self._step:
            return np.ascontiguousarray(vectors, np.float32)
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
        reading = None
        if self.name == self.CELLS:
            cells = self._index.nlist
            needed = int(np.ceil(SCANNED_A_RESULT * k * cells / len(self)))
            reading = faiss_module().SearchParametersIVF(nprobe=min(cells, max(needed, LEAST_CELLS)))
        squared, ids = self._index.search(self._bytes(query[None]), k, params=reading)
        is_hit = ids[0] >= 0
        return Nearest(ids[0][is_hit], np.sqrt(np.maximum(squared[0][is_hit], 0)) * (self._step or 1.0))

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
    def open(cls, path: Path, dimension: int | None = None) -> Self:
        """Open what `save` wrote, mapped; FormatError as of `check_file`."""
        name, file_dimension = check_file(path, (cls.FLAT, cls.CELLS), dimension)
        faiss, opened = faiss_module(), cls(file_dimension, cells=name == cls.CELLS)
        try:
            index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
        except RuntimeError as error:
            raise FormatError(f"{path}: faiss cannot read it ({error}). Index the sources again") from error
        opened._index = index if index.is_trained else None
        # 0 in older files, which hold a range for each component instead.
        opened._step = float(opened._quantizer(index).rangestat_arg)
        return opened

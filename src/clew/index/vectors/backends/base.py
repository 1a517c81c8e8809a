"""The protocol of vector backends, and the envelope of their files.

A file is what the backend writes, then a trailer: a mark, the length of all before it, the backend, the
dimension, and a checksum of sampled blocks. It is written aside and put in place at once.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

from clew.errors import FormatError, IndexAccessError, InputError, UsageError
from clew.foundation.arrays import Float32, Int64
from clew.index.store.files import disk_errors, sync_path

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
        """Add vectors, float32 [n, dimension]; UsageError for another shape or an id that is there."""
        ...

    def remove(self, ids: Int64) -> None:
        """Remove vectors; ids that are not there are passed over."""
        ...

    def search(self, query: Float32, k: int, within: Int64 | None = None) -> Nearest:
        """The `k` nearest to `query` float32 [dimension], or all there are, of the ids `within` if given."""
        ...

    def save(self, path: Path) -> None:
        """Write to `path`, all or nothing; raises IndexAccessError."""
        ...


def check_rows(dimension: int, ids: Int64, vectors: Float32) -> None:
    """Raise a UsageError unless the shapes fit and the ids differ."""
    if vectors.shape != (len(ids), dimension):
        raise UsageError(f"vectors of shape {list(vectors.shape)}: [{len(ids)}, {dimension}] is needed")
    if len(np.unique(ids)) < len(ids):
        raise UsageError("an id is given twice")


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


def check_file(path: Path, backend: str | None = None, dimension: int | None = None) -> tuple[str, int]:
    """(backend, dimension) of a file; FormatError if it is damaged or not what is expected."""
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
    if backend is not None and file_backend != backend:
        raise FormatError(f"{path}: holds vectors of the backend {file_backend}, not {backend}")
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

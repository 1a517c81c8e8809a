"""Which backend for how many vectors, by name or by what wrote a file."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from clew.errors import MissingExtra, UsageError
from clew.foundation.redaction import keep_address, keep_secret
from clew.index.vectors.milvus import MilvusPlace, MilvusVectors
from clew.index.vectors.nearest import FaissCells, FaissFlat, FlatVectors, VectorIndex, check_file

Backend = type[FlatVectors] | type[FaissFlat] | type[FaissCells] | type[MilvusVectors]
BACKENDS: tuple[Backend, ...] = (FlatVectors, FaissFlat, FaissCells, MilvusVectors)
"""All backends; adding one is a line here."""
FEW_VECTORS, MANY = 200_000, 500_000
"""Vectors up to which all are compared by NumPy, and by faiss."""


VectorKind = Literal["auto", "numpy", "faiss", "milvus"]


@dataclass(frozen=True, slots=True)
class VectorChoice:
    """With what an index searches its vectors; `auto` is NumPy for few and faiss, if installed, for many.

    `milvus` holds all vectors at `place`, and none of them are in the index directory. Raises
    UsageError without a place, MissingExtra if the package is not installed.
    """

    kind: VectorKind = "auto"
    place: MilvusPlace | None = None

    def __post_init__(self) -> None:
        if self.kind == "faiss" and not has_faiss():
            raise MissingExtra("faiss-cpu", "faiss")
        if self.kind == "milvus" and self.place is None:
            raise UsageError(
                "--vectors milvus needs a Milvus. Give --milvus http://HOST:19530, --milvus NAME.db for a "
                "file of milvus-lite, or $MILVUS_URI"
            )

    def uses_faiss(self, count: int) -> bool:
        """Whether so many vectors are searched by faiss."""
        return self.kind == "faiss" or (self.kind == "auto" and count > FEW_VECTORS and has_faiss())


@dataclass(frozen=True, slots=True)
class VectorAccess:
    """How to reach a vector database: the URI instead of the one that an index has noted, and the token."""

    uri: str | None = None
    token: str | None = None

    def __post_init__(self) -> None:
        """Remember what must not be shown."""
        keep_secret(self.token)
        keep_address(self.uri)


def backend_named(name: str) -> Backend:
    """Return the backend of a name; UsageError if there is none."""
    for backend in BACKENDS:
        if backend.name == name:
            return backend
    raise UsageError(f"unknown backend {name!r}. Backends are: {', '.join(b.name for b in BACKENDS)}")


def faiss_for(count: int) -> type[FaissFlat] | type[FaissCells]:
    """Return the backend of faiss for so many vectors."""
    return FaissFlat if count <= MANY else FaissCells


def has_faiss() -> bool:
    """Whether faiss is installed."""
    return find_spec("faiss") is not None


def open_vectors(
    path: Path, dimension: int | None = None, *, writable: bool = False, access: VectorAccess | None = None
) -> VectorIndex:
    """Open a file by whichever backend wrote it; FormatError if it is damaged or of another dimension.

    `access` is for vectors in a database. Raises VectorStoreError if that does not answer.
    """
    name, _ = check_file(path)
    backend = backend_named(name)
    if not issubclass(backend, MilvusVectors):
        return backend.open(path, dimension, writable=writable)
    return open_collection(path, dimension, writable=writable, access=access)


def open_collection(
    path: Path, dimension: int | None = None, *, writable: bool = False, access: VectorAccess | None = None
) -> MilvusVectors:
    """Open a file that says where a collection of Milvus is; raises as `open_vectors`."""
    access = access or VectorAccess()
    place = None if access.uri is None else MilvusPlace(access.uri, access.token)
    return MilvusVectors.open(path, dimension, writable=writable, place=place, token=access.token)

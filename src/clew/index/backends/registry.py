"""Which backend for how many vectors, by name or by what wrote a file."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from clew.errors import UsageError
from clew.index.backends.base import VectorIndex, check_file
from clew.index.backends.faiss_index import FaissCells, FaissFlat
from clew.index.backends.flat import FlatVectors

BACKENDS: tuple[type[FlatVectors] | type[FaissFlat] | type[FaissCells], ...] = (
    FlatVectors,
    FaissFlat,
    FaissCells,
)
"""All backends; adding one is a line here."""
FEW, MANY = 200_000, 500_000
"""Vectors up to which all are compared by NumPy, and by faiss."""


def backend_named(name: str) -> type[FlatVectors] | type[FaissFlat] | type[FaissCells]:
    """Return the backend of a name; UsageError if there is none."""
    for backend in BACKENDS:
        if backend.name == name:
            return backend
    raise UsageError(f"unknown backend {name!r}. Backends are: {', '.join(b.name for b in BACKENDS)}")


def backend_for(count: int) -> str:
    """Name the backend for so many vectors."""
    if count <= FEW:
        return FlatVectors.name
    return FaissFlat.name if count <= MANY else FaissCells.name


def has_faiss() -> bool:
    """Whether faiss is installed."""
    return find_spec("faiss") is not None


def open_vectors(path: Path, dimension: int | None = None, *, writable: bool = False) -> VectorIndex:
    """Open a file by whichever backend wrote it; FormatError if it is damaged or of another dimension."""
    name, _ = check_file(path)
    return backend_named(name).open(path, dimension, writable=writable)

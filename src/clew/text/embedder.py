"""The protocol of embedders: texts in, unit vectors out. The adapters are in `clew.text.embedders`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from clew.errors import EmbedderError
from clew.foundation.arrays import Float32

PROBE_TEXTS = ("city", "written by", "date of birth", "What is it made of?")
CLEAR_LEAD = 0.01
"""Lead of a largest component that counts in a fingerprint; endpoints' vectors vary by about 1e-4."""


class Embedder(Protocol):
    """What turns texts into vectors whose dot product is their similarity in meaning."""

    @property
    def name(self) -> str:
        """The spec that makes this embedder again, as in `clew-static` or `openai/text-embedding-3-small`."""
        ...

    @property
    def dimension(self) -> int:
        """Length of the vectors."""
        ...

    @property
    def fingerprint(self) -> str:
        """A hash that differs between embedders whose vectors must not be mixed."""
        ...

    def embed(self, texts: Sequence[str]) -> Float32:
        """Embed texts: float32 [len(texts), dimension].

        Rows have length 1, or are 0 for a text without content (at least: a blank one). Raises EmbedderError:
        the model or its endpoint failed.
        """
        ...


@runtime_checkable
class Additive(Protocol):
    """An embedder whose vector of a text is the sum of its words' vectors, scaled to length 1."""

    def sums(self, texts: Sequence[str]) -> Float32:
        """Sum the words' vectors, not scaled: float32 [len(texts), dimension]."""
        ...


def unit_rows(vectors: Float32) -> Float32:
    """Scale rows to length 1, float32 [n, d]; zero rows stay zero."""
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    return np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)


def checked_rows(vectors: NDArray[np.generic], count: int, dimension: int, name: str) -> Float32:
    """What a model returned as unit rows; EmbedderError if it is not [count, dimension], or not finite."""
    if vectors.shape != (count, dimension):
        raise EmbedderError(
            f"{name} returned an array of shape {vectors.shape} where {(count, dimension)} was expected. "
            "Check that the model is an embedding model and is the one that made the index."
        )
    rows = vectors.astype(np.float32)
    if not np.isfinite(rows).all():
        raise EmbedderError(f"{name} returned a vector with a value that is not a finite number.")
    return unit_rows(rows)


def with_content(texts: Sequence[str]) -> list[int]:
    """Return the positions of the texts that are not blank; the others have the zero vector."""
    return [i for i, text in enumerate(texts) if text.strip()]


def in_batches(
    embedder: Embedder,
    texts: Sequence[str],
    order: Sequence[int],
    batch: int,
    run: Callable[[list[str]], NDArray[np.generic]],
) -> Float32:
    """Embed the texts at `order` by `run`, `batch` at a time: float32 [len(texts), dimension], others 0.

    Raises as `checked_rows`.
    """
    vectors = np.zeros((len(texts), embedder.dimension), np.float32)
    for start in range(0, len(order), batch):
        positions = order[start : start + batch]
        rows = run([texts[i] for i in positions])
        vectors[positions] = checked_rows(rows, len(positions), embedder.dimension, embedder.name)
    return vectors


def probe_fingerprint(embedder: Embedder) -> str:
    """Fingerprint a model whose weights cannot be read: its name, dimension and answers to a few texts.

    Of each answer only position and sign of the largest component count, if it leads clearly: noise is small.
    """
    parts = [embedder.name, str(embedder.dimension)]
    for vector in embedder.embed(PROBE_TEXTS):
        order = np.argsort(-np.abs(vector))
        first = int(order[0])
        second = abs(float(vector[order[1]])) if len(order) > 1 else 0.0
        is_clear = abs(float(vector[first])) - second > CLEAR_LEAD
        parts.append(f"{first}{'+' if vector[first] > 0 else '-'}" if is_clear else "")
    return hash_of("|".join(parts).encode("utf-8"))


def hash_of(*contents: bytes | memoryview) -> str:
    """Return `sha256:` and 16 hex digits of the contents together."""
    digest = hashlib.sha256()
    for content in contents:
        digest.update(content)
    return f"sha256:{digest.hexdigest()[:16]}"

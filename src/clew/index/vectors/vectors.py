"""Vectors of what entities and relations are called, as an index stores them."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import Float32, Int8, chunks_of
from clew.graph.graph import Graph
from clew.text.embedder import Embedder
from clew.text.labels import readable, relation_text

ENTITY_VECTORS, ENTITY_SCALES = "entity_vectors.q", "entity_vectors.scale"
RELATION_VECTORS = "relation_vectors"
TRIPLE_VECTORS, TRIPLE_SCALES = "triple_vectors.q", "triple_vectors.scale"
TRIPLE_IDS, IN_MILVUS = "triple_vectors.ids", "in_milvus"
"""Of an index whose vectors are in Milvus: ids of triples there, and what else it must know of them. Its
arrays of vectors of entities and triples have no rows."""
_BATCH = 4096


def vector_part(
    graph: Graph, embedder: Embedder, first: int, stop: int, progress: Callable[[int], None] | None = None
) -> dict[str, NDArray[np.generic]]:
    """Embed the labels of the nodes [first, stop): `q` int8 [n, d] and `scale` float32 [n]."""
    quantised = np.empty((stop - first, embedder.dimension), np.int8)
    scales = np.empty(stop - first, np.float32)
    for start, end in chunks_of(first, stop, _BATCH):
        texts = [readable(graph.labels[i]) for i in range(start, end)]
        rows = slice(start - first, end - first)
        quantised[rows], scales[rows] = quantise(embedder.embed(texts))
        if progress is not None:
            progress(end)
    return {"q": quantised, "scale": scales}


def relations_of(graph: Graph, embedder: Embedder) -> Float32:
    """Embed the labels of the relations, float32 [relations, d]."""
    texts = [relation_text(label) for label in graph.relation_labels]
    if not texts:
        return np.empty((0, embedder.dimension), np.float32)
    return embedder.embed(texts).astype(np.float32, copy=False)


def by_triple(sections: Collection[str]) -> tuple[str, ...]:
    """Which sections of an index have a row for each slot of its triples, beside those of its graph."""
    if TRIPLE_IDS in sections:
        return (TRIPLE_IDS,)
    return (TRIPLE_VECTORS, TRIPLE_SCALES) if TRIPLE_VECTORS in sections else ()


def quantise(vectors: Float32) -> tuple[Int8, Float32]:
    """Round each row to int8 [n, d] with one scale, float32 [n]; the error is at most half the scale."""
    scales = np.abs(vectors).max(axis=1, initial=0) / 127
    steps = np.divide(vectors, scales[:, None], out=np.zeros_like(vectors), where=scales[:, None] > 0)
    return np.rint(steps).astype(np.int8), scales.astype(np.float32)


def dequantised(q: NDArray[np.generic], scale: NDArray[np.generic]) -> Float32:
    """Stored rows as they are compared: float32 [n, d]."""
    return q.astype(np.float32) * scale.astype(np.float32, copy=False)[:, None]

"""Entities by the vectors of their names: what a backend finds is measured exactly; or Milvus is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from clew.errors import FormatError
from clew.foundation.arrays import Float32, Int8, chunks_of
from clew.graph.match.distances import Rounded
from clew.graph.match.query import read_only
from clew.index.store.directory import Index
from clew.index.vectors.backends.base import Nearest, VectorIndex
from clew.index.vectors.backends.milvus import MOST_RESULTS, MilvusVectors
from clew.index.vectors.backends.registry import faiss_for, open_vectors
from clew.index.vectors.vectors import ENTITY_SCALES, ENTITY_VECTORS, dequantised

ENTITY_SEARCH, SEARCH_FILE = "entity_search", "entity_search.faiss"
_BATCH = 1 << 17
_SAMPLE = 1 << 18
_MEASURED_FIRST = 1 << 16
MORE, AT_LEAST = 1.125, 16
"""So many times and so many more vectors than are wanted are asked of the backend, and measured by those that
are stored: both have eight bits a component, so that the order of near ones hardly differs."""
THREADS = 2
"""Threads that measure all entities."""


def build_search(
    path: Path,
    quantised: NDArray[np.generic],
    scales: NDArray[np.generic],
    progress: Callable[[int], None] | None = None,
) -> None:
    """Write the backend of stored vectors (int8 [n, d] times float32 [n]) to `path`, in batches."""
    count, dimension = quantised.shape
    index = faiss_for(count)(dimension)
    # In order of the rows, so that a mapped file is read in one direction; the seed keeps builds equal.
    rows = np.sort(np.random.default_rng(0).choice(count, min(count, _SAMPLE), replace=False))
    index.train(dequantised(quantised[rows], scales[rows]), count)
    for first, stop in chunks_of(0, count, _BATCH):
        vectors = dequantised(quantised[first:stop], scales[first:stop])
        index.add_new(np.arange(first, stop), vectors)
        if progress is not None:
            progress(stop)
    index.save(path)


def nearest_stored(
    backend: VectorIndex,
    quantised: NDArray[np.generic],
    scales: NDArray[np.generic],
    query: Float32,
    k: int,
    *,
    also: NDArray[np.integer] | None = None,
) -> Nearest:
    """Find the `k` nearest among what the backend proposes, by exact distances from the stored vectors.

    Vectors that are newer than the backend, and those in the rows `also`, are compared too.
    """
    from clew.graph.match.kernels.measure import distances_from

    newer = np.arange(min(len(backend), len(quantised)), len(quantised))
    proposals = [backend.search(query, round(MORE * k) + AT_LEAST).ids, newer]
    if also is not None:
        proposals.append(also.astype(np.int64))
    proposed = np.unique(np.concatenate(proposals))
    rounded = Rounded.of(query)
    rows, scale = read_only(quantised, np.int8), read_only(scales, np.float32)
    distances = distances_from(rows, scale, proposed, rounded.values, rounded.plain)
    order = in_order(distances)[:k]
    return Nearest(proposed[order], distances[order])


def in_order(distances: NDArray[np.float64]) -> NDArray[np.int64]:
    """Places of the distances in ascending order, equal ones as they come; those to 1e-9 count as equal.

    Numbers with the place in their last bits are sorted, which takes a tenth of the time of a stable sort.
    """
    bits = len(distances).bit_length()
    steps = np.rint(distances * 1e9)
    if not len(steps) or not steps.max() < 2.0 ** (63 - bits):
        return np.argsort(distances, kind="stable")
    keys = steps.astype(np.int64) << bits | np.arange(len(steps))
    keys.sort()
    return keys & ((1 << bits) - 1)


@dataclass(frozen=True, eq=False)
class FoundByFile:
    """A file proposes, and the stored vectors, `rows` int8 [nodes, d] times `scale` float32, measure."""

    file: VectorIndex
    rows: Int8
    scale: Float32

    def nearest(self, query: Float32, k: int) -> Nearest:
        """Find the `k` nearest to `query` float32 [d], by L2 distances, ascending; may overlook some."""
        return nearest_stored(self.file, self.rows, self.scale, query, k)

    def nearest_of_all(self, queries: Sequence[Float32], k: int) -> list[Nearest]:
        """About `k` nearest to each query: all within a sampled distance, measured on `THREADS` threads."""
        from clew.graph.match.kernels.measure import distances_from, measure_all

        rounded, count = [Rounded.of(query) for query in queries], len(self.rows)
        rows, scale = read_only(self.rows, np.int8), read_only(self.scale, np.float32)
        sample = np.arange(0, count, max(1, count // _MEASURED_FIRST))
        rank = k * len(sample) // count
        limits = np.full(len(queries), np.inf)
        for i, query in enumerate(rounded if rank < len(sample) else ()):
            near = distances_from(rows, scale, sample, query.values, query.plain)
            limits[i] = np.partition(near, rank)[rank]
        values, plain = np.stack([r.values for r in rounded]), np.stack([r.plain for r in rounded])
        cuts = np.linspace(0, count, THREADS + 1).astype(np.int64).tolist()

        def part(i: int) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int64]]:
            span = slice(cuts[i], cuts[i + 1])
            ids, distances, counts = measure_all(rows[span], scale[span], values, plain, limits)
            return ids + np.int32(span.start), distances, counts

        with ThreadPoolExecutor(THREADS) as pool:
            parts = list(pool.map(part, range(THREADS)))

            def pick(i: int) -> Nearest:
                ids = np.concatenate([ids[i, : counts[i]] for ids, _, counts in parts])
                distances = np.concatenate([measured[i, : counts[i]] for _, measured, counts in parts])
                order = in_order(distances)
                return Nearest(ids[order].astype(np.int64), distances[order])

            return list(pool.map(pick, range(len(queries))))


@dataclass(frozen=True, eq=False)
class FoundInMilvus:
    """Milvus has the vectors of all `nodes`, and finds at most `MOST_RESULTS` of them."""

    vectors: MilvusVectors
    nodes: int

    def nearest(self, query: Float32, k: int) -> Nearest:
        """Find the `k` nearest to `query` float32 [d], by L2 distance, ascending. Raises VectorStoreError."""
        k = min(k, self.nodes, MOST_RESULTS)
        # A newer generation, or an update that was killed, has added others.
        return self.vectors.search_known(query, k, lambda ids: ids < self.nodes, k)

    def nearest_of_all(self, queries: Sequence[Float32], k: int) -> list[Nearest]:
        """Find the `k` nearest to each query, or as many as Milvus gives. Raises VectorStoreError."""
        return [self.nearest(query, k) for query in queries]


EntitySearch = FoundByFile | FoundInMilvus


def open_entity_search(index: Index) -> EntitySearch | None:
    """What searches the entities; None where all are compared. Raises FormatError, VectorStoreError."""
    if ENTITY_SEARCH not in index.files:
        return None
    rows, scales = index.vectors(ENTITY_VECTORS, ENTITY_SCALES)
    opened = open_vectors(index.files[ENTITY_SEARCH], rows.shape[1], access=index.access)
    if not isinstance(opened, MilvusVectors):
        return FoundByFile(opened, rows, scales)
    check_whole(index, opened, index.graph.nodes)
    return FoundInMilvus(opened, index.graph.nodes)


def check_whole(index: Index, vectors: MilvusVectors, count: int) -> None:
    """Raise FormatError if Milvus holds fewer vectors than the index has."""
    stored = len(vectors)
    if stored < count:
        raise FormatError(
            f"{index.path}: Milvus at {vectors.place.uri} holds {stored:,} of {count:,} vectors in "
            f"{vectors.collection}. Give the right one in $MILVUS_URI, or index the sources again"
        )

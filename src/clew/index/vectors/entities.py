"""Vectors of what entities and relations are called: entities and distances by them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from clew.errors import FormatError
from clew.foundation.arrays import Float32, Int8, Int32, chunks_of
from clew.graph.graph import Graph
from clew.graph.match.distances import (
    Distance,
    Distances,
    Mask,
    Measure,
    NearestEntities,
    Rounded,
    distances_from,
)
from clew.graph.match.query import read_only
from clew.index.store.directory import Index
from clew.index.vectors.backends import (
    MOST_RESULTS,
    FaissVectors,
    MilvusVectors,
    Nearest,
    VectorIndex,
    open_vectors,
)
from clew.text.embedders import Embedder
from clew.text.normalise import normalise
from clew.text.verbalise import readable, relation_text
from clew.types import PatternEdge, PatternNode

# Vectors of what entities and relations are called, as an index stores them.

ENTITY_VECTORS, ENTITY_SCALES = "entity_vectors.q", "entity_vectors.scale"
RELATION_VECTORS = "relation_vectors"
TRIPLE_VECTORS, TRIPLE_SCALES = "triple_vectors.q", "triple_vectors.scale"
TRIPLE_IDS, IN_MILVUS = "triple_vectors.ids", "in_milvus"
"""Of an index whose vectors are in Milvus: ids of triples there, and what else it must know of them. Its
arrays of vectors of entities and triples have no rows."""
TEXTS_AT_ONCE = 4096
"""Texts that are embedded at a time."""


def vector_part(
    graph: Graph, embedder: Embedder, first: int, stop: int, progress: Callable[[int], None] | None = None
) -> dict[str, NDArray[np.generic]]:
    """Embed the labels of the nodes [first, stop): `q` int8 [n, d] and `scale` float32 [n]."""
    quantised = np.empty((stop - first, embedder.dimension), np.int8)
    scales = np.empty(stop - first, np.float32)
    for start, end in chunks_of(first, stop, TEXTS_AT_ONCE):
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


def quantise(vectors: Float32) -> tuple[Int8, Float32]:
    """Round each row to int8 [n, d] with one scale, float32 [n]; the error is at most half the scale."""
    scales = np.abs(vectors).max(axis=1, initial=0) / 127
    steps = np.divide(vectors, scales[:, None], out=np.zeros_like(vectors), where=scales[:, None] > 0)
    return np.rint(steps).astype(np.int8), scales.astype(np.float32)


def dequantised(q: NDArray[np.generic], scale: NDArray[np.generic]) -> Float32:
    """Stored rows as they are compared: float32 [n, d]."""
    return q.astype(np.float32) * scale.astype(np.float32, copy=False)[:, None]


# Entities by the vectors of their names: what a backend finds is measured exactly; or Milvus is asked.

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
    index = FaissVectors(dimension)
    # In order of the rows, so that a mapped file is read in one direction; the seed keeps builds equal.
    rows = np.sort(np.random.default_rng(0).choice(count, min(count, _SAMPLE), replace=False))
    index.train(dequantised(quantised[rows], scales[rows]), count)
    for first, stop in chunks_of(0, count, _BATCH):
        vectors = dequantised(quantised[first:stop], scales[first:stop])
        index.add(np.arange(first, stop), vectors)
        if progress is not None:
            progress(stop)
    index.save(path)


def in_order(distances: NDArray[np.float64]) -> NDArray[np.int64]:
    """Places of the distances in ascending order; those within 1e-9 are equal and stay as they come."""
    bits = len(distances).bit_length()
    steps = np.rint(distances * 1e9)
    if not len(steps) or not steps.max() < 2.0 ** (63 - bits):
        return np.argsort(distances, kind="stable")
    keys = steps.astype(np.int64) << bits | np.arange(len(steps))
    keys.sort()
    return keys & ((1 << bits) - 1)


@dataclass(frozen=True, eq=False)
class FoundByFile:
    """A file proposes nodes, and stored vectors rank them and the rows `also`, which it has old vectors of.

    Vectors are `rows` int8 [nodes, d] times `scale` float32.
    """

    file: VectorIndex
    rows: Int8
    scale: Float32
    also: Int32 | None = None

    def nearest(self, query: Float32, k: int) -> Nearest:
        """The `k` nearest to `query` float32 [d], by exact L2 distances, ascending; may overlook some."""
        from clew.graph.match.kernels.measure import distances_from

        newer = np.arange(min(len(self.file), len(self.rows)), len(self.rows))
        proposals = [self.file.search(query, round(MORE * k) + AT_LEAST).ids, newer]
        if self.also is not None:
            proposals.append(self.also.astype(np.int64))
        proposed = np.unique(np.concatenate(proposals))
        rounded = Rounded.of(query)
        rows, scale = read_only(self.rows, np.int8), read_only(self.scale, np.float32)
        distances = distances_from(rows, scale, proposed, rounded.values, rounded.plain)
        order = in_order(distances)[:k]
        return Nearest(proposed[order], distances[order])

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


# Distances between the texts of a pattern and what an index holds, by the vectors that it stores.

CANDIDATE_STEPS = ((256, 256), (4096, 4096), (65_536, 16_384))
"""(wanted, listed) candidates of a name in an index that has a backend: a few more cost little."""
MOST_ASKED_CANDIDATES = 524_288
"""Where more are wanted, all entities are measured, and so many listed."""
MOST_REMEMBERED = 1 << 22
"""Candidates that are kept, of all names together."""
CLOSE_TYPE = 0.6
"""A type is meant by another word if their cosine is at least this; no entity is of a farther one."""


class IndexDistances(Distances):
    """L2 distances of embeddings (SimGRAG section 4.2, eq. 2): of the texts of a pattern from stored labels.

    Entities of exactly a name are at distance 0, free of the error of `rows` int8 [nodes, d] times `scale`.
    """

    def __init__(self, index: Index, embedder: Embedder) -> None:
        self.embedder, self._index, self._search = embedder, index, open_entity_search(index)
        self.rows, self.scale = index.vectors(ENTITY_VECTORS, ENTITY_SCALES)
        self._relation_rows = index.array(RELATION_VECTORS).astype(np.float32, copy=False)
        self._nodes: dict[str, Float32] = {}
        self._relations: dict[str, Float32] = {}
        self._nearest_by_name: dict[tuple[str, int], NearestEntities] = {}
        self._remembered = 0
        self._masks: dict[str, Mask | None] = {}

    def node_candidates(self, node: PatternNode, count: int) -> NearestEntities:
        """The nearest by a scan of all vectors, or by a large index's backend, which may overlook some."""
        if self._search is not None:
            step = _step(count)
            cached = self._nearest_by_name.get((node.name, step))
            return self._ask(self._search, [node.name], step)[0] if cached is None else cached
        distances = self._distances_of(node.name)
        count = min(count, len(distances))
        nearest = np.arange(len(distances), dtype=np.int32)
        if count < len(distances):
            farthest = np.partition(distances, count - 1)[count - 1]
            nearest = np.flatnonzero(distances <= farthest).astype(np.int32)
        nearest = nearest[np.argsort(distances[nearest], kind="stable")]
        return NearestEntities(nearest, distances[nearest], len(nearest) == len(distances))

    def _distances_of(self, name: str) -> Float32:
        if name not in self._nodes:
            self._nodes[name] = self._entity_distances(name)
        return self._nodes[name]

    def _entity_distances(self, name: str) -> Float32:
        """Distances of all entities from a name."""
        distances = distances_from(self.rows, self.scale, self._embed(name))
        distances[list(self._exact(name))] = 0.0
        return distances

    def prepare(self, nodes: Sequence[PatternNode], count: int) -> None:
        """Ask the backend for all of them, on a thread each, or measure all entities once."""
        step = _step(count)
        names = [
            name for name in dict.fromkeys(n.name for n in nodes) if (name, step) not in self._nearest_by_name
        ]
        if self._search is not None and names:
            self._ask(self._search, names, step)

    def _ask(self, search: EntitySearch, names: Sequence[str], count: int) -> list[NearestEntities]:
        if self._remembered > MOST_REMEMBERED:
            self._nearest_by_name.clear()
            self._remembered = 0
        queries = [self._embed(name) for name in names]
        if count == MOST_ASKED_CANDIDATES:
            nearest = search.nearest_of_all(queries, count)
        else:
            with ThreadPoolExecutor(len(names)) as pool:
                nearest = list(pool.map(partial(search.nearest, k=count), queries))
        candidates = [self._candidates(name, near) for name, near in zip(names, nearest, strict=True)]
        self._nearest_by_name |= {
            (name, count): near_entities for name, near_entities in zip(names, candidates, strict=True)
        }
        self._remembered += sum(len(near_entities.entities) for near_entities in candidates)
        return candidates

    def _candidates(self, name: str, near: Nearest) -> NearestEntities:
        """Put the entities of exactly that name before the others."""
        exact = np.array(sorted(self._exact(name)), np.int64)
        is_other = ~np.isin(near.ids, exact)
        ids = np.concatenate([exact, near.ids[is_other]])
        distances = np.concatenate([np.zeros(len(exact)), near.distances[is_other]])
        return NearestEntities(ids.astype(np.int32), distances, len(ids) >= self._index.graph.nodes)

    def measure(self, node: PatternNode) -> Measure | None:
        """Measure by the stored vectors; entities of exactly that name are at 0. None if in Milvus."""
        if self._search is None:
            return Measure(np.zeros(0, np.int32), np.zeros(0), scale=self._distances_of(node.name))
        if not len(self.rows):
            return None
        exact = np.array(sorted(self._exact(node.name)), np.int32)
        query = Rounded.of(self._embed(node.name))
        return Measure(exact, np.zeros(len(exact)), self.rows, self.scale, query)

    def relation_distances(self, edge: PatternEdge) -> Distance:
        """Distances of the relation's name, its words split as those of the graph's relations are."""
        name = relation_text(edge.relation or "")
        if name not in self._relations:
            difference = self._relation_rows - self._embed(name)
            self._relations[name] = np.sqrt(np.square(difference).sum(axis=1))
        return self._relations[name]

    def allowed(self, node: PatternNode) -> Mask | None:
        """Entities of the type, or of the nearest if it is close; None, any, where no types are declared."""
        if node.type is None:
            return None
        if node.type not in self._masks:
            declared = len(self._index.graph.types.names) > 0
            self._masks[node.type] = self._mask_of_types(self.matching_types(node.type)) if declared else None
        return self._masks[node.type]

    def of_nearest_types(self, type_: str, count: int) -> Mask | None:
        """Entities of the `count` types nearest to one (SimGRAG's k(t)); None in a graph without types."""
        names = self._type_names
        if not names:
            return None
        cosines = self.embedder.embed(names) @ self._embed(relation_text(type_))
        return self._mask_of_types(np.argsort(-cosines, kind="stable")[:count].tolist())

    @property
    def _type_names(self) -> list[str]:
        return [relation_text(name) for name in self._index.graph.types.names]

    def _embed(self, text: str) -> Float32:
        return np.array(self.embedder.embed([readable(text)])[0], np.float32)

    def _exact(self, text: str) -> Iterator[int]:
        return (hit.entity for hit in self._index.names.exact(text))

    def _mask_of_types(self, type_ids: Sequence[int]) -> Mask:
        types = self._index.graph.types
        mask = np.zeros(self._index.graph.nodes, np.bool_)
        mask[types.owners[np.isin(types.type, type_ids)]] = True
        return mask

    def matching_types(self, type_: str) -> list[int]:
        """The declared types that a name says, or the nearest if it is close."""
        names = self._type_names
        equal_names = [
            i for i, name in enumerate(names) if normalise(name) == normalise(relation_text(type_))
        ]
        if equal_names or not names:
            return equal_names
        cosines = self.embedder.embed(names) @ self._embed(relation_text(type_))
        nearest = int(np.argmax(cosines))
        return [nearest] if cosines[nearest] >= CLOSE_TYPE else []


def _step(count: int) -> int:
    """How many candidates to list where `count` are wanted."""
    return next((listed for wanted, listed in CANDIDATE_STEPS if count <= wanted), MOST_ASKED_CANDIDATES)

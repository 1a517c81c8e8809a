"""Vectors of triples, made once for an index, and triples by similarity with a text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import Lock
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from clew.errors import FormatError, IndexAccessError, UsageError
from clew.foundation.arrays import Float32, Int8, Int64, chunks_of
from clew.graph.graph import Graph
from clew.graph.kernels import Array, entry
from clew.graph.match.distances import Rounded
from clew.graph.neighbourhood import HopLimits, best_of
from clew.index.store.directory import Index, open_index
from clew.index.store.writing import NewIndex, Progress, Span, say_nothing, write_changed, writing
from clew.index.vectors.backends import (
    MOST_RESULTS,
    MilvusVectors,
    VectorChoice,
    open_collection,
)
from clew.index.vectors.entities import (
    TEXTS_AT_ONCE,
    TRIPLE_IDS,
    TRIPLE_SCALES,
    TRIPLE_VECTORS,
    check_whole,
    dequantised,
    quantise,
)
from clew.index.vectors.in_milvus import (
    TRIPLE_COLLECTION,
    InMilvus,
    finish,
    new_collection,
    triple_sections,
)
from clew.text.embedders import Additive, Embedder, unit_rows
from clew.text.verbalise import readable, relation_text

# Dot products of stored int8 rows with one query.


@entry
def dots(rows: Array, scales: Array, picked: Array, query: Array) -> Array:
    """Products of the `picked` rows with a query of integers: float32 [len(picked)].

    `rows` int8 [n, d] times `scales` float32 [n]; `query` int16 [d], absolute sum below 2^31 / 127: exact.
    """
    products = np.empty(len(picked), np.float32)
    for i in range(len(picked)):
        row = rows[picked[i]]
        total = np.int32(0)
        for j in range(len(row)):
            # Cut back to int32 at every step, or the compiler widens the sum and does not vectorise it.
            total = np.int32(total + np.int32(row[j]) * np.int32(query[j]))
        products[i] = total * scales[picked[i]]
    return products


# Vectors of triples, made once for an index, memory-mapped, and never for a question (KG-RAG section 3.4.2).
#
# A triple is embedded as the text `(head, relation, tail)`. An embedder whose vectors are sums over words
# (`Additive`) gives the vectors of a batch from those of its names, which is several times faster and equal
# up to rounding.

TRIPLES_AT_ONCE = 1 << 18
"""Triples that are embedded at a time by sums."""
SUMMED_AT_ONCE = 1 << 15
"""Triples that are summed at a time, so that the sums fit into the cache of the processor."""
MOST_SEARCHED = 5_000_000
"""Triples of a graph up to which all are compared with a text."""


@dataclass(frozen=True, eq=False)
class TripleVectors:
    """`rows` int8 [slots, d] times `scales` float32 [slots], by triple id; with graph and embedder."""

    graph: Graph
    rows: Int8
    scales: Float32
    embedder: Embedder
    limits: ClassVar[HopLimits] = HopLimits()
    """How many triples of one hop can be compared."""

    @classmethod
    def of(cls, index: Index, embedder: Embedder) -> Self:
        """Those of an index; FormatError for none or of another graph, UsageError if they are in Milvus."""
        if TRIPLE_IDS in index.sections:
            raise UsageError(
                f"{index.path}: the vectors of its triples are in Milvus, and all of them are needed here. "
                "Index the sources without --vectors milvus"
            )
        rows, scales = index.vectors(TRIPLE_VECTORS, TRIPLE_SCALES)
        if rows.shape != (index.graph.triples, embedder.dimension):
            raise FormatError(
                f"{index.path}: the vectors of its triples do not fit its graph. Index the sources again"
            )
        return cls(index.graph, rows, scales, embedder)

    def similarities(self, text: str) -> Callable[[Int64], Float32]:
        """The function from triple ids to their dot product with `text`, which is embedded once."""
        query = Rounded.of(self.embedder.embed([text])[0])
        factor = np.float32(query.step)
        return lambda triples: dots(self.rows, self.scales, triples, query.values) * factor

    def top(self, text: str, triples: Int64, k: int) -> tuple[Int64, Float32]:
        """The `k` of `triples` most similar to `text`, best first (ties: smaller id), with similarities."""
        scores = self.similarities(text)(triples)
        best = best_of(scores, k, triples)
        return triples[best], scores[best]

    def nearest(self, text: str, k: int) -> Int64:
        """The `k` of all triples most similar to `text`, best first; none where they are too many."""
        if self.graph.triples > MOST_SEARCHED:
            return np.empty(0, np.int64)
        return self.top(text, np.arange(self.graph.triples), k)[0]


def with_triple_vectors(index: Index, embedder: Embedder, progress: Progress | None = None) -> Index:
    """The index with vectors of its triples: itself if it has them, else a new generation that adds them.

    Raises EmbedderError, LockedError, IndexAccessError.
    """
    if TRIPLE_VECTORS in index.sections:
        return index
    with _ADDING:  # of threads that need them, one makes them
        if with_triple_vectors not in index.made:
            index.made[with_triple_vectors] = _with_vectors_added(index, embedder, progress or say_nothing)
        return index.made[with_triple_vectors]


def _with_vectors_added(index: Index, embedder: Embedder, tell: Progress) -> Index:
    current = _newest(index)
    if TRIPLE_VECTORS in current.sections:
        return current
    with writing(index.path) as writer:
        current = _newest(index)
        if TRIPLE_VECTORS not in current.sections:
            write_changed(writer, current, {})
            milvus = InMilvus.open(current)
            vectors = VectorChoice() if milvus is None else VectorChoice("milvus", milvus.names.place)
            add_triple_vectors(NewIndex(writer, index.path, current.graph, embedder, vectors, tell))
            writer.commit(current.manifest.about)
    return _newest(index)


_ADDING = Lock()


def _newest(index: Index) -> Index:
    """The newest generation of the same index; IndexAccessError if it was made anew."""
    newest = open_index(index.path, access=index.access)
    if newest.manifest.about != index.manifest.about:
        raise IndexAccessError(f"{index.path}: the index was made anew after it was opened. Ask again")
    return newest


def add_triple_vectors(new_index: NewIndex) -> None:
    """Embed all triples of an index, batch by batch, into two sections or into a collection of Milvus.

    Raises EmbedderError, IndexAccessError, VectorStoreError.
    """
    writer, place = new_index.writer, new_index.vectors.place
    triples, dimension = new_index.graph.triples, new_index.embedder.dimension
    size = TRIPLES_AT_ONCE if isinstance(new_index.embedder, Additive) else TEXTS_AT_ONCE
    spans = list(chunks_of(0, triples, size))
    batches = zip(spans, new_index.map(TripleEmbedder, spans), strict=True)
    collection = None if place is None else new_collection(new_index, place, "triples", triples, "IP")
    stored = triples if collection is None else 0
    scales = np.empty(stored, np.float32)

    def parts() -> Iterator[Int8]:
        for (first, stop), (rows, scale) in batches:
            if collection is None:
                scales[first:stop] = scale
                yield rows
            else:
                collection.add(np.arange(first, stop, dtype=np.int64), dequantised(rows, scale))
            new_index.tell("triples", stop, triples)

    writer.add_parts(TRIPLE_VECTORS, (stored, dimension), np.dtype(np.int8), parts())
    writer.add(TRIPLE_SCALES, scales)
    if collection is not None:
        finish(writer, collection, TRIPLE_COLLECTION, TRIPLE_COLLECTION, triples)
        writer.add(TRIPLE_IDS, np.arange(triples, dtype=np.int64))
        writer.add_all(triple_sections(triples))


class TripleEmbedder:
    """Embeds triples of a graph; called, those of a span. Raises EmbedderError."""

    def __init__(self, graph: Graph, embedder: Embedder) -> None:
        self._graph, self._embedder = graph, embedder
        self._relations = [relation_text(name) for name in graph.relation_labels]
        if isinstance(embedder, Additive):
            self._sums = embedder.sums(self._relations)

    def __call__(self, span: Span) -> tuple[Int8, Float32]:
        """Vectors of the triples [first, stop), as `quantised`."""
        slots, out = np.arange(*span), self._graph.out
        return self.quantised(out.owners(slots), out.relation[slots], out.neighbour[slots])

    def quantised(
        self, heads: NDArray[np.integer], relations: NDArray[np.integer], tails: NDArray[np.integer]
    ) -> tuple[Int8, Float32]:
        """Vectors of some triples as they are stored: int8 [n, d] and float32 [n]."""
        # Names are read, and by sums embedded, once.
        nodes, where = np.unique(np.concatenate([heads, tails]).astype(np.int64), return_inverse=True)
        names = [readable(self._graph.labels[node]) for node in nodes.tolist()]
        head_rows, tail_rows = where[: len(heads)], where[len(heads) :]
        if not isinstance(self._embedder, Additive):
            rows = zip(head_rows.tolist(), relations.tolist(), tail_rows.tolist(), strict=True)
            lines = [f"({names[head]}, {self._relations[r]}, {names[tail]})" for head, r, tail in rows]
            return quantise(self._embedder.embed(lines))
        sums = self._embedder.sums(names)
        parts = [
            quantise(unit_rows(sums[head_rows[part]] + self._sums[relations[part]] + sums[tail_rows[part]]))
            for part in (slice(*span) for span in chunks_of(0, len(heads), SUMMED_AT_ONCE))
        ]
        q = np.concatenate([np.empty((0, sums.shape[1]), np.int8), *(rows for rows, _ in parts)])
        return q, np.concatenate([np.empty(0, np.float32), *(scales for _, scales in parts)])


# Triples by similarity with a text, wherever an index has their vectors.

MILVUS_LIMITS = HopLimits(most_edges=200_000, most_triples=MOST_RESULTS)
"""Bounds of one hop where triples are compared by a server: 12 searches at most, one of them for the kept."""
_MORE = 64
"""Triples beyond those wanted that are asked for, of which some may be of an older generation."""


@dataclass(frozen=True, eq=False)
class MilvusTriples:
    """Vectors of triples in Milvus, by dot product; `ids` int64 [slots] are theirs there."""

    graph: Graph
    vectors: MilvusVectors
    ids: Int64
    embedder: Embedder
    limits: ClassVar[HopLimits] = MILVUS_LIMITS

    def similarities(self, text: str) -> Callable[[Int64], Float32]:
        """See `TripleVectors`. The function raises VectorStoreError; IndexAccessError if some are gone."""
        query = self.embedder.embed([text])[0]

        def similarity(triples: Int64) -> Float32:
            scores = np.zeros(len(triples), np.float32)
            for part in (slice(*span) for span in chunks_of(0, len(triples), MOST_RESULTS)):
                ids, places = np.unique(self.ids[triples[part]], return_inverse=True)
                hits = self.vectors.search(query, len(ids), ids)
                self._check_complete(len(hits.ids), len(ids))
                scores[part] = (1 - hits.distances[np.argsort(hits.ids)])[places]
            return scores

        return similarity

    def top(self, text: str, triples: Int64, k: int) -> tuple[Int64, Float32]:
        """See `TripleVectors`. Raises VectorStoreError, and IndexAccessError if some are gone."""
        ids = self.ids[triples]
        hits = self.vectors.search(self.embedder.embed([text])[0], k, ids)
        self._check_complete(len(hits.ids), min(k, len(ids), MOST_RESULTS))
        order = np.argsort(ids)
        hit_triples = triples[order][np.searchsorted(ids[order], hits.ids)]
        scores = (1 - hits.distances).astype(np.float32)
        best = best_of(scores, k, hit_triples)
        return hit_triples[best], scores[best]

    def _check_complete(self, count: int, expected: int) -> None:
        if count < expected:
            raise IndexAccessError(
                f"Milvus at {self.vectors.place.uri} lacks triples of this index, which was changed more "
                "than once since it was opened. Open it again"
            )

    def nearest(self, text: str, k: int) -> Int64:
        """See `TripleVectors`: of any number. Raises VectorStoreError."""
        ids = self.vectors.search(self.embedder.embed([text])[0], k + _MORE).ids
        # A triple that no update has moved has its slot as its id; some are of another generation.
        place = {id: id for id in ids.tolist() if id < len(self.ids) and self.ids[id] == id}
        moved = np.setdiff1d(ids, list(place))
        if len(moved):
            slots = np.flatnonzero(np.isin(self.ids, moved))
            place |= zip(self.ids[slots].tolist(), slots.tolist(), strict=True)
        return np.array([place[i] for i in ids.tolist() if i in place][:k], np.int64)


TripleSearch = TripleVectors | MilvusTriples


def triple_search(index: Index, embedder: Embedder) -> TripleSearch:
    """What compares the triples of an index; FormatError if it cannot (other graph), VectorStoreError."""
    if TRIPLE_IDS not in index.sections:
        return TripleVectors.of(index, embedder)
    vectors = open_collection(index.files[TRIPLE_COLLECTION], embedder.dimension, access=index.access)
    check_whole(index, vectors, index.graph.triples)
    return MilvusTriples(index.graph, vectors, np.asarray(index.array(TRIPLE_IDS), np.int64), embedder)

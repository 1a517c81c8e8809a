"""Vectors of triples, made once for an index, and triples by similarity with a text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from threading import Lock
from typing import Self

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
    MilvusPlace,
    MilvusVectors,
    VectorChoice,
    open_collection,
)
from clew.index.vectors.entities import (
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
    upload,
)
from clew.text.embedders import Additive, Embedder
from clew.text.verbalise import readable, relation_text

# Dot products of stored int8 rows with one query.


@entry
def dots(rows: Array, scales: Array, picked: Array, query: Array) -> Array:
    """Products of the `picked` rows with a query of integers: float32 [len(picked)].

    `rows` int8 [n, d] times `scales` float32 [n]; `query` int16 [d], whose absolute values sum up to less
    than 2^31 / 127, so that the sums are exact.
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


@entry
def quantised_sums(
    names: Array, relations: Array, heads: Array, relation: Array, tails: Array
) -> tuple[Array, Array]:
    """Sum head, relation and tail of triples, scale to length 1, round: int8 [n, d], scales float32 [n].

    `names` and `relations` float32 [·, d]; `heads`, `relation` and `tails` are rows of them.
    """
    count, width = len(heads), names.shape[1]
    rows = np.zeros((count, width), np.int8)
    scales = np.zeros(count, np.float32)
    total = np.empty(width, np.float32)
    for i in range(count):
        head, middle, tail = names[heads[i]], relations[relation[i]], names[tails[i]]
        square, largest = np.float32(0), np.float32(0)
        for j in range(width):
            total[j] = head[j] + middle[j] + tail[j]
            square += total[j] * total[j]
            largest = max(largest, abs(total[j]))
        if largest == 0:
            continue
        scales[i] = largest / np.sqrt(square) / np.float32(127)
        for j in range(width):
            rows[i, j] = np.int8(np.rint(total[j] / largest * np.float32(127)))
    return rows, scales


@entry
def summed_rows(rows: Array, scales: Array, starts: Array, stops: Array) -> Array:
    """Sum the rows of each group: float32 [groups, d]; group i has rows [starts[i], stops[i])."""
    width = rows.shape[1]
    sums = np.zeros((len(starts), width), np.float32)
    for group in range(len(starts)):
        for row in range(starts[group], stops[group]):
            for j in range(width):
                sums[group, j] += rows[row, j] * scales[row]
    return sums


# Vectors of triples, made once for an index, memory-mapped, and never for a question (KG-RAG section 3.4.2).
#
# A triple is embedded as the text `(head, relation, tail)`. An embedder whose vectors are sums over words
# (`Additive`) gives the vectors of a batch from those of its names, which is several times faster and equal
# up to rounding.

TRIPLES_AT_ONCE = 1 << 18
"""Triples that are embedded at a time by sums."""
TEXTS_EMBEDDED = 4096
"""Texts that are embedded at a time."""
MOST_SEARCHED = 5_000_000
"""Triples of a graph up to which all are compared with a text."""


def triple_line(head: str, relation: str, tail: str) -> str:
    """A triple of labels as the text that is embedded."""
    return f"({readable(head)}, {relation_text(relation)}, {readable(tail)})"


@dataclass(frozen=True, eq=False)
class TripleVectors:
    """`rows` int8 [slots, d] times `scales` float32 [slots], by triple id; with graph and embedder."""

    graph: Graph
    rows: Int8
    scales: Float32
    embedder: Embedder

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

    @property
    def limits(self) -> HopLimits:
        """How many triples of one hop can be compared."""
        return HopLimits()

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

    Raises EmbedderError, LockedError if another process keeps writing to the index, IndexAccessError if it
    cannot be written or was made anew meanwhile.
    """
    if TRIPLE_VECTORS in index.sections:
        return index
    with _ADDING:  # of threads that need them, one makes them
        current = _newest(index)
        if TRIPLE_VECTORS in current.sections:
            return current
        with writing(index.path) as writer:
            current = _newest(index)
            if TRIPLE_VECTORS not in current.sections:
                write_changed(writer, current, {})
                milvus = InMilvus.open(current)
                vectors = VectorChoice() if milvus is None else VectorChoice("milvus", milvus.names.place)
                tell = progress or say_nothing
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
    """Embed all triples of an index, batch by batch, so that memory does not grow with them.

    They go into two sections, or into a collection of Milvus. Raises EmbedderError,
    IndexAccessError, VectorStoreError.
    """
    triples, dimension, place = new_index.graph.triples, new_index.embedder.dimension, new_index.vectors.place
    size = TRIPLES_AT_ONCE if isinstance(new_index.embedder, Additive) else TEXTS_EMBEDDED
    spans = list(chunks_of(0, triples, size))
    batches = new_index.map(triple_batch, spans)
    if place is not None:
        _put_triple_vectors(new_index, place, zip(spans, batches, strict=True))
        return
    scales = np.empty(triples, np.float32)

    def parts() -> Iterator[Int8]:
        for (first, stop), (rows, scale) in zip(spans, batches, strict=True):
            scales[first:stop] = scale
            yield rows
            new_index.tell("triples", stop, triples)

    new_index.writer.add_parts(TRIPLE_VECTORS, (triples, dimension), np.dtype(np.int8), parts())
    new_index.writer.add(TRIPLE_SCALES, scales)


def _put_triple_vectors(
    new_index: NewIndex, place: MilvusPlace, batches: Iterable[tuple[Span, tuple[Int8, Float32]]]
) -> None:
    writer, triples = new_index.writer, new_index.graph.triples
    collection = new_collection(new_index, place, "triples", triples, "IP")
    for span, (rows, scale) in batches:
        upload(collection, np.arange(*span, dtype=np.int64), dequantised(rows, scale))
        new_index.tell("triples", span[1], triples)
    finish(writer, collection, TRIPLE_COLLECTION, TRIPLE_COLLECTION, triples)
    writer.add(TRIPLE_VECTORS, np.empty((0, new_index.embedder.dimension), np.int8))
    writer.add(TRIPLE_SCALES, np.empty(0, np.float32))
    writer.add(TRIPLE_IDS, np.arange(triples, dtype=np.int64))
    writer.add_all(triple_sections(triples))


class TripleEmbedder:
    """Embeds triples whose nodes and relations are called `label` and `relations`. Raises EmbedderError."""

    def __init__(self, label: Callable[[int], str], relations: list[str], embedder: Embedder) -> None:
        self._label, self._relations, self._embedder = label, relations, embedder
        if isinstance(embedder, Additive):
            self._sums = embedder.sums([relation_text(name) for name in relations])

    def quantised(
        self, heads: NDArray[np.integer], relations: NDArray[np.integer], tails: NDArray[np.integer]
    ) -> tuple[Int8, Float32]:
        """Vectors of some triples as they are stored: int8 [n, d] and float32 [n]."""
        if isinstance(self._embedder, Additive):
            return self._sum_names(self._embedder, heads, relations, tails)
        names = (
            map(self._label, heads.tolist()),
            map(self._relations.__getitem__, relations.tolist()),
            map(self._label, tails.tolist()),
        )
        lines = [triple_line(*triple) for triple in zip(*names, strict=True)]
        return quantise(self._embedder.embed(lines))

    def _sum_names(
        self,
        embedder: Additive,
        heads: NDArray[np.integer],
        relations: NDArray[np.integer],
        tails: NDArray[np.integer],
    ) -> tuple[Int8, Float32]:
        """Add up the names of each triple; names are embedded once."""
        ends = np.concatenate([heads, tails]).astype(np.int64)
        nodes, where = np.unique(ends, return_inverse=True)
        names = embedder.sums([readable(self._label(node)) for node in nodes.tolist()])
        count = len(heads)
        return quantised_sums(names, self._sums, where[:count], relations.astype(np.int32), where[count:])


def triple_batch(graph: Graph, embedder: Embedder) -> Callable[[Span], tuple[Int8, Float32]]:
    """What embeds the triples of a span, as they are stored: int8 [n, d], float32 [n]."""
    triple_embedder = TripleEmbedder(graph.labels.__getitem__, list(graph.relation_labels), embedder)

    def batch(span: Span) -> tuple[Int8, Float32]:
        slots = np.arange(*span)
        columns = graph.out.owners(slots), graph.out.relation[slots], graph.out.neighbour[slots]
        return triple_embedder.quantised(*columns)

    return batch


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

    @property
    def limits(self) -> HopLimits:
        """How many triples of one hop can be compared."""
        return MILVUS_LIMITS

    def similarities(self, text: str) -> Callable[[Int64], Float32]:
        """See `TripleVectors`. The function raises VectorStoreError; IndexAccessError if some are gone."""
        query = self.embedder.embed([text])[0]

        def similarity(triples: Int64) -> Float32:
            scores = np.zeros(len(triples), np.float32)
            for start in range(0, len(triples), MOST_RESULTS):
                part = slice(start, start + MOST_RESULTS)
                scores[part] = self._scores(query, triples[part])
            return scores

        return similarity

    def _scores(self, query: Float32, triples: Int64) -> Float32:
        ids = self.ids[triples]
        hits = self.vectors.search(query, len(ids), np.unique(ids))
        self._check_complete(len(hits.ids), len(np.unique(ids)))
        order = np.argsort(hits.ids)
        return (1 - hits.distances[order])[np.searchsorted(hits.ids[order], ids)]

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
        slots = self._slots(ids)
        return slots[slots >= 0][:k]

    def _slots(self, ids: Int64) -> Int64:
        """The slots of triples by their ids in Milvus; -1 of one that is not in this generation."""
        slots = np.full(len(ids), -1, np.int64)
        # A triple that no update has moved has its slot as its id.
        is_unmoved = ids < len(self.ids)
        is_unmoved[is_unmoved] = self.ids[ids[is_unmoved]] == ids[is_unmoved]
        slots[is_unmoved] = ids[is_unmoved]
        slots[~self._in_use(slots)] = -1
        if (slots < 0).any():
            moved = np.flatnonzero(np.isin(self.ids, ids[slots < 0]))
            moved = moved[self._in_use(moved)]
            place = dict(zip(self.ids[moved].tolist(), moved.tolist(), strict=True))
            slots = np.array(
                [place.get(i, s) for i, s in zip(ids.tolist(), slots.tolist(), strict=True)], np.int64
            )
        return slots

    def _in_use(self, slots: Int64) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which slots are of a triple: an edit leaves some without."""
        edges = self.graph.out
        in_use = slots >= 0
        owners = edges.owners(slots[in_use])
        in_use[in_use] = (edges.starts[owners] <= slots[in_use]) & (slots[in_use] < edges.stops[owners])
        return in_use


TripleSearch = TripleVectors | MilvusTriples


def triple_search(index: Index, embedder: Embedder) -> TripleSearch:
    """What compares the triples of an index; FormatError if it cannot (other graph), VectorStoreError."""
    if TRIPLE_IDS not in index.sections:
        return TripleVectors.of(index, embedder)
    vectors = open_collection(index.files[TRIPLE_COLLECTION], embedder.dimension, access=index.access)
    check_whole(index, vectors, index.graph.triples)
    return MilvusTriples(index.graph, vectors, np.asarray(index.array(TRIPLE_IDS), np.int64), embedder)

"""Vectors of triples, made once for an index, memory-mapped, and never for a question (KG-RAG section 3.4.2).

A triple is embedded as the text `(head, relation, tail)`. An embedder whose vectors are sums over words
(`Additive`) gives the vectors of a batch from those of its names, which is several times faster and equal up
to rounding.
"""

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
from clew.graph.match.distances import Rounded
from clew.graph.neighbourhood import HopLimits, best_of
from clew.index.new_index import NewIndex, Progress, Span, say_nothing
from clew.index.store.directory import Index, open_index
from clew.index.store.writing import write_changed, writing
from clew.index.vectors.backends.milvus import MilvusPlace
from clew.index.vectors.backends.registry import VectorChoice
from clew.index.vectors.dots import dots, quantised_sums
from clew.index.vectors.in_milvus import (
    TRIPLE_COLLECTION,
    InMilvus,
    finish,
    new_collection,
    triple_sections,
    upload,
)
from clew.index.vectors.vectors import TRIPLE_IDS, TRIPLE_SCALES, TRIPLE_VECTORS, dequantised, quantise
from clew.text.embedder import Additive, Embedder
from clew.text.labels import readable, relation_text

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

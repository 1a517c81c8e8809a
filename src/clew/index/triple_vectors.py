"""Vectors of triples, made once for an index, memory-mapped, and never for a question (KG-RAG section 3.4.2).

A triple is embedded as the text `(head, relation, tail)`. An embedder whose vectors are sums over words
(`Additive`) gives the vectors of a batch from those of its names, which is several times faster and equal up
to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from clew.errors import FormatError, IndexError_
from clew.graph.candidates import best_of
from clew.graph.distances import Rounded
from clew.graph.graph import Graph, Int64
from clew.graph.kernels.dots import dots, quantised_sums
from clew.index.directory import Index, IndexWriter, open_index, writing
from clew.index.vectors import quantise, readable, relation_text
from clew.text.embedder import Embedder

Float32 = NDArray[np.float32]
Int8 = NDArray[np.int8]

TRIPLE_VECTORS, TRIPLE_SCALES = "triple_vectors.q", "triple_vectors.scale"
BATCH = 1 << 18
"""Triples that are embedded at a time by sums."""
TEXTS = 4096
"""Texts that are embedded at a time."""


@runtime_checkable
class Additive(Protocol):
    """An embedder whose vector of a text is the sum of its words' vectors, scaled to length 1."""

    def sums(self, texts: Sequence[str]) -> Float32:
        """Sum the words' vectors, not scaled: float32 [len(texts), dimension]."""
        ...


def triple_line(graph: Graph, triple: int) -> str:
    """A triple as text, `(head, relation, tail)`: what is embedded and put in prompts."""
    head, relation, tail = graph.triple(triple)
    names = readable(graph.labels[head]), relation_text(graph.relation_labels[relation])
    return f"({names[0]}, {names[1]}, {readable(graph.labels[tail])})"


@dataclass(frozen=True, eq=False)
class TripleVectors:
    """`rows` int8 [triples, d] times `scales` float32 [triples], by triple id; and their embedder."""

    rows: Int8
    scales: Float32
    embedder: Embedder

    @classmethod
    def of(cls, index: Index, embedder: Embedder) -> Self:
        """Those that an index holds. Raises FormatError if it has none, or of another graph."""
        rows = index.array(TRIPLE_VECTORS).astype(np.int8, copy=False)
        scales = index.array(TRIPLE_SCALES).astype(np.float32, copy=False)
        if rows.shape != (index.graph.slots, embedder.dimension):
            raise FormatError(
                f"{index.path}: the vectors of its triples do not fit its graph. Index the sources again"
            )
        return cls(rows, scales, embedder)

    def similarities(self, text: str) -> Callable[[Int64], Float32]:
        """The function from triple ids to their dot product with `text`, which is embedded once."""
        query = Rounded.of(self.embedder.embed([text])[0])
        factor = np.float32(query.step)
        return lambda triples: dots(self.rows, self.scales, triples, query.values) * factor

    def top(self, text: str, triples: Int64, k: int) -> tuple[Int64, Float32]:
        """The `k` of `triples` that are most similar to `text`, best first, and their similarities.

        Ties go to the smaller triple id.
        """
        scores = self.similarities(text)(triples)
        best = best_of(scores, k, triples)
        return triples[best], scores[best]


def with_triple_vectors(
    index: Index, embedder: Embedder, progress: Callable[[int], None] | None = None
) -> Index:
    """The index with vectors of its triples: itself if it has them, else a new generation that adds them.

    Raises EmbedderError, LockedError if another process keeps writing to the index, IndexError_ if it cannot
    be written or was made anew meanwhile.
    """
    if TRIPLE_VECTORS in index.sections:
        return index
    current = _newest(index)
    if TRIPLE_VECTORS not in current.sections:
        with writing(index.path) as writer:
            current = _newest(index)
            if TRIPLE_VECTORS not in current.sections:
                writer.keep_all(current.manifest)
                write_triple_vectors(writer, current.graph, embedder, progress)
                writer.commit(current.manifest.about)
        current = _newest(index)
    return current


def _newest(index: Index) -> Index:
    """The newest generation of the same index; IndexError_ if it was made anew."""
    newest = open_index(index.path)
    if newest.manifest.about != index.manifest.about:
        raise IndexError_(f"{index.path}: the index was made anew after it was opened. Ask again")
    return newest


def write_triple_vectors(
    writer: IndexWriter, graph: Graph, embedder: Embedder, progress: Callable[[int], None] | None = None
) -> None:
    """Embed all triples into two sections, batch by batch, so that memory does not grow with the graph.

    `progress` is called with the number of triples done. Raises EmbedderError, IndexError_.
    """
    scales = np.empty(graph.triples, np.float32)

    def parts() -> Iterator[Int8]:
        for start, rows, scale in _batches(graph, embedder):
            scales[start : start + len(rows)] = scale
            yield rows
            if progress is not None:
                progress(start + len(rows))

    writer.add_parts(TRIPLE_VECTORS, (graph.triples, embedder.dimension), np.dtype(np.int8), parts())
    writer.add(TRIPLE_SCALES, scales)


def _batches(graph: Graph, embedder: Embedder) -> Iterator[tuple[int, Int8, Float32]]:
    if isinstance(embedder, Additive):
        yield from _summed(graph, embedder)
        return
    for start in range(0, graph.triples, TEXTS):
        texts = [triple_line(graph, t) for t in range(start, min(start + TEXTS, graph.triples))]
        yield start, *quantise(embedder.embed(texts))


def _summed(graph: Graph, embedder: Additive) -> Iterator[tuple[int, Int8, Float32]]:
    """Add up the names of each triple; names are embedded once a batch."""
    relations = embedder.sums([relation_text(name) for name in graph.relation_labels])
    for start in range(0, graph.triples, BATCH):
        stop = min(start + BATCH, graph.triples)
        heads = np.searchsorted(graph.out.offsets, np.arange(start, stop), "right") - 1
        nodes, where = np.unique(
            np.concatenate([heads, graph.out.neighbour[start:stop].astype(np.int64)]), return_inverse=True
        )
        names = embedder.sums([readable(graph.labels[int(node)]) for node in nodes])
        count = stop - start
        rows, scales = quantised_sums(
            names, relations, where[:count], graph.out.relation[start:stop], where[count:]
        )
        yield start, rows, scales

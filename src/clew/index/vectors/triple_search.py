"""Triples by similarity with a text, wherever an index has their vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clew.errors import IndexAccessError
from clew.foundation.arrays import Float32, Int64
from clew.graph.graph import Graph
from clew.graph.neighbourhood import HopLimits, best_of
from clew.index.store.directory import Index
from clew.index.vectors.backends.milvus import MOST_RESULTS, MilvusVectors
from clew.index.vectors.backends.registry import open_collection
from clew.index.vectors.entity_search import check_whole
from clew.index.vectors.in_milvus import TRIPLE_COLLECTION
from clew.index.vectors.triple_vectors import TripleVectors
from clew.index.vectors.vectors import TRIPLE_IDS
from clew.text.embedder import Embedder

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

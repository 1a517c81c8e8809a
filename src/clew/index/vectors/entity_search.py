"""What finds the entities whose names are nearest, in an index that does not compare them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from clew.arrays import Float32, Int8
from clew.errors import FormatError
from clew.index.store.directory import Index
from clew.index.vectors.backends.base import Nearest, VectorIndex
from clew.index.vectors.backends.entities import ENTITY_SEARCH, nearest_of_all, nearest_stored
from clew.index.vectors.backends.milvus import MOST_RESULTS, MilvusVectors
from clew.index.vectors.backends.registry import open_vectors
from clew.index.vectors.vectors import ENTITY_SCALES, ENTITY_VECTORS


class EntitySearch(Protocol):
    """Entities by the vectors of their names; distances are L2, ascending."""

    def nearest(self, query: Float32, k: int) -> Nearest:
        """Find the `k` nearest to `query` float32 [d]; may overlook some. Raises VectorStoreError."""
        ...

    def nearest_of_all(self, queries: Sequence[Float32], k: int) -> list[Nearest]:
        """Find about `k`, or as many as can be, without overlooking any. Raises VectorStoreError."""
        ...


@dataclass(frozen=True, eq=False)
class FoundByFile:
    """A file proposes, and the stored vectors, `rows` int8 [nodes, d] times `scale` float32, measure."""

    file: VectorIndex
    rows: Int8
    scale: Float32

    def nearest(self, query: Float32, k: int) -> Nearest:
        """See `EntitySearch`."""
        return nearest_stored(self.file, self.rows, self.scale, query, k)

    def nearest_of_all(self, queries: Sequence[Float32], k: int) -> list[Nearest]:
        """See `EntitySearch`."""
        return nearest_of_all(self.rows, self.scale, queries, k)


@dataclass(frozen=True, eq=False)
class FoundInMilvus:
    """Milvus has the vectors of all `nodes`, and finds at most `MOST_RESULTS` of them."""

    vectors: MilvusVectors
    nodes: int

    def nearest(self, query: Float32, k: int) -> Nearest:
        """See `EntitySearch`."""
        wanted = k = min(k, self.nodes, MOST_RESULTS)
        while True:
            found = self.vectors.search(query, wanted)
            mine = (
                found.ids < self.nodes
            )  # a newer generation, or an update that was killed, has added others
            if mine.sum() >= k or len(found.ids) < wanted or wanted >= MOST_RESULTS:
                return Nearest(found.ids[mine][:k], found.distances[mine][:k])
            wanted = min(4 * wanted, MOST_RESULTS)

    def nearest_of_all(self, queries: Sequence[Float32], k: int) -> list[Nearest]:
        """See `EntitySearch`."""
        return [self.nearest(query, k) for query in queries]


def open_entity_search(index: Index) -> FoundByFile | FoundInMilvus | None:
    """What searches the entities of an index; None where all are compared.

    Raises FormatError, and VectorStoreError if Milvus does not answer.
    """
    if ENTITY_SEARCH not in index.files:
        return None
    rows = index.array(ENTITY_VECTORS).astype(np.int8, copy=False)
    opened = open_vectors(index.files[ENTITY_SEARCH], rows.shape[1], access=index.access)
    if not isinstance(opened, MilvusVectors):
        return FoundByFile(opened, rows, index.array(ENTITY_SCALES).astype(np.float32, copy=False))
    check_whole(index, opened, index.graph.nodes)
    return FoundInMilvus(opened, index.graph.nodes)


def check_whole(index: Index, vectors: MilvusVectors, count: int) -> None:
    """Raise FormatError if Milvus holds fewer vectors than the index has."""
    held = len(vectors)
    if held < count:
        raise FormatError(
            f"{index.path}: Milvus at {vectors.place.uri} holds {held:,} of {count:,} vectors in "
            f"{vectors.collection}. Give the right one in $MILVUS_URI, or index the sources again"
        )

"""The vectors of a corpus in Milvus: a collection for walks and one for nodes, kept as in `in_milvus.py`.

Ids of node vectors are `update << 32 | node`, those of walks are in the corpus.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from clew.errors import IndexAccessError
from clew.foundation.arrays import Float32, Int8, Int32, Int64
from clew.index.new_index import NewIndex
from clew.index.vectors.backends.milvus import MilvusPlace, MilvusVectors
from clew.index.vectors.in_milvus import NONE, new_collection, upload
from clew.text.embedder import unit_rows

_SHIFT = 32
_NODE = (1 << _SHIFT) - 1


@dataclass(eq=False)
class MilvusCorpus:
    """Both collections.

    `version` int32 [nodes] is the update that made each node's vector, -1 for none; `next_walk` the first id
    of a walk that was never used. `dead_walks` and `dead_nodes` int64 are ids that only the generation
    before uses.
    """

    walks: MilvusVectors
    nodes: MilvusVectors
    version: Int32
    next_walk: int = 0
    update: int = 0
    dead_walks: Int64 = field(default_factory=lambda: NONE)
    dead_nodes: Int64 = field(default_factory=lambda: NONE)

    @classmethod
    def create(cls, new_index: NewIndex, place: MilvusPlace, walks: int) -> MilvusCorpus:
        """Make the collections of an index that is being written, for about so many walks."""
        nodes = new_index.graph.nodes
        return cls(
            new_collection(new_index, place, "walks", walks),
            new_collection(new_index, place, "nodes", nodes),
            np.full(nodes, -1, np.int32),
        )

    def begin_update(self, nodes: int) -> None:
        """Make room for more nodes; remove what the generation before used, and what a killed update left."""
        self.walks.remove_from(self.next_walk)
        self.nodes.remove_from((self.update + 1) << _SHIFT)
        self.walks.remove(self.dead_walks)
        self.nodes.remove(self.dead_nodes)
        self.dead_walks = self.dead_nodes = NONE
        self.update += 1
        new_versions = np.full(nodes - len(self.version), -1, np.int32)
        self.version = np.concatenate([self.version, new_versions])

    def add_walks(self, q: Int8) -> Int64:
        """Add the vectors int8 [n, d] of walks; returns their ids."""
        ids = np.arange(self.next_walk, self.next_walk + len(q), dtype=np.int64)
        self.next_walk += len(q)
        upload(self.walks, ids, unit_rows(q.astype(np.float32)))
        return ids

    def add_nodes(self, nodes: Int32, q: Int8) -> None:
        """Add vectors int8 [n, d] of nodes, instead of those that they had."""
        replaced = nodes[self.version[nodes] >= 0]
        old_ids = (self.version[replaced].astype(np.int64) << _SHIFT) | replaced
        self.dead_nodes = np.concatenate([self.dead_nodes, old_ids])
        self.version[nodes] = self.update
        ids = (np.int64(self.update) << _SHIFT) | nodes.astype(np.int64)
        upload(self.nodes, ids, unit_rows(q.astype(np.float32)))

    def nearest_nodes(self, query: Float32, k: int) -> list[int]:
        """Find the `k` nodes nearest to `query` float32 [d], as of this generation."""

        def is_alive(ids: Int64) -> NDArray[np.bool_]:
            nodes = ids & _NODE
            alive = nodes < len(self.version)
            alive[alive] = self.version[nodes[alive]] == ids[alive] >> _SHIFT
            return alive

        return (self.nodes.search_known(query, k, is_alive, 2 * k + 8).ids & _NODE).tolist()

    def nearest_walks(self, ids: Int64, query: Float32, k: int) -> list[tuple[int, float]]:
        """(place in `ids`, cosine) of the `k` walks nearest to `query`; IndexAccessError if some are gone."""
        hits = self.walks.search(query, k, ids)
        if len(hits.ids) < min(k, len(ids)):
            raise IndexAccessError(
                f"Milvus at {self.walks.place.uri} lacks walks of this index, which was changed more than "
                "once since it was opened. Open it again"
            )
        place = {id: row for row, id in enumerate(ids.tolist())}
        cosines = 1 - hits.distances.astype(np.float64) ** 2 / 2
        return [(place[id], c) for id, c in zip(hits.ids.tolist(), cosines.tolist(), strict=True)]

    def drop(self) -> None:
        """Remove both collections: of a build that failed."""
        self.walks.drop()
        self.nodes.drop()

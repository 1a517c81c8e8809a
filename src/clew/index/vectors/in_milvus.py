"""Vectors of names, triples and walks in Milvus, a collection each."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from clew.errors import ClewError, FormatError, IndexAccessError
from clew.foundation.arrays import AnyArray, Float32, Int8, Int32, Int64
from clew.index.store.directory import Index, open_index
from clew.index.store.writing import IndexWriter, NewIndex
from clew.index.vectors.backends import (
    CELLS_FROM,
    DistanceMetric,
    MilvusPlace,
    MilvusVectors,
    VectorAccess,
    is_collection,
    open_collection,
)
from clew.index.vectors.entities import ENTITY_SEARCH, IN_MILVUS, dequantised
from clew.text.embedders import unit_rows

# Vectors of names and triples in Milvus, a collection each.
#
# Nothing in them is ever changed, only added and later removed, so that who has an older generation open goes
# on finding what it knows. Ids of names are nodes; those of triples are handed out in order, and the index
# holds them by slot, since an edit moves slots. What an update puts out of use is removed by the update after
# it, as are the collections of an index that was replaced.

TRIPLE_COLLECTION = "milvus.triples"
NAMES_FILE = "entity_search"
_NEXT, _DEAD = "triple_vectors.next", "triple_vectors.dead"
NONE: Int64 = np.zeros(0, np.int64)


def new_collection(
    new_index: NewIndex, place: MilvusPlace, kind: str, count: int, metric: DistanceMetric = "L2"
) -> MilvusVectors:
    """Make an empty collection for about so many vectors, named as that of a build that was killed."""
    identity = f"{platform.node()} {new_index.path.resolve()}"
    name = (
        f"clew_{hashlib.blake2b(identity.encode(), digest_size=10).hexdigest()}"
        f"_{new_index.writer.generation}_{kind}"
    )
    cells = 0 if count < CELLS_FROM else int(np.clip(4 * np.sqrt(count), 1024, 65_536))  # 0 compares all
    vectors = MilvusVectors(new_index.embedder.dimension, place, name, cells=cells, metric=metric)
    vectors.create()
    return vectors


def finish(writer: IndexWriter, vectors: MilvusVectors, section: str, file: str, count: int) -> None:
    """Wait until Milvus has all on its disks, and write where; IndexAccessError if it holds fewer."""
    vectors.flush()
    stored = len(vectors)
    if stored < count:
        raise IndexAccessError(
            f"Milvus at {vectors.place.uri} holds {stored:,} of {count:,} vectors of "
            f"{vectors.collection}: it lost some. Run the same command again"
        )
    vectors.save(writer.folder / file)
    writer.add_file(section, file)


@dataclass(eq=False)
class InMilvus:
    """The collections of an index; `next_triple` is the first id of a triple that was never used.

    Only the generation before uses the ids `dead` (int64) of triples, and `retired` collections.
    """

    names: MilvusVectors
    triples: MilvusVectors | None = None
    next_triple: int = 0
    dead: Int64 = field(default_factory=lambda: NONE)
    retired: tuple[str, ...] = ()

    @classmethod
    def open(cls, index: Index) -> Self | None:
        """Those of an index, to be changed; None: vectors are files. Raises FormatError, VectorStoreError."""
        if IN_MILVUS not in index.sections:
            return None
        try:
            retired = tuple(map(str, json.loads(index.data(IN_MILVUS))["retired"]))
            names = _open_section(index, ENTITY_SEARCH)
            if TRIPLE_COLLECTION not in index.files:
                return cls(names, retired=retired)
            next_triple, dead = int(index.array(_NEXT)[0]), np.asarray(index.array(_DEAD), np.int64)
        except (ValueError, TypeError, LookupError) as error:
            raise FormatError(f"{index.path}: what it says of Milvus is damaged ({error})") from error
        return cls(names, _open_section(index, TRIPLE_COLLECTION), next_triple, dead, retired)

    def begin_update(self, nodes: int) -> None:
        """Remove what only the generation before used, and what a killed update left: `nodes` names stay."""
        self.names.remove_from(nodes)
        if self.triples is not None:
            self.triples.remove_from(self.next_triple)
            self.triples.remove(self.dead)
        self.dead = NONE
        for name in self.retired:
            MilvusVectors(self.names.dimension, self.names.place, name).drop()
        self.retired = ()

    def set_names(self, nodes: Int64, q: Int8, scale: Float32) -> None:
        """Add or replace vectors int8 [n, d] with a scale each of nodes."""
        self.names.remove(nodes)
        self.names.add(nodes, dequantised(q, scale))

    def add_triples(self, q: Int8, scale: Float32) -> Int64:
        """Add vectors int8 [n, d] with a scale each of triples; returns their ids."""
        ids = np.arange(self.next_triple, self.next_triple + len(q), dtype=np.int64)
        if self.triples is not None:
            self.next_triple += len(ids)
            self.triples.add(ids, dequantised(q, scale))
        return ids

    def sections(self) -> dict[str, AnyArray | bytes]:
        """Give the sections of an index."""
        sections: dict[str, AnyArray | bytes] = {IN_MILVUS: json.dumps({"retired": self.retired}).encode()}
        return sections if self.triples is None else sections | triple_sections(self.next_triple, self.dead)


def triple_sections(next_triple: int, dead: Int64 = NONE) -> dict[str, AnyArray]:
    """Give the sections that say which ids of triples are free, and which to remove."""
    return {_NEXT: np.array([next_triple], np.int64), _DEAD: dead}


def write_names(new_index: NewIndex, place: MilvusPlace, parts: Iterable[Mapping[str, AnyArray]]) -> None:
    """Put all names, `parts` as of `vector_part`, into a new collection. Raises VectorStoreError."""
    names = new_collection(new_index, place, "names", new_index.graph.nodes)
    milvus = InMilvus(names, retired=collections_of(new_index.path, place))
    first_node = 0
    for part in parts:
        stop = first_node + len(part["q"])
        names.add(np.arange(first_node, stop, dtype=np.int64), dequantised(part["q"], part["scale"]))
        first_node = stop
    finish(new_index.writer, milvus.names, ENTITY_SEARCH, NAMES_FILE, new_index.graph.nodes)
    new_index.writer.add_all(milvus.sections())


def collections_of(path: Path, place: MilvusPlace) -> tuple[str, ...]:
    """Names of the collections of the index that is replaced, None without one; older ones are removed."""
    try:
        index = open_index(path, access=VectorAccess(place.uri, place.token))
        files = [file for file in index.files.values() if is_collection(file)]
        names = tuple(MilvusVectors.named_in(file) for file in files)
        milvus = InMilvus.open(index)
        if milvus is not None:
            milvus.begin_update(index.graph.nodes)
    except ClewError:
        return ()
    return names


def _open_section(index: Index, section: str) -> MilvusVectors:
    if section not in index.files:
        raise FormatError(f"{index.path}: the index does not say where its {section} is. Index again")
    return open_collection(index.files[section], writable=True, access=index.access)


# The vectors of a corpus in Milvus: a collection for walks and one for nodes, kept as those above.
#
# Ids of node vectors are `update << 32 | node`, those of walks are in the corpus.

_SHIFT = 32
_NODE = (1 << _SHIFT) - 1


@dataclass(eq=False)
class MilvusCorpus:
    """Both collections; `version` int32 [nodes] is the update that made each node's vector, -1 for none.

    `next_walk` is the first id of a walk that was never used; only the generation before uses the ids
    `dead_walks` and `dead_nodes` (int64).
    """

    walks: MilvusVectors
    nodes: MilvusVectors
    version: Int32
    next_walk: int = 0
    update: int = 0
    dead_walks: Int64 = field(default_factory=lambda: NONE)
    dead_nodes: Int64 = field(default_factory=lambda: NONE)

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
        self.walks.add(ids, unit_rows(q.astype(np.float32)))
        return ids

    def add_nodes(self, nodes: Int32, q: Int8) -> None:
        """Add vectors int8 [n, d] of nodes, instead of those that they had."""
        replaced = nodes[self.version[nodes] >= 0]
        old_ids = (self.version[replaced].astype(np.int64) << _SHIFT) | replaced
        self.dead_nodes = np.concatenate([self.dead_nodes, old_ids])
        self.version[nodes] = self.update
        ids = (np.int64(self.update) << _SHIFT) | nodes.astype(np.int64)
        self.nodes.add(ids, unit_rows(q.astype(np.float32)))

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

"""Distances between the texts of a pattern and what an index holds, by the vectors that it stores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from clew.graph.distances import Candidates, Distance, Mask, Measure, Rounded, TextDistances, Vectors
from clew.index.backends.base import VectorIndex
from clew.index.backends.entities import ENTITY_SEARCH, nearest_of_all, nearest_stored
from clew.index.backends.registry import open_vectors
from clew.index.directory import Index
from clew.index.vectors import ENTITY_SCALES, ENTITY_VECTORS, RELATION_VECTORS, readable, relation_text
from clew.text.embedder import Embedder
from clew.text.normalise import normalise
from clew.types import PatternEdge, PatternNode

STEPS = (256, 4096, 16_384)
"""Candidates of a name that a backend is asked for at a time: a few more cost little more."""
MOST_CANDIDATES = 262_144
"""Candidates of a name that are listed in an index that has a backend, found by measuring all entities."""
MOST_REMEMBERED = 1000
"""Names whose candidates are kept."""
CLOSE_TYPE = 0.6
"""A type is meant by another word if their cosine is at least this; a farther one restricts nothing."""


class IndexDistances(TextDistances):
    """`TextDistances` that embeds the texts of a pattern as the index embedded its labels."""

    def __init__(self, index: Index, embedder: Embedder) -> None:
        vectors = Vectors(
            index.array(ENTITY_VECTORS).astype(np.int8, copy=False),
            index.array(ENTITY_SCALES).astype(np.float32, copy=False),
            index.array(RELATION_VECTORS).astype(np.float32, copy=False),
        )
        super().__init__(embedder, vectors, exact=self._exact, mask=self._mask)
        self._index = index
        self._backend: VectorIndex | None = None
        self._found: dict[tuple[str, int], Candidates] = {}
        if ENTITY_SEARCH in index.files:
            self._backend = open_vectors(index.files[ENTITY_SEARCH], embedder.dimension)
        self._masks: dict[str, Mask | None] = {}

    def node_candidates(self, node: PatternNode, count: int) -> Candidates:
        """Find the nearest entities: by a scan of all vectors, or by the backend of a large index.

        The backend may overlook some. Where it is not asked, as many are wanted, there are `MOST_CANDIDATES`.
        """
        if self._backend is None:
            return super().node_candidates(node, count)
        count = next((step for step in STEPS if step >= count), MOST_CANDIDATES)
        if (node.name, count) not in self._found:
            if len(self._found) >= MOST_REMEMBERED:
                self._found.clear()
            self._found[node.name, count] = self._ask(self._backend, node.name, count)
        return self._found[node.name, count]

    def measure(self, node: PatternNode) -> Measure | None:
        """Measure by the stored vectors; entities of exactly that name are at distance 0."""
        if self._backend is None:
            return super().measure(node)
        exact = np.array(sorted(self._exact(node.name)), np.int32)
        vectors, query = self.vectors, Rounded.of(self._embed(node.name).astype(np.float32))
        return Measure(exact, np.zeros(len(exact)), vectors.entities, vectors.scale, query)

    def _ask(self, backend: VectorIndex, name: str, count: int) -> Candidates:
        vectors, query = self.vectors, self._embed(name)
        if count > STEPS[-1]:
            near = nearest_of_all(vectors.entities, vectors.scale, query, count)
        else:
            near = nearest_stored(backend, vectors.entities, vectors.scale, query, count)
        exact = np.array(sorted(self._exact(name)), np.int64)
        others = ~np.isin(near.ids, exact)
        ids = np.concatenate([exact, near.ids[others]])[:count]
        distances = np.concatenate([np.zeros(len(exact)), near.distances[others]])[:count]
        return Candidates(ids.astype(np.int32), distances, len(ids) >= len(vectors.entities))

    def relation_distances(self, edge: PatternEdge) -> Distance:
        """Distances of the relation's name, its words split as those of the graph's relations are."""
        return super().relation_distances(replace(edge, relation=relation_text(edge.relation or "")))

    def allowed(self, node: PatternNode) -> Mask | None:
        """Entities declared to be of the type: that of the name, else the nearest if it is close."""
        return None if node.type is None else self._mask(node.type)

    def _embed(self, text: str) -> Distance:
        return super()._embed(readable(text))

    def _exact(self, text: str) -> Iterator[int]:
        return (hit.entity for hit in self._index.names.exact(text))

    def _mask(self, type_: str) -> Mask | None:
        if type_ not in self._masks:
            self._masks[type_] = self._make_mask(type_)
        return self._masks[type_]

    def _make_mask(self, type_: str) -> Mask | None:
        types = self._index.graph.types
        meant = self._types_meant(type_)
        if not meant:
            return None
        mask = np.zeros(self._index.graph.nodes, np.bool_)
        rows = np.flatnonzero(np.isin(types.type, meant))
        mask[np.searchsorted(types.offsets, rows, "right") - 1] = True
        return mask

    def _types_meant(self, type_: str) -> list[int]:
        names = [relation_text(name) for name in self._index.graph.types.names]
        same = [i for i, name in enumerate(names) if normalise(name) == normalise(relation_text(type_))]
        if same or not names:
            return same
        cosines = self.embedder.embed(names) @ self._embed(relation_text(type_))
        nearest = int(np.argmax(cosines))
        return [nearest] if cosines[nearest] >= CLOSE_TYPE else []

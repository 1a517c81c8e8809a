"""Distances between the texts of a pattern and what an index holds, by the vectors that it stores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from clew.graph.distances import Distance, Mask, TextDistances, Vectors
from clew.index.directory import Index
from clew.index.vectors import ENTITY_SCALES, ENTITY_VECTORS, RELATION_VECTORS, readable, relation_text
from clew.text.embedder import Embedder
from clew.text.normalise import normalise
from clew.types import PatternEdge, PatternNode

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
        self._masks: dict[str, Mask | None] = {}

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

"""Distances between the texts of a pattern and what an index holds, by the vectors that it stores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np

from clew.graph.match.distances import (
    Distance,
    Mask,
    Measure,
    NameVectors,
    NearestEntities,
    Rounded,
    TextDistances,
)
from clew.index.store.directory import Index
from clew.index.vectors.backends.base import Nearest
from clew.index.vectors.entity_search import EntitySearch, open_entity_search
from clew.index.vectors.vectors import ENTITY_SCALES, ENTITY_VECTORS, RELATION_VECTORS
from clew.text.embedder import Embedder
from clew.text.labels import readable, relation_text
from clew.text.normalise import normalise
from clew.types import PatternEdge, PatternNode

CANDIDATE_STEPS = ((256, 256), (4096, 4096), (65_536, 16_384))
"""(wanted, listed) candidates of a name in an index that has a backend: a few more cost little."""
MOST_ASKED_CANDIDATES = 524_288
"""Where more are wanted, all entities are measured, and so many listed."""
MOST_REMEMBERED = 1 << 22
"""Candidates that are kept, of all names together."""
CLOSE_TYPE = 0.6
"""A type is meant by another word if their cosine is at least this; no entity is of a farther one."""


class IndexDistances(TextDistances):
    """`TextDistances` that embeds the texts of a pattern as the index embedded its labels."""

    def __init__(self, index: Index, embedder: Embedder) -> None:
        relations = index.array(RELATION_VECTORS).astype(np.float32, copy=False)
        vectors = NameVectors(*index.vectors(ENTITY_VECTORS, ENTITY_SCALES), relations)
        super().__init__(embedder, vectors, exact=self._exact)
        self._index = index
        self._search = open_entity_search(index)
        self._nearest_by_name: dict[tuple[str, int], NearestEntities] = {}
        self._remembered = 0
        self._masks: dict[str, Mask | None] = {}

    def node_candidates(self, node: PatternNode, count: int) -> NearestEntities:
        """The nearest by a scan of all vectors, or by a large index's backend, which may overlook some."""
        if self._search is None:
            return super().node_candidates(node, count)
        step = _step(count)
        cached = self._nearest_by_name.get((node.name, step))
        return self._ask(self._search, [node.name], step)[0] if cached is None else cached

    def prepare(self, nodes: Sequence[PatternNode], count: int) -> None:
        """Ask the backend for all of them, on a thread each, or measure all entities once."""
        step = _step(count)
        names = [
            name for name in dict.fromkeys(n.name for n in nodes) if (name, step) not in self._nearest_by_name
        ]
        if self._search is not None and names:
            self._ask(self._search, names, step)

    def _ask(self, search: EntitySearch, names: Sequence[str], count: int) -> list[NearestEntities]:
        if self._remembered > MOST_REMEMBERED:
            self._nearest_by_name.clear()
            self._remembered = 0
        queries = [self._embed(name).astype(np.float32) for name in names]
        if count == MOST_ASKED_CANDIDATES:
            nearest = search.nearest_of_all(queries, count)
        else:
            with ThreadPoolExecutor(len(names)) as pool:
                nearest = list(pool.map(partial(search.nearest, k=count), queries))
        candidates = [self._candidates(name, near) for name, near in zip(names, nearest, strict=True)]
        self._nearest_by_name |= {
            (name, count): near_entities for name, near_entities in zip(names, candidates, strict=True)
        }
        self._remembered += sum(len(near_entities.entities) for near_entities in candidates)
        return candidates

    def _candidates(self, name: str, near: Nearest) -> NearestEntities:
        """Put the entities of exactly that name before the others."""
        exact = np.array(sorted(self._exact(name)), np.int64)
        is_other = ~np.isin(near.ids, exact)
        ids = np.concatenate([exact, near.ids[is_other]])
        distances = np.concatenate([np.zeros(len(exact)), near.distances[is_other]])
        return NearestEntities(ids.astype(np.int32), distances, len(ids) >= self._index.graph.nodes)

    def measure(self, node: PatternNode) -> Measure | None:
        """Measure by the stored vectors; entities of exactly that name are at distance 0.

        None where the vectors are in Milvus: only those that it lists are candidates.
        """
        if self._search is None:
            return super().measure(node)
        if not len(self.vectors.entities):
            return None
        exact = np.array(sorted(self._exact(node.name)), np.int32)
        vectors, query = self.vectors, Rounded.of(self._embed(node.name).astype(np.float32))
        return Measure(exact, np.zeros(len(exact)), vectors.entities, vectors.scale, query)

    def relation_distances(self, edge: PatternEdge) -> Distance:
        """Distances of the relation's name, its words split as those of the graph's relations are."""
        return super().relation_distances(replace(edge, relation=relation_text(edge.relation or "")))

    def allowed(self, node: PatternNode) -> Mask | None:
        """Entities of the type, or of the nearest if it is close; None, any, where no types are declared."""
        if node.type is None:
            return None
        if node.type not in self._masks:
            declared = len(self._index.graph.types.names) > 0
            self._masks[node.type] = self._mask_of_types(self.matching_types(node.type)) if declared else None
        return self._masks[node.type]

    def of_nearest_types(self, type_: str, count: int) -> Mask | None:
        """Entities of the `count` types nearest to one (SimGRAG's k(t)); None in a graph without types."""
        names = self._type_names
        if not names:
            return None
        cosines = self.embedder.embed(names) @ self._embed(relation_text(type_))
        return self._mask_of_types(np.argsort(-cosines, kind="stable")[:count].tolist())

    @property
    def _type_names(self) -> list[str]:
        return [relation_text(name) for name in self._index.graph.types.names]

    def _embed(self, text: str) -> Distance:
        return super()._embed(readable(text))

    def _exact(self, text: str) -> Iterator[int]:
        return (hit.entity for hit in self._index.names.exact(text))

    def _mask_of_types(self, type_ids: Sequence[int]) -> Mask:
        types = self._index.graph.types
        mask = np.zeros(self._index.graph.nodes, np.bool_)
        mask[types.owners[np.isin(types.type, type_ids)]] = True
        return mask

    def matching_types(self, type_: str) -> list[int]:
        """The declared types that a name says, or the nearest if it is close."""
        names = self._type_names
        equal_names = [
            i for i, name in enumerate(names) if normalise(name) == normalise(relation_text(type_))
        ]
        if equal_names or not names:
            return equal_names
        cosines = self.embedder.embed(names) @ self._embed(relation_text(type_))
        nearest = int(np.argmax(cosines))
        return [nearest] if cosines[nearest] >= CLOSE_TYPE else []


def _step(count: int) -> int:
    """How many candidates to list where `count` are wanted."""
    return next((listed for wanted, listed in CANDIDATE_STEPS if count <= wanted), MOST_ASKED_CANDIDATES)

"""Distances for patterns that a model writes: the embedder's (SimGRAG, eq. 2), nearer where words agree.

A model does not know the graph's names: *actor in* is meant for `starring`, *2 May 1908* for `1908-05-02`,
a misspelt name for the right one. `FewCandidates` is the paper's letter: the nearest k only, by embedding
alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew.graph.graph import ValueKind
from clew.graph.match.distances import Distance, Distances, Mask, NearestEntities, distances_from
from clew.index.explore import nodes_containing
from clew.index.store.directory import Index
from clew.index.vectors.entities import IndexDistances
from clew.methods.evidence_names import ARTICLES
from clew.methods.settings import FITTING_GSD
from clew.query.execute import against
from clew.query.values import values_in
from clew.query.vocabulary import words_of_label
from clew.reading.shared_reader import reader_of
from clew.text.embedder import Embedder
from clew.text.labels import relation_text
from clew.types import PatternEdge, PatternNode

MOST_MEASURED_NAMES = 8
"""Names whose distances to all entities are remembered."""
LEAST_WEIGHT = 0.05
"""Weight of a word that is like no relation; a word that is one weighs 1 more."""
SHARPER = 1.3
"""Power of the likeness of words: those that are half alike mean the same less than half of the time."""
MEANT = 0.42
"""Likeness, to the reader's encoder, from which words mean a relation (`benchmarks/bound.py`)."""
MOST_COMPARED_RELATIONS = 512
"""Relations, the nearest otherwise, whose labels the reader's encoder compares."""
TYPO_DISTANCE = 0.5
"""Distance of a name from one with which it shares nothing; a misspelt one is at a share of it."""
PART_DISTANCE = 0.3
"""Distance of a name from longer ones that hold it whole; of the shortest of them, none."""


def without_article(name: str) -> str:
    """A name without an article before it."""
    first, _, remainder = name.partition(" ")
    return remainder if remainder and first.casefold() in ARTICLES else name


def _distance(cosine: NDArray[np.float32]) -> Distance:
    """L2 distances of unit vectors of these cosines."""
    return np.sqrt(2 * np.clip(1 - cosine, 0.0, None))


class PatternDistances(IndexDistances):
    """`IndexDistances`, and what the reader's encoder says of relations; misspelt names and values."""

    def __init__(self, index: Index, embedder: Embedder) -> None:
        super().__init__(index, embedder)
        self._reader = reader_of(index, embedder)
        self._by_relation: dict[str, Distance] = {}

    def relation_distances(self, edge: PatternEdge) -> Distance:
        """The least of the embedder's distance, the words', and, where no relation is near, the encoder's.

        Raises EmbedderError: the shipped model cannot be opened.
        """
        name = edge.relation or ""
        if name not in self._by_relation:
            words = words_of_label(relation_text(name))
            distances = np.minimum(super().relation_distances(edge), self._by_words(words))
            if name and len(distances) and distances.min() > FITTING_GSD:
                nearest = np.argsort(distances, kind="stable")[:MOST_COMPARED_RELATIONS]
                distances[nearest] = np.minimum(distances[nearest], self._by_meaning(words, nearest.tolist()))
            self._by_relation[name] = distances
        return self._by_relation[name]

    def _by_words(self, words: str) -> Distance:
        """Distances of words from all relations, by the forms and the meanings of each word."""
        likeness = self._reader.compare(words).exact_relations ** SHARPER
        if not len(likeness):
            return np.full(likeness.shape[1], np.inf)
        # *film director*: a word that names no relation says little of which one is meant.
        weight = likeness.max(axis=1) + LEAST_WEIGHT
        return _distance(weight @ likeness / weight.sum())

    def _by_meaning(self, words: str, relations: Sequence[int]) -> Distance:
        """Distances of words from some relations by the reader's encoder; `MEANT` is 1."""
        alike = self._reader.likenesses(self._reader.vector(words), relations)
        return _distance(0.5 + 0.5 * (alike - MEANT) / (1 - MEANT))

    def node_candidates(self, node: PatternNode, count: int) -> NearestEntities:
        """Find the nearest entities; the distances of the latest names only are remembered."""
        if node.name not in self._nodes and len(self._nodes) >= MOST_MEASURED_NAMES:
            self._nodes.pop(next(iter(self._nodes)))
        return super().node_candidates(node, count)

    def _entity_distances(self, name: str) -> NDArray[np.float32]:
        vectors, names, labels = self.vectors, self._index.names, self._index.graph.labels
        distances = distances_from(vectors.entities, vectors.scale, np.asarray(self._embed(name), np.float32))
        exact = [*self._exact(name), *self._exact(without_article(name))]
        distances[exact] = 0.0
        if distances.min(initial=1.0) > 0.0 and (parts := nodes_containing(names, name)):
            # *HP-40* is a whole word of few names; the shortest of them is the plainest.
            shortest = min(len(labels[node]) for node in parts)
            for node in parts:
                far = PART_DISTANCE * (len(labels[node]) > shortest)
                distances[node] = min(float(distances[node]), far)
        if distances.min(initial=1.0) > 0.0:
            distances[self._value_nodes(name)] = 0.0
        if distances.min(initial=1.0) > 0.0:
            for hit in names.fuzzy(name, 5):
                distances[hit.entity] = min(float(distances[hit.entity]), TYPO_DISTANCE * (1 - hit.score))
        return distances

    def _value_nodes(self, name: str) -> list[int]:
        """Nodes whose number or date is the one that a name says."""
        stated = values_in(name)
        whole = {(stop - start) >= len(name.strip(' "')) for start, stop in stated}
        if len(stated) != 1 or whole != {True}:
            return []
        values, nodes = self._index.graph.values, set[int]()
        for value in next(iter(stated.values())):
            typed = np.flatnonzero(values.kind == (ValueKind.DATE if value.date else ValueKind.NUMBER))
            nodes.update(typed[against(values.value[typed], "=", value, value.date)].tolist())
        return sorted(nodes)


@dataclass(frozen=True, slots=True)
class Cut:
    """Candidates of the paper's letter (sections 5.1, C.1): k(n) `nodes`, k(r) `relations`, k(t) `types`."""

    nodes: int
    relations: int
    types: int


class FewCandidates(Distances):
    """The paper's letter (sections 5.1 and C.1): the nearest entities, relations and types, no others."""

    def __init__(self, distances: IndexDistances, cut: Cut) -> None:
        self.distances, self.cut = distances, cut
        self._masks: dict[str, Mask | None] = {}

    def node_candidates(self, node: PatternNode, count: int) -> NearestEntities:
        """The nearest, however many are asked for."""
        limit = self.cut.nodes
        candidates = self.distances.node_candidates(node, limit)
        return NearestEntities(candidates.entities[:limit], candidates.distances[:limit], True)

    def prepare(self, nodes: Sequence[PatternNode], count: int) -> None:
        """Look up the same few of all."""
        self.distances.prepare(nodes, self.cut.nodes)

    def relation_distances(self, edge: PatternEdge) -> Distance:
        """Distances of the nearest; all others are infinite."""
        distances = self.distances.relation_distances(edge)
        if len(distances) <= self.cut.relations:
            return distances
        nearest = np.argsort(distances, kind="stable")[: self.cut.relations]
        cut_distances = np.full(len(distances), np.inf)
        cut_distances[nearest] = distances[nearest]
        return cut_distances

    def allowed(self, node: PatternNode) -> Mask | None:
        """Return the entities of the k(t) nearest types (section C.1)."""
        if node.type is None:
            return None
        if node.type not in self._masks:
            self._masks[node.type] = self.distances.of_nearest_types(node.type, self.cut.types)
        return self._masks[node.type]

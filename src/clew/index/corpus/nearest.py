"""Nodes and walks nearest to a question by cosine (Walk&Retrieve, eq. 3), from a stored corpus or none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from clew.foundation.arrays import Float32, Int8, Int64
from clew.graph.graph import Graph
from clew.graph.match.distances import Rounded
from clew.graph.neighbourhood import best_of
from clew.graph.walks.walks import Walker
from clew.index.corpus.corpus import NODE_SEARCH, Corpus, CorpusSettings, RootWalks, open_corpus
from clew.index.corpus.corpus_parts import root_of_walks
from clew.index.corpus.walk_vectors import WalkEmbedder
from clew.index.store.directory import Index
from clew.index.vectors.backends.base import VectorIndex
from clew.index.vectors.backends.registry import open_vectors
from clew.index.vectors.dots import dots
from clew.index.vectors.entity_search import EntitySearch, nearest_stored, open_entity_search
from clew.index.vectors.vectors import ENTITY_SCALES, ENTITY_VECTORS
from clew.text.embedder import Embedder

LAZY_WALKS = 1000
"""Walks made of one node where none are stored; a smaller tree is taken whole."""
LAZY_EDGES = 200_000
"""Edges looked at for one of these nodes."""
COMPARED_AGAIN = 16
"""Nodes beyond those wanted that are compared with the query as it is, after all with its rounded form."""
_ROWS = 65_536


@dataclass(frozen=True, slots=True)
class NearWalk:
    """A retrieved walk: `root`, its steps and nodes, cosine with the question, its `sentence` by a model."""

    root: int
    steps: tuple[int, ...]
    nodes: tuple[int, ...]
    score: float
    sentence: str = ""


class WalkIndex:
    """Searches the corpus of an open index; without one, names are searched, and walks made when needed."""

    def __init__(self, index: Index, embedder: Embedder) -> None:
        self.graph: Graph = index.graph
        self.maker = WalkEmbedder(index.graph, embedder)
        self.corpus: Corpus | None = open_corpus(index)
        self.settings = self.corpus.settings if self.corpus is not None else CorpusSettings("lazy")
        self._milvus = None if self.corpus is None else self.corpus.milvus
        self._walker: Walker | None = None
        self._backend: VectorIndex | None = None
        self._search: EntitySearch | None = None
        if self._milvus is not None:
            return
        if self.corpus is None:
            self._q, self._scale = index.vectors(ENTITY_VECTORS, ENTITY_SCALES)
            self._search = open_entity_search(index)
        else:
            self._q, self._scale = self.corpus.nodes, self.corpus.node_scales
            if NODE_SEARCH in index.files:
                self._backend = open_vectors(index.files[NODE_SEARCH], self._q.shape[1])
        if self._search is None and self._backend is None:
            self._inverse: Float32 = np.concatenate([np.zeros(0, np.float32), *_inverse_norms(self._q)])
            self._all_rows: Int64 = np.arange(len(self._q))

    def nearest_nodes(self, query: Float32, k: int, *, first: Sequence[int] = ()) -> list[int]:
        """The `k` nodes of largest cosine with `query`, ties by id, `first` before all; VectorStoreError."""
        first_nodes = list(dict.fromkeys(first))[:k]
        if len(first_nodes) == k:
            return first_nodes
        ranked = self._rank_nodes(query, k + len(first_nodes))
        return first_nodes + [node for node in ranked if node not in first_nodes][: k - len(first_nodes)]

    def _rank_nodes(self, query: Float32, count: int) -> list[int]:
        """Find the nearest nodes: in Milvus, among what faiss proposes, or by comparing all."""
        if self._milvus is not None:
            return self._milvus.nearest_nodes(query, count)
        if self._search is not None:
            return self._search.nearest(query, count).ids.tolist()
        if self._backend is not None:
            changed = None if self.corpus is None else self.corpus.changed
            near = nearest_stored(self._backend, self._q, self._scale, query, count, also=changed)
            return near.ids.tolist()
        rounded = dots(self._q, self._inverse, self._all_rows, Rounded.of(query).values)
        near = best_of(rounded, count + COMPARED_AGAIN, self._all_rows)
        cosines = (self._q[near].astype(np.float32) @ query) * self._inverse[near]
        return near[best_of(cosines, count, near)].tolist()

    def walks_of(self, root: int) -> RootWalks:
        """Get the stored walks of a node, or make them."""
        stored = None if self.corpus is None else self.corpus.of_root(root)
        if stored is not None:
            return stored
        if self._walker is None:
            settings = replace(self.settings.walking, max_walks=LAZY_WALKS)
            self._walker = Walker(self.graph, settings)
        walks = self._walker.walk(np.array([root], np.int32), edges=LAZY_EDGES)
        vectors = self.maker.vectors(root_of_walks(walks), walks.steps, walks.nodes)
        return RootWalks(root, walks.steps, walks.nodes, walks.counts, vectors)

    def nearest_walks(self, root: int, query: Float32, k: int) -> list[NearWalk]:
        """The `k` of a node's own walks of largest cosine with `query`, ties in the order of the corpus."""
        walks = self.walks_of(root)
        if len(walks.ids) and self._milvus is not None:
            best = self._milvus.nearest_walks(walks.ids, query, k)
        else:
            cosines = walks.vectors @ query
            rows = np.argsort(-cosines, kind="stable")[:k].tolist()
            best = [(row, float(cosines[row])) for row in rows]
        return [_near_walk(walks, row, cosine) for row, cosine in best]


def _near_walk(walks: RootWalks, row: int, score: float) -> NearWalk:
    steps, nodes = walks.steps[row], walks.nodes[row]
    length = int((steps >= 0).sum())
    sentence = walks.sentences[row] if walks.sentences else ""
    return NearWalk(
        walks.root, tuple(steps[:length].tolist()), tuple(nodes[:length].tolist()), score, sentence
    )


def _inverse_norms(q: Int8) -> Iterator[Float32]:
    """One over the length of each row, 0 for a row of zeros, part by part."""
    for start in range(0, len(q), _ROWS):
        rows = q[start : start + _ROWS].astype(np.float32)
        norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        yield np.divide(1, norms, out=np.zeros_like(norms), where=norms > 0)

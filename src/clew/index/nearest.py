"""Nodes and walks nearest to a question by cosine (Walk&Retrieve eq.

3), from a stored corpus or from none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from clew.graph.graph import Graph, Int32
from clew.graph.walks import Walker
from clew.index.corpus import Corpus, CorpusSettings, RootWalks, WalkEmbedder, open_corpus
from clew.index.directory import Index
from clew.index.vectors import ENTITY_SCALES, ENTITY_VECTORS, Float32, Int8
from clew.text.embedder import Embedder

LAZY_WALKS = 200
"""Walks made of one node where none are stored; a smaller tree is taken whole."""
LAZY_EDGES = 200_000
"""Edges looked at for one of these nodes."""
IN_FLOATS = 500_000
"""Up to so many node vectors are kept as floats."""
_ROWS = 65_536


@dataclass(frozen=True, slots=True)
class NearWalk:
    """A retrieved walk: `root`, its steps and the nodes behind the root, and its cosine with the question."""

    root: int
    steps: tuple[int, ...]
    nodes: tuple[int, ...]
    score: float


class WalkIndex:
    """Searches the corpus of one open index.

    One that has none is searched by names, and walks are made when asked for.
    """

    def __init__(self, index: Index, embedder: Embedder) -> None:
        self.graph: Graph = index.graph
        self.maker = WalkEmbedder.of(index.graph, embedder)
        self.corpus: Corpus | None = open_corpus(index)
        self.settings = self.corpus.settings if self.corpus is not None else CorpusSettings("lazy")
        q, scale = self._stored_vectors(index)
        self._q: Int8 = q
        self._floats: Float32 | None = None
        if len(q) <= IN_FLOATS:
            self._floats = q.astype(np.float32)
            self._inverse: Float32 = _inverse_norms(self._floats)
        else:
            self._inverse = np.concatenate([_inverse_norms(part) for part in _parts(q)])
        del scale  # a cosine does not depend on it
        self._walker: Walker | None = None

    def _stored_vectors(self, index: Index) -> tuple[Int8, Float32]:
        if self.corpus is not None:
            return self.corpus.nodes, self.corpus.node_scales
        q = index.array(ENTITY_VECTORS).astype(np.int8, copy=False)
        return q, index.array(ENTITY_SCALES).astype(np.float32, copy=False)

    def nearest_nodes(self, query: Float32, k: int, *, first: Sequence[int] = ()) -> list[tuple[int, float]]:
        """Find the `k` nodes of largest cosine with `query` float32 [d], ties by id.

        Those of `first` come before all others.
        """
        cosines = self._cosines(query)
        chosen = list(dict.fromkeys(first))[:k]
        more = min(len(cosines), k + len(chosen))
        near = np.argpartition(-cosines, more - 1)[:more]
        ranked = near[np.lexsort((near, -cosines[near]))].tolist()
        chosen += [node for node in ranked if node not in chosen][: k - len(chosen)]
        return [(node, float(cosines[node])) for node in chosen]

    def _cosines(self, query: Float32) -> Float32:
        if self._floats is not None:
            return (self._floats @ query) * self._inverse
        return np.concatenate([part @ query for part in _parts(self._q)]) * self._inverse

    def walks_of(self, root: int) -> RootWalks:
        """Get the stored walks of a node, or make them."""
        stored = None if self.corpus is None else self.corpus.of_root(root)
        if stored is not None:
            return stored
        if self._walker is None:
            settings = replace(self.settings.walking, max_walks=LAZY_WALKS)
            self._walker = Walker(self.graph, settings)
        walks = self._walker.walk(np.array([root], np.int32), edges=LAZY_EDGES)
        vectors = self.maker.vectors([root] * len(walks.steps), walks.steps, walks.nodes)
        return RootWalks(root, walks.steps, walks.nodes, walks.counts, vectors)

    def nearest_walks(self, root: int, query: Float32, k: int) -> list[NearWalk]:
        """Find the `k` of a node's own walks of largest cosine with `query`.

        Ties in the order of the corpus.
        """
        found = self.walks_of(root)
        cosines = found.vectors @ query
        best = np.argsort(-cosines, kind="stable")[:k].tolist()
        return [_near_walk(root, found.steps[row], found.nodes[row], float(cosines[row])) for row in best]


def _near_walk(root: int, steps: Int32, nodes: Int32, score: float) -> NearWalk:
    length = int((steps >= 0).sum())
    return NearWalk(root, tuple(steps[:length].tolist()), tuple(nodes[:length].tolist()), score)


def _parts(q: Int8) -> Iterator[Float32]:
    return (q[at : at + _ROWS].astype(np.float32) for at in range(0, len(q), _ROWS))


def _inverse_norms(rows: Float32) -> Float32:
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return np.divide(1, norms, out=np.zeros_like(norms), where=norms > 0)

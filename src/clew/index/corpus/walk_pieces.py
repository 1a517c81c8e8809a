"""The walks of some roots with their vectors: made by one process in turn, or by workers beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from clew.arrays import Float32, Int8
from clew.graph.graph import Graph
from clew.graph.walks.walks import Walker
from clew.index.corpus.corpus import CorpusSettings
from clew.index.corpus.corpus_parts import CorpusPart, make_part
from clew.index.corpus.walk_vectors import WalkEmbedder
from clew.index.store.sections import written_graph
from clew.index.vectors.triple_vectors import Span
from clew.text.embedders.registry import embedder


@dataclass(frozen=True, eq=False)
class SpanWalks:
    """The walks of some roots with their vectors, and the vectors of the roots: int8 [n, d], float32 [n]."""

    part: CorpusPart
    q: Int8
    scale: Float32


def root_walks(graph: Graph, settings: CorpusSettings, turned: WalkEmbedder) -> Callable[[Span], SpanWalks]:
    """What makes the walks of the roots of a span; `turned` makes vectors of them."""
    walker = Walker(graph, settings.walking if settings.kind != "lazy" else settings.own_triples)

    def make(span: Span) -> SpanWalks:
        part = make_part(walker, turned, np.arange(*span, dtype=np.int32))
        return SpanWalks(part, *turned.node_vectors(part.walks, part.q, part.scale))

    return make


@dataclass(frozen=True, slots=True)
class WalkPieces:
    """Makes the walks of roots, said by templates."""

    folder: Path
    embedder: str
    settings: CorpusSettings

    def __call__(self) -> Callable[[Span], SpanWalks]:
        """Open the graph."""
        graph = written_graph(self.folder)
        turned = WalkEmbedder(graph, embedder(self.embedder), plain=self.settings.plain)
        return root_walks(graph, self.settings, turned)

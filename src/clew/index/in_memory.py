"""An index of a small graph that is made for a few questions and is never written."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from clew.foundation.arrays import AnyArray
from clew.graph.graph import Graph
from clew.index.names.names import NamesIndex
from clew.index.store.directory import Excerpt, Index
from clew.index.store.manifest import EmbedderRecord, IndexAbout, Manifest
from clew.index.store.sections import graph_counts
from clew.index.vectors.triple_vectors import triple_batch
from clew.index.vectors.vectors import TRIPLE_SCALES, TRIPLE_VECTORS, vector_sections
from clew.text.embedder import Embedder
from clew.version import __version__


def index_in_memory(
    graph: Graph, embedder: Embedder, *, triple_vectors: bool = False, excerpt: Excerpt | None = None
) -> Index:
    """The index of a graph, as if built; an `excerpt` of a larger graph. Raises EmbedderError."""
    sections: dict[str, AnyArray] = dict(vector_sections(graph, embedder))
    if triple_vectors:
        rows, scales = triple_batch(graph, embedder)((0, graph.triples))
        sections |= {TRIPLE_VECTORS: rows, TRIPLE_SCALES: scales.astype(np.float32)}
    made_with = EmbedderRecord.of(embedder)
    about = IndexAbout((), made_with, graph_counts(graph), {})
    manifest = Manifest(__version__, "", 0, about, ())
    return Index(Path("(memory)"), manifest, graph, NamesIndex.of(graph), sections, excerpt=excerpt)

"""An index that is being written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from clew.graph.graph import Graph
from clew.index.store.writing import IndexWriter
from clew.text.embedder import Embedder


@dataclass(frozen=True, eq=False)
class NewIndex:
    """A generation that `writer` writes of the index `path`: its graph, and what makes its vectors."""

    writer: IndexWriter
    path: Path
    graph: Graph
    embedder: Embedder

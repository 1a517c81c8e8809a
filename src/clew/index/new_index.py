"""An index that is being written, and how far that is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Literal, TypeVar

from clew.graph.graph import Graph
from clew.index.store.sections import written_graph
from clew.index.store.writing import IndexWriter
from clew.index.vectors.backends.registry import VectorChoice
from clew.text.embedder import Embedder
from clew.text.embedders.registry import embedder
from clew.workers.base import Workers

S = TypeVar("S")
T = TypeVar("T")
Span = tuple[int, int]
"""Rows [first, stop)."""
Stage = Literal["read", "schema", "names", "vectors", "search", "walks", "nodes", "triples"]
Progress = Callable[[Stage, int, int], None]
"""Called with (stage, done, total): bytes of the sources, then entities (for walks too), then triples."""


def say_nothing(*_: object) -> None:
    """Tell nobody how far the work is."""


@dataclass(frozen=True, eq=False)
class NewIndex:
    """A generation that `writer` writes of the index `path`: its graph, and what makes its vectors.

    `vectors` are searched as they say, and `tell` is told how far the work is. The workers of a `cluster`
    make what is many pieces; its nodes must see the index.
    """

    writer: IndexWriter
    path: Path
    graph: Graph
    embedder: Embedder
    vectors: VectorChoice = field(default_factory=VectorChoice)
    tell: Progress = say_nothing
    cluster: Workers | None = None

    def map(self, make: Callable[[Graph, Embedder], Callable[[S], T]], pieces: Iterable[S]) -> Iterator[T]:
        """Results in the order of the pieces: of the workers of the cluster, if there is one, else made here.

        `make` gives what does a piece, and can be pickled where there is a cluster.
        """
        if self.cluster is None:
            return map(make(self.graph, self.embedder), pieces)
        maker = _Pieces(self.writer.folder.resolve(), self.embedder.name, make)
        return self.cluster.map(maker, pieces)


@dataclass(frozen=True, slots=True)
class _Pieces(Generic[S, T]):
    """Makes what does pieces in a worker, from what is written in the folder."""

    folder: Path
    embedder: str
    make: Callable[[Graph, Embedder], Callable[[S], T]]

    def __call__(self) -> Callable[[S], T]:
        return self.make(written_graph(self.folder), embedder(self.embedder))

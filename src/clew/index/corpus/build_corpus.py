"""The corpus of an index that is being built: made, put into Milvus or searched by faiss, and written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np

from clew.errors import ClewError
from clew.foundation.arrays import Float32, Int8, chunks_of
from clew.graph.graph import Graph
from clew.graph.walks.walks import Walker
from clew.index.corpus.corpus import NODE_COLLECTION, NODE_SEARCH, WALK_COLLECTION, Corpus, CorpusSettings
from clew.index.corpus.corpus_milvus import MilvusCorpus
from clew.index.corpus.corpus_parts import CorpusPart, joined_parts, make_part, places_of, without_vectors
from clew.index.corpus.walk_vectors import Verbaliser, WalkEmbedder
from clew.index.new_index import NewIndex, Span, say_nothing
from clew.index.store.writing import IndexWriter
from clew.index.vectors.backends.base import VectorStoreError
from clew.index.vectors.entity_search import build_search
from clew.index.vectors.in_milvus import finish
from clew.text.embedder import Embedder

NODE_FILE = "node_search.faiss"
ROOTS_AT_ONCE = 2048
ESTIMATED = 500
"""Roots by whose walks the work of a model is estimated."""


@dataclass(frozen=True, eq=False)
class SpanWalks:
    """The walks of some roots with their vectors, and the vectors of the roots: int8 [n, d], float32 [n]."""

    part: CorpusPart
    q: Int8
    scale: Float32


def root_walks(
    settings: CorpusSettings, graph: Graph, embedder: Embedder, verbaliser: Verbaliser | None = None
) -> Callable[[Span], SpanWalks]:
    """What makes the walks of the roots of a span, said by `verbaliser` if there is one."""
    walker = Walker(graph, settings.walking if settings.kind != "lazy" else settings.own_triples)
    walk_embedder = WalkEmbedder(graph, embedder, verbaliser, plain=settings.plain)

    def make(span: Span) -> SpanWalks:
        part = make_part(walker, walk_embedder, np.arange(*span, dtype=np.int32))
        return SpanWalks(part, *walk_embedder.node_vectors(part.walks, part.q, part.scale))

    return make


def add_corpus(new_index: NewIndex, settings: CorpusSettings, verbaliser: Verbaliser | None) -> None:
    """Make the corpus (on the cluster, unless a model says walks) and write it; raises as `build_index`."""
    writer, graph = new_index.writer, new_index.graph
    milvus = _new_collections(new_index, settings)
    map_spans = None if verbaliser is not None else partial(new_index.map, partial(root_walks, settings))
    try:
        corpus = build_corpus(
            graph,
            new_index.embedder,
            settings,
            lambda done: new_index.tell("walks", done, graph.nodes),
            verbaliser=verbaliser,
            milvus=milvus,
            map_spans=map_spans,
        )
        if milvus is not None:
            finish(writer, milvus.walks, WALK_COLLECTION, WALK_COLLECTION, milvus.next_walk)
            finish(writer, milvus.nodes, NODE_COLLECTION, NODE_COLLECTION, len(milvus.version))
    except BaseException as error:
        # A Milvus that is not there is not waited for once more: the next build removes what is left.
        if milvus is not None and not isinstance(error, VectorStoreError):
            with suppress(ClewError):
                milvus.drop()
        raise
    writer.add_all(corpus.sections())
    nodes = len(corpus.nodes)
    if milvus is None and new_index.vectors.uses_faiss(nodes):
        add_node_search(writer, corpus, lambda done: new_index.tell("nodes", done, nodes))


def build_corpus(
    graph: Graph,
    embedder: Embedder,
    settings: CorpusSettings,
    progress: Callable[[int], None] = say_nothing,
    *,
    verbaliser: Verbaliser | None = None,
    milvus: MilvusCorpus | None = None,
    map_spans: Callable[[Iterable[Span]], Iterator[SpanWalks]] | None = None,
) -> Corpus:
    """Walk, verbalise (by `verbaliser` if there is one) and embed all nodes, into `milvus` if that is given.

    `progress` is called with the number of roots done; `map_spans` has other workers make the walks of
    spans of roots, if it is given. Raises EmbedderError, VectorStoreError, and what the verbaliser raises.
    """
    if verbaliser is not None:
        walker = Walker(graph, settings.walking)
        sample_roots = np.unique(
            np.linspace(0, graph.nodes - 1, min(graph.nodes, ESTIMATED)).astype(np.int32)
        )
        verbaliser.begin(graph, walker.walk(sample_roots), graph.nodes)
    parts: list[CorpusPart] = []
    rows = 0 if milvus is not None else graph.nodes
    node_q, node_scale = np.empty((rows, embedder.dimension), np.int8), np.empty(rows, np.float32)
    spans = list(chunks_of(0, graph.nodes, ROOTS_AT_ONCE))
    results = (
        map(root_walks(settings, graph, embedder, verbaliser), spans)
        if map_spans is None
        else map_spans(spans)
    )
    for span, span_walks in zip(spans, results, strict=True):
        part, roots = span_walks.part, slice(*span)
        if milvus is None:
            node_q[roots], node_scale[roots] = span_walks.q, span_walks.scale
        else:
            milvus.add_nodes(np.arange(*span, dtype=np.int32), span_walks.q)
        if settings.kind != "lazy":
            parts.append(part if milvus is None else without_vectors(part, milvus.add_walks(part.q)))
        progress(span[1])
    model = None if verbaliser is None else verbaliser.name
    if not parts:
        none = np.empty(0, np.int32)
        return Corpus(settings, (), none.astype(np.int16), none, node_q, node_scale, model, milvus)
    stored_parts = (joined_parts(parts),)
    return Corpus(
        settings, stored_parts, *places_of(stored_parts, graph.nodes), node_q, node_scale, model, milvus
    )


def add_node_search(
    writer: IndexWriter, corpus: Corpus, progress: Callable[[int], None] = say_nothing
) -> None:
    """Write the file that searches the vectors of nodes."""
    build_search(writer.folder / NODE_FILE, corpus.nodes, corpus.node_scales, progress)
    writer.add_file(NODE_SEARCH, NODE_FILE)


def _new_collections(new_index: NewIndex, settings: CorpusSettings) -> MilvusCorpus | None:
    if new_index.vectors.place is None:
        return None
    walks = 0 if settings.kind == "lazy" else new_index.graph.nodes * settings.walking.rows
    return MilvusCorpus.create(new_index, new_index.vectors.place, walks)

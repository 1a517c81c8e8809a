"""The corpus of an index that is being built: made, put into Milvus or searched by faiss, and written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial

import numpy as np

from clew.errors import ClewError
from clew.graph.graph import Graph
from clew.graph.walks.walks import Walker
from clew.index.corpus.corpus import (
    NODE_COLLECTION,
    NODE_SEARCH,
    WALK_COLLECTION,
    Corpus,
    CorpusSettings,
)
from clew.index.corpus.corpus_milvus import MilvusCorpus
from clew.index.corpus.corpus_parts import CorpusPart, joined_parts, places_of, without_vectors
from clew.index.corpus.walk_pieces import Span, SpanWalks, WalkPieces, root_walks
from clew.index.corpus.walk_vectors import Verbaliser, WalkEmbedder
from clew.index.new_index import NewIndex
from clew.index.progress import Progress
from clew.index.store.writing import IndexWriter
from clew.index.vectors.backends.base import VectorStoreError
from clew.index.vectors.backends.entities import build_search
from clew.index.vectors.backends.registry import VectorChoice
from clew.index.vectors.in_milvus import finish
from clew.text.embedder import Embedder
from clew.workers.base import Workers

NODE_FILE = "node_search.faiss"
ROOTS_AT_ONCE = 2048
ESTIMATED = 500
"""Roots by whose walks the work of a model is estimated."""


def add_corpus(
    new: NewIndex,
    settings: CorpusSettings,
    vectors: VectorChoice,
    verbaliser: Verbaliser | None,
    tell: Progress,
    cluster: Workers | None = None,
) -> None:
    """Make the corpus and write its sections; raises as `build_index`.

    With a `cluster` its workers make the walks that templates say; a model is asked by those that the
    verbaliser has.
    """
    writer, graph = new.writer, new.graph
    pieces = WalkPieces(writer.folder.resolve(), new.embedder.name, settings)
    milvus = _new_collections(new, settings, vectors)
    try:
        corpus = build_corpus(
            graph,
            new.embedder,
            settings,
            lambda done: tell("walks", done, graph.nodes),
            verbaliser=verbaliser,
            milvus=milvus,
            spread=None if cluster is None or verbaliser is not None else partial(cluster.map, pieces),
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
    if milvus is None:
        add_node_search(writer, corpus, vectors, tell)


def build_corpus(
    graph: Graph,
    embedder: Embedder,
    settings: CorpusSettings,
    progress: Callable[[int], None] | None = None,
    *,
    verbaliser: Verbaliser | None = None,
    milvus: MilvusCorpus | None = None,
    spread: Callable[[Iterable[Span]], Iterator[SpanWalks]] | None = None,
) -> Corpus:
    """Walk, verbalise (by `verbaliser` if there is one) and embed all nodes, into `milvus` if that is given.

    `progress` is called with the number of roots done; `spread` has the walks of spans of roots made by
    others, if it is given. Raises EmbedderError, VectorStoreError, and what the
    verbaliser raises.
    """
    if verbaliser is not None:
        walker = Walker(graph, settings.walking)
        few = np.unique(np.linspace(0, graph.nodes - 1, min(graph.nodes, ESTIMATED)).astype(np.int32))
        verbaliser.begin(graph, walker.walk(few), graph.nodes)
    parts: list[CorpusPart] = []
    rows = 0 if milvus is not None else graph.nodes
    node_q, node_scale = np.empty((rows, embedder.dimension), np.int8), np.empty(rows, np.float32)
    spans = [(at, min(at + ROOTS_AT_ONCE, graph.nodes)) for at in range(0, graph.nodes, ROOTS_AT_ONCE)]
    if spread is None:
        maker = WalkEmbedder(graph, embedder, verbaliser, plain=settings.plain)
        made = map(root_walks(graph, settings, maker), spans)
    else:
        made = spread(spans)
    for span, walked in zip(spans, made, strict=True):
        part, roots = walked.part, slice(*span)
        if milvus is None:
            node_q[roots], node_scale[roots] = walked.q, walked.scale
        else:
            milvus.add_nodes(np.arange(*span, dtype=np.int32), walked.q)
        if settings.kind != "lazy":
            parts.append(part if milvus is None else without_vectors(part, milvus.add_walks(part.q)))
        if progress is not None:
            progress(span[1])
    model = None if verbaliser is None else verbaliser.name
    if not parts:
        none = np.empty(0, np.int32)
        return Corpus(settings, (), none.astype(np.int16), none, node_q, node_scale, model, milvus)
    whole = (joined_parts(parts),)
    return Corpus(settings, whole, *places_of(whole, graph.nodes), node_q, node_scale, model, milvus)


def add_node_search(
    writer: IndexWriter, corpus: Corpus, vectors: VectorChoice, tell: Progress | None = None
) -> None:
    """Write the file that searches the vectors of nodes, if one is wanted or helps."""
    count = len(corpus.nodes)
    if vectors.uses_faiss(count):
        held = corpus.nodes, corpus.node_scales

        def progress(done: int) -> None:
            if tell is not None:
                tell("nodes", done, count)

        build_search(writer.folder / NODE_FILE, *held, progress)
        writer.add_file(NODE_SEARCH, NODE_FILE)


def _new_collections(new: NewIndex, settings: CorpusSettings, vectors: VectorChoice) -> MilvusCorpus | None:
    if vectors.kind != "milvus" or vectors.place is None:
        return None
    walks = 0 if settings.kind == "lazy" else new.graph.nodes * settings.walking.rows
    return MilvusCorpus.create(new, vectors.place, walks)

"""Sources → index directory: read the graph, make its sections and corpus, write them as one generation."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from os.path import isfile  # unlike those of Path, False where a folder may not be searched
from pathlib import Path
from typing import Literal, Unpack, cast

import numpy as np

from clew.errors import ClewError, IndexAccessError, InputError, UsageError
from clew.foundation.arrays import AnyArray, Float32, Int8, chunks_of
from clew.graph.build import BuildReport, ReadOptions, SourceReport, build_graph
from clew.graph.graph import Graph
from clew.graph.readers.source_files import modification_time, source_bytes
from clew.graph.schema import schema_of
from clew.graph.walks.walks import Walker
from clew.index.corpus import (
    NODE_COLLECTION,
    NODE_SEARCH,
    WALK_COLLECTION,
    Corpus,
    CorpusPart,
    CorpusSettings,
    Verbaliser,
    WalkEmbedder,
    joined_parts,
    make_part,
    places_of,
    without_vectors,
)
from clew.index.names import NamePart, NamesIndex, differing_labels, entry_count
from clew.index.shards import SHARDED_FROM, make_shards, remove_shards
from clew.index.store.directory import (
    MANIFEST,
    EmbedderRecord,
    IndexAbout,
    Manifest,
    SourceRecord,
)
from clew.index.store.sections import graph_counts, graph_sections, with_prefix, written_graph
from clew.index.store.writing import IndexWriter, NewIndex, Progress, Span, say_nothing, write_schema, writing
from clew.index.vectors.backends import MilvusVectors, VectorChoice, VectorStoreError
from clew.index.vectors.entities import (
    ENTITY_SCALES,
    ENTITY_SEARCH,
    ENTITY_VECTORS,
    RELATION_VECTORS,
    SEARCH_FILE,
    build_search,
    relations_of,
    vector_part,
)
from clew.index.vectors.in_milvus import MilvusCorpus, finish, new_collection, write_names
from clew.index.vectors.triples import add_triple_vectors
from clew.text.embedders import Embedder
from clew.workers import Workers

# The corpus of an index that is being built: made, put into Milvus or searched by faiss, and written.

NODE_FILE = "node_search.faiss"
ROOTS_AT_ONCE = 2048


SpanWalks = tuple[CorpusPart, tuple[Int8, Float32]]
"""The walks of some roots with their vectors, and the vectors of the roots: int8 [n, d], float32 [n]."""


def root_walks(
    settings: CorpusSettings, graph: Graph, embedder: Embedder, verbaliser: Verbaliser | None = None
) -> Callable[[Span], SpanWalks]:
    """What makes the walks of the roots of a span, said by `verbaliser` if there is one."""
    walker = Walker(graph, settings)
    walk_embedder = WalkEmbedder(graph, embedder, verbaliser, plain=settings.plain)

    def make(span: Span) -> SpanWalks:
        part = make_part(walker, walk_embedder, np.arange(*span, dtype=np.int32))
        return part, walk_embedder.node_vectors(part.walks, part.q, part.scale)

    return make


def add_corpus(new_index: NewIndex, settings: CorpusSettings, verbaliser: Verbaliser | None) -> None:
    """Make the corpus (on the cluster, unless a model says walks) and write it; raises as `build_index`."""
    writer, graph, place = new_index.writer, new_index.graph, new_index.vectors.place
    milvus = None
    if place is not None:
        milvus = MilvusCorpus(
            new_collection(new_index, place, "walks", graph.nodes * settings.rows),
            new_collection(new_index, place, "nodes", graph.nodes),
            np.full(graph.nodes, -1, np.int32),
        )
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
                milvus.walks.drop()
                milvus.nodes.drop()
        raise
    writer.add_all(corpus.sections())
    nodes = len(corpus.nodes)
    if milvus is None and new_index.vectors.uses_faiss(nodes):
        stored = corpus.nodes, corpus.node_scales
        add_search(writer, NODE_SEARCH, NODE_FILE, *stored, lambda done: new_index.tell("nodes", done, nodes))


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

    `progress` is called with the roots done; `map_spans` has workers make the walks of spans of roots. Raises
    EmbedderError, VectorStoreError.
    """
    if verbaliser is not None:
        walker = Walker(graph, settings)
        sample_roots = np.unique(np.linspace(0, graph.nodes - 1, min(graph.nodes, 500)).astype(np.int32))
        verbaliser.begin(graph, walker.walk(sample_roots), graph.nodes)
    parts: list[CorpusPart] = []
    rows = graph.nodes if milvus is None else 0
    node_q, node_scale = np.empty((rows, embedder.dimension), np.int8), np.empty(rows, np.float32)
    spans = list(chunks_of(0, graph.nodes, ROOTS_AT_ONCE))
    if map_spans is None:
        map_spans = partial(map, root_walks(settings, graph, embedder, verbaliser))
    for span, (part, (q, scale)) in zip(spans, map_spans(spans), strict=True):
        roots = slice(*span)
        if milvus is None:
            node_q[roots], node_scale[roots] = q, scale
        else:
            milvus.add_nodes(np.arange(*span, dtype=np.int32), q)
        parts.append(part if milvus is None else without_vectors(part, milvus.add_walks(part.q)))
        progress(span[1])
    stored = (joined_parts(parts),)
    model = None if verbaliser is None else verbaliser.name
    return Corpus(settings, stored, *places_of(stored, graph.nodes), node_q, node_scale, model, milvus)


def add_search(
    writer: IndexWriter,
    section: str,
    file: str,
    quantised: AnyArray,
    scales: AnyArray,
    progress: Callable[[int], None] = say_nothing,
) -> None:
    """Write the file that searches stored vectors, int8 [n, d] times float32 [n], as a section."""
    build_search(writer.folder / file, quantised, scales, progress)
    writer.add_file(section, file)


@dataclass(frozen=True, slots=True)
class Built:
    """A finished index and what was read for it."""

    path: Path
    manifest: Manifest
    report: BuildReport


class IndexOptions(ReadOptions, total=False):
    """What an index is to hold, and how it is made.

    `triple_vectors` are else made at the first question that needs them; `corpus` are the walks of every
    node, said by `verbaliser` if there is one; `addresses` are of databases that sources were read from.
    """

    triple_vectors: bool
    progress: Progress | None
    corpus: CorpusSettings | None
    verbaliser: Verbaliser | None
    vectors: VectorChoice | None
    addresses: Mapping[Path, str] | None
    cluster: Workers | None


def build_index(
    sources: Sequence[Path],
    out: Path,
    *,
    embedder: Embedder,
    wait: float = 5.0,
    **options: Unpack[IndexOptions],
) -> Built:
    """Index `sources` into the directory `out`, replacing the index that is there once the new one is whole.

    Raises InputError, ParseError (sources), EmbedderError, LockedError (another process writes for more than
    `wait` seconds), IndexAccessError, VectorStoreError, and what the verbaliser raises.
    """
    vectors, tell = options.get("vectors") or VectorChoice(), options.get("progress") or say_nothing
    corpus, verbaliser = options.get("corpus"), options.get("verbaliser")
    if verbaliser is not None and corpus is None:
        raise UsageError("A model says walks that are stored. Add --corpus bfs or --corpus random")
    if vectors.place is not None:
        MilvusVectors(1, vectors.place).check()
    for source in sources:
        if isfile(source / MANIFEST):
            advice = f"Ask it (clew ask {source} …), or give the graph files that it was made from"
            raise InputError(f"{source}: is an index already. {advice}")
    # Before reading, so that a change during the build is noticed afterwards.
    names = ReadOptions.__annotations__
    reading = cast("ReadOptions", {name: value for name, value in options.items() if name in names})
    files = (*sources, reading.get("types"), reading.get("aliases"))
    modified = {path: modification_time(path) for path in files if path is not None}
    with memory_errors(out), writing(out, wait=wait) as writer:
        report = _read_sources(writer, sources, tell, **reading)
        graph = written_graph(writer.folder)
        new_index = NewIndex(writer, out, graph, embedder, vectors, tell, options.get("cluster"))
        nodes = graph.nodes
        tell("schema", 0, nodes)
        write_schema(writer, schema_of(graph))
        tell("schema", nodes, nodes)
        _add_names(new_index)
        _add_vectors(new_index)
        if vectors.uses_faiss(nodes):
            stored = writer.array(ENTITY_VECTORS), writer.array(ENTITY_SCALES)
            add_search(writer, ENTITY_SEARCH, SEARCH_FILE, *stored, lambda done: tell("search", done, nodes))
        if corpus is not None:
            add_corpus(new_index, corpus, verbaliser)
        if options.get("triple_vectors"):
            add_triple_vectors(new_index)
        new_manifest = writer.commit(_about(new_index, report, modified, options.get("addresses") or {}))
    return Built(out, new_manifest, report)


def _read_sources(
    writer: IndexWriter, sources: Sequence[Path], tell: Progress, **reading: Unpack[ReadOptions]
) -> BuildReport:
    """Read the sources and write the graph; what was read is not kept in memory."""
    total = source_bytes(sources)
    graph, report = build_graph(sources, progress=lambda bytes: tell("read", bytes, total), **reading)
    writer.add_all(with_prefix("graph", graph_sections(graph)))
    return report


def _add_names(new_index: NewIndex) -> None:
    graph, label_nodes = new_index.graph, differing_labels(new_index.graph)
    count = entry_count(graph, label_nodes)
    new_index.tell("names", 0, count)
    if count < SHARDED_FROM:
        names = NamesIndex.of(graph)
    else:
        shards = make_shards(new_index, "names", count, lambda done: new_index.tell("names", done, count))
        parts = [NamePart.from_arrays(first, arrays) for first, arrays in shards]
        names = NamesIndex.merge(graph, label_nodes, parts)
    new_index.writer.add_all(with_prefix("names", names.sections()))
    remove_shards(new_index)
    new_index.tell("names", count, count)


def _add_vectors(new_index: NewIndex) -> None:
    """Embed what entities and relations are called, into files or into Milvus."""
    writer, graph, embedder = new_index.writer, new_index.graph, new_index.embedder
    rows = graph.nodes

    def tell(done: int) -> None:
        new_index.tell("vectors", done, graph.nodes)

    if rows < SHARDED_FROM:
        parts = [vector_part(graph, embedder, 0, rows, tell)]
    else:
        parts = [arrays for _, arrays in make_shards(new_index, "vectors", rows, tell)]
    if new_index.vectors.place is not None:
        write_names(new_index, new_index.vectors.place, parts)
        rows, parts = 0, []
    shape, entities = (rows, embedder.dimension), np.dtype(np.int8)
    writer.add_parts(ENTITY_VECTORS, shape, entities, (part["q"] for part in parts))
    writer.add_parts(ENTITY_SCALES, shape[:1], np.dtype(np.float32), (part["scale"] for part in parts))
    writer.add(RELATION_VECTORS, relations_of(graph, embedder))
    remove_shards(new_index)


@contextmanager
def memory_errors(out: Path) -> Generator[None]:
    """Turn a lack of memory while `out` is built into an error with advice."""
    try:
        yield
    except MemoryError as error:
        raise IndexAccessError(
            f"{out}: the memory is full. Close other programs or use a machine with more, and run the same "
            "command again. What was there before is unchanged"
        ) from error


def _about(
    new_index: NewIndex, report: BuildReport, modified: Mapping[Path, int], addresses: Mapping[Path, str]
) -> IndexAbout:
    def record(source_report: SourceReport, role: Literal["source", "types", "aliases"]) -> SourceRecord:
        path = Path(source_report.path)
        name = addresses.get(path) or str(path.resolve())
        return SourceRecord(
            name, role, source_report.format, source_report.bytes, modified[path], source_report.sha256
        )

    sources = [record(source, "source") for source in report.sources]
    for side in report.side_files:
        sources.append(record(side, "types" if side.format == "entity-type" else "aliases"))
    made_with = EmbedderRecord.of(new_index.embedder)
    return IndexAbout(tuple(sources), made_with, graph_counts(new_index.graph), asdict(report))

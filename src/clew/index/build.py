"""Sources → index directory: read the graph, make its sections, write them as one generation."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from os.path import isfile  # unlike that of Path, False where a folder may not be searched
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Unpack, cast

import numpy as np

from clew.converting import converted
from clew.errors import IndexAccessError, InputError, UsageError
from clew.graph.build.build import BuildReport, ReadOptions, SourceReport, build_graph
from clew.graph.graph import Graph
from clew.graph.readers.source_files import modification_time, source_bytes
from clew.index.names.names import NamePart, NamesIndex, differing_labels, entry_count
from clew.index.new_index import NewIndex
from clew.index.progress import Progress, Stage
from clew.index.shards import SHARDED_FROM, Shards, worker_count
from clew.index.store.manifest import (
    FORMAT_VERSION,
    MANIFEST,
    EmbedderRecord,
    IndexAbout,
    Manifest,
    SourceRecord,
)
from clew.index.store.sections import graph_counts, graph_sections, with_prefix
from clew.index.store.stored_schema import write_schema
from clew.index.store.writing import IndexWriter, writing
from clew.index.vectors.backends.entities import ENTITY_SEARCH, SEARCH_FILE, build_search
from clew.index.vectors.backends.registry import VectorChoice, has_faiss
from clew.index.vectors.vectors import (
    ENTITY_SCALES,
    ENTITY_VECTORS,
    RELATION_VECTORS,
    relations_of,
    vector_part,
    vector_sections,
)
from clew.text.embedder import Embedder
from clew.version import __version__
from clew.workers.base import Workers

if TYPE_CHECKING:
    from clew.index.corpus.corpus import CorpusSettings
    from clew.index.corpus.walk_vectors import Verbaliser
    from clew.index.vectors.backends.milvus import MilvusPlace


@dataclass(frozen=True, slots=True)
class Built:
    """A finished index and what was read for it."""

    path: Path
    manifest: Manifest
    report: BuildReport


class IndexOptions(ReadOptions, total=False):
    """What an index is to hold, and how it is made.

    `triple_vectors` embeds the triples too, which the methods that rank triples otherwise do at their first
    question. With `corpus`, also the walks of every node (`clew.index.corpus.corpus`), said by `verbaliser`
    if there is one. `vectors` says with what vectors are searched; `addresses` are of databases that sources
    were read from. The workers of a `cluster` make what is many pieces; its nodes must see the index.
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

    Raises InputError and ParseError for the sources, EmbedderError, LockedError if another process still
    writes to `out` after `wait` seconds, IndexAccessError if `out` cannot be written, VectorStoreError if
    Milvus does not answer, and what the verbaliser raises.
    """
    tell, vectors = options.get("progress") or _say_nothing, options.get("vectors") or VectorChoice()
    corpus, verbaliser, cluster = options.get("corpus"), options.get("verbaliser"), options.get("cluster")
    triple_vectors = options.get("triple_vectors", False)
    check_choice(corpus, verbaliser, vectors)
    _refuse_indexes(sources)
    # Before reading, so that a change during the build is noticed afterwards.
    reading = _reading(options)
    side = (reading.get("types"), reading.get("aliases"))
    modified = {path: modification_time(path) for path in (*sources, *side) if path is not None}
    said_by = None if verbaliser is None else verbaliser.name
    how = (reading.get("format"), reading.get("on_error", "fail"), reading.get("hints"))
    key = _key(modified, embedder, side, how, corpus, triple_vectors, vectors, said_by)
    with memory_errors(out), writing(out, wait=wait, key=key) as writer:
        report = _read(writer, sources, tell, **reading)
        graph = writer.graph()
        _add_schema(writer, graph, tell)
        label_nodes = differing_labels(graph)
        count = entry_count(graph, label_nodes)
        new = NewIndex(writer, out, graph, embedder)
        shards = Shards(writer.folder, graph, label_nodes, embedder, worker_count(embedder, count), cluster)
        _add_names(writer, shards, count, tell)
        _add_vectors(new, shards, vectors, tell)
        _add_search(writer, graph.nodes, vectors, tell)
        if corpus is not None:
            # It compiles kernels, which nothing else here needs.
            from clew.index.corpus.build_corpus import add_corpus

            add_corpus(new, corpus, vectors, verbaliser, tell, cluster)
        if triple_vectors:
            _add_triple_vectors(new, vectors, cluster, tell)
        manifest = writer.commit(_about(graph, report, embedder, modified, options.get("addresses") or {}))
    return Built(out, manifest, report)


def _refuse_indexes(sources: Sequence[Path]) -> None:
    for source in sources:
        if isfile(source / MANIFEST):
            advice = f"Ask it (clew ask {source} …), or give the graph files that it was made from"
            raise InputError(f"{source}: is an index already. {advice}")


def _add_schema(writer: IndexWriter, graph: Graph, tell: Progress) -> None:
    if writer.marked("schema") is None:
        tell("schema", 0, graph.nodes)
        write_schema(writer, graph)
        writer.mark("schema", {})
        tell("schema", graph.nodes, graph.nodes)


def _add_triple_vectors(
    new: NewIndex, vectors: VectorChoice, cluster: Workers | None, tell: Progress
) -> None:
    """Embed all triples, by the workers of a cluster if there is one, into files or into Milvus."""
    from clew.index.vectors.triple_vectors import TriplePieces, put_triple_vectors, write_triple_vectors

    pieces = TriplePieces(new.writer.folder.resolve(), new.embedder.name)
    spread = None if cluster is None else partial(cluster.map, pieces)

    def done(count: int) -> None:
        tell("triples", count, new.graph.triples)

    if vectors.place is None:
        write_triple_vectors(new, done, spread)
    else:
        put_triple_vectors(new, vectors.place, done, spread)


def _reading(options: IndexOptions) -> ReadOptions:
    """Take out those of the options that say how files are read."""
    names = ReadOptions.__annotations__
    return cast("ReadOptions", {name: value for name, value in options.items() if name in names})


def check_choice(corpus: CorpusSettings | None, verbaliser: Verbaliser | None, vectors: VectorChoice) -> None:
    """Raise UsageError for what does not go together, VectorStoreError if Milvus does not answer."""
    if verbaliser is not None and (corpus is None or corpus.kind == "lazy"):
        raise UsageError("A model says walks that are stored. Add --corpus bfs or --corpus random")
    if vectors.kind == "milvus":
        from clew.index.vectors.in_milvus import check_place

        check_place(vectors.place)


def _key(modified: Mapping[Path, int], embedder: Embedder, *more: object) -> str:
    """Stand for all that shapes an index; a build of the same key goes on where one that was stopped was."""
    files = [(str(path.resolve()), source_bytes([path]), time) for path, time in modified.items()]
    parts = [files, embedder.name, embedder.fingerprint, repr(more)]
    made_by = [__version__, FORMAT_VERSION, has_faiss()]
    return hashlib.blake2b(json.dumps([parts, made_by]).encode(), digest_size=16).hexdigest()


def _read(
    writer: IndexWriter,
    sources: Sequence[Path],
    tell: Progress,
    **reading: Unpack[ReadOptions],
) -> BuildReport:
    """Read the sources and write the graph, unless that is done; what was read is not kept in memory."""
    done = writer.marked("graph")
    if done is not None:
        return converted(done, BuildReport)
    total = source_bytes(sources)
    graph, report = build_graph(sources, progress=lambda bytes: tell("read", bytes, total), **reading)
    writer.add_all(with_prefix("graph", graph_sections(graph)))
    writer.mark("graph", asdict(report))
    return report


def _add_names(writer: IndexWriter, shards: Shards, count: int, tell: Progress) -> None:
    if writer.marked("names") is not None:
        return
    tell("names", 0, count)
    if count < SHARDED_FROM:
        names = NamesIndex.of(shards.graph)
    else:
        parts = shards.make("names", lambda done: tell("names", done, count))
        made = zip(shards.spans("names"), parts, strict=True)
        parts = [NamePart.from_arrays(first, arrays) for (first, _), arrays in made]
        names = NamesIndex.merge(shards.graph, shards.label_nodes, parts)
    writer.add_all(with_prefix("names", names.sections()))
    writer.mark("names", {})
    shards.remove("names")
    tell("names", count, count)


def _add_vectors(new: NewIndex, shards: Shards, vectors: VectorChoice, tell: Progress) -> None:
    writer, graph, embedder = new.writer, new.graph, new.embedder
    if writer.marked("vectors") is not None:
        return
    if vectors.place is not None:
        _put_vectors(new, shards, vectors.place, tell)
    elif graph.nodes < SHARDED_FROM:
        writer.add_all(vector_sections(graph, embedder, lambda done: tell("vectors", done, graph.nodes)))
    else:
        parts = shards.make("vectors", lambda done: tell("vectors", done, graph.nodes))
        shape = (graph.nodes, embedder.dimension)
        writer.add_parts(ENTITY_VECTORS, shape, np.dtype(np.int8), (part["q"] for part in parts))
        writer.add_parts(ENTITY_SCALES, shape[:1], np.dtype(np.float32), (part["scale"] for part in parts))
        writer.add(RELATION_VECTORS, relations_of(graph, embedder))
    writer.mark("vectors", {})
    shards.remove("vectors")


def _put_vectors(new: NewIndex, shards: Shards, place: MilvusPlace, tell: Progress) -> None:
    """Put the vectors of names into Milvus."""
    # It needs pymilvus, which nothing else here does.
    from clew.index.vectors.in_milvus import write_names

    writer, graph, embedder = new.writer, new.graph, new.embedder
    if graph.nodes < SHARDED_FROM:
        parts = [
            vector_part(graph, embedder, 0, graph.nodes, lambda done: tell("vectors", done, graph.nodes))
        ]
    else:
        parts = shards.make("vectors", lambda done: tell("vectors", done, graph.nodes))
    write_names(new, place, parts)
    writer.add(ENTITY_VECTORS, np.empty((0, embedder.dimension), np.int8))
    writer.add(ENTITY_SCALES, np.empty(0, np.float32))
    writer.add(RELATION_VECTORS, relations_of(graph, embedder))


def _add_search(writer: IndexWriter, nodes: int, vectors: VectorChoice, tell: Progress) -> None:
    """Write the file of a vector backend, if one is wanted or helps."""
    if not vectors.uses_faiss(nodes):
        return
    held = writer.array(ENTITY_VECTORS), writer.array(ENTITY_SCALES)
    build_search(writer.folder / SEARCH_FILE, *held, lambda done: tell("search", done, nodes))
    writer.add_file(ENTITY_SEARCH, SEARCH_FILE)


@contextmanager
def memory_errors(out: Path) -> Generator[None]:
    """Turn a lack of memory while `out` is built into an error with advice."""
    try:
        yield
    except MemoryError as error:
        raise IndexAccessError(
            f"{out}: the memory is full. Close other programs or use a machine with more, and run the same "
            "command again: it goes on where it was. What was there before is unchanged"
        ) from error


def _say_nothing(_stage: Stage, _done: int, _total: int) -> None:
    pass


def _about(
    graph: Graph,
    report: BuildReport,
    embedder: Embedder,
    modified: Mapping[Path, int],
    addresses: Mapping[Path, str],
) -> IndexAbout:
    records = [_record(source, "source", modified, addresses) for source in report.sources]
    for side in report.side_files:
        role = "types" if side.format == "entity-type" else "aliases"
        records.append(_record(side, role, modified, addresses))
    made_with = EmbedderRecord(embedder.name, embedder.fingerprint, embedder.dimension)
    return IndexAbout(tuple(records), made_with, graph_counts(graph), asdict(report))


def _record(
    source: SourceReport,
    role: Literal["source", "types", "aliases"],
    modified: Mapping[Path, int],
    addresses: Mapping[Path, str],
) -> SourceRecord:
    path = Path(source.path)
    name = addresses.get(path) or str(path.resolve())
    return SourceRecord(name, role, source.format, source.bytes, modified[path], source.sha256)

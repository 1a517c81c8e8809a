"""Sources → index directory: read the graph, make its sections, write them as one generation."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from os.path import isfile  # unlike that of Path, False where a folder may not be searched
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Unpack, cast

import numpy as np

from clew.errors import IndexAccessError, InputError, UsageError
from clew.graph.build import BuildReport, ReadOptions, SourceReport, build_graph
from clew.graph.readers.registry import modification_time, source_bytes
from clew.index.names.names import NamePart, NamesIndex, differing_labels, entry_count
from clew.index.new_index import NewIndex, Progress, say_nothing
from clew.index.shards import SHARDED_FROM, make_shards, remove_shards
from clew.index.store import manifest
from clew.index.store.manifest import IndexAbout, Manifest, SourceRecord
from clew.index.store.sections import graph_counts, graph_sections, with_prefix
from clew.index.store.stored_schema import write_schema
from clew.index.store.writing import IndexWriter, writing
from clew.index.vectors.backends.milvus import MilvusVectors
from clew.index.vectors.backends.registry import VectorChoice
from clew.index.vectors.entity_search import ENTITY_SEARCH, SEARCH_FILE, build_search
from clew.index.vectors.vectors import (
    ENTITY_SCALES,
    ENTITY_VECTORS,
    RELATION_VECTORS,
    relations_of,
    vector_part,
)
from clew.text.embedder import Embedder
from clew.workers.base import Workers

if TYPE_CHECKING:
    from clew.index.corpus.corpus import CorpusSettings
    from clew.index.corpus.walk_vectors import Verbaliser


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
    vectors, tell = options.get("vectors") or VectorChoice(), options.get("progress") or say_nothing
    corpus, verbaliser = options.get("corpus"), options.get("verbaliser")
    check_choice(corpus, verbaliser, vectors)
    _refuse_indexes(sources)
    # Before reading, so that a change during the build is noticed afterwards.
    names = ReadOptions.__annotations__
    reading = cast("ReadOptions", {name: value for name, value in options.items() if name in names})
    files = (*sources, reading.get("types"), reading.get("aliases"))
    modified = {path: modification_time(path) for path in files if path is not None}
    with memory_errors(out), writing(out, wait=wait) as writer:
        report = _read_sources(writer, sources, tell, **reading)
        new_index = NewIndex(writer, out, writer.graph(), embedder, vectors, tell, options.get("cluster"))
        _add_schema(new_index)
        _add_names(new_index)
        _add_vectors(new_index)
        _add_search(new_index)
        if corpus is not None:
            # It compiles kernels, which nothing else here needs.
            from clew.index.corpus.build_corpus import add_corpus

            add_corpus(new_index, corpus, verbaliser)
        if options.get("triple_vectors"):
            from clew.index.vectors.triple_vectors import add_triple_vectors

            add_triple_vectors(new_index)
        new_manifest = writer.commit(_about(new_index, report, modified, options.get("addresses") or {}))
    return Built(out, new_manifest, report)


def _refuse_indexes(sources: Sequence[Path]) -> None:
    for source in sources:
        if isfile(source / manifest.MANIFEST):
            advice = f"Ask it (clew ask {source} …), or give the graph files that it was made from"
            raise InputError(f"{source}: is an index already. {advice}")


def check_choice(corpus: CorpusSettings | None, verbaliser: Verbaliser | None, vectors: VectorChoice) -> None:
    """Raise UsageError for what does not go together, VectorStoreError if Milvus does not answer."""
    if verbaliser is not None and (corpus is None or corpus.kind == "lazy"):
        raise UsageError("A model says walks that are stored. Add --corpus bfs or --corpus random")
    if vectors.place is not None:
        MilvusVectors(1, vectors.place).check()


def _read_sources(
    writer: IndexWriter, sources: Sequence[Path], tell: Progress, **reading: Unpack[ReadOptions]
) -> BuildReport:
    """Read the sources and write the graph; what was read is not kept in memory."""
    total = source_bytes(sources)
    graph, report = build_graph(sources, progress=lambda bytes: tell("read", bytes, total), **reading)
    writer.add_all(with_prefix("graph", graph_sections(graph)))
    return report


def _add_schema(new_index: NewIndex) -> None:
    new_index.tell("schema", 0, new_index.graph.nodes)
    write_schema(new_index.writer, new_index.graph)
    new_index.tell("schema", new_index.graph.nodes, new_index.graph.nodes)


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
        # It needs pymilvus, which nothing else here does.
        from clew.index.vectors.in_milvus import write_names

        write_names(new_index, new_index.vectors.place, parts)
        rows, parts = 0, []
    shape, entities = (rows, embedder.dimension), np.dtype(np.int8)
    writer.add_parts(ENTITY_VECTORS, shape, entities, (part["q"] for part in parts))
    writer.add_parts(ENTITY_SCALES, shape[:1], np.dtype(np.float32), (part["scale"] for part in parts))
    writer.add(RELATION_VECTORS, relations_of(graph, embedder))
    remove_shards(new_index)


def _add_search(new_index: NewIndex) -> None:
    """Write the file of a vector backend, if one is wanted or helps."""
    writer, nodes = new_index.writer, new_index.graph.nodes
    if new_index.vectors.uses_faiss(nodes):
        vectors = writer.array(ENTITY_VECTORS), writer.array(ENTITY_SCALES)
        build_search(
            writer.folder / SEARCH_FILE, *vectors, lambda done: new_index.tell("search", done, nodes)
        )
        writer.add_file(ENTITY_SEARCH, SEARCH_FILE)


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
    made_with = manifest.EmbedderRecord.of(new_index.embedder)
    return IndexAbout(tuple(sources), made_with, graph_counts(new_index.graph), asdict(report))

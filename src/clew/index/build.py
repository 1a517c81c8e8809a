"""Sources → index directory: read the graph, make its sections, write them as one generation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from os.path import isfile  # unlike that of Path, False where a folder may not be searched
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from clew.errors import EmbedderMismatch, InputError
from clew.graph.build import BuildReport, SourceReport, build_graph, source_bytes
from clew.graph.graph import Graph
from clew.index.directory import writing
from clew.index.files import Array
from clew.index.manifest import MANIFEST, About, EmbedderRecord, Manifest, SourceRecord
from clew.index.names import NamesIndex
from clew.index.sections import graph_sections, with_prefix
from clew.index.vectors import vector_sections
from clew.text.embedder import Embedder

if TYPE_CHECKING:
    from clew.index.corpus import CorpusSettings

Stage = Literal["read", "names", "vectors", "walks", "triples"]
Progress = Callable[[Stage, int, int], None]
"""Called with (stage, done, total): bytes of the sources, then entities (for walks too), then triples."""
OnError = Literal["fail", "skip"]


@dataclass(frozen=True, slots=True)
class Built:
    """A finished index and what was read for it."""

    path: Path
    manifest: Manifest
    report: BuildReport


def build_index(
    sources: Sequence[Path],
    out: Path,
    *,
    embedder: Embedder,
    types: Path | None = None,
    aliases: Path | None = None,
    format: str | None = None,
    on_error: OnError = "fail",
    triple_vectors: bool = False,
    progress: Progress | None = None,
    wait: float = 5.0,
    corpus: CorpusSettings | None = None,
) -> Built:
    """Index `sources` into the directory `out`, replacing the index that is there once the new one is whole.

    `triple_vectors` embeds the triples too, which the methods that rank triples otherwise do at their first
    question.
    With `corpus`, also the walks of every node (see `clew.index.corpus`).

    Raises InputError and ParseError for the sources, EmbedderError, LockedError if another process
    still writes to `out` after `wait` seconds, IndexError_ if `out` cannot be written.
    """
    tell = progress or _say_nothing
    for source in sources:
        if isfile(source / MANIFEST):
            advice = f"Ask it (clew ask {source} …), or give the graph files that it was made from"
            raise InputError(f"{source}: is an index already. {advice}")
    with writing(out, wait=wait) as writer:
        # Before reading, so that a change during the build is noticed afterwards.
        modified = {path: modification_time(path) for path in (*sources, types, aliases) if path is not None}
        total = source_bytes(sources)
        graph, report = build_graph(
            sources,
            types=types,
            aliases=aliases,
            format=format,
            on_error=on_error,
            progress=lambda done: tell("read", done, total),
        )
        for sections in _sections(graph, embedder, corpus, tell):
            writer.add_all(sections)
        if triple_vectors:
            # It compiles kernels, which nothing else here needs.
            from clew.index.triple_vectors import write_triple_vectors

            write_triple_vectors(writer, graph, embedder, lambda done: tell("triples", done, graph.triples))
        manifest = writer.commit(_about(graph, report, embedder, modified))
    return Built(out, manifest, report)


def check_embedder(path: Path, manifest: Manifest, embedder: Embedder) -> None:
    """Raise EmbedderMismatch unless `embedder` made the vectors of the index `path`."""
    made_with = manifest.about.embedder
    if made_with is None or made_with.fingerprint != embedder.fingerprint:
        name = "none" if made_with is None else f"{made_with.name} ({made_with.fingerprint})"
        raise EmbedderMismatch(
            f"{path}: the index was made with the embedder {name}, not {embedder.name} "
            f"({embedder.fingerprint}). Choose that one (--embedder), or index the sources again"
        )


def modification_time(path: Path) -> int:
    """Nanoseconds since 1970 when a source, or the last of a folder's files, was modified.

    Raises InputError if it is missing.
    """
    try:
        times = [path.stat().st_mtime_ns]
        if path.is_dir():
            times += [file.stat().st_mtime_ns for file in path.iterdir()]
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file or directory. Check the path") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error
    return max(times)


def _sections(
    graph: Graph, embedder: Embedder, corpus: CorpusSettings | None, tell: Progress
) -> Iterator[Mapping[str, Array | bytes]]:
    """Make the sections kind by kind, so that each is written before the next is made."""
    yield with_prefix("graph", graph_sections(graph))
    tell("names", 0, graph.nodes)
    yield with_prefix("names", NamesIndex.of(graph).sections())
    tell("names", graph.nodes, graph.nodes)
    yield vector_sections(graph, embedder, lambda done: tell("vectors", done, graph.nodes))
    if corpus is not None:
        from clew.index.corpus import build_corpus

        yield build_corpus(graph, embedder, corpus, lambda done: tell("walks", done, graph.nodes)).sections()


def _say_nothing(_stage: Stage, _done: int, _total: int) -> None:
    pass


def _about(graph: Graph, report: BuildReport, embedder: Embedder, modified: dict[Path, int]) -> About:
    by_name = {str(path): time for path, time in modified.items()}
    records = [_record(source, "source", by_name) for source in report.sources]
    for side in report.side_files:
        role = "types" if side.format == "entity-type" else "aliases"
        records.append(_record(side, role, by_name))
    counts = {
        "nodes": graph.nodes,
        "relations": len(graph.relations),
        "triples": graph.triples,
        "types": len(graph.types.names),
        "aliases": len(graph.aliases.names),
    }
    made_with = EmbedderRecord(embedder.name, embedder.fingerprint, embedder.dimension)
    return About(tuple(records), made_with, counts, asdict(report))


def _record(
    source: SourceReport, role: Literal["source", "types", "aliases"], modified: dict[str, int]
) -> SourceRecord:
    path = str(Path(source.path).resolve())
    return SourceRecord(path, role, source.format, source.bytes, modified[source.path], source.sha256)

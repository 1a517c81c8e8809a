"""Sources → `Graph`: interning of names, duplicates, adjacency, values, side files, and a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np

from clew.errors import InputError
from clew.graph.build.assemble import Assembler
from clew.graph.build.assemble_arrays import ArrayAssembler
from clew.graph.build.inference import MOST_INFERRED
from clew.graph.graph import INFERRED, Graph
from clew.graph.readers.arrays import ARRAYS
from clew.graph.readers.batch import MAX_REASONS, Batch, OnError, Tally
from clew.graph.readers.hints import Hints
from clew.graph.readers.registry import choose_reader
from clew.graph.readers.side import read_pairs
from clew.graph.readers.source_files import checksum, source_bytes

MAX_SOURCES = np.iinfo(np.uint16).max

FEW_TRIPLES = 20
"""Below this, many relations say nothing about the source."""


class ReadOptions(TypedDict, total=False):
    """How graph files are read: files of types and aliases, their format, what to do with a faulty line."""

    types: Path | None
    aliases: Path | None
    format: str | None
    on_error: OnError
    hints: Hints | None


@dataclass(frozen=True, slots=True)
class SourceReport:
    """What was read from one source; `bytes` as on disk, `triples` before duplicates are merged."""

    path: str
    format: str
    sha256: str
    bytes: int
    triples: int
    blank: int
    skipped: int
    reasons: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What was read and what was not.

    `duplicates` is the number of triples merged into an equal one; `skipped` and `blank` count lines of
    all sources and side files; `reasons` are those of the first skipped lines; `unknown` counts lines
    of side files whose entity is not in the graph, `unknown_names` are the first of them.
    """

    sources: tuple[SourceReport, ...]
    side_files: tuple[SourceReport, ...]
    triples_read: int
    duplicates: int
    blank: int
    skipped: int
    reasons: tuple[str, ...]
    types_read: int
    aliases_read: int
    labels_read: int
    unknown: int
    unknown_names: tuple[str, ...]
    notes: tuple[str, ...]


def report_of(record: Mapping[str, Any]) -> BuildReport:
    """Make a report again from its fields (`asdict`) after JSON."""
    fields: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in record.items()
    }
    for key in ("sources", "side_files"):
        fields[key] = tuple(_source_of(source) for source in record[key])
    return BuildReport(**fields)


def _source_of(record: Mapping[str, Any]) -> SourceReport:
    fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in record.items()}
    return SourceReport(**fields)


def build_graph(
    sources: Sequence[Path],
    *,
    progress: Callable[[int], None] | None = None,
    **reading: Unpack[ReadOptions],
) -> tuple[Graph, BuildReport]:
    """Read `sources` in their order and the side files into one graph.

    `progress` is called with the number of bytes of the sources read so far, as on disk (their sum is
    `source_bytes`). Raises InputError for a source that cannot be read or a graph without triples,
    ParseError for a malformed line unless `on_error` is "skip".
    """
    if not 0 < len(sources) <= MAX_SOURCES:
        raise InputError(f"{len(sources)} sources given. Give from 1 to {MAX_SOURCES}")
    format, on_error = reading.get("format"), reading.get("on_error", "fail")
    hints = reading.get("hints") or Hints()
    assembler = _assembler(sources, format, hints)
    assembler.inference = hints.inference
    reports: list[SourceReport] = []
    done = 0
    for index, path in enumerate(sources):
        scope = str(index) if index else ""
        tally = Tally(on_error, _shifted(progress, done), scope, collect=True, hints=hints)
        reports.append(_read_source(path, format, tally, assembler, index))
        done += reports[-1].bytes
    side: list[SourceReport] = []
    for path, kind, take in (
        (reading.get("types"), "type", assembler.declare_types),
        (reading.get("aliases"), "alias", assembler.declare_aliases),
    ):
        if path is not None:
            tally = Tally(on_error, collect=True, hints=hints)
            count = sum(take(pairs) for pairs in read_pairs(path, kind, tally))
            tally.raise_faults()
            side.append(_report(path, f"entity-{kind}", count, tally))
    if assembler.triples == 0:
        raise InputError(_no_triples(reports))
    strangers = assembler.strangers()
    graph, duplicates = assembler.graph()
    unstated = assembler.unstated
    few = (
        "statement with properties is of a triple"
        if unstated == 1
        else "statements with properties are of triples"
    )
    about = f"{unstated:,} {few} that no source states: left out"
    notes = (*strangers, *_suspicions(graph), *([about] if unstated else []), *_inferences(graph, assembler))
    return graph, _summary(reports, side, assembler, duplicates, notes)


def _assembler(sources: Sequence[Path], format: str | None, hints: Hints) -> Assembler:
    alone = len(sources) == 1 and choose_reader(sources[0], format, hints) is ARRAYS
    return ArrayAssembler() if alone else Assembler()


def graph_of(
    triples: Iterable[tuple[str, str, str]],
    types: Mapping[str, Iterable[str]] | None = None,
    aliases: Mapping[str, Iterable[str]] | None = None,
) -> Graph:
    """Make a graph of a few triples in memory; names that only `types` or `aliases` know are left out."""
    assembler = Assembler()
    batch = Batch()
    for head, relation, tail in triples:
        batch.add(head, relation, tail)
    assembler.add(batch, 0)
    assembler.declare_types([(name, t) for name, given in (types or {}).items() for t in given])
    assembler.declare_aliases([(name, a) for name, given in (aliases or {}).items() for a in given])
    return assembler.graph()[0]


def _read_source(
    path: Path, format: str | None, tally: Tally, assembler: Assembler, index: int
) -> SourceReport:
    reader = choose_reader(path, format, tally.hints)
    before = assembler.triples
    for batch in reader.read(path, tally):
        assembler.add(batch, index)
    tally.raise_faults()
    return _report(path, reader.name, assembler.triples - before, tally)


def _report(path: Path, format: str, count: int, tally: Tally) -> SourceReport:
    return SourceReport(
        path=str(path),
        format=format,
        sha256=checksum(path),
        bytes=source_bytes([path]),
        triples=count,
        blank=tally.blank,
        skipped=tally.skipped,
        reasons=tuple(tally.reasons),
        notes=tuple(tally.notes),
    )


def _shifted(progress: Callable[[int], None] | None, start: int) -> Callable[[int], None] | None:
    return None if progress is None else lambda done: progress(start + done)


def _no_triples(reports: Sequence[SourceReport]) -> str:
    names = ", ".join(report.path for report in reports)
    reasons = [reason for report in reports for reason in report.reasons]
    why = f" All lines were skipped, first: {reasons[0]}" if reasons else ""
    return f"{names}: no triples found.{why} A graph needs at least one line head, relation, tail"


def _summary(
    reports: Sequence[SourceReport],
    side: Sequence[SourceReport],
    assembler: Assembler,
    duplicates: int,
    notes: tuple[str, ...],
) -> BuildReport:
    every = [*reports, *side]
    return BuildReport(
        sources=tuple(reports),
        side_files=tuple(side),
        triples_read=assembler.triples,
        duplicates=duplicates,
        blank=sum(report.blank for report in every),
        skipped=sum(report.skipped for report in every),
        reasons=tuple(reason for report in every for reason in report.reasons)[:MAX_REASONS],
        types_read=assembler.types_read,
        aliases_read=assembler.aliases_read,
        labels_read=assembler.labels_read,
        unknown=assembler.unknown,
        unknown_names=tuple(assembler.unknown_names),
        notes=tuple(note for report in every for note in report.notes) + notes,
    )


def _inferences(graph: Graph, assembler: Assembler) -> Iterator[str]:
    """Say how much follows from the ontology of the sources."""
    triples = int(np.count_nonzero(graph.source == INFERRED))
    if triples or assembler.inferred_types:
        yield (
            f"{triples:,} triples and {assembler.inferred_types:,} types follow from the ontology and are "
            "added as inferred; --no-inference leaves them out"
        )
    if assembler.cut:
        most = f"{MOST_INFERRED:,}"
        yield f"more follows from the ontology than the {most} that are added; the rest is left out"


def _suspicions(graph: Graph) -> tuple[str, ...]:
    """Say what looks wrong about a graph that was read without a fault."""
    relations = len(graph.relations)
    if graph.triples < FEW_TRIPLES or 2 * relations <= graph.triples:
        return ()
    return (
        f"{relations:,} relations in {graph.triples:,} triples: if the second column is not the relation, "
        "the source is a table or has its columns in another order",
    )

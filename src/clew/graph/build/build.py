"""Sources → `Graph`: interning of names, duplicates, adjacency, values, side files, and a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict, Unpack

import numpy as np

from clew.errors import InputError
from clew.graph.build.assemble import Assembler, adjacencies
from clew.graph.graph import INFERRED, Graph
from clew.graph.readers.arrays import ARRAYS, NameIds
from clew.graph.readers.batch import MAX_REASONS, Batch, IdTriples, OnError, Tally
from clew.graph.readers.delimited import read_pairs
from clew.graph.readers.hints import Hints
from clew.graph.readers.registry import choose_reader
from clew.graph.readers.source_files import checksum, source_bytes
from clew.graph.readers.table import TABLE, survey
from clew.graph.values import node_values

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


class ArrayAssembler(Assembler):
    """An `Assembler` of the one batch of an array directory: names stay bytes, ids stay as given."""

    def __init__(self) -> None:
        super().__init__()
        self._id_batch: IdTriples | None = None
        self._ids: NameIds | None = None

    def add(self, batch: Batch, source: int) -> None:
        """Take the ids of `batch`."""
        if batch.ids is None or self._id_batch is not None or source != 0:
            raise ValueError("one batch of ids is expected")
        self._id_batch = batch.ids
        self.triples = len(batch.ids.head)

    def _node(self, entity: str) -> int | None:
        if self._id_batch is None:
            return None
        self._ids = self._ids or NameIds.of(self._id_batch.entities)
        node = self._ids.find(entity)
        return None if node < 0 else node

    def graph(self) -> tuple[Graph, int]:
        """Return the graph and the number of duplicate triples that were merged."""
        id_batch = self._id_batch
        if id_batch is None:
            return super().graph()
        nodes, relations = len(id_batch.entities), len(id_batch.relations)
        no_source = np.zeros(1, np.uint16)
        out, into, source = adjacencies(
            id_batch.head, id_batch.relation, id_batch.tail, no_source, nodes, relations
        )
        graph = Graph(
            entities=id_batch.entities,
            labels=id_batch.entities,
            relations=id_batch.relations,
            relation_labels=id_batch.relations,
            out=out,
            into=into,
            values=node_values(id_batch.entities, id_batch.entities, np.full(nodes, -1, np.int16), []),
            types=self._type_table(nodes),
            aliases=self._alias_table(),
            source=source,
        )
        return graph, self.triples - graph.triples


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
    format, hints = reading.get("format"), reading.get("hints") or Hints()
    alone = len(sources) == 1 and choose_reader(sources[0], format, hints) is ARRAYS
    assembler = ArrayAssembler() if alone else Assembler()
    assembler.most_inferred = hints.most_inferred
    reports = _read_sources(sources, assembler, progress, reading)
    side_reports = _read_side_files(assembler, reading)
    if assembler.triples == 0:
        names = ", ".join(report.path for report in reports)
        reasons = [reason for report in reports for reason in report.reasons]
        first_reason = f" All lines were skipped, first: {reasons[0]}" if reasons else ""
        empty = [note for report in reports for note in report.notes if note.endswith(" no rows")]
        first_reason += f" {empty[0]}." if empty else ""
        raise InputError(
            f"{names}: no triples found.{first_reason} A graph needs at least one line head, relation, tail"
        )
    strangers = assembler.strangers()
    graph, duplicates = assembler.graph()
    all_reports = [*reports, *side_reports]
    return graph, BuildReport(
        sources=tuple(reports),
        side_files=tuple(side_reports),
        triples_read=assembler.triples,
        duplicates=duplicates,
        blank=sum(report.blank for report in all_reports),
        skipped=sum(report.skipped for report in all_reports),
        reasons=tuple(reason for report in all_reports for reason in report.reasons)[:MAX_REASONS],
        types_read=assembler.types_read,
        aliases_read=assembler.aliases_read,
        labels_read=assembler.labels_read,
        unknown=assembler.unknown,
        unknown_names=tuple(assembler.unknown_names),
        notes=(*(n for report in all_reports for n in report.notes), *strangers, *_notes(graph, assembler)),
    )


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
    assembler.declare_types([(name, t) for name, node_types in (types or {}).items() for t in node_types])
    assembler.declare_aliases(
        [(name, a) for name, node_aliases in (aliases or {}).items() for a in node_aliases]
    )
    return assembler.graph()[0]


def _read_sources(
    sources: Sequence[Path],
    assembler: Assembler,
    progress: Callable[[int], None] | None,
    reading: ReadOptions,
) -> list[SourceReport]:
    reports: list[SourceReport] = []
    format, hints = reading.get("format"), reading.get("hints") or Hints()
    readers = [choose_reader(path, format, hints) for path in sources]
    tables = survey((path for path, reader in zip(sources, readers, strict=True) if reader is TABLE), hints)
    for index, (path, reader) in enumerate(zip(sources, readers, strict=True)):
        done, triples_before = sum(report.bytes for report in reports), assembler.triples
        tally = Tally(
            reading.get("on_error", "fail"), scope=str(index or ""), collect=True, hints=hints, tables=tables
        )
        if progress is not None:
            tally.progress = lambda read, done=done, progress=progress: progress(done + read)
        for batch in reader.read(path, tally):
            assembler.add(batch, index)
        reports.append(_report(path, reader.name, assembler.triples - triples_before, tally))
    return reports


def _read_side_files(assembler: Assembler, reading: ReadOptions) -> list[SourceReport]:
    reports: list[SourceReport] = []
    for path, kind, take in (
        (reading.get("types"), "type", assembler.declare_types),
        (reading.get("aliases"), "alias", assembler.declare_aliases),
    ):
        if path is not None:
            hints = reading.get("hints") or Hints()
            tally = Tally(reading.get("on_error", "fail"), collect=True, hints=hints)
            count = sum(take(pairs) for pairs in read_pairs(path, kind, tally))
            reports.append(_report(path, f"entity-{kind}", count, tally))
    return reports


def _report(path: Path, format: str, count: int, tally: Tally) -> SourceReport:
    """What was read; raises the faults that were collected."""
    tally.raise_faults()
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


def _notes(graph: Graph, assembler: Assembler) -> Iterator[str]:
    """Say what looks wrong about a graph that was read without a fault, and how much was inferred."""
    relations, unstated = len(graph.relations), assembler.unstated
    if graph.triples >= FEW_TRIPLES and 2 * relations > graph.triples:
        yield (
            f"{relations:,} relations in {graph.triples:,} triples: if the second column is not the "
            "relation, the source is a table or has its columns in another order"
        )
    if unstated:
        statements = "statements with properties are of triples"
        if unstated == 1:
            statements = "statement with properties is of a triple"
        yield f"{unstated:,} {statements} that no source states: left out"
    triples = int(np.count_nonzero(graph.source == INFERRED))
    if triples or assembler.inferred_types:
        yield (
            f"{triples:,} triples and {assembler.inferred_types:,} types follow from the ontology and are "
            "added as inferred; --no-inference leaves them out"
        )
    if assembler.cut:
        limit = f"{assembler.most_inferred:,}"
        yield f"more follows from the ontology than the {limit} that are added; the rest is left out"

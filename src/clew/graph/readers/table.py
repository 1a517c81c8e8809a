"""Tables: of edges, of nodes, of both, or wide ones; a file, or a folder of them.

What the columns are is found by `layout`, and noted. Headers of Neo4j's import are read as Neo4j does: ID
groups (`:ID(Film)`) become prefixes (`Film:7`) since ids are unique within a group only. The column `name`,
else `label`, else `title`, is what people read. Every other property of a node becomes a triple (node,
property, value); an empty cell, also one of `NULL`, is no triple. Labels become types. Items of a list stand
between semicolons, or what the header names: `tags:string[]{delimiter:|}`. The other columns of a table of
edges are properties of the edges. An edge without direction becomes one each way. A matrix has an edge a
cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from clew.errors import InputError, ParseError, UsageError
from clew.graph.namespaces import XSD
from clew.graph.readers.batch import Batch, Label, Tally
from clew.graph.readers.columns import Column, EdgeColumns, Layout, NodeColumns
from clew.graph.readers.comma import Records
from clew.graph.readers.hints import Hints
from clew.graph.readers.layout import goes_both_ways, layout_of
from clew.graph.readers.matrix import Matrix
from clew.graph.readers.sheets import SHEET_SUFFIXES, sheet_records
from clew.graph.readers.stream import unpacked_name

SAMPLED_ROWS = 200
"""Rows that are looked at to tell what the columns are."""
MOST_SEEN = 1 << 20
"""Rows in which it is looked whether they are of the same node."""
NULL = r"\N"
"""How databases write an empty cell of a table into a file."""
KEY_JOIN = ", "
"""What stands between the cells that only together say which row it is."""
_TEXT_SUFFIXES = (".csv", ".tsv", ".tab")
_ADVICE = (
    "Say what the columns are: --columns head=from,relation=type,tail=to for a table of edges, --id NAME for "
    "one whose rows are entities"
)
_MATRIX_ADVICE = "Give a matrix the same names in its first row and first column, and numbers in its cells"
NumberedRow = tuple[int, list[str]]


@dataclass(frozen=True, slots=True)
class TableReader:
    """Reader of tables."""

    name: str = "table"
    suffixes: tuple[str, ...] = SHEET_SUFFIXES

    def read(self, path: Path, tally: Tally) -> Iterator[Batch]:
        """Stream the batches of `path`, of a directory the nodes first; see `Reader`."""
        if not path.is_dir():
            yield from _read_file(path, tally)
            return
        _note_others(path, tally)
        for file in table_files(path, tally.hints):
            yield from _read_file(file, tally)


def is_table_file(file: Path) -> bool:
    """Whether a file of a directory is taken for a table, by its name."""
    return Path(unpacked_name(file.name)).suffix.lower() in (*_TEXT_SUFFIXES, *SHEET_SUFFIXES)


def table_layout(path: Path, hints: Hints) -> Layout | None:
    """Find the layout of a table by its first rows; None if it is none, or may hold triples instead."""
    records = _records(path, Tally(on_error="skip", hints=hints))
    first, *rows = [fields for _, fields in islice(records, SAMPLED_ROWS + 1)] or [[]]
    return layout_of(first, rows, hints)


def _note_others(directory: Path, tally: Tally) -> None:
    """Say which files of a directory are not read."""
    others = [
        f.name for f in sorted(directory.iterdir()) if not is_table_file(f) and not f.name.startswith(".")
    ]
    if others:
        shown = ", ".join(others[:3]) + (", …" if len(others) > 3 else "")
        tally.note(f"{directory}: only tables are read, not {shown}; name others as sources of their own")


def table_files(directory: Path, hints: Hints) -> list[Path]:
    """Files of nodes in a directory, then those of edges; InputError if a table is neither."""
    kinds: dict[bool, list[Path]] = {False: [], True: []}
    other: list[str] = []
    for file in sorted(directory.iterdir()):
        if is_table_file(file):
            if not file.is_file():
                raise InputError(f"{file}: is not a regular file. Move it out of the folder")
            try:
                layout = table_layout(file, hints)
            except UsageError:  # columns that another file of the folder has
                layout = table_layout(file, Hints(encoding=hints.encoding))
            if layout is None:
                other.append(file.name)
            else:
                kinds[layout.edges is not None or layout.matrix is not None].append(file)
    if other:
        shown = ", ".join(other[:3]) + (", …" if len(other) > 3 else "")
        raise InputError(
            f"{directory}: it is not clear what the columns of {len(other)} of its tables are ({shown}). "
            "Give the files one by one, those of triples first"
        )
    return kinds[False] + kinds[True]


def _records(path: Path, tally: Tally) -> Iterator[NumberedRow]:
    if path.suffix.lower() in SHEET_SUFFIXES:
        return sheet_records(path, tally)
    return ((line, ["" if cell == NULL else cell for cell in cells]) for line, cells in Records(path, tally))


def _read_file(path: Path, tally: Tally) -> Iterator[Batch]:
    records = _records(path, tally)
    first = list(islice(records, SAMPLED_ROWS + 1))
    if not first:
        return
    line, cells = first[0]
    layout = layout_of(cells, [fields for _, fields in first[1:]], tally.hints)
    if layout is None:
        raise unclear(path, line, cells)
    doubt = layout.may_be_triples and path.suffix.lower() not in SHEET_SUFFIXES
    otherwise = ". If the first line is a triple too, give --format tsv or csv" if doubt else ""
    both = "; each edge is kept both ways" if tally.hints.undirected and layout.kind != "nodes" else ""
    tally.note(f"{path}: {layout.in_words()}{both}{otherwise}")
    yield from batches_of(path, layout, chain(first[layout.header :], records), tally)


def unclear(path: Path, line: int, cells: Sequence[str]) -> ParseError:
    """The fault of a table that has no layout."""
    return ParseError(str(path), line, f"it is not clear what the columns are: {_shown(cells)}", _ADVICE)


def batches_of(
    path: Path, layout: Layout, records: Iterable[NumberedRow], tally: Tally, unit: str = ""
) -> Iterator[Batch]:
    """Turn rows (number, cells) into batches, those of nodes and those of edges apart; see `Reader`.

    `unit` is what is numbered, unless these are lines.
    """
    place = _RowPlace(path, unit)
    rows_of, width = _row_kinds(place, layout, tally), len(layout.columns)
    batches: dict[type[_TableRows], Batch] = {
        _NodeRows: Batch(), _EdgeRows: Batch(joined=True), _MatrixRows: Batch()
    }  # fmt: skip
    for number, fields in records:
        if len(fields) != width:
            reason = f"{len(fields)} columns where the header has {width}"
            tally.error(place.fault(number, reason, "Quote cells that hold the separator"))
            continue
        rows = rows_of(fields)
        batch = batches[type(rows)]
        rows.row(batch, number, fields)
        if batch.full:
            yield batch
            batches[type(rows)] = Batch(joined=batch.joined)
    yield from batches.values()


@dataclass(frozen=True, slots=True)
class _RowPlace:
    """Where rows are, for faults in them."""

    path: Path
    unit: str

    def fault(self, number: int, reason: str, advice: str) -> ParseError:
        """The fault of a row."""
        if self.unit:
            return ParseError(str(self.path), 0, f"{self.unit} {number:,}: {reason}", advice)
        return ParseError(str(self.path), number, reason, advice)


def _row_kinds(place: _RowPlace, layout: Layout, tally: Tally) -> Callable[[Sequence[str]], _TableRows]:
    """What says of the fields of a row whether it is a node or an edge."""
    if layout.matrix is not None:
        matrix = _MatrixRows(place, layout.matrix, tally)
        return lambda fields: matrix
    edges = None if layout.edges is None else _EdgeRows(place, layout.columns, layout.edges, tally)
    if layout.nodes is None:
        if edges is None:
            raise ValueError("a layout has nodes, edges or both")
        return lambda fields: edges
    nodes, id_ = _NodeRows(place, layout, layout.nodes, tally), layout.nodes.id
    return lambda fields: nodes if edges is None or fields[id_] else edges


class _NodeRows:
    """Rows that are nodes."""

    def __init__(self, place: _RowPlace, layout: Layout, nodes: NodeColumns, tally: Tally) -> None:
        self._place, self._tally, self._at = place, tally, nodes
        self._id = layout.columns[nodes.id]
        self._seen: set[int] | None = set() if layout.edges is None else None
        self._types = None if nodes.types is None else _listed(layout.columns[nodes.types])
        self._properties = [(i, layout.columns[i]) for i in nodes.properties]

    def row(self, batch: Batch, number: int, fields: Sequence[str]) -> None:
        """Add one node with its types, label and properties."""
        at = self._at
        if not fields[at.id]:
            advice = "Give every node an id, or leave such rows out with --on-error skip"
            self._tally.error(self._place.fault(number, "the id is empty", advice))
            return
        node = KEY_JOIN.join((self._id.key(fields[at.id]), *(fields[i] for i in at.key)))
        self._note_repeated(node)
        batch.nodes.append(node)
        if at.types is not None and self._types is not None:
            batch.types += [(node, type_) for type_ in self._types.items(fields[at.types])]
        if at.name is not None and fields[at.name]:
            batch.labels.append(Label(node, fields[at.name]))
        for i, column in self._properties:
            for value in column.items(fields[i]):
                if i in at.references:
                    batch.add(node, column.name, self._id.key(value))
                elif at.literals or column.datatype is not None:
                    batch.add(node, column.name, (value, column.datatype or XSD + "string"))
                else:
                    batch.add(node, column.name, column.key(value))

    def _note_repeated(self, node: str) -> None:
        """Say once if rows are of the same node: then it is not said which of their cells go together."""
        if self._seen is None:
            return
        mark = hash(node)
        if mark not in self._seen and len(self._seen) < MOST_SEEN:
            self._seen.add(mark)
            return
        if mark in self._seen:
            self._tally.note(
                f"{self._place.path}: several rows are of the same node ({node}); what they say of it is put "
                "together. A column of ids would keep them apart"
            )
        self._seen = None


def _listed(column: Column) -> Column:
    return Column(column.name, "label", delimiter=column.delimiter)


class _EdgeRows:
    """Rows that are edges."""

    def __init__(self, place: _RowPlace, columns: Sequence[Column], edges: EdgeColumns, tally: Tally) -> None:
        self._place, self._tally, self._at = place, tally, edges
        self._head, self._tail = columns[edges.head], columns[edges.tail]
        self._both = tally.hints.undirected
        self._properties = [(i, columns[i]) for i in edges.properties]

    def row(self, batch: Batch, number: int, fields: Sequence[str]) -> None:
        """Add one edge, or both ways of one that has no direction."""
        at = self._at
        head, tail = fields[at.head], fields[at.tail]
        relation = at.named if at.relation is None else fields[at.relation]
        if not (head and relation and tail):
            advice = "Give every edge its two nodes and its type"
            self._tally.error(self._place.fault(number, "a cell of the edge is empty", advice))
            return
        ends = self._head.key(head), self._tail.key(tail)
        properties = tuple(
            (column.name, value, column.datatype or XSD + "string")
            for i, column in self._properties
            for value in column.items(fields[i])
        )
        both = self._both or (at.direction is not None and goes_both_ways(fields[at.direction]))
        for head, tail in (ends, ends[::-1])[: 1 + both]:
            batch.add(head, relation, tail)
            if properties:
                batch.statements.append((head, relation, tail, properties))


class _MatrixRows:
    """Rows of an adjacency matrix."""

    def __init__(self, place: _RowPlace, matrix: Matrix, tally: Tally) -> None:
        self._place, self._matrix, self._tally = place, matrix, tally

    def row(self, batch: Batch, number: int, fields: Sequence[str]) -> None:
        """Add the edges of one row."""
        if reason := self._matrix.add_row(batch, fields, both=self._tally.hints.undirected):
            self._tally.error(self._place.fault(number, reason, _MATRIX_ADVICE))


_TableRows = _NodeRows | _EdgeRows | _MatrixRows


def _shown(cells: Sequence[str]) -> str:
    text = ",".join(cells)
    return text if len(text) <= 60 else text[:60] + "…"


TABLE = TableReader()

"""Tables of edges, of nodes, of both, or wide ones: text files, Parquet and Excel.

What the columns are is found by `layout`, their types and what refers to what by `survey`, and all is
noted. Headers of Neo4j's import are read as Neo4j does: ID groups (`:ID(Film)`) become prefixes (`Film:7`)
since ids are unique within a group only; those of Gremlin (`~id`) likewise. A column of names is what
people read. Every other property of a node becomes a triple (node, property, value); an empty cell, also
one of `NULL`, is no triple. Labels become types. Items of a list stand between semicolons, or what the
header names: `tags:string[]{delimiter:|}`. The other columns of a table of edges are properties of the
edges. An edge without direction becomes one each way.
"""

from __future__ import annotations

import datetime
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, count, islice
from pathlib import Path
from typing import cast

import numpy as np

from clew.errors import InputError, ParseError
from clew.foundation.system import require
from clew.graph.readers.batch import Batch, Label, Tally
from clew.graph.readers.columns import (
    Column,
    EdgeColumns,
    Layout,
    NodeColumns,
    header_words,
)
from clew.graph.readers.delimited import csv_records, separator
from clew.graph.readers.hints import Hints
from clew.graph.readers.layout import goes_both_ways, is_amount, layout_of
from clew.graph.readers.stream import unpacked_name
from clew.graph.readers.survey import (
    SAMPLED_ROWS,
    NumberedRow,
    Survey,
    Table,
    distinct_names,
    look_through,
    singular,
)
from clew.graph.values import CURRENCIES, UNITS, is_value, read_amount, serial_day

# Rows of Parquet files and of the first sheet of Excel workbooks, each through an extra.


PARQUET, EXCEL = ".parquet", ".xlsx"
SHEET_SUFFIXES = (PARQUET, EXCEL)


def sheet_records(path: Path, tally: Tally) -> Iterator[tuple[int, list[str]]]:
    """(number, cells) of rows, the header is 1; raises MissingExtra, InputError and ParseError."""
    rows = _parquet(path, tally) if path.suffix.lower() == PARQUET else _excel(path, tally)
    for number, row in enumerate(rows, 1):
        cells = [cell_text(value) for value in row]
        if any(cells):
            yield number, cells
        else:
            tally.blank += 1


def _parquet(path: Path, tally: Tally) -> Iterator[Sequence[object]]:
    parquet, arrow = require("pyarrow.parquet", "parquet"), require("pyarrow", "parquet")
    try:
        with parquet.ParquetFile(path) as file:
            schema = file.schema_arrow
            lists = {
                name for name, kind in zip(schema.names, schema.types, strict=True) if "list" in str(kind)
            }
            yield [list_header(name) if name in lists else name for name in schema.names]
            size, done = path.stat().st_size, 0
            for batch in file.iter_batches(batch_size=20_000):
                yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)
                done += batch.num_rows
                if tally.progress is not None:
                    tally.progress(size * done // max(1, file.metadata.num_rows))
    except (arrow.ArrowInvalid, arrow.ArrowNotImplementedError) as error:
        raise ParseError(str(path), 0, f"not a Parquet file, or damaged ({error})") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error


def _excel(path: Path, tally: Tally) -> Iterator[Sequence[object]]:
    from zipfile import BadZipFile

    book_of = require("openpyxl", "excel").load_workbook
    try:
        book = book_of(path, read_only=True, data_only=True)
    except (BadZipFile, KeyError, ValueError, OSError) as error:
        raise ParseError(str(path), 0, f"not an Excel workbook, or damaged ({error})") from error
    try:
        names = book.sheetnames
        if len(names) > 1:
            tally.note(f"{path}: only the first sheet is read ({names[0]}), not {', '.join(names[1:])}")
        yield from book.worksheets[0].iter_rows(values_only=True)
        if tally.progress is not None:
            tally.progress(path.stat().st_size)
    finally:
        book.close()


ITEM = "\x1f"
"""What stands between the values of a list within a cell."""


def list_header(name: str) -> str:
    """The header of a column of lists: with what is between their values, as Neo4j writes it."""
    return f"{name}:string[]{{delimiter:{ITEM}}}" if ":" not in name else name


def is_list(value: object) -> bool:
    """Whether a cell of a frame or of Parquet has several values."""
    return isinstance(value, list | tuple | np.ndarray)


def cell_text(value: object) -> str:
    """A cell as text: numbers without a needless fraction, dates as ISO writes them, lists by `ITEM`."""
    if value is None or (isinstance(value, float) and value != value) or str(value) in ("NaT", "<NA>"):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, datetime.datetime) and value.time() == datetime.time() and value.tzinfo is None:
        return value.date().isoformat()
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if is_list(value):
        return ITEM.join(cell_text(item) for item in cast(Iterable[object], value))
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value).strip()


NULL = r"\N"
"""How databases write an empty cell of a table into a file."""
Fault = tuple[str, str]
"""What is wrong with a row, and what to do about it."""


@dataclass(frozen=True, slots=True)
class TableReader:
    """Reader of tables."""

    name: str = "table"
    suffixes: tuple[str, ...] = SHEET_SUFFIXES

    def look(self, path: Path, hints: Hints, *, alone: bool) -> list[Table]:
        """Look through a file, which is one table."""
        delimiter = "" if path.suffix.lower() in SHEET_SUFFIXES else separator(path, hints)
        table = look_through(path, partial(_records, path), hints, delimiter, alone=alone)
        table.fault = table.fault and (broken(path, hints) or table.fault)
        return [table]

    def read(self, path: Path, tally: Tally) -> Iterator[Batch]:
        """Stream the batches of a table alone; see `Reader`."""
        survey = Survey(tally.hints, {path: self.look(path, tally.hints, alone=True)})
        survey.settle()
        yield from read_tables(survey.tables, tally)


def broken(file: Path, hints: Hints) -> ParseError | None:
    """The first fault of the first rows of a text file, as a quote that has no end."""
    if file.suffix.lower() in SHEET_SUFFIXES:
        return None
    tally = Tally(collect=True, hints=hints)
    for _ in islice(csv_records(file, tally), SAMPLED_ROWS):
        continue
    return next(iter(tally.faults), None)


def table_layout(path: Path, hints: Hints) -> Layout | None:
    """Find the layout of a table by its first rows; None if it is none, or may hold triples instead."""
    records = _records(path, Tally(on_error="skip", hints=hints))
    first, *rows = [fields for _, fields in islice(records, SAMPLED_ROWS + 1)] or [[]]
    if first.count("".join(first[:1])) == 1:  # else a first line may lead from a thing to itself
        first, _ = distinct_names(first)
    return layout_of(first, rows, hints, called=Path(unpacked_name(path.name)).stem)


def _records(path: Path, tally: Tally) -> Iterator[NumberedRow]:
    if path.suffix.lower() in SHEET_SUFFIXES:
        records = sheet_records(path, tally)
    else:
        lines = csv_records(path, tally)
        records = ((line, ["" if cell == NULL else cell for cell in cells]) for line, cells in lines)
    by_number = any(map(str.isdecimal, (*tally.hints.columns.values(), tally.hints.id or "")))
    return records if by_number else _rows_alone(path, records, tally)


# A sheet has more than rows: a title above the header, the header again on each page, totals and remarks at
# the end. They are left out and counted. A header of two rows, or without a name in a place, becomes one.


ROWS_AROUND = 30
"""First rows in which the header is looked for."""
MOST_SUMMED = 10_000
"""Rows whose cells are added up, to tell whether a last one is their total."""
TOTALS = frozenset(
    "total totals subtotal sum totaal subtotaal summe gesamt gesamtsumme insgesamt somme totale somma suma "
    "soma totalt razem итого".split()
) | {"grand total", "sub total", "i alt"}
"""What a row begins with that sums up those above."""
_SAYS_DAY = frozenset("date datum fecha datetime".split())
"""What a column is called whose numbers may be days as spreadsheets count them."""
_REMARK = re.compile(r"[*†‡§¹²³(].+|[^:]{2,30}: .+|.+[.:]|.{61,}", re.DOTALL)
"""How a remark is written: *Source: …*, a sentence, a long text, or behind a mark."""


def _rows_alone(path: Path, records: Iterator[NumberedRow], tally: Tally) -> Iterator[NumberedRow]:
    """Yield a header and the rows of it."""
    first = list(islice(records, ROWS_AROUND))
    start = _place_of_header([cells for _, cells in first])
    if not first:
        return
    line, written = first[start]
    header, used = _whole_header(written, [cells for _, cells in first[start + 1 :]])
    read = _Cells.of(header, [cells for _, cells in first[start + 1 + used :] if cells != written])
    for note in read.notes(header):
        tally.note(f"{path}: {note}")
    yield line, header
    is_header = len(written) > 1 and not any(map(is_value, written))
    seen, held, again = list[list[str]](), list[NumberedRow](), 0
    is_whole = not (read.days or read.units)
    for row in chain(first[start + 1 + used :], records):
        cells = row[1]
        is_plain = len(cells) > 1 and cells[0] and cells[1] and cells[0] != written[0]
        if is_plain and is_whole and not held and len(seen) == MOST_SUMMED and not _says_total(cells):
            yield row
        elif is_header and cells == written:
            again += 1
        elif _says_total(cells) or _is_remark(cells, len(header)):
            held.append(row)
        else:
            yield from map(read.row, held)  # they are not at the end
            held.clear()
            yield read.row(row)
            if len(seen) < MOST_SUMMED:
                seen.append(cells)
    around = {"above the header": first[:start], "of totals": list[NumberedRow](), "of remarks": []}
    for row in held:
        is_total = _says_total(row[1])
        if seen and (not is_total or _sums_up(row[1], seen)):
            around["of totals" if is_total else "of remarks"].append(row)
        else:
            yield read.row(row)
    left = [f"{len(rows)} {what} ({_shown(rows[0][1])})" for what, rows in around.items() if rows]
    left += [f"{again} with the header again"] if again else []
    if left:
        tally.note(f"{path}: rows left out: {', '.join(left)}")
    if used:
        tally.note(f"{path}: the header has two rows: {_shown(header)}")


def _shown(cells: Sequence[str]) -> str:
    """The beginning of what stands in a row."""
    text = ", ".join(filter(None, cells))
    return text if len(text) <= 60 else text[:60] + "…"


def _place_of_header(rows: Sequence[Sequence[str]]) -> int:
    """Which row names the columns: the first that fills more than half of what most rows fill."""
    filled = sorted(sum(map(bool, cells)) for cells in rows)
    usual = filled[len(filled) // 2] if filled else 0
    start = next((at for at, cells in enumerate(rows) if 2 * sum(map(bool, cells)) > usual), 0)
    is_header = usual >= 3 and start + 1 < len(rows) and not any(map(is_value, rows[start]))
    return start if is_header else 0


def _whole_header(header: list[str], rows: Sequence[Sequence[str]]) -> tuple[list[str], int]:
    """A header with a name for each column that has cells, but the first; how many rows below are part of it.

    The row below it is, if it names these columns, and what it has is no data: there are numbers below.
    """
    rows = [row for row in rows if len(row) == len(header)]
    unnamed = [i for i, name in enumerate(header) if i and not name and any(row[i] for row in rows)]
    if not unnamed or sum(map(bool, header)) < 2 or any(map(is_value, header)):
        return header, 0
    second, columns = rows[0], [list(filter(None, column)) for column in zip(*rows[1:], strict=True)]
    has_numbers = any(
        name and 2 * sum(map(is_amount, c)) > len(c) for name, c in zip(second, columns, strict=False)
    )
    if any(map(is_value, second)) or not has_numbers or not all(second[i] for i in unnamed):
        return [f"column {i + 1}" if i in unnamed else name for i, name in enumerate(header)], 0
    group, names = "", list[str]()
    for above, own in zip(header, second, strict=True):
        group = above or group
        names.append(above if not own else f"{group} {own}" if second.count(own) > 1 else own)
    return names, 1


@dataclass(frozen=True, slots=True)
class _Cells:
    """Columns whose cells are no whole: days that are counted, and numbers with a unit beside."""

    days: Sequence[int] = ()
    units: Mapping[int, int] = field(default_factory=dict[int, int])

    @classmethod
    def of(cls, header: Sequence[str], rows: Sequence[Sequence[str]]) -> _Cells:
        """Those of a table, by its first rows."""
        columns = [
            [*filter(None, cells)] for cells in zip(*(r for r in rows if len(r) == len(header)), strict=True)
        ]
        said = [_SAYS_DAY.intersection(header_words(name).split()) for name in header]
        days = [
            i
            for i, cells in enumerate(columns)
            if said[i] and len({*cells}) > 1 and all(map(serial_day, cells))
        ]
        are_numbers = [bool(cells) and all(map(_is_number, cells)) for cells in columns]
        units = dict[int, int]()
        for at, cells in enumerate(columns):
            beside = next((i for i in (at - 1, at + 1) if 0 <= i < len(columns) and are_numbers[i]), None)
            if beside is not None and _are_units(cells):
                units.setdefault(beside, at)
        return cls(days, units)

    def notes(self, header: Sequence[str]) -> Iterator[str]:
        """What is read otherwise than it is written."""
        for at in self.days:
            yield f"{header[at]}: numbers of days, as Excel counts them, are read as dates"
        for at, unit in self.units.items():
            yield f"{header[at]}: its numbers are in what {header[unit]} says"

    def row(self, row: NumberedRow) -> NumberedRow:
        """A row with days as dates, and units behind their numbers instead of beside them."""
        if not (self.days or self.units):
            return row
        cells = list(row[1])
        for at in self.days:
            cells[at : at + 1] = [serial_day(cell) or cell for cell in cells[at : at + 1]]
        for at, unit in self.units.items():
            if max(at, unit) < len(cells) and cells[at]:
                cells[at], cells[unit] = f"{cells[at]} {cells[unit]}".strip(), ""
        return row[0], cells


def _is_number(cell: str) -> bool:
    amount = read_amount(cell)
    return amount is not None and not amount.unit


def _are_units(cells: Sequence[str]) -> bool:
    """Whether a column has nothing but units and currencies, which are no sizes such as *M* and *L*."""
    found = {cell.lower() for cell in cells}
    return any(len(unit) > 1 for unit in found) and all(unit in UNITS or unit in CURRENCIES for unit in found)


def _says_total(cells: Sequence[str]) -> bool:
    """Whether what stands first in a row is a word for a total."""
    first = next(filter(None, cells), "")
    return len(first) <= 20 and first.rstrip(" :").casefold() in TOTALS


def _sums_up(cells: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a row has nothing but numbers beside its word, with gaps between or sums of the rows."""
    amounts = [(i, read_amount(cell)) for i, cell in enumerate(cells) if cell and not _says_total([cell])]
    if any(amount is None for _, amount in amounts):
        return False
    return "" in cells or any(
        _sum_of(rows, i, comma=comma) == round(amount.number(comma=comma) or 0, 6)
        for i, amount in amounts
        for comma in (False, True)
        if amount is not None
    )


def _sum_of(rows: Sequence[Sequence[str]], column: int, *, comma: bool) -> float:
    """The sum of the numbers of a column."""
    amounts = [read_amount(row[column]) for row in rows if column < len(row)]
    return round(sum((amount.number(comma=comma) or 0) for amount in amounts if amount is not None), 6)


def _is_remark(cells: Sequence[str], width: int) -> bool:
    """Whether a row says something of its table: a text in the first of its cells alone."""
    is_alone = width >= 3 and bool(cells[0]) and not any(cells[1:])
    return is_alone and _REMARK.fullmatch(cells[0]) is not None


def read_tables(tables: Iterable[Table], tally: Tally, *, undirected: bool = False) -> Iterator[Batch]:
    """Stream the batches of tables that were looked through; `undirected`: each edge is kept both ways."""
    for table in tables:
        yield from _read_table(table, tally, undirected=undirected or tally.hints.undirected)


def _read_table(table: Table, tally: Tally, *, undirected: bool) -> Iterator[Batch]:
    path, fault, layout = table.path, table.fault, table.layout
    if fault is not None:
        tally.error(fault)
        return
    records = table.records(tally)
    if not layout.columns:
        for _ in records:  # only faults: they are told
            continue
        tally.note(f"{path}: there are no rows")
        return
    may_be_triples = layout.may_be_triples and path.suffix.lower() not in SHEET_SUFFIXES
    triples_note = ". If the first line is a triple too, give --format tsv or csv" if may_be_triples else ""
    is_both_ways = tally.hints.undirected and layout.edges is not None
    more = "; each edge is kept both ways" * is_both_ways + triples_note
    for note in (layout.in_words() + more, *table.notes):
        tally.note(f"{path}: {note}")
    if (form := table.form) is not None:
        tally.forms.append(form)
    if layout.header and not table.rows:
        tally.note(f"{path}: a header and no rows")
    rows = islice(records, int(layout.header), None)
    yield from _batches_of(table, rows, tally, undirected=undirected)


def _batches_of(
    table: Table, records: Iterable[NumberedRow], tally: Tally, *, undirected: bool
) -> Iterator[Batch]:
    """Turn rows (number, cells) into batches, nodes and edges apart."""
    path, layout = table.path, table.layout
    nodes, edges = layout.nodes, layout.edges
    kinds: list[_NodeRows | _EdgeRows] = []
    if nodes is not None:
        kinds.append(_NodeRows(layout, nodes, path, tally))
    if edges is not None:
        kinds.append(_EdgeRows(layout.columns, edges, undirected=undirected))
    id_ = nodes.id if nodes is not None and edges is not None else None
    made_ids = Counter[str]()
    for number, fields in records:
        rows = kinds[0]
        if len(fields) == layout.width:
            tally.line, fields = number, layout.arranged(fields)
            if layout.numbered:
                fields = [*fields, _made_id(layout, fields, made_ids)]
            rows = kinds[id_ is not None and not fields[id_]]
            fault = rows.take(fields)
        else:
            reason = f"{len(fields)} columns where the header has {layout.width}"
            fault = reason, "Quote cells that hold the separator"
        if fault is not None:
            line, place = (0, f"{table.unit} {number:,}: ") if table.unit else (number, "")
            tally.error(ParseError(str(path), line, place + fault[0], fault[1]))
        if rows.batch.full:
            yield rows.batch
            rows.batch = Batch(joined=rows.batch.joined)
    yield from (rows.batch for rows in kinds)
    untyped = sum(rows.untyped for rows in kinds if isinstance(rows, _EdgeRows))
    if untyped and edges is not None:
        tally.note(f"{path}: {untyped:,} edges without a type are called “{edges.relation_name}”")


def _made_id(layout: Layout, fields: Sequence[str], seen: Counter[str]) -> str:
    """An id for a row without one; the same row has the same id whenever it is read."""
    cells = zip(layout.columns, fields, strict=False)
    said = sorted(f"{column.name}\0{cell}" for at, (column, cell) in enumerate(cells) if layout.has(at))
    id_ = hashlib.blake2b("\0".join(said).encode(), digest_size=6).hexdigest()
    seen[id_] += 1
    return id_ if seen[id_] == 1 else f"{id_}-{seen[id_]}"


class _NodeRows:
    """Rows that are nodes."""

    def __init__(self, layout: Layout, nodes: NodeColumns, path: Path, tally: Tally) -> None:
        self.batch, self._path, self._tally, self._at = Batch(), path, tally, nodes
        self._id = layout.columns[nodes.id]
        self._seen: set[int] | None = set() if layout.edges is None else None
        self._types = None if nodes.types is None else replace(layout.columns[nodes.types], role="label")
        self._properties = [(i, layout.columns[i]) for i in nodes.properties]
        self._numbers = count(layout.rows_before + 1) if layout.numbered else None
        self._noun = nodes.type_name or singular(header_words(self._id.group).removesuffix(" id"))

    def take(self, fields: Sequence[str]) -> Fault | None:
        """Add one node with its types, label and properties."""
        at, batch = self._at, self.batch
        if not fields[at.id]:
            return "the id is empty", "Give every node an id, or leave such rows out with --on-error skip"
        node = at.join.join((self._id.key(fields[at.id]), *(fields[i] for i in at.key)))
        self._note_repeated(node)
        batch.nodes.append(node)
        types = [at.type_name] if at.type_name else []
        if at.types is not None and self._types is not None:
            types = self._types.items(fields[at.types])
        batch.types += [(node, type_) for type_ in types]
        named_by = self._name(fields, types)
        if named_by:
            batch.labels.append(Label(node, " ".join(fields[i] for i in named_by if fields[i])))
        is_code = self._id.group and self._numbers is None and not fields[at.id].isdecimal()
        if not named_by and is_code:
            batch.labels.append(Label(node, fields[at.id], rank=1))
            batch.aliases.append((node, f"{self._noun} {fields[at.id]}"))
        elif not named_by and self._id.group:
            number = fields[at.id] if self._numbers is None else next(self._numbers)
            batch.labels.append(Label(node, f"{self._noun} {number}", rank=1))
        elif is_code:
            batch.aliases.append((node, fields[at.id]))
        for i, column in self._properties:
            if (i,) == named_by:
                continue
            for value in column.items(fields[i]):
                is_literal = i not in at.references and (at.literals or column.datatype is not None)
                batch.add(node, column.name, column.literal(value) if is_literal else column.key(value))
                if i in at.labels and fields[at.labels[i]]:
                    batch.labels.append(Label(column.key(value), fields[at.labels[i]]))
        return None

    def _name(self, fields: Sequence[str], types: Sequence[str]) -> tuple[int, ...]:
        """The columns that name a row: what the user says of its type, else the first that is not empty."""
        said = (columns for type_ in types for columns in self._at.names_by_type.get(type_, ()))
        return next((at for at in (*said, *self._at.names) if any(fields[i] for i in at)), ())

    def _note_repeated(self, node: str) -> None:
        """Say once if rows are of the same node: then it is not said which of their cells go together."""
        if self._seen is None:
            return
        mark = hash(node)
        if mark not in self._seen and len(self._seen) < (1 << 20):
            self._seen.add(mark)
            return
        if mark in self._seen:
            self._tally.note(
                f"{self._path}:{self._tally.line}: several rows are of the same node ({node}); what they say "
                "of it is put together. A column of ids would keep them apart"
            )
        self._seen = None


class _EdgeRows:
    """Rows that are edges."""

    def __init__(self, columns: Sequence[Column], edges: EdgeColumns, *, undirected: bool) -> None:
        self.batch, self._at, self._undirected = Batch(joined=True), edges, undirected
        self.untyped = 0
        self._head, self._tail = columns[edges.head], columns[edges.tail]
        self._properties = [(i, columns[i]) for i in edges.properties]

    def take(self, fields: Sequence[str]) -> Fault | None:
        """Add one edge, or both ways of one that has no direction."""
        at = self._at
        head, tail = fields[at.head], fields[at.tail]
        relation = at.relation_name if at.relation is None else fields[at.relation]
        if not (head and tail):
            return "a cell of the edge is empty", "Give every edge its two nodes"
        if not relation:
            relation = at.relation_name
            self.untyped += 1
        ends = self._head.key(head), self._tail.key(tail)
        properties = tuple(
            (column.name, *column.literal(value))
            for i, column in self._properties
            for value in column.items(fields[i])
        )
        has_none = at.direction is not None and goes_both_ways(fields[at.direction])
        for head, tail in (ends, ends[::-1])[: 1 + (self._undirected or has_none)]:
            self.batch.add(head, relation, tail)
            if properties:
                self.batch.statements.append((head, relation, tail, properties))
        return None


TABLE = TableReader()

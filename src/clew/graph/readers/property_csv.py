"""Node and edge CSVs: a file of nodes, a file of edges, or a directory of both.

Headers are those of Neo4j's import: `id:ID`, `name`, `year:int`, `:LABEL` for nodes, `:START_ID`, `:END_ID`,
`:TYPE` for edges; ID groups (`:ID(Film)`) become prefixes (`Film:7`) since ids are unique within a group
only. Plain headers work too: `id` for nodes (with `type`), `source` and `target` for edges (with `relation`
or `type`). The column `name`, else `label`, else `title`, is what people read. Every other property becomes a
triple (node, property, literal); an empty cell is no triple. Labels become types. Items of a list stand
between semicolons, or what the header names: `tags:string[]{delimiter:|}`. Properties of edges have no place
in a triple: they are left out and reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from clew.errors import InputError, ParseError
from clew.graph.readers.batch import Batch, Label, NodeKey, Tally
from clew.graph.readers.comma import Records
from clew.graph.readers.stream import unpacked_name
from clew.graph.values import XSD

ARRAY_DELIMITER = ";"

_DATATYPES = {
    **dict.fromkeys(("int", "long", "short", "byte"), XSD + "integer"),
    **dict.fromkeys(("float", "double"), XSD + "double"),
    **dict.fromkeys(("string", "char", "point", "localtime", "time", "duration"), XSD + "string"),
    **dict.fromkeys(("datetime", "localdatetime"), XSD + "dateTime"),
    "boolean": XSD + "boolean",
    "date": XSD + "date",
}
_ROLES = ("id", "label", "start_id", "end_id", "type", "ignore")
_COLUMN = re.compile(
    r"(?P<name>[^:]*):(?P<type>[A-Za-z_]+)(?:\((?P<group>[^)]*)\))?(?P<array>\[\])?"
    r"(?:\{(?:delimiter:(?P<delimiter>.)|.*)\})?"
)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a header: `role` is "" for a property, else one of Neo4j's in lower case."""

    name: str
    role: str = ""
    group: str = ""
    datatype: str = XSD + "string"
    array: bool = False
    delimiter: str = ARRAY_DELIMITER

    @classmethod
    def of(cls, cell: str) -> Column:
        """Read a header cell; one without a type that Neo4j knows is a property of that name."""
        found = _COLUMN.fullmatch(cell)
        kind = found["type"].lower() if found else ""
        if found is None or kind not in (*_ROLES, *_DATATYPES):
            return cls(cell)
        delimiter = found["delimiter"] or ARRAY_DELIMITER
        if kind in _ROLES:
            return cls(found["name"], kind, found["group"] or "", delimiter=delimiter)
        return cls(found["name"], "", "", _DATATYPES[kind], found["array"] is not None, delimiter)

    def items(self, cell: str) -> list[str]:
        """What a cell of this column holds: its items if it is a list; nothing of an empty one."""
        listed = self.array or self.role == "label"
        return [item for part in (cell.split(self.delimiter) if listed else [cell]) if (item := part.strip())]

    def key(self, cell: str) -> str:
        """Name of the node that an id cell of this column stands for."""
        return f"{self.group}:{cell}" if self.group else cell


def header_kind(cells: list[str]) -> str | None:
    """Say if a record is a header of "nodes" or of "edges"; None if of neither."""
    roles = {column.role for column in map(Column.of, cells)}
    plain = {cell.lower() for cell in cells}
    if {"start_id", "end_id"} <= roles or {"source", "target"} <= plain:
        return "edges"
    return "nodes" if "id" in roles or "id" in plain else None


@dataclass(frozen=True, slots=True)
class PropertyCsvReader:
    """Reader of node and edge CSVs."""

    name: str = "property-csv"
    suffixes: tuple[str, ...] = ()

    def read(self, path: Path, tally: Tally) -> Iterator[Batch]:
        """Stream the batches of `path`, of a directory the nodes first; see `Reader`."""
        if path.is_dir():
            _note_others(path, tally)
        for file in csv_files(path) if path.is_dir() else [path]:
            yield from _read_file(file, tally)


def is_csv(file: Path) -> bool:
    """Whether a file of a directory is taken for a node or edge file, by its name."""
    return unpacked_name(file.name).lower().endswith(".csv")


def _note_others(directory: Path, tally: Tally) -> None:
    """Say which files of a directory are not read."""
    others = [f.name for f in sorted(directory.iterdir()) if not is_csv(f) and not f.name.startswith(".")]
    if others:
        shown = ", ".join(others[:3]) + (", …" if len(others) > 3 else "")
        tally.note(f"{directory}: only CSV files are read, not {shown}; name others as sources of their own")


def csv_files(directory: Path) -> list[Path]:
    """Node files of a directory, then edge files; InputError if a CSV file is neither."""
    kinds: dict[str, list[Path]] = {"nodes": [], "edges": []}
    other: list[str] = []
    for file in sorted(directory.iterdir()):
        if is_csv(file):
            kind = header_kind(next(iter(Records(file, Tally())), (0, []))[1])
            if kind is None:
                other.append(file.name)
            else:
                kinds[kind].append(file)
    if other:
        shown = ", ".join(other[:3]) + (", …" if len(other) > 3 else "")
        raise InputError(
            f"{directory}: {len(other)} CSV files have no node or edge header ({shown}): plain tables are no "
            "graph. Nodes need a column :ID or id; edges :START_ID, :END_ID, :TYPE or source, target, type"
        )
    return kinds["nodes"] + kinds["edges"]


def _read_file(path: Path, tally: Tally) -> Iterator[Batch]:
    records = iter(Records(path, tally))
    line, cells = next(records, (0, []))
    kind = header_kind(cells)
    if kind is None:
        advice = "Nodes need a column :ID or id; edges :START_ID, :END_ID, :TYPE or source, target, type"
        raise ParseError(str(path), line, "the first line is not the header of a node or edge file", advice)
    add = _NodeRows(path, line, cells, tally) if kind == "nodes" else _EdgeRows(path, line, cells, tally)
    batch = Batch()
    for number, fields in records:
        if len(fields) != len(cells):
            reason = f"{len(fields)} columns where the header has {len(cells)}"
            tally.error(ParseError(str(path), number, reason, "Quote cells that hold commas"))
            continue
        add.row(batch, number, fields)
        if batch.full:
            yield batch
            batch = Batch()
    yield batch


def _find(columns: list[Column], role: str, *names: str) -> int | None:
    """Position of the column with `role`, else of the first of plain `names` that there is."""
    for i, column in enumerate(columns):
        if column.role == role:
            return i
    plain = [column.name.lower() if not column.role else "" for column in columns]
    return next((plain.index(name) for name in names if name in plain), None)


class _NodeRows:
    """Rows of a node file."""

    def __init__(self, path: Path, line: int, cells: list[str], tally: Tally) -> None:
        self._path, self._tally = path, tally
        self._columns = [Column.of(cell) for cell in cells]
        id_ = _find(self._columns, "id", "id")
        if id_ is None:
            raise ParseError(str(path), line, "the header has no id", "Name a column :ID or id")
        self._id = id_
        self._type = _find(self._columns, "label", "type")
        self._types = None if self._type is None else replace(self._columns[self._type], role="label")
        self._name = _find(self._columns, "-", "name", "label", "title")
        taken = (self._id, self._type, self._name)
        self._properties = [
            (i, column) for i, column in enumerate(self._columns) if i not in taken and not column.role
        ]

    def row(self, batch: Batch, number: int, fields: list[str]) -> None:
        """Add one node with its types, label and properties."""
        if not fields[self._id]:
            self._tally.error(ParseError(str(self._path), number, "the id is empty", "Give every node an id"))
            return
        node = self._columns[self._id].key(fields[self._id])
        batch.nodes.append(node)
        if self._type is not None and self._types is not None:
            batch.types += [(node, type_) for type_ in self._types.items(fields[self._type])]
        if self._name is not None and fields[self._name]:
            batch.labels.append(Label(node, fields[self._name]))
        for i, column in self._properties:
            for value in column.items(fields[i]):
                literal: NodeKey = (value, column.datatype)
                batch.add(node, column.name, literal)


class _EdgeRows:
    """Rows of an edge file."""

    def __init__(self, path: Path, line: int, cells: list[str], tally: Tally) -> None:
        self._path, self._tally = path, tally
        self._columns = [Column.of(cell) for cell in cells]
        found = (
            _find(self._columns, "start_id", "source"),
            _find(self._columns, "end_id", "target"),
            _find(self._columns, "type", "relation", "type"),
        )
        head, tail, relation = found
        if head is None or tail is None or relation is None:
            advice = "Name the columns :START_ID, :END_ID, :TYPE or source, target, type"
            raise ParseError(str(path), line, "the header lacks a column of edges", advice)
        self._head, self._tail, self._relation = head, tail, relation
        extra = [c.name for i, c in enumerate(self._columns) if i not in found and c.role != "ignore"]
        if extra:
            tally.note(f"{path}: properties of edges are not kept: {', '.join(extra)}")

    def row(self, batch: Batch, number: int, fields: list[str]) -> None:
        """Add one edge."""
        head, relation, tail = fields[self._head], fields[self._relation], fields[self._tail]
        if not (head and relation and tail):
            advice = "Give every edge its two nodes and its type"
            self._tally.error(ParseError(str(self._path), number, "a cell of the edge is empty", advice))
            return
        batch.add(self._columns[self._head].key(head), relation, self._columns[self._tail].key(tail))


PROPERTY_CSV = PropertyCsvReader()

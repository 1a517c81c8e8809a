"""What the columns of a table may be, and in what words that is told."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from clew.graph.namespaces import XSD
from clew.graph.readers.hints import LINKED_TO
from clew.graph.values import ColumnType

ARRAY_DELIMITER = ";"
WEIGHT_COLUMN = "weight"
ENOUGH_ROWS = 100
"""Rows that are looked at where the matrix has more."""
FEWEST_NODES = 2
_CELL_NUMBER = re.compile(r"[-+]?(?:\d{1,99}(?:\.\d{0,99})?|\.\d{1,99})(?:[eE][-+]?\d{1,3})?")

_DATATYPES = {
    **dict.fromkeys(("int", "long", "short", "byte"), XSD + "integer"),
    **dict.fromkeys(("float", "double"), XSD + "double"),
    **dict.fromkeys(("string", "char", "point", "localtime", "time", "duration"), XSD + "string"),
    **dict.fromkeys(("datetime", "localdatetime"), XSD + "dateTime"),
    "boolean": XSD + "boolean",
    "date": XSD + "date",
}
_ROLES = ("id", "label", "start_id", "end_id", "type", "ignore")
_GREMLIN = {"~id": "id", "~label": "label", "~from": "start_id", "~to": "end_id"}
"""What Gremlin and Neptune call the same; the label of an edge is its type."""
_WORDS = re.compile(r"[^\W\d_]+|\d+")
_CAPITALS = re.compile(r"(?<=[a-zà-ÿ])(?=[A-ZÀ-Þ])|(?<=[A-ZÀ-Þ])(?=[A-ZÀ-Þ][a-zà-ÿ])")


def header_words(name: str) -> str:
    """`RelationType`, `relation_type`, `Relation-Type` → `relation type`."""
    return " ".join(_WORDS.findall(_CAPITALS.sub(" ", name))).lower()


_COLUMN = re.compile(
    r"(?P<name>[^:]*):(?P<type>[A-Za-z_]+)(?:\((?P<group>[^)]*)\))?(?P<array>\[\])?"
    r"(?:\{(?:delimiter:(?P<delimiter>.)|.*)\})?"
)


@dataclass(frozen=True, slots=True)
class Column:
    """A column; its `role` is one of Neo4j's, "" for a property; `datatype` is None for a text of no type.

    `mixed`: not all of its cells are of its type.
    """

    name: str
    role: str = ""
    group: str = ""
    datatype: str | None = None
    array: bool = False
    delimiter: str = ARRAY_DELIMITER
    mixed: bool = False
    header: str = ""

    @classmethod
    def of(cls, cell: str) -> Column:
        """Read a header cell; one without a type that Neo4j or Gremlin knows is a property of that name."""
        if cell.lower() in _GREMLIN:
            return cls("", _GREMLIN[cell.lower()], header=cell)
        parts = _COLUMN.fullmatch(cell)
        kind = parts["type"].lower() if parts else ""
        if parts is None or kind not in (*_ROLES, *_DATATYPES):
            return cls(cell)
        delimiter = parts["delimiter"] or ARRAY_DELIMITER
        if kind in _ROLES:
            return cls(parts["name"], kind, parts["group"] or "", delimiter=delimiter)
        return cls(parts["name"], "", "", _DATATYPES[kind], parts["array"] is not None, delimiter)

    def items(self, cell: str) -> list[str]:
        """What a cell of this column holds: its items if it is a list; nothing of an empty one."""
        listed = self.array or self.role == "label"
        return [item for part in (cell.split(self.delimiter) if listed else [cell]) if (item := part.strip())]

    def literal(self, cell: str) -> tuple[str, str]:
        """A value of this column as a literal; a text where it is not of the column's type."""
        if self.datatype is None or (self.mixed and not ColumnType.of(self.datatype).fits(cell)):
            return cell, XSD + "string"
        return cell, self.datatype

    def key(self, cell: str) -> str:
        """Name of the node that an id cell of this column stands for."""
        return f"{self.group}:{cell}" if self.group else cell


@dataclass(frozen=True, slots=True)
class EdgeColumns:
    """Columns of an edge; without one of relations all are called `relation_name`.

    `direction` says of each edge if it has one (Gephi's `Type`); `properties` are said of the edge itself.
    """

    head: int
    tail: int
    relation: int | None = None
    relation_name: str = LINKED_TO
    direction: int | None = None
    properties: tuple[int, ...] = ()


NameColumns = tuple[tuple[int, ...], ...]
"""Columns that name a row, the first that is not empty; of several together, joined by a space."""


@dataclass(frozen=True, slots=True)
class NodeColumns:
    """Columns of a node: its id, what it is called, its types, and its properties.

    `literals`: its properties are texts; otherwise, of a wide table, names of other entities. `key`: further
    columns that only together with the id say which row it is, written between with `join`; they are
    properties too, as the id is then. `references`: properties that are ids of other nodes. `labels`: what
    columns of ids are called, by other columns. `names_by_type`: the names that the user says of a type.
    `type_name` is the type of all rows of a table without types.
    """

    id: int
    names: NameColumns
    types: int | None
    properties: tuple[int, ...]
    literals: bool = True
    key: tuple[int, ...] = ()
    references: tuple[int, ...] = ()
    labels: Mapping[int, int] = field(default_factory=dict[int, int])
    names_by_type: Mapping[str, NameColumns] = field(default_factory=dict[str, NameColumns])
    type_name: str = ""
    join: str = ", "


@dataclass(frozen=True, slots=True)
class Matrix:
    """An adjacency matrix: its nodes, what its edges are called, whether they have weights.

    The first row and first column name the same nodes. A cell that is empty or 0 is no edge; any other number
    is one from the row to the column, and its property `weight`, unless all numbers are 0 and 1.
    """

    nodes: tuple[str, ...]
    relation_name: str
    weighted: bool


def matrix_of(cells: Sequence[str], rows: Sequence[Sequence[str]], relation: str) -> Matrix | None:
    """The matrix whose first record is `cells`, followed by `rows`; None if it is no matrix."""
    nodes, heads = cells[1:], [row[0] for row in rows if row]
    if len(nodes) < FEWEST_NODES or len(rows) < min(len(nodes), ENOUGH_ROWS) or len(rows) > len(nodes):
        return None
    if not all(nodes) or len(set(nodes)) < len(nodes) or len(set(heads)) < len(rows):
        return None
    if not set(heads) <= set(nodes) or any(len(row) != len(cells) for row in rows):
        return None
    matrix_cells = [cell for row in rows for cell in row[1:]]
    if not all(map(is_matrix_cell, matrix_cells)):
        return None
    return Matrix(tuple(nodes), relation, any(cell and float(cell) not in (0, 1) for cell in matrix_cells))


def is_matrix_cell(cell: str) -> bool:
    """Whether a cell of a matrix is empty or a number."""
    return not cell or _CELL_NUMBER.fullmatch(cell) is not None


@dataclass(frozen=True, slots=True)
class Layout:
    """What the columns are; `header`: the first record names them. With both kinds, rows are mixed.

    A `matrix` has neither. `may_be_triples`: the header is in words of its own, and may be a triple as well.
    """

    columns: tuple[Column, ...]
    edges: EdgeColumns | None = None
    nodes: NodeColumns | None = None
    header: bool = True
    left_out: tuple[str, ...] = ()
    may_be_triples: bool = False
    matrix: Matrix | None = None
    lacking: tuple[str, ...] = ()
    """Columns that the user names and that this table has not, as another of the sources has them."""

    @property
    def kind(self) -> str:
        """What a row is."""
        if self.edges is not None:
            return "nodes and edges" if self.nodes is not None else "edges"
        return "nodes"

    def in_words(self) -> str:
        """Say what was taken for what."""
        if self.matrix is not None:
            relation_text = _quoted_relation(self.matrix.relation_name)
            text = f"a matrix of edges: head = the row, relation = {relation_text}, tail = the column"
            weight = f"; properties of edges = {WEIGHT_COLUMN}, the number of the cell"
            return text + weight * self.matrix.weighted
        parts: list[str] = []
        if self.edges is not None:
            edges = self.edges
            ends = self._name(edges.head), self._name(edges.tail)
            relation = (
                _quoted_relation(edges.relation_name)
                if edges.relation is None
                else self._name(edges.relation)
            )
            parts.append(f"head = {ends[0]}, relation = {relation}, tail = {ends[1]}")
            if edges.properties and self.nodes is None:
                parts.append("properties of edges = " + ", ".join(map(self._name, edges.properties)))
        if self.nodes is not None:
            nodes = self.nodes
            id_ = " with ".join(map(self._name, (nodes.id, *nodes.key)))
            roles = [f"id = {id_}"]
            if nodes.names:
                roles.append("name = " + ", else ".join(" ".join(map(self._name, at)) for at in nodes.names))
            for type_, names in nodes.names_by_type.items():
                roles.append(
                    f"name of {type_} = " + ", else ".join(" ".join(map(self._name, at)) for at in names)
                )
            if nodes.types is not None or nodes.type_name:
                type_text = nodes.type_name if nodes.types is None else self._name(nodes.types)
                roles.append(f"type = {type_text}" + " (of the file)" * (nodes.types is None))
            parts.append(", ".join(roles))
            if nodes.properties:
                parts.append("relations = " + ", ".join(self._name(at) for at in nodes.properties))
        if self.left_out:
            parts.append("left out: " + ", ".join(self.left_out))
        if self.lacking:
            parts.append("it has no column " + ", ".join(self.lacking))
        return f"a table of {self.kind}: " + "; ".join(parts)

    def _name(self, column: int) -> str:
        table_column = self.columns[column]
        role = f":{table_column.role.upper()}" if table_column.role else f"column {column + 1}"
        return table_column.name or table_column.header or role


def _quoted_relation(relation: str) -> str:
    return f"“{relation}”" + (" (--relation NAME calls it otherwise)" if relation == LINKED_TO else "")

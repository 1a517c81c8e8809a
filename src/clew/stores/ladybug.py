"""The embedded Cypher store: an index as typed tables of ladybug, in processes of its own."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, cast
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from clew.foundation.scratch import Scratch
from clew.foundation.system import require
from clew.graph import XSD
from clew.graph.graph import Graph, ValueKind
from clew.graph.schema import (
    MOST_WHOLE,
    WHOLE,
    kind_of_text,
    kind_of_values,
    value_relations,
    written_as,
)
from clew.graph.values import NUMBER_TYPES, ColumnType, plain_label
from clew.stores.cypher.guard import USUAL_ROWS
from clew.stores.cypher.ladybug_forms import (
    NODE_ID,
    OF_PROPERTIES,
    VALUE_COLUMNS,
    quoted,
    with_dots,
    without_dots,
)
from clew.stores.cypher.tree import quote_text
from clew.stores.process import EmbeddedStore, QueryProcesses
from clew.stores.store import (
    ITEM_SEPARATOR,
    LONGEST_EXAMPLE,
    GraphSchema,
    HopSearch,
    SchemaHop,
    StoredEdge,
    StoredNode,
    StoredPath,
    joined,
)

# A graph as typed tables of ladybug: what they are, the statements that make them, and their rows.
#
# A node table for each type (`Entity` for nodes without one; a node of several types is in the table of its
# first), a relation table for each relation. Literals are properties of their head: a number where all values
# are, a boolean where all are, else a text; a list where a head has several. Where the source tells no
# literals from entities, a relation whose tails are all numbers, all days, or all *true* or *false*, one for
# a head, is a property of that type too, beside its edges, unless these have properties. Edges are those that
# the source has: each statement of a triple is one, with its properties as numbers, days, booleans or texts.
# Properties of an edge to a literal have no place.
#
# Every node has its `name`; `clew_id` and `clew_triple` are the graph's ids. Ladybug has one space of names,
# without case, and takes a dot for the end of a database's name: a type named as a relation is gets `_node`,
# a relation named as another one but for its case `_`, a dot is another one.

UNTYPED = "Entity"
TRIPLE_ID, _NAME = "clew_triple", "name"
HIDDEN = frozenset((NODE_ID, TRIPLE_ID, "_ID", "_LABEL", "_SRC", "_DST", *VALUE_COLUMNS.values()))


_Value = tuple[str, int, float]
"""A value of an edge: its text, its kind and its number."""


@dataclass(slots=True)
class _Column:
    """A property of the nodes of a table or of the edges of a relation: its name there, and one value."""

    name: str
    example: str
    kind: str = ""
    """Its type in ladybug."""
    of_nodes: bool = False
    """Whether its values are what nodes are called, and no literals."""
    values: dict[int, list[int]] = field(default_factory=lambda: defaultdict[int, list[int]](list))
    """Of a table of nodes: node → literal nodes."""

    def cell(self, values: Iterable[tuple[str, float]]) -> str:
        """A cell of the files that tables are filled from, of texts and their numbers; empty for no value."""
        is_name = self.kind == "DATE" and self.of_nodes
        kind = "STRING" if is_name else self.kind.removesuffix("[]")
        texts = [written_as(kind, text, number) for text, number in values]
        if self.kind == "STRING[]":
            return joined(texts)
        return f"[{','.join(texts)}]" if self.kind.endswith("[]") and texts else (texts or [""])[0]


class TableLayout:
    """Which tables a graph becomes, and their rows."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        first_type = np.full(graph.nodes, -1, np.int64)
        has_type = graph.types.offsets[1:] > graph.types.offsets[:-1]
        first_type[has_type] = graph.types.type[graph.types.offsets[:-1][has_type]]
        self.literal = graph.values.datatype >= 0
        self.table = np.where(self.literal, -1, first_type + 1)
        self.relations = _free_names(graph.relations, (), "_")
        self.labels = _free_names([UNTYPED, *graph.types.names], self.relations, "_node")
        self.edges = _EdgeTables(graph, self.table >= 0)
        self.kinds = value_relations(graph)
        heads, relations, _ = graph.out.columns()
        self.valued = {
            relation: kind
            for relation, kind in self.kinds.items()
            if relation not in self.edges.columns
            and np.unique(relation_heads := heads[relations == relation]).size == relation_heads.size
        }
        """Of `kinds` those with one tail for a head."""
        self.used_tables = np.unique(self.table[self.table >= 0]).tolist()
        self.pairs: dict[int, set[tuple[int, int]]] = defaultdict(set)
        self.columns: dict[int, dict[int, _Column]] = defaultdict(dict)
        looped_relations: set[int] = set()
        for head, relation, tail in self._triples():
            kind, is_node = self.valued.get(relation, ""), self.table[tail] >= 0
            if kind or not is_node:
                name = self.relations[relation]
                name += "_" * (name.lower() in (_NAME, NODE_ID, TRIPLE_ID))
                column = _Column(name, plain_label(graph, tail), kind, of_nodes=bool(kind))
                column = self.columns[int(self.table[head])].setdefault(relation, column)
                column.values[head].append(tail)
            if is_node:
                self.pairs[relation].add((int(self.table[head]), int(self.table[tail])))
                if head == tail:
                    looped_relations.add(relation)
        self.loops = frozenset(self.relations[relation] for relation in looped_relations)
        for column in (column for columns in self.columns.values() for column in columns.values()):
            column.kind = column.kind or self._kind(column)

    def _triples(self) -> Iterable[tuple[int, int, int]]:
        return zip(*(column.tolist() for column in self.graph.out.columns()), strict=True)

    def schema(self) -> GraphSchema:
        """Return the schema of the tables."""
        relations = self.relations
        nodes = {self.labels[table]: list(self.columns[table].values()) for table in self.used_tables}
        edges = {relations[r]: list(self.edges.columns.get(r, {}).values()) for r in self.pairs}
        return GraphSchema(
            tuple(
                SchemaHop(self.labels[head], relations[relation], self.labels[tail])
                for relation, pairs in sorted(self.pairs.items())
                for head, tail in sorted(pairs)
            ),
            {label: frozenset((_NAME, *(c.name for c in columns))) for label, columns in nodes.items()},
            {relation: frozenset(c.name for c in columns) for relation, columns in edges.items()},
            {label: _kinds_with_examples(columns) for label, columns in nodes.items()},
            frozenset(relations[relation] for relation in self.valued),
            type_kinds={name: _kinds_with_examples(columns) for name, columns in edges.items() if columns},
        )

    def facts(self, schema: GraphSchema) -> dict[str, object]:
        """What `GraphFacts` says of the tables."""
        kinds: dict[str, set[str]] = defaultdict(set, {_NAME: {"STRING"}})
        for of_one in (*self.columns.values(), *self.edges.columns.values()):
            for column in of_one.values():
                kinds[column.name].add(column.kind)
        properties = {**schema.label_properties, **schema.type_properties}
        return {
            "loops": sorted(self.loops),
            "kinds": {self.relations[relation]: kind for relation, kind in self.kinds.items()},
            "columns": {name: next(iter(each)) for name, each in kinds.items() if len(each) == 1},
            "properties": {name: sorted(keys) for name, keys in properties.items()},
        }

    def statements(self, folder: Path) -> Iterable[str]:
        """Yield the statements that make and fill the tables; their rows are files in `folder`."""
        for table in self.used_tables:
            columns = list(self.columns[table].values())
            declarations = _declared(columns)
            if table == 0 and self.kinds:
                declarations += "".join(f", {name} {kind}" for kind, name in VALUE_COLUMNS.items())
            label = quoted(self.labels[table])
            key = f"PRIMARY KEY({NODE_ID})"
            yield f"CREATE NODE TABLE {label}({NODE_ID} INT64, {_NAME} STRING{declarations}, {key})"
            path = folder / f"nodes-{table}.csv"
            _write(path, self._node_rows(table, columns))
            value_columns = VALUE_COLUMNS if table == 0 and self.kinds else ()
            yield _copy(label, path, ["INT64", "STRING", *(c.kind for c in columns), *value_columns])
        for relation, pairs in sorted(self.pairs.items()):
            name = quoted(self.relations[relation])
            ends = ", ".join(
                f"FROM {quoted(self.labels[a])} TO {quoted(self.labels[b])}" for a, b in sorted(pairs)
            )
            columns = self.edges.columns.get(relation, {}).values()
            yield f"CREATE REL TABLE {name}({ends}, {TRIPLE_ID} INT64{_declared(columns)})"
        rows: dict[tuple[int, int, int], list[Sequence[object]]] = defaultdict(list)
        for triple, (head, relation, tail) in zip(range(self.graph.triples), self._triples(), strict=True):
            if self.table[tail] >= 0:
                key = (relation, int(self.table[head]), int(self.table[tail]))
                cell_rows = self.edges.rows(head, relation, tail)
                rows[key] += [(head, tail, triple, *cells) for cells in cell_rows]
        for number, ((relation, a, b), edge_rows) in enumerate(rows.items()):
            path = folder / f"edges-{number}.csv"
            _write(path, edge_rows)
            head, tail = (quote_text(without_dots(self.labels[table])) for table in (a, b))
            kinds = [column.kind for column in self.edges.columns.get(relation, {}).values()]
            name, ends = quoted(self.relations[relation]), f"(from={head}, to={tail})"
            yield _copy(name, path, [*["INT64"] * 3, *kinds], ends)

    def _kind(self, column: _Column) -> str:
        """Return the type of a property: a number only where the source says that all values are numbers.

        The same holds of booleans.
        """
        values = self.graph.values
        literals = [node for nodes in column.values.values() for node in nodes]
        datatypes = {ColumnType.of(values.datatypes[int(values.datatype[node])]).base for node in literals}
        is_list = any(len(nodes) > 1 for nodes in column.values.values())
        kind = "STRING"
        if datatypes <= NUMBER_TYPES:
            numbers = values.value[literals]
            whole = not any(d.endswith(("decimal", "double", "float")) for d in datatypes)
            labels = self.graph.labels
            exact = all(
                abs(n) < MOST_WHOLE or WHOLE.fullmatch(labels[i])
                for i, n in zip(literals, numbers, strict=True)
            )
            kind = "INT64" if whole and exact else "DOUBLE"
        elif datatypes == {XSD + "boolean"}:
            kind = "BOOLEAN"
        elif datatypes == {XSD + "date"}:
            kind = "DATE" if (values.kind[literals] == ValueKind.DATE).all() else "STRING"
        return kind + "[]" * is_list

    def _node_rows(self, table: int, columns: Sequence[_Column]) -> Iterable[Sequence[object]]:
        labels, values = self.graph.labels, self.graph.values.value
        for node in np.flatnonzero(self.table == table).tolist():
            row: list[object] = [node, labels[node]]
            row += (
                column.cell((labels[each], float(values[each])) for each in column.values.get(node, ()))
                for column in columns
            )
            if table == 0 and self.kinds:
                kind = kind_of_text(labels[node])
                own = ("INT64", "DOUBLE") if kind == "INT64" else (kind,)
                row += (labels[node] if column in own else "" for column in VALUE_COLUMNS)
            yield row


class _EdgeTables:
    """Properties of edges as columns of relation tables; `nodes` bool [nodes] says which tails are nodes."""

    def __init__(self, graph: Graph, nodes: NDArray[np.bool_]) -> None:
        self._statements: dict[tuple[int, int, int], list[dict[str, list[_Value]]]] = defaultdict(list)
        """The values by key of each statement of a triple; an empty text says nothing."""
        all_values: dict[tuple[int, str], list[_Value]] = defaultdict(list)
        list_keys: set[tuple[int, str]] = set()
        for triple, items in graph.edge_properties.rows():
            if nodes[triple[2]]:
                values: dict[str, list[_Value]] = defaultdict(list)
                for key, text, of_kind, number in items:
                    if text:
                        values[key].append((text, of_kind, number))
                self._statements[triple].append(values)
                for key, own in values.items():
                    all_values[triple[1], key] += own
                    list_keys |= {(triple[1], key)} if len(own) > 1 else set()
        self.columns: dict[int, dict[str, _Column]] = defaultdict(dict)
        """Relation → key → column."""
        for (relation, key), of_key in all_values.items():
            columns, name = self.columns[relation], key
            while name.lower() in {other.lower() for other in (*HIDDEN, *(c.name for c in columns.values()))}:
                name += "_"
            kind = kind_of_values(of_key) or "STRING"
            example = written_as(kind, of_key[0][0], of_key[0][2])
            columns[key] = _Column(name, example, kind + "[]" * ((relation, key) in list_keys))

    def rows(self, head: int, relation: int, tail: int) -> Iterable[Sequence[object]]:
        """The cells of each edge that the source has of a triple; one without any where it says no more."""
        columns = self.columns.get(relation, {})
        for values in self._statements.get((head, relation, tail), [{}]):
            yield [
                column.cell((text, n) for text, _, n in values.get(key, ()))
                for key, column in columns.items()
            ]


def _declared(columns: Iterable[_Column]) -> str:
    return "".join(f", {quoted(column.name)} {column.kind}" for column in columns)


def _kinds_with_examples(columns: Iterable[_Column]) -> dict[str, str]:
    """What the values of each property are, with one of them: *number 260*, *date 1996-07-04*."""
    kind_names = {
        "DOUBLE": "number", "INT64": "whole number", "DATE": "date", "STRING": "text",
        "BOOLEAN": "true or false",
    }  # fmt: skip
    return {
        column.name: f"{'list of ' * column.kind.endswith('[]')}{kind_names[column.kind.removesuffix('[]')]} "
        f"{column.example[:LONGEST_EXAMPLE]}"
        for column in columns
    }


def _free_names(names: Iterable[str], taken: Iterable[str], suffix: str) -> list[str]:
    """Names of tables, with a suffix where others are called so, but for their case."""
    taken_names, free = {name.lower() for name in taken}, list[str]()
    for name in names:
        while name.lower() in taken_names:
            name += suffix
        taken_names.add(name.lower())
        free.append(name)
    return free


def _write(path: Path, rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as lines:
        csv.writer(lines).writerows(rows)


def _copy(table: str, path: Path, kinds: Sequence[str], ends: str = "") -> str:
    """Fill a table from a file; lists of texts are cut here, as ladybug keeps the quotes of their items."""
    options = "HEADER=false, PARALLEL=false, ESCAPE='\"', QUOTE='\"'"
    read = ", ".join(f"c{i} {'STRING' if k == 'STRING[]' else k}" for i, k in enumerate(kinds))
    cells = ", ".join(
        f"string_split(c{i}, {quote_text(ITEM_SEPARATOR)})" if k == "STRING[]" else f"c{i}"
        for i, k in enumerate(kinds)
    )
    rows = f"LOAD WITH HEADERS ({read}) FROM {quote_text(str(path))} ({options}) RETURN {cells}"
    return f"COPY {table} FROM ({rows}) {ends}"


# The embedded Cypher store: an index in ladybug, in typed tables, in processes of its own.


class _LoadedGraph(QueryProcesses):
    """A graph in a database, which all stores of the graph share."""

    def __init__(self, graph: Graph) -> None:
        """Fill the tables of a graph; MissingExtra without ladybug, StoreError where they do not fit."""
        require("ladybug", "ladybug")
        layout = TableLayout(graph)
        self.schema = layout.schema()
        with Scratch("tables") as folder:
            statements = list(layout.statements(Path(folder)))
            store = Scratch("cypher")
            super().__init__("cypher", store, layout.facts(self.schema), statements)


# Stores of the same graph share one database, since filling it takes longer than most queries. The values are
# weak: when the last store of a graph lets go of its database, the processes end and the entry is gone.
_LOADED: WeakValueDictionary[Graph, _LoadedGraph] = WeakValueDictionary()
_LOADING = Lock()


class LadybugStore(EmbeddedStore):
    """An index in ladybug; made with `of_graph`."""

    @classmethod
    def of_graph(cls, graph: Graph, *, seconds: float = 10.0, rows: int = USUAL_ROWS) -> LadybugStore:
        """Load a graph, unless another store has it; queries end after `seconds`.

        Raises MissingExtra without ladybug, StoreError if the graph cannot be loaded.
        """
        with _LOADING:  # who asks meanwhile needs the same database
            loaded_graph = _LOADED[graph] = _LOADED.get(graph) or _LoadedGraph(graph)
        return cls(loaded_graph, seconds=seconds, rows=rows)

    def schema(self) -> GraphSchema:
        """Return the labels, types, properties and hops that the graph has."""
        return cast("_LoadedGraph", self.processes()).schema

    def find_hops(self, search: HopSearch) -> tuple[SchemaHop, ...]:
        """Return nothing: the schema has all hops of the graph."""
        del search
        return ()

    @staticmethod
    def read(value: object) -> object:
        """Turn a value of ladybug into one of a row."""
        return _value(value)


def _value(value: object) -> object:
    """Turn a value of ladybug into one of a row."""
    if isinstance(value, list):
        return tuple(_value(v) for v in cast("list[object]", value))
    if isinstance(value, str):
        return with_dots(value)
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, Any]", value)
    if fields.keys() == {OF_PROPERTIES}:
        owner = _value(fields[OF_PROPERTIES])
        return owner.properties if isinstance(owner, (StoredNode, StoredEdge)) else None
    if "_NODES" in fields:
        if (
            any(edge is None or edge.get("_SRC") is None for edge in fields["_RELS"])
            or None in fields["_NODES"]
        ):
            return None  # of OPTIONAL MATCH, where nothing matched
        nodes = tuple(cast(StoredNode, _value(n)) for n in fields["_NODES"])
        return StoredPath(nodes, tuple(cast(StoredEdge, _value(e)) for e in fields["_RELS"]))
    values = {k: _value(v) for k, v in fields.items()}
    properties = {with_dots(k): v for k, v in values.items() if k not in HIDDEN and v is not None}
    if "_SRC" in fields:
        return StoredEdge(
            str(fields.get(TRIPLE_ID, "")),
            with_dots(str(fields["_LABEL"])),
            _key(fields["_SRC"]),
            _key(fields["_DST"]),
            properties,
        )
    if "_LABEL" in fields:
        return StoredNode(str(fields.get(NODE_ID, "")), (with_dots(str(fields["_LABEL"])),), properties)
    return values


def _key(id: Mapping[str, object]) -> str:
    return f"{id['table']}:{id['offset']}"

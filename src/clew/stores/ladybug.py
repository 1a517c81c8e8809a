"""The embedded Cypher store: an index as typed tables of ladybug, in processes of its own."""

from __future__ import annotations

import csv
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from threading import Lock
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from clew.foundation.system import require
from clew.graph import XSD
from clew.graph.graph import Graph, ValueKind
from clew.graph.schema import WHOLE, kind_of, kind_of_text, value_relations
from clew.graph.values import FALSE, NUMBER_TYPES, TRUE, ColumnType, iso_day
from clew.stores.cypher.guard import USUAL_ROWS, Guarded
from clew.stores.cypher.ladybug_forms import (
    NODE_ID,
    VALUE_COLUMNS,
    quoted,
    quoted_text,
    with_dots,
    without_dots,
)
from clew.stores.errors import StoreError, UnknownName
from clew.stores.process import QueryProcesses
from clew.stores.store import (
    LONGEST_EXAMPLE,
    GraphSchema,
    HopSearch,
    Rows,
    SchemaHop,
    StoredEdge,
    StoredNode,
    StoredPath,
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
# a dot is another one.

UNTYPED = "Entity"
TRIPLE_ID, _NAME = "clew_triple", "name"
_MOST_WHOLE = 2**53
"""Below this, a float is exactly its whole number."""
_BETWEEN = "\x1f"
"""What stands between the items of a list of texts in the files that tables are filled from."""
_BOOLEANS = {
    **{"true": "true", "false": "false", "1": "true", "0": "false"},
    **dict.fromkeys(TRUE, "true"),
    **dict.fromkeys(FALSE, "false"),
}
"""What XML Schema writes for booleans."""
HIDDEN = frozenset((NODE_ID, TRIPLE_ID, "_ID", "_LABEL", "_SRC", "_DST", *VALUE_COLUMNS.values()))
HIDDEN_LOWER = frozenset(name.lower() for name in HIDDEN)


@dataclass(slots=True)
class _Column:
    """Values of one literal relation, by node."""

    name: str
    values: dict[int, list[int]] = field(default_factory=lambda: defaultdict[int, list[int]](list))
    """Node → literal nodes."""
    kind: str = ""
    """Of ladybug, where it is known from what the nodes are called."""


@dataclass(frozen=True, slots=True)
class _EdgeColumn:
    """A property of the edges of one relation: its name in the table, its type in ladybug, and a value."""

    name: str
    kind: str
    example: str


class TableLayout:
    """Which tables a graph becomes, and their rows."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        first_type = np.full(graph.nodes, -1, np.int64)
        has_type = graph.types.offsets[1:] > graph.types.offsets[:-1]
        first_type[has_type] = graph.types.type[graph.types.offsets[:-1][has_type]]
        self.literal = graph.values.datatype >= 0
        self.table = np.where(self.literal, -1, first_type + 1)
        self.labels = _free_labels([UNTYPED, *graph.types.names], graph.relations)
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
        self.pairs: dict[int, set[tuple[int, int]]] = defaultdict(set)
        self.columns: dict[int, dict[int, _Column]] = defaultdict(dict)
        looped_relations: set[int] = set()
        for head, relation, tail in self._triples():
            kind, is_node = self.valued.get(relation, ""), self.table[tail] >= 0
            if kind or not is_node:
                name = graph.relations[relation]
                name += "_" * (name.lower() in (_NAME, NODE_ID, TRIPLE_ID))
                column = self.columns[int(self.table[head])].setdefault(relation, _Column(name, kind=kind))
                column.values[head].append(tail)
            if is_node:
                self.pairs[relation].add((int(self.table[head]), int(self.table[tail])))
                if head == tail:
                    looped_relations.add(relation)
        self.loops = frozenset(graph.relations[relation] for relation in looped_relations)

    def _triples(self) -> Iterable[tuple[int, int, int]]:
        return zip(*(column.tolist() for column in self.graph.out.columns()), strict=True)

    def _used_tables(self) -> list[int]:
        return sorted({int(t) for t in np.unique(self.table) if t >= 0})

    def schema(self) -> GraphSchema:
        """Return the schema of the tables."""
        graph = self.graph
        hops = [
            SchemaHop(self.labels[head], graph.relations[relation], self.labels[tail])
            for relation, pairs in sorted(self.pairs.items())
            for head, tail in sorted(pairs)
        ]
        properties = {
            self.labels[t]: frozenset((_NAME, *(c.name for c in self.columns[t].values())))
            for t in self._used_tables()
        }
        edges = {graph.relations[r]: self.edges.columns.get(r, {}).values() for r in self.pairs}
        types = {relation: frozenset(c.name for c in columns) for relation, columns in edges.items()}
        type_kinds = {
            relation: {c.name: _kind_with_example(c.kind, c.example) for c in columns}
            for relation, columns in edges.items()
            if columns
        }
        kinds = {
            self.labels[t]: {
                c.name: _kind_with_example(self._kind(c), graph.labels[next(iter(c.values.values()))[0]])
                for c in self.columns[t].values()
            }
            for t in self._used_tables()
        }
        valued = frozenset(graph.relations[relation] for relation in self.valued)
        return GraphSchema(tuple(hops), properties, types, kinds, valued, type_kinds=type_kinds)

    def column_facts(self) -> dict[str, object]:
        """`columns`: types of properties that have one everywhere; `properties`: names by label and type."""
        kinds: dict[str, set[str]] = defaultdict(set)
        properties: dict[str, list[str]] = {}
        for table in self._used_tables():
            columns = self.columns[table].values()
            properties[self.labels[table]] = [_NAME, *(column.name for column in columns)]
            kinds[_NAME].add("STRING")
            for column in columns:
                kinds[column.name].add(self._kind(column))
        for relation, edge_columns in self.edges.columns.items():
            properties[self.graph.relations[relation]] = [column.name for column in edge_columns.values()]
            for edge_column in edge_columns.values():
                kinds[edge_column.name].add(edge_column.kind)
        columns_of_one_kind = {name: next(iter(each)) for name, each in kinds.items() if len(each) == 1}
        return {"columns": columns_of_one_kind, "properties": properties}

    def statements(self, folder: Path) -> Iterable[str]:
        """Yield the statements that make and fill the tables; their rows are files in `folder`."""
        for table in self._used_tables():
            columns = list(self.columns[table].values())
            kinds = [self._kind(column) for column in columns]
            declarations = "".join(f", {quoted(c.name)} {k}" for c, k in zip(columns, kinds, strict=True))
            if table == 0 and self.kinds:
                declarations += "".join(f", {name} {kind}" for kind, name in VALUE_COLUMNS.items())
            label = quoted(self.labels[table])
            key = f"PRIMARY KEY({NODE_ID})"
            yield f"CREATE NODE TABLE {label}({NODE_ID} INT64, {_NAME} STRING{declarations}, {key})"
            path = folder / f"nodes-{table}.csv"
            _write(path, self._node_rows(table, columns, kinds))
            value_columns = VALUE_COLUMNS if table == 0 and self.kinds else ()
            yield _copy(label, path, ["INT64", "STRING", *kinds, *value_columns])
        for relation, pairs in sorted(self.pairs.items()):
            name = quoted(self.graph.relations[relation])
            ends = ", ".join(
                f"FROM {quoted(self.labels[a])} TO {quoted(self.labels[b])}" for a, b in sorted(pairs)
            )
            columns = self.edges.columns.get(relation, {}).values()
            declarations = "".join(f", {quoted(c.name)} {c.kind}" for c in columns)
            yield f"CREATE REL TABLE {name}({ends}, {TRIPLE_ID} INT64{declarations})"
        rows: dict[tuple[int, int, int], list[Sequence[object]]] = defaultdict(list)
        for triple, (head, relation, tail) in zip(range(self.graph.triples), self._triples(), strict=True):
            if self.table[tail] >= 0:
                key = (relation, int(self.table[head]), int(self.table[tail]))
                cell_rows = self.edges.rows(head, relation, tail)
                rows[key] += [(head, tail, triple, *cells) for cells in cell_rows]
        for number, ((relation, a, b), edge_rows) in enumerate(rows.items()):
            path = folder / f"edges-{number}.csv"
            _write(path, edge_rows)
            head, tail = (quoted_text(without_dots(self.labels[table])) for table in (a, b))
            kinds = [column.kind for column in self.edges.columns.get(relation, {}).values()]
            name, ends = quoted(self.graph.relations[relation]), f"(from={head}, to={tail})"
            yield _copy(name, path, [*["INT64"] * 3, *kinds], ends)

    def _kind(self, column: _Column) -> str:
        """Return the type of a property: a number only where the source says that all values are numbers.

        The same holds of booleans.
        """
        if column.kind:
            return column.kind
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
                abs(n) < _MOST_WHOLE or WHOLE.fullmatch(labels[i])
                for i, n in zip(literals, numbers, strict=True)
            )
            kind = "INT64" if whole and exact else "DOUBLE"
        elif datatypes == {XSD + "boolean"}:
            kind = "BOOLEAN"
        elif datatypes == {XSD + "date"}:
            kind = "DATE" if (values.kind[literals] == ValueKind.DATE).all() else "STRING"
        return kind + "[]" * is_list

    def _node_rows(
        self, table: int, columns: Sequence[_Column], kinds: Sequence[str]
    ) -> Iterable[Sequence[object]]:
        graph = self.graph
        for node in np.flatnonzero(self.table == table).tolist():
            row: list[object] = [node, graph.labels[node]]
            for column, kind in zip(columns, kinds, strict=True):
                literals = column.values.get(node, [])
                texts = [graph.labels[n] for n in literals]
                if kind.startswith("INT64"):
                    values = (graph.values.value[n] for n in literals)
                    texts = [
                        t if WHOLE.fullmatch(t) else str(int(v)) for t, v in zip(texts, values, strict=True)
                    ]
                elif kind.startswith("DOUBLE"):
                    texts = [repr(float(graph.values.value[n])) for n in literals]
                elif kind.startswith("BOOLEAN"):
                    texts = [_BOOLEANS[text.lower()] for text in texts]
                elif kind.startswith("DATE") and not column.kind:
                    texts = [iso_day(graph.values.value[n]) for n in literals]
                row.append(_cell_text(texts, kind))
            if table == 0 and self.kinds:
                row += _value_cells(graph.labels[node])
            yield row


class _EdgeTables:
    """Properties of edges as columns of relation tables; `nodes` bool [nodes] says which tails are nodes."""

    def __init__(self, graph: Graph, nodes: NDArray[np.bool_]) -> None:
        self._properties = properties = graph.edge_properties
        self._statements: dict[tuple[int, int, int], list[int]] = defaultdict(list)
        texts: dict[tuple[int, int], list[str]] = defaultdict(list)
        list_keys: set[tuple[int, int]] = set()
        for statement, (head, relation, tail) in enumerate(properties.triples.tolist()):
            if nodes[tail]:
                self._statements[head, relation, tail].append(statement)
                for key, values in self._values(statement).items():
                    texts[relation, key] += values
                    list_keys |= {(relation, key)} if len(values) > 1 else set()
        self.columns: dict[int, dict[int, _EdgeColumn]] = defaultdict(dict)
        """Relation → key → column."""
        for (relation, key), key_texts in texts.items():
            taken_names = {
                *HIDDEN_LOWER,
                *(c.name.lower() for c in self.columns[relation].values()),
            }
            name = properties.keys[key]
            while name.lower() in taken_names:
                name += "_"
            kind = (kind_of(key_texts) or "STRING") + "[]" * ((relation, key) in list_keys)
            self.columns[relation][key] = _EdgeColumn(name, kind, key_texts[0])

    def _values(self, statement: int) -> dict[int, list[str]]:
        """The texts of a statement by key; an empty one says nothing."""
        properties = self._properties
        texts_by_key: dict[int, list[str]] = defaultdict(list)
        for at in range(int(properties.offsets[statement]), int(properties.offsets[statement + 1])):
            if text := properties.texts[at]:
                texts_by_key[int(properties.key[at])].append(text)
        return texts_by_key

    def rows(self, head: int, relation: int, tail: int) -> Iterable[Sequence[object]]:
        """The cells of each edge that the source has of a triple; one without any where it says no more."""
        columns = self.columns.get(relation, {})
        for statement in self._statements.get((head, relation, tail), [None]):
            values = {} if statement is None else self._values(statement)
            yield [_cell_text(values.get(key, []), column.kind) for key, column in columns.items()]


def _kind_with_example(kind: str, example: str) -> str:
    """What the values of a property are, with one of them: *number 260*, *date 1996-07-04*."""
    kind_names = {
        "DOUBLE": "number", "INT64": "whole number", "DATE": "date", "STRING": "text",
        "BOOLEAN": "true or false",
    }  # fmt: skip
    list_prefix = "list of " if kind.endswith("[]") else ""
    return f"{list_prefix}{kind_names[kind.removesuffix('[]')]} {example[:LONGEST_EXAMPLE]}"


def _value_cells(text: str) -> list[str]:
    """A text in the columns of `VALUE_COLUMNS`; empty where it is no such value."""
    kind = kind_of_text(text)
    kinds = ("INT64", "DOUBLE") if kind == "INT64" else (kind,)
    return [text if column in kinds else "" for column in VALUE_COLUMNS]


def _free_labels(names: Iterable[str], relations: Iterable[str]) -> list[str]:
    """Names of node tables that are not those of others."""
    taken_names = {relation.lower() for relation in relations}
    labels: list[str] = []
    for name in names:
        label = name
        while label.lower() in taken_names:
            label += "_node"
        taken_names.add(label.lower())
        labels.append(label)
    return labels


def _cell_text(texts: Sequence[str], kind: str) -> str:
    """A cell of the files that tables are filled from; empty for no value."""
    if kind == "STRING[]":
        return _BETWEEN.join(text.replace(_BETWEEN, " ") for text in texts)
    return f"[{','.join(texts)}]" if kind.endswith("[]") and texts else (texts or [""])[0]


def _write(path: Path, rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as lines:
        csv.writer(lines).writerows(rows)


def _copy(table: str, path: Path, kinds: Sequence[str], ends: str = "") -> str:
    """Fill a table from a file; lists of texts are cut here, as ladybug keeps the quotes of their items."""
    options = "HEADER=false, PARALLEL=false, ESCAPE='\"', QUOTE='\"'"
    read = ", ".join(f"c{i} {'STRING' if k == 'STRING[]' else k}" for i, k in enumerate(kinds))
    cells = ", ".join(
        f"string_split(c{i}, {quoted_text(_BETWEEN)})" if k == "STRING[]" else f"c{i}"
        for i, k in enumerate(kinds)
    )
    rows = f"LOAD WITH HEADERS ({read}) FROM {quoted_text(str(path))} ({options}) RETURN {cells}"
    return f"COPY {table} FROM ({rows}) {ends}"


# The embedded Cypher store: an index in ladybug, in typed tables, in processes of its own.


class _LoadedGraph:
    """A graph in a database, which all stores of the graph share; the last one that is closed ends it."""

    def __init__(self, graph: Graph) -> None:
        """Fill the tables of a graph; MissingExtra without ladybug, StoreError where they do not fit."""
        require("ladybug", "ladybug")
        layout = TableLayout(graph)
        kinds = {graph.relations[r]: kind for r, kind in layout.kinds.items()}
        self.schema, self.tables, self.labels = layout.schema(), layout.table, layout.labels
        self.processes = QueryProcesses("cypher", tempfile.TemporaryDirectory(prefix="clew-cypher-"))
        self.stores = 0
        try:
            with tempfile.TemporaryDirectory() as folder:
                statements = list(layout.statements(Path(folder)))
                facts = {"loops": sorted(layout.loops), "kinds": kinds, **layout.column_facts()}
                self.processes.load(facts, statements)
        except BaseException:
            self.processes.close()
            raise


_LOADED: WeakKeyDictionary[Graph, _LoadedGraph] = WeakKeyDictionary()
_LOADING = Lock()


class LadybugStore:
    """An index in ladybug; made with `of_graph`. Threads may share it."""

    name = "embedded"

    def __init__(self, loaded_graph: _LoadedGraph, *, seconds: float, rows: int) -> None:
        self._loaded_graph, self._seconds, self._rows = loaded_graph, seconds, rows
        self._closed = False

    @classmethod
    def of_graph(cls, graph: Graph, *, seconds: float = 10.0, rows: int = USUAL_ROWS) -> LadybugStore:
        """Load a graph, unless another store has it; queries end after `seconds`.

        Raises MissingExtra without ladybug, StoreError if the graph cannot be loaded.
        """
        with _LOADING:  # who asks meanwhile needs the same database
            loaded_graph = _LOADED.get(graph)
            if loaded_graph is None:
                loaded_graph = _LOADED[graph] = _LoadedGraph(graph)
            loaded_graph.stores += 1
        return cls(loaded_graph, seconds=seconds, rows=rows)

    def schema(self) -> GraphSchema:
        """Return the labels, types, properties and hops that the graph has."""
        return self._loaded_graph.schema

    def find_hops(self, search: HopSearch) -> tuple[SchemaHop, ...]:
        """Return nothing: the schema has all hops of the graph."""
        del search
        return ()

    def label_of(self, node: int) -> str | None:
        """Return the label of a node of the graph; None for a literal, which is a property here."""
        table = int(self._loaded_graph.tables[node])
        return None if table < 0 else self._loaded_graph.labels[table]

    def run(
        self,
        query: str,
        parameters: Mapping[str, object] | None = None,
        *,
        seconds: float | None = None,
        rows: int | None = None,
    ) -> Rows:
        """Run a query in a process, in the store's limits unless others are given; as `CypherStore.run`."""
        if self._closed:
            raise StoreError("The embedded store is closed")
        most = self._rows if rows is None else rows
        request = {"query": query, "rows": most, "parameters": dict(parameters or {})}
        try:
            reply = self._loaded_graph.processes.ask(request, self._seconds if seconds is None else seconds)
        except UnknownName as error:
            names = [*self.schema().labels, *self.schema().types]
            near = get_close_matches(str(error).rpartition(" ")[2], names, n=3, cutoff=0.5)
            advice = f"Near: {', '.join(near)}" if near else "clew info shows those that it has"
            raise UnknownName(f"{error}. {advice}") from error
        columns = tuple(reply["columns"])
        found = tuple(tuple(_value(v) for v in row) for row in reply["rows"])
        sent = Guarded(reply["text"], reply["parameters"], columns, most)
        return Rows(columns, found[:most], len(found) <= most, sent)

    def close(self) -> None:
        """Take no more queries; the processes end with the last store of their graph."""
        with _LOADING:
            if self._closed:
                return
            self._closed = True
            self._loaded_graph.stores -= 1
            if self._loaded_graph.stores:
                return
            for graph in [g for g, loaded in _LOADED.items() if loaded is self._loaded_graph]:
                del _LOADED[graph]
        self._loaded_graph.processes.close()


def _value(value: object) -> object:
    """Turn a value of ladybug into one of a row."""
    if isinstance(value, list):
        return tuple(_value(v) for v in cast("list[object]", value))
    if isinstance(value, str):
        return with_dots(value)
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, Any]", value)
    if "_NODES" in fields:
        if (
            any(edge is None or edge.get("_SRC") is None for edge in fields["_RELS"])
            or None in fields["_NODES"]
        ):
            return None  # of OPTIONAL MATCH, where nothing matched
        nodes = tuple(cast(StoredNode, _value(n)) for n in fields["_NODES"])
        return StoredPath(nodes, tuple(cast(StoredEdge, _value(e)) for e in fields["_RELS"]))
    properties = {with_dots(k): _value(v) for k, v in fields.items() if k not in HIDDEN and v is not None}
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
    return {k: _value(v) for k, v in fields.items()}


def _key(id: Mapping[str, object]) -> str:
    return f"{id['table']}:{id['offset']}"

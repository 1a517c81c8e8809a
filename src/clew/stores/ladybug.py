"""The embedded Cypher store: an index in ladybug, in memory, as the tables of `ladybug_tables`.

The stores of a graph share one database, and each thread that asks has a connection of its own.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from threading import Lock
from typing import Any, cast
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from clew.graph.graph import Graph
from clew.stores.cypher.guard import USUAL_ROWS, guard
from clew.stores.cypher.ladybug import to_ladybug
from clew.stores.cypher.ladybug_edits import NODE_ID, with_dots
from clew.stores.cypher.schema import GraphSchema, HopSearch, SchemaHop
from clew.stores.errors import QueryError, StoreError, StoreTimeout
from clew.stores.ladybug_tables import HIDDEN, TRIPLE_ID, TableLayout
from clew.stores.store import Rows, StoredEdge, StoredNode, StoredPath
from clew.text.embedders.extras import require

LARGEST_DATABASE = 1 << 38
"""Bytes of addresses that a database reserves, a power of two. Left to itself it takes 8 TiB: the 16th of a
process found none."""
_PARAMETER = re.compile(r"\$(\w+)")


@dataclass(frozen=True, eq=False)
class _LoadedGraph:
    """A graph in a database, which all stores of the graph share.

    Statements are rewritten by `loops`, relations of a node to itself, and `kinds` of relations to values.
    """

    graph: Graph
    database: Any
    schema: GraphSchema
    loops: frozenset[str]
    kinds: Mapping[str, str]
    tables: NDArray[np.int64]
    labels: Sequence[str]

    @classmethod
    def of_graph(cls, graph: Graph) -> _LoadedGraph:
        """Fill the tables of a graph; MissingExtra without ladybug, StoreError where they do not fit."""
        ladybug = require("ladybug", "ladybug")
        layout = TableLayout(graph)
        try:
            database = ladybug.Database(":memory:", max_db_size=LARGEST_DATABASE)
            with tempfile.TemporaryDirectory() as folder:
                connection = ladybug.Connection(database)
                for statement in layout.statements(Path(folder)):
                    connection.execute(statement)
                connection.close()
        except RuntimeError as error:
            raise StoreError(f"The graph cannot be loaded into the embedded store: {error}") from error
        kinds = {graph.relations[r]: kind for r, kind in layout.kinds.items()}
        return cls(graph, database, layout.schema(), layout.loops, kinds, layout.table, layout.labels)


_LOADED: WeakValueDictionary[int, _LoadedGraph] = WeakValueDictionary()
"""Databases by the id of their graph, which they hold, so that no other one gets its place in memory."""
_LOADING = Lock()


class LadybugStore:
    """An index in ladybug; made with `of_graph`. Threads may share it."""

    name = "embedded"

    def __init__(self, loaded_graph: _LoadedGraph, *, seconds: float, rows: int) -> None:
        self._loaded_graph, self._seconds, self._rows = loaded_graph, seconds, rows
        self._connections: list[Any] = []
        self._idle: list[Any] = []
        self._closed = False

    @classmethod
    def of_graph(cls, graph: Graph, *, seconds: float = 10.0, rows: int = USUAL_ROWS) -> LadybugStore:
        """Load a graph, unless another store has it; queries end after `seconds`.

        Raises MissingExtra without ladybug, StoreError if the graph cannot be loaded.
        """
        with _LOADING:  # who asks meanwhile needs the same database
            loaded_graph = _LOADED.get(id(graph))
            if loaded_graph is None:
                loaded_graph = _LOADED[id(graph)] = _LoadedGraph.of_graph(graph)
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

    def run(self, query: str, parameters: Mapping[str, object] | None = None) -> Rows:
        """Guard a query, write it in ladybug's Cypher, and run it; raises as `CypherStore.run`."""
        loaded_graph = self._loaded_graph
        sent = guard(
            query,
            self._rows,
            parameters,
            lambda statement, texts: to_ladybug(statement, texts, loaded_graph.loops, loaded_graph.kinds),
        )
        used_names = set(_PARAMETER.findall(sent.text))
        try:
            with self._connection() as connection:
                result = connection.execute(
                    sent.text, {name: value for name, value in sent.parameters.items() if name in used_names}
                )
                rows = [tuple(_value(v) for v in row) for row in cast("list[list[object]]", result.get_all())]
                names = cast("list[str]", result.get_column_names())
        except RuntimeError as error:
            raise _failure(str(error), self._seconds) from error
        complete = len(rows) <= sent.rows
        return Rows(sent.columns or tuple(names), tuple(rows[: sent.rows]), complete, sent)

    @contextmanager
    def _connection(self) -> Generator[Any]:
        """A connection that no other thread uses meanwhile."""
        if self._closed:
            raise StoreError("The embedded store is closed")
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = require("ladybug", "ladybug").Connection(self._loaded_graph.database, num_threads=1)
            connection.set_query_timeout(int(self._seconds * 1000))
            self._connections.append(connection)
        try:
            yield connection
        finally:
            self._idle.append(connection)

    def close(self) -> None:
        """End what is asked and take no more; tables are freed with the last store of their graph."""
        self._closed = True
        while self._connections:
            self._connections.pop().close()


_LACKING = re.compile(r"Table (.+) does not exist\.")


def _failure(message: str, seconds: float) -> StoreError | QueryError:
    if "Interrupted" in message:
        return StoreTimeout.after(seconds)
    kind, _, reason = message.partition(" exception: ")
    if missing_table := _LACKING.search(reason):
        return QueryError(
            f"The graph has no label or relation {missing_table[1]}. clew info shows those that it has"
        )
    if kind in ("Binder", "Catalog", "Conversion", "Parser", "Runtime", "Overflow"):
        return QueryError(f"The embedded store cannot run the query: {reason.splitlines()[0]}")
    if "AGGREGATE_FUNCTION" in message:
        detail = "it computes with an aggregate and a variable. Name the aggregate by WITH first"
        return QueryError(f"The embedded store cannot run the query: {detail}")
    if message.startswith("Assertion failed"):
        # Of its parser, which meets a form that it has no code for.
        return QueryError("The embedded store cannot run the query: it has a form that it does not know")
    return StoreError(f"The embedded store failed: {message.splitlines()[0]}")


def _value(value: object) -> object:
    """Turn a value of ladybug into one of a row."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
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

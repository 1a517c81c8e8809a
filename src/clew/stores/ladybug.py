"""The embedded Cypher store: an index in ladybug, as `ladybug_tables` has it, in processes of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from threading import Lock
from typing import Any, cast
from weakref import WeakKeyDictionary

from clew.graph.graph import Graph
from clew.stores.cypher.guard import USUAL_ROWS, Guarded
from clew.stores.cypher.ladybug_edits import NODE_ID, with_dots
from clew.stores.cypher.schema import GraphSchema, HopSearch, SchemaHop
from clew.stores.errors import StoreError, UnknownName
from clew.stores.ladybug_tables import HIDDEN, TRIPLE_ID, TableLayout
from clew.stores.process import QueryProcesses
from clew.stores.store import Rows, StoredEdge, StoredNode, StoredPath
from clew.text.embedders.extras import require


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

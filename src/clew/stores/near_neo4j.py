"""What is near a node of a Neo4j database, and whether the database has changed.

Round trips: one for names, one for the edges of some nodes, one for examples of each type of edges, one for
each `BATCH` nodes whose properties are written.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clew.stores import neighbourhood as near
from clew.stores.cypher.tokens import quote_name
from clew.stores.import_folder import ImportFolder
from clew.stores.naming import naming_property
from clew.stores.neighbourhood import Edge, NamedNode, NamedNodes, NearEdges
from clew.stores.neo4j import Neo4jStore
from clew.stores.neo4j_export import USUAL_EXPORT, export, write_nodes

MOST_SHARDS = 50
"""Ranges of ids that are asked for; ids of a database from which much was deleted are far apart."""
_EDGES = (
    "MATCH (a) WHERE id(a) IN $ids WITH a, COUNT { (a)--() } AS degree "
    "CALL { WITH a, degree WITH a, degree WHERE degree <= $hub MATCH (a)-[r]-() "
    "RETURN collect([id(startNode(r)), id(endNode(r)), type(r)]) AS edges } "
    "RETURN collect([degree, edges])"
)
_NODES = "MATCH (a) WHERE id(a) IN $ids RETURN collect([id(a), labels(a), properties(a)])"


class NearNeo4j:
    """A `NearStore` over a Neo4j database; nodes are told apart by their ids."""

    state_lasts = 0.0

    def __init__(self, store: Neo4jStore) -> None:
        self._store, self.name = store, store.name
        self.key = store.address, store.database or "", store.user

    @property
    def trips(self) -> int:
        """Queries of Clew's own that were sent."""
        return self._store.trips

    def state(self, most: int) -> str:
        """The bookmark of a transaction, which is another one after every write."""
        return self._store.state()

    def is_small(self, most: int) -> bool:
        """Whether there are few nodes and edges, and their ids are not too far apart to be asked for."""
        nodes, edges = self._store.counts()
        if not 0 < nodes + edges <= most:
            return False
        last = self._store.read("MATCH (n) RETURN max(id(n))", most=1)[1][0][0]
        return int(last) < MOST_SHARDS * USUAL_EXPORT.shard_ids

    def export(self, folder: ImportFolder) -> Path:
        """Write all nodes and edges as CSVs."""
        export(self._store, folder)
        return folder.data

    def neighbours(self) -> Neo4jNeighbours:
        """Read the schema."""
        return Neo4jNeighbours(self._store)


class Neo4jNeighbours:
    """Nodes by their names, and their edges."""

    notes = ()

    def __init__(self, store: Neo4jStore) -> None:
        self._store = store
        schema = store.schema()
        label_keys = (
            (label, naming_property(keys)) for label, keys in sorted(schema.label_properties.items())
        )
        self._label_keys = [(label, key) for label, key in label_keys if key is not None]
        self._types = schema.types[: near.MOST_TYPES]

    def named_nodes(self, texts: Sequence[str], *, any_case: bool) -> NamedNodes:
        """Nodes of every label by the property that names them; all are read with `any_case`."""
        condition = "toLower(n.{0}) IN $texts" if any_case else "n.{0} IN $texts"
        parts = [
            f"MATCH (n:{quote_name(label)}) WHERE {condition.format(quote_name(key))} "
            f"RETURN id(n) AS id, n.{quote_name(key)} AS name LIMIT {near.MOST_NAMED}"
            for label, key in self._label_keys
        ]
        if not parts:
            return NamedNodes()
        most = near.MOST_NAMED * len(parts)
        (_, rows), state = self._store.read_at(" UNION ".join(parts), {"texts": list(texts)}, most=most)
        return NamedNodes([NamedNode(str(id), str(name)) for id, name in rows], state)

    def edges(self, ids: Sequence[str], hub: int) -> NearEdges:
        """Edges of nodes, as `Neighbours.edges`."""
        parameters = {"ids": list(map(int, ids)), "hub": hub}
        rows = self._store.read(_EDGES, parameters, most=1)[1][0][0]
        edges = [(str(head), str(tail), kind) for _, node_edges in rows for head, tail, kind in node_edges]
        return NearEdges(edges, sum(degree > hub for degree, _ in rows))

    def examples(self) -> list[Edge]:
        """Some edges of each type."""
        parts = [
            f"CALL {{ MATCH (a)-[r:{quote_name(type_)}]->(b) RETURN id(a) AS a, id(b) AS b, type(r) AS t "
            f"LIMIT {near.EXAMPLES} }} RETURN a, b, t"
            for type_ in self._types
        ]
        if not parts:
            return []
        rows = self._store.read(" UNION ALL ".join(parts), most=near.EXAMPLES * len(parts))[1]
        return [(str(head), str(tail), str(kind)) for head, tail, kind in rows]

    def write(self, nodes: Sequence[str], edges: Sequence[Edge], folder: Path) -> Path:
        """Write CSVs of nodes, with labels and properties, and of edges."""
        rows: list[list[Any]] = []
        for ids in near.batches(nodes, near.BATCH):
            # One list: a record of the driver costs more than what is in it.
            parameters = {"ids": list(map(int, ids))}
            rows += self._store.read(_NODES, parameters, most=1)[1][0][0]
        write_nodes(folder / "nodes.csv", sorted(rows, key=lambda row: row[0]))
        with (folder / "edges.csv").open("w", encoding="utf-8", newline="") as lines:
            writer = csv.writer(lines)
            writer.writerow([":START_ID", ":END_ID", ":TYPE"])
            writer.writerows(sorted((int(head), int(tail), kind) for head, tail, kind in edges))
        return folder

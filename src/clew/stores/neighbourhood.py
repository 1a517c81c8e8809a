"""What a question needs of a Neo4j database: the nodes that it names, and all within some hops of them.

Round trips of a question: one for the names (a second, which compares without regard to case, where none is
found), one for each `BATCH` nodes of a hop, and one for each `BATCH` nodes that were met; once, one for
examples of each type of edges. What is not fetched is counted: edges of hubs, and what is beyond the most
edges.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import cast

from clew.stores.cypher.schema import GraphSchema
from clew.stores.cypher.tokens import quote_name
from clew.stores.errors import StoreTimeout
from clew.stores.naming import naming_property
from clew.stores.neo4j import Neo4jStore
from clew.stores.neo4j_export import write_nodes

EXAMPLES = 50
"""Edges of each type in every neighbourhood, so that words are read as those of the whole graph."""
MOST_TYPES = 1_000
"""Types of edges that examples are asked of."""
BATCH = 1_000
"""Nodes that are asked for at a time."""
MOST_SEEDS = 20
LONGEST_NAME = 8
"""Words of a name."""
_WORD = re.compile(r"\S+")
_EDGES = (
    "MATCH (a) WHERE id(a) IN $ids WITH a, COUNT { (a)--() } AS degree "
    "CALL { WITH a, degree WITH a, degree WHERE degree <= $hub MATCH (a)-[r]-() "
    "RETURN collect([id(startNode(r)), id(endNode(r)), type(r)]) AS edges } "
    "RETURN collect([degree, edges])"
)
_NODES = "MATCH (a) WHERE id(a) IN $ids RETURN collect([id(a), labels(a), properties(a)])"

Edge = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Bounds of a neighbourhood: hops, edges in all, and edges of a node that is passed through.

    Those of the nodes that are named are fetched however many they are, up to `edges`.
    """

    hops: int = 3
    edges: int = 50_000
    hub: int = 500


@dataclass
class FetchedEdges:
    """Nodes (ids) that are named, all edges that were fetched, and what was left out."""

    topic_entities: tuple[int, ...]
    edges: dict[Edge, None] = field(default_factory=dict[Edge, None])
    hubs: int = 0
    cut: bool = False
    trips: int = 0
    state: str = ""
    """The state of the database (`Neo4jStore.state`) when the names were looked up."""
    exact_case: bool = False
    """Whether names were compared as they are written only, as another comparison took too long."""

    @property
    def nodes(self) -> list[int]:
        """Ids of all nodes, ascending."""
        return sorted({*self.topic_entities, *(n for head, tail, _ in self.edges for n in (head, tail))})

    @property
    def notes(self) -> tuple[str, ...]:
        """What has to be known to take an answer as it is meant."""
        said: list[str] = []
        if self.hubs:
            said.append(f"{self.hubs:,} nodes with many edges were not passed through")
        if self.cut:
            said.append(f"the neighbourhood was cut at {len(self.edges):,} edges")
        if self.exact_case:
            said.append("names were compared as they are written: another comparison took too long")
        return tuple(said)


class Fetcher:
    """Fetches neighbourhoods from one database; its labels are looked up once."""

    def __init__(self, store: Neo4jStore, limits: FetchLimits | None = None) -> None:
        self._store, self.limits = store, limits or FetchLimits()
        schema = store.schema()
        self._named = _naming(schema)
        self._types = schema.types[:MOST_TYPES]

    def nodes_named_in(self, question: str, entities: Sequence[str] = ()) -> FetchedEdges:
        """Find the nodes that a question names, longest names first. Raises StoreError."""
        spans = list(dict.fromkeys([*entities, *_spans(question)]))
        found = FetchedEdges(())
        rows = self._match(found, "n.{0} IN $texts", spans)
        if not rows:
            try:
                rows = self._match(found, "toLower(n.{0}) IN $texts", sorted({s.lower() for s in spans}))
            except StoreTimeout:
                found.exact_case = True
        names = {name.lower() for _, name in rows}
        inner = {name for name in names if any(name != other and _within(name, other) for other in names)}
        kept = [id for id, name in sorted(rows, key=lambda r: -len(r[1])) if name.lower() not in inner]
        found.topic_entities = tuple(dict.fromkeys(kept))[:MOST_SEEDS]
        return found

    def _match(self, found: FetchedEdges, test: str, texts: list[str]) -> list[tuple[int, str]]:
        parts = [
            f"MATCH (n:{quote_name(label)}) WHERE {test.format(quote_name(key))} "
            f"RETURN id(n) AS id, n.{quote_name(key)} AS name LIMIT {MOST_SEEDS * LONGEST_NAME}"
            for label, key in self._named
        ]
        if not parts or not texts:
            return []
        found.trips += 1
        most = MOST_SEEDS * LONGEST_NAME * len(parts)
        _, rows, found.state = self._store.read_at(" UNION ".join(parts), {"texts": texts}, most=most)
        return [(cast(int, id), str(name)) for id, name in rows]

    def fetch(self, found: FetchedEdges) -> None:
        """Fetch all edges within the hops of the nodes that are named. Raises StoreError."""
        seen, frontier = set(found.topic_entities), list(found.topic_entities)
        for hop in range(self.limits.hops):
            reached: dict[int, None] = {}
            hub = self.limits.edges if hop == 0 else self.limits.hub
            for ids in _batches(frontier):
                found.trips += 1
                rows = self._store.read(_EDGES, {"ids": ids, "hub": hub}, most=1)[1][0][0]
                for degree, edges in cast("list[tuple[int, list[Edge]]]", rows):
                    found.hubs += degree > hub
                    for head, tail, kind in edges:
                        found.edges[head, tail, kind] = None
                        reached |= dict.fromkeys(n for n in (head, tail) if n not in seen)
                if len(found.edges) >= self.limits.edges:
                    found.cut = True
                    return
            seen |= reached.keys()
            frontier = list(reached)
        found.edges |= dict.fromkeys(self._examples)

    @cached_property
    def _examples(self) -> list[Edge]:
        """Some edges of each type, asked once."""
        parts = [
            f"CALL {{ MATCH (a)-[r:{quote_name(type_)}]->(b) RETURN id(a) AS a, id(b) AS b, type(r) AS t "
            f"LIMIT {EXAMPLES} }} RETURN a, b, t"
            for type_ in self._types
        ]
        if not parts:
            return []
        rows = self._store.read(" UNION ALL ".join(parts), most=EXAMPLES * len(parts))[1]
        return [(cast(int, head), cast(int, tail), str(kind)) for head, tail, kind in rows]

    def write(self, found: FetchedEdges, folder: Path) -> None:
        """Write it as CSVs of nodes and edges, which `clew index` reads. Raises StoreError."""
        nodes: list[list[object]] = []
        for ids in _batches(found.nodes):
            found.trips += 1
            # One list: a record of the driver costs more than what is in it.
            nodes += cast("list[list[object]]", self._store.read(_NODES, {"ids": ids}, most=1)[1][0][0])
        write_nodes(folder / "nodes.csv", sorted(nodes, key=lambda node: cast(int, node[0])))
        with (folder / "edges.csv").open("w", encoding="utf-8", newline="") as lines:
            writer = csv.writer(lines)
            writer.writerow([":START_ID", ":END_ID", ":TYPE"])
            writer.writerows(sorted(found.edges))


def _naming(schema: GraphSchema) -> list[tuple[str, str]]:
    """Labels with the property that names their nodes."""
    found = ((label, naming_property(keys)) for label, keys in sorted(schema.label_properties.items()))
    return [(label, key) for label, key in found if key is not None]


def _spans(question: str) -> Iterator[str]:
    """Runs of words, without what stands around them."""
    words = [(w.start(), w.end()) for w in _WORD.finditer(question)]
    for first in range(len(words)):
        for last in range(first, min(first + LONGEST_NAME, len(words))):
            span = question[words[first][0] : words[last][1]].strip(" ?!.,;:\"'()[]")
            if span:
                yield span
                yield span.removesuffix("'s")


def _within(name: str, other: str) -> bool:
    return f" {name} " in f" {other} "


def _batches(ids: Sequence[int]) -> Iterator[list[int]]:
    return (list(ids[at : at + BATCH]) for at in range(0, len(ids), BATCH))

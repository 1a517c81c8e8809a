"""What Cypher and SPARQL stores are, and what their rows hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from clew.foundation.forms import fields_json
from clew.stores.cypher.guard import Guarded
from clew.stores.cypher.schema import GraphSchema, HopSearch, SchemaHop


@dataclass(frozen=True, slots=True)
class StoredNode:
    """A node of a row: the store's own `id`, its labels and properties."""

    id: str
    labels: tuple[str, ...]
    properties: Mapping[str, object] = field(default_factory=dict[str, object])

    def as_json(self) -> dict[str, object]:
        """`{"labels": […], "properties": {…}}`."""
        return {"labels": list(self.labels), "properties": dict(self.properties)}


@dataclass(frozen=True, slots=True)
class StoredEdge:
    """A relation of a row, from node `head` to node `tail` (ids of the store)."""

    id: str
    type: str
    head: str
    tail: str
    properties: Mapping[str, object] = field(default_factory=dict[str, object])

    def as_json(self) -> dict[str, object]:
        """`{"type": …, "properties": {…}}`."""
        return {"type": self.type, "properties": dict(self.properties)}


@dataclass(frozen=True, slots=True)
class StoredPath:
    """A path of a row: its nodes, and the edges between them."""

    nodes: tuple[StoredNode, ...]
    edges: tuple[StoredEdge, ...]

    def as_json(self) -> dict[str, object]:
        """`{"nodes": […], "edges": […]}`."""
        return fields_json(self)


@dataclass(frozen=True, slots=True)
class StoredTerm:
    """A term of RDF in a row: `kind` is uri, literal or bnode, as in SPARQL's JSON results."""

    kind: str
    value: str
    datatype: str = ""
    language: str = ""

    def as_json(self) -> dict[str, object]:
        """`{"type", "value"}`, with `datatype` or `xml:lang` where a literal has them."""
        details = {"datatype": self.datatype, "xml:lang": self.language}
        return {"type": self.kind, "value": self.value, **{k: v for k, v in details.items() if v}}


@dataclass(frozen=True, slots=True)
class Rows:
    """What a query returned; `complete` is False where there were more rows than may be returned.

    `sent` is the query as the database got it.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    complete: bool
    sent: Guarded


class Store(Protocol):
    """A graph database that is asked, and never written to."""

    name: str
    """What the store is called in messages."""

    def close(self) -> None:
        """Let go of the connection."""
        ...


class CypherStore(Store, Protocol):
    """A store that is asked in Cypher."""

    def schema(self) -> GraphSchema:
        """Return labels, relation types, their properties, and which labels a relation connects."""
        ...

    def run(self, query: str, parameters: Mapping[str, object] | None = None) -> Rows:
        """Guard a query and run it.

        Raises QueryError for a query that is not run, StoreTimeout for one that took too long, StoreError for
        what the database or the way to it makes of it.
        """
        ...

    def find_hops(self, search: HopSearch) -> tuple[SchemaHop, ...]:
        """Find hops that the schema lacks because it was read from a sample; none where it is complete.

        Raises StoreError where the database fails; one that is too slow has none.
        """
        ...


class SparqlStore(Store, Protocol):
    """An RDF store that is asked in SPARQL."""

    def run(self, query: str) -> Rows:
        """Guard a query and run it; raises as `CypherStore.run`.

        Rows hold `StoredTerm`s, None where a variable has no value; True or False in the column `ask` for
        ASK.
        """
        ...


def as_json(value: object) -> object:
    """Turn a value of a row into what JSON can hold."""
    if isinstance(value, (StoredNode, StoredEdge, StoredPath, StoredTerm)):
        return {key: as_json(inner) for key, inner in value.as_json().items()}
    if isinstance(value, Mapping):
        return {str(key): as_json(inner) for key, inner in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, (list, tuple)):
        return [as_json(inner) for inner in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, float) and value != value:
        return None
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)

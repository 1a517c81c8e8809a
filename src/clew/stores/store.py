"""What Cypher and SPARQL stores are, what their schema says, and what their rows hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from clew.stores.cypher.guard import Guarded

# How a list of texts stands in a cell of the CSV files that stores write.

ITEM_SEPARATOR = "\x1f"
"""ASCII's unit separator, between the items of a list."""


def joined(items: Iterable[str]) -> str:
    """Write a list of texts as one cell; a separator within a text becomes a blank."""
    return ITEM_SEPARATOR.join(item.replace(ITEM_SEPARATOR, " ") for item in items)


# What nodes of a property graph are called, and told apart by: such graphs have no one property for it.

_FIRST = ("name", "label", "title")
_NAME = re.compile(r"name$", re.IGNORECASE)
_KEY = re.compile(r"(?:^|_)(?:id|key|code|number|uuid|iri|uri)$|(?:ID|Id|Key|Code|Number)$")
_PARTS = (("firstname", "lastname"), ("givenname", "familyname"), ("first_name", "last_name"))
"""Properties that are a name together."""


@dataclass(frozen=True, slots=True)
class SampledProperty:
    """A property in a sample of the nodes of a label: how many have it, and how many values they have.

    `example` is one of its values.
    """

    nodes: int
    values: int
    example: object


@dataclass(frozen=True, slots=True)
class Naming:
    """How the nodes of a label are called: by the values of `names`, put together.

    `key` is a property that tells them apart; `unique`: the names do so too.
    """

    names: tuple[str, ...] = ()
    key: str | None = None
    unique: bool = False


def naming_property(properties: Iterable[str]) -> str | None:
    """Return the property that names things: `name`, `label`, `title`, else one like `productName`."""
    keys = sorted(properties)
    for usual_name in _FIRST:
        if usual_name in keys:
            return usual_name
    return next((key for key in keys if _NAME.search(key)), None)


def naming_of(label: str, properties: Mapping[str, SampledProperty], nodes: int) -> Naming:
    """How `nodes` nodes of a label are called, by the properties of these.

    A name is of nine nodes in ten, and four of five of its values differ: no *Sales Representative*.
    """
    present = {key: p for key, p in properties.items() if p.nodes >= 0.9 * nodes}
    distinct_keys = {
        k for k, p in present.items() if isinstance(p.example, str) and p.values >= 0.8 * p.nodes
    }
    unique = {
        k for k, p in present.items() if p.nodes == nodes == p.values and not isinstance(p.example, float)
    }
    keys = sorted(unique, key=lambda k: (not _KEY.search(k), not isinstance(present[k].example, int), k))
    key = next((k for k in keys if _KEY.search(k)), None)
    texts = {k.lower(): k for k, p in present.items() if isinstance(p.example, str)}
    parts = tuple(texts[part] for part in next((p for p in _PARTS if texts.keys() >= set(p)), ()))
    label_names = (f"{label}name".lower(), f"{label}_name".lower())
    candidates = [
        *(k for k in ("name", "label") if k in distinct_keys),
        *(k for k in sorted(distinct_keys) if k.lower() in label_names),
        *(("",) if parts else ()),
        *(k for k in sorted(distinct_keys) if k == "title" or _NAME.search(k)),
    ]
    if not candidates:
        return Naming((), key)
    names = (candidates[0],) if candidates[0] else parts
    return Naming(names, key, names[0] in unique if len(names) == 1 else bool(unique & set(names)))


def node_name(labels: Sequence[str], properties: Mapping[str, object], id: str, naming: Naming) -> str:
    """Return what a node is called: its name, else its label with its key (*Order 10248*)."""
    names = [str(properties[key]) for key in naming.names if properties.get(key)]
    return " ".join(names) if names else node_key(labels, properties, id, naming)


def node_key(labels: Sequence[str], properties: Mapping[str, object], id: str, naming: Naming) -> str:
    """Return what tells a node from all others: its label with its key, else with its id in the database."""
    key = properties.get(naming.key or "")
    return " ".join([*labels[:1], id if key is None else str(key)])


# Which labels a relation connects: what direction correction and name checks compare a query with.

LONGEST_EXAMPLE = 24
"""Characters of an example of a property's values."""


@dataclass(frozen=True, slots=True)
class SchemaHop:
    """Nodes labelled `head` have relations of `type` to nodes labelled `tail`."""

    head: str
    type: str
    tail: str

    def __str__(self) -> str:
        return f"(:{self.head})-[:{self.type}]->(:{self.tail})"


@dataclass(frozen=True, slots=True)
class HopSearch:
    """Any hop from one of the labels `heads`, by one of `types`, to one of `tails`; none of them is any."""

    heads: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    tails: tuple[str, ...] = ()


@dataclass(frozen=True)
class GraphSchema:
    """Hops, and the properties of labels and relation types where they are known.

    `kinds` say of a label's properties what their values are, with one of them (*date 1996-07-04*), and
    `type_kinds` of a relation type's. `valued` are relation types whose tails are properties of their heads
    too, which is how a prompt shows them. `namings` say how the nodes of a label are called, where the store
    does not know that by itself.
    """

    hops: tuple[SchemaHop, ...]
    label_properties: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    type_properties: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    kinds: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    valued: frozenset[str] = frozenset()
    namings: Mapping[str, Naming] = field(default_factory=dict[str, Naming])
    type_kinds: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels, in order of first appearance."""
        ends = (label for hop in self.hops for label in (hop.head, hop.tail))
        return tuple(dict.fromkeys([*ends, *self.label_properties]))

    @property
    def types(self) -> tuple[str, ...]:
        """All relation types, in order of first appearance."""
        return tuple(dict.fromkeys([*(hop.type for hop in self.hops), *self.type_properties]))

    def with_hops(self, hops: Iterable[SchemaHop]) -> GraphSchema:
        """The schema with some more hops."""
        return replace(self, hops=tuple(dict.fromkeys([*self.hops, *hops])))


@dataclass(frozen=True, slots=True)
class StoredNode:
    """A node of a row: the store's own `id`, its labels and properties."""

    id: str
    labels: tuple[str, ...]
    properties: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True)
class StoredEdge:
    """A relation of a row, from node `head` to node `tail` (ids of the store)."""

    id: str
    type: str
    head: str
    tail: str
    properties: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True)
class StoredPath:
    """A path of a row: its nodes, and the edges between them."""

    nodes: tuple[StoredNode, ...]
    edges: tuple[StoredEdge, ...]


@dataclass(frozen=True, slots=True)
class StoredTerm:
    """A term of RDF in a row: `kind` is uri, literal or bnode, as in SPARQL's JSON results."""

    kind: str
    value: str
    datatype: str = ""
    language: str = ""


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

    def run(self, query: str) -> Rows:
        """Guard a query and run it. Rows of SPARQL hold `StoredTerm`s, and True or False in `ask` for ASK.

        Raises QueryError for a query that is not run, StoreTimeout for one that took too long, StoreError for
        what the database or the way to it makes of it.
        """
        ...

    def close(self) -> None:
        """Let go of the connection."""
        ...


class CypherStore(Store, Protocol):
    """A store that is asked in Cypher."""

    def schema(self) -> GraphSchema:
        """Return labels, relation types, their properties, and which labels a relation connects."""
        ...

    def run(self, query: str, parameters: Mapping[str, object] | None = None) -> Rows:
        """As any store, with values of the query's parameters."""
        ...

    def find_hops(self, search: HopSearch) -> tuple[SchemaHop, ...]:
        """Find hops that the schema lacks because it was read from a sample; none where it is complete.

        Raises StoreError where the database fails; one that is too slow has none.
        """
        ...


def as_json(value: object) -> object:
    """Turn a value of a row into what JSON can hold.

    A node is `{"labels", "properties"}`, an edge `{"type", "properties"}`, a path `{"nodes", "edges"}`, a
    term `{"type", "value"}`, with `datatype` or `xml:lang` where a literal has them.
    """
    match value:
        case StoredNode():
            value = {"labels": value.labels, "properties": value.properties}
        case StoredEdge():
            value = {"type": value.type, "properties": value.properties}
        case StoredPath():
            value = {"nodes": value.nodes, "edges": value.edges}
        case StoredTerm():
            details = {"datatype": value.datatype, "xml:lang": value.language}
            value = {"type": value.kind, "value": value.value} | {k: v for k, v in details.items() if v}
        case _:
            pass
    if isinstance(value, Mapping):
        return {str(key): as_json(inner) for key, inner in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, (list, tuple)):
        return [as_json(inner) for inner in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, float) and value != value:
        return None
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)

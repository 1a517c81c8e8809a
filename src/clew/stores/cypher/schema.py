"""Which labels a relation connects: what direction correction and name checks compare a query with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from clew.stores.naming import Naming

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


def schema_of(hops: Iterable[tuple[str, str, str]]) -> GraphSchema:
    """Make a schema of (label, relation type, label)."""
    return GraphSchema(tuple(dict.fromkeys(SchemaHop(*hop) for hop in hops)))

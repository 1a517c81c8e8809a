"""The columnar graph: names, adjacency in both directions, literals, types and aliases.

Entities and relations are integers; every array may be memory-mapped. Adjacency is sorted by
(node, relation, neighbour), so that the edges of one relation at a hub are one slice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]
UInt8 = NDArray[np.uint8]
UInt16 = NDArray[np.uint16]


@dataclass(frozen=True, eq=False)
class Names:
    """Strings as one UTF-8 blob: `blob` uint8 [bytes], `offsets` int64 [count + 1]."""

    blob: UInt8
    offsets: Int64

    @classmethod
    def of(cls, strings: Iterable[str]) -> Names:
        """Pack `strings` in their order."""
        encoded = [s.encode("utf-8") for s in strings]
        offsets = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum([len(e) for e in encoded], out=offsets[1:])
        return cls(np.frombuffer(b"".join(encoded), np.uint8), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> str:
        if not 0 <= index < len(self):
            raise IndexError(index)
        return bytes(self.blob[self.offsets[index] : self.offsets[index + 1]]).decode("utf-8")

    def __iter__(self) -> Iterator[str]:
        return (self[i] for i in range(len(self)))


@dataclass(frozen=True, eq=False)
class Adjacency:
    """Edges of every node in one direction, sorted by (node, relation, neighbour).

    `offsets` int64 [nodes + 1]; `relation` int32 [triples]; `neighbour` int32 [triples].
    """

    offsets: Int64
    relation: Int32
    neighbour: Int32


class ValueKind(IntEnum):
    """What a node's parsed value is."""

    NONE = 0
    NUMBER = 1
    DATE = 2
    """Days since 0001-01-01 (proleptic Gregorian; a year or month alone counts from its first day)."""


@dataclass(frozen=True, eq=False)
class Values:
    """Literals and parsed values of the nodes.

    `datatype` int16 [nodes]: index into `datatypes`, -1 where the node is an entity, not a literal.
    `kind` uint8 [nodes]: a `ValueKind`; `value` float64 [nodes]: NaN where nothing was parsed.
    A node of a source without datatypes (TSV) is never a literal but has a value if its name parses as one.
    """

    datatype: NDArray[np.int16]
    kind: UInt8
    value: Float64
    datatypes: Names


@dataclass(frozen=True, eq=False)
class Types:
    """Declared entity types: those of node n are `type[offsets[n]:offsets[n + 1]]`, ids into `names`.

    `offsets` int64 [nodes + 1]; `type` int32 [assignments]. Empty when the source declares none.
    """

    names: Names
    offsets: Int64
    type: Int32

    def having(self, type: int) -> NDArray[np.bool_]:
        """Bool [nodes]: which nodes are of a type."""
        of = np.zeros(len(self.offsets) - 1, bool)
        of[np.repeat(np.arange(len(of)), np.diff(self.offsets))[self.type == type]] = True
        return of


@dataclass(frozen=True, eq=False)
class Aliases:
    """Further names of entities: `names[i]` is one of `entity[i]` (int32 [aliases])."""

    names: Names
    entity: Int32


@dataclass(frozen=True, eq=False)
class Graph:
    """A knowledge graph; node ids are rows of `entities`, triple ids are positions in `out`.

    `entities` holds the names as the source writes them (an IRI for RDF) and `labels` what people read;
    they are the same object where the source knows one name only. `source` uint16 [triples] is an index
    into the sources of the index manifest.
    """

    entities: Names
    labels: Names
    relations: Names
    relation_labels: Names
    out: Adjacency
    into: Adjacency
    values: Values
    types: Types
    aliases: Aliases
    source: UInt16

    @property
    def nodes(self) -> int:
        """Number of nodes, literals included."""
        return len(self.entities)

    @property
    def triples(self) -> int:
        """Number of distinct triples."""
        return len(self.out.neighbour)

    def find_triple(self, head: int, relation: int, tail: int) -> int:
        """Id of the triple, -1 if the graph lacks it; two binary searches."""
        start, stop = int(self.out.offsets[head]), int(self.out.offsets[head + 1])
        relations = self.out.relation[start:stop]
        low = start + int(np.searchsorted(relations, relation, "left"))
        high = start + int(np.searchsorted(relations, relation, "right"))
        at = low + int(np.searchsorted(self.out.neighbour[low:high], tail))
        return at if at < high and self.out.neighbour[at] == tail else -1

    def triple(self, index: int) -> tuple[int, int, int]:
        """(head, relation, tail) of a triple id."""
        head = int(np.searchsorted(self.out.offsets, index, "right")) - 1
        return head, int(self.out.relation[index]), int(self.out.neighbour[index])

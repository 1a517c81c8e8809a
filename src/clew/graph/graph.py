"""The columnar graph: names, adjacency in both directions, literals, types and aliases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import AT_ONCE, Float64, Int32, Int64, UInt8, UInt16
from clew.foundation.forms import id_beside
from clew.graph.steps import Step, is_backward
from clew.types import TripleText

# Entities and relations are integers; every array may be memory-mapped. Adjacency is sorted by
# (relation, neighbour) at every node, so that the edges of one relation at a hub are one slice.
#
# Ids are int32, those of nodes in order of first appearance; a triple's id is its slot of `Graph.out`. The
# edges of a node are the slots from `offsets[n]` to `offsets[n + 1]`.


INFERRED, DERIVED = 65_535, 65_534
"""Sources of triples that no file states: what follows from an ontology, what terms of a vocabulary mean."""


def offsets_of(counts: NDArray[np.integer]) -> Int64:
    """Where lists of so many items begin, one behind the other, and the end of the last: int64 [n + 1]."""
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, dtype=np.int64, out=offsets[1:])
    return offsets


def counted_offsets(owners: NDArray[np.integer], count: int) -> Int64:
    """Where the list of each of `count` owners begins, of one owner an item: int64 [count + 1]."""
    return offsets_of(np.bincount(owners, minlength=count))


def listed_places(starts: Int64, lengths: Int64) -> Int64:
    """The places of all items of some lists, each of which begins at a start: int64 [sum of the lengths]."""
    places_in_lists = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.repeat(starts, lengths) + places_in_lists


@dataclass(frozen=True, eq=False)
class Names:
    """Strings as one UTF-8 blob: `blob` uint8 [bytes], `offsets` int64 [count + 1]."""

    blob: UInt8
    offsets: Int64

    @classmethod
    def of(cls, strings: Iterable[str]) -> Names:
        """Pack `strings` in their order."""
        encoded = [s.encode("utf-8") for s in strings]
        offsets = offsets_of(np.fromiter(map(len, encoded), np.int64, len(encoded)))
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
    """Edges of every node in one direction; those of node n are the slots `offsets[n]` to `offsets[n + 1]`.

    `offsets` int64 [nodes + 1]; `relation`, `neighbour` int32 [slots], sorted by both at every node.
    """

    offsets: Int64
    relation: Int32
    neighbour: Int32

    @property
    def starts(self) -> Int64:
        """The first slot of each node, int64 [nodes]."""
        return self.offsets[:-1]

    @property
    def stops(self) -> Int64:
        """The slot after the last of each node, int64 [nodes]."""
        return self.offsets[1:]

    @property
    def edges(self) -> int:
        """How many edges there are."""
        return len(self.neighbour)

    def span(self, node: int) -> tuple[int, int]:
        """First slot of a node, and the one after its last."""
        return int(self.offsets[node]), int(self.offsets[node + 1])

    def relation_span(self, node: int, relation: int) -> tuple[int, int]:
        """The slots of one relation at a node; two binary searches."""
        start, stop = self.span(node)
        # Of the column's own type, or all of the list is converted first.
        bounds = np.array([relation, relation + 1], self.relation.dtype)
        low, high = self.relation[start:stop].searchsorted(bounds).tolist()
        return start + low, start + high

    def degrees(self) -> Int64:
        """How many edges each node has, int64 [nodes]."""
        return np.diff(self.offsets)

    def columns(self) -> tuple[Int64, Int32, Int32]:
        """Node, relation and neighbour of all edges; the last two are no copies."""
        return np.repeat(np.arange(len(self.starts)), self.degrees()), self.relation, self.neighbour

    def nodes_with(self, relation: int) -> Int64:
        """The nodes that have an edge of a relation, int64, ascending; one pass over the slots."""
        node_parts = [np.empty(0, np.int64)]
        for start in range(0, len(self.relation), AT_ONCE):
            slots = np.flatnonzero(self.relation[start : start + AT_ONCE] == relation) + start
            node_parts.append(self.owners(slots))
        return np.unique(np.concatenate(node_parts))

    def owners(self, slots: Int64) -> Int64:
        """The node of each of some slots."""
        return np.searchsorted(self.offsets, slots, "right") - 1


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

    @classmethod
    def of_pairs(cls, names: Names, node: Int64, type: Int32 | Int64, nodes: int) -> Types:
        """Of pairs in any order."""
        pairs = distinct_pairs(node, type)
        return cls(names, counted_offsets(pairs[:, 0], nodes), pairs[:, 1].copy())

    @property
    def owners(self) -> Int64:
        """The node of each assignment, int64 [assignments]."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def of(self, node: int) -> list[int]:
        """The types of a node."""
        return self.type[self.offsets[node] : self.offsets[node + 1]].tolist()

    def having(self, type: int) -> NDArray[np.bool_]:
        """Bool [nodes]: which nodes are of a type."""
        is_of_type = np.zeros(len(self.offsets) - 1, bool)
        is_of_type[self.owners[self.type == type]] = True
        return is_of_type


@dataclass(frozen=True, eq=False)
class Aliases:
    """Further names of entities: `names[i]` is one of `entity[i]` (int32 [aliases])."""

    names: Names
    entity: Int32


@dataclass(frozen=True, eq=False)
class Stated:
    """Types and characters of properties as sources state them, from which what follows is inferred.

    An ontology speaks of types by their IRIs; `Types` holds what people read of them, with those that follow
    among them. `names` are the types as written, `label` int32 [names] what people read of each, an index
    into `Types.names`; `pairs` int32 [assignments, 2] are node and type, distinct and ascending. `characters`
    are (property, `symmetric` or `transitive`), ascending.
    """

    names: Names
    label: Int32
    pairs: Int32
    characters: tuple[tuple[str, str], ...] = ()


def packed_pairs(first: NDArray[np.integer], second: NDArray[np.integer]) -> Int64:
    """Pairs of ids as one number each, ordered as they are, int64 [n]."""
    return first.astype(np.int64) << 32 | second


def unpacked_pairs(packed: Int64) -> Int32:
    """The pairs that `packed_pairs` packed, int32 [n, 2]."""
    return np.stack([packed >> 32, packed & 0xFFFFFFFF], axis=1).astype(np.int32)


def distinct_pairs(first: NDArray[np.integer], second: NDArray[np.integer]) -> Int32:
    """Pairs of ids without repeats and ascending, int32 [n, 2]."""
    return unpacked_pairs(np.unique(packed_pairs(first, second)))


StatementRow = tuple[tuple[int, int, int], tuple[tuple[str, str, int, float], ...]]
"""A triple, and of each property of an edge of it: key, text, kind and value as in `Values`."""


@dataclass(frozen=True, eq=False)
class EdgeProperties:
    """What the source says of edges beside their ends: *weight*, *since*.

    A *statement* is an edge as the source has it; several may be of one triple (two airlines that fly one
    route). `triples` int32 [statements, 3]: head, relation and tail of each, ascending. Its properties are
    `offsets[s]` to `offsets[s + 1]` (int64 [statements + 1]): `key` int32 [properties] into `keys`, the
    value as text, `kind` uint8 and `value` float64 as in `Values`, but that of a boolean is 1 or 0.
    Statements are found by the ids of the ends and not by slots, which an edit moves; one that removes a
    triple removes its statements.
    """

    triples: Int32
    offsets: Int64
    keys: Names
    key: Int32
    texts: Names
    kind: UInt8
    value: Float64

    @classmethod
    def none(cls) -> EdgeProperties:
        """Of a graph whose edges have none."""
        return cls.of_rows(())

    def __len__(self) -> int:
        """Number of statements."""
        return len(self.triples)

    def statements(self, head: int, relation: int, tail: int) -> range:
        """The statements of a triple."""
        low, high = 0, len(self.triples)
        for column, number in enumerate((head, relation, tail)):
            part = self.triples[low:high, column]
            bounds = np.array([number, number + 1], part.dtype)
            first, last = part.searchsorted(bounds).tolist()
            low, high = low + first, low + last
        return range(low, high)

    def of(self, statement: int) -> tuple[tuple[str, str], ...]:
        """The properties of a statement (key, value as the source writes it), in the order of the source."""
        span = range(int(self.offsets[statement]), int(self.offsets[statement + 1]))
        return tuple((self.keys[int(self.key[at])], self.texts[at]) for at in span)

    def rows(self) -> Iterator[StatementRow]:
        """Yield each statement: its triple, and its properties with their kinds and values."""
        names = tuple(self.keys)
        keys = (names[key] for key in self.key.tolist())
        properties = zip(keys, self.texts, self.kind.tolist(), self.value.tolist(), strict=True)
        counts = np.diff(self.offsets).tolist()
        for (head, relation, tail), count in zip(self.triples.tolist(), counts, strict=True):
            yield (head, relation, tail), tuple(islice(properties, count))

    @classmethod
    def of_rows(cls, rows: Iterable[StatementRow]) -> EdgeProperties:
        """From statements in any order; equal ones are one."""
        rows_by_key = {(triple, tuple(p[:2] for p in items)): (triple, items) for triple, items in rows}
        ordered = sorted(rows_by_key.values(), key=lambda row: row[0])
        flat = [item for _, properties in ordered for item in properties]
        keys = {key: number for number, key in enumerate(dict.fromkeys(key for key, *_ in flat))}
        return cls(
            np.array([triple for triple, _ in ordered], np.int32).reshape(-1, 3),
            offsets_of(np.array([len(properties) for _, properties in ordered], np.int64)),
            Names.of(keys),
            np.array([keys[key] for key, *_ in flat], np.int32),
            Names.of(text for _, text, _, _ in flat),
            np.array([kind for *_, kind, _ in flat], np.uint8),
            np.array([value for *_, value in flat], np.float64),
        )


@dataclass(frozen=True, eq=False)
class Graph:
    """A knowledge graph; node ids are rows of `entities`, triple ids are slots of `out`.

    `entities` holds the names as the source writes them (an IRI for RDF) and `labels` what people read;
    they are the same object where the source knows one name only. `source` uint16 [slots] is an index
    into the sources of the index manifest, or `INFERRED`. `stated` is kept of graphs with IRIs, unless
    nothing is inferred; `beside`, of those of RDF, is what sources say beside triples (`graph.beside`).
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
    edge_properties: EdgeProperties = field(default_factory=EdgeProperties.none)
    stated: Stated | None = None
    beside: NDArray[np.uint8] | None = None
    find_namesakes: Callable[[], frozenset[int]] = frozenset
    """Finds the entities that share their label with another one: by the names of an index."""
    made: dict[object, Any] = field(init=False, repr=False, default_factory=dict[object, Any])
    """What is made of the graph once, for all that ask it."""

    def label(self, node: int) -> str:
        """What people call a node: its name, and its id beside it where another entity has that name.

        `Anna Keller (E08)`, or `Rome (C1)` of `http://example.org/C1`.
        """
        text = self.labels[node]
        return f"{text} ({id_beside(text, self.entities[node])})" if node in self.namesakes else text

    @cached_property
    def namesakes(self) -> frozenset[int]:
        """The entities that share their label with another one."""
        return self.find_namesakes()

    @property
    def nodes(self) -> int:
        """Number of nodes, literals included."""
        return len(self.entities)

    @property
    def triples(self) -> int:
        """Number of distinct triples."""
        return self.out.edges

    @property
    def stated_types(self) -> Stated | None:
        """What sources state of types; of a graph whose nodes have one name each, all types are stated."""
        if self.stated is not None or self.labels is not self.entities:
            return self.stated
        pairs = distinct_pairs(self.types.owners, self.types.type)
        return Stated(self.types.names, np.arange(len(self.types.names), dtype=np.int32), pairs)

    def side(self, step: Step) -> Adjacency:
        """The edges that a step follows, or those of an end."""
        return self.into if is_backward(step) else self.out

    def find_triple(self, head: int, relation: int, tail: int) -> int:
        """Id of the triple, -1 if the graph lacks it; two binary searches."""
        low, high = self.out.relation_span(head, relation)
        column = self.out.neighbour
        at = low + int(column[low:high].searchsorted(column.dtype.type(tail)))
        return at if at < high and self.out.neighbour[at] == tail else -1

    def triples_of(self, node: int) -> list[tuple[int, int, int]]:
        """(head, relation, tail) of all triples of a node, those that it heads first; a loop comes twice."""
        out, into = self.out, self.into
        begun = [(node, int(out.relation[i]), int(out.neighbour[i])) for i in range(*out.span(node))]
        return begun + [
            (int(into.neighbour[i]), int(into.relation[i]), node) for i in range(*into.span(node))
        ]

    def triple(self, index: int) -> tuple[int, int, int]:
        """(head, relation, tail) of a triple id."""
        head = int(self.out.owners(np.array([index]))[0])
        return head, int(self.out.relation[index]), int(self.out.neighbour[index])


# Triples of a graph as people read them: by names, with their ids and the properties of their edges.


def triple_text(graph: Graph, triple: int) -> TripleText:
    """Name a triple by its id, and say whether it is inferred."""
    inferred = int(graph.source[triple]) in (INFERRED, DERIVED)
    return replace(named_triple(graph, *graph.triple(triple)), inferred=inferred)


def named_triple(graph: Graph, head: int, relation: int, tail: int) -> TripleText:
    """Name a triple by the ids of its ends and relation, with the properties of each of its edges."""
    names = (graph.label(head), graph.relation_labels[relation], graph.label(tail))
    ids = (graph.entities[head], graph.relations[relation], graph.entities[tail])
    properties = graph.edge_properties
    statements = properties.statements(head, relation, tail) if len(properties) else ()
    return TripleText(*names, tuple(map(properties.of, statements)), ids=None if ids == names else ids)

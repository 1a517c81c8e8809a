"""What a graph is like: types that its triples say, statistics of relations, node types inferred."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.errors import InputError
from clew.foundation.arrays import AT_ONCE, Float64, Int32, Int64
from clew.foundation.system import physical_memory
from clew.graph.graph import Graph, Names, Types, ValueKind, counted_offsets, listed_places
from clew.graph.steps import HEADS, End, is_tail, relation_of, step_of
from clew.graph.values import FIRST_YEAR, LAST_YEAR, TRUE, is_whole_day, iso_day, parse_value

# Entity types that triples say: by *instance of*, and by relations that name the type of their heads.
#
# Sources without declared types often have them nonetheless: `(Q1, instance of, city)` as in Wikidata, or
# relations like `film.film.directed_by` as in Freebase, whose heads are films.


TYPING = frozenset((
    "instance of", "is instance of", "is a", "isa", "is an", "a",
    "type", "has type", "rdf type", "entity type",
))  # fmt: skip
"""Names of relations from a thing to its type."""
SUBCLASS = frozenset(("subclass of", "sub class of", "subtype of", "is subclass of"))
"""Names of relations from a type to a wider one."""
LEAST_TYPED = 0.25
"""Of all nodes with outgoing edges so many must have a typing relation, else it says something else."""
MOST_IMPLIED_TYPES = 500
"""Types beyond these many, those with the fewest nodes, are left out."""
_CAMEL = re.compile(r"(?<=[a-z\d])(?=[A-Z])")
_PATH = re.compile(r"[^\W\d]\w*(?:[./][^\W\d]\w*)+")


def words_apart(name: str) -> str:
    """A name whose words begin with capitals, with spaces between them: `discoveredBy` is two words."""
    return _CAMEL.sub(" ", name)


def relation_path(label: str) -> tuple[str, ...]:
    """The parts of a relation's name that is written as a path: `film.film.directed_by`; else the name."""
    return tuple(re.split(r"[./]", label)) if _PATH.fullmatch(label) else (label,)


def with_implied_types(graph: Graph, known: Mapping[str, Sequence[int]] | None = None) -> Graph:
    """The graph with the types that its triples say beside the declared ones; itself if they say none.

    `known` are nodes whose names tell their type; those with a declared type keep it.
    """
    rows = [*_types_of_typing(graph), *_types_of_paths(graph)]
    sizes = np.diff(graph.types.offsets)
    for name, nodes in (known or {}).items():
        untyped = np.array([n for n in nodes if not sizes[n]], np.int64)
        rows += [(name, untyped)] if len(untyped) else []
    if not rows:
        return graph
    ids = {name: i for i, name in enumerate(graph.types.names)}
    nodes, types = [graph.types.owners], [graph.types.type.astype(np.int64)]
    for name, members in sorted(rows, key=lambda row: -len(row[1]))[:MOST_IMPLIED_TYPES]:
        nodes.append(members)
        types.append(np.full(len(members), ids.setdefault(name, len(ids)), np.int64))
    merged_types = Types.of_pairs(Names.of(ids), np.concatenate(nodes), np.concatenate(types), graph.nodes)
    return replace(graph, types=merged_types, stated=None)


def _types_of_typing(graph: Graph) -> Iterator[tuple[str, Int64]]:
    """(type, its nodes) by the typing relations, and of all wider types."""
    typing = [r for r, label in enumerate(graph.relation_labels) if _words(label) in TYPING]
    if not typing:
        return
    heads, relations, tails = graph.out.columns()
    least = LEAST_TYPED * len(np.unique(heads))
    typing = [r for r in typing if len(np.unique(heads[relations == r])) >= least]
    if not typing:
        return
    wider: dict[int, set[int]] = defaultdict(set)
    subclass = [r for r, label in enumerate(graph.relation_labels) if _words(label) in SUBCLASS]
    rows = np.isin(relations, subclass)
    for narrow, wide in zip(heads[rows].tolist(), tails[rows].tolist(), strict=True):
        wider[narrow].add(wide)
    rows = np.isin(relations, typing)
    members: dict[int, list[Int64]] = defaultdict(list)
    for type, nodes in _nodes_by_key(tails[rows], heads[rows]):
        for wide in _wider_types(type, wider):
            members[wide].append(nodes)
    for type, parts in members.items():
        yield graph.labels[type], np.unique(np.concatenate(parts))


def _wider_types(type: int, wider: dict[int, set[int]]) -> set[int]:
    """A type and all wider ones."""
    types, frontier = {type}, {type}
    for _ in range(8):
        frontier = {w for t in frontier for w in wider.get(t, ())} - types
        if not frontier:
            break
        types |= frontier
    return types


def _types_of_paths(graph: Graph) -> Iterator[tuple[str, Int64]]:
    """(type, its nodes) by the names of relations: the part before the last is the type of the heads."""
    paths = [relation_path(label) for label in graph.relation_labels]
    type_ids: dict[str, int] = {}
    kind = np.array(
        [type_ids.setdefault(p[-2], len(type_ids)) if len(p) > 1 else -1 for p in paths], np.int64
    )
    if 2 * int((kind >= 0).sum()) < len(paths):
        return
    names = list(type_ids)
    heads, relations, _ = graph.out.columns()
    for number, nodes in _nodes_by_key(kind[relations], heads):
        if number >= 0:
            yield names[number], np.unique(nodes)


def _nodes_by_key(keys: NDArray[Any], nodes: NDArray[Any]) -> Iterator[tuple[int, Int64]]:
    """Each key with the nodes that stand beside it, in their order."""
    if not len(keys):
        return
    order = np.argsort(keys, kind="stable")
    distinct_keys, starts = np.unique(keys[order], return_index=True)
    yield from zip(distinct_keys.tolist(), np.split(nodes[order].astype(np.int64), starts[1:]), strict=True)


def _words(label: str) -> str:
    """The words of a relation's name: `instanceOf` → instance of."""
    spaced = words_apart(relation_path(label)[-1])
    return " ".join(re.split(r"[\W_]+", spaced)).strip().casefold()


# Schema statistics of a graph, from which types of nodes are inferred.
#
# What is counted stands by end or by step, as in `graph.steps`. Which ends a node has (its signature) says
# what it is, also where no types are declared.


MOST_COUNTED_ENDS = 4096
"""Ends whose pairs are counted in one array, of 64 MiB; of more, a row is counted when it is asked for."""
MOSTLY_VALUES = 0.5
"""From this share of numbers or dates on the nodes of an end are values."""
ROWS_AT_ONCE = AT_ONCE >> 2


@dataclass(frozen=True, eq=False)
class Cooccurrence:
    """How many nodes of a graph have both of two of its E ends.

    `square` int32 [E, E] are the counts; None of a graph of very many relations, whose edges are looked at.
    """

    graph: Graph
    square: Int32 | None
    _rows: dict[int, Int64] = field(default_factory=dict[int, Int64], repr=False)

    def __len__(self) -> int:
        return 2 * len(self.graph.relations)

    def row(self, end: End) -> Int64:
        """int64 [E]: nodes that have `end` and each end; not to be changed."""
        if self.square is not None:
            return self.square[end].astype(np.int64)
        if end not in self._rows:
            if (len(self._rows) + 1) * len(self) > AT_ONCE:
                self._rows.clear()
            order, starts = self._slots[is_tail(end)]
            slots = order[starts[relation_of(end)] : starts[relation_of(end) + 1]]
            nodes = np.unique(self.graph.side(end).owners(slots))
            counts = np.zeros(len(self), np.int64)
            for _, ends, _ in _ends_of(self.graph, nodes):
                counts += np.bincount(ends, minlength=len(self))
            self._rows[end] = counts
        return self._rows[end]

    def meet(self, first_end: int, second_end: int) -> bool:
        """Whether any node has both ends."""
        return bool(self.row(first_end)[second_end])

    @cached_property
    def _slots(self) -> list[tuple[Int64, Int64]]:
        """Of both directions the slots in the order of their relations, and where those of each begin."""
        sides, relations = (self.graph.out, self.graph.into), len(self.graph.relations)
        return [
            (np.argsort(side.relation, kind="stable"), counted_offsets(side.relation, relations))
            for side in sides
        ]


def _ends_of(graph: Graph, nodes: NDArray[Any]) -> Iterator[tuple[Int64, Int64, Int64]]:
    """Blocks of (node, an end that it has, how many edges there), one node after the other."""
    sides = (graph.out, graph.into)
    out, into = (side.stops[nodes] - side.starts[nodes] for side in sides)
    for run in _runs(out + into, ROWS_AT_ONCE):
        owners, ends, edges = list[Int64](), list[Int64](), list[Int64]()
        for number, side in enumerate(sides):
            starts = side.starts[nodes[run]]
            lengths = side.stops[nodes[run]] - starts
            relation = side.relation[listed_places(starts, lengths)].astype(np.int64)
            owner = np.repeat(np.arange(len(lengths)), lengths)
            is_new = (relation[1:] != relation[:-1]) | (owner[1:] != owner[:-1])
            first = np.flatnonzero(np.append(True, is_new)[: len(owner)])
            owners.append(owner[first])
            ends.append(step_of(relation[first], number))
            edges.append(np.diff(first, append=len(owner)))
        order = np.argsort(np.concatenate(owners), kind="stable")
        owner, end, count = (np.concatenate(parts)[order] for parts in (owners, ends, edges))
        yield nodes[run][owner], end, count


def _runs(sizes: Int64, most: int) -> Iterator[slice]:
    """Cut `sizes` into runs that each add up to about `most`."""
    at = np.cumsum(sizes) // most
    bounds = [0, *(np.flatnonzero(np.diff(at)) + 1).tolist(), len(sizes)]
    yield from (slice(start, stop) for start, stop in pairwise(bounds) if start < stop)


@dataclass(frozen=True, eq=False)
class Schema:
    """Counts over a graph with R relations; every array is indexed by end or step (2R).

    `nodes` int64 [2R]: nodes that have the end. `triples` int64 [R].
    `together`: how many nodes have both of two ends; of one end twice, those in `nodes`.
    `repeated` int64 [2R]: nodes that have the end at least twice.
    `numbers`, `dates` float64 [2R]: share of the end's nodes with a parsed number or date.
    `low`, `high` float64 [2R]: range of those values (NaN without any).
    `typed` int64 [2R, T]: nodes of the end that have each declared type.
    `inverse` int64 [R]: the relation that holds the same triples reversed (itself if symmetric), -1 if none.
    """

    triples: Int64
    nodes: Int64
    together: Cooccurrence
    repeated: Int64
    numbers: Float64
    dates: Float64
    low: Float64
    high: Float64
    inverse: Int64
    typed: Int64

    @property
    def measured(self) -> NDArray[np.bool_]:
        """Bool [2R]: ends whose nodes are mostly numbers."""
        return self.numbers >= MOSTLY_VALUES

    @property
    def years(self) -> NDArray[np.bool_]:
        """Bool [2R]: ends whose nodes are mostly numbers that may be years."""
        return self.measured & (self.low >= FIRST_YEAR) & (self.high <= LAST_YEAR)


MOST_SAMPLED = 200_000
"""Triples that are looked at to find inverse relations."""
MOST_BACK = 1000
"""Edges of the tail of one of these, of which it may have the triple back."""
INVERSE = 0.95
"""Least share of the triples of two inverse relations that have one of the other back."""


def _inverses(graph: Graph) -> Int64:
    """The inverse of each relation: nearly all sampled triples of both have a triple back."""
    out, relations = graph.out, len(graph.relations)
    sample = np.arange(0, graph.triples, max(1, graph.triples // MOST_SAMPLED))
    degrees = out.stops[out.neighbour[sample]] - out.starts[out.neighbour[sample]]
    sample, degrees = sample[degrees <= MOST_BACK], degrees[degrees <= MOST_BACK]
    heads, sampled = out.owners(sample), np.bincount(out.relation[sample], minlength=relations)
    parts = [np.zeros(0, np.int64)]
    for run in _runs(degrees, AT_ONCE):
        edges = listed_places(out.starts[out.neighbour[sample[run]]], degrees[run])
        triples = np.repeat(np.arange(run.start, run.stop), degrees[run])
        is_back = out.neighbour[edges] == heads[triples]
        one, other = out.relation[sample[triples[is_back]]], out.relation[edges[is_back]]
        parts.append(one.astype(np.int64) * relations + other)
    keys, counts = np.unique(np.concatenate(parts), return_counts=True)
    relation, back_relation = keys // max(relations, 1), keys % max(relations, 1)
    share, back_keys = counts / sampled[relation], back_relation * relations + relation
    places = np.minimum(np.searchsorted(keys, back_keys), max(len(keys) - 1, 0))
    mutual_share = np.where(keys[places] == back_keys, np.minimum(share, share[places]), 0.0)
    inverse = np.full(relations, -1, np.int64)
    order = np.lexsort((-back_relation, mutual_share))  # the best last, of equals the first
    for at in order[mutual_share[order] >= INVERSE].tolist():
        inverse[relation[at]] = back_relation[at]
    return inverse


def _typed(graph: Graph, nodes: Int32 | Int64, ends: int, types: int) -> Int64:
    """Of `nodes`, those that have each of so many ends and declared types, int64 [ends, types]."""
    counts, lengths = np.zeros(ends * types, np.int64), np.diff(graph.types.offsets)
    for owners, listed, _ in _ends_of(graph, nodes[lengths[nodes] > 0]) if types else ():
        type_ = graph.types.type[listed_places(graph.types.offsets[owners], lengths[owners])]
        np.add.at(counts, np.repeat(listed, lengths[owners]) * types + type_, 1)
    return counts.reshape(ends, types)


def _counted(graph: Graph, nodes: Int32 | Int64, relations: int, types: int) -> Schema:
    """What `nodes` of a graph of at most so many relations and types add to a schema, without inverses."""
    count = 2 * relations
    square = np.zeros(count**2 if count <= MOST_COUNTED_ENDS else 0, np.int32)
    having, edges, repeated = np.zeros((3, count), np.int64)
    valued, low, high = np.zeros((2, count), np.int64), np.full(count, np.nan), np.full(count, np.nan)
    for owners, ends, counts in _ends_of(graph, nodes):
        having += np.bincount(ends, minlength=count)
        repeated += np.bincount(ends[counts > 1], minlength=count)
        np.add.at(edges, ends, counts)
        kinds, values = graph.values.kind[owners], graph.values.value[owners]
        np.add.at(valued, (kinds[kinds > 0] - 1, ends[kinds > 0]), 1)
        np.fmin.at(low, ends[kinds > 0], values[kinds > 0])
        np.fmax.at(high, ends[kinds > 0], values[kinds > 0])
        first = np.flatnonzero(np.append(True, owners[1:] != owners[:-1])[: len(owners)])
        widths = np.diff(first, append=len(owners))
        for run in _runs(widths**2, ROWS_AT_ONCE) if len(square) else ():
            pairs = np.repeat(widths[run], widths[run])
            one = np.repeat(ends[listed_places(first[run], widths[run])], pairs)
            other = ends[listed_places(np.repeat(first[run], widths[run]), pairs)]
            np.add.at(square, one * count + other, np.int32(1))  # of its type: four times as fast
    together = Cooccurrence(graph, square.reshape(count, count) if len(square) or not count else None)
    numbers, dates = valued / np.maximum(having, 1)
    of_values = (repeated, numbers, dates, low, high)
    no_inverse, typed = np.full(relations, -1, np.int64), _typed(graph, nodes, count, types)
    return Schema(edges[HEADS].copy(), having, together, *of_values, no_inverse, typed)


def schema_of(graph: Graph) -> Schema:
    """Count once over all nodes; memory is 16 bytes for R times T, and what few relations have of pairs.

    Raises InputError for a graph of so many relations and types that the machine has not the memory for it.
    """
    relations, types = len(graph.relations), len(graph.types.names)
    bytes_needed, memory = 16 * relations * types, physical_memory()
    # A system that promises more than it has would end the process.
    if bytes_needed > memory:
        raise InputError(
            f"{relations:,} relations and {types:,} types are too many: how they go together takes "
            f"{bytes_needed / 2**30:,.0f} GiB and this machine has {memory / 2**30:,.0f}. "
            "If they are values or names, the columns of the source are in another order "
            "(clew index --columns head=…,relation=…,tail=…)"
        )
    all_nodes = np.arange(graph.nodes, dtype=np.int32)
    return replace(_counted(graph, all_nodes, relations, types), inverse=_inverses(graph))


def with_types_of(schema: Schema, graph: Graph) -> Schema:
    """The schema with the types of `graph`, which has the same triples."""
    all_nodes = np.arange(graph.nodes, dtype=np.int32)
    return replace(schema, typed=_typed(graph, all_nodes, 2 * len(graph.relations), len(graph.types.names)))


def schema_after(schema: Schema, before: Graph, after: Graph, changed: Int64) -> Schema:
    """The schema of `after`, from that of `before`: only nodes that `changed` are counted.

    They are those whose edges or types are not what they were, ascending, and all that are new. Where the
    least or largest value of an end may be gone, all is counted.
    """
    relations, types = len(after.relations), len(after.types.names)
    old = _counted(before, changed[changed < before.nodes], relations, types)
    new = _counted(after, changed, relations, types)
    schema = _with_room(schema, relations, types)
    low = (old.low <= schema.low) & ~(new.low <= schema.low)
    if (low | ((old.high >= schema.high) & ~(new.high >= schema.high))).any():
        return schema_of(after)
    squares = [part.together.square for part in (schema, old, new)]
    square = None
    if squares[0] is not None and squares[1] is not None and squares[2] is not None:
        square = squares[0] - squares[1] + squares[2]
    nodes = schema.nodes - old.nodes + new.nodes

    def valued(name: str) -> Float64:
        """The share of the nodes of each end that have a value of a kind."""
        signed = ((schema, 1), (old, -1), (new, 1))
        counts = sum(sign * np.rint(getattr(part, name) * part.nodes) for part, sign in signed)
        return counts / np.maximum(nodes, 1)

    return Schema(
        schema.triples - old.triples + new.triples,
        nodes,
        Cooccurrence(after, square),
        schema.repeated - old.repeated + new.repeated,
        valued("numbers"),
        valued("dates"),
        np.fmin(schema.low, new.low),
        np.fmax(schema.high, new.high),
        _inverses(after),
        schema.typed - old.typed + new.typed,
    )


def _with_room(schema: Schema, relations: int, types: int) -> Schema:
    """A schema with room for the counts of more relations and types."""
    ends, new = 2 * relations - len(schema.nodes), relations - len(schema.triples)
    square = schema.together.square
    return replace(
        schema,
        triples=np.pad(schema.triples, (0, new)),
        together=replace(schema.together, square=None if square is None else np.pad(square, (0, ends))),
        **{
            name: np.pad(getattr(schema, name), (0, ends))
            for name in ("nodes", "repeated", "numbers", "dates")
        },
        low=np.pad(schema.low, (0, ends), constant_values=np.nan),
        high=np.pad(schema.high, (0, ends), constant_values=np.nan),
        typed=np.pad(schema.typed, ((0, ends), (0, types - schema.typed.shape[1]))),
    )


# Which relations of a graph lead to values alone, where its source tells no literals from entities.

BOOLEANS = frozenset(("true", "false"))
"""What nodes that are booleans are called, in lower case."""
MOST_WHOLE = 2**53
"""Below it a float64 holds every whole number."""
WHOLE = re.compile(r"[+-]?(?:0|[1-9]\d{0,17})")
_DECIMAL = re.compile(r"[+-]?(?:(?:0|[1-9]\d{0,14})(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{1,2})?")
_DECIMALS = re.compile(r"[.,]\d{1,2}\b|[.,]\d{4}")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def value_relations(graph: Graph) -> dict[int, str]:
    """Relations whose tails are all numbers, days, or true or false, with the type of ladybug.

    The tails are heads of nothing and of no declared type.
    """
    _, relations, tails = graph.out.columns()
    has_type = graph.types.offsets[1:] > graph.types.offsets[:-1]
    plain_nodes = ~has_type & (graph.values.datatype < 0) & (graph.out.degrees() == 0)
    kinds: dict[int, str] = {}
    others = relations[~plain_nodes[tails]]
    for relation in np.setdiff1d(relations, others).tolist():
        nodes = np.unique(tails[relations == relation])
        kind = kind_of([graph.labels[int(node)] for node in nodes[:1]])
        kind = kind and kind_of([graph.labels[int(node)] for node in nodes])
        if kind:
            kinds[relation] = kind
    return kinds


def kind_of(texts: Iterable[str]) -> str:
    """The type of a column of some texts: whole numbers, numbers, days or booleans; empty for others."""
    return _common({kind_of_text(text) for text in texts})


def kind_of_values(values: Iterable[tuple[str, int, float]]) -> str:
    """As `kind_of`, of values of `EdgeProperties`, read once by their columns: text, kind and value."""
    return _common({_kind_of_value(*value) for value in values})


def _kind_of_value(text: str, kind: int, value: float) -> str:
    if kind == ValueKind.NUMBER:
        is_whole = value.is_integer() and abs(value) < MOST_WHOLE and not _DECIMALS.search(text)
        return "INT64" if is_whole or WHOLE.fullmatch(text) else "DOUBLE"
    if kind == ValueKind.DATE:
        return "DATE" if value >= 1 and is_whole_day(text) else ""
    return "BOOLEAN" if not math.isnan(value) or text.lower() in BOOLEANS else ""


def _common(kinds: set[str]) -> str:
    return "DOUBLE" if kinds == {"INT64", "DOUBLE"} else kinds.pop() if len(kinds) == 1 else ""


def written_as(kind: str, text: str, value: float) -> str:
    """A value as a column of a kind has it: *1.234,50* of `DOUBLE` is *1234.5*; any text is what it is."""
    if kind == "INT64":
        return text.removeprefix("+") if WHOLE.fullmatch(text) else str(int(value))
    if kind == "DOUBLE":
        return repr(value)
    if kind == "BOOLEAN":
        return str(text.lower() in TRUE or text == "1").lower()
    return iso_day(value) if kind == "DATE" else text


def kind_of_text(text: str) -> str:
    """The type of one text; one with leading zeros is none."""
    if WHOLE.fullmatch(text):
        return "INT64"
    if _DECIMAL.fullmatch(text):
        return "DOUBLE"
    if _DAY.fullmatch(text) and parse_value(text)[0] == ValueKind.DATE:
        return "DATE"
    return "BOOLEAN" if text.lower() in BOOLEANS else ""

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
from clew.graph.graph import Graph, Names, Types, ValueKind, counted_offsets, listed_places, offsets_of
from clew.graph.kernels import F, entry, graph_columns, interpreted
from clew.graph.steps import HEADS, End, step_of
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
DEEPEST_TYPE = 8
"""Steps up from a type to wider ones."""
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
    for _ in range(DEEPEST_TYPE):
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


# How many nodes have both of two ends of relations: a square of which only what is not 0 is kept.
#
# What a node adds to it is the square of how many ends the node has, so a node of very many is kept as it is
# (a *wide* node), and counted when a row is asked for: 100,000 relations take little more than their triples.


MOST_CELLS = 1 << 28
"""Pairs of ends that are counted in one array, of 1 GiB."""
MOST_PAIRS = 1 << 27
"""Pairs that nodes are taken apart into where there is no such array; wider nodes are kept as they are."""

Wide = tuple[Int32, Int64, Int32]
COOCCURRENCE_ARRAYS = ("starts", "other", "count", "wide", "wide_starts", "wide_ends", "widest")


@dataclass(frozen=True, eq=False)
class Cooccurrence:
    """Counts over nodes, by pairs of E ends.

    `starts` int64 [E + 1], `other` int32 and `count` int32 are the rows, without nodes that have more than
    `widest` ends. Of these, `wide` int32 ascending, `wide_starts` int64 and `wide_ends` int32 list the ends.
    """

    starts: Int64
    other: Int32
    count: Int32
    wide: Int32
    wide_starts: Int64
    wide_ends: Int32
    widest: int
    _rows: dict[int, Int64] = field(default_factory=dict[int, Int64], repr=False)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def row(self, end: End) -> Int64:
        """int64 [E]: nodes that have `end` and each end; not to be changed."""
        counts = self._rows.get(end)
        if counts is None:
            counts, places = np.zeros(len(self), np.int64), slice(self.starts[end], self.starts[end + 1])
            counts[self.other[places]] = self.count[places]
            ends = self.wide_ends[_places_of(self.wide_starts, self._wide_with(end))]
            counts += np.bincount(ends, minlength=len(self))
            if (len(self._rows) + 1) * len(self) > AT_ONCE:
                self._rows.clear()
            self._rows[end] = counts
        return counts

    def _wide_with(self, end: End) -> Int64:
        """Places of the wide nodes that have an end."""
        return self._wide_of_end[self._wide_places[end] : self._wide_places[end + 1]]

    def meet(self, first_end: int, second_end: int) -> bool:
        """Whether any node has both ends."""
        if first_end in self._rows or len(self) ** 2 <= AT_ONCE:
            return bool(self.row(first_end)[second_end])
        partners = self.other[self.starts[first_end] : self.starts[first_end + 1]]
        at = np.searchsorted(partners, second_end)
        if at < len(partners) and partners[at] == second_end:
            return True
        return bool(np.isin(self._wide_with(first_end), self._wide_with(second_end)).any())

    @cached_property
    def nodes(self) -> Int64:
        """int64 [E]: nodes that have each end."""
        ends = np.repeat(np.arange(len(self)), np.diff(self.starts))
        same = self.other == ends
        counts = np.zeros(len(self), np.int64)
        counts[ends[same]] = self.count[same]
        return counts + np.bincount(self.wide_ends, minlength=len(self))

    @cached_property
    def _wide_of_end(self) -> Int64:
        """Places of wide nodes, by their ends."""
        places = np.repeat(np.arange(len(self.wide)), np.diff(self.wide_starts))
        return places[np.argsort(self.wide_ends, kind="stable")]

    @cached_property
    def _wide_places(self) -> Int64:
        """Where those of each end are."""
        return counted_offsets(self.wide_ends, len(self))

    def changed(self, old: Cooccurrence, new: Cooccurrence, nodes: Int64) -> Cooccurrence:
        """What it is when `nodes`, of which `old` counts what they were, are as `new` counts them."""
        ends = len(new)
        rows = [np.repeat(np.arange(len(p)) * ends, np.diff(p.starts)) + p.other for p in (self, old, new)]
        counts = [self.count, -old.count, new.count]
        keys, counts = _merge_counts(list(zip(rows, counts, strict=True)))
        stays = np.flatnonzero(~np.isin(self.wide, nodes))
        wide = np.concatenate([self.wide[stays], new.wide])
        widths = np.concatenate([np.diff(self.wide_starts)[stays], np.diff(new.wide_starts)])
        listed = np.concatenate([self.wide_ends[_places_of(self.wide_starts, stays)], new.wide_ends])
        order, starts = np.argsort(wide), offsets_of(widths)
        wide_nodes = (wide[order], offsets_of(widths[order]), listed[_places_of(starts, order)])
        return _of_keys(keys, counts, ends, self.widest, wide_nodes)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What it holds, as `of_arrays` takes it."""
        return {name: np.atleast_1d(getattr(self, name)) for name in COOCCURRENCE_ARRAYS}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Cooccurrence:
        """Make it of what `arrays` gave."""
        columns: Any = [arrays[name] for name in COOCCURRENCE_ARRAYS[:-1]]
        return cls(*columns, widest=int(arrays[COOCCURRENCE_ARRAYS[-1]][0]))

    @staticmethod
    def of_square(counts: NDArray[np.signedinteger[Any]]) -> Cooccurrence:
        """Make it of the counts of all pairs, [E, E]."""
        flat, empty = counts.reshape(-1), np.empty(0, np.int32)
        keys = np.flatnonzero(flat)
        return _of_keys(keys, flat[keys], len(counts), len(counts), (empty, np.zeros(1, np.int64), empty))

    @staticmethod
    def of(graph: Graph, nodes: NDArray[Any], widths: Int64, ends: int, widest: int | None) -> Cooccurrence:
        """Count `nodes`, which have `widths` ends each; those of more than `widest` are wide.

        Without that, as many nodes are taken apart as there is room for.
        """
        widest = _widest(widths) if widest is None else widest
        narrow = widths <= widest
        wide, wide_widths = nodes[~narrow].astype(np.int32), widths[~narrow]
        keys, counts = _count_pairs(graph, nodes[narrow], widths[narrow], ends)
        listed = (wide, offsets_of(wide_widths), _ends_of(graph, wide))
        return _of_keys(keys, counts, ends, widest, listed)


def _of_keys(keys: Int64, counts: NDArray[Any], ends: int, widest: int, wide: Wide) -> Cooccurrence:
    starts = np.searchsorted(keys, np.arange(ends + 1) * ends).astype(np.int64)
    other = (keys % max(ends, 1)).astype(np.int32)
    return Cooccurrence(starts, other, counts.astype(np.int32), *wide, widest)


def _widest(widths: Int64) -> int:
    """The most ends of nodes that are taken apart, so that their pairs are not too many."""
    nodes = np.bincount(widths) if len(widths) else np.zeros(1, np.int64)
    pairs = np.cumsum(nodes * np.arange(len(nodes), dtype=np.int64) ** 2)
    return int(np.searchsorted(pairs, MOST_PAIRS, side="right")) - 1


def _count_pairs(graph: Graph, nodes: NDArray[Any], widths: Int64, ends: int) -> tuple[Int64, Int64]:
    """Pairs of ends of nodes as numbers, ascending, and how many nodes have each."""
    empty = np.empty(0, np.int64)
    totals, parts = (empty, empty), list[tuple[Int64, Int64]]()
    for run in _runs(widths**2):
        keys = _pairs(_ends_of(graph, nodes[run]), widths[run], ends)
        parts.append(_sum_counts(keys, np.ones(len(keys), np.int64)))
        if sum(len(keys) for keys, _ in parts) > max(AT_ONCE, len(totals[0])):
            totals, parts = _merge_counts([totals, *parts]), []
    return _merge_counts([totals, *parts])


def _ends_of(graph: Graph, nodes: NDArray[Any]) -> Int32:
    """The ends of each node, one node after the other."""
    owners, side_ends = list[Int64](), list[Int32]()
    for number, side in enumerate((graph.out, graph.into)):
        lengths = side.stops[nodes] - side.starts[nodes]
        owner = np.repeat(np.arange(len(nodes)), lengths)
        relation = side.relation[listed_places(side.starts[nodes], lengths)].astype(np.int32)
        is_new = np.append(True, (relation[1:] != relation[:-1]) | (owner[1:] != owner[:-1]))[: len(owner)]
        owners.append(owner[is_new])
        side_ends.append(step_of(relation[is_new], number))
    order = np.argsort(np.concatenate(owners), kind="stable")
    return np.concatenate(side_ends)[order].astype(np.int32)


def _pairs(listed: Int32, widths: Int64, ends: int) -> Int64:
    """The pairs of the ends of each node, of which so many are listed, as numbers."""
    starts, node_widths = offsets_of(widths), np.repeat(widths, widths)
    first_ends = np.repeat(listed.astype(np.int64), node_widths)
    nodes = np.repeat(np.arange(len(widths)), widths)
    return first_ends * ends + listed[_places_of(starts, nodes)]


def _merge_counts(parts: Sequence[tuple[Int64, NDArray[Any]]]) -> tuple[Int64, Int64]:
    keys, counts = (np.concatenate(part) for part in zip(*parts, strict=True))
    return _sum_counts(keys, counts)


def _runs(sizes: Int64) -> Iterator[slice]:
    """Cut `sizes` into runs that each add up to about `AT_ONCE`."""
    at = np.cumsum(sizes) // AT_ONCE
    bounds = [0, *(np.flatnonzero(np.diff(at)) + 1).tolist(), len(sizes)]
    yield from (slice(start, stop) for start, stop in pairwise(bounds) if start < stop)


def _sum_counts(keys: Int64, counts: NDArray[Any]) -> tuple[Int64, Int64]:
    """The keys, ascending and once each, with the sums of their counts that are not 0."""
    order = np.argsort(keys, kind="stable")
    keys, counts = keys[order], counts[order].astype(np.int64)
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])) if len(keys) else np.empty(0, np.int64)
    sums = np.add.reduceat(counts, first) if len(first) else counts
    return keys[first][sums != 0], sums[sums != 0]


def _places_of(starts: Int64, rows: NDArray[Any]) -> Int64:
    """The places of all that some rows hold."""
    return listed_places(starts[rows], np.diff(starts)[rows])


# Schema statistics of a graph, and node types inferred from them.
#
# What is counted stands by end or by step, as in `graph.steps`. Which ends a node has (its signature) says
# what it is, also where no types are declared.


# ruff: noqa: ANN001, ANN202 (kernels: numba infers the types)
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false


MOSTLY_VALUES = 0.5
"""From this share of numbers or dates on the nodes of an end are values."""
BYTES_OF_TYPE = 16
"""Memory for each pair of a relation and a type: a count for both ends."""
MOST_INTERPRETED = 500_000
"""Relations times triples of a graph that is counted without machine code, in 0.3 s at most."""


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


def _quickest(kernel: F, graph: Graph) -> F:
    """The function that a kernel is made of for a graph so small that numba takes longer to load."""
    small = graph.triples * max(len(graph.relations), 10) <= MOST_INTERPRETED
    return interpreted(kernel) if small else kernel


@entry
def _count_ends(graph, kind, value, nodes, ends, square):
    """Count ends of nodes, edges and values of ends, and, if `square`, nodes that have both of two ends."""
    cooccur = np.zeros((ends, ends) if square else (0, 0), np.int32)
    widths = np.zeros(len(nodes), np.int64)
    repeated = np.zeros(ends, np.int64)
    edges = np.zeros(ends, np.int64)
    valued = np.zeros((2, ends), np.int64)
    low = np.full(ends, np.nan)
    high = np.full(ends, np.nan)
    have = np.empty(ends, np.int64)
    for i in range(len(nodes)):
        node, count = nodes[i], 0
        for side in range(2):
            relation = graph.out_relation if side == 0 else graph.into_relation
            at = graph.out_starts[node] if side == 0 else graph.into_starts[node]
            stop = graph.out_stops[node] if side == 0 else graph.into_stops[node]
            while at < stop:
                run = at + 1
                while run < stop and relation[run] == relation[at]:
                    run += 1
                end = 2 * relation[at] + side
                have[count] = end
                count += 1
                if run - at > 1:
                    repeated[end] += 1
                edges[end] += run - at
                if kind[node] > 0:
                    valued[kind[node] - 1, end] += 1
                    if not value[node] >= low[end]:
                        low[end] = value[node]
                    if not value[node] <= high[end]:
                        high[end] = value[node]
                at = run
        widths[i] = count
        if square:
            for first in range(count):
                for second in range(count):
                    cooccur[have[first], have[second]] += 1
    return widths, cooccur, edges, repeated, valued, low, high


@entry
def _count_inverses(graph, sample, heads, relations, widest):
    """For sampled triples: their relation and that of each triple back, as one number; how many there are."""
    keys, count = np.empty(1024, np.int64), 0
    sampled = np.zeros(relations, np.int64)
    for i in range(len(sample)):
        triple = sample[i]
        tail = graph.out_neighbour[triple]
        if graph.out_stops[tail] - graph.out_starts[tail] > widest:
            continue
        sampled[graph.out_relation[triple]] += 1
        for edge in range(graph.out_starts[tail], graph.out_stops[tail]):
            if graph.out_neighbour[edge] == heads[i]:
                if count == len(keys):
                    longer_keys = np.empty(2 * count, np.int64)
                    longer_keys[:count] = keys
                    keys = longer_keys
                keys[count] = np.int64(graph.out_relation[triple]) * relations + graph.out_relation[edge]
                count += 1
    return keys[:count], sampled


MOST_SAMPLED = 200_000
"""Triples that are looked at to find inverse relations."""
INVERSE = 0.95
"""Least share of the triples of two inverse relations that have one of the other back."""


def _inverses(graph: Graph) -> Int64:
    """The inverse of each relation: nearly all sampled triples of both have a triple back."""
    out, relations = graph.out, len(graph.relations)
    sample = np.arange(0, graph.triples, max(1, graph.triples // MOST_SAMPLED))
    count = _quickest(_count_inverses, graph)
    pair_keys, sampled = count(graph_columns(graph), sample, out.owners(sample), relations, 1000)
    keys, counts = np.unique(pair_keys, return_counts=True)
    relation, back_relation = keys // max(relations, 1), keys % max(relations, 1)
    share, back_keys = counts / sampled[relation], back_relation * relations + relation
    places = np.minimum(np.searchsorted(keys, back_keys), max(len(keys) - 1, 0))
    mutual_share = np.where(keys[places] == back_keys, np.minimum(share, share[places]), 0.0)
    inverse = np.full(relations, -1, np.int64)
    order = np.lexsort((-back_relation, mutual_share))  # the best last, of equals the first
    for at in order[mutual_share[order] >= INVERSE].tolist():
        inverse[relation[at]] = back_relation[at]
    return inverse


@entry
def _count_types(graph, type_offsets, types, nodes, counts):
    """Add, for every end and declared type, those of `nodes` that have both to `counts`."""
    for node in nodes:
        for side in range(2):
            relation = graph.out_relation if side == 0 else graph.into_relation
            start = graph.out_starts[node] if side == 0 else graph.into_starts[node]
            stop = graph.out_stops[node] if side == 0 else graph.into_stops[node]
            for at in range(start, stop):
                if at > start and relation[at] == relation[at - 1]:
                    continue
                for i in range(type_offsets[node], type_offsets[node + 1]):
                    counts[2 * relation[at] + side, types[i]] += 1


def _typed(graph: Graph, nodes: Int32 | Int64, ends: int, types: int) -> Int64:
    """Of `nodes`, those that have each of so many ends and declared types, int64 [ends, types]."""
    counts = np.zeros((ends, types), np.int64)
    if types:
        count = _quickest(_count_types, graph)
        count(graph_columns(graph), graph.types.offsets, graph.types.type, nodes, counts)
    return counts


def _counted(
    graph: Graph, nodes: Int32 | Int64, relations: int, types: int, widest: int | None = None
) -> Schema:
    """What `nodes` of a graph of at most so many relations and types add to a schema, without inverses.

    `widest` is as of `Cooccurrence`.
    """
    ends, values = 2 * relations, graph.values
    square, count = ends**2 <= MOST_CELLS, _quickest(_count_ends, graph)
    counted = count(graph_columns(graph), values.kind, values.value, nodes, ends, square)
    widths, cells, edges, repeated, valued, low, high = counted
    together = (
        Cooccurrence.of_square(cells) if square else Cooccurrence.of(graph, nodes, widths, ends, widest)
    )
    numbers, dates = valued / np.maximum(together.nodes, 1)
    of_values = (repeated, numbers, dates, low, high)
    no_inverse, typed = np.full(relations, -1, np.int64), _typed(graph, nodes, ends, types)
    return Schema(edges[HEADS].copy(), together.nodes, together, *of_values, no_inverse, typed)


def schema_of(graph: Graph) -> Schema:
    """Count once over all nodes; memory is what nodes have of pairs of relations, and 16 bytes for R times T.

    Raises InputError for a graph of so many relations and types that the machine has not the memory for it.
    """
    relations, types = len(graph.relations), len(graph.types.names)
    bytes_needed, memory = BYTES_OF_TYPE * relations * types, physical_memory()
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
    relations, types, together = len(after.relations), len(after.types.names), schema.together
    if len(together) ** 2 <= MOST_CELLS < (2 * relations) ** 2:
        return schema_of(after)  # it was counted otherwise
    old = _counted(before, changed[changed < before.nodes], relations, types, together.widest)
    new = _counted(after, changed, relations, types, together.widest)
    schema = _with_room(schema, relations, types)
    low = (old.low <= schema.low) & ~(new.low <= schema.low)
    if (low | ((old.high >= schema.high) & ~(new.high >= schema.high))).any():
        return schema_of(after)
    together = together.changed(old.together, new.together, changed)

    def valued(name: str) -> Float64:
        """The share of the nodes of each end that have a value of a kind."""
        signed = ((schema, 1), (old, -1), (new, 1))
        counts = sum(sign * np.rint(getattr(part, name) * part.nodes) for part, sign in signed)
        return counts / np.maximum(together.nodes, 1)

    return Schema(
        schema.triples - old.triples + new.triples,
        together.nodes,
        together,
        schema.repeated - old.repeated + new.repeated,
        valued("numbers"),
        valued("dates"),
        np.fmin(schema.low, new.low),
        np.fmax(schema.high, new.high),
        _inverses(after),
        schema.typed - old.typed + new.typed,
    )


def _with_room(schema: Schema, relations: int, types: int) -> Schema:
    """A schema with room for the counts of more relations and types, but not in `together`."""
    ends, new = 2 * relations - len(schema.nodes), relations - len(schema.triples)
    return replace(
        schema,
        triples=np.pad(schema.triples, (0, new)),
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
        return text if WHOLE.fullmatch(text) else str(int(value))
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

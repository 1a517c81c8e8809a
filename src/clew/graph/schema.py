"""Schema statistics of a graph, and node types inferred from them.

A relation r has two *ends*: end 2r are its heads, end 2r+1 its tails. A *step* is a relation walked in one
direction: step 2r from head to tail, 2r+1 from tail to head. Step s leaves a node of end s and arrives at a
node of end s ^ 1. Which ends a node has (its signature) says what it is, also where no types are declared.
"""

# ruff: noqa: ANN001, ANN202 (kernels: numba infers the types)
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false
from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.errors import InputError
from clew.foundation.arrays import Float64, Int32, Int64
from clew.graph.cooccurrence import MOST_CELLS, Cooccurrence
from clew.graph.graph import Graph
from clew.graph.kernels import F, entry, graph_columns, interpreted
from clew.workers.memory import physical_memory

MOSTLY_VALUES = 0.5
"""From this share of numbers or dates on the nodes of an end are values."""
BYTES_OF_TYPE = 16
"""Memory for each pair of a relation and a type: a count for both ends."""
MOST_INTERPRETED = 500_000
"""Relations times triples of a graph that is counted without machine code, in 0.3 s at most."""
FIRST_YEAR, LAST_YEAR = 1000, 2100
"""Numbers in this range may be years."""


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
    share = counts / sampled[relation]
    places = np.minimum(np.searchsorted(keys, back_relation * relations + relation), max(len(keys) - 1, 0))
    mutual_share = np.where(
        keys[places] == back_relation * relations + relation, np.minimum(share, share[places]), 0.0
    )
    inverse = np.full(relations, -1, np.int64)
    sure_places = np.flatnonzero(mutual_share >= INVERSE)
    for at in sure_places[
        np.lexsort((-back_relation[sure_places], mutual_share[sure_places]))
    ].tolist():  # the best last, of equals the first
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


class _EndCounts(NamedTuple):
    """What some nodes add to a schema; arrays as those of `Schema`, edges and values by end."""

    edges: Int64
    together: Cooccurrence
    repeated: Int64
    valued: Int64
    low: Float64
    high: Float64
    typed: Int64

    @classmethod
    def of(
        cls, graph: Graph, nodes: Int32 | Int64, relations: int, types: int, widest: int | None = None
    ) -> _EndCounts:
        """Count `nodes` of a graph of at most so many relations and types; `widest` as of `Cooccurrence`."""
        columns, ends = graph_columns(graph), 2 * relations
        square = ends**2 <= MOST_CELLS
        widths, cells, edges, repeated, valued, low, high = _quickest(_count_ends, graph)(
            columns, graph.values.kind, graph.values.value, nodes, ends, square
        )
        typed = _typed(graph, nodes, ends, types)
        if square:
            together = Cooccurrence.of_square(cells)
        else:
            together = Cooccurrence.of(graph, nodes, widths, ends, widest)
        return cls(edges, together, repeated, valued, low, high, typed)

    def schema(self, graph: Graph) -> Schema:
        """The schema of a graph of which this counts all nodes."""
        nodes = self.together.nodes
        numbers, dates = self.valued / np.maximum(nodes, 1)
        return Schema(
            *(self.edges[::2].copy(), nodes, self.together, self.repeated, numbers, dates),
            *(self.low, self.high, _inverses(graph), self.typed),
        )


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
    return _EndCounts.of(graph, all_nodes, relations, types).schema(graph)


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
    old_counts = _EndCounts.of(before, changed[changed < before.nodes], relations, types, together.widest)
    new_counts = _EndCounts.of(after, changed, relations, types, together.widest)
    counts = _as_counts(schema, 2 * relations, types)
    low = (old_counts.low <= counts.low) & ~(new_counts.low <= counts.low)
    if (low | ((old_counts.high >= counts.high) & ~(new_counts.high >= counts.high))).any():
        return schema_of(after)
    total = _EndCounts(
        counts.edges - old_counts.edges + new_counts.edges,
        counts.together.changed(old_counts.together, new_counts.together, changed),
        counts.repeated - old_counts.repeated + new_counts.repeated,
        counts.valued - old_counts.valued + new_counts.valued,
        np.fmin(counts.low, new_counts.low),
        np.fmax(counts.high, new_counts.high),
        counts.typed - old_counts.typed + new_counts.typed,
    )
    return total.schema(after)


def _as_counts(schema: Schema, ends: int, types: int) -> _EndCounts:
    """What was counted for a schema, with room for more ends and types."""
    new_ends = ends - len(schema.nodes)
    edges = np.zeros(len(schema.nodes), np.int64)
    edges[::2] = schema.triples
    valued = np.rint(np.stack([schema.numbers, schema.dates]) * schema.nodes).astype(np.int64)
    return _EndCounts(
        np.pad(edges, (0, new_ends)),
        schema.together,
        np.pad(schema.repeated, (0, new_ends)),
        np.pad(valued, ((0, 0), (0, new_ends))),
        np.pad(schema.low, (0, new_ends), constant_values=np.nan),
        np.pad(schema.high, (0, new_ends), constant_values=np.nan),
        np.pad(schema.typed, ((0, new_ends), (0, types - schema.typed.shape[1]))),
    )

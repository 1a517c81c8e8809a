"""Schema statistics of a graph, and node types inferred from them.

A relation r has two *ends*: end 2r are its heads, end 2r+1 its tails. A *step* is a relation walked in one
direction: step 2r from head to tail, 2r+1 from tail to head. Step s leaves a node of end s and arrives at a
node of end s ^ 1. Which ends a node has (its signature) says what it is, also where no types are declared.
"""

# ruff: noqa: ANN001, ANN202 (kernels: numba infers the types)
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false
from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numba as nb
import numpy as np
from numpy.typing import NDArray

from clew.graph.graph import Float64, Graph, Int64

MOSTLY = 0.5
"""From this share of numbers or dates on the nodes of an end are values."""
FIRST_YEAR, LAST_YEAR = 1000, 2100
"""Numbers in this range may be years."""


@dataclass(frozen=True, eq=False)
class Schema:
    """Counts over a graph with R relations; every array is indexed by end or step (2R).

    `nodes` int64 [2R]: nodes that have the end. `triples` int64 [R].
    `cooccur` int64 [2R, 2R]: nodes that have both ends; the diagonal is `nodes`.
    `repeated` int64 [2R]: nodes that have the end at least twice.
    `widest` int64 [2R]: the largest number of edges of one end at one node.
    `numbers`, `dates` float64 [2R]: share of the end's nodes with a parsed number or date.
    `low`, `high` float64 [2R]: range of those values (NaN without any).
    `typed` int64 [2R, T]: nodes of the end that have each declared type.
    `inverse` int64 [R]: the relation that holds the same triples reversed (itself if symmetric), -1 if none.
    """

    triples: Int64
    nodes: Int64
    cooccur: Int64
    repeated: Int64
    widest: Int64
    numbers: Float64
    dates: Float64
    low: Float64
    high: Float64
    inverse: Int64
    typed: Int64

    @property
    def measured(self) -> NDArray[np.bool_]:
        """Bool [2R]: ends whose nodes are mostly numbers."""
        return self.numbers >= MOSTLY

    @property
    def years(self) -> NDArray[np.bool_]:
        """Bool [2R]: ends whose nodes are mostly numbers that may be years."""
        return self.measured & (self.low >= FIRST_YEAR) & (self.high <= LAST_YEAR)

    @cached_property
    def unlike(self) -> NDArray[np.bool_]:
        """Bool [2R, 2R]: pairs of ends that are of values of different meanings where one node has both.

        *4* as an identifier and *4* as a stock are one node, but nothing that both share. Years are alike.
        """
        relation = np.arange(2 * len(self.triples)) // 2
        inverse = self.inverse[relation]
        plain = (self.measured & ~self.years) | (self.dates >= MOSTLY)
        same = (relation[:, None] == relation) | (inverse[:, None] == relation)
        return (plain[:, None] | plain) & ~same & ~same.T

    def follows(self, step: int) -> Int64:
        """int64 [2R]: nodes at which `step` arrives and from which each step can go on."""
        arrived = step ^ 1
        row = self.cooccur[arrived].copy()
        row[arrived] = self.repeated[arrived]
        return row


@nb.njit(cache=True)
def _count_ends(out_starts, out_stops, out_relation, in_starts, in_stops, in_relation, kind, value, ends):
    """Count, for every pair of ends, the nodes that have both; and the parsed values of every end."""
    cooccur = np.zeros((ends, ends), np.int64)
    repeated = np.zeros(ends, np.int64)
    widest = np.zeros(ends, np.int64)
    valued = np.zeros((2, ends), np.int64)
    low = np.full(ends, np.nan)
    high = np.full(ends, np.nan)
    have = np.empty(ends, np.int64)
    for node in range(len(out_starts)):
        count = 0
        for side in range(2):
            relation = out_relation if side == 0 else in_relation
            at = out_starts[node] if side == 0 else in_starts[node]
            stop = out_stops[node] if side == 0 else in_stops[node]
            while at < stop:
                run = at + 1
                while run < stop and relation[run] == relation[at]:
                    run += 1
                end = 2 * relation[at] + side
                have[count] = end
                count += 1
                if run - at > 1:
                    repeated[end] += 1
                widest[end] = max(widest[end], run - at)
                if kind[node] > 0:
                    valued[kind[node] - 1, end] += 1
                    if not value[node] >= low[end]:
                        low[end] = value[node]
                    if not value[node] <= high[end]:
                        high[end] = value[node]
                at = run
        for i in range(count):
            for j in range(count):
                cooccur[have[i], have[j]] += 1
    return cooccur, repeated, widest, valued, low, high


@nb.njit(cache=True)
def _count_inverses(starts, stops, relation, neighbour, sample, heads, relations, widest):
    """For sampled triples: how many have a triple back, by relation; and how many were sampled."""
    counts = np.zeros((relations, relations), np.int64)
    sampled = np.zeros(relations, np.int64)
    for i in range(len(sample)):
        triple = sample[i]
        tail = neighbour[triple]
        if stops[tail] - starts[tail] > widest:
            continue
        sampled[relation[triple]] += 1
        for edge in range(starts[tail], stops[tail]):
            if neighbour[edge] == heads[i]:
                counts[relation[triple], relation[edge]] += 1
    return counts, sampled


MOST_SAMPLED = 200_000
"""Triples that are looked at to find inverse relations."""


def _inverses(graph: Graph) -> Int64:
    """The inverse of each relation: at least 95 % of the sampled triples of both have a triple back."""
    out, relations = graph.out, len(graph.relations)
    sample = out.slots(max(1, graph.triples // MOST_SAMPLED))
    counts, sampled = _count_inverses(
        out.starts, out.stops, out.relation, out.neighbour, sample, out.owners(sample), relations, 1000
    )
    share = counts / np.maximum(sampled, 1)[:, None]
    both = np.minimum(share, share.T)
    best = both.argmax(axis=1) if relations else np.zeros(0, np.int64)
    return np.where(both[np.arange(relations), best] >= 0.95, best, -1).astype(np.int64)


@nb.njit(cache=True)
def _count_types(starts, stops, relation, side, type_offsets, types, counts):
    """Add, for every end of one side and declared type, the nodes that have both to `counts`."""
    for node in range(len(starts)):
        for at in range(starts[node], stops[node]):
            if at > starts[node] and relation[at] == relation[at - 1]:
                continue
            for i in range(type_offsets[node], type_offsets[node + 1]):
                counts[2 * relation[at] + side, types[i]] += 1


def _types_of_ends(graph: Graph) -> Int64:
    ends, names = 2 * len(graph.relations), len(graph.types.names)
    counts, types = np.zeros((ends, names), np.int64), graph.types
    if names:
        for number, side in enumerate((graph.out, graph.into)):
            _count_types(side.starts, side.stops, side.relation, number, types.offsets, types.type, counts)
    return counts


def schema_of(graph: Graph) -> Schema:
    """Count once over all nodes; memory is 32·R² bytes."""
    relations = len(graph.relations)
    cooccur, repeated, widest, valued, low, high = _count_ends(
        graph.out.starts,
        graph.out.stops,
        graph.out.relation,
        graph.into.starts,
        graph.into.stops,
        graph.into.relation,
        graph.values.kind,
        graph.values.value,
        2 * relations,
    )
    nodes = np.diagonal(cooccur).copy()
    shares = valued / np.maximum(nodes, 1)
    triples = np.bincount(graph.out.columns()[1], minlength=relations).astype(np.int64)
    return Schema(
        triples,
        nodes,
        cooccur,
        repeated,
        widest,
        shares[0],
        shares[1],
        low,
        high,
        _inverses(graph),
        _types_of_ends(graph),
    )

"""All matches of a pattern whose entities and relations are fixed, as a table: a relational join."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import Int64
from clew.graph.graph import Graph, listed_places

MOST_JOINED_ROWS = 2_000_000
"""Rows of a table; a join with more is cut, and says so."""
FEW_NODES = 2_000
"""Nodes up to which their edges are looked up one by one."""


@dataclass(frozen=True, slots=True)
class FixedEdge:
    """An edge between places of nodes, of a relation id."""

    head: int
    relation: int
    tail: int


@dataclass(frozen=True, eq=False)
class JoinTable:
    """Matches by rows; `complete` is False where rows were cut.

    `nodes[place]` int64 [rows] are entities, `triples[i]` int64 [rows] are triple ids, -1 none.
    """

    rows: int = 1
    nodes: Mapping[int, Int64] = field(default_factory=dict[int, Int64])
    triples: tuple[Int64, ...] = ()
    complete: bool = True

    def take(self, rows: NDArray[np.integer] | NDArray[np.bool_]) -> JoinTable:
        """Some of the rows, by number or mask."""
        nodes = {place: column[rows] for place, column in self.nodes.items()}
        count = int(np.count_nonzero(rows)) if rows.dtype == np.bool_ else len(rows)
        return JoinTable(count, nodes, tuple(column[rows] for column in self.triples), self.complete)

    def with_node(self, place: int, entities: Sequence[int] | Int64) -> JoinTable:
        """Every row with each of some entities at a place."""
        column = np.asarray(entities, np.int64)
        repeated = self.take(np.repeat(np.arange(self.rows), len(column)))
        return replace(repeated, nodes={**repeated.nodes, place: np.tile(column, self.rows)})

    def crossed(self, other: JoinTable) -> JoinTable:
        """Each row with each of another table."""
        if not self.nodes:
            return other
        left = self.take(np.repeat(np.arange(self.rows), other.rows))
        right = other.take(np.tile(np.arange(other.rows), self.rows))
        nodes, complete = {**left.nodes, **right.nodes}, self.complete and other.complete
        return JoinTable(left.rows, nodes, (*left.triples, *right.triples), complete)

    def proof(self, row: int) -> tuple[int, ...]:
        """The triples of a row, each once."""
        return tuple(dict.fromkeys(int(column[row]) for column in self.triples if column[row] >= 0))


def stacked(tables: Sequence[JoinTable]) -> JoinTable:
    """The rows of tables of the same nodes, one after the other; triples that one lacks are -1."""
    width = max(len(table.triples) for table in tables)
    padded = [
        (*table.triples, *[np.full(table.rows, -1, np.int64)] * (width - len(table.triples)))
        for table in tables
    ]
    triples = tuple(np.concatenate(columns) for columns in zip(*padded, strict=True))
    nodes = {place: np.concatenate([table.nodes[place] for table in tables]) for place in tables[0].nodes}
    complete = all(table.complete for table in tables)
    return JoinTable(sum(table.rows for table in tables), nodes, triples, complete)


def join(graph: Graph, table: JoinTable, edges: Sequence[FixedEdge]) -> JoinTable:
    """Extend a table by edges, those first whose ends are there already. No row takes a triple twice."""
    remaining_edges = list(edges)
    while remaining_edges:
        edge = max(remaining_edges, key=lambda e: (e.head in table.nodes) + (e.tail in table.nodes))
        remaining_edges.remove(edge)
        table = _joined_edge(graph, table, edge)
    return table


def _joined_edge(graph: Graph, table: JoinTable, edge: FixedEdge) -> JoinTable:
    near = edge.head if edge.head in table.nodes else edge.tail if edge.tail in table.nodes else None
    if near is None:
        heads, tails, slots = _triples(graph, edge.relation)
        count = min(len(slots), max(MOST_JOINED_ROWS // max(table.rows, 1), 1))
        base = table.take(np.repeat(np.arange(table.rows), count))
        places = np.tile(np.arange(count), table.rows)
        complete = table.complete and count == len(slots)
        nodes = {**base.nodes, edge.head: heads[places], edge.tail: tails[places]}
        return _once(JoinTable(len(places), nodes, (*base.triples, slots[places]), complete))
    far = edge.tail if near == edge.head else edge.head
    starts, far_nodes, slots = _triples_at(
        graph, np.unique(table.nodes[near]), edge.relation, back=near == edge.tail
    )
    low = np.searchsorted(starts, table.nodes[near], "left")
    counts = np.searchsorted(starts, table.nodes[near], "right") - low
    fits = int(np.searchsorted(np.cumsum(counts), MOST_JOINED_ROWS, "right"))
    complete = table.complete and fits >= len(counts)
    low, counts = low[:fits], counts[:fits]
    rows = np.repeat(np.arange(len(counts)), counts)
    places, base = listed_places(low, counts), table.take(rows)
    reached = far_nodes[places]
    joined = JoinTable(len(rows), base.nodes, (*base.triples, slots[places]), complete)
    if far in table.nodes:
        return _once(joined.take(base.nodes[far] == reached))
    return _once(replace(joined, nodes={**base.nodes, far: reached}))


def _once(table: JoinTable) -> JoinTable:
    """The rows whose last triple is none of the others."""
    *earlier_columns, last = table.triples
    if not earlier_columns:
        return table
    repeated = np.zeros(table.rows, np.bool_)
    for column in earlier_columns:
        repeated |= column == last
    return table.take(~repeated)


def _triples(graph: Graph, relation: int) -> tuple[Int64, Int64, Int64]:
    """Heads, tails and ids of all triples of a relation."""
    nodes, relations, tails = graph.out.columns()
    mask = relations == relation
    return nodes[mask].astype(np.int64), tails[mask].astype(np.int64), np.flatnonzero(mask)


def _triples_at(graph: Graph, nodes: Int64, relation: int, *, back: bool) -> tuple[Int64, Int64, Int64]:
    """Near nodes (ascending), far nodes and ids of the triples of a relation at some nodes."""
    if len(nodes) > FEW_NODES or back:
        heads, tails, slots = (
            _triples(graph, relation) if len(nodes) > FEW_NODES else _triples_into(graph, nodes, relation)
        )
        near, far = (tails, heads) if back else (heads, tails)
        order = np.argsort(near, kind="stable")
        return near[order], far[order], slots[order]
    spans = [graph.out.relation_span(int(node), relation) for node in nodes]
    slots = np.concatenate([np.arange(low, high) for low, high in spans] or [np.empty(0, np.int64)])
    near = np.repeat(nodes, [high - low for low, high in spans])
    return near, graph.out.neighbour[slots].astype(np.int64), slots


def _triples_into(graph: Graph, nodes: Int64, relation: int) -> tuple[Int64, Int64, Int64]:
    """Heads, tails and ids of the triples of a relation that end at some nodes."""
    heads, tails = list[int](), list[int]()
    for node in nodes.tolist():
        low, high = graph.into.relation_span(node, relation)
        heads += graph.into.neighbour[low:high].tolist()
        tails += [node] * (high - low)
    slots = [graph.find_triple(head, relation, tail) for head, tail in zip(heads, tails, strict=True)]
    return np.array(heads, np.int64), np.array(tails, np.int64), np.array(slots, np.int64)

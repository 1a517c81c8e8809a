"""Edges of a graph as they are walked: lists for breadth-first search, tables for choosing among them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from clew.foundation.arrays import Int32, Int64, chunks_of
from clew.graph.graph import Graph, offsets_of
from clew.graph.kernels import graph_columns
from clew.workers.processors import usable_processors

WALKS_AT_ONCE = 32_768
"""Nodes, or walks, that one thread does at a time."""


@dataclass(frozen=True, eq=False)
class Choices:
    """Tables for choosing an edge (see `kernels.choices`): `places` int64 [nodes], `slots` int64."""

    places: Int64
    slots: Int64

    @classmethod
    def of(
        cls,
        graph: Graph,
        *,
        directed: bool = False,
        nodes: Int32 | Int64 | None = None,
        threads: int | None = None,
    ) -> Choices:
        """Make the tables of all nodes, or of `nodes` alone; about 40 bytes an edge."""
        from clew.graph.walks.kernels.choices import fill_tables, slot_counts

        degrees = _degrees(graph, directed=directed)
        wanted = np.arange(graph.nodes) if nodes is None else nodes
        offsets, places = np.empty(len(wanted) + 1, np.int64), np.empty(len(wanted), np.int64)
        slot_counts(degrees[wanted], offsets)
        slots = np.empty(int(offsets[-1]), np.int64)
        columns = graph_columns(graph, directed=directed)

        def fill(first: int, last: int) -> None:
            fill_tables(columns, wanted, (first, last), offsets, places, slots)

        spread(len(wanted), fill, threads)
        return cls(places, slots)


@dataclass(frozen=True, eq=False)
class WalkEdges:
    """Edges of every node, and edges by the node that they lead to.

    `offsets` int64 [nodes + 1], `edges` int32 [edges, 2]: neighbour and step. `back_offsets` int64 [nodes +
    1], `backward` int32 [edges, …], the neighbour first: the same ones unless walks are directed.
    """

    offsets: Int64
    edges: Int32
    back_offsets: Int64
    backward: Int32

    @classmethod
    def of(
        cls, graph: Graph, *, directed: bool = False, nodes: Int32 | None = None, threads: int | None = None
    ) -> WalkEdges:
        """Make the lists, 8 bytes an edge and direction; only those of `nodes`, if given."""
        from clew.graph.walks.kernels.walks import join_sides

        degrees = _degrees(graph, directed=directed)
        if nodes is not None:
            kept = np.zeros_like(degrees)
            kept[nodes] = degrees[nodes]
            degrees = kept
        offsets = offsets_of(degrees)
        edges = np.empty((int(offsets[-1]), 2), np.int32)
        columns = graph_columns(graph, directed=directed)

        def fill(first: int, last: int) -> None:
            join_sides(columns, first, last, offsets, edges)

        spread(graph.nodes, fill, threads)
        if directed and nodes is None:
            return cls(offsets, edges, offsets_of(graph.into.degrees()), graph.into.columns()[2][:, None])
        return cls(offsets, edges, offsets, edges)


def spread(count: int, work: Callable[[int, int], None], threads: int | None = None) -> None:
    """Call `work(first, last)` for ranges of [0, count) in several threads."""
    if count <= WALKS_AT_ONCE:
        work(0, count)
        return
    with ThreadPoolExecutor(threads or usable_processors()) as pool:
        waiting = [pool.submit(work, *span) for span in chunks_of(0, count, WALKS_AT_ONCE)]
        for done in waiting:
            done.result()


def _degrees(graph: Graph, *, directed: bool) -> Int64:
    return graph.out.degrees() if directed else graph.out.degrees() + graph.into.degrees()

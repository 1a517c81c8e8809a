"""Edges of a graph as they are walked: lists for breadth-first search, tables for choosing among them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from clew.foundation.arrays import Int32, Int64, chunks_of
from clew.graph.graph import Graph, offsets_of
from clew.graph.kernels import graph_columns
from clew.graph.walks.kernels.columns import WalkedGraph
from clew.workers.processors import usable_processors

WALKS_AT_ONCE = 32_768
"""Nodes, or walks, that one thread does at a time."""


_NO_OFFSETS, _NO_STEPS = np.zeros(1, np.int64), np.zeros((0, 2), np.int32)


def with_choices(
    graph: Graph,
    *,
    directed: bool = False,
    nodes: Int32 | Int64 | None = None,
    threads: int | None = None,
) -> WalkedGraph:
    """A graph with the tables of all nodes, or of `nodes` alone, about 40 bytes an edge, and no lists."""
    from clew.graph.walks.kernels.choices import fill_tables, slot_counts

    degrees = _degrees(graph, directed=directed)
    table_nodes = np.arange(graph.nodes) if nodes is None else nodes
    offsets, places = np.empty(len(table_nodes) + 1, np.int64), np.empty(len(table_nodes), np.int64)
    slot_counts(degrees[table_nodes], offsets)
    slots = np.empty(int(offsets[-1]), np.int64)
    columns = graph_columns(graph, directed=directed)

    def fill(first: int, last: int) -> None:
        fill_tables(columns, table_nodes, (first, last), offsets, places, slots)

    spread(len(table_nodes), fill, threads)
    return WalkedGraph(places, slots, _NO_OFFSETS, _NO_STEPS, _NO_OFFSETS, _NO_STEPS)


def with_lists(
    walked: WalkedGraph, graph: Graph, *, directed: bool, nodes: Int32 | None, threads: int | None
) -> WalkedGraph:
    """Add the lists of edges, 8 bytes an edge and direction; only those of `nodes`, if given."""
    from clew.graph.walks.kernels.walks import join_sides

    degrees = _degrees(graph, directed=directed)
    if nodes is not None:
        kept_degrees = np.zeros_like(degrees)
        kept_degrees[nodes] = degrees[nodes]
        degrees = kept_degrees
    offsets = offsets_of(degrees)
    edges = np.empty((int(offsets[-1]), 2), np.int32)
    columns = graph_columns(graph, directed=directed)

    def fill(first: int, last: int) -> None:
        join_sides(columns, first, last, offsets, edges)

    spread(graph.nodes, fill, threads)
    back_offsets, backward = offsets, edges
    if directed and nodes is None:
        back_offsets, backward = offsets_of(graph.into.degrees()), graph.into.columns()[2][:, None]
    return WalkedGraph(walked.places, walked.slots, offsets, edges, back_offsets, backward)


def spread(count: int, work: Callable[[int, int], None], threads: int | None = None) -> None:
    """Call `work(first, last)` for ranges of [0, count) in several threads."""
    if count <= WALKS_AT_ONCE:
        work(0, count)
        return
    with ThreadPoolExecutor(threads or usable_processors()) as pool:
        tasks = [pool.submit(work, *span) for span in chunks_of(0, count, WALKS_AT_ONCE)]
        for task in tasks:
            task.result()


def _degrees(graph: Graph, *, directed: bool) -> Int64:
    return graph.out.degrees() if directed else graph.out.degrees() + graph.into.degrees()

"""Walks of Walk&Retrieve over a graph: which, how many, and in which direction."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from clew.errors import UsageError
from clew.graph.graph import Adjacency, Graph, Int32, Int64, UInt16

Kind = Literal["bfs", "random"]

CHUNK = 2048
"""Roots that one thread does at a time."""
EDGES = 2_000_000
"""Edges looked at from one root, or at one hub, to tell the layers of a breadth-first walk."""
MOST_DEPTH = 6
MOST_WALKS = 10_000


@dataclass(frozen=True, slots=True)
class WalkSettings:
    """How a corpus is walked.

    `depth` l = d of section 2.1, `walks` n_w random walks a root, `max_walks` the cap of breadth-first walks
    a root; `directed` follows heads to tails only, as the paper's letter has it.

    Raises UsageError for values out of range.
    """

    kind: Kind = "bfs"
    depth: int = 4
    walks: int = 60
    max_walks: int = 60
    directed: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value, most in (
            ("depth", self.depth, MOST_DEPTH),
            ("walks", self.walks, MOST_WALKS),
            ("max-walks", self.max_walks, MOST_WALKS),
        ):
            if not 1 <= value <= most:
                raise UsageError(f"--{name} is {value}; give a number from 1 to {most:,}")

    @property
    def rows(self) -> int:
        """Most walks of one root."""
        return self.walks if self.kind == "random" else self.max_walks


@dataclass(frozen=True, eq=False)
class WalkGraph:
    """Edges as they are walked, and the tables for choosing among them (see `kernels.walks`).

    `places` int64 [nodes, 4]: first edge, edges, first slot, and slots less one, of each node. `edges` int32
    [edges, 3]: neighbour, step, and how many edges of the node lead to that neighbour. `slots` int32: edges
    by rank at their node, -1 where there is none. `back_offsets` int64 [nodes + 1] and `backward` int32
    [edges, …] are edges by the node that they lead to, whose neighbour comes first: the same ones unless
    walks are directed.
    """

    places: Int64
    edges: Int32
    slots: Int32
    back_offsets: Int64
    backward: Int32

    @classmethod
    def of(cls, graph: Graph, *, directed: bool = False, threads: int | None = None) -> WalkGraph:
        """Make the tables; about 25 bytes an edge and direction."""
        from clew.graph.kernels.walks import fill_tables, join_sides, slot_counts

        out, into = graph.out, graph.into
        offsets = _offsets(out.degrees() if directed else out.degrees() + into.degrees())
        edges, places = np.empty((int(offsets[-1]), 3), np.int32), np.empty((graph.nodes, 4), np.int64)
        slot_offsets: Int64 = slot_counts(offsets)
        slots = np.full(int(slot_offsets[-1]), -1, np.int32)

        def fill(first: int, last: int) -> None:
            join_sides(*_sides(out, into), first, last, offsets, edges)
            fill_tables(offsets, first, last, slot_offsets, edges, places, slots)

        spread(graph.nodes, fill, threads)
        if directed:
            back = into.columns()[2]
            return cls(places, edges, slots, _offsets(into.degrees()), back[:, None])
        return cls(places, edges, slots, offsets, edges)


@dataclass(frozen=True, eq=False)
class Walks:
    """Walks of some roots: those of `roots[i]` are rows `offsets[i]` to `offsets[i + 1]`.

    `steps` and `nodes` int32 [walks, depth], -1 behind the end of a walk; `counts` uint16 [walks], how often
    it was made. `state` int8 [roots]: 1 where the whole tree is there, 0 where paths were drawn, -1 where the
    budget ended before all layers were told; `left_out` int64 [roots]: own triples beyond the cap.
    """

    roots: Int32
    offsets: Int64
    steps: Int32
    nodes: Int32
    counts: UInt16
    state: NDArray[np.int8]
    left_out: Int64


class Walker:
    """Makes walks of one graph; not to be used by two threads at once."""

    def __init__(self, graph: Graph, settings: WalkSettings, *, threads: int | None = None) -> None:
        self.settings, self.threads = settings, threads or usable_threads()
        self.tables = WalkGraph.of(graph, directed=settings.directed, threads=self.threads)
        self._nodes = graph.nodes
        self._scratch: list[_Scratch] = []

    def walk(self, roots: Int32, *, rows: int | None = None, edges: int = EDGES) -> Walks:
        """Make the walks of `roots`, at most `rows` of each (by default as the settings say)."""
        roots = np.ascontiguousarray(roots, np.int32)
        parts = [roots[i : i + CHUNK] for i in range(0, len(roots), CHUNK)] or [roots]
        one = self._random if self.settings.kind == "random" else self._breadth_first
        if len(parts) == 1:
            return one(parts[0], rows or self.settings.rows, edges)
        with ThreadPoolExecutor(self.threads) as pool:
            waiting = [pool.submit(one, part, rows or self.settings.rows, edges) for part in parts]
            return _joined([done.result() for done in waiting])

    def touched(
        self, parts: Sequence[tuple[Walks, NDArray[np.bool_]]], changed: Int64, *, removed: bool
    ) -> Int32:
        """Roots whose walks may differ from those in `parts`, each with the rows that are live, ascending.

        This walker is of the graph after the change, `changed` are the nodes whose edges are not the same,
        and `removed` says that edges went, so that a tree may have become small enough to be taken whole.
        None is missing; a few more are among them than differ.
        """
        from clew.graph.kernels.walks import distances_from, touched_roots, trees_that_fit

        tables, depth = self.tables, self.settings.depth
        layered = self.settings.kind == "bfs"
        distance, found = np.empty(self._nodes, np.uint8), np.zeros(self._nodes, np.uint8)
        distances_from(
            changed, depth, tables.places, tables.edges, tables.back_offsets, tables.backward, distance
        )
        found[changed] = 1
        for walks, live in parts:
            touched_roots(
                walks.roots, walks.offsets, walks.nodes, walks.state, live, layered, distance, found
            )
        if layered and removed:
            near = np.flatnonzero((distance < depth) & (found == 0)).astype(np.int32)
            fits, scratch = np.zeros(len(near), np.uint8), _Scratch(self._nodes)
            trees_that_fit(
                near, depth, self.settings.max_walks, tables.places, tables.edges,
                scratch.stamps, scratch.links, scratch.rooms, 0, fits,
            )  # fmt: skip
            found[near[fits == 1]] = 1
        return np.flatnonzero(found).astype(np.int32)

    def _random(self, roots: Int32, rows: int, edges: int) -> Walks:
        from clew.graph.kernels.walks import merge_walks, random_walks

        del edges
        tables = self.tables
        shape = (len(roots), rows, self.settings.depth)
        steps, nodes = np.empty(shape, np.int32), np.empty(shape, np.int32)
        counts, kept = np.zeros(shape[:2], np.uint16), np.zeros(len(roots), np.int32)
        random_walks(
            tables.places, tables.edges, tables.slots, roots, np.uint64(self.settings.seed), steps, nodes
        )
        merge_walks(steps, nodes, counts, kept)
        state = np.zeros((len(roots), 2), np.int64)
        return _packed(roots, steps, nodes, counts, kept, state)

    def _breadth_first(self, roots: Int32, rows: int, edges: int) -> Walks:
        from clew.graph.kernels.walks import breadth_first_walks

        shape = (len(roots), rows, self.settings.depth)
        steps, nodes = np.empty(shape, np.int32), np.empty(shape, np.int32)
        kept, state = np.zeros(len(roots), np.int32), np.zeros((len(roots), 2), np.int64)
        try:
            scratch = self._scratch.pop()
        except IndexError:
            scratch = _Scratch(self._nodes)
        tables = self.tables
        scratch.stamp = breadth_first_walks(
            tables.places, tables.edges, tables.slots, tables.back_offsets, tables.backward,
            roots, np.uint64(self.settings.seed), edges,
            scratch.stamps, scratch.links, scratch.rooms, scratch.stamp, steps, nodes, kept, state,
        )  # fmt: skip
        self._scratch.append(scratch)
        return _packed(roots, steps, nodes, np.ones(shape[:2], np.uint16), kept, state)


class _Scratch:
    """Memory of one thread for breadth-first walks, used again and again."""

    def __init__(self, nodes: int) -> None:
        self.stamps, self.links = np.zeros((3, nodes), np.int64), np.zeros(nodes, np.int64)
        self.rooms, self.stamp = np.zeros((3, nodes + 1), np.int32), 0


def spread(count: int, work: Callable[[int, int], None], threads: int | None = None) -> None:
    """Call `work(first, last)` for ranges of [0, count) in several threads."""
    size = 16 * CHUNK
    if count <= size:
        work(0, count)
        return
    with ThreadPoolExecutor(threads or usable_threads()) as pool:
        waiting = [pool.submit(work, first, min(count, first + size)) for first in range(0, count, size)]
        for done in waiting:
            done.result()


def usable_threads() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def chunks(count: int, size: int) -> Iterator[Int32]:
    """Roots 0 to `count`, `size` at a time."""
    for first in range(0, count, size):
        yield np.arange(first, min(count, first + size), dtype=np.int32)


def _sides(out: Adjacency, into: Adjacency) -> tuple[Int64, Int64, Int32, Int32, Int64, Int64, Int32, Int32]:
    return (
        out.starts, out.stops, out.relation, out.neighbour,
        into.starts, into.stops, into.relation, into.neighbour,
    )  # fmt: skip


def _offsets(degrees: Int64) -> Int64:
    offsets = np.zeros(len(degrees) + 1, np.int64)
    np.cumsum(degrees, out=offsets[1:])
    return offsets


def _packed(roots: Int32, steps: Int32, nodes: Int32, counts: UInt16, kept: Int32, state: Int64) -> Walks:
    """Leave out the rows behind the last walk of each root."""
    offsets = np.zeros(len(roots) + 1, np.int64)
    np.cumsum(kept, out=offsets[1:])
    there = np.arange(steps.shape[1]) < kept[:, None]
    return Walks(
        roots, offsets, steps[there], nodes[there], counts[there], state[:, 0].astype(np.int8), state[:, 1]
    )


def _joined(parts: list[Walks]) -> Walks:
    starts = np.cumsum([0, *(p.offsets[-1] for p in parts)])
    offsets = np.concatenate(
        [np.zeros(1, np.int64), *(p.offsets[1:] + s for p, s in zip(parts, starts, strict=False))]
    )
    return Walks(
        np.concatenate([p.roots for p in parts]),
        offsets,
        np.concatenate([p.steps for p in parts]),
        np.concatenate([p.nodes for p in parts]),
        np.concatenate([p.counts for p in parts]),
        np.concatenate([p.state for p in parts]),
        np.concatenate([p.left_out for p in parts]),
    )

"""Walks of Walk&Retrieve over a graph: which, how many, in which direction, and which are equal."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Literal

import numpy as np

from clew.errors import UsageError
from clew.foundation.arrays import Int32, Int64, chunks_of
from clew.foundation.system import usable_processors
from clew.graph.graph import Graph, offsets_of
from clew.graph.kernels import Array, compiled, entry, graph_columns
from clew.graph.walks.kernels import Draw, WalkedGraph, WalkRows, Walks, WalkScratch, mix, walk_scratch

# Walks that are equal: merged where they were made, and found again among those of an older part.


_S32 = np.uint64(32)


@entry
def merge_walks(steps: Array, nodes: Array, counts: Array, walk_counts: Array) -> None:
    """Merge equal walks of each root in place: the first `kept[i]` rows of root i stay, with `counts`."""
    roots, walks, length = steps.shape
    table = np.empty(_slots(walks), np.int64)
    for i in range(roots):
        root_steps, root_nodes = steps[i], nodes[i]
        table[:] = -1
        number = 0
        for walk in range(walks):
            if root_steps[walk, 0] < 0:
                continue
            place = _place(root_steps, root_nodes, walk, root_steps, root_nodes, table)
            if table[place] >= 0:
                counts[i, table[place]] += 1
                continue
            table[place] = number
            counts[i, number] = 1
            for t in range(length):
                root_steps[number, t], root_nodes[number, t] = root_steps[walk, t], root_nodes[walk, t]
            number += 1
        walk_counts[i] = number


@compiled
def _slots(walks: Array) -> int:
    """Slots of a hash table of walks, at most half full."""
    size = 4
    while size < 2 * walks:
        size *= 2
    return size


@compiled
def _walk_hash(steps: Array, nodes: Array, walk: int) -> Array:
    key = np.uint64(0)
    for t in range(steps.shape[1]):
        key = mix(key + ((np.uint64(steps[walk, t] + 1) << _S32) | np.uint64(nodes[walk, t] + 1)))
    return key


@compiled
def _equal(
    steps: Array, nodes: Array, walk: int, old_steps: Array, old_nodes: Array, old_walk: Array
) -> bool:
    for t in range(steps.shape[1]):
        if steps[walk, t] != old_steps[old_walk, t] or nodes[walk, t] != old_nodes[old_walk, t]:
            return False
    return True


@compiled
def _place(steps: Array, nodes: Array, walk: int, old_steps: Array, old_nodes: Array, table: Array) -> Array:
    """Place in a `table` of rows of older walks, -1 where none is: that of the equal one, or a free one."""
    mask = len(table) - 1
    place = np.int64(_walk_hash(steps, nodes, walk) & np.uint64(mask))
    while table[place] >= 0 and not _equal(steps, nodes, walk, old_steps, old_nodes, table[place]):
        place = (place + 1) & mask
    return place


@entry
def match_walks(
    part: Walks, part_rows: Array, old: Walks, rows: Array, unchanged: Array, old_rows: Array
) -> None:
    """Find walks of the roots `part_rows` of a part among those in `rows` of an older one.

    Sets `old_rows` int64 [walks] to the row of the same walk, and `unchanged` uint8 [roots] of roots where
    all is as it was; both are left alone elsewhere.
    """
    for k in range(len(part_rows)):
        i, row = part_rows[k], rows[k]
        start, stop = part.offsets[i], part.offsets[i + 1]
        old_start, old_stop = old.offsets[row], old.offsets[row + 1]
        equal = stop - start == old_stop - old_start
        equal = equal and part.state[i] == old.state[row] and part.left_out[i] == old.left_out[row]
        lacking = False
        for walk in range(start, stop):
            old_walk = old_start + walk - start
            if old_walk < old_stop and _equal(part.steps, part.nodes, walk, old.steps, old.nodes, old_walk):
                old_rows[walk] = old_walk
                equal = equal and part.counts[walk] == old.counts[old_walk]
            else:
                lacking = True
        unchanged[i] = equal and not lacking
        if lacking:
            table = np.full(_slots(old_stop - old_start), -1, np.int64)
            for old_walk in range(old_start, old_stop):
                table[_place(old.steps, old.nodes, old_walk, old.steps, old.nodes, table)] = old_walk
            for walk in range(start, stop):
                if old_rows[walk] < 0:
                    old_rows[walk] = table[_place(part.steps, part.nodes, walk, old.steps, old.nodes, table)]


# Edges of a graph as they are walked: lists for breadth-first search, tables for choosing among them.


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
    from clew.graph.walks.kernels import fill_tables, slot_counts

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
    from clew.graph.walks.kernels import join_sides

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


# Walks of Walk&Retrieve over a graph: which, how many, and in which direction.


WalkKind = Literal["bfs", "random"]

ROOTS_OF_THREAD = 512
MOST_LAYER_EDGES = 2_000_000
MOST_DEPTH = 6
MOST_WALKS = 10_000


@dataclass(frozen=True, slots=True)
class WalkSettings:
    """How a corpus is walked.

    `depth` l = d of section 2.1, `walks` n_w random walks a root, `max_walks` the cap of breadth-first walks
    a root; `directed` follows heads to tails only, as the paper's letter has it.

    Raises UsageError for values out of range.
    """

    kind: WalkKind = "bfs"
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


class Walker:
    """Makes walks of one graph; of depth 1, `roots` may say of which nodes, and no others are looked at.

    `layer_edges` are looked at from one root, or at one hub, to tell the layers of a breadth-first walk;
    `roots_at_once` one thread does at a time.
    """

    def __init__(
        self,
        graph: Graph,
        settings: WalkSettings,
        *,
        roots: Int32 | None = None,
        threads: int | None = None,
        layer_edges: int = MOST_LAYER_EDGES,
        roots_at_once: int = ROOTS_OF_THREAD,
    ) -> None:
        self.settings, self.threads, self.nodes = settings, threads or usable_processors(), graph.nodes
        self.layer_edges, self._roots_at_once = layer_edges, roots_at_once
        self.layered, directed = settings.kind == "bfs", settings.directed
        only_first_step = self.layered and settings.depth == 1
        choice_nodes, list_nodes = (np.zeros(0, np.int32), roots) if only_first_step else (None, None)
        self.walked = with_choices(graph, directed=directed, nodes=choice_nodes, threads=self.threads)
        if self.layered:
            self.walked = with_lists(
                self.walked, graph, directed=directed, nodes=list_nodes, threads=self.threads
            )
        self._scratch: list[WalkScratch] = []

    def walk(self, roots: Int32, *, edges: int | None = None) -> Walks:
        """Make the walks of `roots`, as many as the settings say; `edges` is instead of `layer_edges`."""
        roots = np.ascontiguousarray(roots, np.int32)
        draw = self.draw if edges is None else self.draw._replace(budget=edges)
        starts = range(0, len(roots) or 1, self._roots_at_once)
        parts = [roots[start : start + self._roots_at_once] for start in starts]
        if len(parts) == 1:
            return self._walk(parts[0], draw)
        with ThreadPoolExecutor(self.threads) as pool:
            return joined_walks(list(pool.map(self._walk, parts, repeat(draw))))

    @property
    def draw(self) -> Draw:
        """How the walks of a root are drawn."""
        return Draw(np.uint64(self.settings.seed), self.settings.rows, self.layer_edges)

    @contextmanager
    def scratch(self) -> Generator[WalkScratch]:
        """Memory for one thread to work in, while the context lasts."""
        try:
            memory = self._scratch.pop()
        except IndexError:
            memory = walk_scratch(self.nodes)
        yield memory
        self._scratch.append(memory)

    def _walk(self, roots: Int32, draw: Draw) -> Walks:
        """The walks of some roots, without the rows behind the last of each."""
        from clew.graph.walks.kernels import breadth_first_walks, random_walks

        shape = (len(roots), draw.cap, self.settings.depth)
        steps, nodes = np.empty(shape, np.int32), np.empty(shape, np.int32)
        counts, walk_counts = np.ones(shape[:2], np.uint16), np.zeros(len(roots), np.int32)
        state = np.zeros((len(roots), 2), np.int64)
        if self.settings.kind == "random":
            random_walks(self.walked.places, self.walked.slots, roots, draw.seed, steps, nodes)
            merge_walks(steps, nodes, counts, walk_counts)
        else:
            with self.scratch() as scratch:
                breadth_first_walks(
                    self.walked, roots, draw, scratch, WalkRows(steps, nodes, walk_counts, state)
                )
        is_walk = np.arange(draw.cap) < walk_counts[:, None]
        root_states, left_out = state[:, 0].astype(np.int8), state[:, 1]
        return Walks(
            roots,
            offsets_of(walk_counts),
            steps[is_walk],
            nodes[is_walk],
            counts[is_walk],
            root_states,
            left_out,
        )


def joined_walks(parts: Sequence[Walks]) -> Walks:
    """Put walks of different roots together, in their order."""
    counts = np.concatenate([np.diff(part.offsets) for part in parts])
    columns: Any = map(np.concatenate, zip(*parts, strict=True))
    return Walks(*columns)._replace(offsets=offsets_of(counts))

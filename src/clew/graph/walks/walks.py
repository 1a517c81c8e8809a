"""Walks of Walk&Retrieve over a graph: which, how many, in which direction, and which are equal."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise, repeat
from typing import Any, Literal

import numpy as np

from clew.errors import UsageError
from clew.foundation.arrays import Int32, Int64, chunks_of
from clew.foundation.system import usable_processors
from clew.graph.graph import Adjacency, Graph, listed_places, offsets_of
from clew.graph.kernels import Array, compiled, entry, graph_columns
from clew.graph.steps import Step, edge_of, relation_of, step_of
from clew.graph.walks.kernels import (
    Draw,
    WalkedGraph,
    WalkRows,
    Walks,
    WalkScratch,
    breadth_first_walks,
    fill_tables,
    join_sides,
    mix,
    random_walks,
    slot_counts,
    walk_scratch,
)

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


def with_choices(graph: Graph, *, directed: bool = False, nodes: Int32 | Int64 | None = None) -> WalkedGraph:
    """A graph with the tables of all nodes, or of `nodes` alone, about 40 bytes an edge, and no lists."""
    degrees = _degrees(graph, directed=directed)
    table_nodes = np.arange(graph.nodes) if nodes is None else nodes
    offsets, places = np.empty(len(table_nodes) + 1, np.int64), np.empty(len(table_nodes), np.int64)
    slot_counts(degrees[table_nodes], offsets)
    slots = np.empty(int(offsets[-1]), np.int64)
    columns = graph_columns(graph, directed=directed)

    def fill(first: int, last: int) -> None:
        fill_tables(columns, table_nodes, (first, last), offsets, places, slots)

    spread(len(table_nodes), fill)
    return WalkedGraph(places, slots, _NO_OFFSETS, _NO_STEPS, _NO_OFFSETS, _NO_STEPS)


def with_lists(walked: WalkedGraph, graph: Graph, *, directed: bool) -> WalkedGraph:
    """Add the lists of edges, 8 bytes an edge and direction."""
    offsets = offsets_of(_degrees(graph, directed=directed))
    edges = np.empty((int(offsets[-1]), 2), np.int32)
    columns = graph_columns(graph, directed=directed)

    def fill(first: int, last: int) -> None:
        join_sides(columns, first, last, offsets, edges)

    spread(graph.nodes, fill)
    back_offsets, backward = offsets, edges
    if directed:
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


WalkKind = Literal["bfs", "random"]
"""Breadth-first walks, or random ones."""

ROOTS_OF_THREAD = 512
MOST_LAYER_EDGES = 2_000_000
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
            ("depth", self.depth, 6),
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
    """Makes walks of one graph.

    `layer_edges` are looked at from one root, or at one hub, to tell the layers of a breadth-first walk.
    """

    def __init__(self, graph: Graph, settings: WalkSettings, *, layer_edges: int = MOST_LAYER_EDGES) -> None:
        self.settings, self.threads, self.nodes = settings, usable_processors(), graph.nodes
        self.layer_edges, self.layered = layer_edges, settings.kind != "random"
        self.walked = with_choices(graph, directed=settings.directed)
        if self.layered:
            self.walked = with_lists(self.walked, graph, directed=settings.directed)
        self._scratch: list[WalkScratch] = []

    def walk(self, roots: Int32, *, edges: int | None = None) -> Walks:
        """Make the walks of `roots`, as many as the settings say; `edges` is instead of `layer_edges`."""
        roots = np.ascontiguousarray(roots, np.int32)
        draw = self.draw if edges is None else self.draw._replace(budget=edges)
        starts = range(0, len(roots) or 1, ROOTS_OF_THREAD)
        parts = [roots[start : start + ROOTS_OF_THREAD] for start in starts]
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
        shape = (len(roots), draw.cap, self.settings.depth)
        steps, nodes = np.empty((2, *shape), np.int32)
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
        rows = (offsets_of(walk_counts), steps[is_walk], nodes[is_walk], counts[is_walk])
        return Walks(roots, *rows, state[:, 0].astype(np.int8), state[:, 1])


def joined_walks(parts: Sequence[Walks]) -> Walks:
    """Put walks of different roots together, in their order."""
    counts = np.concatenate([np.diff(part.offsets) for part in parts])
    columns: Any = map(np.concatenate, zip(*parts, strict=True))
    return Walks(*columns)._replace(offsets=offsets_of(counts))


# The relation paths of a node, each with all nodes at its end: what walks can only sample.

Steps = tuple[Step, ...]
Rank = Callable[[Sequence[Steps]], Sequence[float]]
"""Scores of some relation paths, the larger the better."""


MOST_ENDS, MOST_PATH_EDGES = 20_000, 500_000
"""Ends and edges of one path."""


@dataclass(frozen=True, eq=False)
class RelationPath:
    """A sequence of steps from a root, and where it ends.

    `ends` int32 [n], ascending, each once and never the root; `prefix_places` int32 [n] are their places
    among the ends of `prefix`, the path without its last step. `complete` is False where a limit left out
    ends.
    """

    root: int
    steps: Steps = ()
    ends: Int32 = field(default_factory=lambda: np.empty(0, np.int32))
    prefix_places: Int32 = field(default_factory=lambda: np.empty(0, np.int32))
    prefix: RelationPath | None = None
    complete: bool = True

    def nodes_to(self, place: int) -> tuple[int, ...]:
        """The nodes of one way to the end at `place`, the root first."""
        if self.prefix is None:
            return (self.root,)
        return (*self.prefix.nodes_to(int(self.prefix_places[place])), int(self.ends[place]))

    def proof(self, graph: Graph, place: int) -> tuple[int, ...]:
        """The triple ids of that way."""
        nodes = self.nodes_to(place)
        return tuple(
            graph.find_triple(*edge_of(a, s, b))
            for s, a, b in zip(self.steps, nodes, nodes[1:], strict=False)
        )

    def between(self, graph: Graph, most: int) -> dict[int, tuple[int, ...]]:
        """Each end with the nodes that its last step comes from; nothing of one, or of more than `most`."""
        if self.prefix is None or not self.prefix.steps or len(self.ends) < 2:
            return {}
        nodes = self.prefix.ends.tolist()
        if not 2 <= len(nodes) <= most:
            return {}
        side = graph.side(self.steps[-1])
        sources_by_end: dict[int, list[int]] = {int(end): [] for end in self.ends.tolist()}
        for node in nodes:
            low, high = side.relation_span(node, relation_of(self.steps[-1]))
            for neighbour in side.neighbour[low:high].tolist():
                if neighbour in sources_by_end:
                    sources_by_end[neighbour].append(node)
        return {end: tuple(dict.fromkeys(sources)) for end, sources in sources_by_end.items()}


def relation_paths(graph: Graph, root: int, rank: Rank) -> list[RelationPath]:
    """All relation paths from a root, shorter ones first; of each length the best of `rank` are gone on from.

    The root is never passed again. A path with more ends than the limit is kept, cut, and not gone on from.
    """
    start = RelationPath(root, (), np.array([root], np.int32), np.zeros(1, np.int32))
    frontier, paths = [start], list[RelationPath]()
    for _ in range(3):
        level = [path for prefix in frontier for path in _longer(graph, prefix)]
        paths += level
        scores = rank([path.steps for path in level]) if level else []
        order = np.argsort(-np.asarray(scores, np.float64), kind="stable").tolist()
        frontier = [level[at] for at in order if level[at].complete][:64]
    return paths


def _longer(graph: Graph, prefix: RelationPath) -> Iterator[RelationPath]:
    """A path with one step more, each way."""
    for side, adjacency in enumerate((graph.out, graph.into)):
        slots, places, complete = _edges(adjacency, prefix.ends, MOST_PATH_EDGES)
        relations, neighbours = adjacency.relation[slots], adjacency.neighbour[slots]
        is_kept = neighbours != prefix.root
        relations, neighbours, places = relations[is_kept], neighbours[is_kept], places[is_kept]
        order = np.argsort(relations, kind="stable")
        bounds = np.flatnonzero(np.diff(relations[order], prepend=-1, append=-1))
        for low, high in pairwise(bounds.tolist()):
            of_step = order[low:high]
            ends, first_places = np.unique(neighbours[of_step], return_index=True)
            step = step_of(int(relations[of_step[0]]), side)
            is_cut = len(ends) > MOST_ENDS
            yield RelationPath(
                prefix.root, (*prefix.steps, step), ends[:MOST_ENDS].astype(np.int32),
                places[of_step][first_places][:MOST_ENDS].astype(np.int32), prefix, complete and not is_cut,
            )  # fmt: skip


def _edges(adjacency: Adjacency, nodes: Int32, most: int) -> tuple[Int64, Int64, bool]:
    """The slots of some nodes, the place of each one's node, and whether none were left out."""
    starts = adjacency.starts[nodes]
    counts = adjacency.stops[nodes] - starts
    nodes_taken = int(np.searchsorted(np.cumsum(counts), most, "right"))
    complete = nodes_taken >= len(nodes)
    starts, counts = starts[: max(nodes_taken, 1)], counts[: max(nodes_taken, 1)]
    return listed_places(starts, counts), np.repeat(np.arange(len(counts)), counts), complete

"""Walks of Walk&Retrieve over a graph: which, how many, and in which direction."""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from clew.arrays import Int32, Int64, UInt16
from clew.errors import UsageError
from clew.graph.graph import Graph, offsets_of
from clew.graph.walks.kernels.columns import (
    Draw,
    PartColumns,
    WalkedGraph,
    WalkRows,
    WalkScratch,
    walk_scratch,
)
from clew.graph.walks.walk_tables import Choices, WalkEdges, usable_threads

WalkKind = Literal["bfs", "random"]

_NO_OFFSETS, _NO_STEPS = np.zeros(1, np.int64), np.zeros((0, 2), np.int32)
_NO_EDGES = WalkEdges(_NO_OFFSETS, _NO_STEPS, _NO_OFFSETS, _NO_STEPS)

ROOTS_OF_THREAD = 512
"""Roots that one thread does at a time."""
MOST_LAYER_EDGES = 2_000_000
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

    @property
    def columns(self) -> PartColumns:
        """All this as the kernels take it."""
        return PartColumns(
            self.roots, self.offsets, self.steps, self.nodes, self.counts, self.state, self.left_out
        )


class Walker:
    """Makes walks of one graph; of depth 1, `roots` may say of which nodes, and no others are looked at."""

    def __init__(
        self,
        graph: Graph,
        settings: WalkSettings,
        *,
        roots: Int32 | None = None,
        threads: int | None = None,
    ) -> None:
        self.settings, self.threads, self.nodes = settings, threads or usable_threads(), graph.nodes
        layered, directed = settings.kind == "bfs", settings.directed
        alone = np.zeros(0, np.int32) if layered and settings.depth == 1 else None
        self.choices = Choices.of(graph, directed=directed, nodes=alone, threads=self.threads)
        self.edges = (
            WalkEdges.of(
                graph, directed=directed, nodes=None if alone is None else roots, threads=self.threads
            )
            if layered
            else None
        )
        self._scratch: list[WalkScratch] = []

    def walk(self, roots: Int32, *, edges: int = MOST_LAYER_EDGES) -> Walks:
        """Make the walks of `roots`, of each at most as many as the settings say."""
        roots = np.ascontiguousarray(roots, np.int32)
        parts = [roots[i : i + ROOTS_OF_THREAD] for i in range(0, len(roots), ROOTS_OF_THREAD)] or [roots]
        one = self._random if self.settings.kind == "random" else self._breadth_first
        if len(parts) == 1:
            return one(parts[0], edges)
        with ThreadPoolExecutor(self.threads) as pool:
            waiting = [pool.submit(one, part, edges) for part in parts]
            return _joined([done.result() for done in waiting])

    @property
    def walked(self) -> WalkedGraph:
        """The graph as the kernels walk it; without lists of edges for random walks."""
        lists, tables = self.edges or _NO_EDGES, self.choices
        return WalkedGraph(
            *(tables.places, tables.slots),
            *(lists.offsets, lists.edges, lists.back_offsets, lists.backward),
        )

    def draw(self, rows: int, edges: int = MOST_LAYER_EDGES) -> Draw:
        """How the walks of a root are drawn, at most `rows`."""
        return Draw(np.uint64(self.settings.seed), rows, edges)

    @contextmanager
    def scratch(self) -> Generator[WalkScratch]:
        """Memory for one thread to work in, while the context lasts."""
        try:
            lent = self._scratch.pop()
        except IndexError:
            lent = walk_scratch(self.nodes)
        yield lent
        self._scratch.append(lent)

    def _random(self, roots: Int32, edges: int) -> Walks:
        from clew.graph.walks.kernels.walks import merge_walks, random_walks

        del edges
        shape = (len(roots), self.settings.rows, self.settings.depth)
        steps, nodes = np.empty(shape, np.int32), np.empty(shape, np.int32)
        counts, kept = np.zeros(shape[:2], np.uint16), np.zeros(len(roots), np.int32)
        random_walks(
            self.choices.places, self.choices.slots, roots, np.uint64(self.settings.seed), steps, nodes
        )
        merge_walks(steps, nodes, counts, kept)
        state = np.zeros((len(roots), 2), np.int64)
        return _packed(roots, steps, nodes, counts, kept, state)

    def _breadth_first(self, roots: Int32, edges: int) -> Walks:
        from clew.graph.walks.kernels.walks import breadth_first_walks

        shape = (len(roots), self.settings.rows, self.settings.depth)
        steps, nodes = np.empty(shape, np.int32), np.empty(shape, np.int32)
        kept, state = np.zeros(len(roots), np.int32), np.zeros((len(roots), 2), np.int64)
        made = WalkRows(steps, nodes, kept, state)
        with self.scratch() as scratch:
            breadth_first_walks(self.walked, roots, self.draw(self.settings.rows, edges), scratch, made)
        return _packed(roots, steps, nodes, np.ones(shape[:2], np.uint16), kept, state)


def _packed(roots: Int32, steps: Int32, nodes: Int32, counts: UInt16, kept: Int32, state: Int64) -> Walks:
    """Leave out the rows behind the last walk of each root."""
    offsets = offsets_of(kept)
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

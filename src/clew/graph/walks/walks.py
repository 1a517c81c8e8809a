"""Walks of Walk&Retrieve over a graph: which, how many, and in which direction."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Literal

import numpy as np

from clew.errors import UsageError
from clew.foundation.arrays import Int32
from clew.graph.graph import Graph, offsets_of
from clew.graph.walks.kernels.columns import (
    Draw,
    WalkRows,
    Walks,
    WalkScratch,
    walk_scratch,
)
from clew.graph.walks.walk_tables import with_choices, with_lists
from clew.workers.processors import usable_processors

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
        from clew.graph.walks.kernels.equal_walks import merge_walks
        from clew.graph.walks.kernels.walks import breadth_first_walks, random_walks

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

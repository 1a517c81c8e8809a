"""Updates of a large index without a corpus: what one costs, and what opening the index costs after it.

Run: python benchmarks/updates.py INDEX [--triples 100] [--rounds 10]. INDEX is copied by links, not changed.
Half of the triples of an update are removed and half are added, between ends of triples drawn at random, so
that hubs are met as often as they have edges; one entity of each update is new.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from clew.graph.graph import Graph
from clew.index.store.directory import open_index
from clew.index.update.edits import Edits
from clew.index.update.update import update_index
from clew.opening.environment import make_embedder

Named = tuple[str, str, str]


def drawn(graph: Graph, rng: random.Random) -> Named:
    """A triple at random, by names."""
    while True:
        slot = rng.randrange(graph.slots)
        head = int(graph.out.owners(np.array([slot]))[0])
        start, stop = graph.out.span(head)
        if start <= slot < stop:  # not one that an update has left
            return (
                graph.entities[head],
                graph.relations[int(graph.out.relation[slot])],
                graph.entities[int(graph.out.neighbour[slot])],
            )


def edits_of(graph: Graph, count: int, rng: random.Random, number: int) -> Edits:
    """Random edits of `count` triples."""
    removed = list({drawn(graph, rng): None for _ in range(count // 2)})
    added = [(drawn(graph, rng)[0], *drawn(graph, rng)[1:]) for _ in range(count - len(removed) - 1)]
    return Edits(add=[(f"A new entity {number}", *drawn(graph, rng)[1:]), *added], remove=removed)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("index", type=Path)
    parser.add_argument("--triples", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    embedder, rng = make_embedder(None), random.Random(7)
    with tempfile.TemporaryDirectory(dir=options.index.parent) as folder:
        path = Path(folder) / "updated.clew"
        shutil.copytree(options.index, path, copy_function=os.link)
        walls, used, opened = [], [], []
        for number in range(options.rounds):
            edits = edits_of(open_index(path).graph, options.triples, rng, number)
            wall, cpu = time.perf_counter(), time.process_time()
            done = update_index(path, edits, embedder=embedder)
            walls.append(time.perf_counter() - wall)
            used.append(time.process_time() - cpu)
            wall = time.perf_counter()
            index = open_index(path)
            opened.append(time.perf_counter() - wall)
            kept = 0 if index.delta is None else index.delta.edit.size
            print(
                f"{done.report.added} added, {done.report.removed} removed: {walls[-1]:.2f} s, processor "
                f"{used[-1]:.2f} s; open {opened[-1]:.2f} s with {kept:,} changes kept apart"
                f"{', written whole' if done.compacted else ''}",
                flush=True,
            )
    print(
        f"median {statistics.median(walls):.2f} s, processor {statistics.median(used):.2f} s, "
        f"at most {max(walls):.2f} s; open at most {max(opened):.2f} s; load {os.getloadavg()[0]:.1f}"
    )


if __name__ == "__main__":
    main()

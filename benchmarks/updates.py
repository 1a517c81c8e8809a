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

from clew.graph.graph import Graph
from clew.index.store.directory import open_index
from clew.index.update.edits import Edits
from clew.index.update.update import update_index
from clew.opening.environment import make_embedder

NamedTriple = tuple[str, str, str]


def random_triple(graph: Graph, rng: random.Random) -> NamedTriple:
    """A triple at random, by names."""
    head, relation, tail = graph.triple(rng.randrange(graph.triples))
    return graph.entities[head], graph.relations[relation], graph.entities[tail]


def edits_of(graph: Graph, count: int, rng: random.Random, number: int) -> Edits:
    """Random edits of `count` triples."""
    removed = list({random_triple(graph, rng): None for _ in range(count // 2)})
    added = [
        (random_triple(graph, rng)[0], *random_triple(graph, rng)[1:])
        for _ in range(count - len(removed) - 1)
    ]
    return Edits(add=[(f"A new entity {number}", *random_triple(graph, rng)[1:]), *added], remove=removed)


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
        wall_times, processor_times, opening_times = [], [], []
        for number in range(options.rounds):
            edits = edits_of(open_index(path).graph, options.triples, rng, number)
            wall, cpu = time.perf_counter(), time.process_time()
            result = update_index(path, edits, embedder=embedder)
            wall_times.append(time.perf_counter() - wall)
            processor_times.append(time.process_time() - cpu)
            wall = time.perf_counter()
            open_index(path)
            opening_times.append(time.perf_counter() - wall)
            print(
                f"{result.report.added} added, {result.report.removed} removed: {wall_times[-1]:.2f} s, "
                f"processor {processor_times[-1]:.2f} s; open {opening_times[-1]:.2f} s",
                flush=True,
            )
    print(
        f"median {statistics.median(wall_times):.2f} s, processor "
        f"{statistics.median(processor_times):.2f} s, at most {max(wall_times):.2f} s; "
        f"open at most {max(opening_times):.2f} s; load {os.getloadavg()[0]:.1f}"
    )


if __name__ == "__main__":
    main()

"""Figures of Walk&Retrieve on MetaQA: walks, corpora, questions, updates; and of walks on a large graph.

Run: python benchmarks/walks.py PART DATA. PART is one of walks, build, ask, update; DATA is the folder of
MetaQA. Of `large`, DATA is the index of a large graph.
Wall time is given with processor time, as the first depends on what else the machine does.
"""

from __future__ import annotations

import argparse
import gzip
import random
import re
import resource
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from questions import lines_of

from clew.engine import Clew
from clew.graph.walks.kernels import random_walks
from clew.graph.walks.walks import ROOTS_OF_THREAD, Walker, WalkSettings, spread, with_choices
from clew.index.corpus import CorpusSettings, open_corpus
from clew.index.store.directory import open_index
from clew.index.update.edits import Edits
from clew.index.update.update import update_index
from clew.opening.environment import make_embedder
from clew.opening.graph_view import index_sources


@contextmanager
def timed(title: str) -> Iterator[dict[str, float]]:
    """Print wall and processor seconds."""
    seconds: dict[str, float] = {}
    wall, cpu = time.perf_counter(), time.process_time()
    yield seconds
    seconds["wall"], seconds["cpu"] = time.perf_counter() - wall, time.process_time() - cpu
    print(f"{title}: {seconds['wall']:.2f} s, processor {seconds['cpu']:.2f} s", flush=True)


def knowledge_base(data: Path, folder: Path) -> Path:
    """Unpack the triples."""
    path = folder / "metaqa.txt"
    if not path.exists():
        with gzip.open(data / "kb.txt.gz") as packed, path.open("wb") as out:
            shutil.copyfileobj(packed, out)
    return path


def index_of(kind: str, data: Path, folder: Path) -> Path:
    """Index MetaQA with a corpus, unless that was done before."""
    path = folder / f"metaqa-{kind}.clew"
    if not path.exists():
        corpus = None if kind == "none" else CorpusSettings(kind)  # pyright: ignore[reportArgumentType]
        with timed(f"index with corpus {kind}"):
            index_sources([knowledge_base(data, folder)], path, corpus=corpus)
        report = open_corpus(open_index(path))
        print(f"  {open_index(path).manifest.bytes / 1e6:.0f} MB, {report and report.report()}")
    return path


def walks(data: Path, folder: Path) -> None:
    """Walks alone, 60 × 4 from every node."""
    graph = open_index(index_of("none", data, folder)).graph
    roots = np.arange(graph.nodes, dtype=np.int32)
    for kind in ("random", "bfs"):
        walker = Walker(graph, WalkSettings(kind))  # pyright: ignore[reportArgumentType]
        walker.walk(roots[:10])
        with timed(f"{kind} walks, merged") as seconds:
            walker.walk(roots)
        print(f"  {graph.nodes * 60 / seconds['wall'] / 1e6:.1f} M walks/s")
    tables, shape = Walker(graph, WalkSettings("random")).walked, (graph.nodes, 60, 4)
    steps, nodes = np.zeros(shape, np.int32), np.zeros(shape, np.int32)

    def fill(first: int, last: int) -> None:
        part = slice(first, last)
        random_walks(tables.places, tables.slots, roots[part], np.uint64(0), steps[part], nodes[part])

    for _ in range(5):
        with timed("random walks, kernel alone, 2 threads") as seconds:
            spread(graph.nodes, fill, 2)
        print(f"  {graph.nodes * 60 / seconds['wall'] / 1e6:.1f} M walks/s")


def large(data: Path, folder: Path) -> None:
    """Random walks, 60 × 4 from a million nodes of a large graph, which are not stored."""
    del folder
    graph = open_index(data).graph
    with timed("tables"):
        tables = with_choices(graph)
    count = min(1_000_000, graph.nodes)
    roots = np.sort(np.random.default_rng(0).choice(graph.nodes, count, replace=False)).astype(np.int32)

    def fill(first: int, last: int) -> None:
        for at in range(first, last, ROOTS_OF_THREAD):
            part = roots[at : min(at + ROOTS_OF_THREAD, last)]
            steps, nodes = np.empty((len(part), 60, 4), np.int32), np.empty((len(part), 60, 4), np.int32)
            random_walks(tables.places, tables.slots, part, np.uint64(0), steps, nodes)

    fill(0, 1)
    for _ in range(3):
        with timed("random walks, 2 threads") as seconds:
            spread(count, fill, 2)
        rates = (60 * count / seconds[clock] / 1e6 for clock in ("cpu", "wall"))
        print("  {:.2f} M walks/s a core, {:.2f} M/s wall".format(*rates))
    print(f"  {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GiB at most")


def build(data: Path, folder: Path) -> None:
    """All corpora."""
    for kind in ("bfs", "random"):
        index_of(kind, data, folder)


def questions(data: Path, hop: int, count: int, skip: int) -> list[tuple[str, set[str]]]:
    """Questions without bracket marks, with their answers, behind the first `skip` of a fixed shuffle."""
    lines = list(lines_of(data / f"{hop}-hop" / "vanilla" / "qa_dev.txt"))
    random.Random(1).shuffle(lines)
    pairs = (line.split("\t") for line in lines[skip : skip + count])
    return [(re.sub(r"[\[\]]", "", question), set(answers.split("|"))) for question, answers in pairs]


def ask(data: Path, folder: Path, count: int, skip: int, kinds: list[str]) -> None:
    """Hits@1 by hop, and time, with the built-in reader."""
    for kind in kinds:
        if kind in ("bfs", "random") and not (folder / f"metaqa-{kind}.clew").exists():
            continue
        with Clew.open(index_of(kind, data, folder)) as clew:
            clew.ask("who directed Inception", method="walk-retrieve")
            hits, times, processor_times = [], [], []
            for hop in (1, 2, 3):
                hit_count = 0
                for question, gold in questions(data, hop, count, skip):
                    began = time.process_time()
                    answer = clew.ask(question, method="walk-retrieve")
                    processor_times.append(1000 * (time.process_time() - began))
                    hit_count += any(a.entity in gold for a in answer.answers)
                    times.append(answer.timings_ms["total"])
                hits.append(100 * hit_count / count)
            hits_by_hop = " / ".join(f"{h:.1f}" for h in hits)
            p95 = np.quantile(times, 0.95)
            print(
                f"{kind}: Hits@1 {hits_by_hop}, mean {statistics.mean(hits):.2f} ({count} questions a hop); "
                f"p50 {statistics.median(times):.1f} ms ({statistics.median(processor_times):.1f} of "
                f"processor), p95 {p95:.1f} ms",
                flush=True,
            )


def update(data: Path, folder: Path, sizes: list[int]) -> None:
    """Random edits, half of them additions."""
    kind = "bfs"
    path, embedder, rng = folder / "updated.clew", make_embedder(None), random.Random(5)
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(index_of(kind, data, folder), path)
    update_index(path, Edits(add=[("warm", "has_tags", "up")]), embedder=embedder)
    for size in sizes:
        graph = open_index(path).graph
        triples = list(range(graph.triples))
        removed = [triple_names(graph, i) for i in rng.sample(triples, size // 2)]
        added = [
            (triple_names(graph, rng.choice(triples))[0], *triple_names(graph, rng.choice(triples))[1:])
            for _ in range(size - len(removed))
        ]
        with timed(f"{kind}: update of {size} triples"):
            result = update_index(path, Edits(add=added, remove=removed), embedder=embedder)
        print(f"  {result.corpus}", flush=True)


def triple_names(graph, triple: int) -> tuple[str, str, str]:  # noqa: ANN001
    """Names of a triple."""
    head, relation, tail = graph.triple(triple)
    return graph.entities[head], graph.relations[relation], graph.entities[tail]


def main() -> None:
    """Run one part."""
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=["walks", "build", "ask", "update", "large"])
    parser.add_argument("data", type=Path)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "clew-walks")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--kinds", nargs="*", default=["bfs", "random", "none"])
    parser.add_argument("--sizes", type=int, nargs="*", default=[1] * 20 + [100, 10_000])
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.part == "ask":
        ask(options.data, options.folder, options.count, options.skip, options.kinds)
    elif options.part == "update":
        update(options.data, options.folder, options.sizes)
    else:
        {"walks": walks, "build": build, "large": large}[options.part](options.data, options.folder)


if __name__ == "__main__":
    main()

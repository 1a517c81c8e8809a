"""KG-RAG's retrieval on MetaQA: its speed, and triple vectors of a large graph.

    python benchmarks/kg_rag.py speed --data ../shared/data/metaqa
    python benchmarks/kg_rag.py large --index LARGE.clew [--triples 3000000]

`large` generates a graph with a hub in a third of its triples, indexes it in another process, and embeds its
triples.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from clew.engine import Clew
from clew.graph.graph import Graph
from clew.graph.neighbourhood import find_candidates
from clew.index.store.writing import NewIndex
from clew.index.vectors.triples import (
    TRIPLE_VECTORS,
    TripleVectors,
    add_triple_vectors,
    with_triple_vectors,
)


def percentiles(values: Sequence[float]) -> str:
    """Median, 95th percentile and maximum."""
    p50, p95, maximum = np.percentile(values, [50, 95, 100])
    return f"p50 {p50:.2f}  p95 {p95:.2f}  max {maximum:.2f}"


def entities_of(graph: Graph, count: int, seed: int) -> list[int]:
    """Entities, drawn uniformly."""
    return [int(e) for e in np.random.default_rng(seed).integers(0, graph.nodes, count)]


def _retrieve(graph: Graph, vectors: TripleVectors, entity: int) -> tuple[float, float, int]:
    """Milliseconds for the candidates of an entity and for the top 30 of them, and how many there were."""
    text = "which films have the same director"
    start = time.perf_counter()
    triples = find_candidates(graph, [entity], 3, vectors.similarities(text)).triples
    middle = time.perf_counter()
    vectors.top(text, triples, 30)
    return (middle - start) * 1000, (time.perf_counter() - middle) * 1000, len(triples)


def speed(clew: Clew, repeats: int) -> None:
    """Candidate retrieval, top K, and building the vectors."""
    from clew.index.store.writing import writing

    index = with_triple_vectors(clew.opened, clew.embedder)
    graph, vectors = index.graph, TripleVectors.of(index, clew.embedder)
    size = vectors.rows.nbytes + vectors.scales.nbytes
    print(f"triple vectors: {size / 1e6:.1f} MB, {size / graph.triples:.0f} bytes a triple")
    print(f"43M triples at that: {43e6 * size / graph.triples / 1e9:.2f} GB")
    with tempfile.TemporaryDirectory() as folder, writing(path := Path(folder) / "speed.clew") as writer:
        start, cpu = time.perf_counter(), time.process_time()
        add_triple_vectors(NewIndex(writer, path, graph, clew.embedder))
        wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    print(f"built at {graph.triples / wall:,.0f} triples/s, {graph.triples / cpu:,.0f} a CPU second")
    similarity = vectors.similarities("which films have the same director")
    find_candidates(graph, [0], 3, similarity)
    vectors.top("warm up", np.arange(100), 30)
    retrieval_times, ranking_times, sizes = [], [], []
    for entity in entities_of(graph, 200, 0):
        runs = [_retrieve(graph, vectors, entity) for _ in range(repeats)]
        retrieval_times.append(min(run[0] for run in runs))
        ranking_times.append(min(run[1] for run in runs))
        sizes.append(runs[0][2])
    print(f"each entity {repeats} times, the fastest counts")
    print(f"candidates, N = 3, 200 entities, ms: {percentiles(retrieval_times)}")
    print(f"top 30 of them, ms: {percentiles(ranking_times)}")
    print(f"candidate triples: {percentiles(sizes)}")


HUB, SYLLABLES = "Old Town", ("ka", "lo", "mi", "ra", "tes", "vin", "dor", "pel", "sun", "ber", "quo", "hal")


def name_of(number: int) -> str:
    """A name of two words for an entity, not the same for any two."""
    parts: list[str] = []
    for _ in range(6):
        number, at = divmod(number, len(SYLLABLES))
        parts.append(SYLLABLES[at])
    return f"{''.join(parts[:3])} {''.join(parts[3:])}".title()


def write_large(path: Path, triples: int) -> None:
    """Write a graph with 3 triples for each entity, one of them at a hub, and 200 other relations."""
    entities, rng = triples // 3, np.random.default_rng(0)
    names = [name_of(i) for i in range(entities)]
    heads, tails = (rng.integers(0, entities, triples - entities) for _ in range(2))
    relations = rng.integers(0, 200, triples - entities)
    with path.open("w", encoding="utf-8") as lines:
        lines.writelines(f"{name}\tlives in\t{HUB}\n" for name in names)
        for head, relation, tail in zip(heads.tolist(), relations.tolist(), tails.tolist(), strict=True):
            lines.write(f"{names[head]}\trelation {name_of(relation)[:6]}\t{names[tail]}\n")


def peak_gb() -> float:
    """The most memory that this process had, mapped files included."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def large(path: Path, triples: int) -> None:
    """Triple vectors of a large graph, and questions at its hub."""
    from clew.llm.testing import ScriptedModel
    from clew.methods.baselines.method import Kaping
    from clew.methods.kg_rag.method import KgRag

    if not path.exists():
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            source = Path(folder) / "large.tsv"
            write_large(source, triples)
            command = (sys.executable, "-m", "clew", "index", str(source), "-o", str(path), "--quiet")
            subprocess.run(command, check=True)
    clew = Clew.open(path)
    embedded = TRIPLE_VECTORS in clew.opened.sections
    peak_before, start, cpu = peak_gb(), time.perf_counter(), time.process_time()
    clew.embed_triples()
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    graph, vectors = clew.opened.graph, TripleVectors.of(clew.opened, clew.embedder)
    size, peak = vectors.rows.nbytes + vectors.scales.nbytes, f"{peak_before:.2f} -> {peak_gb():.2f} GB"
    print(f"{graph.triples:,} triples, {graph.nodes:,} nodes; load {os.getloadavg()[0]:.1f}")
    if not embedded:
        print(f"built at {graph.triples / wall:,.0f} triples/s, {graph.triples / cpu:,.0f} a CPU second")
    print(f"{size / 1e6:.0f} MB, {size / graph.triples:.0f} bytes a triple; peak {peak}")
    question, none = f"Who lives in {HUB}?", ScriptedModel(lambda _: "Answer: none")
    for method in (
        Kaping(clew.opened, clew.embedder, model=none),
        KgRag(clew.opened, clew.embedder, model=none),
    ):
        method.answer(question)
        start, cpu = time.perf_counter(), time.process_time()
        answer = method.answer(question)
        wall, cpu = (time.perf_counter() - start) * 1000, (time.process_time() - cpu) * 1000
        notes = [note for step in answer.steps for note in step.detail.get("notes", ())]
        notes += answer.chain.notes if answer.chain is not None else ()
        print(f"{method.name}: {len(answer.answers)} answers, {wall:,.0f} ms, {cpu:,.0f} ms of CPU; {notes}")
    print(f"peak {peak_gb():.2f} GB")


def main() -> None:
    """Run one part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("part", choices=("speed", "large"))
    parser.add_argument("--data", type=Path, help="folder of MetaQA")
    parser.add_argument("--index", type=Path, help="index of the large graph, made if it is not there")
    parser.add_argument("--triples", type=int, default=3_000_000)
    parser.add_argument("--cache", type=Path, help="where the index is kept")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    if options.part == "large":
        large(options.index, options.triples)
    else:
        speed(Clew.open(options.data / "kb.txt.gz", cache_dir=options.cache), options.repeats)


if __name__ == "__main__":
    main()

"""KG-RAG on MetaQA: retrieval speed, triple vectors, and the built-in forms on Experiment 1's grid.

    python benchmarks/kg_rag.py speed --data ../shared/data/metaqa
    python benchmarks/kg_rag.py grid --data ../shared/data/metaqa [--sample 300]
    python benchmarks/kg_rag.py systems --data ../shared/data/metaqa [--sample 300]
    python benchmarks/kg_rag.py large --index LARGE.clew [--triples 3000000]

`grid` and `systems` take `--seed`, and `--half first|second` for one of two disjoint halves of the dev
questions. `large` generates a graph with a hub in a third of its triples, indexes it in another process, and
embeds its triples.

Accuracy is on a seeded sample of the dev questions, with the entity of each question given as in the paper.
Hits@1: the answer includes a correct entity. Exact match: the first answer equals a correct one after
lower-casing and stripping (section 4.2.1). Set: the answers are exactly the correct ones.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
from questions import lines_of

from clew.engine import Clew
from clew.graph.graph import Graph
from clew.graph.neighbourhood import find_candidates
from clew.index.new_index import NewIndex
from clew.index.vectors.triple_vectors import (
    TRIPLE_VECTORS,
    TripleVectors,
    add_triple_vectors,
    with_triple_vectors,
)
from clew.methods.kg_rag.chain import Plan
from clew.methods.kg_rag.decompose import Decompose
from clew.types import Answer

TOPIC = re.compile(r"\[(.+?)\]")


@dataclass(frozen=True)
class Question:
    """A question with its entity and correct answers."""

    hops: int
    text: str
    entity: str
    gold: tuple[str, ...]


def read_questions(data: Path, sample: int, seed: int, half: str | None = None) -> list[Question]:
    """Draw `sample` dev questions of each number of hops, from all of them or from a half."""
    questions: list[Question] = []
    for hops in (1, 2, 3):
        rows = [line.split("\t") for line in lines_of(data / f"{hops}-hop" / "vanilla" / "qa_dev.txt")]
        if half is not None:
            random.Random(0).shuffle(rows)
            middle = len(rows) // 2
            rows = rows[:middle] if half == "first" else rows[middle:]
        for text, gold in random.Random(seed).sample(rows, sample):
            entity = TOPIC.search(text)
            assert entity is not None
            plain = TOPIC.sub(r"\1", text)
            questions.append(Question(hops, plain, entity[1], tuple(gold.split("|"))))
    return questions


@dataclass
class Score:
    """Counts of one number of hops."""

    question_count: int = 0
    hits: int = 0
    exact: int = 0
    same_set: int = 0
    abstained: int = 0
    milliseconds: float = 0.0

    def add(self, answer: Answer, gold: Sequence[str], milliseconds: float) -> None:
        """Count one answer."""
        entities = [a.entity for a in answer.answers]
        right = {g.lower().strip() for g in gold}
        self.question_count += 1
        self.hits += any(name.lower().strip() in right for name in entities)
        self.exact += bool(entities) and entities[0].lower().strip() in right
        self.same_set += {n.lower().strip() for n in entities} == right
        self.abstained += answer.abstained is not None
        self.milliseconds += milliseconds

    def row(self) -> str:
        """Percentages."""
        share = (
            100 * n / self.question_count for n in (self.hits, self.exact, self.same_set, self.abstained)
        )
        return " ".join(f"{s:5.1f}" for s in share) + f" {self.milliseconds / self.question_count:6.1f} ms"


Ask = Callable[[Question], Answer]


def score(ask: Ask, questions: Sequence[Question]) -> dict[int, Score]:
    """Ask all questions; scores by number of hops."""
    scores = {hops: Score() for hops in (1, 2, 3)}
    for question in questions:
        start = time.perf_counter()
        answer = ask(question)
        scores[question.hops].add(answer, question.gold, (time.perf_counter() - start) * 1000)
    return scores


def print_scores(title: str, scores: dict[int, Score]) -> None:
    """One line for each number of hops."""
    for hops, hop_score in scores.items():
        print(f"{title:24} {hops}-hop  {hop_score.row()}", flush=True)


def grid(clew: Clew, questions: Sequence[Question], frontiers: Sequence[str]) -> None:
    """Experiment 1's grid for the built-in forms; each question is read once, times are without that."""
    from clew.methods.built_in import built_in_reader
    from clew.methods.kg_rag.method import KgRag, built_in_steps
    from clew.methods.kg_rag.settings import KgRagSettings

    reader, decomposed = built_in_reader(clew.index, clew.embedder), dict[str, Plan]()
    print("                                 hits  exact  set   none")
    for frontier in frontiers:
        steps = built_in_steps(reader, frontier)  # type: ignore[arg-type]
        decompose = steps.decompose

        def decompose_once(text: str, names: Sequence[str], _: object, make: Decompose = decompose) -> Plan:
            key = "\n".join((text, *names))
            if key not in decomposed:
                decomposed[key] = make(text, names, None)
            return decomposed[key]

        method = KgRag(clew.index, clew.embedder, steps=replace(steps, decompose=decompose_once))
        for hops, top in product((1, 2, 3), (10, 20, 30)):
            method.settings = KgRagSettings(hops=hops, k=top, frontier=frontier)  # type: ignore[arg-type]
            scores = score(lambda q, m=method: m.answer(q.text, entities=[q.entity]), questions)
            print_scores(f"{frontier} N={hops} K={top}", scores)


def systems(clew: Clew, questions: Sequence[Question], names: Sequence[str]) -> None:
    """Compare what runs without a model; LLM+KG of Experiment 2 is kaping with N = 3 and K = 30."""
    from clew.methods.baselines.around_entities import Kaping
    from clew.methods.baselines.settings import KapingSettings

    print("                                 hits  exact  set   none")
    kaping = Kaping(clew.index, clew.embedder, settings=KapingSettings(hops=3, k=30))
    scores = score(lambda q: kaping.answer(q.text, entities=[q.entity]), questions)
    print_scores("kaping N=3 K=30", scores)
    for name in names:
        scores = score(lambda q, name=name: clew.ask(q.text, entities=[q.entity], method=name), questions)
        print_scores(name, scores)


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

    index = with_triple_vectors(clew.index, clew.embedder)
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
    from clew.methods.baselines.around_entities import Kaping
    from clew.methods.kg_rag.method import KgRag

    if not path.exists():
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            source = Path(folder) / "large.tsv"
            write_large(source, triples)
            command = (sys.executable, "-m", "clew", "index", str(source), "-o", str(path), "--quiet")
            subprocess.run(command, check=True)
    clew = Clew.open(path)
    embedded = TRIPLE_VECTORS in clew.index.sections
    peak_before, start, cpu = peak_gb(), time.perf_counter(), time.process_time()
    clew.embed_triples()
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    graph, vectors = clew.index.graph, TripleVectors.of(clew.index, clew.embedder)
    size, peak = vectors.rows.nbytes + vectors.scales.nbytes, f"{peak_before:.2f} -> {peak_gb():.2f} GB"
    print(f"{graph.triples:,} triples, {graph.nodes:,} nodes; load {os.getloadavg()[0]:.1f}")
    if not embedded:
        print(f"built at {graph.triples / wall:,.0f} triples/s, {graph.triples / cpu:,.0f} a CPU second")
    print(f"{size / 1e6:.0f} MB, {size / graph.triples:.0f} bytes a triple; peak {peak}")
    question = f"Who lives in {HUB}?"
    for method in (Kaping(clew.index, clew.embedder), KgRag(clew.index, clew.embedder)):
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
    parser.add_argument("part", choices=("speed", "grid", "systems", "large"))
    parser.add_argument("--data", type=Path, help="folder of MetaQA")
    parser.add_argument("--index", type=Path, help="index of the large graph, made if it is not there")
    parser.add_argument("--triples", type=int, default=3_000_000)
    parser.add_argument("--half", choices=("first", "second"))
    parser.add_argument("--cache", type=Path, help="where the index is kept")
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--frontiers", default="answers,question")
    parser.add_argument("--methods", default="auto,kg-rag,kaping,kg-retrieval,kg-gpt,triple-rag,vector-rag")
    options = parser.parse_args()
    if options.part == "large":
        large(options.index, options.triples)
        return
    clew = Clew.open(options.data / "kb.txt.gz", cache_dir=options.cache)
    if options.part == "speed":
        speed(clew, options.repeats)
        return
    questions = read_questions(options.data, options.sample, options.seed, options.half)
    if options.part == "grid":
        grid(clew, questions, options.frontiers.split(","))
    else:
        systems(clew, questions, options.methods.split(","))


if __name__ == "__main__":
    main()

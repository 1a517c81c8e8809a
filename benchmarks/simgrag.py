"""What Clew adds to a question of SimGRAG beside the model's own time.

Milliseconds, memory and tokens, on MetaQA.

A scripted model replies at once, as a good one would: with the pattern of the question's type (in words
that are not the graph's), and with what stands at the asked place of the subgraphs that it is shown. So the
time is Clew's, and wrong answers are those of the road between two good replies, not of a model.

python benchmarks/simgrag.py ../shared/data/metaqa [--sample 100] [--write benchmarks/RESULTS.md]
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from questions import lines_of
from results import publish

from clew import Clew
from clew.llm.testing import ScriptedModel
from clew.llm.types import Request
from clew.methods.settings import SimgragSettings
from clew.methods.simgrag.method import SimGRAG
from clew.text.normalise import normalise

RELATIONS = {
    "director": ("film director", "directed_by"),
    "actor": ("actor", "starred_actors"),
    "writer": ("screenwriter", "written_by"),
    "year": ("year of release", "release_year"),
    "genre": ("genre", "has_genre"),
    "language": ("language spoken", "in_language"),
    "tags": ("tag", "has_tags"),
    "tag": ("tag", "has_tags"),
    "imdbrating": ("IMDb rating", "has_imdb_rating"),
    "imdbvotes": ("IMDb votes", "has_imdb_votes"),
}
"""Words of the scripted model, and the relation, by what a question type calls the relation's other end."""
Triple = tuple[str, str, str]


def pattern_of(kind: str, topic: str) -> tuple[list[Triple], list[str]]:
    """Triples that the model writes for a type such as movie_to_director_to_movie, and their relations."""
    stations = kind.split("_to_")
    triples: list[Triple] = []
    relations: list[str] = []
    node = topic
    for number, (from_kind, to_kind) in enumerate(pairwise(stations), 1):
        next_node = f"UNKNOWN {to_kind} {number}"
        words, relation = RELATIONS[to_kind if from_kind == "movie" else from_kind]
        triples.append((node, words, next_node) if from_kind == "movie" else (next_node, words, node))
        relations.append(relation)
        node = next_node
    return triples, relations


def good_model(triples: list[Triple], relations: list[str], topic: str, *, forward: bool) -> ScriptedModel:
    """A model that writes these triples, and reads the last node of the graphs that are right."""

    def read(request: Request) -> str:
        graphs = json.loads(request.messages[0].text.rpartition("<evidence>")[2].partition("</evidence>")[0])
        answers = dict.fromkeys(
            graph[-1][2 if forward else 0]
            for graph in graphs.values()
            if [t[1] for t in graph] == relations
            and normalise(topic) in map(normalise, (graph[0][0], graph[0][2]))
        )
        return json.dumps({"reason": "as the graphs say", "answers": list(answers)})

    pattern = json.dumps({"divided": [" ".join(t) for t in triples], "triples": triples})
    return ScriptedModel(
        lambda request: read(request) if "<evidence>" in request.messages[0].text else pattern
    )


def questions(folder: Path, hops: int, sample: int) -> list[tuple[str, str, str, set[str]]]:
    """(question, topic, type, gold) of a sample of one set of questions."""
    lines = lines_of(folder / f"{hops}-hop" / "vanilla" / "qa_dev.txt")
    kinds = (folder / f"{hops}-hop" / "qa_dev_qtype.txt").read_text("utf-8").split()
    rows = []
    for line, kind in zip(lines, kinds, strict=True):
        question, _, gold = line.partition("\t")
        topic = question[question.index("[") + 1 : question.index("]")]
        rows.append((question.replace("[", "").replace("]", ""), topic, kind, set(gold.split("|"))))
    return random.Random(7).sample(rows, min(sample, len(rows)))


def percentile(values: list[float], share: float) -> float:
    """The value below which a share of the values lies."""
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


def memory() -> float:
    """The most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def ask(clew: Clew, method_of: Callable[[ScriptedModel], SimGRAG], row: tuple[str, str, str, set[str]]):  # noqa: ANN201
    """Ask one question with its own scripted model; the answer and whether it is hit and exact."""
    question, topic, kind, gold = row
    triples, relations = pattern_of(kind, topic)
    model = good_model(triples, relations, topic, forward=not kind.endswith("_movie"))
    began = time.process_time()
    answer = method_of(model).answer(question)
    processor_ms = 1000 * (time.process_time() - began)
    entities = {a.entity for a in answer.answers}
    return answer, bool(entities) and answer.answers[0].entity in gold, entities == gold, processor_ms


def main() -> None:
    """Measure, print, and write the section of the results."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sample", type=int, default=100, help="questions of each number of hops")
    parser.add_argument("--write", type=Path, help="the file of results")
    arguments = parser.parse_args()
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        kb = Path(folder) / "kb.txt"
        kb.write_bytes(gzip.decompress((arguments.folder / "kb.txt.gz").read_bytes()))
        rows_by_hops = {hops: questions(arguments.folder, hops, arguments.sample) for hops in (1, 2, 3)}
        index = kb.with_suffix(".clew")
        # By another process, as the most memory that this one ever had is measured.
        indexing = (sys.executable, "-m", "clew", "index", str(kb), "-o", str(index), "--quiet")
        subprocess.run(indexing, check=True)
        with Clew.open(index) as clew:
            clew.ask("who directed Inception")
            memory_before = memory()
            method = SimGRAG(clew.opened, clew.embedder, model=ScriptedModel([]))

            def method_of(model: ScriptedModel) -> SimGRAG:
                method.model = model
                return method

            ask(clew, method_of, rows_by_hops[3][0])
            lines += [
                "| hops | questions | Hits@1 | exact set | p50 | p95 | p50 of processor time |",
                "|---|---|---|---|---|---|---|",
            ]
            all_times, all_processor_times = list[float](), list[float]()
            for hops in (1, 2, 3):
                rows = [ask(clew, method_of, row) for row in rows_by_hops[hops]]
                times = [answer.timings_ms["total"] for answer, *_ in rows]
                processor_times = [row[3] for row in rows]
                all_times += times
                all_processor_times += processor_times
                hits, exact = (100 * sum(r[i] for r in rows) / len(rows) for i in (1, 2))
                lines.append(
                    f"| {hops} | {len(rows)} | {hits:.1f} % | {exact:.1f} % |"
                    f" {percentile(times, 0.5):.1f} ms | {percentile(times, 0.95):.1f} ms |"
                    f" {percentile(processor_times, 0.5):.1f} ms |"
                )
                print(lines[-1])
            lines += [
                "",
                f"All: p50 {percentile(all_times, 0.5):.1f} ms, p95 {percentile(all_times, 0.95):.1f} ms,"
                f" p50 of processor time {percentile(all_processor_times, 0.5):.1f} ms (the load of the"
                f" machine was {os.getloadavg()[0]:.0f} on {os.cpu_count()} processors), and"
                f" {memory() - memory_before:.0f} MB more memory than after a first question without a"
                " model.",
                "",
                "| shots | calls | characters of both prompts | tokens (4 characters each) |",
                "|---|---|---|---|",
            ]
            for shots in (4, 8, 12):
                method.settings = SimgragSettings(shots=shots)
                rows = [ask(clew, method_of, row)[0] for rows in rows_by_hops.values() for row in rows[:20]]
                calls = sum(a.usage.calls for a in rows) / len(rows)
                tokens = sum(a.usage.input_tokens for a in rows) / len(rows)
                lines.append(f"| {shots} | {calls:.2f} | {4 * tokens:,.0f} | {tokens:,.0f} |")
    command = f"`python benchmarks/simgrag.py ../shared/data/metaqa --sample {arguments.sample}`"
    text = f"{__doc__.split('python bench')[0].strip()}\n\n{command}\n\n" + "\n".join(lines)
    publish(arguments.write, "SimGRAG: what Clew adds to the model's time (MetaQA)", text)


if __name__ == "__main__":
    main()

"""Work on a simulated Ray cluster of two nodes of a core, against processes of this machine; and faults.

    python benchmarks/cluster.py questions --keep FOLDER [--limit 900] [--parts 6]
    python benchmarks/cluster.py corpus [--graph GRAPH]
    python benchmarks/cluster.py faults [--rounds 20] [--limit 300]

`questions`: the 39,138 questions of MetaQA dev, or `--limit`, by `clew eval`, `--ray` against `--workers 2`.
Records must be equal but for times. They are cut into parts, which are asked by both in turns, each by
commands of its own. What is done is in FOLDER: the same command goes on after a kill, with the part that it
was at. All take 40 minutes on two quiet cores, `--limit 300 --parts 1` one.
`corpus`: the breadth-first corpus of MetaQA, or of another graph, `--ray` against one process, of one core
and of all, whose threads it walks with; files must be equal byte for byte.
`faults`: each round a worker is killed, a node is removed and another added, or the driver is killed and
the same command given again, while questions are asked; answers must be those of one process, each once.

Needs ../shared/data and Ray. What else the machine does shifts both sides: only ratios mean something.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from questions import SHARED, lines_of, metaqa, metaqa_graph
from ray.cluster_utils import Cluster

CLEW = [sys.executable, "-m", "clew"]
TIMES = {"timings_ms", "seconds", "ms", "began", "started", "latency_ms", "wall_ms"}


def two_nodes() -> Cluster:
    """A head of one core and a node of another; their workers are as important as other processes."""
    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112 (so Ray calls it)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    cluster.add_node(num_cpus=1)
    return cluster


def replace_node(cluster: Cluster) -> None:
    """Remove a node, and add one; where Ray's 30 s are too few for one to start, the head goes on alone."""
    for node in list(cluster.worker_nodes)[:1]:
        cluster.remove_node(node, allow_graceful=False)
    try:
        cluster.add_node(num_cpus=1)
    except Exception as error:  # Ray raises no other
        print("a node did not start:", str(error)[:60], flush=True)


def timed(arguments: list[str]) -> float:
    """Run a command of Clew to its end; seconds."""
    began = time.perf_counter()
    process = subprocess.run([*CLEW, *arguments], capture_output=True, text=True, check=False)
    if process.returncode not in (0, 3):
        raise SystemExit(f"{' '.join(arguments)}: {process.stderr[-2000:]}")
    if "--ray" in arguments:
        print("\n".join(line for line in process.stderr.splitlines() if "node" in line), flush=True)
    return time.perf_counter() - began


def without_times(value: Any) -> Any:  # noqa: ANN401
    """A record without what a clock has measured."""
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if k not in TIMES and not k.endswith("_ms")}
    if isinstance(value, list):
        return [without_times(each) for each in value]
    return value


def records(folder: Path) -> dict[str, list[str]]:
    """The records of a run, by file."""
    return {
        str(file.relative_to(folder)): [
            json.dumps(without_times(json.loads(line)), sort_keys=True)
            for line in file.read_text("utf-8").splitlines()
        ]
        for file in sorted(folder.rglob("*.jsonl"))
    }


def benchmark_questions(cluster: Cluster, folder: Path, limit: int | None, parts: int) -> None:
    """`clew eval` on two nodes against two processes, part by part, in turns."""
    folder.mkdir(parents=True, exist_ok=True)
    index, times_file = folder / "metaqa.clew", folder / f"done-{limit or 'all'}-{parts}.json"
    if not index.exists():
        timed(["index", str(metaqa_graph()), "-o", str(index), "--quiet"])
    seconds: dict[str, float] = json.loads(times_file.read_text("utf-8")) if times_file.exists() else {}
    total = same = 0
    for part in range(parts):
        data = folder / f"part-{limit or 'all'}-{parts}-{part}"
        write_part(data, limit, part, parts)
        ways = {"workers": ["--workers", "2"], "ray": ["--ray", cluster.address]}
        for name in list(ways)[:: 1 - 2 * (part % 2)]:
            if f"{name}{part}" not in seconds:
                out = data / name
                shutil.rmtree(out, ignore_errors=True)  # of a try that was killed
                command = ["eval", str(data), "--graph", str(index), "--method", "auto", "--quiet"]
                seconds[f"{name}{part}"] = timed([*command, *ways[name], "--out", str(out)])
                times_file.write_text(json.dumps(seconds), "utf-8")
        runs = [records(data / name) for name in ways]
        pairs = [pair for file in runs[0] for pair in zip(runs[0][file], runs[1][file], strict=True)]
        total, same = (
            total + len(pairs),
            same + sum(workers_record == ray_record for workers_record, ray_record in pairs),
        )
        part_seconds = [seconds[f"{name}{part}"] for name in ways]
        print(
            f"part {part + 1}: --workers 2 {part_seconds[0]:.1f} s, Ray {part_seconds[1]:.1f} s; "
            f"{len(pairs)} questions",
            flush=True,
        )
    sums = [sum(s for key, s in seconds.items() if key.startswith(name)) for name in ("workers", "ray")]
    print(f"records equal but for times: {same} of {total}")
    print(
        f"--workers 2 {sums[0]:.0f} s, Ray {sums[1]:.0f} s; rate of Ray against it: {sums[0] / sums[1]:.2f}"
    )


def write_part(folder: Path, limit: int | None, part: int, parts: int) -> None:
    """Write one of some parts of the questions of each hop as a folder of MetaQA."""
    for hop in ("1-hop", "2-hop", "3-hop"):
        (folder / hop / "vanilla").mkdir(parents=True, exist_ok=True)
        for name in ("vanilla/qa_dev.txt", "qa_dev_qtype.txt"):
            lines = list(lines_of(SHARED / "metaqa" / hop / name))[: None if limit is None else limit // 3]
            part_lines = lines[len(lines) * part // parts : len(lines) * (part + 1) // parts]
            (folder / hop / name).write_text("".join(f"{line}\n" for line in part_lines), "utf-8")
    (folder / "kb.txt.gz").write_bytes(metaqa_graph().read_bytes())


def benchmark_corpus(cluster: Cluster, folder: Path, graph: Path) -> None:
    """`clew index --corpus bfs` on two nodes against one process, of one core and of all, in turns."""
    common = ["index", str(graph), "--corpus", "bfs", "--quiet"]
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    core_seconds = timed([*common, "-o", str(folder / "core.clew")])
    os.sched_setaffinity(0, cores)
    print(f"one process on one core: {core_seconds:.1f} s", flush=True)
    thread_seconds = timed([*common, "-o", str(folder / "one.clew")])
    print(f"one process on {len(cores)} cores: {thread_seconds:.1f} s", flush=True)
    cluster_seconds = timed([*common, "-o", str(folder / "ray.clew"), "--ray", cluster.address])
    print(
        f"two nodes: {cluster_seconds:.1f} s; {core_seconds / cluster_seconds:.2f} times as fast as on one "
        f"core, {thread_seconds / cluster_seconds:.2f} as on {len(cores)}",
        flush=True,
    )
    local_folder, cluster_folder = (folder / name / "gen-000001" for name in ("one.clew", "ray.clew"))
    names = {file.name for file in local_folder.iterdir()} - {"sealed.json"}
    same = names == {file.name for file in cluster_folder.iterdir()} - {"sealed.json"}
    print(
        "same bytes:",
        same and all((local_folder / n).read_bytes() == (cluster_folder / n).read_bytes() for n in names),
    )


def answers(path: Path) -> list[tuple[str, str]]:
    """Id and text of each answer in a file."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [(row["id"], row["text"]) for row in rows]


def benchmark_faults(cluster: Cluster, folder: Path, rounds: int, limit: int) -> None:
    """Faults in turns, while `limit` questions are asked."""
    chance = random.Random(5)
    questions_file = folder / "questions.jsonl"
    rows = [{"id": str(n), "question": item.question} for n, item in enumerate(metaqa(1)[:limit])]
    questions_file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    index = str(folder / "metaqa.clew")
    timed(["index", str(metaqa_graph()), "-o", index, "--quiet"])
    common = ["ask", index, "--questions", str(questions_file), "--quiet", "--out"]
    timed([*common, str(folder / "expected.jsonl")])
    expected = answers(folder / "expected.jsonl")
    failed = 0
    for number in range(rounds):
        out = folder / f"round{number}.jsonl"
        command = [*CLEW, *common, str(out), "--ray", cluster.address]
        fault = ("worker", "node", "driver")[number % 3]
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        answer_count = chance.randrange(limit // 15, limit - limit // 6)
        while running.poll() is None and (not out.exists() or out.read_bytes().count(b"\n") < answer_count):
            time.sleep(0.02)
        was_running = running.poll() is None
        if fault == "worker":
            for process in workers(cluster)[:1]:
                os.kill(process, signal.SIGKILL)
        elif fault == "node":
            replace_node(cluster)
        else:
            running.kill()
            running.communicate()
            running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        messages = running.communicate()[1]
        right = running.returncode in (0, 3) and answers(out) == expected
        failed += not right
        print(
            f"round {number + 1}: {fault} at {answer_count}, in mid-work {was_running}: "
            f"{'ok' if right else 'WRONG'}",
            flush=True,
        )
        if not right:
            print(running.returncode, messages[-1500:], flush=True)
    print(f"{rounds - failed} of {rounds} rounds: nothing lost, nothing twice")


def workers(cluster: Cluster) -> list[int]:
    """Processes of this cluster that do pieces now."""
    raylets = {
        info.process.pid for node in cluster.list_all_nodes() for info in node.all_processes.get("raylet", [])
    }
    processes: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                title = (entry / "cmdline").read_bytes()
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if title.startswith(b"ray::do") and parent in raylets:
                processes.append(int(entry.name))
    return processes


def main() -> None:
    """Run the benchmark that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("questions", "corpus", "faults"))
    parser.add_argument("--limit", type=int, help="questions; by default all, with faults 300 a round")
    parser.add_argument("--parts", type=int, default=6, help="into which questions are cut")
    parser.add_argument("--keep", type=Path, help="folder of questions and records; needed for questions")
    parser.add_argument("--graph", type=Path, help="of the corpus; by default MetaQA's")
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    if options.what == "questions" and options.keep is None:
        parser.error("name a folder with --keep: what was asked stays there after a kill")
    print("load", os.getloadavg(), flush=True)
    cluster = two_nodes()
    try:
        with tempfile.TemporaryDirectory() as scratch:
            if options.what == "questions":
                benchmark_questions(cluster, options.keep, options.limit, options.parts)
            elif options.what == "corpus":
                benchmark_corpus(cluster, Path(scratch), options.graph or metaqa_graph())
            else:
                benchmark_faults(cluster, Path(scratch), options.rounds, options.limit or 300)
    finally:
        cluster.shutdown()
    print("load", os.getloadavg())


if __name__ == "__main__":
    main()

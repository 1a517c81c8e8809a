"""Development questions for a strong model, drawn by a seed, and the tables of what came of its replies.

Twelve questions a set that `tests/data/replies` does not hold: MetaQA dev (4 a hop), PathQuestion (6 a hop),
two graphs of `tests/data/domains/dev`, two development databases of Spider, the factory graph, and 30 claims
about it. Each set becomes a directory that `clew eval` reads:

    python benchmarks/strong_model.py draw SETS --seed 1511
    clew eval SETS/SET --method METHOD --llm MODEL --out RUNS/METHOD/SET --trace RUNS/METHOD/SET.trace.jsonl
    python benchmarks/strong_model.py table RUNS
    python benchmarks/strong_model.py record SETS DESK METHOD …   (into tests/data/replies)

What was recorded is asked again offline; the endpoint prints its URL:

    python benchmarks/strong_model.py sets SETS
    python tests/servers/recorded_replies.py
    OPENAI_BASE_URL=URL OPENAI_API_KEY=none clew eval experiments/strong-model.toml --data plain=SETS \
        --llm openai/strong --out RUN
    python benchmarks/strong_model.py table RUN
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
import shutil
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from questions import DATA, lines_of
from strong_model_sets import DOMAINS, SPIDER, Row, rows_of, set_named

from clew.engine import Clew
from clew.errors import LlmError
from clew.evaluate.metrics import exact_set, hits_at_1, truthfulness
from clew.evaluate.records import Record, record_from_json
from clew.llm.testing import ScriptedModel
from clew.llm.types import Request

QUESTIONS_PER_SET, CLAIMS = 12, 30
LARGEST, SMALLEST = 25_000, 60
"""Triples of a database of Spider that is drawn."""
REPLIES = DATA / "replies"
SIDE_FILES = (".types.tsv", ".aliases.tsv")


def recorded_rows() -> list[Row]:
    """The questions that were asked before, one a method and question."""
    return rows_of(REPLIES / "questions.jsonl")


def set_names(rng: random.Random, earlier_sets: frozenset[str]) -> Iterator[str]:
    """The sets that are drawn from; of domains and databases two each that were not drawn from before."""
    yield from ("metaqa", "pq2H", "pq3H")
    names = [p.name.removesuffix("_questions.jsonl") for p in sorted(DOMAINS.glob("*_questions.jsonl"))]
    yield from rng.sample([n for n in names if n not in earlier_sets], 2)
    databases = json.loads((SPIDER / "split.json").read_text("utf-8"))["development"]
    candidates = [
        n for n in databases if f"spider_{n}" not in earlier_sets and SMALLEST <= _size(n) <= LARGEST
    ]
    yield from (f"spider_{name}" for name in rng.sample(candidates, 2))
    yield from ("factory", "factory_claims")


def _size(database: str) -> int:
    return sum(1 for _ in lines_of(SPIDER / database / "kg.tsv"))


def draw(out: Path, seed: int, excluded_ids: frozenset[str], limit: int = QUESTIONS_PER_SET) -> None:
    """Draw at most so many questions a set into its directory; one that was asked before is not drawn."""
    rng, earlier = random.Random(seed), recorded_rows()
    earlier_questions = {row["question"] for row in earlier}
    for name in set_names(rng, frozenset(row["set"] for row in earlier)):
        source = set_named(name)
        count = {"pq2H": limit // 2, "pq3H": limit // 2, "factory_claims": CLAIMS}.get(name, limit)
        drawn_rows: list[Row] = []
        for pool in source.pools:
            new_rows = [
                r for r in pool if r["question"] not in earlier_questions and r.get("id") not in excluded_ids
            ]
            drawn_rows += rng.sample(new_rows, count // len(source.pools))
        for i, row in enumerate(drawn_rows):
            row.setdefault("id", f"{name}-{seed}-{i}")
        source.copy_graph(out / name)
        _write_lines(out / name / "questions.jsonl", drawn_rows)


def keep_questions(folder: Path) -> None:
    """Write the recorded questions, a file a set, with all fields of the sets that they came from."""
    folder.mkdir(exist_ok=True)
    traces_by_set: dict[str, dict[str, Row]] = defaultdict(dict)
    for trace in recorded_rows():
        traces_by_set[trace["set"]].setdefault(trace["question"], trace)
    for name, traces in sorted(traces_by_set.items()):
        rows = {row["question"]: row for pool in set_named(name).pools for row in pool}
        kept_rows = [rows[question] | {"id": trace["id"]} for question, trace in traces.items()]
        _write_lines(folder / f"{name}.jsonl", sorted(kept_rows, key=lambda row: row["id"]))


def sets(out: Path) -> None:
    """Put the recorded questions beside their graphs: a directory a set, as `clew eval` reads it."""
    for file in sorted((REPLIES / "sets").glob("*.jsonl")):
        set_named(file.stem).copy_graph(out / file.stem)
        shutil.copyfile(file, out / file.stem / "questions.jsonl")


def _write_lines(path: Path, rows: Iterable[Row]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def records_of(runs: Path) -> Iterator[tuple[str, str, Record]]:
    """Method, set and record of a run of an experiment, or of every run under RUNS/METHOD/SET."""
    for file in sorted([*runs.glob("records.jsonl"), *runs.glob("*/*/records.jsonl")]):
        for row in rows_of(file):
            run_record = record_from_json(row)
            yield run_record.key.method, run_record.key.part.split("/")[1], run_record


def table(runs: Path) -> list[str]:
    """Figures by method, then Hits@1 and exact set by method and set."""
    by_method: dict[str, list[Record]] = defaultdict(list)
    by_set: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for method, name, record in records_of(runs):
        if record.question.verdict is None:
            by_method[method].append(record)
            by_set[method, name].append(record)
    text = [
        "| method | questions | Hits@1 | exact set | truthfulness | abstained | failed | calls | tokens |",
        "|---" * 9 + "|",
    ]
    for method, records in by_method.items():
        usage = [record.answer["usage"] for record in records if record.answer is not None]
        calls = sum(u["calls"] for u in usage) / len(records)
        tokens = sum(u["input_tokens"] + u["output_tokens"] for u in usage) / len(records)
        truth = 100 * sum(truthfulness(record) or 0 for record in records) / len(records)
        abstained = sum(r.abstained is not None for r in records)
        failed = sum(r.failure is not None for r in records)
        cells = (
            f"{len(records)} | {_sum(hits_at_1, records)} | {_sum(exact_set, records)} | {truth:+.0f} | "
            f"{abstained} | {failed} | {calls:.1f} | {tokens:,.0f}"
        )
        text.append(f"| {method} | {cells} |")
    names = list(dict.fromkeys(name for _, name in by_set))
    heads = (f"{name} ({max(len(by_set[m, name]) for m in by_method)})" for name in names)
    text += ["", "| method | " + " | ".join(heads) + " |", "|---" * (len(names) + 1) + "|"]
    for method in by_method:
        cells = (
            f"{_sum(hits_at_1, by_set[method, name])} / {_sum(exact_set, by_set[method, name])}"
            for name in names
        )
        text.append(f"| {method} | " + " | ".join(cells) + " |")
    return text + claims_table(runs)


def claims_table(runs: Path) -> list[str]:
    """Verdicts of claims: what was right, turned around, left open."""
    text = [
        "",
        "| claims | right | turned around | not enough information | failed | calls a claim |",
        "|---" * 6 + "|",
    ]
    counts_by_method: dict[str, Counter[str]] = defaultdict(Counter)
    for method, _, record in records_of(runs):
        if record.question.verdict is not None:
            count = counts_by_method[method]
            count["all"] += 1
            if record.answer is None:
                count["failed"] += 1
                continue
            verdict = record.answer["verdict"]
            count["calls"] += record.answer["usage"]["calls"]
            count["open" if verdict == "not_enough_info" else verdict == record.question.verdict] += 1
    for method, c in counts_by_method.items():
        cells = [c[True], c[False], c["open"], c["failed"], f"{c['calls'] / c['all']:.1f}"]
        text.append(f"| {method} ({c['all']}) | " + " | ".join(map(str, cells)) + " |")
    return text if counts_by_method else []


def record(sets: Path, desk: Path, methods: Iterable[str]) -> None:
    """Replay the replies of `desk/METHOD`, and those that are recorded, on the questions of all sets.

    The replies that were used are written, and the answers; a question whose prompt has no reply is printed
    and left out.
    """
    earlier = recorded_rows()
    for method in methods:
        replies = {row["key"]: row["reply"] for row in rows_of(REPLIES / f"{method}.jsonl")}
        replies |= dict(_desk_replies(desk / method))
        used_replies: dict[str, Row] = {}
        traces: list[Row] = []
        for name, clew, questions in _open_sets(sets, [t for t in earlier if t["method"] == method]):
            for row in questions:
                traces += _replay(clew, method, name, row, replies, used_replies)
        _write_packed(REPLIES / f"{method}.jsonl.gz", used_replies.values())
        earlier = [t for t in earlier if t["method"] != method] + traces
    _write_packed(REPLIES / "questions.jsonl.gz", earlier)


def _desk_replies(folder: Path) -> Iterator[tuple[str, str]]:
    """Keys and replies of the desk's files."""
    for prompt in sorted(folder.glob("*.prompt.json")):
        reply = prompt.with_name(prompt.name.replace(".prompt.json", ".reply.txt"))
        if reply.exists():
            turns = [[m["role"], m["content"]] for m in json.loads(prompt.read_text("utf-8"))["messages"]]
            yield _key(turns), reply.read_text("utf-8").rstrip("\n")


def _key(turns: list[list[str]]) -> str:
    """The key of a prompt, as in `tests/methods/replies.py`."""
    return hashlib.sha256(json.dumps(turns, ensure_ascii=False).encode()).hexdigest()[:20]


def _open_sets(sets: Path, earlier: list[Row]) -> Iterator[tuple[str, Clew, list[Row]]]:
    """Every set with its questions, those that were asked before first."""
    for folder in sorted(p for p in sets.iterdir() if (p / "questions.jsonl").exists()):
        rows = {t["question"]: t for t in earlier if t["set"] == folder.name}
        rows |= {r["question"]: r for r in rows_of(folder / "questions.jsonl") if "verdict" not in r}
        graph = next(p for p in sorted(folder.glob("graph.*")) if not p.name.endswith(SIDE_FILES))
        yield folder.name, Clew.open(graph, cache_dir=sets / ".cache"), list(rows.values())


def _replay(
    clew: Clew, method: str, name: str, row: Row, replies: Mapping[str, str], used_replies: dict[str, Row]
) -> list[Row]:
    question_replies: dict[str, Row] = {}

    def reply(request: Request) -> str | LlmError:
        turns = [[m.role, m.text] for m in request.messages]
        key = _key(turns)
        if key not in replies:
            return LlmError(f"no reply to …{turns[-1][1][-200:]}")
        question_replies[key] = {"key": key, "messages": turns, "reply": replies[key]}
        return replies[key]

    try:
        answer = clew.ask(row["question"], method=method, model=ScriptedModel(reply))
    except LlmError as error:
        sys.stderr.write(f"{method} {name}: {row['question']}: {error}\n")
        return []
    used_replies |= question_replies
    usage = answer.usage
    return [
        {
            "method": method,
            "set": name,
            "id": row["id"],
            "question": row["question"],
            "gold": row.get("gold", []),
            "answers": [a.label for a in answer.answers],
            "abstained": answer.abstained and answer.abstained.reason,
            "calls": usage.calls,
            "tokens": usage.input_tokens + usage.output_tokens,
            "complete": answer.complete,
        }
    ]


def _write_packed(path: Path, rows: Iterable[Row]) -> None:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def _sum(metric: Any, records: Iterable[Record]) -> int:  # noqa: ANN401
    return int(sum(metric(record) or 0 for record in records))


def main() -> None:
    """Draw, record, or print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw")
    drawing.add_argument("out", type=Path)
    drawing.add_argument("--seed", type=int, required=True)
    drawing.add_argument("--each", type=int, default=QUESTIONS_PER_SET, help="questions a set")
    drawing.add_argument("--without", default="", help="ids that are not drawn, with commas")
    recording = commands.add_parser("record")
    recording.add_argument("sets", type=Path)
    recording.add_argument("desk", type=Path, help="a folder of prompts and replies for each method")
    recording.add_argument("methods", nargs="+")
    commands.add_parser("sets").add_argument("out", type=Path)
    commands.add_parser("table").add_argument("runs", type=Path)
    arguments = parser.parse_args()
    if arguments.command == "draw":
        draw(arguments.out, arguments.seed, frozenset(arguments.without.split(",")), arguments.each)
    elif arguments.command == "record":
        record(arguments.sets, arguments.desk, arguments.methods)
        keep_questions(REPLIES / "sets")
    elif arguments.command == "sets":
        sets(arguments.out)
    else:
        sys.stdout.write("\n".join(table(arguments.runs)) + "\n")


if __name__ == "__main__":
    main()

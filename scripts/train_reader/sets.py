"""Graphs with questions: those that the reader is measured on, and those that it is trained on.

A set is a list of `Asked`: a graph with its names index, and the questions over it with their gold answers.
The data stand beside the repository; a set whose files are not there is empty.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from clew.graph.build import build_graph
from clew.graph.graph import Graph
from clew.graph.schema import Schema, schema_of
from clew.index.names import NamesIndex

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
if not DATA.exists():
    DATA = ROOT.parents[1] / "shared" / "data"


@dataclass(frozen=True)
class Question:
    """A question; `gold` is empty where the graph cannot tell."""

    text: str
    gold: frozenset[str]
    kind: str


@dataclass(eq=False)
class Asked:
    """A graph and its questions."""

    name: str
    graph: Graph
    questions: list[Question] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.names = NamesIndex.of(self.graph)
        self.schema: Schema = schema_of(self.graph)


def read_graph(triples: Path, types: Path | None = None, aliases: Path | None = None) -> Graph:
    """Read one graph, without an index directory."""
    built = build_graph([triples], types=types, aliases=aliases)
    return built[0] if isinstance(built, tuple) else built.graph


def packed(path: Path) -> Path:
    """The file, or the one that is packed."""
    return path if path.exists() else path.with_name(path.name + ".gz")


def lines(path: Path) -> Iterator[str]:
    """Lines of a file, packed or not."""
    path = packed(path)
    with (
        gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as f
    ):
        for line in f:
            if line.strip():
                yield line.rstrip("\r\n")


def factory() -> Iterator[Asked]:
    """The factory."""
    folder = DATA / "factory"
    graph = read_graph(folder / "kg.tsv", folder / "types.tsv", folder / "aliases.tsv")
    rows = map(json.loads, lines(folder / "questions.jsonl"))
    yield Asked("factory", graph, [Question(r["question"], frozenset(r["answers"]), r["kind"]) for r in rows])


def spider(part: str, only: str = "") -> Iterator[Asked]:
    """Spider's databases, `development` or `training`; one of them with `only`."""
    for name in json.loads((DATA / "spider" / "split.json").read_text())[part]:
        if only in ("", name):
            yield from _folder(DATA / "spider" / name)


def overnight() -> Iterator[Asked]:
    """Overnight's worlds."""
    for folder in sorted((DATA / "overnight").iterdir()):
        if folder.is_dir():
            yield from _folder(folder)


def _folder(folder: Path) -> Iterator[Asked]:
    types = packed(folder / "types.tsv")
    graph = read_graph(packed(folder / "kg.tsv"), types if types.exists() else None)
    rows = map(json.loads, lines(folder / "questions.jsonl"))
    yield Asked(
        folder.name,
        graph,
        [Question(r["question"], frozenset(map(str, r["answers"])), r.get("kind", "")) for r in rows],
    )


def asked_graphs(only: str = "") -> Iterator[Asked]:
    """The graphs of `training/asked`, with questions as people ask; one with `only`."""
    for folder in sorted((ROOT / "training" / "asked").iterdir()):
        if folder.is_dir() and only in ("", folder.name):
            yield from _folder(folder)


def domains(which: str) -> Iterator[Asked]:
    """The small graphs of `tests/data/domains`, `dev` or `check`."""
    folder = ROOT / "tests" / "data" / "domains" / which
    for path in sorted(folder.glob("*_questions.jsonl")):
        name = path.name.removesuffix("_questions.jsonl")
        source = next(s for s in (path.with_name(name + end) for end in (".tsv", ".ttl")) if s.exists())
        types = path.with_name(name + ".types.tsv")
        rows = [json.loads(line) for line in lines(path)]
        questions = [Question(r["question"], frozenset(r.get("gold", ())), r.get("kind", "")) for r in rows]
        yield Asked(name, read_graph(source, types if types.exists() else None), questions)


def blind() -> Iterator[Asked]:
    """The graphs of `tests/data/blind`."""
    for folder in sorted((ROOT / "tests" / "data" / "blind").iterdir()):
        if folder.is_dir():
            yield from _folder(folder)


def metaqa(limit: int) -> Iterator[Asked]:
    """MetaQA's dev questions, `limit` of each number of hops, and the paraphrases."""
    graph = read_graph(packed(DATA / "metaqa" / "kb.txt"))
    questions: list[Question] = []
    for hops in (1, 2, 3):
        rows = list(lines(DATA / "metaqa" / f"{hops}-hop" / "vanilla" / "qa_dev.txt"))
        random.Random(hops).shuffle(rows)
        for row in rows[:limit]:
            text, gold = row.split("\t")
            questions.append(Question(re.sub(r"[\[\]]", "", text), frozenset(gold.split("|")), f"{hops}-hop"))
    path = ROOT / "tests" / "data" / "check" / "paraphrases.jsonl"
    for row in map(json.loads, lines(path)):
        questions.append(Question(row["question"], frozenset(row.get("gold", ())), "paraphrase"))
    yield Asked("metaqa", graph, questions)


def pathquestion(hops: int, limit: int) -> Iterator[Asked]:
    """PathQuestion's shared half."""
    folder = DATA / "pathquestion"
    rows = list(lines(folder / f"PQ-{hops}H.txt"))
    random.Random(7).shuffle(rows)
    questions: list[Question] = []
    for row in rows[:limit]:
        text, answer, _ = row.split("\t")
        gold = answer[answer.index("(") + 1 : -1].rstrip("/").split("/")
        questions.append(Question(text, frozenset(gold), f"pq{hops}"))
    yield Asked(f"pq{hops}", read_graph(folder / f"{hops}H-kb.txt"), questions)


def wc2014() -> Iterator[Asked]:
    """The samples of WC2014."""
    folder = DATA / "wc2014"
    questions = [
        Question(row.split("\t")[0], frozenset(row.split("\t")[3].rstrip("/").split("/")), part)
        for part in ("P1", "P2", "C")
        for row in lines(folder / f"WC-{part}.first20.txt")
    ]
    yield Asked("wc2014", read_graph(folder / "WC2014.txt"), questions)


def science() -> Iterator[Asked]:
    """The science graph of `tests/data/check`."""
    folder = ROOT / "tests" / "data" / "check"
    rows = map(json.loads, lines(folder / "other_questions.jsonl"))
    questions = [Question(r["question"], frozenset(r.get("gold", ())), r.get("kind", "")) for r in rows]
    yield Asked("science", read_graph(folder / "other.tsv"), questions)


MEASURED: dict[str, Callable[[], Iterator[Asked]]] = {
    "factory": factory,
    "spider": lambda: spider("development"),
    "overnight": overnight,
    "domains-dev": lambda: domains("dev"),
    "domains-check": lambda: domains("check"),
    "science": science,
    "blind": blind,
    "metaqa": lambda: metaqa(150),
    "pq2": lambda: pathquestion(2, 150),
    "pq3": lambda: pathquestion(3, 150),
    "wc2014": wc2014,
}
"""Never trained on."""


def all_of(names: Sequence[str]) -> Iterator[tuple[str, Asked]]:
    """The graphs of some measured sets, each with the set's name."""
    for name in names:
        for question_set in MEASURED[name]():
            yield name, question_set

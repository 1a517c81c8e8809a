"""Development and check questions, from `tests/data` and from the published data beside the repository.

A question has gold answers, or the reasons for which an abstention is right. The published sets (MetaQA dev,
PathQuestion, WC2014 samples) are cut in two halves at random, by a fixed seed: one is for development, the
other for checking.
"""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from clew.graph.graph import Graph
from clew.graph.steps import Step, backward, forward, opposite, relation_of, step_of

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data"
DATA = ROOT / "tests" / "data"
GRAPHS = {
    "films": ROOT / "examples" / "films.tsv",
    "countries": DATA / "dev" / "countries.tsv",
    "companies": DATA / "dev" / "companies.tsv",
    "books": DATA / "check" / "books.tsv",
}
"""Graphs whose relations and claims are worded in many ways."""
BLIND = frozenset("albums courts recipes space games hospital myths services".split())
"""Graphs of `tests/data/domains` by an author who had not seen the parser."""


@dataclass(frozen=True, slots=True)
class Item:
    """A question with its gold answers, or the reasons for which Clew should abstain."""

    question: str
    gold: frozenset[str] = frozenset()
    reasons: tuple[str, ...] = ()


def metaqa_graph() -> Path:
    """The MetaQA knowledge base."""
    return SHARED / "metaqa" / "kb.txt.gz"


def metaqa(hops: int) -> list[Item]:
    """The MetaQA dev questions of one number of hops, without the brackets around the topic."""
    folder = SHARED / "metaqa" / f"{hops}-hop" / "vanilla"
    return [
        Item(line.split("\t")[0].replace("[", "").replace("]", ""), frozenset(line.split("\t")[1].split("|")))
        for line in lines_of(folder / "qa_dev.txt")
    ]


def pathquestion(hops: int) -> list[Item]:
    """The shared half of PathQuestion of one number of hops."""
    items: list[Item] = []
    for line in lines_of(SHARED / "pathquestion" / f"PQ-{hops}H.txt"):
        question, answer, _ = line.split("\t")
        items.append(Item(question, frozenset(answer[answer.index("(") + 1 : -1].rstrip("/").split("/"))))
    return items


def wc2014() -> list[Item]:
    """The 60 sample questions of WC2014."""
    return [
        Item(line.split("\t")[0], frozenset(line.split("\t")[3].rstrip("/").split("/")))
        for part in ("P1", "P2", "C")
        for line in lines_of(SHARED / "wc2014" / f"WC-{part}.first20.txt")
    ]


def domains(split: str) -> Iterator[tuple[str, Path, list[Item]]]:
    """Name, graph and questions of each small graph of `tests/data/domains`, of the half `dev` or `check`.

    Gold holds labels, which for these graphs are also what people call the things.
    """
    for path in sorted((DATA / "domains" / split).glob("*_questions.jsonl")):
        name = path.name.removesuffix("_questions.jsonl")
        graph = next(g for g in (path.with_name(name + end) for end in (".tsv", ".ttl")) if g.exists())
        yield name, graph, jsonl(path)


Source = tuple[Path, Path | None, Path | None, list[Item]]
"""A graph file, its types and aliases, and its questions."""


def factory() -> Source:
    """The machine shop; what it cannot answer has any reason."""
    folder = SHARED / "factory"
    return folder / "kg.tsv", folder / "types.tsv", folder / "aliases.tsv", _database_items(folder)


def databases(name: str) -> Iterator[Source]:
    """Spider's development databases, the worlds of Overnight, or graphs of a folder of `tests/data`."""
    folder = DATA / name if (DATA / name).is_dir() else SHARED / name
    if name == "spider":
        graph_names = json.loads((folder / "split.json").read_text("utf-8"))["development"]
    else:
        graph_names = sorted(path.name for path in folder.iterdir() if path.is_dir())
    for graph_name in graph_names:
        kg, types = (packed(folder / graph_name / file) for file in ("kg.tsv", "types.tsv"))
        yield kg, types if types.exists() else None, None, _database_items(folder / graph_name)


def _database_items(folder: Path) -> list[Item]:
    rows = map(json.loads, lines_of(folder / "questions.jsonl"))
    return [
        Item(r["question"], frozenset(map(str, r["answers"])), () if r["answers"] else ("",)) for r in rows
    ]


def jsonl(path: Path) -> list[Item]:
    """Questions of our own: `gold`, or `reason` with `also`."""
    return [
        Item(
            row["question"],
            frozenset(row.get("gold", ())),
            (row["reason"], *row.get("also", ())) if "reason" in row else (),
        )
        for row in map(json.loads, lines_of(path))
    ]


def paraphrases(graph: Graph, per_template: int, seed: int = 3) -> list[Item]:
    """Templates of `dev/paraphrases.jsonl` filled with MetaQA entities that have 1 to 100 answers."""
    rng = random.Random(seed)
    names, unique = _names(graph)
    relation = {name: i for i, name in enumerate(graph.relations)}
    items: list[Item] = []
    for row in map(json.loads, lines_of(DATA / "dev" / "paraphrases.jsonl")):
        steps = [step_of(relation[r], way == "-") for r, way in row["path"]]
        pool = [n for n in np.flatnonzero(_nodes_with_step(graph, steps[0])) if unique(names[n])]
        item_count = 0
        for node in rng.sample(pool, min(len(pool), 400)):
            answers = _walk(graph, int(node), steps) - ({int(node)} if len(steps) > 1 else set())
            if not 0 < len(answers) <= 100:
                continue
            items.append(
                Item(row["template"].replace("X", names[node]), frozenset(names[a] for a in answers))
            )
            item_count += 1
            if item_count == per_template:
                break
    return items


def absent(graph: Graph, per_template: int, seed: int = 5) -> list[Item]:
    """Templates of `dev/absent.jsonl` filled with films and people of the MetaQA graph."""
    rng = random.Random(seed)
    names, unique = _names(graph)
    relation = {name: i for i, name in enumerate(graph.relations)}
    dated = np.flatnonzero(_nodes_with_step(graph, forward(relation["release_year"])))
    films = [n for n in dated if unique(names[n])]
    people = np.flatnonzero(
        _nodes_with_step(graph, backward(relation["directed_by"]))
        | _nodes_with_step(graph, backward(relation["starred_actors"]))
    )
    pools = {"film": films, "person": [n for n in people if unique(names[n])]}
    items: list[Item] = []
    for row in map(json.loads, lines_of(DATA / "dev" / "absent.jsonl")):
        for _ in range(per_template if row["about"] else 1):
            name = names[rng.choice(pools[row["about"]])] if row["about"] else ""
            items.append(Item(row["template"].replace("X", name), reasons=(row["reason"],)))
    return items


def half(items: Sequence[Item], number: int) -> list[Item]:
    """One half of a seeded shuffle: 0 for development, 1 to check."""
    shuffled = sample(items, len(items), 20241101)
    middle = len(items) // 2
    return shuffled[:middle] if number == 0 else shuffled[middle:]


def sample(items: Iterable[Item], count: int, seed: int) -> list[Item]:
    """`count` items drawn with a seed."""
    pool = list(items)
    random.Random(seed).shuffle(pool)
    return pool[:count]


def packed(path: Path) -> Path:
    """A file, or the packed one in its place."""
    return path if path.exists() else path.with_name(path.name + ".gz")


def lines_of(path: Path) -> Iterator[str]:
    """The lines of a file, which may be packed; blank ones are left out."""
    path = packed(path)
    open_file = gzip.open if path.suffix == ".gz" else open
    with open_file(path, "rt", encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield line.rstrip("\r\n")


def _names(graph: Graph) -> tuple[list[str], Callable[[str], bool]]:
    """All names, and whether a name has no twin in another letter case."""
    names = list(graph.entities)
    counts = Counter(name.lower() for name in names)

    def unique(name: str) -> bool:
        return counts[name.lower()] == 1

    return names, unique


def _nodes_with_step(graph: Graph, step: Step) -> np.ndarray:
    side = graph.side(step)
    nodes, relations, _ = side.columns()
    nodes = nodes[relations == relation_of(step)]
    return np.bincount(nodes, minlength=graph.nodes) > 0


def _walk(graph: Graph, start: int, steps: Sequence[Step]) -> set[int]:
    """Where a path leads that never turns back over the edge it came by."""
    frontier: set[tuple[int, int | None]] = {(start, None)}
    for position, step in enumerate(steps):
        side = graph.side(step)
        turns = position + 1 < len(steps) and steps[position + 1] == opposite(step)
        next_frontier: set[tuple[int, int | None]] = set()
        for node, previous in frontier:
            low, high = side.span(node)
            neighbours = side.neighbour[low:high][side.relation[low:high] == relation_of(step)]
            back = position > 0 and steps[position - 1] == opposite(step)
            next_frontier |= {
                (int(n), node if turns else None) for n in neighbours if not (back and n == previous)
            }
        frontier = next_frontier
    return {node for node, _ in frontier}

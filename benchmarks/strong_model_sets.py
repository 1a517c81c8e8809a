"""Where the questions for a strong model come from: a set's graph files, and its questions as plain rows."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from questions import DATA, SHARED, lines_of, metaqa, metaqa_graph, packed, pathquestion

DOMAINS, SPIDER, FACTORY = DATA / "domains" / "dev", SHARED / "spider", SHARED / "factory"
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """A set: its graph files by the names that they shall have, and pools of rows to draw from."""

    files: Mapping[str, Path]
    pools: list[list[Row]]

    def copy_graph(self, folder: Path) -> None:
        """Copy the graph and what is beside it; packed files keep their ending."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, source in self.files.items():
            file = packed(source)
            if file.exists():
                shutil.copyfile(file, folder / (name if file == source else f"{name}.gz"))


def set_named(name: str) -> QuestionSet:
    """The set of a name, as `metaqa`, `pq2H`, `spider_college_1` or a graph of the development domains."""
    if name == "metaqa":
        return QuestionSet({"graph.txt.gz": metaqa_graph()}, [_of_hop(h) for h in (1, 2, 3)])
    if name.startswith("pq"):
        hops = int(name[2])
        rows = [
            {"question": i.question, "gold": sorted(i.gold), "kind": f"{hops}H"} for i in pathquestion(hops)
        ]
        return QuestionSet({"graph.txt": SHARED / "pathquestion" / f"{hops}H-kb.txt"}, [rows])
    if name.startswith("spider_"):
        folder = SPIDER / name.removeprefix("spider_")
        files = {"graph.tsv": folder / "kg.tsv", "graph.types.tsv": folder / "types.tsv"}
        return QuestionSet(files, [_question_rows(folder / "questions.jsonl")])
    if name in ("factory", "factory_claims"):
        files = {"graph.tsv": "kg.tsv", "graph.types.tsv": "types.tsv", "graph.aliases.tsv": "aliases.tsv"}
        rows = _question_rows(FACTORY / "questions.jsonl") if name == "factory" else _claim_rows()
        return QuestionSet({name: FACTORY / file for name, file in files.items()}, [rows])
    graph = next(p for p in (DOMAINS / f"{name}.tsv", DOMAINS / f"{name}.ttl") if p.exists())
    files = {f"graph{graph.suffix}": graph, "graph.types.tsv": DOMAINS / f"{name}.types.tsv"}
    rows = rows_of(DOMAINS / f"{name}_questions.jsonl")
    return QuestionSet(
        files, [[{"id": r["id"], "question": r["question"], "gold": r.get("gold", [])} for r in rows]]
    )


def rows_of(path: Path) -> list[Row]:
    """The rows of a JSONL file, which may be packed."""
    return list(map(json.loads, lines_of(path)))


def _of_hop(hops: int) -> list[Row]:
    return [{"question": i.question, "gold": sorted(i.gold), "kind": f"{hops}-hop"} for i in metaqa(hops)]


def _question_rows(path: Path) -> list[Row]:
    return [
        {"id": r["id"], "question": r["question"], "gold": [str(a) for a in r["answers"]], "kind": r["kind"]}
        for r in rows_of(path)
    ]


def _claim_rows() -> list[Row]:
    return [
        {"id": r["id"], "question": r["claim"], "verdict": r["label"], "kind": r["style"]}
        for r in rows_of(FACTORY / "claims.jsonl")
        if r["label"] in ("supported", "refuted")
    ]

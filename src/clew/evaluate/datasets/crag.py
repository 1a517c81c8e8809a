"""CRAG (Yang et al., NeurIPS 2024): questions of five domains, and its mock KG as triples.

Questions are JSON lines (`crag_task_1_and_2_dev_v*.jsonl.bz2`, or any `*questions*.jsonl`) with `query`,
`answer`, `alt_ans`. A question with a false premise has no gold: the right thing is not to answer it. Split
1 is the public test set, 0 validation. The mock KG is `cragkg/`; see `crag_graph.py`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

from clew.evaluate.datasets.base import DatasetAbout, find_file, find_optional, unique
from clew.evaluate.datasets.crag_graph import graph_triples, left_out
from clew.evaluate.datasets.files import Fields, json_lines, write_triples
from clew.evaluate.questions import DatasetPart, EvalQuestion, GoldAnswer, GraphSource

_QUESTIONS = ["crag_task_1*.jsonl", "crag_*.jsonl", "*questions*.jsonl", "dev_data.jsonl"]
_SPLITS = {"test": "1", "dev": "0"}
_FALSE = ("invalid question", "false_premise")
_KG = ("cragkg", "mock_api/cragkg")


class Crag:
    """One part, `all`; or a domain: `finance`, `music`, `movie`, `sports`, `open`."""

    splits = ("test", "dev")
    about = DatasetAbout(
        name="crag",
        title="CRAG: questions of five domains with a mock KG",
        source="https://github.com/facebookresearch/CRAG",
        licence="CC BY-NC 4.0",
        files="crag_task_1_and_2_dev_v4.jsonl.bz2, cragkg/ or mock_api/cragkg/ (all five domains)",
        cite="Yang et al.: CRAG - Comprehensive RAG Benchmark, NeurIPS 2024",
    )

    def parts(self, folder: Path) -> tuple[str, ...]:
        """Name the one part, if questions are there."""
        return ("all",) if find_optional(folder, _QUESTIONS) is not None else ()

    def read(self, folder: Path, part: str, split: str | None) -> DatasetPart:
        """Read the questions of a split, of all domains or one; raises as `DatasetReader.read`."""
        file = find_file(folder, _QUESTIONS, "file of questions")
        wanted = _SPLITS[split or "test"]
        rows = [Fields(value, file, number) for number, value in json_lines(file)]
        questions = [
            _question(fields)
            for fields in rows
            if fields.text_or("split", wanted) == wanted and part in ("all", fields.text_or("domain"))
        ]
        graph = next((folder / name for name in _KG if (folder / name).is_dir()), None)
        name, asked = f"crag/{part}/{split or 'test'}", unique(questions, file)
        if graph is None:
            return DatasetPart(name, asked, (file,))
        source = GraphSource(make=lambda path: write_triples(graph_triples(graph), path))
        return DatasetPart(name, asked, (file,), source, notes=left_out(graph))


def _question(fields: Fields) -> EvalQuestion:
    answer, kind = fields.text("answer"), fields.text_or("question_type")
    false = kind == "false_premise" or answer.strip().lower() in _FALSE
    return EvalQuestion(
        id=fields.text("interaction_id"),
        text=fields.text("query"),
        gold=() if false else (GoldAnswer(answer, _alternatives(fields)),),
        kind=kind,
        line=fields.line,
    )


def _alternatives(fields: Fields) -> tuple[str, ...]:
    """Read `alt_ans`, a list, or `alternative_answers`, a list or the text of one."""
    given = fields.get("alt_ans") or fields.get("alternative_answers") or []
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except json.JSONDecodeError as error:
            raise fields.error("field 'alternative_answers' is not a list") from error
    if not isinstance(given, list):
        raise fields.error("field 'alt_ans' is not a list")
    return tuple(str(answer) for answer in cast("list[object]", given))

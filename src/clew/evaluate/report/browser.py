"""The questions that a report shows one by one: all of a small run, else wrong ones and a sample."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

from clew.evaluate.metrics.outcome import built_in
from clew.evaluate.names import name_form
from clew.evaluate.records import Record, ScoredRow
from clew.evaluate.report.summary import LoadedRun

MOST_OF_CELL, MOST_OF_ALL, LEAST_OF_CELL = 150, 1500, 20
"""Questions of each cell, and about so many of all: a page of a few megabytes."""
MOST_NAMES_OF_QUESTION = 60
MOST_CITATIONS = 6
MOST_STEP = 3000


def most_of_a_cell(cells: int) -> int:
    """Choose how many questions of each cell are shown."""
    return min(MOST_OF_CELL, max(LEAST_OF_CELL, MOST_OF_ALL // max(1, cells)))


def selection_note(runs: Sequence[LoadedRun], most: int) -> str:
    """Say what is shown, where it is not everything."""
    if all(len(cell.rows) <= most for run in runs for cell in run.cells):
        return ""
    return (
        f"At most {most} questions of each part and method, half of them wrong ones where there are so many;"
        " records.jsonl in the run's directory has all."
    )


def choose_rows(rows: Sequence[ScoredRow], most: int = MOST_OF_CELL) -> list[ScoredRow]:
    """Choose the rows to show: half of them wrong ones where there are so many, the others evenly spaced."""
    if len(rows) <= most:
        return list(rows)
    score_names = ("hits_at_1", "exact_set")
    wrong_rows = [r for r in rows if r.failed or any(r.scores.get(score) == 0.0 for score in score_names)]
    wrong_rows += [r for r in rows if r.verdict is not None and r.stated_verdict != r.verdict]
    picked_rows = _pick_spaced(wrong_rows, most // 2)
    picked_ids = {id(row) for row in picked_rows}
    unpicked = [r for r in rows if id(r) not in picked_ids]
    shown_ids = {id(row) for row in (*picked_rows, *_pick_spaced(unpicked, most - len(picked_rows)))}
    return [row for row in rows if id(row) in shown_ids]


def _pick_spaced(rows: Sequence[ScoredRow], count: int) -> list[ScoredRow]:
    if len(rows) <= count:
        return list(rows)
    return [rows[at * len(rows) // count] for at in range(count)]


def entries(run: LoadedRun, name: str, most: int = MOST_OF_CELL) -> list[dict[str, Any]]:
    """Read the records of the chosen rows, at most so many of each cell."""
    return [
        _entry(run.directory.record_at(row.offset), row, name)
        for cell in run.cells
        for row in choose_rows(cell.rows, most)
    ]


def _entry(record: Record, row: ScoredRow, run: str) -> dict[str, Any]:
    answer, question, failure = record.answer or {}, record.question, record.failure
    names = [names[0] for names in record.answers]
    gold = [" = ".join(a.names) for a in question.gold] if question.verdict is None else [question.verdict]
    forms = frozenset[str]().union(*record.gold_forms)
    right = [any(name_form(name) in forms for name in pair) for pair in record.answers]
    return {
        "run": run,
        "part": record.key.part,
        "method": record.key.method,
        "id": record.key.id,
        "q": question.text,
        "kind": question.kind,
        "state": _state(record, row),
        "gold": _cut(gold),
        "query": (question.query or "")[:MOST_STEP],
        "answers": _cut(names),
        "right": right[:MOST_NAMES_OF_QUESTION],
        "text": record.text[:2000] if not names else "",
        "abstained": answer.get("abstained"),
        "failure": None if failure is None else f"{failure.type}: {failure.message}"[:1000],
        "citations": [[c.answer, [list(t) for t in c.triples]] for c in record.citations[:MOST_CITATIONS]],
        "more": max(0, len(record.citations) - MOST_CITATIONS),
        "pattern": None if answer.get("pattern") is None else answer["pattern"]["triples"],
        "error": row.error_step,
        "ms": {stage: round(ms, 2) for stage, ms in row.timings.items()},
        "scores": {m: round(v, 3) for m, v in row.scores.items() if v is not None},
        "judged": dict(record.judgements),
        "steps": [_step(step) for step in cast("list[dict[str, Any]]", answer.get("steps", []))],
    }


def _state(record: Record, row: ScoredRow) -> str:
    if record.failure is not None:
        return "failed"
    if record.abstained is not None:
        return "abstained"
    if record.question.verdict is not None:
        return "right" if row.stated_verdict == row.verdict else "wrong"
    judged = built_in(record)
    if judged is None:
        return "unscored"
    return "right" if judged == "accurate" else "partly" if row.scores.get("hits_at_1") else "wrong"


def _cut(names: list[str]) -> list[str]:
    surplus = len(names) - MOST_NAMES_OF_QUESTION
    return [*names[:MOST_NAMES_OF_QUESTION], f"… and {surplus} more"] if surplus > 0 else names


def _step(step: dict[str, Any]) -> list[str]:
    text = json.dumps(step["detail"], ensure_ascii=False)
    return [str(step["name"]), text if len(text) <= MOST_STEP else f"{text[:MOST_STEP]} …"]

"""One page of figures that needs nothing else (`clew eval RUN --report FILE`), and files of its items."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from jinja2 import Environment, StrictUndefined

from clew.errors import InputError, UsageError
from clew.evaluate.metrics import built_in
from clew.evaluate.records import Record, ScoredRow, name_form
from clew.evaluate.report.summary import LoadedRun, load
from clew.evaluate.report.views import (
    Chart,
    ChartTable,
    error_table,
    group_table,
    inline_svg,
    metric_table,
    overview,
    paper_view,
    problem_table,
    risk_charts,
)
from clew.evaluate.run.plans import read_experiment
from clew.evaluate.run.rundir import EXPERIMENT, RunDirectory
from clew.evaluate.run.runner import RunProgress
from clew.foundation.forms import shorten
from clew.text.normalise import counted

MOST_NAMES_OF_QUESTION = 60
MOST_CITATIONS = 6
MOST_STEP = 3000


def choose_rows(rows: Sequence[ScoredRow], most: int) -> list[ScoredRow]:
    """Choose the rows to show: half of them wrong ones where there are so many, the others evenly spaced."""
    if len(rows) <= most:
        return list(rows)
    score_names = ("hits_at_1", "exact_set")
    wrong_rows = [r for r in rows if r.failed or any(r.scores.get(score) == 0.0 for score in score_names)]
    wrong_rows += [r for r in rows if r.verdict is not None and r.stated_verdict != r.verdict]
    shown: set[int] = set()
    for some, count in ((wrong_rows, most // 2), (rows, most)):
        left = [row.offset for row in some if row.offset not in shown]
        count = min(count - len(shown), len(left))
        shown |= {left[at * len(left) // count] for at in range(count)}
    return [row for row in rows if row.offset in shown]


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
        "citations": record.citations[:MOST_CITATIONS],
        "more": max(0, len(record.citations) - MOST_CITATIONS),
        "pattern": None if answer.get("pattern") is None else answer["pattern"]["triples"],
        "error": row.error_step,
        "ms": {stage: round(ms, 2) for stage, ms in row.timings.items()},
        "scores": {m: round(v, 3) for m, v in row.scores.items() if v is not None},
        "judged": dict(record.judgements),
        "steps": [
            [str(step["name"]), shorten(json.dumps(step["detail"], ensure_ascii=False), MOST_STEP)]
            for step in cast("list[dict[str, Any]]", answer.get("steps", []))
        ],
    }


def _state(record: Record, row: ScoredRow) -> str:
    if record.failure is not None:
        return "failed"
    if record.abstained is not None:
        return "abstained"
    if record.question.verdict is not None:
        return "right" if row.stated_verdict == row.verdict else "wrong"
    is_right = built_in(record) == "accurate"
    return "right" if is_right else "partly" if row.scores.get("hits_at_1") else "wrong"


def _cut(names: list[str]) -> list[str]:
    surplus = len(names) - MOST_NAMES_OF_QUESTION
    return [*names[:MOST_NAMES_OF_QUESTION], f"… and {surplus} more"] if surplus > 0 else names


_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True)
class Section:
    """A part of the page with a heading of its own."""

    id: str
    title: str
    items: Sequence[ChartTable | Chart]


def page(
    title: str, intro: str, sections: Sequence[Section], questions: Sequence[dict[str, Any]], note: str = ""
) -> str:
    """Write the page; `questions` are the entries of the browser, `note` says what they are."""
    # What is filled in is text, never markup, but for the page's own files and drawings.
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False}
    return environment.from_string(_asset("page.html")).render(
        title=title,
        intro=intro,
        sections=sections,
        questions=questions,
        told=note,
        rules=_asset("style.css"),
        script=_asset("browser.js"),
        svg=inline_svg if can_draw() else None,
    )


def can_draw() -> bool:
    """Whether the extra `report` is installed; without it the page has tables, and charts are CSV files."""
    return find_spec("matplotlib") is not None


def _asset(name: str) -> str:
    return (files("clew.evaluate.report") / name).read_text("utf-8")


def build_report(
    paths: Sequence[Path],
    out: Path,
    *,
    progress: RunProgress = lambda what, done, total: None,
) -> Path:
    """Write `out` (HTML) and, beside it, a folder of CSV files, which is returned. InputError, UsageError."""
    runs = [
        load(RunDirectory(path), partial(progress, "reading"))
        for path in dict.fromkeys(path.resolve() for path in paths)
    ]
    for run in runs:
        if not run.cells:
            raise UsageError(f"{run.directory.path}: has no records yet. Run clew eval first")
    sections = [section for run in runs for section in _sections(run, several=len(runs) > 1)]
    sections.append(Section("metrics", "Metrics", [metric_table()]))
    names = ", ".join(run.directory.path.name for run in runs)
    cells = sum(len(run.cells) for run in runs)
    most = min(150, max(20, 1_500 // cells))  # of each cell: a page of a few megabytes
    questions = [
        _entry(run.directory.record_at(row.offset), row, run.directory.path.name)
        for run in runs
        for cell in run.cells
        for row in choose_rows(cell.rows, most)
    ]
    note = (
        f"At most {most} questions of each part and method, half of them wrong ones where there are so many;"
        " records.jsonl in the run's directory has all."
    )
    is_cut = any(len(cell.rows) > most for run in runs for cell in run.cells)
    text = page(f"Clew evaluation: {names}", _intro(runs), sections, questions, note if is_cut else "")
    folder = out.with_suffix("")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text, "utf-8", errors="replace")
        folder.mkdir(exist_ok=True)
        items = [(section, item) for section in sections for item in section.items]
        for at, (section, item) in enumerate(items, 1):
            path = folder / f"{_slug(section.id)}-{_slug(item.name)}.csv"
            with path.open("w", encoding="utf-8", errors="replace", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(item.csv())
            progress("writing", at, len(items))
    except OSError as error:
        raise InputError(f"{out}: cannot be written ({error.strerror}). Give another -o") from error
    return folder


def _intro(runs: Sequence[LoadedRun]) -> str:
    lines: list[str] = []
    for run in runs:
        about, name = run.config["run"], run.directory.path.name
        limit = about.get("limit")
        questions_text = f"{counted(limit, 'question')} of each part" if limit else "all questions"
        seeds = ", ".join(map(str, about["seeds"]))
        entities_text = "entities given" if about["given_entities"] else "entities not given"
        model = f"model {about['llm']}" if about.get("llm") else "no model"
        lines.append(
            f"{name}: {questions_text} (seed {seeds}), {model}, {entities_text}, Clew {run.config['clew']}"
        )
    return "; ".join(lines)


def _sections(run: LoadedRun, *, several: bool) -> list[Section]:
    name = run.directory.path.name
    mark = f" ({name})" if several else ""
    id = f"{_slug(name)}-" if several else ""
    sections: list[Section] = []
    experiment = run.directory.path / EXPERIMENT
    if experiment.exists():
        plan = read_experiment(experiment)
        title = "Beside the paper" if plan.has_paper else "Experiment"
        sections.append(Section(f"{id}paper", f"{title}{mark}", paper_view(run, plan)))
    sections.append(Section(f"{id}figures", f"Figures{mark}", overview(run)))
    sections.append(Section(f"{id}charts", f"Charts{mark}", risk_charts(run)))
    groups = group_table(run, "kind"), group_table(run, "shape")
    tables = error_table(run), *groups, problem_table(run)
    detail_tables = [table for table in tables if table is not None]
    sections.append(Section(f"{id}more", f"In detail{mark}", detail_tables))
    return sections


def _slug(text: str) -> str:
    return _UNFIT.sub("-", text).strip("-").lower()

"""From runs to tables and charts: those that every report has, and those that a paper prints."""

from __future__ import annotations

import math
import os
import re
import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from operator import attrgetter
from typing import Any, Literal

from clew.evaluate.metrics import METRICS, ROAD_STEPS, risk_coverage
from clew.evaluate.records import ScoredRow
from clew.evaluate.report.summary import NO_FIGURE, LoadedRun, SummaryCell, figure_of, value_text
from clew.evaluate.run.plans import Experiment, RowSpec, TableColumn
from clew.evaluate.run.runner import PROBLEMS
from clew.foundation.system import require
from clew.opening.environment import cache_folder


@dataclass(frozen=True)
class Chart:
    """Curves: each the name of a series and its points (x, y)."""

    name: str
    title: str
    x_title: str
    y_title: str
    series: tuple[tuple[str, tuple[tuple[float, float], ...]], ...]
    note: str = ""

    def csv(self) -> list[list[object]]:
        """Header and rows."""
        rows: list[list[object]] = [["series", "x", "y"]]
        return rows + [[name, x, y] for name, points in self.series for x, y in points]


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell: its text, a second line in small print, whether it is the best, or from a paper."""

    text: str
    small: str = ""
    best: bool = False
    paper: bool = False


TableRow = tuple[TableCell | str, ...]


@dataclass(frozen=True)
class ChartTable:
    """A table with a header; rows begin with names. A row of one cell is a heading over those below it."""

    name: str
    title: str
    header: tuple[str, ...]
    rows: Sequence[TableRow]
    note: str = ""
    names: int = 1

    @cached_property
    def long(self) -> frozenset[int]:
        """Columns of texts (definitions, ids), which are read from the left as names are."""
        cells = (place for row in self.rows if len(row) > 1 for place in enumerate(row))
        long = (at for at, cell in cells if isinstance(cell, str) and len(cell) > 24)
        return frozenset(at for at in long if at >= self.names)

    def csv(self) -> list[list[object]]:
        """Header and rows, with the small print in columns of its own where there is some."""
        return [list(self.header), *([*map(_cell_text, row)] for row in self.rows)]


SERIES_COLOURS = (
    *("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8a7d00"),
    *("#7f7f7f", "#7b3fa0", "#9acd32", "#a0522d", "#5b74d8", "#ff8fab", "#00796b"),
)
"""Colours that people with any colour vision tell apart (Okabe & Ito, then more), on any ground."""
_SOFT = "#7f868d"
_STYLE: dict[str, Any] = {
    **{name: _SOFT for name in ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color")},
    **{"ytick.color": _SOFT, "grid.color": _SOFT, "grid.alpha": 0.25, "axes.grid": True},
    **{"axes.axisbelow": True, "axes.spines.top": False, "axes.spines.right": False, "font.size": 9},
    **{"legend.frameon": False, "lines.linewidth": 1.8, "lines.markersize": 5},
    # Names are text: never formulas, never outlines; equal charts are equal files.
    **{"text.parse_math": False, "svg.fonttype": "none", "svg.hashsalt": "clew"},
}
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def inline_svg(chart: Chart) -> str:
    """Draw a chart with its legend, as SVG for the page. Raises MissingExtra (matplotlib)."""
    # It would keep its list of fonts in the user's home.
    os.environ.setdefault("MPLCONFIGDIR", str(cache_folder() / "matplotlib"))
    matplotlib = require("matplotlib", "report")
    with matplotlib.rc_context(_STYLE):
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7.0, 4.0), layout="constrained")
        axes = figure.add_subplot()
        for at, (name, points) in enumerate(chart.series):
            colour = SERIES_COLOURS[at % len(SERIES_COLOURS)]
            axes.plot(*zip(*points, strict=True), marker=".", color=colour, label=_clean(name))
        axes.set_title(_clean(chart.title))
        axes.set_xlabel(_clean(chart.x_title))
        axes.set_ylabel(_clean(chart.y_title))
        if chart.series:
            figure.legend(loc="outside lower left", ncols=3)
        out = BytesIO()
        figure.savefig(out, format="svg", facecolor="none", metadata={"Date": None})
    text = out.getvalue().decode("utf-8")
    return text[text.index("<svg") :]  # without what only a file needs


def _clean(text: str) -> str:
    """Text that XML can hold."""
    return _NOT_XML.sub("\ufffd", text)


def _cell_text(cell: TableCell | str) -> str:
    if isinstance(cell, str):
        return cell
    return f"{cell.text} ({cell.small})" if cell.small else cell.text


OVERVIEW = {
    "Right, wrong, left open": "accuracy hallucination missing truthfulness judge_accuracy unjudged aurc",
    "Answers": "hits_at_1 exact_match precision recall f1 exact_set bert_score",
    "Claims": "claim_accuracy claim_macro_f1 coverage",
    "Evidence and abstention": "retrieval_hits citation_precision citation_recall sub_questions"
    " abstention_precision abstention_recall coverage",
    "Cost and time": "failures calls tokens cost p50_ms p95_ms mean_ms",
}


def overview(run: LoadedRun) -> list[ChartTable]:
    """Tabulate all metrics: a table for each group of metrics, a row for each part and method."""
    tables: list[ChartTable] = []
    for title, metrics in OVERVIEW.items():
        claims = title == "Claims"
        has_all_cells = title == "Cost and time"
        cells = [c for c in run.cells if has_all_cells or claims == ("claim_accuracy" in c.figures)]
        shown_metrics = [m for m in metrics.split() if any(m in cell.figures for cell in cells)]
        if not shown_metrics:
            continue
        rows: list[TableRow] = []
        for cell in cells:
            rivals = [c for c in cells if c.part == cell.part]
            values = (_cell(cell, m, rivals) for m in shown_metrics)
            rows.append((cell.part, cell.method, f"{len(cell.rows):,}", *values))
        header = (
            "part",
            "method",
            "n",
            *(METRICS[m].title + _ARROWS[METRICS[m].better] for m in shown_metrics),
        )
        tables.append(ChartTable(title, title, header, rows, _NOTES.get(title, _SHARES), names=2))
    return tables


_SHARES = "Shares in %, with 95 % bootstrap intervals; bold: the best method of the part."
_ARROWS = {"higher": " ↑", "lower": " ↓", "neither": ""}
_NOTES = {"Cost and time": "Calls and tokens are means over questions; times are of the method alone."}


def _cell(cell: SummaryCell, metric: str, cells: Sequence[SummaryCell]) -> TableCell:
    figure = cell.figures.get(metric)
    if figure is None:
        return TableCell(NO_FIGURE)
    metric_info = METRICS[metric]
    low_high = ""
    if figure.interval is not None and metric_info.unit == "share":
        low_high = "–".join(f"{100 * bound:.1f}" for bound in figure.interval)
    seeds = cell.over_seeds(metric)
    if seeds is not None and metric_info.unit == "share":
        low_high = f"{100 * seeds[0]:.1f} ± {100 * seeds[1]:.1f} of {len(cell.by_seed)} samples"
    values = [c.figures[metric].value for c in cells if metric in c.figures]
    best = max(values) if metric_info.better == "higher" else min(values)
    is_best = len(set(values)) > 1 and metric_info.better != "neither" and figure.value == best
    return TableCell(value_text(figure.value, metric_info.unit), low_high, best=is_best)


def risk_charts(run: LoadedRun) -> list[Chart]:
    """Draw risk against coverage, a chart for each part."""
    note = (
        "Answers are given in order of the method's confidence (score of its best answer); risk is the share"
        " of answers given that are not accurate. A method whose scores are all equal has one point."
    )
    charts: list[Chart] = []
    for part in run.parts:
        curves = [(c.method, risk_coverage(c.rows)) for c in run.cells if c.part == part]
        series = tuple(
            (name, tuple((100 * coverage, 100 * risk) for coverage, risk in curve))
            for name, curve in curves
            if curve
        )
        if series:
            name, title = f"risk-{part.replace('/', '-')}", f"Risk and coverage, {part}"
            charts.append(Chart(name, title, "coverage (%)", "risk (%)", series, note))
    return charts


def error_table(run: LoadedRun) -> ChartTable | None:
    """Tabulate errors by step (SimGRAG, table 4)."""
    rows: list[TableRow] = []
    for cell in run.cells:
        counts = Counter(r.error_step for r in cell.rows if r.error_step is not None)
        total = counts.total()
        if not any(r.scores["citation_recall"] is not None for r in cell.rows):
            continue
        steps = [
            TableCell(f"{100 * counts[s] / total:.0f} %", f"{counts[s]:,}") if total else TableCell(NO_FIGURE)
            for s in ROAD_STEPS
        ]
        rows.append((cell.part, cell.method, f"{total:,}", *steps))
    if not rows:
        return None
    note = (
        "Questions with gold paths and Hits@1 = 0, sorted by rule (SimGRAG sorts by hand): pattern, if the"
        " pattern is not that of the gold paths or there is none; retrieval, if no gold answer is in the"
        " evidence shown; reading otherwise."
    )
    header = ("part", "method", "wrong", *ROAD_STEPS)
    return ChartTable("errors", "Errors by step", header, rows, note, names=2)


def group_table(run: LoadedRun, grouping: Literal["kind", "shape"]) -> ChartTable | None:
    """Tabulate Hits@1 by the kind of question or the shape of gold paths, for those with most questions."""
    group_of: Callable[[ScoredRow], str] = attrgetter(grouping)
    counts = Counter((r.key.part, group_of(r)) for cell in run.cells for r in cell.rows if group_of(r))
    if not counts:
        return None
    shown_groups = [key for key, _ in counts.most_common(40)]
    order = [key for part in run.parts for key in shown_groups if key[0] == part]
    rows: list[TableRow] = []
    for part, group in order:
        line: list[TableCell | str] = [part, group]
        for method in run.methods:
            cell = run.cell(part, method)
            group_rows = [] if cell is None else [r for r in cell.rows if group_of(r) == group]
            figure = figure_of(group_rows, "hits_at_1")
            text, small = (f"{100 * figure.value:.1f}", f"n {figure.n:,}") if figure else (NO_FIGURE, "")
            line.append(TableCell(text, small))
        rows.append(tuple(line))
    omitted = len(counts) - len(shown_groups)
    note = (
        f"The {len(shown_groups)} {grouping}s with most questions; {omitted} more are left out."
        if omitted
        else ""
    )
    title = f"Hits@1 by {grouping} of question"
    return ChartTable(f"{grouping}s", title, ("part", grouping, *run.methods), rows, note, names=2)


def problem_table(run: LoadedRun) -> ChartTable | None:
    """Tabulate what is odd about the questions."""
    rows: list[TableRow] = []
    for part, facts in run.facts["parts"].items():
        for kind, count in facts["problems"].items():
            ids = facts["problem_ids"][kind]
            ids_text = ", ".join(ids[:8]) + (" …" if len(ids) > 8 else "")
            rows.append((part, PROBLEMS[kind], f"{count:,}", ids_text))
        rows += [(part, note, NO_FIGURE, NO_FIGURE) for note in facts["notes"]]
    header = ("part", "questions", "n", "ids")
    return ChartTable("data", "Notes on the data", header, rows, names=2) if rows else None


def metric_table() -> ChartTable:
    """Tabulate the definition, source, range and direction of every metric."""
    rows: list[TableRow] = []
    for metric in METRICS.values():
        span = f"{metric.low:g} … {metric.high:g}".replace("inf", "∞")
        rows.append((metric.title, metric.definition, metric.source, span, metric.better))
    header = ("metric", "definition", "source", "range", "better")
    return ChartTable("metrics", "Metrics", header, rows)


FigureOf = Callable[[TableColumn, RowSpec], float | str | None]
"""Our figure of a column and row, or its text; None where it was not run."""


def paper_view(run: LoadedRun, experiment: Experiment) -> list[ChartTable]:
    """Lay out the paper's table, or its figure as one, each column with the decimals that it prints."""
    paper = _Paper(run, experiment)
    if experiment.view == "errors":
        return [paper.table_of(paper.error_share, ["{:,g}".format] * len(experiment.columns))]
    writers: list[Callable[[float], str]] = []
    for values in zip(*(row.paper for row in experiment.rows), strict=True):
        printed = [f"{value:g}".partition(".")[2] for value in values if not math.isnan(value)]
        writers.append(f"{{:.{max([1, *map(len, printed)])}f}}".format)
    return [paper.table_of(paper.value, writers)]


@dataclass(frozen=True)
class _Paper:
    """An experiment beside a run of it."""

    run: LoadedRun
    experiment: Experiment

    def cells(self, column: TableColumn, row: RowSpec) -> list[SummaryCell]:
        """Find our cells of a row and column, whatever their split; none if one of its parts was not run."""
        method = row.choose_method(with_model=self.run.config["run"].get("llm") is not None)
        if method is None:
            return []
        names = [self.part(column, part) for part in column.parts]
        cells = [None if name is None else self.run.cell(name, method.label) for name in names]
        present_cells = [cell for cell in cells if cell is not None]
        return present_cells if len(present_cells) == len(cells) else []

    def part(self, column: TableColumn, part: str) -> str | None:
        """Find the part of the run that is meant; a data set with one part is meant whatever its name."""
        of_set = [name for name in self.run.parts if name.split("/")[0] == column.dataset]
        exact = [name for name in of_set if f"{name}/".startswith(f"{column.dataset}/{part}/")]
        return next(iter(exact or (of_set if len(of_set) == 1 and part in ("all", "claims") else [])), None)

    def value(self, column: TableColumn, row: RowSpec) -> float | None:
        """Our figure in the paper's unit, the mean over the column's parts; None where it was not run."""
        values = [_value(cell, column) for cell in self.cells(column, row)]
        present_values = [value for value in values if value is not None]
        if not present_values or len(present_values) != len(values):
            return None
        return statistics.mean(present_values) * self.scale(column)

    def scale(self, column: TableColumn) -> float:
        """What turns our value into the paper's unit."""
        if column.scale is not None:
            return column.scale
        share = column.stage is None and METRICS[column.metric].unit == "share"
        return self.experiment.scale if share else 1.0

    def note(self) -> str:
        """Say what is ours, what is the paper's, and what differed."""
        run, experiment = self.run, self.experiment
        model = run.config["run"].get("llm") or "none, built-in forms"
        most = {part: max(len(cell.rows) for cell in run.cells if cell.part == part) for part in run.parts}
        parts = ", ".join(f"{part} ({count:,})" for part, count in most.items())
        ours = f"Ours: model: {model}; questions: {parts}."
        differences = f" The paper: {'; '.join(experiment.differs)}." if experiment.differs else ""
        if not experiment.has_paper:
            return f"{ours} {NO_FIGURE}: not run here.{differences}"
        return f"{ours} Grey: the paper's own figures, where there is none of ours.{differences}"

    def table_of(self, ours: FigureOf, writers: Sequence[Callable[[float], str]]) -> ChartTable:
        """Lay out a table: our figures, the paper's in small print; `writers` has one function a column."""
        columns, rows, group = self.experiment.columns, list[TableRow](), ""
        for row in self.experiment.rows:
            if row.group != group:
                group = row.group
                rows.append((group,))
            line: list[TableCell | str] = [row.name]
            for column, theirs, write in zip(columns, row.paper, writers, strict=True):
                value = ours(column, row)
                printed = "" if math.isnan(theirs) else write(theirs)
                if value is None:
                    line.append(TableCell(printed or NO_FIGURE, paper=True))
                    continue
                small = f"paper {printed}" if printed else ""
                line.append(TableCell(value if isinstance(value, str) else write(value), small))
            rows.append(tuple(line))
        header = ("", *(column.name for column in columns))
        return ChartTable("paper", self.experiment.title, header, rows, self.note())

    def error_share(self, column: TableColumn, row: RowSpec) -> str | None:
        """The share of errors at a step (SimGRAG, table 4): a row for each step, for the one method."""
        cells = self.cells(column, row)
        if not cells:
            return None
        steps = [r.error_step for cell in cells for r in cell.rows if r.error_step is not None]
        step = ROAD_STEPS[self.experiment.rows.index(row)]
        return f"{100 * steps.count(step) / len(steps):.0f}" if steps else "no errors"


def _value(cell: SummaryCell, column: TableColumn) -> float | None:
    rows = cell.rows if column.kind is None else [r for r in cell.rows if r.kind == column.kind]
    if column.stage is not None:
        times = [r.timings[column.stage] for r in rows if column.stage in r.timings]
        return statistics.mean(times) if times else None
    seeds = cell.over_seeds(column.metric) if column.kind is None else None
    if seeds is not None:
        return seeds[0]
    figure = cell.figures.get(column.metric) if column.kind is None else figure_of(rows, column.metric)
    return None if figure is None else figure.value

"""Tables and figures as a paper prints them, its figures beside ours."""

from __future__ import annotations

import math
from collections.abc import Sequence

from clew.evaluate.errors_by_step import STEPS
from clew.evaluate.experiments import Column, Experiment, RowSpec
from clew.evaluate.metrics.registry import about
from clew.evaluate.report.charts import Bar, BarChart, Chart, Point, PointChart, Table, TableCell
from clew.evaluate.report.form import NOTHING
from clew.evaluate.summary import Cell, LoadedRun

PAPER = "paper: "


def cell_of(run: LoadedRun, column: Column, row: RowSpec) -> Cell | None:
    """Find our cell of a row and column: the part of that data set, whatever its split."""
    if row.method is None:
        return None
    start = f"{column.dataset}/{column.part}"
    part = next((p for p in run.parts if p == start or p.startswith(f"{start}/")), None)
    if part is None and column.part in ("all", "claims"):
        part = next((p for p in run.parts if p.startswith(f"{column.dataset}/")), None)
    return None if part is None else run.cell(part, row.method.label)


def our_value(run: LoadedRun, experiment: Experiment, column: Column, row: RowSpec) -> float | None:
    """Our figure in the paper's scale; None where it was not run."""
    cell = cell_of(run, column, row)
    if cell is None:
        return None
    seeds = cell.over_seeds(column.metric)
    figure = cell.figures.get(column.metric)
    value = seeds[0] if seeds is not None else None if figure is None else figure.value
    if value is None:
        return None
    return value * (experiment.scale if about(column.metric).unit == "share" else 1.0)


def paper_table(run: LoadedRun, experiment: Experiment, name: str) -> Table:
    """Lay out the paper's table: each cell has our figure, and the paper's in small print."""
    rows: list[tuple[TableCell | str, ...]] = []
    group = ""
    for row in experiment.rows:
        if row.group != group:
            group = row.group
            rows.append((group,))
        line: list[TableCell | str] = [row.name]
        for at, column in enumerate(experiment.columns):
            ours, theirs = our_value(run, experiment, column, row), row.paper[at]
            printed = NOTHING if math.isnan(theirs) else f"{theirs:g}"
            small = "" if printed == NOTHING else f"paper {printed}"
            line.append(TableCell(printed, paper=True) if ours is None else TableCell(f"{ours:.4g}", small))
        rows.append(tuple(line))
    header = ("", *(column.name for column in experiment.columns))
    return Table(name, experiment.title, header, tuple(rows), _note(run, experiment))


def _note(run: LoadedRun, experiment: Experiment) -> str:
    """Say what is ours, what is the paper's, and what differed."""
    model = run.config["run"].get("llm") or "none, built-in forms"
    parts = ", ".join(f"{part} ({len(_largest(run, part)):,})" for part in run.parts)
    told = "; ".join(experiment.differs)
    return (
        f"Upright: ours (model: {model}; questions: {parts}). Grey: the paper's own figures; a row that is grey"
        f" throughout was not run here.{f' The paper: {told}.' if told else ''}"
    )


def _largest(run: LoadedRun, part: str) -> Sequence[object]:
    return max((cell.rows for cell in run.cells if cell.part == part), key=len, default=())


def paper_bars(run: LoadedRun, experiment: Experiment, name: str) -> BarChart:
    """Draw the paper's bars, ours full and the paper's hollow."""
    series: list[str] = []
    bars: list[tuple[Bar | None, ...]] = []
    for row in experiment.rows:
        if row.method is not None:
            series.append(row.name)
            bars.append(tuple(_our_bar(run, experiment, column, row) for column in experiment.columns))
        if not all(map(math.isnan, row.paper)):
            series.append(PAPER + row.name)
            bars.append(tuple(None if math.isnan(v) else Bar(v) for v in row.paper))
    titles = tuple(column.name for column in experiment.columns)
    hollow = frozenset(s for s in series if s.startswith(PAPER))
    metric = about(experiment.columns[0].metric).title
    note = _note(run, experiment)
    return BarChart(name, experiment.title, metric, titles, tuple(series), tuple(bars), note, hollow)


def _our_bar(run: LoadedRun, experiment: Experiment, column: Column, row: RowSpec) -> Bar | None:
    value, cell = our_value(run, experiment, column, row), cell_of(run, column, row)
    if value is None or cell is None:
        return None
    scale = experiment.scale
    seeds = cell.over_seeds(column.metric)
    if seeds is not None:
        return Bar(value, value - scale * seeds[1], value + scale * seeds[1])
    interval = cell.figures[column.metric].interval
    return Bar(value) if interval is None else Bar(value, scale * interval.low, scale * interval.high)


def paper_lines(run: LoadedRun, experiment: Experiment, name: str) -> PointChart:
    """Draw curves over the rows' `x`: one for each series and column; the paper's are hollow."""
    ours: dict[str, list[Point]] = {}
    for row in experiment.rows:
        for at, column in enumerate(experiment.columns):
            title = f"{row.series or row.name}, {column.name}"
            value = our_value(run, experiment, column, row)
            if row.x is not None and value is not None:
                ours.setdefault(title, []).append(Point(row.x, value))
            if row.x is not None and not math.isnan(row.paper[at]):
                ours.setdefault(PAPER + title, []).append(Point(row.x, row.paper[at]))
    series = tuple((title, tuple(points)) for title, points in ours.items())
    hollow = frozenset(title for title, _ in series if title.startswith(PAPER))
    metric = about(experiment.columns[0].metric).title
    note = _note(run, experiment)
    return PointChart(
        name, experiment.title, experiment.x_title, metric, series, lines=True, note=note, hollow=hollow
    )


def paper_scatter(run: LoadedRun, experiment: Experiment, name: str) -> PointChart:
    """Draw the first column's metric against the second's, for each pair of columns and row."""
    series: list[tuple[str, tuple[Point, ...]]] = []
    pairs = list(zip(experiment.columns[::2], experiment.columns[1::2], strict=False))
    for row in experiment.rows:
        points: list[Point] = []
        for at, (first, second) in enumerate(pairs):
            x, y = our_value(run, experiment, first, row), our_value(run, experiment, second, row)
            if x is not None and y is not None:
                points.append(Point(x, y, first.name))
            theirs = row.paper[2 * at], row.paper[2 * at + 1]
            if not any(map(math.isnan, theirs)):
                series.append((f"{PAPER}{row.name}", (Point(*theirs, first.name),)))
        if points:
            series.append((row.name, tuple(points)))
    hollow = frozenset(title for title, _ in series if title.startswith(PAPER))
    x_title = experiment.x_title or about(experiment.columns[0].metric).title
    y_title = about(experiment.columns[1].metric).title
    note = _note(run, experiment)
    return PointChart(name, experiment.title, x_title, y_title, tuple(series), note=note, hollow=hollow)


def paper_errors(run: LoadedRun, experiment: Experiment, name: str) -> Table:
    """Lay out the shares of errors by step (SimGRAG, table 4); rows are the steps, for the first method."""
    methods = experiment.methods
    rows: list[tuple[TableCell | str, ...]] = []
    for step, row in zip(STEPS, experiment.rows, strict=False):
        line: list[TableCell | str] = [row.name]
        for at, column in enumerate(experiment.columns):
            probe = RowSpec(row.name, methods[0] if methods else None, row.paper)
            cell = cell_of(run, column, probe)
            steps = [] if cell is None else [r.error_step for r in cell.rows if r.error_step is not None]
            printed = NOTHING if math.isnan(row.paper[at]) else f"{row.paper[at]:g} %"
            if cell is None:
                line.append(TableCell(printed, paper=True))
            else:
                share = f"{100 * steps.count(step) / len(steps):.0f} %" if steps else "no errors"
                line.append(TableCell(share, f"paper {printed}"))
        rows.append(tuple(line))
    header = ("step", *(column.name for column in experiment.columns))
    return Table(name, experiment.title, header, tuple(rows), _note(run, experiment))


def paper_view(run: LoadedRun, experiment: Experiment, name: str) -> list[Table | Chart]:
    """Make what the experiment asks for; figures also come as a table."""
    if experiment.view == "errors":
        return [paper_errors(run, experiment, name)]
    table = paper_table(run, experiment, f"{name}-table" if experiment.view != "table" else name)
    if experiment.view == "bars":
        return [paper_bars(run, experiment, name), table]
    if experiment.view == "lines":
        return [paper_lines(run, experiment, name), table]
    if experiment.view == "scatter":
        return [paper_scatter(run, experiment, name), table]
    return [table]

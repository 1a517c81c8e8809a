"""Tables and figures as a paper prints them, its figures beside ours."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace

from clew.evaluate.metrics.errors_by_step import ROAD_STEPS
from clew.evaluate.metrics.registry import METRICS
from clew.evaluate.report.charts import (
    BarChart,
    Chart,
    ChartBar,
    ChartTable,
    Point,
    PointChart,
    TableCell,
    TableRow,
)
from clew.evaluate.report.scoring import NO_FIGURE, figure_of
from clew.evaluate.report.summary import LoadedRun, SummaryCell
from clew.evaluate.run.experiments import Experiment, RowSpec, TableColumn

PAPER = "paper: "


def cells_of(run: LoadedRun, column: TableColumn, row: RowSpec) -> list[SummaryCell]:
    """Find our cells of a row and column, whatever their split; none if one of its parts was not run."""
    method = row.asked(with_model=run.config["run"].get("llm") is not None)
    if method is None:
        return []
    found: list[SummaryCell] = []
    for part in column.parts:
        name = part_name(run, column.dataset, part)
        cell = None if name is None else run.cell(name, method.label)
        if cell is None:
            return []
        found.append(cell)
    return found


def part_name(run: LoadedRun, dataset: str, part: str) -> str | None:
    """Find the part of a run that a column means; a data set with one part is meant whatever its name."""
    of_set = [name for name in run.parts if name.split("/")[0] == dataset]
    exact = [name for name in of_set if f"{name}/".startswith(f"{dataset}/{part}/")]
    return next(iter(exact or (of_set if len(of_set) == 1 and part in ("all", "claims") else [])), None)


def our_value(run: LoadedRun, experiment: Experiment, column: TableColumn, row: RowSpec) -> float | None:
    """Our figure in the paper's unit, the mean over the column's parts; None where it was not run."""
    values = [_value(cell, column) for cell in cells_of(run, column, row)]
    known = [value for value in values if value is not None]
    if not known or len(known) != len(values):
        return None
    return statistics.mean(known) * _scale(experiment, column)


def _value(cell: SummaryCell, column: TableColumn) -> float | None:
    rows = cell.rows if column.kind is None else [r for r in cell.rows if r.kind == column.kind]
    if column.stage is not None:
        times = [r.timings[column.stage] for r in rows if column.stage in r.timings]
        return statistics.mean(times) if times else None
    if column.kind is not None:
        figure = figure_of(rows, column.metric)
        return None if figure is None else figure.value
    seeds = cell.over_seeds(column.metric)
    figure = cell.figures.get(column.metric)
    return seeds[0] if seeds is not None else None if figure is None else figure.value


def _scale(experiment: Experiment, column: TableColumn) -> float:
    if column.scale is not None:
        return column.scale
    share = column.stage is None and METRICS[column.metric].unit == "share"
    return experiment.scale if share else 1.0


def paper_table(run: LoadedRun, experiment: Experiment, name: str) -> ChartTable:
    """Lay out the paper's table: each cell has our figure, and the paper's in small print."""
    rows: list[TableRow] = []
    group = ""
    for row in experiment.rows:
        if row.group != group:
            group = row.group
            rows.append((group,))
        line: list[TableCell | str] = [row.name]
        for at, column in enumerate(experiment.columns):
            ours, theirs = our_value(run, experiment, column, row), row.paper[at]
            digits = _decimals([other.paper[at] for other in experiment.rows])
            printed = NO_FIGURE if math.isnan(theirs) else f"{theirs:.{digits}f}"
            small = "" if printed == NO_FIGURE else f"paper {printed}"
            line.append(
                TableCell(printed, paper=True) if ours is None else TableCell(f"{ours:.{digits}f}", small)
            )
        rows.append(tuple(line))
    header = ("", *(column.name for column in experiment.columns))
    return ChartTable(name, experiment.title, header, tuple(rows), _note(run, experiment))


def _decimals(values: Sequence[float]) -> int:
    """Count the decimals that the paper prints in a column; at least 1."""
    printed = [f"{value:g}" for value in values if not math.isnan(value)]
    return max([1, *(len(text.partition(".")[2]) for text in printed)])


def _note(run: LoadedRun, experiment: Experiment) -> str:
    """Say what is ours, what is the paper's, and what differed."""
    model = run.config["run"].get("llm") or "none, built-in forms"
    parts = ", ".join(f"{part} ({len(_largest(run, part)):,})" for part in run.parts)
    ours = f"Ours: model: {model}; questions: {parts}."
    told = f" The paper: {'; '.join(experiment.differs)}." if experiment.differs else ""
    if not experiment.has_paper:
        return f"{ours} {NO_FIGURE}: not run here.{told}"
    return f"{ours} Grey: the paper's own figures, where there is none of ours.{told}"


def _largest(run: LoadedRun, part: str) -> Sequence[object]:
    return max((cell.rows for cell in run.cells if cell.part == part), key=len, default=())


def paper_bars(run: LoadedRun, experiment: Experiment, name: str) -> BarChart:
    """Draw the paper's bars, ours full and the paper's hollow."""
    series: list[str] = []
    bars: list[tuple[ChartBar | None, ...]] = []
    for row in experiment.rows:
        ours = tuple(_our_bar(run, experiment, column, row) for column in experiment.columns)
        if any(bar is not None for bar in ours):
            series.append(row.name)
            bars.append(ours)
        if not all(map(math.isnan, row.paper)):
            series.append(PAPER + row.name)
            bars.append(tuple(None if math.isnan(v) else ChartBar(v) for v in row.paper))
    titles = tuple(column.name for column in experiment.columns)
    hollow = frozenset(s for s in series if s.startswith(PAPER))
    metric = METRICS[experiment.columns[0].metric].title
    note = _note(run, experiment)
    return BarChart(name, experiment.title, metric, titles, tuple(series), tuple(bars), note, hollow)


def _our_bar(run: LoadedRun, experiment: Experiment, column: TableColumn, row: RowSpec) -> ChartBar | None:
    value, cells = our_value(run, experiment, column, row), cells_of(run, column, row)
    if value is None:
        return None
    figure = cells[0].figures.get(column.metric)
    if len(cells) > 1 or column.kind is not None or column.stage is not None or figure is None:
        return ChartBar(value)
    scale, seeds, interval = _scale(experiment, column), cells[0].over_seeds(column.metric), figure.interval
    if seeds is not None:
        return ChartBar(value, value - scale * seeds[1], value + scale * seeds[1])
    return (
        ChartBar(value) if interval is None else ChartBar(value, scale * interval.low, scale * interval.high)
    )


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
    metric = METRICS[experiment.columns[0].metric].title
    note = _note(run, experiment)
    return PointChart(
        name, experiment.title, experiment.x_title, metric, series, lines=True, note=note, hollow=hollow
    )


def paper_scatter(run: LoadedRun, experiment: Experiment, name: str) -> PointChart:
    """Draw the first column's metric against the second's, for each pair of columns and row.

    Rows of one `series` are a curve for each pair (SimGRAG, figure 5).
    """
    pairs = list(zip(experiment.columns[::2], experiment.columns[1::2], strict=False))
    series = _curves(run, experiment, pairs)
    for row in (row for row in experiment.rows if not row.series):
        points: list[Point] = []
        for at, (first, second) in enumerate(pairs):
            x, y = our_value(run, experiment, first, row), our_value(run, experiment, second, row)
            if x is not None and y is not None:
                points.append(Point(x, y, first.name))
            theirs = row.paper[2 * at], row.paper[2 * at + 1]
            if not any(map(math.isnan, theirs)):
                series.append((f"{PAPER}{row.name}", (Point(*theirs, first.name),)))
        if points and any(row.series for row in experiment.rows):
            series += [(f"{row.name}, {point.label}", (replace(point, label=""),)) for point in points]
        elif points:
            series.append((row.name, tuple(points)))
    hollow = frozenset(title for title, _ in series if title.startswith(PAPER))
    x_title = experiment.x_title or METRICS[experiment.columns[0].metric].title
    y_title = METRICS[experiment.columns[1].metric].title
    note = _note(run, experiment)
    curves = any(row.series for row in experiment.rows)
    return PointChart(
        name, experiment.title, x_title, y_title, tuple(series), lines=curves, note=note, hollow=hollow
    )


def _curves(
    run: LoadedRun, experiment: Experiment, pairs: Sequence[tuple[TableColumn, TableColumn]]
) -> list[tuple[str, tuple[Point, ...]]]:
    """Join the rows of each series, in the order of their first value."""
    found: dict[str, list[Point]] = {}
    for row in (row for row in experiment.rows if row.series):
        for first, second in pairs:
            x, y = our_value(run, experiment, first, row), our_value(run, experiment, second, row)
            if x is not None and y is not None:
                found.setdefault(f"{row.series}, {first.name}", []).append(Point(x, y))
    return [(title, tuple(sorted(points, key=lambda p: p.x))) for title, points in found.items()]


def paper_errors(run: LoadedRun, experiment: Experiment, name: str) -> ChartTable:
    """Lay out the shares of errors by step (SimGRAG, table 4): a row for each step, for the one method."""

    def ours(column: TableColumn, row: RowSpec) -> str | None:
        cells = cells_of(run, column, row)
        if not cells:
            return None
        steps = [r.error_step for cell in cells for r in cell.rows if r.error_step is not None]
        step = ROAD_STEPS[experiment.rows.index(row)]
        return f"{100 * steps.count(step) / len(steps):.0f}" if steps else "no errors"

    return _two_lines(run, experiment, name, ours)


def paper_shapes(run: LoadedRun, experiment: Experiment, name: str) -> ChartTable:
    """Lay out the shapes of gold paths in percent (SimGRAG, table 3): a row for each shape."""

    def ours(column: TableColumn, row: RowSpec) -> str | None:
        parts = [part_name(run, column.dataset, part) for part in column.parts]
        cells = [next((c for c in run.cells if c.part == part), None) for part in parts]
        shapes = [r.shape for cell in cells if cell is not None for r in cell.rows if r.shape]
        return f"{100 * shapes.count(row.name) / len(shapes):.0f}" if shapes else None

    return _two_lines(run, experiment, name, ours)


def paper_graphs(run: LoadedRun, experiment: Experiment, name: str) -> ChartTable:
    """Lay out the sizes of the graphs; rows are `entities`, `triples`, `relations` and `questions`."""

    def ours(column: TableColumn, row: RowSpec) -> str | None:
        part = part_name(run, column.dataset, column.parts[0])
        if part is None:
            return None
        facts = run.facts["parts"][part]
        return f"{(facts['graph'] | {'questions': facts['questions']})[row.name]:,}"

    return _two_lines(run, experiment, name, ours)


def _two_lines(
    run: LoadedRun, experiment: Experiment, name: str, ours: Callable[[TableColumn, RowSpec], str | None]
) -> ChartTable:
    rows: list[TableRow] = []
    for row in experiment.rows:
        line: list[TableCell | str] = [row.name]
        for column, theirs in zip(experiment.columns, row.paper, strict=True):
            printed = NO_FIGURE if math.isnan(theirs) else f"{theirs:,g}"
            value = ours(column, row)
            small = "" if printed == NO_FIGURE else f"paper {printed}"
            line.append(TableCell(printed, paper=True) if value is None else TableCell(value, small))
        rows.append(tuple(line))
    header = ("", *(column.name for column in experiment.columns))
    return ChartTable(name, experiment.title, header, tuple(rows), _note(run, experiment))


def paper_view(run: LoadedRun, experiment: Experiment, name: str) -> list[ChartTable | Chart]:
    """Make what the experiment asks for; figures also come as a table."""
    if experiment.view == "errors":
        return [paper_errors(run, experiment, name)]
    if experiment.view == "shapes":
        return [paper_shapes(run, experiment, name)]
    if experiment.view == "graphs":
        return [paper_graphs(run, experiment, name)]
    table = paper_table(run, experiment, f"{name}-table" if experiment.view != "table" else name)
    if experiment.view == "bars":
        return [paper_bars(run, experiment, name), table]
    if experiment.view == "lines":
        return [paper_lines(run, experiment, name), table]
    if experiment.view == "scatter":
        return [paper_scatter(run, experiment, name), table]
    return [table]

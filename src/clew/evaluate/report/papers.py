"""Tables and figures as a paper prints them, its figures beside ours."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

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
from clew.evaluate.report.views import bar_of
from clew.evaluate.run.experiments import Experiment, RowSpec, TableColumn

PAPER = "paper: "
FigureOf = Callable[[TableColumn, RowSpec], float | str | None]
"""Our figure of a column and row, or its text; None where it was not run."""


def paper_view(run: LoadedRun, experiment: Experiment, name: str) -> list[ChartTable | Chart]:
    """Make what the experiment asks for; figures also come as a table."""
    paper, view = _Paper(run, experiment, name), experiment.view
    counts = {"errors": paper.error_share, "shapes": paper.shape_share, "graphs": paper.graph_size}
    if view in counts:
        return [paper.table_of(counts[view], ["{:,g}".format] * len(experiment.columns))]
    figures = {"bars": paper.bars, "lines": paper.lines, "scatter": paper.scatter}
    if view in figures:
        return [figures[view](), replace(paper.table(), name=f"{name}-table")]
    return [paper.table()]


@dataclass(frozen=True)
class _Paper:
    """An experiment beside a run of it."""

    run: LoadedRun
    experiment: Experiment
    name: str

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

    def table(self) -> ChartTable:
        """Lay out the paper's table, each column with the decimals that the paper prints."""
        printed = zip(*(row.paper for row in self.experiment.rows), strict=True)
        return self.table_of(self.value, [f"{{:.{_decimals(values)}f}}".format for values in printed])

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
        return ChartTable(self.name, self.experiment.title, header, rows, self.note())

    def error_share(self, column: TableColumn, row: RowSpec) -> str | None:
        """The share of errors at a step (SimGRAG, table 4): a row for each step, for the one method."""
        cells = self.cells(column, row)
        if not cells:
            return None
        steps = [r.error_step for cell in cells for r in cell.rows if r.error_step is not None]
        step = ROAD_STEPS[self.experiment.rows.index(row)]
        return f"{100 * steps.count(step) / len(steps):.0f}" if steps else "no errors"

    def shape_share(self, column: TableColumn, row: RowSpec) -> str | None:
        """The share of a shape of gold paths in percent (SimGRAG, table 3): a row for each shape."""
        parts = [self.part(column, part) for part in column.parts]
        cells = [next((c for c in self.run.cells if c.part == part), None) for part in parts]
        shapes = [r.shape for cell in cells if cell is not None for r in cell.rows if r.shape]
        return f"{100 * shapes.count(row.name) / len(shapes):.0f}" if shapes else None

    def graph_size(self, column: TableColumn, row: RowSpec) -> str | None:
        """A size of a graph; rows are `entities`, `triples`, `relations` and `questions`."""
        part = self.part(column, column.parts[0])
        if part is None:
            return None
        facts = self.run.facts["parts"][part]
        return f"{(facts['graph'] | {'questions': facts['questions']})[row.name]:,}"

    def bars(self) -> BarChart:
        """Draw the paper's bars, ours full and the paper's hollow."""
        series: list[str] = []
        bars: list[tuple[ChartBar | None, ...]] = []
        columns = self.experiment.columns
        for row in self.experiment.rows:
            ours = tuple(self.bar(column, row) for column in columns)
            if any(bar is not None for bar in ours):
                series.append(row.name)
                bars.append(ours)
            if not all(map(math.isnan, row.paper)):
                series.append(PAPER + row.name)
                bars.append(tuple(None if math.isnan(v) else ChartBar(v) for v in row.paper))
        titles, metric = tuple(column.name for column in columns), METRICS[columns[0].metric].title
        title, note, hollow = self.experiment.title, self.note(), _of_paper(series)
        return BarChart(self.name, title, metric, titles, tuple(series), tuple(bars), note, hollow)

    def bar(self, column: TableColumn, row: RowSpec) -> ChartBar | None:
        """Our bar, with what it is sure of where it is of one part."""
        value, cells = self.value(column, row), self.cells(column, row)
        if value is None:
            return None
        is_single_part = len(cells) == 1 and column.kind is None and column.stage is None
        return bar_of(cells[0], column.metric, self.scale(column)) if is_single_part else ChartBar(value)

    def lines(self) -> PointChart:
        """Draw curves over the rows' `x`: one for each series and column; the paper's are hollow."""
        points: dict[str, list[Point]] = {}
        for row in self.experiment.rows:
            for at, column in enumerate(self.experiment.columns):
                title = f"{row.series or row.name}, {column.name}"
                value = self.value(column, row)
                if row.x is not None and value is not None:
                    points.setdefault(title, []).append(Point(row.x, value))
                if row.x is not None and not math.isnan(row.paper[at]):
                    points.setdefault(PAPER + title, []).append(Point(row.x, row.paper[at]))
        series = [(title, tuple(row)) for title, row in points.items()]
        return self.points(series, self.experiment.x_title, self.experiment.columns[0], lines=True)

    def scatter(self) -> PointChart:
        """Draw the first column's metric against the second's, for each pair of columns and row.

        Rows of one `series` are a curve for each pair (SimGRAG, figure 5).
        """
        columns, rows = self.experiment.columns, self.experiment.rows
        pairs = list(zip(columns[::2], columns[1::2], strict=False))
        curves: dict[str, list[Point]] = {}
        series: list[tuple[str, tuple[Point, ...]]] = []
        several = any(row.series for row in rows)
        for row in rows:
            points: list[Point] = []
            for at, (first, second) in enumerate(pairs):
                x, y = self.value(first, row), self.value(second, row)
                if x is not None and y is not None:
                    points.append(Point(x, y, first.name))
                theirs = row.paper[2 * at], row.paper[2 * at + 1]
                if not row.series and not any(map(math.isnan, theirs)):
                    series.append((f"{PAPER}{row.name}", (Point(*theirs, first.name),)))
            if not several:
                series += [(row.name, tuple(points))] if points else []
                continue
            for point in points:
                unlabelled = replace(point, label="")
                if row.series:
                    curves.setdefault(f"{row.series}, {point.label}", []).append(unlabelled)
                else:
                    series.append((f"{row.name}, {point.label}", (unlabelled,)))
        curve_series = [(title, tuple(sorted(curve, key=lambda p: p.x))) for title, curve in curves.items()]
        x_title = self.experiment.x_title or METRICS[columns[0].metric].title
        return self.points(curve_series + series, x_title, columns[1], lines=several)

    def points(
        self, series: Sequence[tuple[str, tuple[Point, ...]]], x_title: str, y: TableColumn, *, lines: bool
    ) -> PointChart:
        """Make a chart of series, the paper's hollow."""
        hollow = _of_paper([title for title, _ in series])
        title, y_title = self.experiment.title, METRICS[y.metric].title
        return PointChart(
            self.name, title, x_title, y_title, tuple(series), lines=lines, note=self.note(), hollow=hollow
        )


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


def _decimals(values: Sequence[float]) -> int:
    """Count the decimals that the paper prints in a column; at least 1."""
    printed = [f"{value:g}" for value in values if not math.isnan(value)]
    return max([1, *(len(text.partition(".")[2]) for text in printed)])


def _of_paper(series: Sequence[str]) -> frozenset[str]:
    return frozenset(title for title in series if title.startswith(PAPER))

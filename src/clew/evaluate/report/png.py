"""Charts and tables as PNG, drawn by matplotlib (extra `report`)."""

from __future__ import annotations

from math import ceil
from pathlib import Path
from textwrap import wrap
from typing import Any

from clew.evaluate.report.charts import BarChart, Chart, ChartBar, ChartTable, PointChart, TableCell
from clew.evaluate.report.colours import LIGHT
from clew.text.embedders.extras import require

DPI = 150
MARKS = "os^DX"
IN_COLUMN = 24
"""Names of a legend in one column."""
WIDEST_CELL = 60
CHARACTER, LINE = 0.085, 0.19
"""Inches of a character and of a line of a table."""
MOST_ROWS = 120
"""Rows of a table that are drawn; its CSV has all."""


def write_png(item: Chart | ChartTable, path: Path) -> None:
    """Draw a chart or a table into a file; MissingExtra without matplotlib."""
    figures = require("matplotlib.figure", "report")
    figure = _table(item, figures) if isinstance(item, ChartTable) else _chart(item, figures)
    figure.savefig(path)


def _chart(chart: Chart, figures: Any) -> Any:  # noqa: ANN401
    names = chart.series if isinstance(chart, BarChart) else tuple(name for name, _ in chart.series)
    wide = 9 if not isinstance(chart, BarChart) else max(9.0, 0.14 * len(chart.groups) * len(chart.series))
    figure = figures.Figure(figsize=(wide + 3, 4.2), dpi=DPI, layout="constrained")
    axes = figure.subplots()
    if isinstance(chart, BarChart):
        _bars(chart, axes)
    else:
        _points(chart, axes)
    axes.set_title(chart.title, fontsize=10)
    axes.set_ylabel(chart.y_title)
    axes.grid(axis="y", alpha=0.3)
    axes.set_axisbelow(True)
    if any(names):
        figure.legend(loc="outside right upper", fontsize=7, ncols=ceil(len(names) / IN_COLUMN))
    return figure


def _bars(chart: BarChart, axes: Any) -> None:  # noqa: ANN401
    width = 0.8 / max(1, len(chart.series))
    for s, (name, bars) in enumerate(zip(chart.series, chart.bars, strict=True)):
        there = [(g, bar) for g, bar in enumerate(bars) if bar is not None]
        at = [g + (s - (len(chart.series) - 1) / 2) * width for g, _ in there]
        colour = LIGHT[s % len(LIGHT)]
        axes.bar(
            at,
            [bar.value for _, bar in there],
            width * 0.9,
            label=name,
            color="none" if name in chart.hollow else colour,
            edgecolor=colour,
            yerr=_errors([bar for _, bar in there]),
            capsize=2,
        )
    axes.set_xticks(range(len(chart.groups)), chart.groups, rotation=20 if len(chart.groups) > 6 else 0)


def _errors(bars: list[ChartBar]) -> list[list[float]]:
    down = [bar.value - bar.low if bar.low is not None else 0.0 for bar in bars]
    up = [bar.high - bar.value if bar.high is not None else 0.0 for bar in bars]
    return [[max(0.0, v) for v in down], [max(0.0, v) for v in up]]


def _points(chart: PointChart, axes: Any) -> None:  # noqa: ANN401
    for s, (name, points) in enumerate(chart.series):
        colour = LIGHT[s % len(LIGHT)]
        hollow = name in chart.hollow
        style = "o--" if chart.lines and hollow else "o-" if chart.lines else "o"
        xs, ys = [p.x for p in points], [p.y for p in points]
        face = "none" if hollow else colour
        size = 2.5 if chart.lines and len(chart.series) > 4 else 5
        if chart.marks:
            for p in points:
                mark = MARKS[chart.marks.index(p.label) % len(MARKS)] if p.label in chart.marks else "o"
                axes.plot([p.x], [p.y], mark, color=colour, markerfacecolor=face, markersize=size)
            axes.plot([], [], "o", label=name, color=colour)
            continue
        axes.plot(xs, ys, style, label=name, color=colour, markerfacecolor=face, markersize=size)
        for p in points:
            axes.annotate(p.label, (p.x, p.y), xytext=(4, 4), textcoords="offset points", fontsize=6)
    for at, mark in enumerate(chart.marks):
        axes.plot([], [], MARKS[at % len(MARKS)], label=mark, color="#666666")
    # Room on the right for labels.
    axes.margins(x=0.15)
    if chart.log_x:
        axes.set_xscale("log")
    if chart.log_y:
        axes.set_yscale("log")
    axes.set_xlabel(chart.x_title)


def _table(table: ChartTable, figures: Any) -> Any:  # noqa: ANN401
    """Draw the header and the rows, each cell as wide as its text; headings have a row of their own."""
    left = len(table.rows) - MOST_ROWS
    rows = [[_lines(cell) for cell in row] for row in (table.header, *table.rows[:MOST_ROWS])]
    if left > 0:
        rows.append([f"… and {left} more in the CSV file"])
    whole = [row for row in rows if len(row) == len(table.header)]
    widths = [CHARACTER * (2 + max(map(_width, column))) for column in zip(*whole, strict=True)]
    heights = [LINE * (0.6 + max(text.count("\n") + 1 for text in row)) for row in rows]
    total = sum(heights) + 0.5
    figure = figures.Figure(figsize=(sum(widths) + 0.4, total), dpi=DPI)
    figure.text(0.2 / (sum(widths) + 0.4), 1 - 0.25 / total, table.title, fontsize=10, weight="bold")
    top = total - 0.45
    for at, (row, height) in enumerate(zip(rows, heights, strict=True)):
        best = [isinstance(cell, TableCell) and cell.best for cell in (table.rows[at - 1] if at else ())]
        _row(figure, row, widths, (top, total), table.names, best if at else [True] * len(row))
        top -= height
    return figure


def _row(
    figure: Any,  # noqa: ANN401
    row: list[str],
    widths: list[float],
    place: tuple[float, float],
    names: int,
    bold: list[bool],
) -> None:
    """Draw a row whose top is `place[0]` inches above the foot of a figure `place[1]` inches high."""
    top, total = place
    wide = sum(widths) + 0.4
    x = 0.2
    for at, text in enumerate(row):
        from_left = at < names or len(row) < len(widths) or _width(text) > WIDEST_CELL / 2
        left = x if from_left else x + widths[at] - CHARACTER
        figure.text(
            left / wide,
            (top - 0.1) / total,
            text,
            fontsize=8,
            va="top",
            ha="left" if from_left else "right",
            weight="bold" if at < len(bold) and bold[at] else "normal",
            style="italic" if len(row) < len(widths) else "normal",
        )
        x += widths[at]


def _lines(cell: TableCell | str) -> str:
    text = cell if isinstance(cell, str) else "\n".join(filter(None, (cell.text, cell.small)))
    return "\n".join(line for part in text.split("\n") for line in (wrap(part, WIDEST_CELL) or [""]))


def _width(text: str) -> int:
    return max(map(len, text.split("\n")), default=0)

"""Charts and tables as data, drawn as SVG (extra `report`) and written as CSV."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clew.foundation.system import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Charts and tables as data, of which drawings, the page and CSV are made.


@dataclass(frozen=True, slots=True)
class ChartBar:
    """One bar: its value, and from where to where its error bar reaches, if it has one."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class BarChart:
    """Bars in groups; `bars[s][g]` belongs to series s and group g, None leaves a gap."""

    name: str
    title: str
    y_title: str
    groups: tuple[str, ...]
    series: tuple[str, ...]
    bars: tuple[tuple[ChartBar | None, ...], ...]
    note: str = ""

    def csv(self) -> list[list[object]]:
        """Header and rows."""
        rows: list[list[object]] = [["series", "group", "value", "low", "high"]]
        for name, bars in zip(self.series, self.bars, strict=True):
            for group, bar in zip(self.groups, bars, strict=True):
                if bar is not None:
                    rows.append([name, group, bar.value, bar.low, bar.high])
        return rows


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a series; `label` is written beside it."""

    x: float
    y: float
    label: str = ""


PAPER = "paper: "
"""How the names of series of a paper's figures begin."""
LONG_TEXT = 24
"""A cell of more characters makes a column one of texts."""
MOST_LABELLED_POINTS = 12
"""More labelled points than these have shapes in place of labels."""


@dataclass(frozen=True)
class PointChart:
    """Points of several series, joined by lines (`lines`) or not."""

    name: str
    title: str
    x_title: str
    y_title: str
    series: tuple[tuple[str, tuple[Point, ...]], ...]
    lines: bool = False
    note: str = ""

    @property
    def marks(self) -> tuple[str, ...]:
        """Labels that are shown as shapes, since there are too many points to write them beside."""
        labels = [p.label for _, points in self.series for p in points if p.label]
        return tuple(dict.fromkeys(labels)) if len(labels) > MOST_LABELLED_POINTS else ()

    def csv(self) -> list[list[object]]:
        """Header and rows."""
        rows: list[list[object]] = [["series", "x", "y", "low", "high", "label"]]
        for name, points in self.series:
            rows.extend([name, p.x, p.y, "", "", p.label] for p in points)  # only bars have bounds
        return rows


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
        long = (at for at, cell in cells if isinstance(cell, str) and len(cell) > LONG_TEXT)
        return frozenset(at for at in long if at >= self.names)

    def csv(self) -> list[list[object]]:
        """Header and rows, with the small print in columns of its own where there is some."""
        return [list(self.header), *([*map(_cell_text, row)] for row in self.rows)]


Chart = BarChart | PointChart


# Draw charts with matplotlib (extra `report`).

SERIES_COLOURS = (
    *("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8a7d00"),
    *("#7f7f7f", "#7b3fa0", "#9acd32", "#a0522d", "#5b74d8", "#ff8fab", "#00796b"),
)
"""Colours that people with any colour vision tell apart (Okabe & Ito, then more), on any ground."""
_MARKERS = "osv^D*XP"
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
    matplotlib = require("matplotlib", "report")
    with matplotlib.rc_context(_STYLE):
        from matplotlib.figure import Figure

        width = (
            min(15.0, 2 + 0.55 * len(chart.groups) * (1 + len(chart.series)))
            if isinstance(chart, BarChart)
            else 7.0
        )
        figure = Figure(figsize=(max(6.0, width), 4.0), layout="constrained")
        axes = figure.add_subplot()
        _bars(axes, chart) if isinstance(chart, BarChart) else _points(axes, chart)
        axes.set_title(_clean(chart.title))
        axes.set_ylabel(_clean(chart.y_title))
        handles, _ = axes.get_legend_handles_labels()
        if handles:
            figure.legend(handles=handles, loc="outside lower left", ncols=3)
        out = BytesIO()
        figure.savefig(out, format="svg", facecolor="none", metadata={"Date": None})
    text = out.getvalue().decode("utf-8")
    return text[text.index("<svg") :]  # without what only a file needs


def is_wide(chart: Chart) -> bool:
    """Whether a chart needs the whole width of the page."""
    return isinstance(chart, BarChart) and len(chart.groups) * (1 + len(chart.series)) > 10


def _bars(axes: Axes, chart: BarChart) -> None:
    width = 0.8 / max(1, len(chart.series))
    for at, (name, bars) in enumerate(zip(chart.series, chart.bars, strict=True)):
        shown = [(group, bar) for group, bar in enumerate(bars) if bar is not None]
        places = [group + (at - (len(chart.series) - 1) / 2) * width for group, _ in shown]
        values = [bar.value for _, bar in shown]
        lower = [bar.value - (bar.value if bar.low is None else bar.low) for _, bar in shown]
        upper = [(bar.value if bar.high is None else bar.high) - bar.value for _, bar in shown]
        style = _series_style(at, name, bars=True)
        axes.bar(places, values, width * 0.9, yerr=[lower, upper], label=_clean(name), ecolor="#555", **style)
    slanted: dict[str, Any] = {"rotation": 28, "ha": "right"} if len(chart.groups) > 6 else {}
    axes.set_xticks(range(len(chart.groups)), [_clean(group) for group in chart.groups], **slanted)


def _points(axes: Axes, chart: PointChart) -> None:
    for at, (name, points) in enumerate(chart.series):
        style = _series_style(at, name, bars=False)
        alone: dict[str, Any] = {**style, "linestyle": "", "label": _clean(name)}
        x, y = [p.x for p in points], [p.y for p in points]
        if chart.lines:
            axes.plot(x, y, marker="." if len(chart.series) > 4 else "o", label=_clean(name), **style)
        elif not chart.marks:
            axes.plot(x, y, marker="o", **alone)
        else:
            axes.plot([], [], marker="o", **alone)
            for point in points:
                axes.plot([point.x], [point.y], marker=_marker(chart, point.label), **style)
        if not chart.marks:
            for point in points:
                axes.annotate(_clean(point.label), (point.x, point.y), (6, 5), textcoords="offset points")
    for mark in chart.marks:
        axes.plot([], [], _marker(chart, mark), color=_SOFT, label=_clean(mark))
    axes.set_xlabel(_clean(chart.x_title))


def _marker(chart: PointChart, label: str) -> str:
    return _MARKERS[chart.marks.index(label) % len(_MARKERS)] if label in chart.marks else "o"


def _series_style(at: int, name: str, *, bars: bool) -> dict[str, Any]:
    """Colour of a series; the paper's figures are outlines."""
    colour, hollow = SERIES_COLOURS[at % len(SERIES_COLOURS)], name.startswith(PAPER)
    line, inside = ("--" if hollow else "-"), ("none" if hollow else colour)
    if bars:
        return {"color": inside, "edgecolor": colour, "linestyle": line}
    return {"color": colour, "markerfacecolor": inside, "linestyle": line}


def _clean(text: str) -> str:
    """Text that XML can hold."""
    return _NOT_XML.sub("\ufffd", text)


def _cell_text(cell: TableCell | str) -> str:
    if isinstance(cell, str):
        return cell
    return f"{cell.text} ({cell.small})" if cell.small else cell.text


def write_item(item: Chart | ChartTable, path: Path) -> None:
    """Write the figures of a chart or table as CSV."""
    with path.open("w", encoding="utf-8", errors="replace", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(item.csv())

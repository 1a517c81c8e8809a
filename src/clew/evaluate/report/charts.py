"""Charts and tables as data, drawn (extra `report`) and written to files."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from clew.errors import InputError, UsageError
from clew.foundation.system import require
from clew.graph.graph import Graph
from clew.text.normalise import counted

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
    """Points of several series, joined by lines (`lines`) or not; `log_x`, `log_y` for times and counts."""

    name: str
    title: str
    x_title: str
    y_title: str
    series: tuple[tuple[str, tuple[Point, ...]], ...]
    lines: bool = False
    log_x: bool = False
    log_y: bool = False
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
        return [list(self.header), *([_write_cell(cell, str, "{}") for cell in row] for row in self.rows)]


Chart = BarChart | PointChart


# Draw charts with matplotlib (extra `report`), as SVG for the page and as files.

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


def draw(chart: Chart, form: Literal["svg", "png"] = "svg") -> bytes:
    """Draw a chart with its legend, as the bytes of an SVG or PNG file.

    Raises MissingExtra (matplotlib is not installed).
    """
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
        facecolor = "white" if form == "png" else "none"
        metadata = {"Date": None} if form == "svg" else {}
        figure.savefig(out, format=form, dpi=160, facecolor=facecolor, metadata=metadata)
    return out.getvalue()


def inline_svg(chart: Chart) -> str:
    """Draw a chart for the page, without what only a file needs."""
    text = draw(chart).decode("utf-8")
    return text[text.index("<svg") :]


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
    axes.set_xscale("log" if chart.log_x else "linear")
    axes.set_yscale("log" if chart.log_y else "linear")


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


# Charts and tables as files: CSV; SVG and PNG of charts (extra `report`); Markdown and LaTeX of tables.

_LATEX = str.maketrans({
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "±": "$\\pm$",
    "↑": "$\\uparrow$",
    "↓": "$\\downarrow$",
    "→": "$\\rightarrow$",
    "←": "$\\leftarrow$",
    "−": "$-$",
    "≥": "$\\geq$",
    "≤": "$\\leq$",
    "×": "$\\times$",
    "…": "\\dots{}",
    "–": "--",
    "—": "---",
    "·": "$\\cdot$",
})  # fmt: skip


def markdown(table: ChartTable) -> str:
    """A table of GitHub's Markdown, under its title; the best figures are bold."""
    width = len(table.header)
    rules = ["---"] * table.names + ["---:"] * (width - table.names)
    lines = [f"**{_cell(table.title)}**", "", _line(map(_cell, table.header)), _line(rules)]
    for row in table.rows:
        cells = [_write_cell(cell, _cell, "**{}**") for cell in row]
        lines.append(_line(cells + [""] * (width - len(cells))))
    return "\n".join(lines + (["", _cell(table.note)] if table.note else [])) + "\n"


def latex(table: ChartTable) -> str:
    r"""A `table` with a `tabular`, for a document that loads `booktabs`; the best figures are bold."""
    width = len(table.header)
    body: list[str] = []
    for row in table.rows:
        cells = [_write_cell(cell, escaped, "\\textbf{{{}}}") for cell in row]
        whole = f"\\multicolumn{{{width}}}{{l}}{{\\emph{{{cells[0]}}}}}"
        body.append((whole if len(row) == 1 < width else " & ".join(cells)) + r" \\")
    lines = [
        "\\begin{table}",
        "\\centering",
        f"\\begin{{tabular}}{{{'l' * table.names}{'r' * (width - table.names)}}}",
        "\\toprule",
        " & ".join(map(escaped, table.header)) + r" \\",
        "\\midrule",
        *body,
        "\\bottomrule",
        "\\end{tabular}",
        f"\\caption{{{escaped(' '.join(filter(None, (table.title + '.', table.note))))}}}",
        "\\end{table}",
    ]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """Text as LaTeX shows it."""
    return text.translate(_LATEX)


def _write_cell(cell: TableCell | str, escape: Callable[[str], str], bold: str) -> str:
    if isinstance(cell, str):
        return escape(cell)
    text = bold.format(escape(cell.text)) if cell.best else escape(cell.text)
    return f"{text} ({escape(cell.small)})" if cell.small else text


def _cell(text: str) -> str:
    """Text in a cell of Markdown."""
    return re.sub(r"([\\|*_`<])", r"\\\1", text).replace("\n", " ")


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


TYPESET: Mapping[str, Callable[[ChartTable], str]] = {".md": markdown, ".tex": latex}
"""Endings of the forms that only tables have."""
DRAWN: Mapping[str, Literal["svg", "png"]] = {".svg": "svg", ".png": "png"}
"""Endings of the forms that only charts have."""


def write_item(item: Chart | ChartTable, path: Path) -> None:
    """Write a chart or table by the ending of the file: .csv, of `TYPESET` (tables) or `DRAWN` (charts).

    Raises MissingExtra (the extra `report` is not installed, and a chart is to be drawn).
    """
    if path.suffix == ".csv":
        with path.open("w", encoding="utf-8", errors="replace", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(item.csv())
    elif isinstance(item, ChartTable):
        path.write_text(TYPESET[path.suffix](item), "utf-8", errors="replace")
    else:
        path.write_bytes(draw(item, DRAWN[path.suffix]))


# How many triples each entity is in: KG-RAG's figure of the graph (section 4.1).

CHART_ENDINGS = (".svg", ".png", ".csv")


def degree_chart(graph: Graph, name: str) -> PointChart:
    """How many entities are in 1, 2, 3 … triples, as head or as tail; literals are no entities."""
    degrees = (graph.out.degrees() + graph.into.degrees())[graph.values.datatype < 0]
    values, counts = np.unique(degrees[degrees > 0], return_counts=True)
    points = tuple(Point(float(v), float(c)) for v, c in zip(values, counts, strict=True))
    middle, most = (float(np.median(degrees)), int(degrees.max())) if len(degrees) else (0.0, 0)
    entities = counted(len(degrees), "entity", "entities")
    title = f"{name}: {entities}, in {middle:g} triples at the median, {most:,} at most"
    series, titles = (("", points),), ("triples of an entity", "entities")
    return PointChart("degrees", title, *titles, series, log_x=True, log_y=True)


def check_plot(path: Path) -> None:
    """Raise UsageError for a file whose ending is not that of a plot."""
    if path.suffix not in CHART_ENDINGS:
        raise UsageError(f"{path}: a plot is a file that ends with {', '.join(CHART_ENDINGS)}")


def write_plot(chart: PointChart, path: Path) -> None:
    """Write a chart by the ending of the file. Raises InputError, and MissingExtra for SVG and PNG."""
    try:
        write_item(chart, path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}). Give another --plot") from error

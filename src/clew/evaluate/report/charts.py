"""Charts and tables as data, drawn as SVG (extra `report`) and written as CSV."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any

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


def write_item(item: Chart | ChartTable, path: Path) -> None:
    """Write the figures of a chart or table as CSV."""
    with path.open("w", encoding="utf-8", errors="replace", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(item.csv())

"""Draw charts with matplotlib (extra `report`), as SVG for the page and as files."""

from __future__ import annotations

import re
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal

from clew.evaluate.report.charts import BarChart, Chart, PointChart
from clew.text.embedders.extras import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
        style = _series_style(at, hollow=name in chart.hollow, bars=True)
        axes.bar(places, values, width * 0.9, yerr=[lower, upper], label=_clean(name), ecolor="#555", **style)
    slanted: dict[str, Any] = {"rotation": 28, "ha": "right"} if len(chart.groups) > 6 else {}
    axes.set_xticks(range(len(chart.groups)), [_clean(group) for group in chart.groups], **slanted)


def _points(axes: Axes, chart: PointChart) -> None:
    for at, (name, points) in enumerate(chart.series):
        style = _series_style(at, hollow=name in chart.hollow, bars=False)
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


def _series_style(at: int, *, hollow: bool, bars: bool) -> dict[str, Any]:
    """Colour of a series; a hollow one (the paper's figures) is an outline."""
    colour = SERIES_COLOURS[at % len(SERIES_COLOURS)]
    line, inside = ("--" if hollow else "-"), ("none" if hollow else colour)
    if bars:
        return {"color": inside, "edgecolor": colour, "linestyle": line}
    return {"color": colour, "markerfacecolor": inside, "linestyle": line}


def _clean(text: str) -> str:
    """Text that XML can hold."""
    return _NOT_XML.sub("\ufffd", text)

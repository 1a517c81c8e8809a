"""Charts as PNG, drawn by matplotlib (extra `report`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from clew.evaluate.report.charts import Bar, BarChart, Chart, PointChart
from clew.text.embedders.extras import require

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8a7d00", "#555555")
"""Colours that people with any colour vision tell apart (Okabe & Ito), with a darker yellow."""


def write_png(chart: Chart, path: Path) -> None:
    """Draw a chart into a file; MissingExtra without matplotlib."""
    figures = require("matplotlib.figure", "report")
    figure = figures.Figure(figsize=(9, 4), dpi=150, layout="constrained")
    axes = figure.subplots()
    if isinstance(chart, BarChart):
        _bars(chart, axes)
    else:
        _points(chart, axes)
    axes.set_title(chart.title, fontsize=10)
    axes.set_ylabel(chart.y_title)
    axes.grid(axis="y", alpha=0.3)
    axes.set_axisbelow(True)
    names = [
        name
        for name in (chart.series if isinstance(chart, BarChart) else [n for n, _ in chart.series])
        if name
    ]
    if names:
        axes.legend(fontsize=8)
    figure.savefig(path)


def _bars(chart: BarChart, axes: Any) -> None:  # noqa: ANN401
    width = 0.8 / max(1, len(chart.series))
    for s, (name, bars) in enumerate(zip(chart.series, chart.bars, strict=True)):
        there = [(g, bar) for g, bar in enumerate(bars) if bar is not None]
        at = [g + (s - (len(chart.series) - 1) / 2) * width for g, _ in there]
        colour = COLOURS[s % len(COLOURS)]
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


def _errors(bars: list[Bar]) -> list[list[float]]:
    down = [bar.value - bar.low if bar.low is not None else 0.0 for bar in bars]
    up = [bar.high - bar.value if bar.high is not None else 0.0 for bar in bars]
    return [[max(0.0, v) for v in down], [max(0.0, v) for v in up]]


def _points(chart: PointChart, axes: Any) -> None:  # noqa: ANN401
    for s, (name, points) in enumerate(chart.series):
        colour = COLOURS[s % len(COLOURS)]
        hollow = name in chart.hollow
        style = "o--" if chart.lines and hollow else "o-" if chart.lines else "o"
        xs, ys = [p.x for p in points], [p.y for p in points]
        axes.plot(xs, ys, style, label=name, color=colour, markerfacecolor="none" if hollow else colour)
        for p in points:
            axes.annotate(p.label, (p.x, p.y), xytext=(4, 4), textcoords="offset points", fontsize=7)
    # Room on the right for labels.
    axes.margins(x=0.15)
    if chart.log_x:
        axes.set_xscale("log")
    axes.set_xlabel(chart.x_title)

"""How figures are written in tables and on the terminal."""

from __future__ import annotations

from clew.evaluate.metrics.base import Unit
from clew.evaluate.metrics.registry import about
from clew.evaluate.report.scoring import Figure

NO_FIGURE = "–"


def value_text(value: float, unit: Unit) -> str:
    """Write a value: shares as percent, times with as many digits as matter."""
    if unit == "share":
        return f"{100 * value:.1f}"
    if unit == "milliseconds":
        return f"{value:.1f} ms" if value < 100 else f"{value:,.0f} ms"
    return f"{value:,.4g}"


def figure_text(figure: Figure | None) -> str:
    """Write a figure, with half the width of its interval where it has one."""
    if figure is None:
        return NO_FIGURE
    unit = about(figure.metric).unit
    text = value_text(figure.value, unit)
    if figure.interval is None or unit != "share":
        return text
    return f"{text} ±{50 * (figure.interval.high - figure.interval.low):.1f}"

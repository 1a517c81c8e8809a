"""Charts and tables as SVG, without any library; on the page colours follow its theme.

Style sheets name colours as `var(--NAME)`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from html import escape
from importlib.resources import files
from math import log10
from textwrap import wrap

from clew.evaluate.report.charts import (
    BarChart,
    Chart,
    ChartBar,
    ChartTable,
    Point,
    PointChart,
    TableCell,
    log_ticks,
    nice_ticks,
    series_range,
)

HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 300, 58, 16, 18, 58
CHART_WIDTH = 560
CHARACTER, LINE_HEIGHT = 6.6, 15
"""Pixels of a character, about, and of a line of text."""
WIDEST_CELL = 60
"""Characters of a line in a cell of a table."""
MOST_DRAWN_ROWS = 120
"""Rows of a table that are drawn; its CSV has all."""
_SERIES = (
    *("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8a7d00"),
    *("#666666", "#7b3fa0", "#9acd32", "#a0522d", "#1f3a93", "#ff8fab", "#00796b"),
)
"""Shades that people with any colour vision tell apart (Okabe & Ito, then some more)."""
_SERIES_IN_DARK = (
    *("#4aa3d8", "#f0b53b", "#35c49a", "#e09cc4", "#8fd0f5", "#f08a4b", "#c9ba3a"),
    *("#aaaaaa", "#b98ad6", "#c4e66e", "#cd8a63", "#8094e8", "#ffb3c6", "#4db6a9"),
)
SHADES = len(_SERIES)
LIGHT_COLOURS = {
    **{"bg": "#fff", "fg": "#1b1f24", "soft": "#5c6570", "line": "#d9dee4"},
    **{"panel": "#f5f7f9", "link": "#0b5cad", "shade": "#0003"},
    **{f"c{n}": colour for n, colour in enumerate(_SERIES)},
}
DARK = {
    **{"bg": "#14171a", "fg": "#e6e9ec", "soft": "#9aa4ae", "line": "#333a41"},
    **{"panel": "#1d2226", "link": "#6db3f2", "shade": "#fff4"},
    **{f"c{n}": colour for n, colour in enumerate(_SERIES_IN_DARK)},
}
Scale = Callable[[float], float]
_VARIABLE = re.compile(r"var\(--(\w+)\)")
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class _Drawing:
    """What is drawn, before it is a picture of the page or a file."""

    width: int
    height: int
    title: str
    parts: list[str]


def svg(chart: Chart) -> str:
    """Draw a chart for the page, whose style gives it its colours."""
    return _picture(_chart(chart))


def lone_svg(item: Chart | ChartTable) -> str:
    """Draw a chart or a table as a file of its own: with its title, its colours, and a ground."""
    drawing = _table(item) if isinstance(item, ChartTable) else _chart(item)
    style = _VARIABLE.sub(lambda variable: LIGHT_COLOURS[variable[1]], shade_rules() + asset("charts.css"))
    ground = f'<rect width="100%" height="100%" fill="{LIGHT_COLOURS["bg"]}"/>'
    title = f'<text class="mid name" x="{drawing.width / 2:.0f}" y="12">{escape(drawing.title)}</text>'
    return f"{_picture(drawing, f'<style>{style}</style>{ground}{title}')}\n"


@cache
def asset(name: str) -> str:
    """Read a file that is written into pages or drawings."""
    return (files("clew.evaluate.report") / name).read_text("utf-8")


def shade_rules() -> str:
    """Write the rules for the classes `c0`, `c1`, … of series."""
    return "".join(f".c{n} {{ fill: var(--c{n}); stroke: var(--c{n}); }}\n" for n in range(SHADES))


def _chart(chart: Chart) -> _Drawing:
    """Draw a chart, and its legend below it."""
    drawing = _bars(chart) if isinstance(chart, BarChart) else _points(chart)
    x, y, parts = LEFT, HEIGHT + 6, list(drawing.parts)
    for shape, name in _keys(chart):
        key_width = int(28 + CHARACTER * len(name))
        if x > LEFT and x + key_width > drawing.width:
            x, y = LEFT, y + LINE_HEIGHT
        label = f'<text class="name" x="14">{escape(name)}</text>'
        parts.append(f'<g transform="translate({x} {y})">{shape}{label}</g>')
        x += key_width
    return replace(drawing, height=y + 6, parts=parts)


def _keys(chart: Chart) -> list[tuple[str, str]]:
    """Pair the shapes of a legend with what they mean: series, then marks."""
    names = chart.series if isinstance(chart, BarChart) else tuple(name for name, _ in chart.series)
    marks = () if isinstance(chart, BarChart) else chart.marks
    series = [
        (f'<rect class="{_shade(at, name, chart)}" y="-9" width="9" height="9"/>', name)
        for at, name in enumerate(names)
    ]
    shapes = [(_mark(at, 4.5, -4.5, "plain", 4), name) for at, name in enumerate(marks)]
    return [(shape, name) for shape, name in series + shapes if name]


def bars_width(chart: BarChart) -> int:
    """Choose the width of a chart of bars."""
    return max(460, min(1120, LEFT + RIGHT + len(chart.groups) * (26 + 24 * len(chart.series))))


def _bars(chart: BarChart) -> _Drawing:
    width = bars_width(chart)
    bars = [bar for row in chart.bars for bar in row if bar is not None]
    ends = [v for bar in bars for v in (bar.value, bar.low, bar.high) if v is not None]
    low, high = series_range(ends, from_zero=True)
    y = _linear(low, high, HEIGHT - BOTTOM, TOP)
    room = (width - LEFT - RIGHT) / max(1, len(chart.groups))
    bar_width = min(38.0, room * 0.8 / max(1, len(chart.series)))
    parts = _frame(width, y, nice_ticks(low, high), chart.y_title)
    for g, group in enumerate(chart.groups):
        middle = LEFT + room * (g + 0.5)
        parts.append(_group_label(middle, room, group, slanted=len(chart.groups) > 6))
        for s, name in enumerate(chart.series):
            bar = chart.bars[s][g]
            if bar is not None:
                x = middle + (s - len(chart.series) / 2) * bar_width
                style = _shade(s, name, chart)
                parts.append(_bar(x, bar_width * 0.88, y, bar, style, f"{name}, {group}"))
    return _Drawing(width, HEIGHT, chart.title, parts)


def _bar(x: float, width: float, y: Scale, bar: ChartBar, style: str, name: str) -> str:
    top, bottom = sorted((y(bar.value), y(0.0)))
    tooltip = f"{name}: {_number(bar.value)}"
    error = ""
    if bar.low is not None and bar.high is not None:
        tooltip += f" [{_number(bar.low)}, {_number(bar.high)}]"
        middle, low, high = x + width / 2, y(bar.low), y(bar.high)
        caps = "".join(f"M{middle - 3:.1f} {at:.1f}h6" for at in (low, high))
        error = f'<path class="err" d="M{middle:.1f} {low:.1f}V{high:.1f}{caps}"/>'
    return (
        f'<g><title>{escape(tooltip)}</title><rect class="{style}" x="{x:.1f}" y="{top:.1f}"'
        f' width="{width:.1f}" height="{max(0.5, bottom - top):.1f}"/>{error}</g>'
    )


def _points(chart: PointChart) -> _Drawing:
    points = [p for _, row in chart.series for p in row]
    x, x_ticks = _axis([p.x for p in points], LEFT, CHART_WIDTH - RIGHT, log=chart.log_x)
    y, y_ticks = _axis([p.y for p in points], HEIGHT - BOTTOM, TOP, log=chart.log_y)
    parts = _frame(CHART_WIDTH, y, y_ticks, chart.y_title) + _x_axis(x, x_ticks, chart.x_title)
    for s, (name, row) in enumerate(chart.series):
        style = _shade(s, name, chart)
        joined = chart.lines and len(row) > 1
        if joined:
            path = "L".join(f"{x(p.x):.1f} {y(p.y):.1f}" for p in row)
            parts.append(f'<path class="line {style}" d="M{path}"/>')
        size = 2.2 if joined and len(chart.series) > 4 else 4.5
        parts += [_point(p, chart, name, (x(p.x), y(p.y)), style, size) for p in row]
    return _Drawing(CHART_WIDTH, HEIGHT, chart.title, parts)


def _axis(values: Sequence[float], start: float, stop: float, *, log: bool) -> tuple[Scale, list[float]]:
    """Where a value is on an axis from `start` to `stop`, and which values have a tick."""
    places = [log10(max(value, 1e-9)) for value in values] if log else values
    low, high = series_range(places, from_zero=False)
    scale = _linear(low, high, start, stop)
    if not log:
        return scale, nice_ticks(low, high)
    return lambda value: scale(log10(max(value, 1e-9))), [10**tick for tick in log_ticks(low, high)]


def _point(
    point: Point, chart: PointChart, name: str, place: tuple[float, float], style: str, size: float
) -> str:
    x, y = place
    tooltip = f"{name} {point.label}: {chart.x_title} {_number(point.x)}, {chart.y_title} {_number(point.y)}"
    label = ""
    if point.label and not chart.marks:
        # A label near the right edge is written to the left of its point.
        side = f'class="end" x="{x - 7:.1f}"' if x > 0.6 * CHART_WIDTH else f'x="{x + 7:.1f}"'
        label = f'<text {side} y="{y - 6:.1f}">{escape(point.label)}</text>'
    mark = chart.marks.index(point.label) if point.label in chart.marks else 0
    shape = _mark(mark, x, y, style, size)
    return f"<g><title>{escape(tooltip)}</title>{shape}{label}</g>"


def _mark(mark: int, x: float, y: float, style: str, size: float) -> str:
    """Draw the shape of a mark around a place: circle, square, triangle, diamond, cross, and so on again."""
    kind = mark % 5
    if kind == 0:
        return f'<circle class="{style}" cx="{x:.1f}" cy="{y:.1f}" r="{size}"/>'
    corners = (
        ((-1, -1), (1, -1), (1, 1), (-1, 1)),
        ((0, -1.2), (1.1, 0.9), (-1.1, 0.9)),
        ((0, -1.4), (1.2, 0), (0, 1.4), (-1.2, 0)),
        ((-1.3, -0.4), (-0.4, -1.3), (0, -0.6), (0.4, -1.3), (1.3, -0.4), (0.6, 0), (1.3, 0.4), (0.4, 1.3),
         (0, 0.6), (-0.4, 1.3), (-1.3, 0.4), (-0.6, 0)),
    )[kind - 1]  # fmt: skip
    points = " ".join(f"{x + size * dx:.1f},{y + size * dy:.1f}" for dx, dy in corners)
    return f'<polygon class="{style}" points="{points}"/>'


def _x_axis(x: Scale, ticks: Iterable[float], title: str) -> list[str]:
    parts: list[str] = []
    base = HEIGHT - BOTTOM
    for tick in ticks:
        parts.append(f'<path class="axis" d="M{x(tick):.1f} {base}v4"/>')
        parts.append(f'<text class="mid" x="{x(tick):.1f}" y="{base + 17}">{_number(tick)}</text>')
    place = f'x="{(LEFT + CHART_WIDTH) / 2:.0f}" y="{HEIGHT - 12}"'
    return [*parts, f'<text class="mid name" {place}>{escape(title)}</text>']


def _frame(width: int, y: Scale, ticks: Iterable[float], title: str) -> list[str]:
    parts: list[str] = []
    for tick in ticks:
        at = y(tick)
        parts.append(f'<path class="grid" d="M{LEFT} {at:.1f}H{width - RIGHT}"/>')
        parts.append(f'<text class="end" x="{LEFT - 7}" y="{at + 4:.1f}">{_number(tick)}</text>')
    place = f"translate(13 {(TOP + HEIGHT - BOTTOM) / 2:.0f}) rotate(-90)"
    parts.append(f'<text class="mid name" transform="{place}">{escape(title)}</text>')
    parts.append(f'<path class="axis" d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{width - RIGHT}"/>')
    return parts


def _group_label(x: float, room: float, text: str, *, slanted: bool) -> str:
    at, most = HEIGHT - BOTTOM + 17, 18 if slanted else max(6, int(room / 6.4))
    short_text = text if len(text) <= most else f"{text[: most - 1]}…"
    place = f'class="mid" x="{x:.1f}" y="{at}"'
    if slanted:
        place = f'class="end" transform="translate({x:.1f} {at - 4}) rotate(-28)"'
    return f"<text {place}>{escape(short_text)}<title>{escape(text)}</title></text>"


def _linear(low: float, high: float, start: float, stop: float) -> Scale:
    span = (high - low) or 1.0
    return lambda value: start + (value - low) / span * (stop - start)


def _number(value: float) -> str:
    return f"{value:.4g}"


def _shade(at: int, name: str, chart: Chart) -> str:
    return f"c{at % SHADES}{' hollow' if name in chart.hollow else ''}"


def _table(table: ChartTable) -> _Drawing:
    """Draw the header and the rows, columns as wide as their texts; a heading has a row of its own."""
    rows = [table.header, *table.rows[:MOST_DRAWN_ROWS]]
    undrawn_rows = len(table.rows) - MOST_DRAWN_ROWS
    rows += [(f"… and {undrawn_rows} more in the CSV file",)] if undrawn_rows > 0 else []
    texts = [[_lines(cell) for cell in row] for row in rows]
    whole = [row for row in texts if len(row) == len(table.header)]
    widths = [
        CHARACTER * (3 + max(len(line) for cell in cells for line in cell))
        for cells in zip(*whole, strict=True)
    ]
    parts: list[str] = []
    y = 2.0 * LINE_HEIGHT
    for at, (row, lines) in enumerate(zip(rows, texts, strict=True)):
        x = CHARACTER
        for column, (cell, width) in enumerate(zip(row, widths, strict=False)):
            best = at == 0 or (isinstance(cell, TableCell) and cell.best)
            from_left = column < table.names or len(row) < len(widths) or column in table.long
            place = f'class="{"best" if best else "head" if len(row) < len(widths) else "name"}'
            place += f'" x="{x:.0f}"' if from_left else f' end" x="{x + width - 2 * CHARACTER:.0f}"'
            for down, line in enumerate(lines[column]):
                parts.append(f'<text {place} y="{y + down * LINE_HEIGHT:.0f}">{escape(line)}</text>')
            x += width
        y += LINE_HEIGHT * max(map(len, lines)) + 4
    return _Drawing(int(max(sum(widths), CHARACTER * len(table.title))), int(y), table.title, parts)


def _lines(cell: TableCell | str) -> list[str]:
    """Break the text of a cell, and its small print, into lines."""
    texts = [cell] if isinstance(cell, str) else [cell.text, *filter(None, [cell.small])]
    return [line for text in texts for line in wrap(text, WIDEST_CELL) or [""]]


def _picture(drawing: _Drawing, head: str = "") -> str:
    width, height, inner = drawing.width, drawing.height, "".join(drawing.parts)
    text = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
        f' height="{height}" role="img" aria-label="{escape(drawing.title)}">{head}{inner}</svg>'
    )
    return _NOT_XML.sub("\ufffd", text)

"""Charts and tables as data; `drawing.py` and the page draw them, CSV comes from the same values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property


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
    hollow: frozenset[str] = frozenset()

    def csv(self) -> list[list[object]]:
        """Header and rows."""
        rows: list[list[object]] = [["series", "group", "value", "low", "high"]]
        for name, bars in zip(self.series, self.bars, strict=True):
            for group, bar in zip(self.groups, bars, strict=True):
                if bar is not None:
                    rows.append([name, group, bar.value, _or_empty(bar.low), _or_empty(bar.high)])
        return rows


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a series; `label` is written beside it."""

    x: float
    y: float
    label: str = ""


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
    hollow: frozenset[str] = frozenset()

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
        return [list(self.header), *([_plain(cell) for cell in row] for row in self.rows)]


Chart = BarChart | PointChart


def _plain(cell: TableCell | str) -> str:
    if isinstance(cell, str):
        return cell
    return f"{cell.text} ({cell.small})" if cell.small else cell.text


def _or_empty(value: float | None) -> object:
    return "" if value is None else value

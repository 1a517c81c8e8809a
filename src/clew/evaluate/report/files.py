"""Charts and tables as files: CSV, SVG, PNG drawn from the SVG (extra `report`), Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from pathlib import Path

from clew.errors import InputError
from clew.evaluate.report.charts import Chart, ChartTable
from clew.evaluate.report.svg import lone_svg
from clew.evaluate.report.typeset import latex, markdown
from clew.text.embedders.extras import require

ZOOM = 2.0
"""Pixels of a PNG for each of the drawing."""
TYPESET: Mapping[str, Callable[[ChartTable], str]] = {".md": markdown, ".tex": latex}
"""Endings of the forms that only tables have."""


def write_item(item: Chart | ChartTable, path: Path) -> None:
    """Write a chart or a table by the ending of the file, which is one of `TYPESET`, .csv, .svg or .png.

    Raises:
        MissingExtra: the extra `report` is not installed, and a PNG is wanted.
        InputError: no font is installed, and a PNG is wanted.

    """
    if path.suffix == ".png":
        path.write_bytes(_png(lone_svg(item)))
    elif path.suffix == ".svg":
        path.write_text(lone_svg(item), "utf-8", errors="replace")
    elif path.suffix == ".csv":
        path.write_text(_csv(item), "utf-8", errors="replace", newline="")
    elif isinstance(item, ChartTable):
        path.write_text(TYPESET[path.suffix](item), "utf-8", errors="replace")


def _csv(item: Chart | ChartTable) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(item.csv())
    return text.getvalue()


def _png(drawing: str) -> bytes:
    resvg = require("resvg_py", "report")
    letter = drawing[: drawing.index("</style>")] + '</style><text class="name" y="12">M</text></svg>'
    if resvg.svg_to_bytes(letter) == resvg.svg_to_bytes(letter, skip_system_fonts=True):
        raise InputError("a PNG needs a font, and none is found. Install one, as DejaVu Sans, or write SVG")
    return resvg.svg_to_bytes(drawing, zoom=ZOOM)

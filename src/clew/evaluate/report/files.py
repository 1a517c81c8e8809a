"""Charts and tables as files: CSV, SVG, PNG drawn from the SVG (extra `report`), Markdown and LaTeX."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from clew.errors import InputError
from clew.evaluate.report.charts import Chart, ChartTable, TableCell
from clew.evaluate.report.svg import lone_svg
from clew.text.embedders.extras import require

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
ZOOM = 2.0
"""Pixels of a PNG for each of the drawing."""


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


def write_item(item: Chart | ChartTable, path: Path) -> None:
    """Write a chart or a table by the ending of the file, which is one of `TYPESET`, .csv, .svg or .png.

    Raises MissingExtra (the extra `report` is not installed, and a PNG is wanted) and InputError (no font is
    installed, and a PNG is wanted).
    """
    if path.suffix == ".png":
        path.write_bytes(_png(lone_svg(item)))
    elif path.suffix == ".svg":
        path.write_text(lone_svg(item), "utf-8", errors="replace")
    elif path.suffix == ".csv":
        with path.open("w", encoding="utf-8", errors="replace", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(item.csv())
    elif isinstance(item, ChartTable):
        path.write_text(TYPESET[path.suffix](item), "utf-8", errors="replace")


def _png(drawing: str) -> bytes:
    resvg = require("resvg_py", "report")
    letter = drawing[: drawing.index("</style>")] + '</style><text class="name" y="12">M</text></svg>'
    if resvg.svg_to_bytes(letter) == resvg.svg_to_bytes(letter, skip_system_fonts=True):
        raise InputError("a PNG needs a font, and none is found. Install one, as DejaVu Sans, or write SVG")
    return resvg.svg_to_bytes(drawing, zoom=ZOOM)

"""Charts and tables as files: CSV; SVG and PNG of charts (extra `report`); Markdown and LaTeX of tables."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Literal

from clew.evaluate.report.charts import Chart, ChartTable, TableCell
from clew.evaluate.report.drawing import draw

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

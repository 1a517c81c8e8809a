"""Tables of the report for papers and notes: Markdown, and LaTeX (booktabs)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from clew.evaluate.report.charts import ChartTable, TableCell

_LATEX = {
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
}
_SPECIAL = re.compile("[" + re.escape("".join(_LATEX)) + "]")


def markdown(table: ChartTable) -> str:
    """A table of GitHub's Markdown, under its title; the best figures are bold."""
    width = len(table.header)
    rules = ["---"] * table.names + ["---:"] * (width - table.names)
    lines = [f"**{_cell(table.title)}**", "", _line(map(_cell, table.header)), _line(rules)]
    for row in table.rows:
        cells = [_marked(cell, _cell, "**{}**") for cell in row]
        lines.append(_line(cells + [""] * (width - len(cells))))
    return "\n".join(lines + (["", _cell(table.note)] if table.note else [])) + "\n"


def latex(table: ChartTable) -> str:
    r"""A `table` with a `tabular`, for a document that loads `booktabs`; the best figures are bold."""
    width = len(table.header)
    body: list[str] = []
    for row in table.rows:
        cells = [_marked(cell, escaped, "\\textbf{{{}}}") for cell in row]
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
    return _SPECIAL.sub(lambda found: _LATEX[found[0]], text)


def _marked(cell: TableCell | str, shown: Callable[[str], str], bold: str) -> str:
    if isinstance(cell, str):
        return shown(cell)
    text = bold.format(shown(cell.text)) if cell.best else shown(cell.text)
    return f"{text} ({shown(cell.small)})" if cell.small else text


def _cell(text: str) -> str:
    """Text in a cell of Markdown."""
    return re.sub(r"([\\|*_`<])", r"\\\1", text).replace("\n", " ")


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"

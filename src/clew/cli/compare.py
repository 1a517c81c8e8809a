"""One question, several methods, one table: `clew ask --method A,B`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from clew.cli.console import escape, out, put, write_json
from clew.evaluate.compared import MethodAnswers, MethodRow

if TYPE_CHECKING:
    from clew.types import Answer

MOST_NAMES_IN_CELL = 6
"""Answers that a cell of the table names; the rest is counted."""

LONGEST_CELL = 160
"""Characters of a text without answers that a cell shows."""
NARROW = 72
"""A table needs a terminal of so many columns."""
FIGURES = ("evidence", "cited", "calls", "tokens", "ms")


def write_comparison(compared: MethodAnswers, *, json: bool) -> None:
    """Write what several methods answered, and what it cost. Exits with 1 if all of them failed."""
    if json:
        write_json(compared.as_json())
    else:
        _print(compared.rows)
    if all(row.error is not None for row in compared.rows):
        raise typer.Exit(1)


def _print(rows: Sequence[MethodRow]) -> None:
    """Print a table, or on a narrow terminal a few lines for each method; what failed comes last."""
    from rich.text import Text

    console = out()
    answered_rows = [row for row in rows if row.answer is not None]
    if answered_rows and console.width >= NARROW:
        console.print(_table(answered_rows))
    for row in answered_rows if console.width < NARROW else ():
        method, answer_text, abstained, *figures = _cells(row)
        used = ", ".join(f"{title} {figure}" for title, figure in zip(FIGURES, figures, strict=True))
        console.print(Text(method, "bold cyan"), Text(abstained or answer_text), soft_wrap=True)
        put(console, f"  {used}", "dim")
    for row in rows:
        if row.error is not None:
            put(console, f"{row.method}: error: {escape(str(row.error))}", "yellow")


def _table(rows: Sequence[MethodRow]) -> Any:  # noqa: ANN401 (rich is imported late)
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold cyan")
    table.add_column("method", no_wrap=True)
    table.add_column("answer", overflow="fold")
    table.add_column("abstained", no_wrap=True)
    for title in FIGURES:
        table.add_column(title, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(cell) for cell in _cells(row)))
    return table


def _cells(row: MethodRow) -> list[str]:
    answer = row.answer
    if answer is None:
        return []
    used = answer.usage
    return [
        row.method,
        _describe_answer(answer),
        "" if answer.abstained is None else answer.abstained.reason,
        f"{row.evidence:,}",
        f"{row.cited:,}",
        f"{used.calls:,}",
        f"{used.input_tokens + used.output_tokens:,}",
        f"{answer.timings_ms.get('total', 0.0):,.0f}",
    ]


def _describe_answer(answer: Answer) -> str:
    """The first answers, or the start of a text without any, with marks such as *ungrounded*."""
    names = [escape(a.label) for a in answer.answers]
    omitted = len(names) - MOST_NAMES_IN_CELL
    text = " · ".join(names[:MOST_NAMES_IN_CELL]) + (f" … and {omitted:,} more" if omitted > 0 else "")
    if not names:
        text = escape(" ".join(answer.text.split())) if answer.abstained is None else "–"
        text = text if len(text) <= LONGEST_CELL else text[:LONGEST_CELL] + " …"
    marks = [] if answer.grounded else ["ungrounded"]
    marks += [] if answer.complete or not names else ["incomplete"]
    return text + (f" ({', '.join(marks)})" if marks else "")

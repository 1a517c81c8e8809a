"""`clew compare`: one question, several methods, one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clew.cli.console import escape, out, put, write_json
from clew.cli.method_options import MethodOptions
from clew.cli.model import ModelOptions, opened_model
from clew.cli.opening import AskedSource, Json, LlmSpec, SourceOptions, open_to_ask, waiting_note
from clew.cli.options import option, with_short_help
from clew.cli.progress import explained_wait
from clew.errors import UsageError
from clew.evaluate.compared import MethodRow, ask_each
from clew.methods.registry import method_named, ranks_triples
from clew.text.clean import clean_question

if TYPE_CHECKING:
    from clew.types import Answer

MOST_NAMES_IN_CELL = 6
"""Answers that a cell of the table names; the rest is counted."""

LONGEST_CELL = 160
"""Characters of a text without answers that a cell shows."""
NARROW = 72
"""A table needs a terminal of so many columns."""
FIGURES = ("evidence", "cited", "calls", "tokens", "ms")


@dataclass(frozen=True, slots=True)
class AskedOptions:
    """Which methods are asked, about what, with which model."""

    question: Annotated[str, typer.Argument(metavar="QUESTION", help="In quotes.")]
    methods: str = option("auto,kg-rag,kaping", "Names of methods, with commas between.", "A,B,…")
    entities: list[str] | None = option(None, "An entity of the question; repeat it for more.", "NAME")
    llm: LlmSpec = None


@with_short_help(first=("quiet", "methods", "entities", "llm"))
def compare(
    source: AskedSource,
    *,
    question_options: AskedOptions,
    calling: ModelOptions,
    options: MethodOptions,
    reading: SourceOptions,
    json: Json = False,
) -> None:
    """Ask several methods the same question, and see what each answers and what it costs.

    Each method gets those of the options that it takes. A method that fails has its error in its row. Exit
    code 1 if all of them fail.
    """
    names = list(
        dict.fromkeys(name for part in question_options.methods.split(",") if (name := part.strip()))
    )
    if not names:
        raise UsageError("No method given. Write: --methods auto,kg-rag")
    for name in names:
        method_named(name)  # an unknown one before a long indexing, not after it
    question = clean_question(question_options.question)
    settings = options.settings_of_each(names)
    entities, ranking = question_options.entities or (), ranks_triples(settings)
    with (
        opened_model(question_options.llm, calling) as model,
        open_to_ask(source, reading, rank_triples=ranking) as clew,
        explained_wait(waiting_note(model), quiet=reading.quiet),
    ):
        compared = ask_each(clew, question, names, entities=entities, model=model, settings=settings)
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

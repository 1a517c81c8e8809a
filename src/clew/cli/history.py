"""`clew history`: solved questions, which SynaptiQA shows the model as examples."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from clew.cli.console import escape, warn, write, write_json
from clew.cli.input import objects, source_name
from clew.cli.opening import Faults, Json
from clew.errors import InputError, ParseError, UsageError
from clew.opening.environment import default_history
from clew.stores.history import HISTORY_ADVICE, History, SolvedEntry, check_query, source_key
from clew.text.clean import clean_question
from clew.text.counted import counted

app = typer.Typer(
    help="Keep solved questions of a source with their queries, as examples for synaptiqa.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
HistorySource = Annotated[
    str, typer.Argument(metavar="SOURCE", help="An index, a graph file, or neo4j://host.")
]
HistoryPath = Annotated[
    Path | None,
    typer.Option("--file", metavar="FILE.jsonl", help="The history; by default $CLEW_HISTORY, or your own."),
]


@app.command()
def add(
    source: HistorySource,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="In quotes.")],
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The statement of Cypher that answers it.")],
    file: HistoryPath = None,
) -> None:
    """Add a question and its query; a question that is there gets the new query."""
    added = _history(file).add([SolvedEntry(source_key(source), clean_question(question), query.strip())])
    warn("added" if added else "it is there already")


@app.command("list")
def list_(
    source: Annotated[
        str | None, typer.Argument(metavar="[SOURCE]", help="Only those of this source.")
    ] = None,
    file: HistoryPath = None,
    json: Json = False,
) -> None:
    """List the solved questions, oldest first."""
    history = _history(file)
    entries = history.entries(None if source is None else source_key(source))
    if json:
        write_json({"file": str(history.path), "entries": [asdict(entry) for entry in entries]})
        return
    for entry in entries:
        write(escape(entry.question))
        write(f"  {escape(entry.query)}")
        if source is None:
            write(f"  {escape(entry.source)}")
    warn(f"{counted(len(entries), 'solved question')} in {history.path}")


@app.command("import")
def import_(
    source: HistorySource,
    questions: Annotated[
        str, typer.Argument(metavar="FILE.jsonl", help='A line {"question", "query"} each; - is stdin.')
    ],
    file: HistoryPath = None,
    on_error: Faults = "fail",
) -> None:
    """Add the questions of a file; nothing is added if one line is wrong, unless it is skipped."""
    entries: list[SolvedEntry] = []
    skipped: list[ParseError] = []
    key, name = source_key(source), source_name(questions)
    for number, value in objects(questions):
        try:
            entries.append(_entry(key, value, name, number))
        except ParseError as error:
            if on_error == "fail":
                raise
            skipped.append(error)
    if not entries and not skipped:
        raise InputError(f'{name}: no questions. Write a line {{"question": "…", "query": "…"}} for each')
    added = _history(file).add(entries)
    warn(f"{counted(added, 'question')} added, {len(entries) - added:,} there already")
    if skipped:
        warn(f"{counted(len(skipped), 'line')} skipped, the first: {skipped[0]}")


@app.command()
def remove(
    source: HistorySource,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="In quotes.")],
    file: HistoryPath = None,
) -> None:
    """Remove a question."""
    if not _history(file).remove(source_key(source), question.strip()):
        raise InputError(f"The history has no such question of {source}. See: clew history list {source}")
    warn("removed")


def _history(file: Path | None) -> History:
    return History(default_history() if file is None else file)


def _entry(source: str, value: dict[str, object], file: str, line: int) -> SolvedEntry:
    question, query = value.get("question"), value.get("query")
    if not isinstance(question, str) or not isinstance(query, str):
        raise ParseError(file, line, "'question' or 'query' is missing, or no string", HISTORY_ADVICE)
    try:
        check_query(query)
        return SolvedEntry(source, clean_question(question), query.strip())
    except UsageError as error:
        raise ParseError(file, line, str(error)) from error

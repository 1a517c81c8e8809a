"""`clew query` and `clew match`: a guarded read query, or a pattern, on an index or a database."""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from clew.cli.console import UNANSWERED, Bar, escape, explained_wait, out, put, warn, write_csv, write_json
from clew.cli.opening import (
    Json,
    RowOptions,
    SourceArgument,
    SourceOptions,
    objects,
    open_source,
    read_bytes,
    source_name,
    text_or_stdin,
    unique_ids,
)
from clew.cli.options import option, with_options
from clew.errors import ParseError, UsageError
from clew.foundation.forms import json_line, json_object
from clew.foundation.system import COMPILING
from clew.opening.environment import neo4j_login
from clew.stores.opening import is_address, is_sparql, is_sparql_query, open_database, shown_address
from clew.text.normalise import counted

if TYPE_CHECKING:
    from clew.engine import Clew
    from clew.stores.store import Rows, Store
    from clew.types import MatchResult, Pattern


@with_options
def query(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="An index, a graph file, neo4j://host:7687/database, sparql+https://host/path.",
        ),
    ],
    *,
    statement: Annotated[
        str, typer.Argument(metavar="QUERY", help="A reading query of Cypher or SPARQL; - is stdin.")
    ],
    seconds: float = option(10.0, "Stop the query after so many seconds.", "S", "--timeout", min=0.1),
    most_rows: int = option(1000, "Return so many rows at most.", "N", "--rows", min=1),
    show: bool = option(False, "Print the query as it is sent, on stderr.", None, "--explain"),
    reading: SourceOptions,
    rows: RowOptions,
) -> None:
    """Run a query that only reads, of Cypher or SPARQL: whatever else it may do is refused.

    An index takes both languages. A limit of rows and a timeout are always set; values of Cypher are sent as
    parameters. Exit code 3 means that there are no rows.
    """
    from clew.stores.store import as_json

    text = text_or_stdin(statement)
    with closing(_open(source, text, reading, seconds, most_rows)) as store:
        result = store.run(text)
    if show:
        values = dict(result.sent.parameters)
        warn(f"sent: {result.sent.text}" + (f"  with {values}" if values else ""))
    if rows.chosen_form == "json":
        json_rows = [[as_json(value) for value in row] for row in result.rows]
        write_json({"columns": list(result.columns), "rows": json_rows, "complete": result.complete})
    elif rows.chosen_form == "csv":
        write_csv(result.columns, ([_cell(value) for value in row] for row in result.rows))
    else:
        print_rows(result)
    if not result.complete and not reading.quiet:
        limit_text = "row" if len(result.rows) == 1 else f"{len(result.rows):,} rows"
        warn(f"only the first {limit_text}; --rows N returns more")
    if not result.rows:
        raise typer.Exit(UNANSWERED)


def _open(source: str, text: str, reading: SourceOptions, seconds: float, rows: int) -> Store:
    sparql = is_sparql_query(text)
    if is_address(source):
        if sparql != is_sparql(source) and text.strip():
            languages = ("SPARQL", "Cypher") if sparql else ("Cypher", "SPARQL")
            raise UsageError(
                f"The query looks like {languages[0]}, but {shown_address(source)} is asked in {languages[1]}"
            )
        return open_database(source, neo4j_login(), seconds=seconds, rows=rows)
    return open_source(source, reading).open_store(text, seconds=seconds, rows=rows)


def print_rows(result: Rows) -> None:
    """Print rows as a table."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for name in result.columns:
        table.add_column(Text(escape(name)))
    for row in result.rows:
        table.add_row(*(Text(escape(_cell(value))) for value in row))
    out().print(table)


def _cell(value: object) -> str:
    """Write a value for people; a term of RDF as its text alone."""
    from clew.stores.sparql.embedded import PREFIXES
    from clew.stores.sparql.guard import short_name
    from clew.stores.store import StoredTerm, as_json

    if isinstance(value, StoredTerm):
        own = {prefix: start for prefix, start in PREFIXES.items() if start.startswith("urn:clew:")}
        return short_name(value.value, own, value.value) if value.kind == "uri" else value.value
    if value is None:
        return ""
    return value if isinstance(value, str) else json_line(as_json(value))


@with_options
def match(
    source: SourceArgument,
    pattern: Annotated[
        str | None,
        typer.Argument(metavar="PATTERN", help="A JSON file, JSON itself, or - for stdin. See docs/json.md."),
    ] = None,
    *,
    patterns: str | None = option(None, "Many patterns, one a line; - is stdin.", "FILE.jsonl"),
    k: int = option(3, "How many matches, best first.", "N", min=1),
    every: bool = option(False, "All matches that tie with the best.", None, "--all"),
    milliseconds: float | None = option(None, "Stop the search of a pattern after this time.", "MS", min=0),
    reading: SourceOptions,
    json: Json = False,
) -> None:
    """Find a pattern in the graph: its matches in order of graph semantic distance.

    Exit code 3 means that a single pattern has no match.
    """
    if (pattern is None) == (patterns is None):
        raise UsageError(f"Give one pattern (clew match {source} pattern.json) or --patterns FILE.jsonl")
    pattern_lines = _read(pattern, patterns)
    single, has_match = pattern is not None, False
    with open_source(source, reading) as clew, Bar(quiet=reading.quiet or single) as bar:
        for done, (id, wanted) in enumerate(pattern_lines, 1):
            start, compiling = time.perf_counter(), COMPILING.milliseconds
            with explained_wait("", quiet=reading.quiet or done > 1):
                result = clew.match(wanted, k=k, all=every, milliseconds=milliseconds)
            elapsed = (time.perf_counter() - start) * 1000 - (COMPILING.milliseconds - compiling)
            if single and not json:
                _print(clew, result, elapsed)
            else:
                write_json(clew.matches_json(result, id=id, milliseconds=elapsed))
            has_match = has_match or bool(result.matches)
            bar.update("matching", done, len(pattern_lines), "patterns")
    if single and not has_match:
        raise typer.Exit(UNANSWERED)


def _read(pattern: str | None, patterns: str | None) -> list[tuple[str | None, Pattern]]:
    """Read a pattern, or all before the first search, so that a malformed line costs nothing."""
    from clew.graph.match.patterns import PATTERN_ADVICE, pattern_from_json

    if pattern is None:
        path = str(patterns)
        file = source_name(path)
        lines = [
            (id, pattern_from_json(value, f"{file}:{number}"))
            for number, id, value in unique_ids(objects(path), file)
        ]
        if not lines:
            raise ParseError(file, 0, "no patterns", f"On each line, {PATTERN_ADVICE}")
        return [*lines]
    inline = pattern.lstrip().startswith(("{", "["))
    file, advice = "PATTERN" if inline else source_name(pattern), f"A pattern is one object: {PATTERN_ADVICE}"
    if inline:
        raw = pattern.encode("utf-8", "surrogateescape")
    else:
        raw = read_bytes(pattern, f"Check the path. {advice}")
    value = json_object(raw.removeprefix(b"\xef\xbb\xbf"), file, 0, advice)
    id = value.get("id")
    return [(None if id is None else str(id), pattern_from_json(value, file))]


def _print(clew: Clew, result: MatchResult, elapsed: float) -> None:
    """Print matches as paths with their GSD, best first; `elapsed` in ms."""
    from rich.text import Text

    from clew.cli.answer_view import paths_of

    console, count = out(), len(result.matches)
    put(console, Text(counted(count, "match", "matches")).append(f"   ({elapsed:,.1f} ms)", "dim"))
    for graph_match in result.matches[:50]:
        misses = (
            f", {graph_match.direction_misses} against the direction" if graph_match.direction_misses else ""
        )
        put(console, f"gsd {graph_match.gsd:.4f}{misses}", "bold")
        for path in paths_of(graph_match.texts, ""):
            put(console, path)
    if count > 50:
        put(console, f"… {count - 50:,} more; --json prints all", "dim")
    if not result.complete:
        bound = f"{result.bound:.4f}"
        note = f"The search stopped early; no match that is missing has a smaller GSD than {bound}."
        put(console, note, "yellow")

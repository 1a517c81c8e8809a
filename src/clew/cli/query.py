"""`clew query`: run a guarded read query on an index or a database."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from clew.cli.console import escape, out, warn, write_csv, write_json
from clew.cli.opening import RowOptions, SourceOptions, open_source, text_or_stdin
from clew.cli.options import option, with_options
from clew.errors import UsageError
from clew.foundation.forms import json_line
from clew.opening.environment import neo4j_login
from clew.stores.opening import is_address, is_sparql, is_sparql_query, open_database, shown_address

if TYPE_CHECKING:
    from clew.stores.store import CypherStore, Rows, SparqlStore

NO_ROWS = 3


@dataclass(frozen=True, slots=True)
class StatementOptions:
    """What is run, and what it may take."""

    statement: Annotated[
        str, typer.Argument(metavar="QUERY", help="A reading query of Cypher or SPARQL; - is stdin.")
    ]
    seconds: float = option(10.0, "Stop the query after so many seconds.", "S", "--timeout", min=0.1)
    rows: int = option(1000, "Return so many rows at most.", "N", min=1)
    show: bool = option(False, "Print the query as it is sent, on stderr.", None, "--explain")


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
    statement_options: StatementOptions,
    reading: SourceOptions,
    rows: RowOptions,
) -> None:
    """Run a query that only reads, of Cypher or SPARQL: whatever else it may do is refused.

    An index takes both languages. A limit of rows and a timeout are always set; values of Cypher are sent as
    parameters. Exit code 3 means that there are no rows.
    """
    from clew.stores.store import as_json

    text = text_or_stdin(statement_options.statement)
    with closing(_open(source, text, statement_options, reading)) as store:
        result = store.run(text)
    if statement_options.show:
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
        raise typer.Exit(NO_ROWS)


def _open(
    source: str, text: str, statement_options: StatementOptions, reading: SourceOptions
) -> CypherStore | SparqlStore:
    sparql, seconds, rows = is_sparql_query(text), statement_options.seconds, statement_options.rows
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
    from clew.stores.store import StoredTerm, as_json

    if isinstance(value, StoredTerm):
        return short_name(value.value) if value.kind == "uri" else value.value
    if value is None:
        return ""
    return value if isinstance(value, str) else json_line(as_json(value))


def short_name(iri: str) -> str:
    """Write an IRI of an index with its prefix, as it stands in queries."""
    from clew.stores.sparql.embedded import PREFIXES

    for prefix, start in PREFIXES.items():
        if start.startswith("urn:clew:") and iri.startswith(start):
            return f"{prefix}:{iri.removeprefix(start)}"
    return iri

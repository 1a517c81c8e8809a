"""`clew query`: run a guarded read query on an index or a database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from clew.cli.opening import Json, Quiet, opened
from clew.errors import UsageError

if TYPE_CHECKING:
    from clew.stores.store import CypherStore, Rows

NO_ROWS = 3


def query(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="An index, a graph file, neo4j://host:7687/database.")
    ],
    statement: Annotated[str, typer.Argument(metavar="QUERY", help="A reading statement of Cypher.")],
    seconds: Annotated[
        float, typer.Option("--timeout", metavar="S", min=0.1, help="Stop the query after so many seconds.")
    ] = 10.0,
    rows: Annotated[
        int, typer.Option("--rows", metavar="N", min=1, help="Return so many rows at most.")
    ] = 1_000,
    show: Annotated[
        bool, typer.Option("--explain", help="Print the query as it is sent, on stderr.")
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run a Cypher query that only reads: writes, calls of procedures and endless expressions are refused.

    Values are sent as parameters; a limit and a timeout are always set. Exit code 3 means that there are no
    rows.
    """
    from clew.cli.console import warn, write_json
    from clew.stores.store import as_json

    store = _open(source, seconds, rows, quiet=quiet)
    try:
        result = store.run(statement)
    finally:
        store.close()
    if show:
        warn(f"sent: {result.sent.text}  with {dict(result.sent.parameters)}")
    if json:
        found = [[as_json(value) for value in row] for row in result.rows]
        write_json({"columns": list(result.columns), "rows": found, "complete": result.complete})
    else:
        _print(result)
    if not result.complete and not quiet:
        warn(f"only the first {len(result.rows):,} rows; --rows N returns more")
    if not result.rows:
        raise typer.Exit(NO_ROWS)


def _open(source: str, seconds: float, rows: int, *, quiet: bool) -> CypherStore:
    from clew.stores.cypher.guard import Rules
    from clew.stores.opening import CYPHER_SCHEMES, is_address, open_neo4j

    if is_address(source):
        if source.partition("://")[0] not in CYPHER_SCHEMES:
            raise UsageError("SPARQL endpoints are not asked by this command yet. Use an index or neo4j://")
        from clew.engine import neo4j_user

        user, password = neo4j_user()
        return open_neo4j(source, user=user, password=password, seconds=seconds, rules=Rules(rows=rows))
    from clew.stores.ladybug import LadybugStore

    clew = opened(source, None, quiet=quiet)
    return LadybugStore.of_graph(clew.index.graph, seconds=seconds, rules=Rules(rows=rows))


def _print(result: Rows) -> None:
    from rich.table import Table
    from rich.text import Text

    from clew.cli.console import json_line, out, shown
    from clew.stores.store import as_json

    table = Table(box=None, pad_edge=False)
    for name in result.columns:
        table.add_column(Text(shown(name)))
    for row in result.rows:
        cells = [value if isinstance(value, str) else json_line(as_json(value)) for value in row]
        table.add_row(*(Text(shown(cell)) for cell in cells))
    out().print(table)

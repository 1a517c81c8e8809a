"""`clew cypher`: work on Cypher statements, without a database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from clew.cli.console import warn, write, write_json
from clew.cli.input import objects, source_name, text_or_stdin, unique_ids
from clew.errors import InputError, ParseError, UsageError
from clew.stores.cypher.direction import Fixed
from clew.stores.cypher.direction import fix as fix_statement
from clew.stores.cypher.schema import GraphSchema, parse_schema
from clew.stores.errors import QueryError

ILLEGAL = 2
app = typer.Typer(rich_markup_mode=None, no_args_is_help=True, add_completion=False)


@app.callback()
def cypher() -> None:
    """Work on Cypher statements, without a database."""


@app.command()
def fix(
    query: Annotated[str | None, typer.Argument(metavar="QUERY", help="A statement; - is stdin.")] = None,
    schema: Annotated[
        str | None,
        typer.Option(metavar="SCHEMA", help='"(Person, WORKS_AT, Company), …", or a file that holds it.'),
    ] = None,
    file: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.jsonl", help='Many: {"statement": …, "schema": …} on each line; - is stdin.'
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one line of JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not say what was changed.")] = False,
) -> None:
    """Turn the arrows of a statement that a schema forbids, and print it.

    Exit code 2 means that a hop is legal in neither direction, or that the statement cannot be read; the
    message says which. With --file a line of JSON is printed for every line.
    """
    if (query is None) == (file is None):
        example = 'clew cypher fix --schema "(A, R, B)" "MATCH …"'
        raise UsageError(f"Give one statement ({example}) or --file FILE.jsonl")
    graph_schema = None if schema is None else _read_schema(schema)
    if file is not None:
        _fix_many(file, graph_schema)
        return
    if graph_schema is None:
        raise UsageError('Give the schema: --schema "(Person, WORKS_AT, Company), …"')
    fixed = fix_statement(text_or_stdin(str(query)), graph_schema)
    if json:
        write_json(_as_json(None, fixed))
        return
    write(fixed.text)
    for change in () if quiet else fixed.corrections:
        warn(f"{change.before}  →  {change.after}: {change.reason}")


def _read_schema(text: str) -> GraphSchema:
    """Read a schema that is written out, or the file that holds one."""
    if text.lstrip()[:1] in ("(", "[", ""):
        return parse_schema(text)
    try:
        return parse_schema(Path(text).read_text("utf-8"))
    except FileNotFoundError as error:
        reason = f'{text!r} is no schema and no file. Write "(Label, RELATION, Label), …"'
        raise UsageError(reason) from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{text}: cannot be read. Check that it is a text file") from error


def _fix_many(file: str, graph_schema: GraphSchema | None) -> None:
    """Fix every line; those that cannot be fixed are printed with their error, and make the exit code 2."""
    name, failed = source_name(file), False
    schemas: dict[str, GraphSchema] = {}
    for number, id, value in list(unique_ids(objects(file), name)):
        text, schema = _line(value, name, number, graph_schema, schemas)
        try:
            write_json(_as_json(id, fix_statement(text, schema)))
        except QueryError as error:
            failed, hops = True, list(getattr(error, "hops", ()))
            line = {"id": id, "statement": None, "corrections": [], "error": str(error), "illegal": hops}
            write_json(line)
    if failed:
        raise typer.Exit(ILLEGAL)


def _line(
    value: dict[str, Any],
    file: str,
    number: int,
    graph_schema: GraphSchema | None,
    schemas: dict[str, GraphSchema],
) -> tuple[str, GraphSchema]:
    """Return the statement and schema of a line."""
    text = next((value[key] for key in ("statement", "query", "cypher") if key in value), None)
    if not isinstance(text, str):
        reason = "field 'statement' is missing or not a string"
        raise ParseError(file, number, reason, 'Write {"statement": "…"}')
    line_schema = value.get("schema")
    if line_schema is None:
        if graph_schema is None:
            raise ParseError(file, number, "field 'schema' is missing", "Write it, or give --schema")
        return text, graph_schema
    if not isinstance(line_schema, str):
        advice = 'Write "(Label, RELATION, Label), …"'
        raise ParseError(file, number, "field 'schema' is not a string", advice)
    if line_schema not in schemas:
        try:
            schemas[line_schema] = parse_schema(line_schema)
        except UsageError as error:
            raise ParseError(file, number, str(error)) from error
    return text, schemas[line_schema]


def _as_json(id: str | None, fixed: Fixed) -> dict[str, Any]:
    changes = [{"before": c.before, "after": c.after, "reason": c.reason} for c in fixed.corrections]
    return {"id": id, "statement": fixed.text, "corrections": changes, "error": None, "illegal": []}

"""`clew match`: patterns → matches with their graph semantic distance."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clew.cli.opening import Json, SourceArgument, SourceOptions, opened
from clew.cli.options import with_options
from clew.compiling import COMPILING
from clew.errors import ParseError, UsageError

if TYPE_CHECKING:
    from clew.engine import Clew
    from clew.graph.match.tables import Tables
    from clew.types import Pattern

NO_MATCH = 3


@dataclass(frozen=True, slots=True)
class PatternLine:
    """A pattern with its id."""

    id: str | None
    pattern: Pattern
    record: Mapping[str, Any]
    where: str


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How many matches are looked for, how far, and for how long."""

    patterns: Annotated[
        str | None, typer.Option(metavar="FILE.jsonl", help="Many patterns, one a line; - is stdin.")
    ] = None
    k: Annotated[int, typer.Option("--k", metavar="N", min=1, help="How many matches, best first.")] = 3
    every: Annotated[bool, typer.Option("--all", help="All matches that tie with the best.")] = False
    tables: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Distances given as tables (docs/performance.md), not embedded."),
    ] = None
    milliseconds: Annotated[
        float | None, typer.Option(metavar="MS", min=0, help="Stop the search of a pattern after this time.")
    ] = None


@with_options
def match(
    source: SourceArgument,
    pattern: Annotated[
        str | None,
        typer.Argument(metavar="PATTERN", help="A JSON file, JSON itself, or - for stdin. See docs/json.md."),
    ] = None,
    *,
    searching: SearchOptions,
    reading: SourceOptions,
    json: Json = False,
) -> None:
    """Find a pattern in the graph: its matches in order of graph semantic distance.

    Exit code 3 means that a single pattern has no match.
    """
    if (pattern is None) == (searching.patterns is None):
        raise UsageError(f"Give one pattern (clew match {source} pattern.json) or --patterns FILE.jsonl")
    asked = _one(pattern) if pattern is not None else _many(str(searching.patterns))
    from clew.cli.console import out, write_json
    from clew.cli.progress import Bar, explained_wait

    single, found = pattern is not None, False
    with (
        opened(source, reading) as clew,
        Bar(quiet=reading.quiet or single) as bar,
    ):
        given = None if searching.tables is None else _open_tables(clew, searching.tables)
        every_distance = [None if given is None else given.of(item.record, item.where) for item in asked]
        for done, (item, distances) in enumerate(zip(asked, every_distance, strict=True), 1):
            start, compiling = time.perf_counter(), COMPILING.milliseconds
            with explained_wait("", quiet=reading.quiet or done > 1):
                result = clew.match(
                    item.pattern,
                    k=searching.k,
                    all=searching.every,
                    milliseconds=searching.milliseconds,
                    distances=distances,
                )
            elapsed = (time.perf_counter() - start) * 1000 - (COMPILING.milliseconds - compiling)
            if single and not json:
                from clew.cli.match_view import print_matches

                print_matches(out(), clew, result, elapsed)
            else:
                write_json(clew.matches_json(result, id=item.id, milliseconds=elapsed))
            found = found or bool(result.matches)
            bar.update("matching", done, len(asked), "patterns")
    if single and not found:
        raise typer.Exit(NO_MATCH)


def _open_tables(clew: Clew, folder: Path) -> Tables:
    from clew.graph.match.tables import Tables

    return Tables.open(folder, clew.index.graph.nodes, len(clew.index.graph.relations))


def _one(path: str) -> list[PatternLine]:
    from clew.cli.jsonl import read_bytes, source_name
    from clew.graph.match.patterns import PATTERN_ADVICE, pattern_from_json
    from clew.json_form import json_object

    inline = path.lstrip().startswith(("{", "["))
    file = "PATTERN" if inline else source_name(path)
    raw = path.encode("utf-8", "surrogateescape") if inline else read_bytes(path)
    value = json_object(
        raw.removeprefix(b"\xef\xbb\xbf"), file, 0, f"A pattern is one object: {PATTERN_ADVICE}"
    )
    id = value.get("id")
    return [PatternLine(None if id is None else str(id), pattern_from_json(value, file), value, file)]


def _many(path: str) -> list[PatternLine]:
    """Read all patterns before the first search, so that a malformed line costs nothing."""
    from clew.cli.jsonl import objects, source_name, unique_ids
    from clew.graph.match.patterns import PATTERN_ADVICE, pattern_from_json

    file = source_name(path)
    asked = [
        PatternLine(id, pattern_from_json(value, f"{file}:{number}"), value, f"{file}:{number}")
        for number, id, value in unique_ids(objects(path), file)
    ]
    if not asked:
        raise ParseError(file, 0, "no patterns", f"On each line, {PATTERN_ADVICE}")
    return asked

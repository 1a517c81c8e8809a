"""`clew match`: patterns → matches with their graph semantic distance."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clew.cli.console import Bar, explained_wait, out, put, write_json
from clew.cli.opening import (
    Json,
    SourceArgument,
    SourceOptions,
    objects,
    open_source,
    read_bytes,
    source_name,
    unique_ids,
)
from clew.cli.options import option, with_options
from clew.errors import ParseError, UsageError
from clew.foundation.bounds import COMPILING
from clew.foundation.forms import json_object
from clew.text.normalise import counted

if TYPE_CHECKING:
    from clew.engine import Clew
    from clew.types import MatchResult, Pattern

NO_MATCH = 3
MOST_SHOWN_MATCHES = 50


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

    patterns: str | None = option(None, "Many patterns, one a line; - is stdin.", "FILE.jsonl")
    k: int = option(3, "How many matches, best first.", "N", min=1)
    every: bool = option(False, "All matches that tie with the best.", None, "--all")
    tables: Path | None = option(
        None, "Distances given as tables (docs/performance.md), not embedded.", "DIR"
    )
    milliseconds: float | None = option(None, "Stop the search of a pattern after this time.", "MS", min=0)


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
    pattern_lines = _read_single(pattern) if pattern is not None else _read_many(str(searching.patterns))
    single, has_match = pattern is not None, False
    with open_source(source, reading) as clew, Bar(quiet=reading.quiet or single) as bar:
        tables = None
        if searching.tables is not None:
            from clew.graph.match.distances import Tables

            graph = clew.index.graph
            tables = Tables.open(searching.tables, graph.nodes, len(graph.relations))
        distances_by_pattern = [
            None if tables is None else tables.of(item.record, item.where) for item in pattern_lines
        ]
        for done, (item, distances) in enumerate(zip(pattern_lines, distances_by_pattern, strict=True), 1):
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
                _print(clew, result, elapsed)
            else:
                write_json(clew.matches_json(result, id=item.id, milliseconds=elapsed))
            has_match = has_match or bool(result.matches)
            bar.update("matching", done, len(pattern_lines), "patterns")
    if single and not has_match:
        raise typer.Exit(NO_MATCH)


def _read_single(path: str) -> list[PatternLine]:
    from clew.graph.match.patterns import PATTERN_ADVICE, pattern_from_json

    inline = path.lstrip().startswith(("{", "["))
    file = "PATTERN" if inline else source_name(path)
    raw = path.encode("utf-8", "surrogateescape") if inline else read_bytes(path)
    advice = f"A pattern is one object: {PATTERN_ADVICE}"
    value = json_object(raw.removeprefix(b"\xef\xbb\xbf"), file, 0, advice)
    id = value.get("id")
    return [PatternLine(None if id is None else str(id), pattern_from_json(value, file), value, file)]


def _read_many(path: str) -> list[PatternLine]:
    """Read all patterns before the first search, so that a malformed line costs nothing."""
    from clew.graph.match.patterns import PATTERN_ADVICE, pattern_from_json

    file = source_name(path)
    pattern_lines = [
        PatternLine(id, pattern_from_json(value, f"{file}:{number}"), value, f"{file}:{number}")
        for number, id, value in unique_ids(objects(path), file)
    ]
    if not pattern_lines:
        raise ParseError(file, 0, "no patterns", f"On each line, {PATTERN_ADVICE}")
    return pattern_lines


def _print(clew: Clew, result: MatchResult, elapsed: float) -> None:
    """Print matches as paths with their GSD, best first; `elapsed` in ms."""
    from rich.text import Text

    from clew.cli.answer_view import draw_path, paths_of

    console, count = out(), len(result.matches)
    put(console, Text(counted(count, "match", "matches")).append(f"   ({elapsed:,.1f} ms)", "dim"))
    for graph_match in result.matches[:MOST_SHOWN_MATCHES]:
        misses = (
            f", {graph_match.direction_misses} against the direction" if graph_match.direction_misses else ""
        )
        put(console, f"gsd {graph_match.gsd:.4f}{misses}", "bold")
        for path in paths_of(graph_match.texts, ""):
            put(console, draw_path(path))
    if count > MOST_SHOWN_MATCHES:
        put(console, f"… {count - MOST_SHOWN_MATCHES:,} more; --json prints all", "dim")
    if not result.complete:
        bound = f"{result.bound:.4f}"
        note = f"The search stopped early; no match that is missing has a smaller GSD than {bound}."
        put(console, note, "yellow")

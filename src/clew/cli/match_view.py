"""Matches of one pattern on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from clew.cli.answer_view import drawn
from clew.cli.paths import paths_of
from clew.text.counted import counted

if TYPE_CHECKING:
    from rich.console import Console

    from clew.engine import Clew
    from clew.types import MatchResult

MOST_SHOWN_MATCHES = 50


def print_matches(console: Console, clew: Clew, result: MatchResult, elapsed: float) -> None:
    """Print matches as paths with their GSD, best first; `elapsed` in ms."""
    count = len(result.matches)
    console.print(
        Text(counted(count, "match", "matches")).append(f"   ({elapsed:,.1f} ms)", "dim"), soft_wrap=True
    )
    for found in result.matches[:MOST_SHOWN_MATCHES]:
        labels = clew.labels(found.triples)
        lines = [drawn(path, labels) for path in paths_of([clew.triple(t) for t in found.triples], "")]
        misses = f", {found.direction_misses} against the direction" if found.direction_misses else ""
        console.print(Text(f"gsd {found.gsd:.4f}{misses}", "bold"), soft_wrap=True)
        for line in lines:
            console.print(line, soft_wrap=True)
    if count > MOST_SHOWN_MATCHES:
        console.print(
            Text(f"… {count - MOST_SHOWN_MATCHES:,} more; --json prints all", "dim"), soft_wrap=True
        )
    if not result.complete:
        note = (
            f"The search stopped early; no match that is missing has a smaller GSD than {result.bound:.4f}."
        )
        console.print(Text(note, "yellow"), soft_wrap=True)

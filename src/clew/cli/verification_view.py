"""A verdict on a terminal: the verdict, then every part of the claim with the triples that show it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.text import Text

from clew.cli.answer_view import drawn
from clew.cli.console import shown
from clew.cli.paths import paths_of
from clew.text.counted import counted
from clew.types import Verdict, Verification

if TYPE_CHECKING:
    from rich.console import Console

_WORDS: Mapping[Verdict, tuple[str, str]] = {
    "supported": ("supported", "green"),
    "refuted": ("refuted", "red"),
    "not_enough_info": ("not enough info", "yellow"),
}


def print_verification(console: Console, result: Verification, labels: Mapping[str, str], limit: int) -> None:
    """Print a verdict with at most `limit` triples for each part."""
    word, colour = _WORDS[result.verdict]
    line = Text(word.capitalize(), f"bold {colour}")
    if "total" in result.timings_ms:
        line.append(f"    ({result.timings_ms['total']:,.0f} ms)", "not bold dim")
    console.print(line, soft_wrap=True)
    if result.abstained is not None:
        text = f"  {result.abstained.detail}   (abstained: {result.abstained.reason})"
        console.print(Text(text, "yellow"), soft_wrap=True)
    for part in result.parts:
        word, colour = _WORDS[part.verdict]
        line = Text("  ")
        line.append(f"{word}: ", colour)
        line.append(shown(part.text))
        console.print(line, soft_wrap=True)
        for path in paths_of(part.triples[:limit], ""):
            console.print(Text("  ") + drawn(path, labels), soft_wrap=True)
        left = len(part.triples) - limit
        if left > 0:
            console.print(
                Text(f"    … and {counted(left, 'more triple')}; --json prints all", "dim"), soft_wrap=True
            )
    for note in result.notes:
        console.print(Text(f"  Note: {note}.", "yellow"), soft_wrap=True)

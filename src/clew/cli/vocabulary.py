"""`clew vocabulary`: what a team calls things."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clew.cli.console import write, write_json
from clew.cli.opening import Json, Quiet
from clew.cli.progress import Bar
from clew.text.counted import counted


def vocabulary(
    source: Annotated[str, typer.Argument(metavar="INDEX", help="An index (NAME.clew).")],
    *,
    set: Annotated[
        Path | None, typer.Option("--set", metavar="FILE.toml", help="Check a vocabulary, and keep it.")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Print the vocabulary of an index as a file to correct, or set it.

    What is set stands as it is; what Clew infers stands behind #.
    """
    from clew.engine import Clew

    with Clew.open(source) as clew:
        if set is None:
            if json:
                write_json(clew.vocabulary.as_json())
            else:
                write(clew.draft_vocabulary().rstrip())
            return
        with Bar(quiet=quiet):
            report = clew.set_vocabulary(set)
    if json:
        write_json(report.as_json())
    elif not quiet:
        named = f"{counted(report.named, 'name')} and {counted(report.terms, 'term')}"
        write(f"{source}: {named}, {counted(report.triples, 'triple')} that terms stand for")

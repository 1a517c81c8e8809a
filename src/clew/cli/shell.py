"""`clew shell`: one question after the other, on a graph that is opened once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from clew.cli.console import FAILED, escape, report_error, warn
from clew.cli.model import ModelOptions, opened_model
from clew.cli.opening import (
    STDIN,
    BoundOptions,
    LlmSpec,
    SourceArgument,
    SourceOptions,
    describe_counts,
    open_source,
)
from clew.cli.options import AskedMethod, MethodOptions, with_short_help
from clew.errors import UsageError
from clew.methods.registry import ranks_triples

if TYPE_CHECKING:
    from clew.cli.shell_commands import Session


@with_short_help(first=("quiet",))
def shell(
    context: typer.Context,
    source: SourceArgument,
    method: AskedMethod = "auto",
    llm: LlmSpec = None,
    *,
    calling: ModelOptions,
    options: MethodOptions,
    bounding: BoundOptions,
    reading: SourceOptions,
) -> None:
    """Ask one question after the other, check claims, and look around; `help` there lists what it takes.

    On a terminal Tab completes names of the graph, and what was typed is kept. Lines from a pipe are done in
    their order; exit code 1 means that one of them failed.
    """
    from clew.cli.shell_commands import Session

    if source == STDIN:
        raise UsageError("The shell reads its lines from stdin. Give it an index or a graph file")
    settings = options.settings(method)
    debug = bool(context.find_root().params.get("debug"))
    with (
        opened_model(llm, calling) as model,
        open_source(source, reading, rank_triples=ranks_triples([method]), bounds=bounding.bounds) as clew,
    ):
        session = Session(clew, method, model, settings, quiet=reading.quiet)
        if sys.stdin.isatty() and sys.stdout.isatty():
            if not reading.quiet:
                counts = describe_counts(clew.opened.manifest.about.counts)
                warn(f"{counts}. Type a question, or help. Tab completes names, Ctrl-D leaves")
            _talk(session, Path(source).stem, debug=debug)
        elif _run(session, sys.stdin, debug=debug):
            raise typer.Exit(FAILED)


def _talk(session: Session, name: str, *, debug: bool) -> None:
    """Do what a person types, until that is the end."""
    from clew.cli.shell_commands import prompt_of

    prompt = prompt_of(session.clew)
    with suppress(EOFError):
        while not session.ended:
            try:
                line = prompt.prompt(f"{escape(name)}> ")
            except KeyboardInterrupt:
                warn("Ctrl-D leaves")
                continue
            try:
                _do(session, line, debug=debug)
            except KeyboardInterrupt:
                warn("interrupted")


def _run(session: Session, lines: Iterable[str], *, debug: bool) -> int:
    """Do all lines, and count those that failed."""
    failed = 0
    reconfigure: Callable[..., None] | None = getattr(lines, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")  # marks in the place of what cannot be read
    for line in lines:
        failed += not _do(session, line, debug=debug)
        if session.ended:
            break
    return failed


def _do(session: Session, line: str, *, debug: bool) -> bool:
    """Do a line; False where it failed, with the error on stderr."""
    try:
        session.do(line)
    except Exception as error:  # whatever it is, the user sees a message, and the next line is read
        if isinstance(error, OSError) and (isinstance(error, BrokenPipeError) or error.filename is None):
            raise  # it is stdout: the next line would fail too
        report_error(error, debug=debug)
        return False
    finally:
        sys.stdout.flush()
    return True

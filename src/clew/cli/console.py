"""What is written where: data on stdout, all else on stderr; progress, and errors with their exit codes."""

from __future__ import annotations

import csv
import errno
import json
import os
import re
import sys
import time
import traceback
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self, TextIO, cast

import typer
from typer.core import TyperGroup

from clew.errors import ClewError
from clew.foundation.forms import json_line
from clew.foundation.redaction import RedactedStream
from clew.foundation.system import COMPILING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID
    from rich.text import Text

# Control characters drive a terminal, and bidirectional overrides make a text look like another one.
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def prepare_streams() -> None:
    """Show what a terminal's encoding cannot write as escapes, replace what is closed, and write no key."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # Else the first file that is opened would take the number of the stream that is closed.
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
        setattr(sys, name, RedactedStream(stream))


def escape(text: str) -> str:
    r"""Make a text of a graph or a user safe for one line of a terminal: `\x1b` for an escape character."""
    return _UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def write(text: str) -> None:
    """Write a line to stdout."""
    sys.stdout.write(text + "\n")


def write_json(value: Any) -> None:  # noqa: ANN401
    """Write one line of JSON to stdout."""
    line = json_line(value)
    encoding = (sys.stdout.encoding or "utf-8").replace("-", "").lower()
    write(line if encoding == "utf8" else json.dumps(value, allow_nan=False))


def write_csv(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a table to stdout as CSV (RFC 4180, lines end with a line feed); safe on a terminal."""
    on_terminal = sys.stdout.isatty()
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([escape(cell) if on_terminal else cell for cell in row])


def warn(text: str) -> None:
    """Write a line about the run to stderr, dim on a terminal."""
    put(err(), escape(text), "dim")


def write_error(text: str) -> None:
    """Write an error to stderr; `error:` is red on a terminal. Line ends of the text are kept."""
    message = "\n".join(escape(line) for line in text.splitlines())
    put(err(), _text("error: ", "bold red") + _text(message, ""))


def put(console: Console, line: str | Text, style: str = "") -> None:
    """Write a line to a console, which does not break it."""
    console.print(_text(line, style) if isinstance(line, str) else line, soft_wrap=True)


def out() -> Console:
    """Return the console of stdout; it has no colour when piped or when NO_COLOR is set."""
    return _console(sys.stdout)


def err() -> Console:
    """Return the console of stderr."""
    return _console(sys.stderr)


def _text(text: str, style: str) -> Text:
    from rich.text import Text

    return Text(text, style)


def _console(stream: TextIO) -> Console:
    from rich.console import Console

    console = Console(file=stream, markup=False, emoji=False, highlight=False)
    # Newer versions of rich end the program here, before anyone can say how.
    cast(Any, console).on_broken_pipe = _reader_is_gone
    return console


def _reader_is_gone() -> NoReturn:
    raise BrokenPipeError


PATIENCE = 0.5
"""Seconds before a bar appears; quick work shows none."""

BarUnit = Literal["bytes", "entities", "triples", "questions", "patterns", "claims", "files", "walks"]


class Bar:
    """A bar with rate and time left, for several stages one after the other; `quiet` shows nothing."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet or not err().is_terminal
        self._start = time.monotonic()
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._stage = ""

    def update(self, stage: str, done: int, total: int, unit: BarUnit, note: str = "") -> None:
        """Show that `done` of `total` units of a stage are done, and a `note` behind the rate."""
        if self._quiet or time.monotonic() - self._start < PATIENCE:
            return
        if self._progress is None:
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            texts = ("{task.description}", "{task.percentage:>3.0f}%", "{task.fields[rate]}")
            stage_name, share, rate = map(TextColumn, texts)
            columns = stage_name, BarColumn(), share, rate, TimeRemainingColumn()
            self._progress = Progress(*columns, console=err(), transient=True)  # it vanishes when it is done
            self._progress.start()
        if self._task is None or stage != self._stage:
            if self._task is not None:
                self._progress.remove_task(self._task)
            self._task, self._stage = self._progress.add_task(stage, total=total, rate=""), stage
        speed = self._progress.tasks[-1].speed or 0.0
        rate = f"{speed / 1e6:,.1f} MB/s" if unit == "bytes" else f"{speed:,.0f} {unit}/s"
        self._progress.update(self._task, completed=done, total=total, rate=(rate if speed else "") + note)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None


@contextmanager
def explained_wait(activity: str, *, quiet: bool = False, after: float = 2.0) -> Generator[None]:
    """Say that what is done inside (`activity`) goes on, if it takes longer than `after` seconds."""
    finished = Event()

    def say() -> None:
        if finished.wait(after):
            return
        if not COMPILING.is_compiling:
            warn(f"still working …{f' ({activity})' if activity else ''}")
        while not COMPILING.is_compiling:
            if finished.wait(after):
                return
        warn("still working … (it is compiled for this machine, once)")

    if not quiet:
        Thread(target=say, daemon=True).start()
    try:
        yield
    finally:
        finished.set()


# The one place where errors become messages and exit codes.

FAILED, UNANSWERED = 1, 3
"""Exit codes where something failed, and where there is no answer, no verdict, no row or no match."""

# Typer has its own copy of click or uses the package, depending on its version.
_ClickError = cast("type[Exception]", typer.BadParameter.__mro__[2])


_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
"""Of an error without a file name: it is stdout, since whatever Clew opens has a name."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C where something can be said about what was done: the message is for the user."""


class Commands(TyperGroup):
    """The commands, with every error turned into a message on stderr and an exit code."""

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:  # noqa: ANN401
        """Run a command line; usage errors exit with 2."""
        try:
            code = super().main(*args, standalone_mode=False, **extra)
            sys.stdout.flush()
        except _ClickError as error:
            code = _usage_error(error)
        except BrokenPipeError:
            code = _reader_gone()
        except OSError as error:  # of help that cannot be written; commands have their own
            code = _internal(error)
        code = code if isinstance(code, int) else 0
        if standalone_mode:
            sys.exit(code)
        return code

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401
        """Run the command of `ctx`."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except (_ClickError, typer.Exit):
            raise
        except BrokenPipeError:
            raise typer.Exit(_reader_gone()) from None
        except KeyboardInterrupt as error:
            warn(str(error) if isinstance(error, Interrupted) else "interrupted; everything is as it was")
            raise typer.Exit(130) from None  # 128 + SIGINT, as shells report it
        except Exception as error:  # the last resort: whatever it is, the user sees a message
            raise typer.Exit(report_error(error, debug=ctx.params.get("debug", False))) from None
        return result


def report_error(error: Exception, *, debug: bool) -> int:
    """Write what went wrong to stderr, with its trace for `debug`, and return the exit code."""
    if debug:
        traceback.print_exc()
    if not isinstance(error, ClewError):
        return _internal(error)
    *before, last = str(error), *getattr(error, "__notes__", ())
    write_error(". ".join([*(note.removesuffix(".") for note in before), last]))
    return error.exit_code


def _usage_error(error: Exception) -> int:
    """Show what typer found wrong with the command line; the help of a command that needs a subcommand."""
    if type(error).__name__ == "NoArgsIsHelpError":
        put(err(), str(error))
        return int(getattr(error, "exit_code", 2))
    message = str(getattr(error, "format_message", error.__str__)()).rstrip(".")
    context = getattr(error, "ctx", None)
    path = getattr(context, "command_path", "clew")
    unknown = re.search(r"No such command '(.*?)'", message)
    if unknown and os.path.exists(unknown[1]):
        message += f'. To ask a graph, write: clew ask {unknown[1]} "…"'
    elif "unexpected extra argument" in message and path == "clew ask":
        message += ". Put the question in quotes"
    write_error(f"{message}{'' if message.endswith('?') else '.'} See: {path} --help")
    return int(getattr(error, "exit_code", 2))


def _internal(error: Exception) -> int:
    if isinstance(error, MemoryError):
        write_error("the memory is full. Close other programs or use a smaller graph")
    elif isinstance(error, OSError) and error.filename is None and error.errno in _UNWRITABLE:
        write_error(f"the output cannot be written ({error.strerror})")
        _silence_stdout()
    elif isinstance(error, OSError) and error.filename is not None:
        write_error(f"{error.filename}: {error.strerror or error}")
    else:
        description = f"{type(error).__name__}: {error}"
        write_error(f"internal error: {description}; please report it. `clew --debug …` shows the trace")
    return 1


def _reader_gone() -> int:
    _silence_stdout()
    return 141  # 128 + SIGPIPE


def _silence_stdout() -> None:
    """Keep the interpreter from complaining, at exit, about a reader that has gone."""
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):
        return
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, descriptor)
    os.close(null)

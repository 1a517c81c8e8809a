"""What is written where: data on stdout, all else on stderr; safe to show, whatever a graph holds."""

from __future__ import annotations

import csv
import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, NoReturn, TextIO, cast

from clew.foundation.json_form import json_line
from clew.foundation.redaction import RedactedStream

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

# Control characters drive a terminal, and bidirectional overrides make a text look like another one.
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def prepare_streams() -> None:
    """Show what a terminal's encoding cannot write as escapes rather than fail; replace what is closed.

    No key and no password is written, whoever writes: also the interpreter's own traces.
    """
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

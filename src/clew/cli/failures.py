"""The one place where errors become messages and exit codes."""

from __future__ import annotations

import errno
import os
import re
import sys
import traceback
from typing import Any, cast

import typer
from typer.core import TyperGroup

from clew.cli.console import err, put, warn, write_error
from clew.errors import ClewError

INTERRUPTED, BROKEN_PIPE = 130, 141
"""128 + SIGINT and 128 + SIGPIPE, as shells report them."""

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
            raise typer.Exit(INTERRUPTED) from None
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
    return BROKEN_PIPE


def _silence_stdout() -> None:
    """Keep the interpreter from complaining, at exit, about a reader that has gone."""
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):
        return
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, descriptor)
    os.close(null)

"""What a chat model says, on stderr while it says it."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from clew.cli.console import err, escape
from clew.errors import UsageError

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

    from clew.llm.managed import Listener

LINES = 6
"""Lines of a reply that are seen at a time on a terminal."""
END_OF_REPLY = 4_000
"""Characters of the end of a reply that are looked at for them."""


@contextmanager
def show_replies(stream: bool | None, llm: str | None, *, quiet: bool) -> Generator[Listener | None]:
    """Show what the model `llm` says while the work inside is done; yields who hears it, None for nobody.

    On a terminal the last lines of a reply are seen, and vanish in the end; elsewhere all of them are
    written, if that is `stream`. None wants it on a terminal, unless `quiet`. UsageError without a model.
    """
    if stream and llm is None:
        raise UsageError("--stream: for a chat model. Name one with --llm, or leave it out")
    terminal = err().is_terminal
    if llm is None or stream is False or (stream is None and (quiet or not terminal)):
        yield None
        return
    view = _Window() if terminal else _Lines()
    try:
        yield view
    finally:
        view.close()


class _Lines:
    """All replies as they come, each from the start of a line."""

    def __init__(self) -> None:
        self._call = 0
        self._inside_line = False

    def __call__(self, call: int, piece: str, /) -> None:
        text = _escape_lines(piece)
        if call != self._call and self._inside_line:
            text = f"\n{text}"
        self._call, self._inside_line = call, not text.endswith("\n")
        err().print(text, end="", soft_wrap=True)

    def close(self) -> None:
        """End the last line."""
        if self._inside_line:
            err().print()


class _Window:
    """The last lines of the reply that came last."""

    def __init__(self) -> None:
        self._call = 0
        self._text = ""
        self._live: Live | None = None

    def __call__(self, call: int, piece: str, /) -> None:
        from rich.live import Live

        before = self._text if call == self._call else ""
        self._call, self._text = call, (before + _escape_lines(piece))[-END_OF_REPLY:]
        if self._live is None:
            self._live = Live(
                console=err(), transient=True, get_renderable=self._last_lines, refresh_per_second=8
            )
            self._live.start()

    def _last_lines(self) -> Text:
        from rich.text import Text

        console = err()
        lines = Text(self._text.strip(), "dim").wrap(console, console.width)
        return Text("\n").join(lines[-LINES:])

    def close(self) -> None:
        """Take the window away."""
        if self._live is not None:
            self._live.stop()


def _escape_lines(piece: str) -> str:
    """Make a piece of a reply safe to show; its line ends stay."""
    return "\n".join(escape(line) for line in re.split(r"\r\n|\r|\n", piece.replace("\t", "    ")))

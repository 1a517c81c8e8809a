"""What a chat model says, on stderr while it says it."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from clew.cli.console import err, shown
from clew.errors import UsageError

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

    from clew.llm.streamed import Listener

LINES = 6
"""Lines of a reply that are seen at a time on a terminal."""
END_OF_REPLY = 4_000
"""Characters of the end of a reply that are looked at for them."""


@contextmanager
def heard_replies(wanted: bool | None, llm: str | None, *, quiet: bool) -> Generator[Listener | None]:
    """Show what the model `llm` says while the work inside is done; yields who hears it, None for nobody.

    On a terminal the last lines of a reply are seen, and vanish in the end; elsewhere all of them are
    written, if that is `wanted`. None wants it on a terminal, unless `quiet`. UsageError without a model.
    """
    if wanted and llm is None:
        raise UsageError("--stream: for a chat model. Name one with --llm, or leave it out")
    terminal = err().is_terminal
    if llm is None or wanted is False or (wanted is None and (quiet or not terminal)):
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
        self._within = False

    def __call__(self, call: int, piece: str, /) -> None:
        text = _plain(piece)
        if call != self._call and self._within:
            text = f"\n{text}"
        self._call, self._within = call, not text.endswith("\n")
        err().print(text, end="", soft_wrap=True)

    def close(self) -> None:
        """End the last line."""
        if self._within:
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
        self._call, self._text = call, (before + _plain(piece))[-END_OF_REPLY:]
        if self._live is None:
            self._live = Live(console=err(), transient=True, get_renderable=self._seen, refresh_per_second=8)
            self._live.start()

    def _seen(self) -> Text:
        from rich.text import Text

        console = err()
        lines = Text(self._text.strip(), "dim").wrap(console, console.width)
        return Text("\n").join(lines[-LINES:])

    def close(self) -> None:
        """Take the window away."""
        if self._live is not None:
            self._live.stop()


def _plain(piece: str) -> str:
    """Make a piece of a reply safe to show; its line ends stay."""
    return "\n".join(shown(line) for line in re.split(r"\r\n|\r|\n", piece.replace("\t", "    ")))

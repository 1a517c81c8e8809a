"""The prompt of `clew shell` on a terminal: history, and names of the graph by Tab."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory

from clew.cli.console import escape, warn
from clew.cli.shell_commands import SHELL_COMMANDS
from clew.opening.environment import users_data

if TYPE_CHECKING:
    from clew.engine import Clew


class ShellPrompt:
    """Reads lines that a person types."""

    def __init__(self, clew: Clew, text: str) -> None:
        self._text = escape(text)
        self._session: PromptSession[str] = PromptSession(
            history=_history(),
            completer=NameCompleter(clew),
            complete_while_typing=False,
            complete_in_thread=True,
            enable_history_search=True,
        )

    def read(self) -> str:
        """Read a line; raises KeyboardInterrupt for Ctrl-C and EOFError for Ctrl-D."""
        return self._session.prompt(self._text)


class NameCompleter(Completer):
    """Completes the first word to a command, and the last words to a name of the graph."""

    def __init__(self, clew: Clew) -> None:
        self._clew = clew

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """The commands and names that what stands before the cursor begins, the best first."""
        del complete_event
        before = document.text_before_cursor.lstrip()
        if before and " " not in before:
            for name in SHELL_COMMANDS:
                if name.startswith(before.lower()):
                    yield Completion(name, -len(before))
        yield from islice(self._names(before), 30)

    def _names(self, before: str) -> Iterable[Completion]:
        """Names that begin with, or have a word that begins with, as many of the last words as may be."""
        words = before.split(" ")
        for count in range(min(len(words), 8), 0, -1):
            typed = " ".join(words[-count:]).lstrip("\"'")
            if not typed.strip():
                continue
            hits = self._clew.find_entities(typed, limit=30, typos=False)
            types = {hit.label: ", ".join(hit.types) for hit in hits}
            for label, type_names in types.items():
                if escape(label) == label:
                    yield Completion(label, -len(typed), display_meta=escape(type_names))
            if types:
                return


def _history() -> History:
    """What was typed before, in a file that only its user reads; for this session where none can be kept."""
    folder = users_data()
    try:
        if folder is None:
            return InMemoryHistory()
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "shell_history"
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        warn(f"what you type is not kept: {error.filename}: {error.strerror}")
        return InMemoryHistory()
    return FileHistory(str(path))

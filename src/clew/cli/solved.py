"""The history of solved questions, for `clew ask`: what examples are taken from, and what is added."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from clew.cli.console import warn
from clew.cli.options import option
from clew.errors import UsageError
from clew.methods.options import options_of
from clew.methods.registry import METHODS
from clew.opening.environment import default_history

if TYPE_CHECKING:
    from clew.types import Answer


@dataclass(frozen=True, slots=True)
class SolvedOptions:
    """What the user said of solved questions, for the methods whose settings have a `history`."""

    TITLE: ClassVar = "Options of methods"
    remember: bool = option(False, "synaptiqa: keep answered questions with their queries as examples.")
    history: Path | None = option(None, "synaptiqa: the history of examples.", "FILE.jsonl")

    def with_history(self, settings: Any, method: str, source: str, llm: str | None) -> Any:  # noqa: ANN401
        """Return the settings with the solved questions of the source; as they are for other methods.

        Raises UsageError for options that do not go with the method, or need a model; ParseError and
        InputError for the history.
        """
        told = "--remember" if self.remember else "--history" if self.history is not None else ""
        kind = METHODS[method].settings_class() if method in METHODS else None
        if kind is None or "history" not in options_of(kind):
            if told:
                raise UsageError(f"{told}: for synaptiqa, not for {method}. Leave it out")
            return settings
        if llm is None:
            if told or settings is not None:
                what = told or f"The options of {method}"
                raise UsageError(f"{what}: for a chat model. Name one with --llm, or leave it out")
            return None
        from clew.stores.history import History, source_key

        return replace(settings or kind(), history=History(self._path()).entries(source_key(source)))

    def _path(self) -> Path:
        return default_history() if self.history is None else self.history

    def keep(self, source: str, answer: Answer, *, quiet: bool) -> None:
        """Keep an answered question as an example, if the user says so."""
        if not self.remember or answer.query is None or answer.abstained is not None or not answer.grounded:
            return
        from clew.stores.history import History, SolvedEntry, source_key

        added = History(self._path()).add([SolvedEntry(source_key(source), answer.question, answer.query)])
        if added and not quiet:
            warn(f"kept as an example in {self._path()}; clew history list shows all")

"""Options of SynaptiQA and kg-query, for `clew ask`, and what they leave in the history."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from clew.cli.console import warn
from clew.errors import UsageError

if TYPE_CHECKING:
    from clew.methods.synaptiqa.method import Settings
    from clew.types import Answer

METHODS = ("synaptiqa", "kg-query")

AllowUngrounded = Annotated[
    bool,
    typer.Option(
        "--allow-ungrounded", help="synaptiqa: let the model answer by itself where the graph does not."
    ),
]
Remember = Annotated[
    bool,
    typer.Option("--remember", help="synaptiqa: keep answered questions with their queries as examples."),
]
HistoryFile = Annotated[
    Path | None, typer.Option("--history", metavar="FILE.jsonl", help="synaptiqa: the history of examples.")
]
Repairs = Annotated[
    int | None, typer.Option(metavar="N", min=0, help="synaptiqa: times that a query is asked for again (2).")
]
SchemaTokens = Annotated[
    int | None, typer.Option(metavar="N", min=100, help="synaptiqa: tokens of the schema in a prompt (1500).")
]
Chooser = Annotated[
    str | None,
    typer.Option(metavar="llm|similarity", help="synaptiqa: who replaces names that the graph lacks."),
]


Clean = Annotated[
    str | None,
    typer.Option(metavar="needed|always", help="synaptiqa: when the model cleans a query (needed)."),
]
Without = Annotated[
    str | None,
    typer.Option(
        metavar="PART,…", help="synaptiqa: leave out corrections: clean, names, directions, values."
    ),
]


@dataclass(frozen=True, slots=True)
class QueryOptions:
    """What the user said of queries."""

    TITLE: ClassVar = "Options of synaptiqa"
    allow_ungrounded: AllowUngrounded = False
    remember: Remember = False
    history: HistoryFile = None
    repairs: Repairs = None
    schema_tokens: SchemaTokens = None
    chooser: Chooser = None
    clean: Clean = None
    without: Without = None

    def settings(self, method: str, source: str, llm: str | None, shots: int | None) -> Settings | None:
        """Make the settings, with the history of the source; None for other methods and without a model.

        Raises UsageError for options that do not go with the method, or need a model; ParseError and
        InputError for the history.
        """
        given = self._given()
        told = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        if method not in METHODS:
            if given:
                raise UsageError(f"{told}: for synaptiqa, not for {method}. Leave it out")
            return None
        if llm is None:
            if given or shots is not None:
                raise UsageError(
                    f"{told or '--shots'}: for a chat model. Name one with --llm, or leave it out"
                )
            return None
        from clew.history import History, source_key
        from clew.methods.synaptiqa.history import Solved
        from clew.methods.synaptiqa.method import Settings

        entries = History(self._path()).entries(source_key(source))
        solved = tuple(Solved(entry.question, entry.query) for entry in entries)
        named: dict[str, Any] = {k: v for k, v in given.items() if k not in ("remember", "history")}
        named |= {} if shots is None else {"shots": shots}
        return Settings(history=solved, **named)

    def _given(self) -> dict[str, object]:
        values = {
            "allow_ungrounded": self.allow_ungrounded or None,
            "remember": self.remember or None,
            "history": self.history,
            "repairs": self.repairs,
            "schema_tokens": self.schema_tokens,
            "chooser": self.chooser,
            "clean": self.clean,
            "without": self.without,
        }
        return {name: value for name, value in values.items() if value is not None}

    def _path(self) -> Path:
        from clew.environment import default_history

        return default_history() if self.history is None else self.history

    def keep(self, source: str, answer: Answer, *, quiet: bool) -> None:
        """Keep an answered question as an example, if the user says so."""
        if not self.remember or answer.query is None or answer.abstained is not None or not answer.grounded:
            return
        from clew.history import History, SolvedEntry, source_key

        added = History(self._path()).add([SolvedEntry(source_key(source), answer.question, answer.query)])
        if added and not quiet:
            warn(f"kept as an example in {self._path()}; clew history list shows all")

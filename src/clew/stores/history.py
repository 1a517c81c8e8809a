"""The history of solved questions: a file of JSON lines; a graph's questions stand under its source.

A line is `{"source", "question", "query"}`. Of two lines with the same question the later one counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

from clew.errors import InputError, OutputError, ParseError
from clew.foundation.json_form import json_lines
from clew.foundation.whole_file import replace_file
from clew.stores.cypher.guard import guard
from clew.stores.errors import QueryError
from clew.stores.opening import shown_address

HISTORY_ADVICE = 'Write {"question": "…", "query": "MATCH …"}'


@dataclass(frozen=True, slots=True)
class SolvedEntry:
    """A solved question of one source."""

    source: str
    question: str
    query: str


@dataclass(frozen=True)
class History:
    """The file at `path`; a file that is not there is an empty history."""

    path: Path

    def entries(self, source: str | None = None) -> tuple[SolvedEntry, ...]:
        """Read the entries, of one source if it is named, oldest first.

        Raises InputError if the file cannot be read, ParseError for a line that is no entry.
        """
        entry_by_question: dict[tuple[str, str], SolvedEntry] = {}
        for number, fields in json_lines(self._lines(), str(self.path), "Remove the line"):
            entry = self._entry(fields, number)
            entry_by_question.pop((entry.source, entry.question), None)
            entry_by_question[entry.source, entry.question] = entry
        return tuple(e for e in entry_by_question.values() if source is None or e.source == source)

    def add(self, entries: Iterable[SolvedEntry]) -> int:
        """Append the entries that are not there yet; returns how many.

        Raises QueryError for a query that may not be run, OutputError if the file cannot be written.
        """
        old_entries = set(self.entries())
        new_entries = [entry for entry in dict.fromkeys(entries) if entry not in old_entries]
        for entry in new_entries:
            check_query(entry.query)
        if new_entries:
            self._write(
                "".join(json.dumps(asdict(e), ensure_ascii=False) + "\n" for e in new_entries), append=True
            )
        return len(new_entries)

    def remove(self, source: str, question: str) -> bool:
        """Remove a question; returns whether it was there. Raises as `entries` and `add`."""
        entries = self.entries()
        remaining = [e for e in entries if (e.source, e.question) != (source, question)]
        if len(remaining) == len(entries):
            return False
        self._write(
            "".join(json.dumps(asdict(e), ensure_ascii=False) + "\n" for e in remaining), append=False
        )
        return True

    def _lines(self) -> list[bytes]:
        try:
            return self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise InputError(
                f"{self.path}: the history cannot be read ({error}). Give another file"
            ) from error

    def _entry(self, fields: Mapping[str, object], number: int) -> SolvedEntry:
        texts = [fields.get(name) for name in ("source", "question", "query")]
        if not all(isinstance(text, str) for text in texts):
            raise ParseError(str(self.path), number, "not an entry of a history", "Remove the line")
        return SolvedEntry(*cast("list[str]", texts))

    def _write(self, text: str, *, append: bool) -> None:
        """Append in one piece, or replace the file as a whole."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if append:
                with self.path.open("a", encoding="utf-8") as file:
                    file.write(text)
                return
            replace_file(self.path, text)
        except OSError as error:
            raise OutputError(
                f"{self.path}: the history cannot be written ({error.strerror}). "
                "Name another file, also in $CLEW_HISTORY"
            ) from error


def check_query(query: str) -> None:
    """Raise QueryError for a query that is not a harmless read."""
    try:
        guard(query)
    except QueryError as error:
        error.add_note("Only queries that read are kept as examples")
        raise


def source_key(source: str) -> str:
    """Return what a history calls a source: the address without user and password, or the whole path."""
    if "://" not in source:
        return str(Path(source).resolve())
    return shown_address(source)

"""What is kept of calls: a cache of replies in one SQLite file, and a trace file."""

from __future__ import annotations

import json
import sqlite3
import threading
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from clew.errors import InputError
from clew.foundation.forms import json_line
from clew.llm.types import ContextOverflow, Reply, Request
from clew.types import Usage

# A cache of replies in one SQLite file, keyed by the hash of the whole request.
#
# The server's address is not part of the key, so that a recorded run replays anywhere.

_TABLES = (
    """
    CREATE TABLE IF NOT EXISTS replies (
        key TEXT PRIMARY KEY, request TEXT NOT NULL, reply TEXT NOT NULL,
        stored TEXT DEFAULT CURRENT_TIMESTAMP
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE IF NOT EXISTS too_long (
        key TEXT PRIMARY KEY, message TEXT NOT NULL, status INTEGER NOT NULL
    ) WITHOUT ROWID
    """,
)
WAIT = 30.0
"""Seconds to wait for another process that writes."""


class ReplyCache:
    """Replies by request. One object serves many threads; several processes may share the file."""

    def __init__(self, path: Path) -> None:
        """Open or make the file. Raises InputError: it cannot be opened, or is no SQLite database."""
        self.path = path
        self._lock = threading.Lock()
        try:
            self._database = sqlite3.connect(
                path, timeout=WAIT, check_same_thread=False, isolation_level=None
            )
        except sqlite3.Error as error:
            raise self._failed(error) from error
        try:
            for statement in ("PRAGMA journal_mode=WAL", *_TABLES):
                self.run(statement)
        except InputError:
            self._database.close()
            raise

    def find(self, request: Request) -> Reply | None:
        """Find the recorded reply to a request, marked as cached."""
        row = self.run("SELECT reply FROM replies WHERE key = ?", request.key)
        try:
            return None if row is None else _reply(json.loads(row[0]))
        except (ValueError, KeyError, TypeError) as error:
            raise self._failed(error) from error

    def store(self, request: Request, reply: Reply) -> None:
        """Record a reply; one that is there already stays."""
        statement = "INSERT OR IGNORE INTO replies (key, request, reply) VALUES (?, ?, ?)"
        self.run(statement, request.key, _text(request.as_json()), _text(asdict(reply)))

    def store_too_long(self, request: Request, error: ContextOverflow) -> None:
        """Record that a request did not fit into the model's context, so that a replay knows it too."""
        self.run("INSERT OR IGNORE INTO too_long VALUES (?, ?, ?)", request.key, str(error), error.status)

    def find_too_long(self, request: Request) -> ContextOverflow | None:
        """Find the recorded error of a request that was too long."""
        row = self.run("SELECT message, status FROM too_long WHERE key = ?", request.key)
        return None if row is None else ContextOverflow(row[0], row[1])

    def run(self, statement: str, *values: object) -> tuple[Any, ...] | None:
        """Run a statement; its first row, if it has one."""
        try:
            with self._lock:
                return self._database.execute(statement, values).fetchone()
        except sqlite3.Error as error:
            raise self._failed(error) from error

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()

    def _failed(self, error: Exception) -> InputError:
        return InputError(
            f"{self.path}: the reply cache cannot be used ({error}). Move the file away, or use another."
        )


def _text(value: Any) -> str:  # noqa: ANN401
    return json.dumps(value, sort_keys=True)


def _reply(stored: dict[str, Any]) -> Reply:
    usage = Usage(**stored.pop("usage"))
    notes = tuple(stored.pop("notes"))
    return replace(Reply(**stored), usage=usage, notes=notes, cached=True)


# A trace file: one JSON line for each call, with the prompt and the reply in full.


class TraceFile:
    """Appends one line for each call.

    API keys are no part of a request, and one that a reply repeats is not written.
    """

    def __init__(self, path: Path) -> None:
        """Open the file for appending. Raises InputError: it cannot be written."""
        self.path = path
        self._lock = threading.Lock()
        try:
            # Unbuffered, or closing it would fail again where the disk is full.
            self._file = path.open("ab", buffering=0)
        except OSError as error:
            raise self._failed(error) from error

    def write(self, record: dict[str, Any]) -> None:
        """Write one call, with the time of now."""
        line = json_line({"time": datetime.now(UTC).isoformat(timespec="milliseconds"), **record})
        try:
            with self._lock:
                unwritten = (line + "\n").encode("utf-8")
                while unwritten:
                    unwritten = unwritten[self._file.write(unwritten) :]
        except (OSError, ValueError) as error:
            raise self._failed(error) from error

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._file.close()

    def _failed(self, error: Exception) -> InputError:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return InputError(f"{self.path}: the trace cannot be written ({reason}).")

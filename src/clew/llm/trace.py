"""A trace file: one JSON line for each call, with the prompt and the reply in full."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from clew.errors import InputError
from clew.foundation.json_form import json_line


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

"""Log lines of a server: one line of JSON each, on stderr. Questions and tokens are not in them."""

from __future__ import annotations

import logging
import sys
from datetime import UTC, datetime

from clew.foundation.json_form import json_form, json_line

_RECORD_FIELDS = frozenset(vars(logging.makeLogRecord({}))) | {
    "message",
    "asctime",
    "taskName",
    "color_message",
}


class JsonLines(logging.Formatter):
    """Writes a record and what was noted with it."""

    def format(self, record: logging.LogRecord) -> str:
        """Write one line."""
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        entry = {"time": when, "level": record.levelname.lower(), "event": record.getMessage()}
        entry |= {name: value for name, value in vars(record).items() if name not in _RECORD_FIELDS}
        if record.exc_info:
            entry["trace"] = self.formatException(record.exc_info)
        return json_line(json_form(entry))


def write_logs(*, quiet: bool = False) -> None:
    """Send log lines of Clew and of the web server to stderr; only warnings if `quiet`."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name, level in (
        ("clew.serve", logging.WARNING if quiet else logging.INFO),
        ("uvicorn.error", logging.WARNING),
        ("mcp", logging.WARNING),
    ):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)

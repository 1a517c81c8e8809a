"""What a server allows, the folder of its counts, its log lines, and errors as problem documents."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypedDict

from clew.errors import ClewError, InputError, LlmError, MissingExtra, UsageError
from clew.foundation.forms import json_form, json_line
from clew.foundation.scratch import Scratch


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """What one request, and all of them together, may take."""

    body: int = 1 << 20
    """Bytes of a request."""
    k: int = 100
    """Matches of a pattern."""
    page: int = 200
    """Entities, neighbours or rows of one reply."""
    answers: int = 10_000
    """Answers of one question that are sent, with their citations; the answer says how many there are."""
    methods: int = 8
    """Methods of one comparison."""
    seconds: float = 60.0
    """Time of one request, waiting for its turn included."""
    body_seconds: float = 10.0
    """Time for the bytes of a request to come."""
    threads: int = 8
    """Requests that are worked on at once, in one process."""
    waiting: int = 64
    """Requests that wait for their turn; one more is told to come again."""
    memory: int = 4_000_000_000
    """Bytes that a process may grow by while it answers; past that the longest request is stopped."""


@dataclass(frozen=True, slots=True)
class Access:
    """Who may ask.

    `tokens` (none: everybody), `hosts` by which the server is called beside addresses and localhost, and
    `origins` whose pages may call it.
    """

    tokens: tuple[str, ...] = field(default=(), repr=False)
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """How a server works."""

    host: str = "127.0.0.1"
    port: int = 8765
    workers: int = 1
    access: Access = field(default_factory=Access)
    limits: ServerLimits = field(default_factory=ServerLimits)
    reload_seconds: float = 1.0
    """How often it is looked whether an index has a new generation."""
    telemetry: bool = False
    """Whether each request is a span of OpenTelemetry."""
    warm: bool = True
    """Whether example questions are asked at the start, so that the first user does not wait."""


# The folder in which workers put their counts together; to be made before the counts are imported.

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Variable of prometheus_client, which looks at it when it is imported."""


@contextmanager
def shared_counts() -> Generator[None]:
    """Let workers share their counts while the server runs."""
    owner = os.getpid()
    folder, before = Scratch("counts"), os.environ.get(FOLDER)
    os.environ[FOLDER] = folder.name
    try:
        yield
    finally:
        if os.getpid() == owner:
            os.environ.pop(FOLDER)
            if before is not None:
                os.environ[FOLDER] = before
            folder.cleanup()


# Log lines of a server: one line of JSON each, on stderr. Questions and tokens are not in them.

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


# Errors as problem documents (RFC 9457), with the words of the command line.

PROBLEM_MEDIA = "application/problem+json"


class ProblemForm(TypedDict):
    """What went wrong (RFC 9457): `type` for programs, `detail` for people; `instance` is the request."""

    type: str
    title: str
    status: int
    detail: str
    instance: str | None


class Problem(Exception):
    """A request that is refused or failed: `kind` is a word for programs, `detail` one for people."""

    def __init__(self, status: int, kind: str, title: str, detail: str, **headers: str) -> None:
        super().__init__(detail)
        self.status, self.kind, self.title, self.detail = status, kind, title, detail
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}

    def as_json(self, request: str | None = None) -> ProblemForm:
        """`{"type", "title", "status", "detail", "instance"}`; `instance` is the id of the request."""
        return {
            "type": f"urn:clew:problem:{self.kind}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "instance": None if request is None else f"urn:clew:request:{request}",
        }


def first_fault(errors: Sequence[Mapping[str, Any]]) -> str:
    """Say what pydantic found wrong with a request: the field and why; its value is not repeated."""
    field = ".".join(str(part) for part in errors[0]["loc"] if part not in ("body", "query", "path"))
    return f"{field}: {errors[0]['msg']}" if field else str(errors[0]["msg"])


def problem_of(error: Exception) -> Problem:
    """Turn an error of Clew into a problem; any other is internal, and its cause is not shown."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, LlmError):
        return Problem(502, "model", "The chat model failed", str(error))
    if isinstance(error, MissingExtra):
        return Problem(501, "missing-extra", "Not installed on the server", str(error))
    if isinstance(error, (UsageError, InputError)):
        return Problem(400, "usage", "The request is wrong", str(error))
    if isinstance(error, ClewError):
        return Problem(500, "failure", "The request failed", str(error))
    detail = "The server failed; its log has the cause under the id of this request"
    return Problem(500, "internal", "Internal error", detail)

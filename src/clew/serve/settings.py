"""What a server allows."""

from __future__ import annotations

from dataclasses import dataclass, field


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

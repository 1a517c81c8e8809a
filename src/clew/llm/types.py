"""What crosses the seam between Clew and a chat model: a request, a reply, or an `LlmError`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, astuple, dataclass, field
from typing import Any, Generic, Literal, TypeVar

from clew.errors import LlmError
from clew.types import Usage


class ModelUnreachable(LlmError):
    """The server cannot be reached, or the connection broke off after the request was sent (`begun`)."""

    def __init__(self, message: str, *, begun: bool = False) -> None:
        self.begun = begun
        super().__init__(message)


class ModelTimeout(LlmError):
    """The model did not reply in the time allowed."""


class ModelRefused(LlmError):
    """The server will not do this request; `status` is the HTTP status, `parameter` what it objects to."""

    def __init__(self, message: str, status: int, parameter: str | None = None) -> None:
        self.status, self.parameter = status, parameter
        super().__init__(message)


class KeyRefused(ModelRefused):
    """The API key is missing, wrong, or not allowed to use this model."""

    exit_code = 2


class ContextOverflow(ModelRefused):
    """The prompt, with the room asked for the reply, is longer than the model's context."""


class RateLimited(ModelRefused):
    """Too many requests, or a used-up quota (`final`); `retry_after` seconds, if the server says."""

    def __init__(self, message: str, status: int, retry_after: float | None, *, final: bool = False) -> None:
        self.retry_after, self.final = retry_after, final
        super().__init__(message, status)


class ModelFailed(LlmError):
    """The server failed (`status` 5xx), or what it sent is not a chat reply (`status` 0)."""

    def __init__(self, message: str, status: int = 0, retry_after: float | None = None) -> None:
        self.status, self.retry_after = status, retry_after
        super().__init__(message)


class ReplyInvalid(LlmError):
    """A reply that does not fit the type asked for: `reason`, and the start of its `text`."""

    def __init__(self, reason: str, text: str = "") -> None:
        self.reason, self.text = reason, text[:2000]
        super().__init__(f"The model's reply cannot be used: {reason}")


class BudgetReached(LlmError):
    """The next call could pass a hard limit: `scope` (question or run) and `limit` (calls, tokens, money)."""

    def __init__(self, scope: str, limit: str, detail: str) -> None:
        self.scope, self.limit, self.detail = scope, limit, detail
        super().__init__(f"The budget of {limit} for this {scope} is reached: {detail}")


class ReplayMissing(LlmError):
    """Only recorded replies may be used, and there is none for this request."""

    exit_code = 2


T = TypeVar("T")
Role = Literal["system", "user", "assistant"]
OutputForm = Literal["schema", "json", "text"]
"""How a server holds a reply to JSON: to a JSON schema, to any JSON, not at all."""
Hear = Callable[[str], None]
"""Takes the next piece of a reply, in the thread that receives it."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Request:
    """One call: the conversation and how to sample; without messages, how to. None leaves it to the server.

    `form` is how the server holds the reply to JSON, by `schema`; the model that gets it fills in `model`.
    """

    messages: tuple[Message, ...] = ()
    model: str = ""
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    repeat_penalty: float | None = None
    seed: int | None = None
    form: OutputForm = "text"
    schema: Mapping[str, Any] | None = None
    schema_name: str = "reply"

    def as_json(self) -> dict[str, Any]:
        """All fields with the version of this form, as they are hashed, cached and traced."""
        return {"format": 1, **asdict(self)}

    @property
    def key(self) -> str:
        """SHA-256 of the whole request."""
        text = json.dumps(self.as_json(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


def ask(text: str, system: str = "", **options: Any) -> Request:  # noqa: ANN401
    """Make the request of one user message, with an optional system message and the fields of `Request`."""
    turns = (Message("system", system),) if system else ()
    return Request((*turns, Message("user", text)), **options)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said, and what it cost; `notes` say which parameters the provider does not take.

    `finish` is `stop`, `length` (max_tokens), or the server's own word; `cost` None if no price is known.
    """

    text: str
    model: str
    usage: Usage = field(default_factory=Usage)
    finish: str = "stop"
    cost: float | None = None
    cached: bool = False
    notes: tuple[str, ...] = ()


def add_usage(usages: Iterable[Usage]) -> Usage:
    """Sum of usages."""
    return Usage(*map(sum, zip(*map(astuple, usages), strict=True)))


@dataclass(frozen=True)
class Typed(Generic[T]):
    """A reply read as a value; `replies` are all turns that it took (two after a repair)."""

    value: T
    replies: tuple[Reply, ...]

"""The kinds of `LlmError`; the tree is drawn in `clew.errors`."""

from __future__ import annotations

from clew.errors import LlmError


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

"""The error tree of Clew.

Messages say what happened, where (file and line, or id), and what to do next.

    ClewError
      + UsageError            the call is wrong: option, pattern, question          (exit code 2)
      |   - PatternError      a pattern that cannot be searched; names the field
      + InputError            a source that cannot be read                          (exit code 2)
      |   - ParseError        a line that cannot be read: file, line number, reason
      + IndexError_           an index that cannot be opened or written
      |   - FormatError       another version, truncated, or checksum differs       (exit code 2)
      |   - EmbedderMismatch  the index was made with another embedder              (exit code 2)
      |   - LockedError       another process is writing to the index               (exit code 1)
      + MissingExtra          an optional dependency is not installed               (exit code 2)
      + EmbedderError         an embedding model or endpoint failed                 (exit code 1)
      + LlmError              a call of a chat model brought no usable reply        (exit code 1)
          - ModelUnreachable  no connection, or it broke off before the reply ended
          - ModelTimeout      no reply in the time allowed
          - ModelRefused      the server will not do this request: `status`
              x KeyRefused         the API key is missing, wrong or not allowed     (exit code 2)
              x ContextOverflow    the prompt is longer than the model's context
              x RateLimited        too many requests: `retry_after`
          - ModelFailed       the server failed, or its answer is not a chat reply: `status`
          - ReplyInvalid      a reply that does not fit the type asked for, also after one repair
          - BudgetReached     a limit of calls, tokens or money; callers make it an abstention
          - ReplayMissing     replay only, and this request was never recorded      (exit code 2)

An abstention is a result, never an error: see `clew.types.Abstention`.
"""

from __future__ import annotations


class ClewError(Exception):
    """Root of all errors that Clew raises on purpose; `exit_code` is what the CLI returns for it."""

    exit_code = 1


class UsageError(ClewError):
    """The call is wrong; nothing was done."""

    exit_code = 2


class PatternError(UsageError):
    """A pattern that cannot be searched: empty, disconnected, all unknown or too large."""


class InputError(ClewError):
    """A source that cannot be read."""

    exit_code = 2


class ParseError(InputError):
    """A line of a source that cannot be read: `file`, `line` (from 1; 0 if unknown) and `reason`."""

    def __init__(self, file: str, line: int, reason: str, advice: str = "") -> None:
        self.file, self.line, self.reason = file, line, reason
        where = f"{file}:{line}" if line else file
        super().__init__(f"{where}: {reason}" + (f". {advice}" if advice else ""))


class IndexError_(ClewError):
    """An index that cannot be opened or written."""


class FormatError(IndexError_):
    """An index of another format version, or damaged."""

    exit_code = 2


class EmbedderMismatch(IndexError_):
    """The index was made with another embedder."""

    exit_code = 2


class LockedError(IndexError_):
    """Another process is writing to the index."""


class EmbedderError(ClewError):
    """An embedding model or endpoint failed."""


class LlmError(ClewError):
    """A call of a chat model that brought no usable reply."""


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


class MissingExtra(ClewError):
    """An optional dependency is not installed; the message says which extra to install."""

    exit_code = 2

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed. Install it with: pip install 'clew[{extra}]'")

"""The error tree of Clew.

Messages say what happened, where (file and line, or id), and what to do next.

    ClewError
      + UsageError            the call is wrong: option, pattern, question          (exit code 2)
      |   - PatternError      a pattern that cannot be searched; names the field
      + InputError            a source that cannot be read                          (exit code 2)
      |   - ParseError        a line that cannot be read: file, line number, reason
      + IndexAccessError      an index that cannot be opened or written
      |   - FormatError       another version, truncated, or checksum differs       (exit code 2)
      |   - EmbedderMismatch  the index was made with another embedder              (exit code 2)
      |   - LockedError       another process is writing to the index               (exit code 1)
      |   - VectorStoreError  a vector database does not answer, or refuses; it is  (exit code 1)
      |                       in `clew.index.vectors.backends`
      + OutputError           answers that cannot be written                        (exit code 1)
      + MissingExtra          an optional dependency is not installed               (exit code 2)
      + EmbedderError         an embedding model or endpoint failed                 (exit code 1)
      + LlmError              a call of a chat model brought no usable reply        (exit code 1)
      |                       its kinds are in `clew.llm.types`:
      |   - ModelUnreachable  no connection, or it broke off before the reply ended
      |   - ModelTimeout      no reply in the time allowed
      |   - ModelRefused      the server will not do this request: `status`
      |       x KeyRefused         the API key is missing, wrong or not allowed     (exit code 2)
      |       x ContextOverflow    the prompt is longer than the model's context
      |       x RateLimited        too many requests: `retry_after`
      |   - ModelFailed       the server failed, or its answer is not a chat reply: `status`
      |   - ReplyInvalid      a reply that does not fit the type asked for, also after one repair
      |   - BudgetReached     a limit of calls, tokens or money; callers make it an abstention
      |   - ReplayMissing     replay only, and this request was never recorded      (exit code 2)

An abstention is a result, never an error: see `clew.types.Abstention`.
"""

from __future__ import annotations

from clew.foundation.redaction import redacted


class ClewError(Exception):
    """Root of all errors that Clew raises on purpose; `exit_code` is what the CLI returns for it.

    No key and no password is in its message, also where a server has repeated it.
    """

    exit_code = 1

    def __init__(self, *args: object) -> None:
        super().__init__(*(redacted(arg) if isinstance(arg, str) else arg for arg in args))

    def __reduce__(self) -> tuple[object, ...]:
        return restored, (type(self), self.args, self.__dict__)


def restored(kind: type[ClewError], args: tuple[object, ...], state: dict[str, object]) -> ClewError:
    """Make an error of another process again, whatever its constructor takes."""
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


def first_line(error: BaseException) -> str:
    """The first line of what an error says, else its name."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


class UsageError(ClewError):
    """The call is wrong; nothing was done."""

    exit_code = 2


class PatternError(UsageError):
    """A pattern that cannot be searched: empty, disconnected, all unknown or too large."""


class InputError(ClewError):
    """A source that cannot be read."""

    exit_code = 2


class ParseError(InputError):
    """A line of a source that cannot be read: `file`, `line` (from 1; 0 if unknown) and `reason`.

    `others` are further bad places of the same file; `stopped` says that it was not read beyond the last.
    """

    def __init__(
        self,
        file: str,
        line: int,
        reason: str,
        advice: str = "",
        *,
        others: tuple[str, ...] = (),
        stopped: bool = False,
    ) -> None:
        self.file, self.line, self.reason, self.advice = file, line, reason, advice
        self.others, self.stopped = others, stopped
        place = f"{file}:{line}" if line else file
        text = f"{place}: {reason}" + (f". {advice}" if advice else "")
        if others:
            text += "".join(f"\n  {other}" for other in others)
            text += "\n  … the file was not read beyond this" if stopped else ""
        super().__init__(text)


class IndexAccessError(ClewError):
    """An index that cannot be opened or written."""


class FormatError(IndexAccessError):
    """An index of another format version, or damaged."""

    exit_code = 2


class EmbedderMismatch(IndexAccessError):
    """The index was made with another embedder."""

    exit_code = 2


class LockedError(IndexAccessError):
    """Another process is writing to the index."""


class OutputError(ClewError):
    """Answers that cannot be written; those that were are kept."""


class EmbedderError(ClewError):
    """An embedding model or endpoint failed."""


class LlmError(ClewError):
    """A call of a chat model that brought no usable reply."""


class MissingExtra(ClewError):
    """An optional dependency is not installed; the message says which extra to install."""

    exit_code = 2

    def __init__(self, package: str, extra: str) -> None:
        package = package.partition(".")[0]  # a module of it was imported
        super().__init__(f"{package} is not installed. Install it with: pip install 'clew[{extra}]'")

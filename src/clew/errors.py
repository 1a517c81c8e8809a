"""The error tree of Clew.

Messages say what happened, where (file and line, or id), and what to do next.

    ClewError
      + UsageError            the call is wrong: option, pattern, question          (exit code 2)
      |   - PatternError      a pattern that cannot be searched; names the field
      |   - QueryError        a database query that is not run
      |     - QuerySyntaxError  it cannot be read; says where
      |     - QueryRefused      it is not a harmless read; says what is not allowed
      |     - IllegalHop        the schema allows a hop in neither direction; says which
      + InputError            a source that cannot be read                          (exit code 2)
      |   - ParseError        a line that cannot be read: file, line number, reason
      + IndexError_           an index that cannot be opened or written
      |   - FormatError       another version, truncated, or checksum differs       (exit code 2)
      |   - EmbedderMismatch  the index was made with another embedder              (exit code 2)
      |   - LockedError       another process is writing to the index               (exit code 1)
      + MissingExtra          an optional dependency is not installed               (exit code 2)
      + StoreError            a graph database failed or cannot be reached          (exit code 1)
      |   - StoreTimeout      a query ran longer than it may
      + EmbedderError         an embedding model or endpoint failed                 (exit code 1)

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


class QueryError(UsageError):
    """A database query that is not run."""


class QuerySyntaxError(QueryError):
    """A query that cannot be read: `reason`, and the `offset` in its text where reading stopped."""

    def __init__(self, reason: str, text: str, offset: int) -> None:
        self.reason, self.offset = reason, offset
        before = text[:offset]
        line, column = before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1
        super().__init__(f"The query cannot be read at line {line}, column {column}: {reason}")


class QueryRefused(QueryError):
    """A query that is more than a harmless read; nothing of it was run."""


class IllegalHop(QueryError):
    """A hop that the schema allows in neither direction; `hops` are their texts."""

    def __init__(self, message: str, hops: tuple[str, ...]) -> None:
        self.hops = hops
        super().__init__(message)


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


class StoreError(ClewError):
    """A graph database failed or cannot be reached."""


class StoreTimeout(StoreError):
    """A query ran longer than it may and was stopped."""


class EmbedderError(ClewError):
    """An embedding model or endpoint failed."""


class MissingExtra(ClewError):
    """An optional dependency is not installed; the message says which extra to install."""

    exit_code = 2

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed. Install it with: pip install 'clew[{extra}]'")

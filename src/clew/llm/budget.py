"""Hard limits on calls, tokens and money; prices of models; replies and traces that are kept."""

from __future__ import annotations

import json
import math
import mmap
import sqlite3
import struct
import tempfile
import threading
import tomllib
import weakref
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass, field
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from operator import add, sub
from pathlib import Path
from typing import Any

import msgspec

from clew.errors import InputError
from clew.foundation.forms import append_line, converted
from clew.llm.types import (
    BudgetReached,
    ContextOverflow,
    ModelFailed,
    ModelRefused,
    ModelUnreachable,
    ReplayMissing,
    Reply,
    Request,
)
from clew.types import Usage

# Prices of models, from a file that the user writes; Clew knows none.
#
#     currency = "USD"
#     [models."openai/gpt-4o"]
#     input = 2.5        # for a million tokens
#     output = 10
#     [models."ollama/*"]
#     input = 0
#     output = 0


@dataclass(frozen=True, slots=True)
class Price:
    """Price of a million tokens."""

    input: float
    output: float

    def of(self, usage: Usage) -> float:
        """Cost of a usage."""
        return (usage.input_tokens * self.input + usage.output_tokens * self.output) / 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices by model name or glob; a full name goes before a glob, globs in the file's order."""

    models: Mapping[str, Price] = field(default_factory=dict[str, Price])
    currency: str = "USD"

    def find(self, model: str) -> Price | None:
        """Find the price of `provider/model`; None if there is none."""
        if model in self.models:
            return self.models[model]
        return next((price for glob, price in self.models.items() if fnmatchcase(model, glob)), None)


def read_prices(path: Path) -> Prices:
    """Read a prices file. Raises InputError: it cannot be read, is not TOML, or lacks a price."""
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"{path}: the prices cannot be read ({error.strerror or error}).") from error
    except ValueError as error:
        raise InputError(f"{path}: the prices file is not valid TOML ({error}).") from error
    advice = 'Each [models."provider/model"] needs input and output, prices that are not negative.'
    try:
        models = converted(data.get("models"), dict[str, Price])
    except msgspec.ValidationError as error:
        raise InputError(f"{path}: {error}. {advice}") from error
    if not all(0 <= amount < math.inf for price in models.values() for amount in astuple(price)):
        raise InputError(f"{path}: {advice}")
    return Prices(models, str(data.get("currency", "USD")))


# Hard limits on calls, tokens and money, for a question and for a run.
#
# Every attempt of a call is reserved before it is sent, with a high estimate of its tokens, so that calls in
# parallel cannot pass a limit together; what it really took replaces the estimate. An attempt that the server
# refused costs nothing; one that broke off or was cancelled after it was sent keeps its prompt charged,
# because the provider may well charge it.


_CHARGE = struct.Struct("=qqqd")
"""Calls, input tokens, output tokens, money."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Hard limits; None is no limit. `money` is in the currency of the prices file."""

    calls: int | None = None
    tokens: int | None = None
    money: float | None = None


@dataclass(frozen=True, slots=True)
class Charge:
    """What a call is charged."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    money: float = 0.0

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Charge) -> Charge:
        return Charge(*map(add, astuple(self), astuple(other)))

    def __sub__(self, other: Charge) -> Charge:
        return Charge(*map(sub, astuple(self), astuple(other)))


def estimate(request: Request, price: Price | None) -> Charge:
    """Charge of a request, high, before it is sent: three bytes a token, 1,024 tokens where none are said."""
    tokens = sum(len(m.text.encode("utf-8", "replace")) // 3 + 8 for m in request.messages)
    reply = request.max_tokens if request.max_tokens is not None else 1024
    return Charge(1, tokens, reply, price.of(Usage(1, tokens, reply)) if price else 0.0)


class Ledger:
    """What was `spent` or set aside within one scope, `question` or `run`; threads may share it.

    `reached` is the first refusal of a call, None while there was none.
    """

    def __init__(self, scope: str, limits: Limits | None = None) -> None:
        self.scope, self.limits = scope, limits or Limits()
        self.reached: BudgetReached | None = None
        self._lock = threading.Lock()
        self.spent = Charge()

    def reserve(self, charge: Charge) -> None:
        """Set aside what a call may take. Raises BudgetReached: it could pass a limit."""
        with self._changing():
            after = self.spent + charge
            for limit, amount, most in (
                ("calls", after.calls, self.limits.calls),
                ("tokens", after.tokens, self.limits.tokens),
                ("money", after.money, self.limits.money),
            ):
                if most is not None and amount > most:
                    detail = f"{amount:g} needed with the next call, {most:g} allowed"
                    refused = BudgetReached(self.scope, limit, detail)
                    self.reached = self.reached or refused
                    raise refused
            self.spent = after

    def settle(self, reserved: Charge, actual: Charge) -> None:
        """Replace a reservation by what the call took."""
        with self._changing():
            self.spent = self.spent + actual - reserved

    @contextmanager
    def _changing(self) -> Generator[None]:
        """Hold what was spent while it is read and changed."""
        with self._lock:
            yield


class SharedLedger(Ledger):
    """One limit for processes that are forked after it is made; `reached` is that of the own process.

    The memory is behind a lock that ends with a killed process; what that had set aside stays charged.
    """

    def __init__(self, scope: str, limits: Limits | None = None) -> None:
        super().__init__(scope, limits)
        self._memory = mmap.mmap(-1, _CHARGE.size)
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 (open as long as this)
        weakref.finalize(self, self._file.close)

    @contextmanager
    def _changing(self) -> Generator[None]:
        import fcntl  # where processes are forked

        with super()._changing():
            fcntl.lockf(self._file, fcntl.LOCK_EX)
            try:
                self.spent = Charge(*_CHARGE.unpack_from(self._memory))
                yield
                _CHARGE.pack_into(self._memory, 0, *astuple(self.spent))
            finally:
                fcntl.lockf(self._file, fcntl.LOCK_UN)


def reserve(ledgers: Sequence[Ledger], charge: Charge) -> None:
    """Set aside in all ledgers, or in none, what one attempt of a call may take. Raises BudgetReached."""
    for at, ledger in enumerate(ledgers):
        try:
            ledger.reserve(charge)
        except BudgetReached:
            settle(ledgers[:at], charge, Charge())
            raise


def settle(ledgers: Sequence[Ledger], reserved: Charge, actual: Charge) -> None:
    """Replace in all ledgers what was set aside by what the attempt took."""
    for ledger in ledgers:
        ledger.settle(reserved, actual)


def taken(outcome: Reply | BaseException, reserved: Charge, price: Price | None) -> Charge:
    """What an attempt took; a reply that says nothing of its tokens took what was thought."""
    if isinstance(outcome, Reply):
        usage = outcome.usage
        told = Charge(usage.calls, usage.input_tokens, usage.output_tokens, outcome.cost or 0.0)
        return told if told.tokens > 0 else reserved
    refused = isinstance(outcome, (ModelRefused, ModelFailed, ReplayMissing))
    if refused or (isinstance(outcome, ModelUnreachable) and not outcome.begun):
        return Charge()
    tokens = reserved.input_tokens
    return Charge(1, tokens, 0, price.of(Usage(1, tokens, 0)) if price else 0.0)


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


class ReplyCache:
    """Replies by request. One object serves many threads; several processes may share the file."""

    def __init__(self, path: Path) -> None:
        """Open or make the file. Raises InputError: it cannot be opened, or is no SQLite database."""
        self.path = path
        self._lock = threading.Lock()
        try:
            self._database = sqlite3.connect(
                path, timeout=30.0, check_same_thread=False, isolation_level=None
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
        if row is None:
            return None
        try:
            stored: dict[str, Any] = json.loads(row[0])
            stored |= {"usage": Usage(**stored["usage"]), "notes": tuple(stored["notes"]), "cached": True}
            return Reply(**stored)
        except (ValueError, KeyError, TypeError) as error:
            raise self._failed(error) from error

    def store(self, request: Request, reply: Reply) -> None:
        """Record a reply; one that is there already stays."""
        statement = "INSERT OR IGNORE INTO replies (key, request, reply) VALUES (?, ?, ?)"
        texts = (json.dumps(value, sort_keys=True) for value in (request.as_json(), asdict(reply)))
        self.run(statement, request.key, *texts)

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


class TraceFile:
    """Appends one line for each call, without API keys, also where a reply repeats one."""

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
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        try:
            with self._lock:
                append_line(self._file, {"time": time, **record})
        except (OSError, ValueError) as error:
            raise self._failed(error) from error

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._file.close()

    def _failed(self, error: Exception) -> InputError:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return InputError(f"{self.path}: the trace cannot be written ({reason}).")

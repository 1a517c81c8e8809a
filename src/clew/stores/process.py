"""Queries that a model, an agent or a user wrote, in processes of their own that they cannot leave.

A store of a graph is a folder that `worker.py` opens for reading. A process answers one query at a time and
is kept for the next; queries that run at the same time have a process each. A process whose query takes too
long is killed, and one that needs too much memory ends by itself. The caller then gets a `QueryError` that
says which it was, and the next query a new process.

    processes = QueryProcesses("cypher", folder, setup, statements)
    rows = processes.rows("RETURN 1", {}, seconds=5.0, most=10, read=str).rows
"""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import signal
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from math import isfinite
from pathlib import Path
from threading import BoundedSemaphore, Lock, Timer
from time import monotonic
from typing import IO, TYPE_CHECKING, Any, Literal, cast

import msgspec

from clew.errors import restored
from clew.stores.cypher.guard import Guarded
from clew.stores.errors import (
    QueryError,
    QueryRefused,
    QuerySyntaxError,
    StoreError,
    StoreTimeout,
    check_text,
)
from clew.stores.store import Rows

if TYPE_CHECKING:
    from clew.foundation.scratch import Scratch

# Messages between a process and its parent: eight bytes with the length, then MessagePack.

LARGEST_REPLY = 64 * 2**20
"""Most bytes of the rows of a query."""
_DATE, _DATETIME, _DURATION = 1, 2, 3


def write_message(stream: IO[bytes], message: bytes) -> None:
    """Write a message with its length before it."""
    stream.write(len(message).to_bytes(8, "big") + message)
    stream.flush()


def read_message(stream: IO[bytes]) -> bytes | None:
    """Read a message; None at the end of the stream or of a process that died in the middle of one."""
    head = stream.read(8)
    size = int.from_bytes(head, "big")
    if len(head) < 8 or size > 2 * LARGEST_REPLY:
        return None
    message = stream.read(size)
    return message if len(message) == size else None


def of_extension(code: int, data: memoryview) -> object:
    """Read a date, time or duration as `plain` writes it."""
    text = bytes(data).decode("ascii")
    if code == _DATE:
        return dt.date.fromisoformat(text)
    if code == _DATETIME:
        return dt.datetime.fromisoformat(text)
    days, seconds, micros = map(int, text.split(","))
    return dt.timedelta(days, seconds, micros)


def plain(value: object) -> object:
    """Turn a value of a database into what MessagePack can hold."""
    match value:
        case float() if not isfinite(value):
            raise QueryError("A value of the result is no finite number (log(0), 1.0 / 0). Leave it out")
        case None | bool() | int() | float() | str():
            return value
        case list() | tuple():
            return [plain(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
        case dict():
            return {str(key): plain(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        case dt.datetime():
            return msgspec.msgpack.Ext(_DATETIME, value.isoformat().encode())
        case dt.date():
            return msgspec.msgpack.Ext(_DATE, value.isoformat().encode())
        case dt.timedelta():
            parts = (value.days, value.seconds, value.microseconds)
            return msgspec.msgpack.Ext(_DURATION, ",".join(map(str, parts)).encode())
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case _:
            return str(value)


def packed(rows: Iterable[Sequence[object]], most: int) -> list[msgspec.Raw]:
    """Encode at most `most` rows; raises QueryError if they are too large for a reply."""
    encoder, messages, size = msgspec.msgpack.Encoder(), list[msgspec.Raw](), 0
    for row in rows:
        message = encoder.encode(plain(row))
        size += len(message)
        if size > LARGEST_REPLY:
            raise QueryError(f"Its rows are larger than {LARGEST_REPLY >> 20} MiB. Return less of them")
        messages.append(msgspec.Raw(message))
        if len(messages) == most:
            break
    return messages


_WORKER = Path(__file__).with_name("worker.py")
QUERY_MEMORY = 2 * 2**30
"""Bytes that a process may take beyond those of its store."""
TOO_LARGE = f"The query needs more than {QUERY_MEMORY >> 30} GiB of memory and was stopped. Ask for less"
FAULT = "The query ended the process that ran it, by a fault of the database. Write it otherwise"
_KEPT_ENVIRONMENT = (
    "PATH", "PYTHONPATH", "PYTHONHOME", "HOME", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "SYSTEMROOT",
    "PYTHONDONTWRITEBYTECODE", "TMPDIR", "TEMP", "TMP", "COVERAGE_PROCESS_START",
)  # fmt: skip
"""Variables that a process inherits: no key or password is where a query could read it."""


class QueryProcesses:
    """The processes of one store; they end, and its folder goes, when nothing refers to it any more."""

    def __init__(
        self,
        language: Literal["cypher", "sparql"],
        folder: Scratch,
        setup: Mapping[str, object],
        statements: Sequence[str] = (),
    ) -> None:
        """Fill the store in `folder` by `statements`; `setup` is told to every process.

        Raises StoreError if the store cannot be filled.
        """
        self.folder = Path(folder.name)
        self._language, self._setup = language, msgspec.msgpack.encode(dict(setup))
        self._idle: list[_Process] = []
        # Four queries of a graph run at the same time; the others wait, which counts as their time.
        self._lock, self._free = Lock(), BoundedSemaphore(4)
        weakref.finalize(self, _give_back, self._idle, folder)
        self._idle.append(self._start(statements))

    def _start(self, statements: Sequence[str]) -> _Process:
        process = _Process([self._language, str(self.folder), str(QUERY_MEMORY)])
        try:
            ready = process.exchange(msgspec.msgpack.encode({"load": statements, "setup": self._setup}))
            if "failure" in ready:
                raise StoreError(f"The graph cannot be loaded into the embedded store: {ready['message']}")
        except BaseException as error:
            process.stop()
            if isinstance(error, EOFError):
                raise StoreError("The embedded store cannot be opened: its process ended") from error
            raise
        return process

    def rows(
        self,
        query: str,
        parameters: Mapping[str, object],
        seconds: float,
        most: int,
        read: Callable[[object], object],
    ) -> Rows:
        """Run a query and return at most `most` rows; `read` makes each cell of what the process sends.

        Raises QueryError if the query is refused, takes longer than `seconds` or needs too much memory,
        StoreError if no process can be started.
        """
        check_text(query)
        request = {"query": query, "rows": most, "parameters": dict(parameters)}
        deadline = monotonic() + seconds
        if not self._free.acquire(timeout=seconds):
            raise StoreTimeout(f"Other queries took all of its {seconds:g} s. Ask again, or fewer at a time")
        try:
            with self._lock:
                process = self._idle.pop() if self._idle else None
            process = process or self._start([])
            is_used = process.used
            reply = process.ask(request, deadline - monotonic() if is_used else seconds, seconds)
            if reply.get("error") == "memory" and is_used:  # earlier queries may have left it too little
                process.stop()
                process = self._start([])
                reply = process.ask(request, deadline - monotonic(), seconds)
            with self._lock:
                is_whole = not (process.killed or "worn" in reply)
                is_kept = is_whole and len(self._idle) < 2
                if is_kept:
                    self._idle.append(process)
            if not is_kept:
                process.stop()
        finally:
            self._free.release()
        if (kind := reply.get("error")) == "timeout":
            raise StoreTimeout.after(seconds)
        if kind == "memory":
            raise QueryError(TOO_LARGE)
        if kind is not None:
            raise restored(_ERRORS[kind], (reply["message"],), {})
        columns = tuple(reply["columns"])
        found = tuple(tuple(read(cell) for cell in row) for row in reply["rows"])
        sent = Guarded(reply["text"], reply["parameters"], columns, most)
        return Rows(columns, found[:most], len(found) <= most, sent)


class EmbeddedStore:
    """A graph in a store that is asked in processes of its own; threads may share it."""

    name = "embedded"

    def __init__(self, processes: QueryProcesses, *, seconds: float, rows: int) -> None:
        self._processes: QueryProcesses | None = processes
        self._seconds, self._rows = seconds, rows

    def run(
        self,
        query: str,
        parameters: Mapping[str, object] | None = None,
        *,
        seconds: float | None = None,
        rows: int | None = None,
    ) -> Rows:
        """Run a query in a process, in the store's limits unless others are given; as `Store.run`."""
        ask, most = self.processes().rows, rows or self._rows
        return ask(query, parameters or {}, seconds or self._seconds, most, self.read)

    def processes(self) -> QueryProcesses:
        """What the store is asked by; StoreError if it is closed."""
        if self._processes is None:
            raise StoreError("The embedded store is closed")
        return self._processes

    @staticmethod
    def read(value: object) -> object:
        """Make a cell of a row of what a process has sent."""
        return value

    def close(self) -> None:
        """Take no more queries; the processes end with the last store that has them."""
        self._processes = None


class _Process:
    """One process; `ask` ends it if it does not answer in time."""

    def __init__(self, arguments: list[str]) -> None:
        environment = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
        try:
            self._popen = subprocess.Popen(  # noqa: S603 - this Python, a file of ours
                [sys.executable, "-P", str(_WORKER), *arguments],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment,
            )  # fmt: skip
        except OSError as error:
            raise StoreError(f"No process for queries can be started ({error})") from error
        self.used = self.killed = False

    def _kill(self) -> None:
        self.killed = True
        self._popen.kill()

    def exchange(self, message: bytes) -> dict[str, Any]:
        """Send a message and return the reply; raises EOFError if the process has ended."""
        try:
            write_message(cast("IO[bytes]", self._popen.stdin), message)
            reply = read_message(cast("IO[bytes]", self._popen.stdout))
            # A reply that is cut off, or is no MessagePack, raises ValueError too.
            return msgspec.msgpack.decode(reply or b"", type=dict[str, Any], ext_hook=of_extension)
        except (OSError, ValueError) as error:
            raise EOFError from error

    def ask(self, request: Mapping[str, object], left: float, seconds: float) -> dict[str, Any]:
        """Ask, with `left` of the query's `seconds` to answer in; raises as `QueryProcesses.rows`."""
        self.used, left = True, max(left, 0.01)
        message, end = msgspec.msgpack.encode({**request, "seconds": left}), monotonic() + left
        timer = Timer(left, self._kill)
        timer.daemon = True
        timer.start()
        try:
            return self.exchange(message)
        except BaseException as error:
            late = monotonic() >= end
            self.stop()
            if not isinstance(error, EOFError):
                raise
            if late:
                raise StoreTimeout.after(seconds) from error
            faults = (-signal.SIGSEGV, -signal.SIGFPE, -signal.SIGILL)
            raise QueryError(FAULT if self._popen.returncode in faults else TOO_LARGE) from error
        finally:
            timer.cancel()
            timer.join()  # a reply at the last moment may come from a process that is being killed

    def stop(self) -> None:
        """End the process."""
        self._popen.kill()
        self._popen.wait()
        for pipe in (self._popen.stdin, self._popen.stdout):
            with contextlib.suppress(OSError):
                cast("IO[bytes]", pipe).close()


_ERRORS = {kind.__name__: kind for kind in (QuerySyntaxError, QueryRefused, QueryError)}
"""The errors of queries, by the names that a process sends."""


def _give_back(idle: list[_Process], folder: Scratch) -> None:
    while idle:
        idle.pop().stop()
    folder.cleanup()

"""The process of `QueryProcesses`: opens a store for reading and answers queries until its stdin ends.

Run as `python -P worker.py LANGUAGE FOLDER BYTES`. Messages both ways are eight bytes of a length, then
MessagePack. The first one holds statements that fill the store (of the first process of a store) and what is
to be known of the graph; each other one is a query. A query is parsed, guarded, rewritten and run here, so
that all that its text can do is under the limits of this process.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import signal
import sys
from collections.abc import Generator, Iterable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import IO, Any, Protocol

import msgspec

LARGEST_REPLY = 64 * 2**20
"""Bytes of the rows of a query."""
_DATE, _DATETIME, _DURATION = 1, 2, 3


class Engine(Protocol):
    """A database that is open for reading."""

    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer a query: columns and rows; raises a ClewError for one that is not run."""
        ...


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
    """Write at most `most` rows; QueryError if they are too large for a reply."""
    from clew.stores.errors import QueryError

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


def _answer(engine: Engine, request: dict[str, Any]) -> dict[str, Any]:
    from clew.stores.errors import QueryError, QueryRefused, QuerySyntaxError, StoreTimeout

    try:
        return engine.run(request)
    except QuerySyntaxError as error:
        return {"error": "QuerySyntaxError", "details": [error.reason, request["query"], error.offset]}
    except StoreTimeout:
        return {"error": "timeout"}
    except (QueryRefused, QueryError) as error:
        return {"error": type(error).__name__, "details": [str(error)]}
    except MemoryError:
        return {"error": "memory"}
    except OverflowError:
        return {"error": "QueryError", "details": ["A number of the result has more than 64 bits"]}
    except RecursionError:
        return {"error": "QueryRefused", "details": ["Its parts are too deep within one another"]}


def _open(language: str, folder: Path, first: dict[str, Any]) -> Engine:
    setup = msgspec.msgpack.decode(first["setup"])
    if language == "cypher":
        from clew.stores.cypher.engine import LadybugEngine

        return LadybugEngine(folder, setup, first["load"])
    from clew.stores.sparql.engine import OxigraphEngine

    return OxigraphEngine(folder, setup)


def main(language: str, folder: str, most: int) -> None:
    """Answer until stdin ends; the process has `most` bytes of memory more than it begins with."""
    from clew.workers.memory import limit_memory

    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    first = read_message(stdin)
    if first is None:
        return
    try:
        engine = _open(language, Path(folder), msgspec.msgpack.decode(first))
    except (RuntimeError, OSError, ValueError) as error:
        reply = {"failure": "load", "message": (str(error).splitlines() or [""])[0]}
        write_message(stdout, msgspec.msgpack.encode(reply))
        return
    write_message(stdout, msgspec.msgpack.encode({"ready": True}))
    limit_memory(most)
    while (message := read_message(stdin)) is not None:
        request: dict[str, Any] = msgspec.msgpack.decode(message)
        with _alarm(request["seconds"]):
            reply = msgspec.msgpack.encode(_answer(engine, request))
        write_message(stdout, reply)


@contextlib.contextmanager
def _alarm(seconds: float) -> Generator[None]:
    """End this process some time after its parent should have: that one may be gone."""
    if not hasattr(signal, "setitimer"):
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, 2 * seconds + 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))

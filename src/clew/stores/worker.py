"""The process of `QueryProcesses`: opens a store for reading and answers queries until its stdin ends.

Run as `python -P worker.py LANGUAGE FOLDER BYTES`. The first message holds statements that fill the store (of
the first process of a store) and what is to be known of the graph; each other one is a query. A query is
parsed, guarded, rewritten and run here, so that all that its text can do is under the limits of this process.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Generator
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import msgspec

from clew.foundation.system import address_bytes, limit_memory
from clew.stores.errors import QueryError, QueryRefused, QuerySyntaxError, StoreTimeout
from clew.stores.process import read_message, write_message

WORN = 0.25
"""Share of its memory that queries have left taken in a process which answers no more."""


class Engine(Protocol):
    """A database that is open for reading."""

    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer a query: columns and rows; raises a ClewError for one that is not run."""
        ...


def _answer(engine: Engine, request: dict[str, Any]) -> dict[str, Any]:
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


def main(language: str, folder: str, most: int) -> None:
    """Answer until stdin ends; the process has `most` bytes of memory more than it begins with."""
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    first = read_message(stdin)
    if first is None:
        return
    try:
        load: dict[str, Any] = msgspec.msgpack.decode(first)
        setup, module = msgspec.msgpack.decode(load["setup"]), import_module(f"clew.stores.{language}.engine")
        engine: Engine = module.open_engine(Path(folder), setup, load["load"])
    except (RuntimeError, OSError, ValueError) as error:
        reply = {"failure": "load", "message": (str(error).splitlines() or [""])[0]}
        write_message(stdout, msgspec.msgpack.encode(reply))
        return
    write_message(stdout, msgspec.msgpack.encode({"ready": True}))
    limit_memory(most)
    fresh = address_bytes()
    while (message := read_message(stdin)) is not None:
        request: dict[str, Any] = msgspec.msgpack.decode(message)
        with _alarm(request["seconds"]):
            reply = _answer(engine, request)
            if reply.get("error") == "memory" or address_bytes() - fresh > WORN * most:
                reply["worn"] = True
            message = msgspec.msgpack.encode(reply)
        write_message(stdout, message)


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

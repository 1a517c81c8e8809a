"""A process of `QueryProcesses`: opens a store for reading and answers queries until its stdin ends.

Run as `python -P worker.py LANGUAGE FOLDER BYTES`. The first message holds what queries need to know of the
graph and, for the first process of a store, the statements that fill it; every further message is a query. A
query is parsed, guarded, rewritten and run here, so that whatever it causes is under this process's limits.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from clew.foundation.system import address_bytes, limit_memory
from clew.stores.errors import QueryError, QueryRefused, StoreTimeout
from clew.stores.process import read_message, write_message

Run = Callable[[dict[str, Any]], dict[str, Any]]
"""Runs a query and returns its columns and rows; raises a ClewError if it refuses or fails."""


def _answer(run: Run, request: dict[str, Any]) -> dict[str, Any]:
    try:
        return run(request)
    except StoreTimeout:
        return {"error": "timeout"}
    except MemoryError:
        return {"error": "memory"}
    except (QueryError, OverflowError, RecursionError) as fault:
        error = fault
        if isinstance(fault, OverflowError):
            error = QueryError("A number of the result has more than 64 bits")
        elif isinstance(fault, RecursionError):
            error = QueryRefused("Its parts are too deep within one another")
        return {"error": type(error).__name__, "message": str(error)}


def main(language: str, folder: str, most: int) -> None:
    """Answer queries until stdin ends, with at most `most` bytes of memory beyond those of the open store."""
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    first = read_message(stdin)
    if first is None:
        return
    try:
        load: dict[str, Any] = msgspec.msgpack.decode(first)
        setup, module = msgspec.msgpack.decode(load["setup"]), import_module(f"clew.stores.{language}.engine")
        run: Run = module.Engine(Path(folder), setup, load["load"]).run
    except (RuntimeError, OSError, ValueError) as error:
        reply = {"failure": "load", "message": (str(error).splitlines() or [""])[0]}
        write_message(stdout, msgspec.msgpack.encode(reply))
        return
    write_message(stdout, msgspec.msgpack.encode({"ready": True}))
    limit_memory(most)
    fresh = address_bytes()
    while (message := read_message(stdin)) is not None:
        request: dict[str, Any] = msgspec.msgpack.decode(message)
        # The parent kills a process that is late. Should the parent be gone, this alarm does.
        _set_alarm(2 * request["seconds"] + 1)
        reply = _answer(run, request)
        # A process is replaced once a quarter of its memory stays taken between queries.
        if reply.get("error") == "memory" or address_bytes() - fresh > most / 4:
            reply["worn"] = True
        message = msgspec.msgpack.encode(reply)
        _set_alarm(0)
        write_message(stdout, message)


def _set_alarm(seconds: float) -> None:
    """End this process after some seconds; 0 cancels that."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))

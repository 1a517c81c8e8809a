"""Asynchronous calls from synchronous code, also where an event loop already runs (notebooks, servers).

One background thread keeps one event loop for the whole process, so that connections are kept between calls.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import wait
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")
POLL_SECONDS = 0.25
"""How often a thread that waits looks whether it is to wait on."""

_check: ContextVar[Callable[[], None] | None] = ContextVar("clew_waiting", default=None)


@contextmanager
def waiting_checked(check: Callable[[], None]) -> Generator[None]:
    """Let `run_sync` call `check` now and then while it waits in this context; it may raise."""
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


class _Runner:
    """An event loop in a daemon thread, belonging to the process that made it."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, name="clew-llm", daemon=True)
        self.thread.start()

    def stop(self) -> None:
        if self.process != os.getpid() or self.loop.is_closed():
            return
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(timeout=5)
        if not self.thread.is_alive():
            self.loop.close()


_lock = threading.Lock()
_runners: list[_Runner] = []


def _runner() -> _Runner:
    with _lock:
        # A forked child has no thread of its parent's.
        if not _runners or _runners[-1].process != os.getpid():
            _runners.append(_Runner())
            atexit.register(_runners[-1].stop)
        return _runners[-1]


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end and return its result; Ctrl-C cancels it.

    So does what `waiting_checked` calls, if it raises. Raises RuntimeError: it is called from within such a
    coroutine, which would wait for itself.
    """
    runner = _runner()
    if threading.current_thread() is runner.thread:
        coroutine.close()
        raise RuntimeError("run_sync was called from a coroutine that run_sync runs; await it instead")
    future = asyncio.run_coroutine_threadsafe(coroutine, runner.loop)
    try:
        check = _check.get()
        while check is not None and not future.done():
            wait([future], timeout=POLL_SECONDS)
            check()
        return future.result()
    except BaseException:
        future.cancel()
        raise

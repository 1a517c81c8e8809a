"""Work in threads: so much at once, so long, and no longer than somebody waits for it."""

from __future__ import annotations

import asyncio
import ctypes
import sys
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from types import FrameType
from typing import Any, TypeVar

from clew.foundation.system import resident_bytes
from clew.llm.managed import waiting_checked
from clew.serve.settings import Problem, ServerLimits
from clew.types import watch_steps

T = TypeVar("T")

ENDED_IN = ("clew.",)
"""Beginnings of the names of modules in which work is ended; elsewhere it is waited for."""


class WorkStopped(BaseException):
    """Raised within work that nobody waits for any more; methods do not catch it."""


class Gone(Exception):
    """The client went away."""


Hear = Callable[[str, Any], None]
"""Called with an event of work (`reply` or `step`) and its JSON, in the thread that does the work."""

_listener: ContextVar[Hear | None] = ContextVar("clew_serve_heard", default=None)


def hear_reply(call: int, piece: str, /) -> None:
    """Tell a piece of a model's reply to the request that it is for: the listener of shared models."""
    hear = _listener.get()
    if hear is not None:
        hear("reply", {"call": call, "text": piece})


class Job:
    """Work of one request, in one thread, which can be stopped from another.

    `began` is when it began (seconds of `time.monotonic`), None before.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: int | None = None
        self._stopped = self._raised = False
        self.began: float | None = None
        self.problem: Problem | None = None

    def run(self, work: Callable[[], T]) -> T:
        """Do the work; raises WorkStopped where `stop` was called before its end."""
        with self._lock:
            if self._stopped:
                raise WorkStopped
            self._thread, self.began = threading.get_ident(), time.monotonic()
        try:
            try:
                return work()
            finally:
                self._leave()
        except WorkStopped:
            self._leave()
            raise

    def stop(self, problem: Problem | None = None) -> bool:
        """End the work where it can be ended; whether that is done, else this is to be called again.

        `problem` says why to whoever waits for it.
        """
        with self._lock:
            if not self._stopped:
                self._stopped, self.problem = True, problem
            if self._thread is None or self._raised:
                return True
            if not _can_be_ended(self._thread):
                return False
            _raise_in(self._thread, WorkStopped)
            self._raised = True
            return True

    def check(self) -> None:
        """Raise WorkStopped in work that has been stopped while it waits for something."""
        if self._stopped:
            raise WorkStopped

    def _leave(self) -> None:
        with self._lock:
            if self._thread is not None:
                _raise_in(self._thread, None)
            self._thread = None


def _can_be_ended(thread: int) -> bool:
    """Whether a thread is in code that is left in order by any exception, and not in an import.

    An exception within the machinery of imports, of threads or of logging would leave a lock locked.
    """
    frame = sys._current_frames().get(thread)  # pyright: ignore[reportPrivateUsage]  (documented)
    if frame is None or not _module(frame).startswith(ENDED_IN):
        return False
    while frame is not None:
        if _module(frame).startswith("importlib"):
            return False
        frame = frame.f_back
    return True


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _raise_in(thread: int, kind: type[BaseException] | None) -> None:
    """Let an exception be raised in a thread; None takes back one that was not raised yet."""
    value = None if kind is None else ctypes.py_object(kind)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), value)


class Work:
    """The threads of a server, and the work that waits for them."""

    def __init__(self, limits: ServerLimits) -> None:
        self._limits = limits
        self._threads = ThreadPoolExecutor(limits.threads, thread_name_prefix="clew-work")
        # Threads share one interpreter: several that compute at once only change places.
        self._turns = asyncio.Semaphore(1)
        self._jobs: set[Job] = set()
        self._mean = 0.05
        self._resident = resident_bytes()

    @property
    def jobs(self) -> int:
        """How many requests are worked on, or wait."""
        return len(self._jobs)

    async def run(
        self,
        work: Callable[[], T],
        *,
        gone: asyncio.Future[None] | None = None,
        hear: Hear | None = None,
        endless: bool = False,
    ) -> T:
        """Do `work` in a thread and return what it returns; `endless` work has all the time it needs.

        Raises Problem if too much waits already or its time is over, Gone if `gone` is done first; both
        stop the work.
        """
        if len(self._jobs) >= self._limits.threads + self._limits.waiting:
            wait = min(60, max(1, round(self._mean * len(self._jobs) / self._limits.threads)))
            detail = f"Too many requests are waiting. Try again in {wait} s"
            raise Problem(429, "too-busy", "Too many requests", detail, retry_after=str(wait))
        job = Job()
        self._jobs.add(job)

        def watched() -> T:
            with _report_events(hear), waiting_checked(job.check):
                return job.run(work)

        future = asyncio.ensure_future(self._in_turn(watched))
        try:
            return await self._wait_for(job, future, gone, None if endless else self._limits.seconds)
        finally:
            self._stop(job)
            if job.began is None:  # it leaves the line, so that who has gone takes nobody's place
                future.cancel()
            if future.done():
                self._ended(job, future)
            else:
                future.add_done_callback(lambda done: self._ended(job, done))

    async def _in_turn(self, work: Callable[[], T]) -> T:
        """Do work in a thread when it is its turn; work that was stopped before is not begun."""
        await self._turns.acquire()
        loop, turn = asyncio.get_running_loop(), [self._turns]

        def leave() -> None:
            while turn:
                turn.pop().release()

        # Who takes longer, or waits for a chat model, goes on beside the next.
        ending = loop.call_later(0.05, leave)
        try:
            # In the context of the request, so that spans of its calls are its own.
            return await loop.run_in_executor(self._threads, copy_context().run, work)
        finally:
            ending.cancel()
            leave()

    async def _wait_for(
        self, job: Job, future: asyncio.Future[T], gone: asyncio.Future[None] | None, seconds: float | None
    ) -> T:
        waited = {future} if gone is None else {future, gone}
        done, _ = await asyncio.wait(waited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if future in done:
            try:
                return future.result()
            except WorkStopped:
                raise job.problem or Gone from None
        if not done:
            took = f"The request took longer than {self._limits.seconds:g} s and was stopped. Ask for less"
            raise Problem(503, "time", "Out of time", took)
        raise Gone

    def _stop(self, job: Job, problem: Problem | None = None) -> None:
        """Stop a job, as soon as that can be done."""
        if not job.stop(problem):
            asyncio.get_running_loop().call_later(0.01, self._stop, job, problem)

    def _ended(self, job: Job, future: asyncio.Future[T]) -> None:
        self._jobs.discard(job)
        if not future.cancelled():
            future.exception()
        if job.began is not None:
            self._mean += 0.05 * (time.monotonic() - job.began - self._mean)

    def watch_memory(self) -> None:
        """Stop what has been worked on longest if the process has grown by more than it may."""
        if resident_bytes() - self._resident <= self._limits.memory:
            return
        running = [job for job in self._jobs if job.began is not None]
        if running:
            detail = "The request took more memory than it may and was stopped. Ask for less"
            problem = Problem(503, "memory", "Out of memory", detail)
            self._stop(min(running, key=lambda job: job.began or 0.0), problem)

    async def close(self, seconds: float) -> None:
        """Wait so long for the work that is going on, then stop it."""
        deadline = time.monotonic() + seconds
        while self._jobs and time.monotonic() < deadline:
            await asyncio.sleep(0.02)
        for job in list(self._jobs):
            self._stop(job)
        self._threads.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _report_events(hear: Hear | None) -> Generator[None]:
    if hear is None:
        yield
        return
    token = _listener.set(hear)
    try:
        with watch_steps(lambda step: hear("step", step.as_json())):
            yield
    finally:
        _listener.reset(token)

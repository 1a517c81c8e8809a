"""How long one question may take, also while machine code is made, and how many answers it lists."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from threading import get_ident
from time import perf_counter, thread_time

from clew.errors import UsageError

# Where machine code is kept, whether some is being made, and how long that took; imports no numba.


class Compiling:
    """The state of a process: kernels are compiled once for all that it opens."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        """Where machine code is kept; without one it is made in every process."""
        self._lock, self._thread_state, self._compilations = threading.Lock(), threading.local(), 0

    @property
    def is_compiling(self) -> bool:
        """Whether a kernel is being compiled, in any thread."""
        return self._compilations > 0

    @property
    def milliseconds(self) -> float:
        """Time that this thread has spent compiling."""
        return getattr(self._thread_state, "milliseconds", 0.0)

    def begin(self) -> None:
        """Note that a kernel is being compiled."""
        with self._lock:
            self._compilations += 1

    def end(self, seconds: float) -> None:
        """Note that it is done, and how long it took."""
        with self._lock:
            self._compilations -= 1
        self._thread_state.milliseconds = self.milliseconds + seconds * 1000


COMPILING = Compiling()


# How long one question may take, and how many answers it lists.
#
# What may take long calls `check` where it goes on; beyond the time it raises `OutOfTime`, of which
# `Clew.ask` and `Clew.verify` make an abstention `budget`. The time is that of the processor in the thread
# that asks: other work of the machine, waiting for a model and compiling a search for the first time are not
# the question's.

ANSWER_SECONDS = 30.0
"""Of a question that says nothing else: a hundred times what a long one takes on ten million triples."""
ANSWERS = 10_000
"""Answers that are listed and proved; more are counted. Each takes about a kilobyte and 20 µs."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The seconds (None: no end) and the answers listed of one question.

    Raises UsageError for numbers that are none above 0.
    """

    seconds: float | None = ANSWER_SECONDS
    answers: int = ANSWERS

    def __post_init__(self) -> None:
        """Check the ranges."""
        if self.seconds is not None and not self.seconds > 0:
            raise UsageError(f"A question of {self.seconds:g} seconds cannot be answered. Allow more than 0")
        if self.answers < 1:
            raise UsageError(f"A limit of {self.answers} answers lists none. Allow at least 1")


class OutOfTime(Exception):
    """A question takes longer than its bounds; never raised out of `Clew`."""


@dataclass(slots=True)
class _Clock:
    """One question: when its time is over, in processor time of its thread, and at the earliest.

    `compiled`: the milliseconds that the thread had spent compiling when the question began.
    """

    bounds: Bounds
    thread: int
    end: float
    soonest: float
    compiled: float


_clock: ContextVar[_Clock | None] = ContextVar("clew_bounds", default=None)


@contextmanager
def bounded(bounds: Bounds) -> Generator[None]:
    """Hold `bounds` for what is done here."""
    seconds = float("inf") if bounds.seconds is None else bounds.seconds
    end, soonest = thread_time() + seconds, perf_counter() + seconds
    clock = _Clock(bounds, get_ident(), end, soonest, COMPILING.milliseconds)
    token = _clock.set(clock)
    try:
        yield
    finally:
        _clock.reset(token)


def check() -> None:
    """Raise OutOfTime if the seconds of the question in this thread are over."""
    clock = _clock.get()
    # The time of the thread is a call of the system, and behind that of the wall.
    if clock is None or perf_counter() < clock.soonest or clock.thread != get_ident():
        return
    compiling = (COMPILING.milliseconds - clock.compiled) / 1000
    if thread_time() - compiling > clock.end:
        raise OutOfTime


def most_answers() -> int:
    """How many answers the question may list."""
    clock = _clock.get()
    return ANSWERS if clock is None else clock.bounds.answers

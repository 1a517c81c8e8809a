"""What Clew asks of the machine, and how long one question may take and how many answers it lists."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import mmap
import os
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from threading import get_ident
from time import perf_counter, thread_time
from typing import Any, BinaryIO, cast

from clew.errors import MissingExtra, UsageError

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
    """One question: when its time is over, in processor time of its thread, which had `compiled` so long."""

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


# Import of optional packages.


def require(package: str, extra: str) -> Any:  # noqa: ANN401
    """Import an optional package; MissingExtra names the `extra` that brings it, if it is not there."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise MissingExtra(package, extra) from error


# Files that are there as a whole or not at all, whoever reads, writes or breaks off meanwhile.


def replace_file(path: Path, content: str | bytes) -> None:
    """Put `content` (text in UTF-8) in place of a file at once; raises OSError, and leaves the file then."""
    data = content.encode() if isinstance(content, str) else content
    new = path.with_name(f".{path.name}.{os.getpid()}-{get_ident()}")
    try:
        new.write_bytes(data)
        os.replace(new, path)
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise


def is_own(status: os.stat_result) -> bool:
    """Whether this user alone may write; always so on Windows, where each user has folders of their own."""
    return not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & 0o022)


def open_at_once(path: str, flags: int) -> int:
    """An opener of files that waits for no writer of a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


# Files that one process writes at a time, on any system.


def open_growing(path: Path) -> BinaryIO:
    """Open a file for reading and appending, unbuffered; made if missing, and never cut. Raises OSError."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)  # which Windows needs
    return cast(BinaryIO, os.fdopen(os.open(path, flags, 0o666), "r+b", buffering=0))


def take_lock(handle: int) -> bool:
    """Lock an open file for this process alone, until it is closed; False if another process has it."""
    # Only who writes needs it, and it takes a while to import.
    from filelock import lock_descriptor

    return lock_descriptor(handle, blocking=False)


# How much memory there is, how much of it a process of Clew has and may take, and giving it back.


def limit_memory(most: int) -> None:
    """Where the system can, let this process have `most` bytes more than it has now, and no more."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        if used_bytes := address_bytes():
            resource.setrlimit(resource.RLIMIT_AS, (used_bytes + most, used_bytes + most))


def _memory() -> tuple[int, ...]:
    """Bytes of this process: its addresses, what is resident, what of that is shared; 0 if not known."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return tuple(int(pages) * mmap.PAGESIZE for pages in file.read().split()[:3])
    except OSError:  # not Linux
        return 0, 0, 0


def address_bytes() -> int:
    """Addresses that this process has reserved, in bytes; 0 if not known."""
    return _memory()[0]


def physical_memory() -> int:
    """Bytes of memory that the machine has; of a system that does not tell, more than any has."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf
        return sys.maxsize


def resident_bytes() -> int:
    """Memory of this process that is its own: resident, less what is mapped from files; 0 if not known."""
    _, resident, shared = _memory()
    return resident - shared


def release_memory() -> None:
    """Give the memory of what is used no more back to the system, where the C library does not by itself."""
    gc.collect()
    with contextlib.suppress(TypeError, AttributeError):  # Windows, and all but glibc
        ctypes.CDLL(None).malloc_trim(0)


# How many processors there are to share work out to.


def usable_processors() -> int:
    """Processors that this process may use; where the system does not tell, those of the machine."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

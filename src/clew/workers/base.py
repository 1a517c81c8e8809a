"""What does many pieces of work, and what can go wrong with it."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar

from clew.errors import ClewError

S = TypeVar("S")
T = TypeVar("T")
ResultT = TypeVar("ResultT", covariant=True)
Make = Callable[[], Callable[[S], T]]
"""Makes, in a worker, the function that does a piece there; it can be pickled."""
MOST_LOST = 3
"""Workers that may end at the same piece before the work is given up."""


class Stopped(ClewError):
    """Work ended before its time: workers died, or the budget of the run is used up."""


class Workers(Protocol):
    """Does pieces of work, some at a time."""

    def map(self, make: Make[S, T], pieces: Iterable[S]) -> Iterator[T]:
        """Results in the order of the pieces; `make` is called once in each worker.

        Raises Stopped if workers die, and ClewErrors that `make` and its function raise.
        """
        ...

    def work_notes(self) -> Sequence[str]:
        """What there is to say of who did how much, one line each; none of a single machine."""
        ...


class Waits(Protocol[ResultT]):
    """A result that is not there yet."""

    def result(self) -> ResultT:
        """Wait for it."""
        ...

    def cancel(self) -> object:
        """It is not wanted any more."""
        ...


WaitsT = TypeVar("WaitsT", bound=Waits[Any])


def in_order(
    submit: Callable[[S], WaitsT],
    pieces: Iterable[S],
    window: Callable[[], int],
    waiting: deque[WaitsT] | None = None,
) -> Iterator[Any]:
    """Results in the order of `pieces`, with at most `window()` of them under way, in `waiting`."""
    waiting = deque() if waiting is None else waiting
    try:
        for piece in pieces:
            waiting.append(submit(piece))
            if len(waiting) >= window():
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for result in waiting:
            result.cancel()


# Work in processes of this machine, none of which outlives the one that started it.


@dataclass(frozen=True, slots=True)
class Processes:
    """So many worker processes beside this one."""

    count: int

    def map(self, make: Make[S, T], pieces: Iterable[S]) -> Iterator[T]:
        """Results in the order of the pieces. Raises Stopped if a worker is killed."""
        # Spawned, not forked: threads of numba and of a model's client do not survive a fork.
        context = multiprocessing.get_context("spawn")
        try:
            with ProcessPoolExecutor(self.count, context, initializer=_begin, initargs=(make,)) as pool:
                yield from in_order(partial(pool.submit, _work), pieces, lambda: 3 * self.count)
        except BrokenProcessPool as error:
            raise Stopped(
                "a worker process was killed; the same command goes on. Is the memory full?"
            ) from error

    def work_notes(self) -> Sequence[str]:
        """Nothing: all is done here."""
        return ()


def end_with_parent(wait: Callable[[], object], end: Callable[[], object] = lambda: os._exit(1)) -> None:
    """Call `end` in this process, by default at once and with code 1, when `wait` returns.

    `wait` blocks until the parent has ended: also one that is killed, which tells its workers nothing.
    """

    def watch() -> None:
        wait()
        end()

    threading.Thread(target=watch, name="end with parent", daemon=True).start()


_piece_functions: list[Callable[[Any], Any]] = []


def _begin(make: Make[Any, Any]) -> None:
    """Make this worker ready; it ends with its parent, also where that is killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        end_with_parent(parent.join)
    _piece_functions.append(make())


def _work(piece: Any) -> Any:  # noqa: ANN401
    return _piece_functions[0](piece)

"""What does many pieces of work, and what can go wrong with it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
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

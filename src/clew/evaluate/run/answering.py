"""Asking: one question after the other, in worker processes, or (with a model, which waits) in threads.

Results come in the order of the tasks, whatever the number of workers, so that a run writes the same file
each time.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any, TypeVar

from clew.errors import ClewError
from clew.evaluate.records import Failure
from clew.evaluate.run.config import MethodSpec

S = TypeVar("S")
T = TypeVar("T")
CHUNK = 8
"""Questions that a worker process takes at a time."""


@dataclass(frozen=True, slots=True)
class AnswerTask:
    """One question, or claim, for one method."""

    method: MethodSpec
    id: str
    text: str
    entities: tuple[str, ...]
    seed: int | None
    claim: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a task: the JSON of an answer, or a failure."""

    answer: dict[str, Any] | None
    failure: Failure | None = None
    cost: float | None = None


Ask = Callable[[AnswerTask], Outcome]
"""Asks one question. Raises ClewErrors that concern the whole run; those of one question become failures."""


class Stopped(ClewError):
    """A run ended before its time: a worker process died, or the budget of the run is used up."""


def ask_all(tasks: Sequence[AnswerTask], ask: Ask, *, threads: int = 1) -> Iterator[Outcome]:
    """Ask in this process, in `threads`."""
    yield from in_threads(ask, tasks, threads)


def in_threads(work: Callable[[S], T], items: Iterable[S], threads: int) -> Iterator[T]:
    """Do some work in threads; results come in the order of the items."""
    if threads <= 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(threads) as pool:
        yield from _ordered(pool, work, items, 4 * threads)


def ask_in_processes(tasks: Sequence[AnswerTask], make: Callable[[], Ask], workers: int) -> Iterator[Outcome]:
    """Ask in worker processes, each of which makes its own `ask`; `make` can be pickled.

    Raises:
        Stopped: a worker was killed.

    """
    chunks = [tasks[at : at + CHUNK] for at in range(0, len(tasks), CHUNK)]
    # Spawned, not forked: threads of numba and of a model's client do not survive a fork.
    context = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(workers, context, initializer=_begin, initargs=(make,)) as pool:
            for outcomes in _ordered(pool, _ask_chunk, chunks, 3 * workers):
                yield from outcomes
    except BrokenProcessPool as error:
        raise Stopped("a worker process was killed; the same command goes on. Is the memory full?") from error


def _ordered(pool: Executor, work: Callable[[Any], T], items: Iterable[Any], window: int) -> Iterator[T]:
    """Results in the order of `items`, with at most `window` of them under way."""
    waiting: deque[Future[T]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) >= window:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


_asks: list[Ask] = []


def _begin(make: Callable[[], Ask]) -> None:
    """Make this worker ready; it ends with its parent, also where that is killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    _asks.append(make())


def _end_with(parent: Any) -> None:  # noqa: ANN401
    parent.join()
    os._exit(1)


def _ask_chunk(tasks: Sequence[AnswerTask]) -> list[Outcome]:
    return [_asks[0](task) for task in tasks]

"""Asking: one question after the other, in worker processes, or (with a model, which waits) in threads.

Results come in the order of the tasks, whatever the number of workers, so that a run writes the same file
each time.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from clew.evaluate.records import Failure
from clew.evaluate.run.config import MethodVariant
from clew.workers.base import Stopped, Workers, in_order

S = TypeVar("S")
T = TypeVar("T")
QUESTIONS_AT_ONCE = 8
"""Questions that a worker takes at a time."""


@dataclass(frozen=True, slots=True)
class AnswerTask:
    """One question, or claim, for one method."""

    method: MethodVariant
    id: str
    text: str
    entities: tuple[str, ...]
    seed: int | None
    claim: bool = False


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """What came of a task: the JSON of an answer, or a failure."""

    answer: dict[str, Any] | None
    failure: Failure | None = None
    cost: float | None = None


AnswerFunction = Callable[[AnswerTask], TaskOutcome]
"""Asks one question. Raises ClewErrors that concern the whole run; those of one question become failures."""


class Abandoned(BaseException):
    """Raised in a thread that waits for a model, where nobody waits for its work any more."""


def in_threads(work: Callable[[S], T], items: Iterable[S], threads: int) -> Generator[T]:
    """Do some work in threads; results come in the order of the items.

    Where Ctrl-C comes while it waits, what is finished comes first, in the order of the items but not of all;
    what waits for a model is abandoned.
    """
    if threads <= 1:
        yield from map(work, items)
        return
    from clew.llm.run import waiting_checked

    ended = threading.Event()

    def check() -> None:
        if ended.is_set():
            raise Abandoned

    def watched(item: S) -> T:
        check()
        with waiting_checked(check):
            return work(item)

    waiting: deque[Future[T]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            yield from in_order(partial(pool.submit, watched), items, lambda: 4 * threads, waiting)
        except KeyboardInterrupt:
            finished_futures = [future for future in waiting if future.done() and not future.cancelled()]
            yield from [future.result() for future in finished_futures if future.exception() is None]
            raise
        finally:
            ended.set()


def ask_on(
    workers: Workers, tasks: Sequence[AnswerTask], make: Callable[[], AnswerFunction], threads: int = 1
) -> Iterator[tuple[AnswerTask, TaskOutcome]]:
    """Ask in workers, each of which makes its own `ask` and asks so many at a time; `make` can be pickled.

    Raises Stopped (workers were killed, or the budget of the run is used up).
    """
    size = max(QUESTIONS_AT_ONCE, threads)
    chunks = [tasks[at : at + size] for at in range(0, len(tasks), size)]
    for outcomes, stop in workers.map(partial(_make_chunk_worker, make, threads), chunks):
        yield from outcomes
        if stop is not None:
            raise stop


_Outcomes = tuple[list[tuple[AnswerTask, TaskOutcome]], Stopped | None]
"""What came of a chunk, and what ended it before its end."""


def _make_chunk_worker(
    make: Callable[[], AnswerFunction], threads: int
) -> Callable[[Sequence[AnswerTask]], _Outcomes]:
    """Make, in a worker, the function that asks a chunk of questions."""
    ask = make()

    def work(tasks: Sequence[AnswerTask]) -> _Outcomes:
        outcomes: list[tuple[AnswerTask, TaskOutcome]] = []
        try:
            outcomes.extend(in_threads(lambda task: (task, ask(task)), tasks, threads))
        except Stopped as stop:  # what came before it is kept
            return outcomes, stop
        return outcomes, None

    return work

"""Work in processes of this machine, none of which outlives the one that started it."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from clew.workers.base import Make, Stopped, in_order

S = TypeVar("S")
T = TypeVar("T")


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

"""Progress of long work, on stderr and only if a person is looking at it."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, Literal, Self

from clew.cli.console import err, warn
from clew.foundation.compiling import COMPILING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

LONG_WAIT = 2.0
"""Seconds after which a wait is explained."""
PATIENCE = 0.5
"""Seconds before a bar appears; quick work shows none."""

BarUnit = Literal["bytes", "entities", "triples", "questions", "patterns", "claims", "files", "walks"]


class Bar:
    """A bar with rate and time left, for several stages one after the other; `quiet` shows nothing."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet or not err().is_terminal
        self._start = time.monotonic()
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._stage = ""

    def update(self, stage: str, done: int, total: int, unit: BarUnit, note: str = "") -> None:
        """Show that `done` of `total` units of a stage are done, and a `note` behind the rate."""
        if self._quiet or time.monotonic() - self._start < PATIENCE:
            return
        if self._progress is None:
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            texts = ("{task.description}", "{task.percentage:>3.0f}%", "{task.fields[rate]}")
            stage_name, share, rate = map(TextColumn, texts)
            columns = stage_name, BarColumn(), share, rate, TimeRemainingColumn()
            self._progress = Progress(*columns, console=err(), transient=True)  # it vanishes when it is done
            self._progress.start()
        if self._task is None or stage != self._stage:
            if self._task is not None:
                self._progress.remove_task(self._task)
            self._task, self._stage = self._progress.add_task(stage, total=total, rate=""), stage
        speed = self._progress.tasks[-1].speed
        self._progress.update(self._task, completed=done, total=total, rate=_rate(speed, unit) + note)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None


def _rate(speed: float | None, unit: BarUnit) -> str:
    if not speed:
        return ""
    return f"{speed / 1e6:,.1f} MB/s" if unit == "bytes" else f"{speed:,.0f} {unit}/s"


@contextmanager
def explained_wait(activity: str, *, quiet: bool = False, after: float = LONG_WAIT) -> Generator[None]:
    """Say that what is done inside goes on, if it takes longer than `after` seconds; `activity` may say what.

    While machine code is compiled, which later runs find, the message says so.
    """
    finished = Event()

    def say() -> None:
        if finished.wait(after):
            return
        if not COMPILING.is_compiling:
            warn(f"still working …{f' ({activity})' if activity else ''}")
        while not COMPILING.is_compiling:
            if finished.wait(after):
                return
        warn("still working … (it is compiled for this machine, once)")

    if not quiet:
        Thread(target=say, daemon=True).start()
    try:
        yield
    finally:
        finished.set()

"""A worker process does not outlive the one that started it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable


def end_with_parent(wait: Callable[[], object], end: Callable[[], object] = lambda: os._exit(1)) -> None:
    """Call `end` in this process, by default at once and with code 1, when `wait` returns.

    `wait` blocks until the parent has ended: also one that is killed, which tells its workers nothing.
    """

    def watch() -> None:
        wait()
        end()

    threading.Thread(target=watch, name="end with parent", daemon=True).start()

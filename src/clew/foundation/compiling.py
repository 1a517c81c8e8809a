"""Where machine code is kept, whether some is being made, and how long that took; imports no numba."""

from __future__ import annotations

import threading
from pathlib import Path


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

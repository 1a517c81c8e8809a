"""Files that one process writes at a time, on any system."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO, cast


def open_growing(path: Path) -> BinaryIO:
    """Open a file for reading and appending; made if missing, and never cut. Raises OSError.

    Unbuffered: what is written is in the file at once, and nothing waits in memory for a kill to lose.
    """
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)  # which Windows needs
    return cast(BinaryIO, os.fdopen(os.open(path, flags, 0o666), "r+b", buffering=0))


def take_lock(handle: int) -> bool:
    """Lock an open file for this process alone, until it is closed; False if another process has it."""
    # Only who writes needs it, and it takes a while to import.
    from filelock import lock_descriptor

    return lock_descriptor(handle, blocking=False)

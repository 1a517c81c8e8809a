"""Temporary folders that are gone when their process is, also where it was killed.

    with Scratch("update") as folder: …

A killed process removes nothing. So each folder holds a file that its process keeps locked, and whoever makes
the next folder removes those that nobody holds any more.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from clew.foundation.system import is_own, open_growing, take_lock

_PREFIX, _LOCK, _LOCKED = "clew-", ".held", b"locked"


class Scratch(tempfile.TemporaryDirectory[str]):
    """A temporary folder `clew-KIND-…`, removed by `cleanup`, after `with`, or with the object. OSError."""

    def __init__(self, kind: str) -> None:
        _remove_abandoned(Path(tempfile.gettempdir()))
        super().__init__(prefix=f"{_PREFIX}{kind}-", ignore_cleanup_errors=True)
        self._held = open_growing(Path(self.name, _LOCK))
        with suppress(OSError):  # of a file system without locks: then nobody tells whether it is held
            if take_lock(self._held.fileno()):
                self._held.write(_LOCKED)

    def cleanup(self) -> None:
        """Remove the folder."""
        self._held.close()
        super().cleanup()


def _remove_abandoned(parent: Path) -> None:
    """Remove the folders of this user whose processes have ended."""
    for folder in parent.glob(f"{_PREFIX}*-*"):
        with suppress(OSError):
            status = folder.lstat()
            if not (stat.S_ISDIR(status.st_mode) and is_own(status) and (folder / _LOCK).stat().st_size):
                continue
            held = os.open(folder / _LOCK, os.O_RDWR)
            try:
                is_abandoned = take_lock(held)
            finally:
                os.close(held)
            if is_abandoned:
                shutil.rmtree(folder, ignore_errors=True)

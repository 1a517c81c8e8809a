"""A graph that comes from stdin: kept as a file named by its content, so that it is indexed once."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from pathlib import Path

from clew.errors import InputError

STDIN = "-"
_AT_ONCE = 1 << 20


def stdin_kept() -> Path:
    """Make a file that holds what stdin gives, until temporary files are removed. Raises InputError."""
    from clew.index.store.folders import own_folder

    folder, digest = own_folder(), hashlib.sha256()
    handle, name = tempfile.mkstemp(dir=folder, prefix="stdin-")
    new = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            while data := sys.stdin.buffer.read(_AT_ONCE):
                digest.update(data)
                file.write(data)
            if not file.tell():
                raise InputError("stdin is empty. A source needs at least one triple")
        return new.replace(folder / f"stdin-{digest.hexdigest()[:16]}")
    except OSError as error:
        raise InputError(f"stdin: cannot be kept in {folder} ({error.strerror or error})") from error
    finally:
        new.unlink(missing_ok=True)

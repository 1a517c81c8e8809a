"""Folders for what can be made again: the cache, or a private one where the cache may not be written."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def usable(cache_dir: Path) -> tuple[Path, str | None]:
    """Choose the cache; else a private folder for temporary files, and why the cache may not be written."""
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=cache_dir):
            return cache_dir, None
    except OSError as error:
        return user_folder(), error.strerror or str(error)


def private_folder() -> Path:
    """Name the user's folder below that for temporary files; it may not exist."""
    # On Windows each user has a temporary folder.
    user = f"-{os.getuid()}" if hasattr(os, "getuid") else ""
    return Path(tempfile.gettempdir()) / f"clew{user}"


def user_folder() -> Path:
    """Make or find this user's folder; a new one where another user made it."""
    return trusted_folder() or Path(tempfile.mkdtemp(prefix="clew-"))


def trusted_folder() -> Path | None:
    """Make or find this user's folder; None if it cannot be made, or others may write to it."""
    folder = private_folder()
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError:
        return None
    if not hasattr(os, "getuid"):
        return folder
    status = folder.lstat()
    is_private = status.st_uid == os.getuid() and not status.st_mode & 0o022 and not folder.is_symlink()
    return folder if is_private else None

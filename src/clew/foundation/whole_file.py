"""Files that are there as a whole or not at all, whoever reads, writes or breaks off meanwhile."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from threading import get_ident


def replace_file(path: Path, content: str | bytes, *, synced: bool = False) -> None:
    """Put `content` (text in UTF-8) in place of a file at once; raises OSError, and leaves the file then.

    `synced`: wait until the content is on the disk, so that it is there after a loss of power too.
    """
    data = content.encode() if isinstance(content, str) else content
    new = path.with_name(f".{path.name}.{os.getpid()}-{get_ident()}")
    try:
        with new.open("wb") as file:
            file.write(data)
            if synced:
                file.flush()
                os.fsync(file.fileno())
        os.replace(new, path)
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise

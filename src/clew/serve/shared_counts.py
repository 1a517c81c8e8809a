"""The folder in which workers put their counts together; to be made before the counts are imported."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Variable of prometheus_client, which looks at it when it is imported."""


@contextmanager
def shared_counts(workers: int) -> Generator[None]:
    """Let several workers share their counts while the server runs."""
    if workers == 1:
        yield
        return
    owner = os.getpid()
    os.environ[FOLDER] = folder = tempfile.mkdtemp(prefix="clew-counts-")
    try:
        yield
    finally:
        if os.getpid() == owner:
            shutil.rmtree(folder, ignore_errors=True)

"""How many processors there are to share work out to."""

from __future__ import annotations

import os


def usable_processors() -> int:
    """Processors that this process may use; where the system does not tell, those of the machine."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

"""How much memory there is, and how much of it a process of Clew may take."""

from __future__ import annotations

import contextlib
import os
import sys


def limit_memory(most: int) -> None:
    """Where the system can, let this process have `most` bytes more than it has now, and no more."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        with open("/proc/self/statm") as sizes:
            used = int(sizes.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + most, used + most))


def physical_memory() -> int:
    """Bytes of memory that the machine has; of a system that does not tell, more than any has."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf
        return sys.maxsize

"""How much memory a process of Clew may take."""

from __future__ import annotations

import contextlib


def limit_memory(most: int) -> None:
    """Where the system can, let this process have `most` bytes more than it has now, and no more."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        with open("/proc/self/statm") as sizes:
            used = int(sizes.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + most, used + most))

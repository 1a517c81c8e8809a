"""How much memory there is, how much of it a process of Clew has and may take, and giving it back."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import mmap
import os
import sys


def limit_memory(most: int) -> None:
    """Where the system can, let this process have `most` bytes more than it has now, and no more."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        if used_bytes := address_bytes():
            resource.setrlimit(resource.RLIMIT_AS, (used_bytes + most, used_bytes + most))


def address_bytes() -> int:
    """Addresses that this process has reserved, in bytes; 0 if not known."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * mmap.PAGESIZE
    except OSError:  # not Linux
        return 0


def physical_memory() -> int:
    """Bytes of memory that the machine has; of a system that does not tell, more than any has."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf
        return sys.maxsize


def resident_bytes() -> int:
    """Memory of this process that is its own: resident, less what is mapped from files; 0 if not known."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            _, resident, shared, *_ = file.read().split()
    except OSError:  # not Linux
        return 0
    return (int(resident) - int(shared)) * mmap.PAGESIZE


def release_memory() -> None:
    """Give the memory of what is used no more back to the system, where the C library does not by itself."""
    gc.collect()
    with contextlib.suppress(TypeError, AttributeError):  # Windows, and all but glibc
        ctypes.CDLL(None).malloc_trim(0)

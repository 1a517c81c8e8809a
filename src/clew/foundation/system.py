"""What Clew asks of the machine: optional packages, whole files, locks, memory, processors."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import mmap
import os
import sys
from contextlib import suppress
from pathlib import Path
from threading import get_ident
from typing import Any, BinaryIO, cast

from clew.errors import MissingExtra

# Import of optional packages.


def require(package: str, extra: str) -> Any:  # noqa: ANN401
    """Import an optional package; MissingExtra names the `extra` that brings it, if it is not there."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise MissingExtra(package, extra) from error


# Files that are there as a whole or not at all, whoever reads, writes or breaks off meanwhile.


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


# Files that one process writes at a time, on any system.


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


# How much memory there is, how much of it a process of Clew has and may take, and giving it back.


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


# How many processors there are to share work out to.


def usable_processors() -> int:
    """Processors that this process may use; where the system does not tell, those of the machine."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

"""What numba kernels have in common; importing one of them imports numba.

Numba keeps machine code on disk as long as the file of the entry kernel is the same, also where a kernel that
it calls is another. So `entry` adds the files beside it, where its folder is one of kernels, to what is
compared.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

Array = Any
"""A NumPy array: numba infers types itself, and docstrings state shapes."""
F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile as a part of an `entry`; without the wrappers for Python, which take most of the time."""
    import numba

    decorate: Any = numba.njit
    return decorate(no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)


def entry(function: F) -> F:
    """Compile on the first call from Python, keep the machine code on disk, release the GIL while running."""
    import numba

    decorate: Any = numba.njit
    kernel: Any = decorate(cache=True, nogil=True, no_cfunc_wrapper=True)(function)
    folder = Path(function.__code__.co_filename).parent
    if folder.name == "kernels":
        # Not public: without it, only who edits a kernel has to remove the machine code by hand.
        index: Any = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
        if hasattr(index, "_source_stamp"):
            index._source_stamp = (index._source_stamp, _digest(folder))
    return kernel


@cache
def _digest(folder: Path) -> str:
    """SHA-256 of the kernels in a folder and of this file."""
    files = [*sorted(folder.glob("*.py")), Path(__file__)]
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()

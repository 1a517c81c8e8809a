"""Numba kernels over plain arrays; importing one of them imports numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numpy.typing import NDArray

Array = NDArray[Any]
F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile as a part of an `entry`; without the wrappers for Python, which take most of the time."""
    from numba import njit

    return njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)


def entry(function: F) -> F:
    """Compile on the first call from Python, keep the machine code on disk, release the GIL while running."""
    from numba import njit

    return njit(cache=True, nogil=True, no_cfunc_wrapper=True)(function)

"""Numba kernels over plain arrays; importing one of them imports numba."""

from __future__ import annotations

from collections.abc import Callable
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
    return decorate(cache=True, nogil=True, no_cfunc_wrapper=True)(function)

"""Arrays that grow: what is mapped from a file is mapped once more, with room behind it, and not read.

The new array is private: only the pages that are written to take memory, and the file never changes.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import load_array

_T = TypeVar("_T", bound=np.generic)
_MAP_FIXED = 0x10
"""Replace what is mapped there; the same number on Linux, macOS and the BSDs."""


def mapped(path: Path) -> NDArray[Any]:
    """Map an `.npy` file, copy-on-write, so that `grown` finds the file again, or sees that it is another."""
    status = path.stat()
    array: NDArray[Any] = load_array(path, "c")
    if isinstance(array, np.memmap):
        array.identity = (status.st_dev, status.st_ino)  # pyright: ignore[reportAttributeAccessIssue]
    return np.asarray(array)


def grown(array: NDArray[_T], rows: int) -> NDArray[_T]:
    """Give a private array of `rows` rows that begins with those of `array`; what the rest holds is open."""
    shape = (rows, *array.shape[1:])
    mapping = _mapping_with_room(array, shape)
    if mapping is not None:
        return mapping
    copy = np.empty(shape, array.dtype)
    copy[: len(array)] = array
    return copy


def extended(array: NDArray[_T], new_rows: NDArray[_T]) -> NDArray[_T]:
    """Put `new_rows` behind; the same object if there are none."""
    if not len(new_rows):
        return array
    result = grown(array, len(array) + len(new_rows))
    result[len(array) :] = new_rows
    return result


def _mapping_with_room(array: NDArray[_T], shape: tuple[int, ...]) -> NDArray[_T] | None:
    """The file of a mapped array, once more, with room for `shape`; None if it is not of a file."""
    memmap = _memmap(array)
    if memmap is None or _MMAP is None or not array.flags.c_contiguous or not array.nbytes:
        return None
    offset = memmap.offset + array.ctypes.data - memmap.ctypes.data
    lead = offset % mmap.ALLOCATIONGRANULARITY
    size = int(np.prod(shape)) * array.itemsize
    # Pages behind the file's last one would be errors: all are first made of nothing.
    region = mmap.mmap(-1, lead + max(size, array.nbytes), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    address = ctypes.addressof(ctypes.c_char.from_buffer(region))
    try:
        with open(str(memmap.filename), "rb") as file:
            status = os.fstat(file.fileno())
            if (status.st_dev, status.st_ino) != getattr(memmap, "identity", None):
                return None
            mapped_address = _MMAP(
                address, lead + array.nbytes, mmap.PROT_READ | mmap.PROT_WRITE,
                mmap.MAP_PRIVATE | _MAP_FIXED, file.fileno(), offset - lead,
            )  # fmt: skip
    except OSError:
        return None
    if mapped_address != address:
        return None
    return np.frombuffer(region, array.dtype, size // array.itemsize, lead).reshape(shape)


def _memmap(array: NDArray[_T]) -> np.memmap[tuple[int, ...], np.dtype[np.generic]] | None:
    """The mapping of a file that an array is a part of."""
    base: object = array
    memmap = None
    while isinstance(base, np.ndarray):
        if isinstance(base, np.memmap) and base.filename is not None:
            memmap = base
        base = base.base
    return memmap


def _mmap_of_system() -> Any:  # noqa: ANN401
    """The system's own `mmap`, as Python's takes no address; None on Windows, where arrays are copied."""
    try:
        function = ctypes.CDLL(None, use_errno=True).mmap
    except (TypeError, AttributeError):
        return None
    function.restype = ctypes.c_void_p
    function.argtypes = [
        ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long
    ]  # fmt: skip
    return function


_MMAP = _mmap_of_system()

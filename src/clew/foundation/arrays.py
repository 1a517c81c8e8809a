"""Names of NumPy arrays by what they hold (shapes stand where they are used); a lock for files; spans."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import RLock
from tokenize import TokenError
from typing import Any, BinaryIO, Literal

import numpy as np
from numpy.typing import NDArray

AnyArray = NDArray[Any]
Int8 = NDArray[np.int8]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
UInt8 = NDArray[np.uint8]
UInt16 = NDArray[np.uint16]
UInt32 = NDArray[np.uint32]
UInt64 = NDArray[np.uint64]
Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]

AT_ONCE = 1 << 22
"""Rows of a large array that are worked on together, so that memory does not grow with the graph."""
LOADING = RLock()
"""For reading NumPy's files: their headers go through Python's parser, and two threads of CPython 3.11 that
parse at once may end in a SystemError (AST constructor recursion depth)."""


def load_array(file: Path | BinaryIO, mode: Literal["r", "c"] | None = None) -> AnyArray:
    """Read or map (`mode`) one array of an `.npy` file. Raises OSError, ValueError or EOFError, as NumPy."""
    with LOADING:
        try:
            return np.load(file, mmap_mode=mode, allow_pickle=False)
        except (TokenError, SyntaxError) as error:
            raise ValueError("its header cannot be read") from error


def chunks_of(first: int, stop: int, size: int) -> Iterator[tuple[int, int]]:
    """Cut `[first, stop)` into pieces of `size`."""
    for start in range(first, stop, size):
        yield start, min(start + size, stop)

"""What a worker of a cluster runs; it keeps what was made for the pieces of the last work."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from time import perf_counter
from typing import Any

from clew.errors import ClewError

_made: dict[bytes, Callable[[Any], Any]] = {}


@dataclass(frozen=True, slots=True)
class PieceDone:
    """What came of a piece on a node: its result, or the text of an error that ends the whole work."""

    node: str
    result: Any = None
    seconds: float = 0.0
    error: str | None = None
    exit_code: int = 1


def do_piece(node: str, make: bytes, piece: bytes) -> PieceDone:
    """Do a piece with the function that `make` makes, after `prepare`; once a process.

    `make` is `(prepare, make)`, pickled.
    """
    began, key = perf_counter(), sha256(make).digest()
    try:
        if key not in _made:
            _made.clear()  # of another work: an index that nobody asks any more
            prepare, made = pickle.loads(make)  # noqa: S301 (from the driver, as the code that Ray runs)
            prepare()
            _made[key] = made()
        return PieceDone(node, _made[key](pickle.loads(piece)), perf_counter() - began)  # noqa: S301
    except ClewError as error:
        return PieceDone(node, error=str(error), exit_code=error.exit_code)
    except (OSError, MemoryError) as error:  # a full disk, or no right to read
        return PieceDone(node, error=f"{_reason(error)}. Mend that there, and the same command goes on")


def _reason(error: OSError | MemoryError) -> str:
    if isinstance(error, MemoryError):
        return "the memory is full"
    return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error)

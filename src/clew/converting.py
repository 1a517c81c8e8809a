"""Plain data, as JSON has it, as instances of types: msgspec, by one thread at a time."""

from __future__ import annotations

import threading
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

_ONE_AT_A_TIME = threading.Lock()


def converted(value: Any, shape: type[T]) -> T:  # noqa: ANN401
    """Make an instance of `shape`, strictly. Raises msgspec.ValidationError if the value does not fit."""
    # msgspec notes the fields of a class when it first meets it; two threads that do so at once end the
    # process (0.22).
    with _ONE_AT_A_TIME:
        return msgspec.convert(value, shape, strict=True)

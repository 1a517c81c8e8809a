"""What the settings of methods have in common."""

from __future__ import annotations

from clew.errors import UsageError


def positive(method: str, **numbers: int) -> None:
    """Raise UsageError for the first of some numbers of a method that is below 1."""
    for name, number in numbers.items():
        if number < 1:
            raise UsageError(f"{method}: {name} is {number}, and must be 1 or more")

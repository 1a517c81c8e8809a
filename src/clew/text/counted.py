"""A count with its noun."""

from __future__ import annotations


def counted(count: int, noun: str, nouns: str = "") -> str:
    """Write a count with its noun: `1 triple`, `2 triples`."""
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"

"""A count with its noun, and a size in bytes, for people."""

from __future__ import annotations


def counted(count: int, noun: str, nouns: str = "") -> str:
    """Write a count with its noun: `1 triple`, `2 triples`."""
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def byte_size(count: int) -> str:
    """Write a number of bytes: `12 bytes`, `1.5 kB`, `2.0 MB`."""
    if count < 1000:
        return f"{count} bytes"
    for unit, scale in (("kB", 1e3), ("MB", 1e6)):
        if count < 999.95 * scale:
            return f"{count / scale:,.1f} {unit}"
    return f"{count / 1e9:,.1f} GB"

"""A word of a question."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the question: its characters [start, stop), normal form and weight.

    `capital`: written like a name. `share`: how strongly it asks for a way back (*also*). `doubled`: the
    second of two words that one was cut into (*grandson*). A normal form `a|b` means either word.
    """

    text: str
    norm: str
    start: int
    stop: int
    weight: float
    capital: bool
    share: float = 0.0
    doubled: bool = False

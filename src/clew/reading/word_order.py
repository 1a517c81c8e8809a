"""How well the words of a question say the steps of a chain in their order.

Read outward from the name, words say the steps of a chain one behind the other: *the actors (2) of films (1)
by X*. Which side is read first depends on the sentence: *the films that share actors (1, 2) with X were
directed (3) by whom* goes left of X first, *who directed (2) the films that X acted (1) in* right of it. Both
are given, and what they say is learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import Float32
from clew.query.tree import Anchor, Both, OfType, Part, Walk

MOST_STEPS = 4


@dataclass(frozen=True, slots=True)
class StepChain:
    """A chain of steps from one name, the first first; `type`: that of what it keeps at its end, or -1."""

    mention: int
    steps: tuple[int, ...]
    type: int = -1


def chain_of(part: Part) -> StepChain | None:
    """The chain that a part is, None where it is none from one name in the question."""
    type_ = -1
    if isinstance(part, Both) and isinstance(part.right, OfType):
        part, type_ = part.left, part.right.type
    steps: list[int] = []
    while isinstance(part, Walk):
        steps.append(part.step)
        part = part.source
    if not isinstance(part, Anchor) or part.mention < 0 or not 0 < len(steps) <= MOST_STEPS:
        return None
    return StepChain(part.mention, tuple(reversed(steps)), type_)


def in_order(near: Float32, counts: NDArray[np.int64], right: Sequence[bool]) -> Float32:
    """How much of some words chains say if these stand in their order, float32 [n, 2].

    `near` float32 [n, words, MOST_STEPS] how like the words are to each step, of which chain i has
    `counts[i]`; `right` which words stand behind the name. The words left of it are read first, then those
    right of it first; each word is said by the step of the word before it, or by a later one.
    """
    left = [i for i, behind in enumerate(right) if not behind][::-1]
    behind = [i for i, is_behind in enumerate(right) if is_behind]
    is_step = np.arange(MOST_STEPS)[None] < counts[:, None]
    shares = [
        _share_in_order(np.where(is_step[:, None], near, -np.inf)[:, order])
        for order in (left + behind, behind + left)
    ]
    return np.stack(shares, axis=1)


def _share_in_order(near: Float32) -> Float32:
    best = near[:, 0]
    for word in range(1, near.shape[1]):
        best = np.maximum.accumulate(best, axis=1) + near[:, word]
    return best.max(axis=1) / near.shape[1]

"""Steps along relations, and the ends that they join.

A relation has two *ends*: its heads and its tails. A *step* walks a relation forward, from head to tail, or
backward, from tail to head. Both are numbers, so that arrays hold them and are indexed by them, and a step
has the number of the end that it leaves:

    forward(r)  = head_end(r) = 2 * r
    backward(r) = tail_end(r) = 2 * r + 1

The functions take numbers and arrays alike. For example, with the kinds of the ends of all relations:

    kinds[step]             what the step leaves
    kinds[opposite(step)]   what it arrives at

Kernels write the arithmetic out: these functions are not compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import AnyArray, Int32, Int64

Step = int
"""A relation that is walked one way."""
End = int
"""The heads of a relation, or its tails: what the step of the same number leaves."""
_Numbers = TypeVar("_Numbers", int, Int64, Int32)


def forward(relation: _Numbers) -> _Numbers:
    """The step from the heads of a relation to its tails."""
    return 2 * relation


def backward(relation: _Numbers) -> _Numbers:
    """The step from the tails of a relation to its heads."""
    return 2 * relation + 1


def step_of(relation: _Numbers, back: bool | int) -> _Numbers:
    """One of the two steps of a relation: backward with True or 1. It is also the number of an end."""
    return 2 * relation + back


def opposite(step: _Numbers) -> _Numbers:
    """The step that walks the same relation the other way; of an end, the other end of its relation."""
    return step ^ 1


def relation_of(step: _Numbers) -> _Numbers:
    """The relation of a step or an end."""
    return step >> 1


@overload
def is_backward(step: int) -> bool: ...
@overload
def is_backward(step: AnyArray) -> NDArray[np.bool_]: ...
def is_backward(step: int | AnyArray) -> bool | NDArray[np.bool_]:
    """Whether a step goes from tail to head."""
    return step & 1 == 1


head_end, tail_end, is_tail = forward, backward, is_backward
# An end has the number of the step that leaves it.
HEADS, TAILS = slice(0, None, 2), slice(1, None, 2)
"""Of an array with a value for each end, those of all heads, and of all tails."""


def way_back(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps that lead back over some, last one first."""
    return tuple(opposite(step) for step in reversed(steps))


def edge_of(node: int, step: Step, neighbour: int) -> tuple[int, int, int]:
    """Head, relation and tail of the edge that a step follows from a node to its neighbour."""
    head, tail = (neighbour, node) if is_backward(step) else (node, neighbour)
    return head, relation_of(step), tail

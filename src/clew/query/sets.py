"""Sets of nodes as ascending arrays of ids: faster on the short ones of a question than NumPy's own."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]


class SetCache:
    """Sets of a graph that many questions ask for, by a key, up to a number of ids in all."""

    def __init__(self, most: int = 2_000_000) -> None:
        self._most, self._ids = most, 0
        self._sets: dict[Hashable, dict[int, Ids]] = {}

    def get(self, key: Hashable, make: Callable[[], dict[int, Ids]]) -> dict[int, Ids]:
        """The sets of a key, made if they are not kept."""
        sets = self._sets.get(key)
        if sets is None:
            sets = make()
            self._ids += sum(len(ids) for ids in sets.values())
            if self._ids > self._most:
                # A new table: another thread may still read the old one.
                self._sets, self._ids = {}, 0
            self._sets[key] = sets
        return sets


def distinct(ids: NDArray[Any]) -> NDArray[Any]:
    """The ids of an array in any order, each once, ascending."""
    ids = np.sort(ids)
    if len(ids) < 2:
        return ids
    new = np.empty(len(ids), np.bool_)
    new[0] = True
    np.not_equal(ids[1:], ids[:-1], out=new[1:])
    return ids[new]


def intersection(first: Ids, second: Ids) -> Ids:
    """What is in both of two sets."""
    if len(first) > len(second):
        first, second = second, first
    return first[_inside(first, second)]


def union(first: Ids, second: Ids) -> Ids:
    """What is in one of two sets."""
    return distinct(np.concatenate([first, second]))


def difference(first: Ids, second: Ids) -> Ids:
    """What is in the first set and not in the second."""
    return first[~_inside(first, second)]


def _inside(first: Ids, second: Ids) -> NDArray[np.bool_]:
    if not len(second):
        return np.zeros(len(first), np.bool_)
    places = np.searchsorted(second, first)
    places[places == len(second)] = 0
    return second[places] == first

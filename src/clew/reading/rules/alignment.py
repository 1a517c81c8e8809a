"""Align the words of a question with relation paths around one mention.

Read outward from the mention, the words of a question name the steps of a path in order, whichever side they
stand on: *who directed(2) the films acted(1) by X*, *the films acted(1) by X were directed(2) by who*. So a
path is scored by a monotone alignment: words to the left are read right to left, words to the right left to
right, the two sides interleave freely, and every word is given to the step or to the node that it names. The
costs are those of words left unexplained and of steps that no word names. One dynamic program per path; paths
that share a beginning share its table (depth-first search with a bound). The tables are in `steps.kernels`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Int = NDArray[np.int64]

MOST_BRANCHES = 96
"""Branches of one mention that are kept when several meet."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Costs of an alignment.

    Fitted on the development halves of several data sets together (`benchmarks/fit_weights.py`).
    """

    word: float = 3.049
    """A content word left unexplained."""
    asked: float = 1.005
    """Factor for the noun after *which* or *what*."""
    wh: float = 0.216
    """Factor for *who*, *where*, *when*."""
    wh_step: float = 0.193
    """How far a *wh* word is evidence for a step that arrives at its class."""
    genitive: float = 0.181
    """Least similarity of a noun in a genitive chain (*the … of X*) with a step that its class allows."""
    told_apart: float = 0.697
    """Factor for a word that names the mention's type from afar (*what sort of film is X*)."""
    step: float = 0.194
    """Every step, so that short paths win."""
    step_evidence: float = 0.404
    """A step that no word names; a word of similarity s to it saves the share s."""
    plain_return: float = 3.0
    """A step back through the same relation that no word names and none like *share* or *also* asks for."""
    silent_later: float = 0.8
    """A further step that no word names."""
    turn: float = 0.07
    """Any step back through the same relation where no word asks for it."""
    one_way: float = 0.694
    """Factor for words that ask for a way back on a path without one."""
    cross: float = 0.157
    """A word to the right of *… by X*, *… of X* before one to the left."""
    answer_class: float = 1.034
    """The node at the end is not of the class that *who*, *when* or *where* asks for."""
    asked_type: float = 0.846
    """The node at the end is not what the noun after *which* names."""
    against: float = 0.44
    """A step against the direction in which its relation reads, where both are possible."""
    against_grammar: float = 0.8
    """The first step, where the words around the mention say the other way."""
    absent: float = 0.362
    """A first step that others of the mention's kind have, but not the mention itself."""
    common_word: float = 0.8
    """A single lower-case word of the language taken for a name."""
    common_words: float = 0.18
    """Several such words taken for a name."""
    rare: float = 0.691
    """Scale of -log10 of the share of nodes from which a later step can be walked."""


@dataclass(frozen=True, eq=False)
class Sides:
    """The words around a mention, nearest first: L words to the left, then R to the right.

    `weight` [L+R]: cost of each left unexplained; `share` [L+R]: whether it asks for a way back; `one_way`:
    cost of a path without one; `cross`: cost of a word to the right before one to the left; `apart` [L+R]: a
    genitive stands between it and the word before. `cover` [L+R, S]: how far each step explains each word;
    `step` [L+R, S]: how far the word is evidence for the step; `node` [L+R, S]: how well it names the type of
    the node where the step arrives; `anchor` [L+R]: that of the mention itself.
    """

    left: int
    weight: Float
    share: Float
    one_way: float
    cross: float
    apart: NDArray[np.bool_]
    cover: Float
    step: Float
    node: Float
    anchor: Float


@dataclass(frozen=True, slots=True)
class Path:
    """A relation path as steps (see `graph.schema`), with the cost of its best alignment."""

    steps: tuple[int, ...]
    cost: float


@dataclass(frozen=True, eq=False)
class Space:
    """The steps that may be walked and what they cost.

    `follow` [S, S]: entering each step after each, infinite where it cannot be; `backs` [S, S]: whether a
    step walks back the one before; `meets` [S, S]: whether two steps can arrive at one node; `symmetric` [S]:
    steps of relations that are their own inverse; `fixed` [S]: cost of each step wherever it stands; `final`
    [S]: of ending behind it; `active` [A]: the steps to try, ascending; `barred`: never to be tried.
    """

    follow: Float
    backs: NDArray[np.bool_]
    meets: NDArray[np.bool_]
    symmetric: NDArray[np.bool_]
    fixed: Float
    final: Float
    active: Int
    barred: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Join:
    """Branches that meet, one for each mention, and the trunk that goes on from there."""

    branches: tuple[tuple[int, ...], ...]
    trunk: tuple[int, ...]
    cost: float


def best_paths(
    sides: Sides,
    start: Float,
    space: Space,
    weights: Weights,
    *,
    longest: int = 3,
    keep: int = 12,
    slack: float = 2.0,
) -> list[Path]:
    """The `keep` cheapest paths within `slack` of the best, cheapest first.

    `start` [S]: costs of each first step, infinite where it cannot be.
    """
    from clew.reading.rules.kernels import single

    turn = 0.0 if sides.share.any() else weights.turn
    prices = _prices(weights, slack, turn=turn, one_way=sides.one_way, cross=sides.cross)
    costs, rows = single(
        _floats(sides.anchor),
        _floats(start),
        *_words(sides),
        _floats(space.follow),
        _flags(space.backs),
        _flags(space.symmetric),
        _floats(space.fixed),
        _floats(space.final),
        _steps(space.active),
        prices,
        longest,
        keep,
    )
    return [
        Path(_walked(row), float(cost))
        for cost, row in zip(costs, rows, strict=True)
        if np.isfinite(cost) and cost <= costs[0] + slack
    ]


def best_joins(
    sides: Sequence[Sides],
    whole: Sides,
    starts: Sequence[Float],
    space: Space,
    weights: Weights,
    *,
    branch: int = 1,
    trunk: int = 1,
    keep: int = 8,
    slack: float = 1.5,
) -> list[Join]:
    """How paths from two or three mentions meet, cheapest first.

    `sides` of each mention in the order of the question: the words between two mentions stand on the right of
    the first and on the left of the second. `whole` has the words left of all mentions and right of all. A
    branch has up to `branch` (1 or 2) steps; `starts` as in `best_paths`.
    """
    from clew.reading.rules.kernels import branches, meet, merge

    prices = _prices(weights, slack, turn=weights.turn)
    follow, backs, meets = _floats(space.follow), _flags(space.backs), _flags(space.meets)
    fixed, active = _floats(space.fixed), _steps(space.active)
    tables = [
        branches(
            _floats(side.anchor),
            _floats(start),
            *_words(side),
            follow,
            backs,
            fixed,
            active,
            prices,
            branch,
            MOST_BRANCHES,
        )
        for side, start in zip(sides, starts, strict=True)
    ]
    steps, bases, merged = tables[0]
    chosen = [(row,) for row in range(len(bases))]
    for other in tables[1:-1]:
        pairs, leasts, bases, merged = merge(steps, bases, merged, *other, meets, MOST_BRANCHES)
        order = np.argsort(leasts, kind="stable")[: np.isfinite(leasts).sum()]
        pairs, bases, merged = pairs[order], bases[order], merged[order]
        steps = steps[pairs[:, 0]]
        chosen = [(*chosen[a], int(b)) for a, b in pairs]
    costs, found = meet(
        steps,
        bases,
        merged,
        *tables[-1],
        meets,
        *_words(whole),
        follow,
        backs,
        fixed,
        _floats(space.final),
        active,
        prices,
        trunk,
        keep,
    )
    joins: list[Join] = []
    for cost, row in zip(costs, found, strict=True):
        if np.isfinite(cost) and cost <= costs[0] + slack:
            rows = (*chosen[row[0]], int(row[1]))
            ways = tuple(_walked(table[0][at]) for table, at in zip(tables, rows, strict=True))
            joins.append(Join(ways, _walked(row[2:]), float(cost)))
    return joins


def _prices(
    weights: Weights, slack: float, *, turn: float, one_way: float = 0.0, cross: float = 0.0
) -> Float:
    """The costs in the places that `steps.kernels` names."""
    lasting = (weights.step_evidence, weights.plain_return, turn, weights.silent_later)
    return np.array([*lasting, one_way, cross, slack], np.float64)


def _words(sides: Sides) -> tuple[int, Float, Float, Float, Float]:
    """The fields of `kernels.Words`."""
    word = np.stack([sides.weight, sides.share, sides.apart], axis=1, dtype=np.float64)
    return sides.left, word, _floats(sides.cover), _floats(sides.step), _floats(sides.node)


# A kernel is compiled for every combination of types and memory layouts; these three keep it at one.
def _floats(array: NDArray[Any]) -> Float:
    return np.ascontiguousarray(array, np.float64)


def _flags(array: NDArray[Any]) -> NDArray[np.bool_]:
    return np.ascontiguousarray(array, np.bool_)


def _steps(array: NDArray[Any]) -> Int:
    return np.ascontiguousarray(array, np.int64)


def _walked(row: Int) -> tuple[int, ...]:
    """The steps of a row that ends in -1s."""
    return tuple(int(s) for s in row if s >= 0)

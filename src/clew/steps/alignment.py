"""Align the words of a question with relation paths around one mention.

Read outward from the mention, the words of a question name the steps of a path in order, whichever side they
stand on: *who directed(2) the films acted(1) by X*, *the films acted(1) by X were directed(2) by who*. So a
path is scored by a monotone alignment: words to the left are read right to left, words to the right left to
right, the two sides interleave freely, and every word is given to the step or to the node that it names. The
costs are those of words left unexplained and of steps that no word names. One dynamic program per path; paths
that share a beginning share its table (depth-first search with a bound).
"""

# ruff: noqa: ANN001, ANN202 (kernels: numba infers the types)
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numba as nb
import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Int = NDArray[np.int64]

TYPE_TELLS = 0.6
"""The part of the cost of a step without a name that a word for the type of its end saves."""
MOST_BRANCHES = 96
"""Branches of one mention that are kept when several meet."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Costs of an alignment. Fitted on the development halves of several data sets together
    (`benchmarks/fit_weights.py`).
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
    """A step back through the same relation that no word names and no word like *share* or *also* asks for."""
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
    common_word: float = 1.063
    """A single lower-case word of the language taken for a name."""
    common_words: float = 0.18
    """Several such words taken for a name."""
    rare: float = 0.691
    """Scale of -log10 of the share of nodes from which a later step can be walked."""


@dataclass(frozen=True, eq=False)
class Sides:
    """The words around a mention, nearest first; L words to the left, then R to the right.

    `weight` [L+R]; `share` [L+R] whether the word asks for a way back, and
    `one_way` the cost of a path without one; `cross` the cost of a word to the right before one to the left; `apart`
    [L+R] a genitive stands between it and the word before; `cover` [L+R, S] how far each step
    explains each word, `step` [L+R, S] how far the word is evidence for the step; `node` [L+R, S] with the node at
    which each step arrives; `anchor` [L+R] with the mention's own type.
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


@nb.njit(cache=True, inline="always")
def _close(table, fixed, similarity, apart, weight, before, silent, cross, left, right):
    """Let the words that come next be given to one place (column `fixed` of `similarity`).

    A word that is `apart` from the one before may only begin there: no word was given to the step that leads here.
    A word that tells the type of the place makes up in part for a step that no word names.
    A word to the right that comes before one to the left costs `cross`.
    """
    for i in range(left + 1):
        for j in range(right + 1):
            if i > 0:
                near = similarity[i - 1, fixed]
                told = weight[i - 1] * (1.0 - near)
                cost = table[i - 1, j] + (weight[i - 1] if apart[i - 1] else told)
                cost = min(cost, before[i - 1, j] + silent * (1.0 - TYPE_TELLS * near) + told)
                table[i, j] = min(table[i, j], cost)
            if j > 0:
                word = left + j - 1
                early = cross if i < left else 0.0
                near = similarity[word, fixed]
                told = weight[word] * (1.0 - near) + early
                cost = table[i, j - 1] + (weight[word] + early if apart[word] else told)
                cost = min(cost, before[i, j - 1] + silent * (1.0 - TYPE_TELLS * near) + told)
                table[i, j] = min(table[i, j], cost)


@nb.njit(cache=True)
def _extend(
    before, after, step, back, share, apart, cover, words, weight, node, evidence, silent, cross, left, right
):
    """Table after one more step and the node behind it; returns its least entry.

    `bare`: words were given to the step but none counts as its evidence; `named`: one does. A word that is
    `apart` from the one before (*the wife of the son*) cannot share its step.
    """
    named = np.full((left + 1, right + 1), np.inf)
    bare = before.copy()
    for i in range(left + 1):
        for j in range(right + 1):
            for side in range(2):
                if (side == 0 and i == 0) or (side == 1 and j == 0):
                    continue
                word = i - 1 if side == 0 else left + j - 1
                at, to = (i - 1, j) if side == 0 else (i, j - 1)
                similarity = max(words[word, step], share[word]) if back else words[word, step]
                covered = max(cover[word, step], share[word]) if back else cover[word, step]
                told = 0.0 if apart[word] else 0.9 * node[word, step]
                early = cross if side == 1 and i < left else 0.0
                cost = weight[word] * (1.0 - max(covered, told)) + early
                shared = weight[word] + early if apart[word] else cost
                bare[i, j] = min(bare[i, j], bare[at, to] + shared)
                named[i, j] = min(
                    named[i, j], named[at, to] + shared, before[at, to] + cost + evidence * (1.0 - similarity)
                )
                if not apart[word]:
                    named[i, j] = min(named[i, j], bare[at, to] + cost + evidence * (1.0 - similarity))
    least = np.inf
    for i in range(left + 1):
        for j in range(right + 1):
            after[i, j] = min(named[i, j], bare[i, j] + silent)
    _close(after, step, node, apart, weight, before, silent, cross, left, right)
    for i in range(left + 1):
        for j in range(right + 1):
            least = min(least, after[i, j])
    return least


@nb.njit(cache=True)
def _silent(back, depth, evidence, plain_return, later):
    """Cost of a step that no word names."""
    if back:
        return plain_return
    return evidence + later if depth > 0 else evidence


@nb.njit(cache=True)
def _keep(costs, lengths, paths, cost, chosen, length):
    """Insert a path into the sorted list of the best."""
    at = len(costs) - 1
    while at > 0 and costs[at - 1] > cost:
        costs[at] = costs[at - 1]
        lengths[at] = lengths[at - 1]
        paths[at] = paths[at - 1]
        at -= 1
    costs[at] = cost
    lengths[at] = length
    paths[at, :] = -1
    paths[at, :length] = chosen[:length]


@nb.njit(cache=True)
def _search(
    table,
    start,
    active,
    follow,
    backs,
    left,
    weight,
    share,
    one_way,
    cross,
    apart,
    cover,
    step_similarity,
    node_similarity,
    fixed,
    evidence,
    plain_return,
    turn,
    later,
    began,
    symmetric,
    final,
    longest,
    costs,
    lengths,
    paths,
    slack,
    base,
):
    """Depth-first search for the paths that go on from `table`; inserts them into (costs, lengths, paths)."""
    right = len(weight) - left
    keep = len(costs)
    tables = np.zeros((longest + 1, left + 1, right + 1))
    tables[0] = table
    sums = np.zeros(longest + 1)
    sums[0] = base
    returns = np.zeros(longest + 1, np.int64)
    chosen = np.full(longest, -1, np.int64)
    cursor = np.zeros(longest + 1, np.int64)
    depth = 0
    while depth >= 0:
        if depth == longest or cursor[depth] == len(active):
            depth -= 1
            continue
        step = active[cursor[depth]]
        cursor[depth] += 1
        entry = start[step] if depth == 0 else follow[chosen[depth - 1], step]
        if not np.isfinite(entry):
            continue
        back = depth > 0 and backs[chosen[depth - 1], step]
        total = sums[depth] + entry + fixed[step] + (turn if back else 0.0)
        if total > costs[0] + slack or total > costs[keep - 1]:
            continue
        least = _extend(
            tables[depth],
            tables[depth + 1],
            step,
            back or symmetric[step],
            share,
            apart,
            cover,
            step_similarity,
            weight,
            node_similarity,
            evidence,
            _silent(back, depth + began, evidence, plain_return, later),
            cross,
            left,
            right,
        )
        if least + total > costs[keep - 1] or least + total > costs[0] + slack:
            continue
        chosen[depth] = step
        returns[depth + 1] = returns[depth] + (back or symmetric[step])
        cost = tables[depth + 1, left, right] + total + final[step]
        if returns[depth + 1] == 0:
            cost += one_way
        if cost < costs[keep - 1] and cost <= costs[0] + slack:
            _keep(costs, lengths, paths, cost, chosen, depth + 1)
        sums[depth + 1] = total
        cursor[depth + 1] = 0
        depth += 1


@nb.njit(cache=True)
def _single(
    anchor,
    start,
    active,
    follow,
    backs,
    left,
    weight,
    share,
    one_way,
    cross,
    apart,
    cover,
    step_similarity,
    node_similarity,
    fixed,
    evidence,
    plain_return,
    turn,
    later,
    symmetric,
    final,
    longest,
    keep,
    slack,
):
    """Best `keep` paths from one mention: (costs [keep], lengths [keep], steps [keep, longest])."""
    words = len(weight)
    costs = np.full(keep, np.inf)
    lengths = np.zeros(keep, np.int64)
    paths = np.full((keep, longest), -1, np.int64)
    table = np.full((left + 1, words - left + 1), np.inf)
    table[0, 0] = 0.0
    _close(table, 0, anchor.reshape(words, 1), apart, weight, table, np.inf, cross, left, words - left)
    _search(
        table,
        start,
        active,
        follow,
        backs,
        left,
        weight,
        share,
        one_way,
        cross,
        apart,
        cover,
        step_similarity,
        node_similarity,
        fixed,
        evidence,
        plain_return,
        turn,
        later,
        0,
        symmetric,
        final,
        longest,
        costs,
        lengths,
        paths,
        slack,
        0.0,
    )
    return costs, lengths, paths


@nb.njit(cache=True)
def _branches(
    anchor,
    start,
    active,
    follow,
    backs,
    left,
    weight,
    share,
    apart,
    cover,
    step_similarity,
    node_similarity,
    fixed,
    evidence,
    plain_return,
    turn,
    later,
    longest,
    limit,
):
    """Tables of all short paths from one mention of several: (steps [P, longest], bases [P], tables [P, ·, ·])."""
    words = len(weight)
    right = words - left
    steps = np.full((limit, longest), -1, np.int64)
    bases = np.full(limit, np.inf)
    tables = np.full((limit, left + 1, right + 1), np.inf)
    begin = np.full((left + 1, right + 1), np.inf)
    begin[0, 0] = 0.0
    _close(begin, 0, anchor.reshape(words, 1), apart, weight, begin, np.inf, 0.0, left, right)
    count = 0
    for first in active:
        if not np.isfinite(start[first]) or count == limit:
            continue
        bases[count] = start[first] + fixed[first]
        steps[count, 0] = first
        _extend(
            begin,
            tables[count],
            first,
            False,
            share,
            apart,
            cover,
            step_similarity,
            weight,
            node_similarity,
            evidence,
            evidence,
            0.0,
            left,
            right,
        )
        here = count
        count += 1
        if longest == 1:
            continue
        for second in active:
            entry = follow[first, second]
            if not np.isfinite(entry) or count == limit:
                continue
            back = backs[first, second]
            bases[count] = bases[here] + entry + fixed[second] + (turn if back else 0.0)
            steps[count, 0] = first
            steps[count, 1] = second
            _extend(
                tables[here],
                tables[count],
                second,
                back,
                share,
                apart,
                cover,
                step_similarity,
                weight,
                node_similarity,
                evidence,
                _silent(back, 1, evidence, plain_return, later),
                0.0,
                left,
                right,
            )
            count += 1
    return steps[:count], bases[:count], tables[:count]


@nb.njit(cache=True)
def _last(steps, row):
    """The step at which a branch ends."""
    if steps.shape[1] > 1 and steps[row, 1] >= 0:
        return steps[row, 1]
    return steps[row, 0]


@nb.njit(cache=True)
def _merge(steps_a, bases_a, tables_a, steps_b, bases_b, tables_b, meets, limit):
    """The `limit` cheapest pairs of branches that can meet: (rows [P, 2], bases [P], tables [P, ·, ·])."""
    middle = tables_a.shape[2] - 1
    pairs = np.full((limit, 2), -1, np.int64)
    leasts = np.full(limit, np.inf)
    bases = np.full(limit, np.inf)
    tables = np.full((limit, tables_a.shape[1], tables_b.shape[2]), np.inf)
    table = np.empty((tables_a.shape[1], tables_b.shape[2]))
    for a in range(len(bases_a)):
        for b in range(len(bases_b)):
            if not meets[_last(steps_a, a), _last(steps_b, b)]:
                continue
            least = np.inf
            for i in range(table.shape[0]):
                for j in range(table.shape[1]):
                    best = np.inf
                    for m in range(middle + 1):
                        best = min(best, tables_a[a, i, m] + tables_b[b, middle - m, j])
                    table[i, j] = best
                    least = min(least, best)
            least += bases_a[a] + bases_b[b]
            worst = np.argmax(leasts)
            if least < leasts[worst]:
                leasts[worst] = least
                pairs[worst, 0] = a
                pairs[worst, 1] = b
                bases[worst] = bases_a[a] + bases_b[b]
                tables[worst] = table
    order = np.argsort(leasts)
    count = np.sum(np.isfinite(leasts))
    return pairs[order[:count]], bases[order[:count]], tables[order[:count]]


@nb.njit(cache=True)
def _meet(
    steps_a,
    bases_a,
    tables_a,
    steps_b,
    bases_b,
    tables_b,
    meets,
    active,
    follow,
    backs,
    left,
    weight,
    share,
    apart,
    cover,
    step_similarity,
    node_similarity,
    fixed,
    evidence,
    plain_return,
    turn,
    later,
    final,
    trunk,
    keep,
    slack,
):
    """Best ways in which a branch of one mention meets one of another, and goes on for up to `trunk` steps.

    Returns (costs [keep], a [keep], b [keep], lengths [keep], trunk steps [keep, trunk]). The words between the
    mentions are shared out: a first part to the left mention, the rest to the right one.
    """
    words = len(weight)
    right = words - left
    costs = np.full(keep, np.inf)
    pairs = np.full((keep, 2), -1, np.int64)
    lengths = np.zeros(keep, np.int64)
    paths = np.full((keep, max(trunk, 1)), -1, np.int64)
    middle = tables_a.shape[2] - 1
    table = np.empty((left + 1, right + 1))
    none = np.zeros(len(final), np.bool_)
    one_costs = np.full(4, np.inf)
    one_lengths = np.zeros(4, np.int64)
    one_paths = np.full((4, max(trunk, 1)), -1, np.int64)
    for a in range(len(bases_a)):
        last_a = _last(steps_a, a)
        for b in range(len(bases_b)):
            last_b = _last(steps_b, b)
            base = bases_a[a] + bases_b[b]
            if not meets[last_a, last_b] or base > costs[keep - 1] or base > costs[0] + slack:
                continue
            least = np.inf
            for i in range(left + 1):
                for j in range(right + 1):
                    best = np.inf
                    for m in range(middle + 1):
                        best = min(best, tables_a[a, i, m] + tables_b[b, middle - m, j])
                    table[i, j] = best
            _close(table, last_a, node_similarity, apart, weight, table, 0.0, 0.0, left, right)
            for i in range(left + 1):
                for j in range(right + 1):
                    least = min(least, table[i, j])
            if least + base > costs[keep - 1] or least + base > costs[0] + slack:
                continue
            one_costs[:] = np.inf
            one_costs[0] = table[left, right] + base + final[last_a]
            one_lengths[:] = 0
            if trunk > 0:
                _search(
                    table,
                    follow[last_a],
                    active,
                    follow,
                    backs,
                    left,
                    weight,
                    share,
                    0.0,
                    0.0,
                    apart,
                    cover,
                    step_similarity,
                    node_similarity,
                    fixed,
                    evidence,
                    plain_return,
                    turn,
                    later,
                    1,
                    none,
                    final,
                    trunk,
                    one_costs,
                    one_lengths,
                    one_paths,
                    slack,
                    base,
                )
            for k in range(4):
                if not one_costs[k] < costs[keep - 1]:
                    break
                at = keep - 1
                while at > 0 and costs[at - 1] > one_costs[k]:
                    costs[at] = costs[at - 1]
                    pairs[at] = pairs[at - 1]
                    lengths[at] = lengths[at - 1]
                    paths[at] = paths[at - 1]
                    at -= 1
                costs[at] = one_costs[k]
                pairs[at, 0] = a
                pairs[at, 1] = b
                lengths[at] = one_lengths[k]
                paths[at] = one_paths[k]
    return costs, pairs, lengths, paths


@dataclass(frozen=True, eq=False)
class Space:
    """The steps that may be walked: costs of entering each, infinite where it cannot be.

    `follow` [S, S] after each step; `backs` bool [S, S] whether a step walks back the one before; `meets` bool [S, S] whether two steps can arrive at one node; `symmetric` [S] of relations that are their own inverse; `fixed` [S] of each
    step wherever it stands; `final` [S] for ending behind it; `active` the steps to try.
    """

    follow: Float
    backs: NDArray[np.bool_]
    meets: NDArray[np.bool_]
    symmetric: NDArray[np.bool_]
    fixed: Float
    final: Float
    active: Int


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
    """The `keep` cheapest paths within `slack` of the best, cheapest first; `start` [S] costs of the first step."""
    costs, lengths, paths = _single(
        sides.anchor,
        start,
        space.active,
        space.follow,
        space.backs,
        sides.left,
        sides.weight,
        sides.share,
        sides.one_way,
        sides.cross,
        sides.apart,
        sides.cover,
        sides.step,
        sides.node,
        space.fixed,
        weights.step_evidence,
        weights.plain_return,
        0.0 if sides.share.any() else weights.turn,
        weights.silent_later,
        space.symmetric,
        space.final,
        longest,
        keep,
        slack,
    )
    return [
        Path(_steps(paths[i], lengths[i]), float(costs[i]))
        for i in range(keep)
        if np.isfinite(costs[i]) and costs[i] <= costs[0] + slack
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
    """How paths from two or three mentions meet.

    `sides` of each mention in the order of the question: the words between two mentions stand on the right of the
    first and on the left of the second. `whole` has the words left of all mentions and right of all.
    """
    costs_of = (space.fixed, weights.step_evidence, weights.plain_return, weights.turn, weights.silent_later)
    tables = [
        _branches(
            side.anchor,
            start,
            space.active,
            space.follow,
            space.backs,
            side.left,
            side.weight,
            side.share,
            side.apart,
            side.cover,
            side.step,
            side.node,
            *costs_of,
            branch,
            MOST_BRANCHES,
        )
        for side, start in zip(sides, starts, strict=True)
    ]
    steps, bases, merged = tables[0]
    chosen = [(row,) for row in range(len(bases))]
    for other in tables[1:-1]:
        pairs, bases, merged = _merge(steps, bases, merged, *other, space.meets, MOST_BRANCHES)
        steps = steps[pairs[:, 0]]
        chosen = [(*chosen[a], int(b)) for a, b in pairs]
    costs, pairs, lengths, paths = _meet(
        steps,
        bases,
        merged,
        *tables[-1],
        space.meets,
        space.active,
        space.follow,
        space.backs,
        whole.left,
        whole.weight,
        whole.share,
        whole.apart,
        whole.cover,
        whole.step,
        whole.node,
        *costs_of,
        space.final,
        trunk,
        keep,
        slack,
    )
    found: list[Join] = []
    for i in range(keep):
        if np.isfinite(costs[i]) and costs[i] <= costs[0] + slack:
            rows = (*chosen[pairs[i, 0]], int(pairs[i, 1]))
            branches = tuple(_branch(table[0][row]) for table, row in zip(tables, rows, strict=True))
            found.append(Join(branches, _steps(paths[i], lengths[i]), float(costs[i])))
    return found


def _steps(row: Int, length: int) -> tuple[int, ...]:
    return tuple(int(s) for s in row[:length])


def _branch(row: Int) -> tuple[int, ...]:
    return tuple(int(s) for s in row if s >= 0)

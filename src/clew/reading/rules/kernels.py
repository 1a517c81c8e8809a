"""Compiled part of `steps.alignment`: the tables of the dynamic program and the searches over them.

A *table* float64 [L + 1, R + 1] holds at (i, j) the least cost of giving the i nearest words on the left and
the j nearest on the right to the part of the path walked so far; infinite where there is no way.

Rows are copied and searched by loops: NumPy's slice assignment, `full`, `min` and sorting would take most of
the time of compilation, which the first question pays.
"""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from clew.graph.kernels import Array, compiled, entry
from clew.graph.match.kernels.columns import ONE, ZERO

TYPE_TELLS = 0.6
"""The part of the cost of a step without a name that a word for the type of its end saves."""
TRUNKS = 4
"""Ways of going on that are kept for each pair of branches."""

NO = cast("bool", np.bool_(False))
"""An argument, as `ONE` and `ZERO`: one that is written out has a type of its own."""

WEIGHT, SHARE, APART = range(3)
"""Columns of `Words.word`."""
EVIDENCE, PLAIN_RETURN, TURN, LATER, ONE_WAY, CROSS, SLACK = range(7)
"""Places of `prices`, the costs of `alignment.Weights` that the kernels need."""


class Words(NamedTuple):
    """The words around a mention, the nearest first: `left` on its left, then those on its right.

    `word` float64 [L + R, WEIGHT SHARE APART]; `cover`, `step`, `node` float64 [L + R, S] as in
    `alignment.Sides`.
    """

    left: int
    word: Array
    cover: Array
    step: Array
    node: Array


class Steps(NamedTuple):
    """What a step costs and which may follow which; the arrays of `alignment.Space`."""

    follow: Array
    backs: Array
    symmetric: Array
    fixed: Array
    final: Array
    active: Array


@compiled
def infinite(height: int, width: int) -> Array:
    """A table without any way."""
    table = np.empty((height, width))
    for i in range(height):
        for j in range(width):
            table[i, j] = np.inf
    return table


@compiled
def lowest(table: Array) -> float:
    """The least entry of a table."""
    least = np.inf
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            least = min(least, table[i, j])
    return least


@compiled
def close(
    table: Array, place: int, near: Array, words: Words, before: Array, silent: float, cross: float
) -> None:
    """Give the words that come next to one place; their similarities are the column `place` of `near`.

    A word that is apart from the one before may only begin there: no word was given to the step that leads
    here. A word that tells the type of the place makes up in part for a step that no word names (`silent`,
    on top of the table `before` that step). A word to the right that comes before one to the left costs
    `cross`.
    """
    left, right = table.shape[0] - 1, table.shape[1] - 1
    for i in range(left + 1):
        for j in range(right + 1):
            for side in range(2):
                if (side == 0 and i == 0) or (side == 1 and j == 0):
                    continue
                word = i - 1 if side == 0 else left + j - 1
                at, to = (i - 1, j) if side == 0 else (i, j - 1)
                early = cross if side == 1 and i < left else 0.0
                weight = words.word[word, WEIGHT]
                told = weight * (1.0 - near[word, place]) + early
                cost = table[at, to] + (weight + early if words.word[word, APART] != 0.0 else told)
                begun = before[at, to] + silent * (1.0 - TYPE_TELLS * near[word, place]) + told
                table[i, j] = min(table[i, j], min(cost, begun))


@compiled
def extend(
    before: Array, after: Array, step: int, back: bool, words: Words, silent: float, prices: Array
) -> float:
    """Fill the table `after` one more step and the node behind it; returns its least entry.

    `bare`: words were given to the step but none counts as its evidence; `named`: one does. A word that is
    apart from the one before (*the wife of the son*) cannot share its step. On the way `back`, words that
    ask for it count as naming the step.
    """
    left, right = before.shape[0] - 1, before.shape[1] - 1
    named = infinite(left + 1, right + 1)
    bare = np.empty((left + 1, right + 1))
    for i in range(left + 1):
        for j in range(right + 1):
            bare[i, j] = before[i, j]
            for side in range(2):
                if (side == 0 and i == 0) or (side == 1 and j == 0):
                    continue
                word = i - 1 if side == 0 else left + j - 1
                at, to = (i - 1, j) if side == 0 else (i, j - 1)
                apart = words.word[word, APART] != 0.0
                weight, share = words.word[word, WEIGHT], words.word[word, SHARE]
                similarity, covered = words.step[word, step], words.cover[word, step]
                if back:
                    similarity, covered = max(similarity, share), max(covered, share)
                told = 0.0 if apart else 0.9 * words.node[word, step]
                early = prices[CROSS] if side == 1 and i < left else 0.0
                cost = weight * (1.0 - max(covered, told)) + early
                shared = weight + early if apart else cost
                proof = prices[EVIDENCE] * (1.0 - similarity)
                bare[i, j] = min(bare[i, j], bare[at, to] + shared)
                named[i, j] = min(named[i, j], min(named[at, to] + shared, before[at, to] + cost + proof))
                if not apart:
                    named[i, j] = min(named[i, j], bare[at, to] + cost + proof)
    for i in range(left + 1):
        for j in range(right + 1):
            after[i, j] = min(named[i, j], bare[i, j] + silent)
    close(after, step, words.node, words, before, silent, prices[CROSS])
    return lowest(after)


@compiled
def silence(back: bool, depth: int, prices: Array) -> float:
    """Cost of a step that no word names."""
    if back:
        return prices[PLAIN_RETURN]
    return prices[EVIDENCE] + prices[LATER] if depth > 0 else prices[EVIDENCE]


@compiled
def begin(words: Words, anchor: Array, cross: float) -> Array:
    """The table of a mention before any step; words that name its type (`anchor` [L + R]) stand beside it."""
    count = len(anchor)
    table = infinite(words.left + 1, count - words.left + 1)
    table[0, 0] = 0.0
    close(table, ZERO, anchor.reshape(count, 1), words, table, np.inf, cross)
    return table


@compiled
def insert(costs: Array, rows: Array, cost: float, row: Array) -> None:
    """Put a row into the list `rows`, sorted by `costs`; the last one falls out."""
    at = len(costs) - 1
    while at > 0 and costs[at - 1] > cost:
        costs[at] = costs[at - 1]
        for i in range(len(row)):
            rows[at, i] = rows[at - 1, i]
        at -= 1
    costs[at] = cost
    for i in range(len(row)):
        rows[at, i] = row[i]


@compiled
def clear(costs: Array, rows: Array) -> None:
    """Empty a list: costs infinite, rows of -1."""
    for at in range(len(costs)):
        costs[at] = np.inf
        for i in range(rows.shape[1]):
            rows[at, i] = -1


@compiled
def explore(
    table: Array,
    start: Array,
    words: Words,
    steps: Steps,
    prices: Array,
    began: int,
    base: float,
    costs: Array,
    rows: Array,
) -> None:
    """Depth-first search for the paths that go on from `table`; puts them into the sorted (costs, rows).

    `start` [S] costs of the first step; `began` steps were walked before it, at the cost of `base`. A path is
    cut off where it can no longer be among the best or within the slack of the very best.
    """
    keep, longest = rows.shape
    tables = np.empty((longest + 1, table.shape[0], table.shape[1]))
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            tables[0, i, j] = table[i, j]
    sums = np.empty(longest + 1)
    sums[0] = base
    returns, cursor = np.empty(longest + 1, np.int64), np.empty(longest + 1, np.int64)
    returns[0] = cursor[0] = 0
    chosen = np.empty(longest, np.int64)
    depth = 0
    while depth >= 0:
        if depth == longest or cursor[depth] == len(steps.active):
            depth -= 1
            continue
        step = steps.active[cursor[depth]]
        cursor[depth] += 1
        enter = start[step] if depth == 0 else steps.follow[chosen[depth - 1], step]
        if not np.isfinite(enter):
            continue
        back = depth > 0 and steps.backs[chosen[depth - 1], step]
        total = sums[depth] + enter + steps.fixed[step] + (prices[TURN] if back else 0.0)
        if total > costs[0] + prices[SLACK] or total > costs[keep - 1]:
            continue
        returning = back or steps.symmetric[step]
        silent = silence(back, depth + began, prices)
        least = extend(tables[depth], tables[depth + 1], step, returning, words, silent, prices)
        if least + total > costs[keep - 1] or least + total > costs[0] + prices[SLACK]:
            continue
        chosen[depth] = step
        for deeper in range(depth + 1, longest):
            chosen[deeper] = -1
        returns[depth + 1] = returns[depth] + returning
        cost = tables[depth + 1, -1, -1] + total + steps.final[step]
        if returns[depth + 1] == 0:
            cost += prices[ONE_WAY]
        if cost < costs[keep - 1] and cost <= costs[0] + prices[SLACK]:
            insert(costs, rows, cost, chosen)
        sums[depth + 1] = total
        cursor[depth + 1] = 0
        depth += 1


@entry
def single(
    anchor: Array,
    start: Array,
    left: int,
    word: Array,
    cover: Array,
    step: Array,
    node: Array,
    follow: Array,
    backs: Array,
    symmetric: Array,
    fixed: Array,
    final: Array,
    active: Array,
    prices: Array,
    longest: int,
    keep: int,
) -> tuple[Array, Array]:
    """Best `keep` paths from one mention: (costs [keep], steps int64 [keep, longest], -1 after the last)."""
    words = Words(left, word, cover, step, node)
    steps = Steps(follow, backs, symmetric, fixed, final, active)
    costs, rows = np.empty(keep), np.empty((keep, longest), np.int64)
    clear(costs, rows)
    table = begin(words, anchor, prices[CROSS])
    explore(table, start, words, steps, prices, ZERO, 0.0, costs, rows)
    return costs, rows


@entry
def branches(
    anchor: Array,
    start: Array,
    left: int,
    word: Array,
    cover: Array,
    step: Array,
    node: Array,
    follow: Array,
    backs: Array,
    fixed: Array,
    active: Array,
    prices: Array,
    longest: int,
    limit: int,
) -> tuple[Array, Array, Array]:
    """All paths of one or two steps from one mention of several, at most `limit`.

    Returns (steps int64 [P, longest], bases [P], tables [P, L + 1, R + 1]).
    """
    words = Words(left, word, cover, step, node)
    table = begin(words, anchor, prices[CROSS])
    steps, bases = np.empty((limit, longest), np.int64), np.empty(limit)
    clear(bases, steps)
    tables = np.empty((limit, table.shape[0], table.shape[1]))
    count = 0
    for first in active:
        if not np.isfinite(start[first]) or count == limit:
            continue
        here = count
        bases[here] = start[first] + fixed[first]
        steps[here, 0] = first
        extend(table, tables[here], first, NO, words, prices[EVIDENCE], prices)
        count += 1
        if longest == 1:
            continue
        for second in active:
            enter = follow[first, second]
            if not np.isfinite(enter) or count == limit:
                continue
            back = backs[first, second]
            bases[count] = bases[here] + enter + fixed[second] + (prices[TURN] if back else 0.0)
            steps[count, 0] = first
            steps[count, 1] = second
            extend(tables[here], tables[count], second, back, words, silence(back, ONE, prices), prices)
            count += 1
    return steps[:count], bases[:count], tables[:count]


@compiled
def last(steps: Array, row: int) -> int:
    """The step at which a branch ends."""
    if steps.shape[1] > 1 and steps[row, 1] >= 0:
        return steps[row, 1]
    return steps[row, 0]


@compiled
def share_out(one: Array, other: Array, table: Array) -> float:
    """Share out the words between two mentions: a first part to `one`, the rest to the `other`.

    Fills `table` for the words left of the first and right of the second; returns its least entry.
    """
    middle = one.shape[1] - 1
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            best = np.inf
            for m in range(middle + 1):
                best = min(best, one[i, m] + other[middle - m, j])
            table[i, j] = best
    return lowest(table)


@entry
def merge(
    steps_a: Array,
    bases_a: Array,
    tables_a: Array,
    steps_b: Array,
    bases_b: Array,
    tables_b: Array,
    meets: Array,
    limit: int,
) -> tuple[Array, Array, Array, Array]:
    """The `limit` cheapest pairs of branches that can meet, in no order.

    Returns (rows int64 [limit, 2], least entries [limit], infinite where there is no pair, bases [limit],
    tables [limit, L + 1, R + 1]).
    """
    leasts, pairs = np.empty(limit), np.empty((limit, 2), np.int64)
    clear(leasts, pairs)
    bases = np.empty(limit)
    tables = np.empty((limit, tables_a.shape[1], tables_b.shape[2]))
    table = np.empty((tables_a.shape[1], tables_b.shape[2]))
    for a in range(len(bases_a)):
        for b in range(len(bases_b)):
            if not meets[last(steps_a, a), last(steps_b, b)]:
                continue
            least = share_out(tables_a[a], tables_b[b], table) + (bases_a[a] + bases_b[b])
            worst = 0
            for at in range(limit):
                if leasts[at] > leasts[worst]:
                    worst = at
            if least >= leasts[worst]:
                continue
            leasts[worst], bases[worst] = least, bases_a[a] + bases_b[b]
            pairs[worst, 0], pairs[worst, 1] = a, b
            for i in range(table.shape[0]):
                for j in range(table.shape[1]):
                    tables[worst, i, j] = table[i, j]
    return pairs, leasts, bases, tables


@entry
def meet(
    steps_a: Array,
    bases_a: Array,
    tables_a: Array,
    steps_b: Array,
    bases_b: Array,
    tables_b: Array,
    meets: Array,
    left: int,
    word: Array,
    cover: Array,
    step: Array,
    node: Array,
    follow: Array,
    backs: Array,
    fixed: Array,
    final: Array,
    active: Array,
    prices: Array,
    trunk: int,
    keep: int,
) -> tuple[Array, Array]:
    """Best ways in which a branch of one mention meets one of another, and goes on for up to `trunk` steps.

    Returns (costs [keep], rows int64 [keep, 2 + trunk]): the branches, then the steps of the trunk, -1 after
    the last. The words are those left of all mentions and right of all.
    """
    words = Words(left, word, cover, step, node)
    steps = Steps(follow, backs, np.zeros(len(final), np.bool_), fixed, final, active)
    costs, rows = np.empty(keep), np.empty((keep, 2 + trunk), np.int64)
    clear(costs, rows)
    row = np.empty(2 + trunk, np.int64)
    own_costs, own_rows = np.empty(TRUNKS), np.empty((TRUNKS, trunk), np.int64)
    table = np.empty((tables_a.shape[1], tables_b.shape[2]))
    for a in range(len(bases_a)):
        end = last(steps_a, a)
        for b in range(len(bases_b)):
            base = bases_a[a] + bases_b[b]
            bound = min(costs[keep - 1], costs[0] + prices[SLACK])
            if not meets[end, last(steps_b, b)] or base > bound:
                continue
            share_out(tables_a[a], tables_b[b], table)
            close(table, end, words.node, words, table, 0.0, prices[CROSS])
            if lowest(table) + base > bound:
                continue
            clear(own_costs, own_rows)
            own_costs[0] = table[-1, -1] + base + final[end]
            if trunk > 0:
                explore(table, follow[end], words, steps, prices, ONE, base, own_costs, own_rows)
            for k in range(TRUNKS):
                if not own_costs[k] < costs[keep - 1]:
                    break
                row[0], row[1] = a, b
                for i in range(trunk):
                    row[2 + i] = own_rows[k, i]
                insert(costs, rows, own_costs[k], row)
    return costs, rows

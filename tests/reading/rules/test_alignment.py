"""The alignment against a slow recursion over the same definition, path by path."""

from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.reading.rules.alignment import Join, Sides, Space, Weights, best_joins, best_paths
from clew.reading.rules.kernels import TYPE_TELLS

WEIGHTS = Weights()
EASY = settings(max_examples=60, derandomize=True, deadline=None)


def make_sides(rng, left, right, steps):
    count = left + right
    return Sides(
        left,
        rng.choice([0.3, 1.0, 3.0], count),
        (rng.random(count) < 0.3).astype(float),
        rng.random(),
        rng.choice([0.0, 0.15]),
        rng.random(count) < 0.3,
        rng.random((count, steps)),
        rng.random((count, steps)),
        rng.random((count, steps)),
        rng.random(count),
    )


def make_space(rng, steps):
    index = np.arange(steps)
    return Space(
        np.where(rng.random((steps, steps)) < 0.8, rng.random((steps, steps)), np.inf),
        index[None] == (index ^ 1)[:, None],
        rng.random((steps, steps)) < 0.7,
        np.repeat(rng.random(steps // 2) < 0.3, 2),
        rng.random(steps),
        rng.random(steps),
        np.flatnonzero(rng.random(steps) < 0.9).astype(np.int64),
    )


def make_start(rng, steps):
    return np.where(rng.random(steps) < 0.8, rng.random(steps), np.inf)


class Words:
    """The words nearest a mention: what remains before the last of i on the left and j on the right."""

    def __init__(self, sides, cross):
        self.sides, self.cross = sides, cross

    def last(self, i, j):
        if i:
            yield i - 1, j, i - 1, 0.0
        if j:
            yield i, j - 1, self.sides.left + j - 1, self.cross if i < self.sides.left else 0.0

    def beside(self, before, near):
        """Words given to a place, none of them apart from the one before."""
        sides = self.sides

        @cache
        def after(i, j):
            costs = [before(i, j)]
            for a, b, word, early in self.last(i, j):
                share = 0.0 if sides.apart[word] else near[word]
                costs.append(after(a, b) + sides.weight[word] * (1 - share) + early)
            return min(costs)

        return after

    def anchored(self):
        return self.beside(lambda i, j: 0.0 if i == j == 0 else np.inf, self.sides.anchor)

    def walk(self, before, step, returning, silent):
        """The cost of every beginning of the words after one more step and its node."""
        sides = self.sides
        node = sides.node[:, step]

        def told(word):
            asked = sides.share[word] if returning else 0.0
            own = max(sides.cover[word, step], asked)
            apart = sides.apart[word]
            first = sides.weight[word] * (1 - max(own, 0.0 if apart else 0.9 * node[word]))
            proof = WEIGHTS.step_evidence * (1 - max(sides.step[word, step], asked))
            return first, sides.weight[word] if apart else first, proof

        @cache
        def bare(i, j):
            return min([before(i, j), *(bare(a, b) + told(w)[1] + e for a, b, w, e in self.last(i, j))])

        @cache
        def named(i, j):
            costs = [np.inf]
            for a, b, word, early in self.last(i, j):
                first, later, proof = told(word)
                costs += [named(a, b) + later + early, before(a, b) + first + early + proof]
                if not sides.apart[word]:
                    costs.append(bare(a, b) + first + early + proof)
            return min(costs)

        @cache
        def arrived(i, j):
            costs = [named(i, j), bare(i, j) + silent]
            for a, b, word, early in self.last(i, j):
                saved = silent * (1 - TYPE_TELLS * node[word])
                costs.append(before(a, b) + saved + sides.weight[word] * (1 - node[word]) + early)
            return min(costs)

        return self.beside(arrived, node)


def silence(back, depth):
    if back:
        return WEIGHTS.plain_return
    return WEIGHTS.step_evidence + (WEIGHTS.silent_later if depth else 0.0)


def slow_path(sides, start, space, path):
    words = Words(sides, sides.cross)
    table, total, returned = words.anchored(), space.final[path[-1]], False
    for depth, step in enumerate(path):
        back = depth > 0 and space.backs[path[depth - 1], step]
        total += (space.follow[path[depth - 1], step] if depth else start[step]) + space.fixed[step]
        total += WEIGHTS.turn if back and not sides.share.any() else 0.0
        returning = bool(back or space.symmetric[step])
        returned |= returning
        table = words.walk(table, step, returning, silence(back, depth))
    return total + table(sides.left, len(sides.weight) - sides.left) + (0.0 if returned else sides.one_way)


@EASY
@given(st.integers(0, 10**6))
def test_paths_are_the_cheapest_of_all(seed):
    rng = np.random.default_rng(seed)
    steps, left, right = 2 * int(rng.integers(1, 3)), int(rng.integers(0, 4)), int(rng.integers(0, 4))
    sides, space, start = make_sides(rng, left, right, steps), make_space(rng, steps), make_start(rng, steps)
    every = {
        path: slow_path(sides, start, space, path)
        for length in (1, 2, 3)
        for path in product(map(int, space.active), repeat=length)
    }
    best = sorted((cost, path) for path, cost in every.items() if np.isfinite(cost))
    expected = [(cost, path) for cost, path in best if cost <= best[0][0] + 1.0][:5]
    found = best_paths(sides, start, space, WEIGHTS, keep=5, slack=1.0)
    assert [p.steps for p in found] == [path for _, path in expected]
    assert [p.cost for p in found] == pytest.approx([cost for cost, _ in expected])


def slow_join(sides, whole, starts, space, branches, trunk):
    """The cost of two branches of one step that meet and go on by `trunk`."""
    (first,), (second,) = branches
    if not space.meets[first, second]:
        return np.inf
    tables, total = [], 0.0
    for side, start, step in zip(sides, starts, (first, second), strict=True):
        words = Words(side, 0.0)
        tables.append(words.walk(words.anchored(), step, False, WEIGHTS.step_evidence))
        total += start[step] + space.fixed[step]
    middle = len(sides[0].weight) - sides[0].left

    @cache
    def met(i, j):
        return min(tables[0](i, m) + tables[1](middle - m, j) for m in range(middle + 1))

    outer = Words(whole, 0.0)

    @cache
    def given_to_it(i, j):
        node = whole.node[:, first]
        ends = (given_to_it(a, b) + whole.weight[w] * (1 - node[w]) + e for a, b, w, e in outer.last(i, j))
        return min([met(i, j), *ends])

    last, table = first, given_to_it
    for step in trunk:
        # The first step of a trunk counts as no way back: it leaves a node where two branches met.
        total += space.follow[last, step] + space.fixed[step]
        table, last = outer.walk(table, step, False, silence(False, 1)), step
    return total + space.final[last] + table(whole.left, len(whole.weight) - whole.left)


@EASY
@given(st.integers(0, 10**6))
def test_the_best_join_is_the_cheapest_of_all(seed):
    rng = np.random.default_rng(seed)
    steps, gaps = 2 * int(rng.integers(1, 3)), [int(g) for g in rng.integers(0, 3, 3)]
    space = make_space(rng, steps)
    one, two = make_sides(rng, gaps[0], gaps[1], steps), make_sides(rng, gaps[1], gaps[2], steps)
    whole = make_sides(rng, gaps[0], gaps[2], steps)
    starts = [make_start(rng, steps), make_start(rng, steps)]
    active = [int(s) for s in space.active]
    every = [
        Join(((a,), (b,)), trunk, slow_join([one, two], whole, starts, space, ((a,), (b,)), trunk))
        for a, b in product(active, repeat=2)
        for trunk in ((), *((s,) for s in active))
    ]
    best = min(every, key=lambda join: join.cost, default=None)
    found = best_joins([one, two], whole, starts, space, WEIGHTS)
    if best is None or not np.isfinite(best.cost):
        assert not found
    else:
        assert (found[0].branches, found[0].trunk) == (best.branches, best.trunk)
        assert found[0].cost == pytest.approx(best.cost)


def test_three_mentions_meet_in_one_node():
    rng = np.random.default_rng(4)
    space, none = make_space(rng, 4), make_sides(rng, 0, 0, 4)
    space.meets[:] = True
    free = Space(
        *(getattr(space, f) for f in "follow backs meets symmetric fixed final".split()), np.arange(4)
    )
    starts = [np.full(4, np.inf) for _ in range(3)]
    for start, step in zip(starts, (0, 2, 3), strict=True):
        start[step] = 0.1
    assert best_joins([none] * 3, none, starts, free, WEIGHTS)[0].branches == ((0,), (2,), (3,))


def test_every_kernel_is_compiled_once():
    from clew.reading.rules import kernels

    for kernel in (kernels.single, kernels.branches, kernels.merge, kernels.meet):
        assert len(kernel.signatures) == 1

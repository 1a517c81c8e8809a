"""A pattern's costs as the kernels take them, widened as far as a search needs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.errors import PatternError, UsageError
from clew.graph.distances import Distance, Distances, Measure
from clew.types import Pattern, PatternEdge, PatternNode

Array = NDArray[Any]

FIRST_ROUND = 64
"""Candidates of a node that are asked for at first."""
ROUND_GROWTH = 16
MOST_CAREFUL = 2048
"""Candidates after which the next round takes all, unless unknown nodes meet: edges could multiply then."""
FAR_AHEAD = 2.3
"""An upper bound so many times above the last cap is not trusted where unknown nodes meet: go half as far."""
UNIT = 1e9
FARTHEST = 1e4
MISS_BITS = 5
MISS_MASK = (1 << MISS_BITS) - 1
INFINITE = 1 << 60
ALL = 1 << 59
"""A slack that leaves nothing out."""
ANY, LISTED, DENSE = 0, 1, 2


class Query:
    """A pattern with its costs in the arrays of `kernels.columns.Query`, for a graph of `size` nodes.

    Matches within a slack, so much above `least`, the least cost that any can have, are those of a few
    `runs`: where distances can be measured, at most one node is farther than half of the slack; that one is
    left open and its entities are reached from the others. `narrow` sets `candidate`, `nodes` and `far` for
    one of them. `uniform`: all costs are 0; `hopeless`: nothing can match.
    """

    def __init__(
        self, size: int, relations: int, pattern: Pattern, distances: Distances, *, halves: bool = False
    ) -> None:
        self.pattern, self.distances, self.size = pattern, distances, size
        self.uniform, self.hopeless = True, False
        self.masks: list[Array] = []
        self._open: dict[int, _Nearest] = {}
        self._set_edges(relations)
        self._fixed = [self._fixed_node(i, node) for i, node in enumerate(pattern.nodes)]
        self._mask_of = [self._mask(node) for node in pattern.nodes]
        self.mask_rows = _mask_rows(self.masks)
        unknown = [not node.known for node in pattern.nodes]
        self._wild = any(unknown[e.head] and unknown[e.tail] for e in pattern.edges)
        self.least = int(self.edges[:, 5].sum()) + sum(
            int(n.costs[0]) for n in self._open.values() if len(n.costs)
        )
        known = len(unknown) - sum(unknown)
        self._measures = self._measure_all() if halves and known > 1 and not self.uniform else {}
        self._far: dict[int, tuple[Array, ...]] = {}
        self.far = _NO_FAR

    def _measure_all(self) -> dict[int, Measure]:
        """Give the measures of the open nodes; none if one of them has none."""
        found = {i: self.distances.measure(self.pattern.nodes[i]) for i in self._open}
        measures = {i: measure for i, measure in found.items() if measure is not None}
        return measures if len(measures) == len(found) else {}

    def _set_edges(self, relations: int) -> None:
        rows: list[list[int]] = []
        ids: list[Array] = []
        costs: list[Array] = []
        at = 0
        for i, edge in enumerate(self.pattern.edges):
            mode, least, relation, cost = self._relations(i, edge, relations)
            rows.append([edge.head, edge.tail, mode, at, at + len(relation), least])
            at += len(relation)
            ids.append(relation)
            costs.append(cost)
        self.edges = np.array(rows, np.int64)
        self.relation = _table(ids, costs)

    def _relations(self, i: int, edge: PatternEdge, relations: int) -> tuple[int, int, Array, Array]:
        """(mode, least cost, relations, costs) of a pattern edge."""
        if edge.fixed is not None:
            if not 0 <= edge.fixed < relations:
                raise PatternError(f"pattern: field 'triples[{i}]': the graph has no relation {edge.fixed}")
            return LISTED, 0, np.array([edge.fixed], np.int32), _ZERO
        if edge.relation is None:
            return ANY, 0, _NO_IDS, _NO_COSTS
        cost = _costs(self.distances.relation_distances(edge), f"relation {edge.relation!r}")
        if len(cost) != relations:
            raise UsageError(
                f"relation {edge.relation!r} has {len(cost)} distances: the graph has {relations} relations"
            )
        finite = np.flatnonzero(cost < INFINITE)
        if len(finite) == 0:
            self.hopeless = True
            return LISTED, 0, _NO_IDS, _NO_COSTS
        self.uniform = self.uniform and not cost[finite].any()
        least = int(cost.min())
        if len(finite) <= max(4, relations // 8):
            return LISTED, least, finite.astype(np.int32), cost[finite]
        return DENSE, least, np.arange(relations, dtype=np.int32), cost

    def _fixed_node(self, i: int, node: PatternNode) -> int | None:
        """Return the entity of a fixed node; asks for the first candidates of another known one."""
        if node.known and node.entity is None:
            nearest = self._open[i] = _Nearest(self.distances, node)
            self.uniform = self.uniform and nearest.bound == INFINITE and not nearest.costs.any()
            self.hopeless = self.hopeless or len(nearest.costs) == 0
        elif node.entity is not None and not 0 <= node.entity < self.size:
            raise PatternError(f"pattern: node {i} ({node.name!r}): the graph has no entity {node.entity}")
        return node.entity if node.known else None

    @property
    def least_slack(self) -> int:
        """Slack of the first round: that of the nearest candidates alone."""
        for nearest in self._open.values():
            nearest.reach(0)
        return 0

    def runs(self, slack: int) -> list[int]:
        """Name the far node of each search that is needed for all matches within `slack`; -1: none."""
        return [-1, *(i for i in self._measures if self._floor(i, slack) <= slack)]

    def _floor(self, node: int, slack: int) -> int:
        """Excess of the nearest entity of a node that is not within its share of `slack`, at least."""
        nearest = self._open[node]
        after = nearest.next_after(self._part(node, slack))
        measured = self._measures[node].scale is not None
        return nearest.farthest if after >= INFINITE and measured else after

    def floor(self, far: int, slack: int) -> tuple[int, int]:
        """(least cost of the far node, and of any match with it)."""
        if far < 0:
            return 0, self.least
        excess = self._floor(far, slack)
        return int(self._open[far].costs[0]) + excess, self.least + excess

    def narrow(self, slack: int, far: int = -1) -> None:
        """Set what a match of at most `slack` above `least` can have if no node is far but `far`."""
        self.far = _NO_FAR if far < 0 else self._far_arrays(far)
        rows: list[list[int]] = []
        ids: list[Array] = []
        costs: list[Array] = []
        at = 0
        for i, node in enumerate(self.pattern.nodes):
            entity, cost = _NO_IDS, _NO_COSTS
            if (fixed := self._fixed[i]) is not None:
                entity, cost = np.array([fixed], np.int32), _ZERO
            elif node.known and i != far:
                entity, cost = self._open[i].within(self._part(i, slack))
            rows.append([_FAR if i == far else int(node.known), self._mask_of[i], at, at + len(entity)])
            at += len(entity)
            ids.append(entity)
            costs.append(cost)
        self.nodes = np.array(rows, np.int64)
        self.candidate = _table(ids, costs)

    def _far_arrays(self, node: int) -> tuple[Array, ...]:
        """Turn the measure of a node into the arrays of `kernels.columns.Far`."""
        if node not in self._far:
            from clew.graph.kernels.measure import hashed

            measure, name = self._measures[node], self.pattern.nodes[node].name
            listed = _NO_FAR[0]
            if len(measure.entities):
                costs = _costs(measure.distances, f"node {name!r}")
                listed = hashed(read_only(measure.entities, np.int32), costs)
            scale = _NO_FAR[2] if measure.scale is None else read_only(measure.scale, np.float32)
            rows, query, plain = _NO_FAR[1], _NO_FAR[3], _NO_FAR[4]
            if measure.rows is not None and measure.query is not None:
                rows, query, plain = (
                    read_only(measure.rows, np.int8),
                    measure.query.values,
                    measure.query.plain,
                )
            self._far[node] = (listed, rows, scale, query, plain)
        return self._far[node]

    def left_out(self, slack: int) -> int:
        """Find the least slack at which something counts that the `runs` of `slack` leave out."""
        after = sorted(nearest.next_after(self._part(i, slack)) for i, nearest in self._open.items())
        if not self._measures:
            return min(after, default=INFINITE)
        floors = (self._floor(node, slack) for node in self._measures)
        both = min(sum(after[:2]), INFINITE) if len(after) > 1 else INFINITE
        return min([both, *(floor for floor in floors if floor > slack)])

    def wider(self, slack: int, nearest: int, needed: int | None) -> int:
        """Find the slack of the next round, at least `nearest`: `needed` if known, else some growth."""
        if self._wild and needed is not None and needed > FAR_AHEAD * slack > 0:
            needed = round(1.5 * slack)
        if self._measures:
            return self._wider_parts(slack, nearest, needed)
        wide = max(nearest, self._grown(slack) if needed is None else needed)
        return min([wide, *(n.reach(wide) for n in self._open.values())])

    def _part(self, node: int, slack: int) -> int:
        """The excess that a node may have if it is not far, so that no two may have more within `slack`.

        It is half of the slack; but where the list at hand of one node does not reach so far, what it does,
        and the rest of the slack for all others.
        """
        if not self._measures or slack >= ALL:
            return slack
        least = min(self._open, key=lambda i: self._open[i].reached)
        low = min(slack // 2, self._open[least].reached)
        return low if node == least else slack - low

    def _held(self) -> int:
        """The largest slack for whose parts the lists at hand are long enough."""
        reached = sorted(nearest.reached for nearest in self._open.values())
        return min(ALL, sum(reached[:2])) if len(reached) > 1 else ALL

    def _wider_parts(self, slack: int, nearest: int, needed: int | None) -> int:
        """As `wider`, where nodes may be far: first as far as the lists at hand reach, as new ones cost."""
        while self._held() < nearest:
            min(self._open.values(), key=lambda n: n.reached).reach(ALL)
        return min(max(nearest, ALL if needed is None else needed), self._held())

    def _grown(self, slack: int) -> int:
        """Find a slack that lets in several times as many candidates as `slack`."""
        near = list(self._open.values())
        count = sum(n.count(slack) for n in near)
        if not self._wild and count > MOST_CAREFUL:
            return ALL
        grown = round(1.5 * slack) if self._wild else ALL
        for i, step in enumerate(sorted(n.step(slack) for n in near)):
            if i and sum(n.count(step) for n in near) > ROUND_GROWTH * count + FIRST_ROUND:
                break
            grown = step if step > slack else grown
        return grown

    def _mask(self, node: PatternNode) -> int:
        if node.known or node.type is None:
            return -1
        mask = self.distances.allowed(node)
        if mask is None:
            return -1
        if len(mask) != self.size:
            raise UsageError(
                f"the mask of type {node.type!r} has {len(mask)} entries for {self.size} entities"
            )
        self.masks.append(mask)
        return len(self.masks) - 1


class _Nearest:
    """The candidates of one node in ascending cost, asked for in growing numbers.

    `ids` and `costs` are those at hand; one that is left out costs at least `bound` (INFINITE: none is).
    """

    def __init__(self, distances: Distances, node: PatternNode) -> None:
        self._distances, self._node, self._count = distances, node, FIRST_ROUND
        self._ask()

    def _ask(self) -> None:
        found = self._distances.node_candidates(self._node, self._count)
        self._found = found
        self._take(min(self._count, len(found.entities)))

    def _take(self, count: int) -> None:
        """Turn the distances of the first `count` into costs."""
        found = self._found
        costs = _costs(found.distances[: count + 1], f"node {self._node.name!r}")
        if np.any(costs[1:] < costs[:-1]):
            raise UsageError(f"the candidates of node {self._node.name!r} are not in ascending distance")
        if count < len(found.entities):
            self.bound = int(costs[count])
        else:
            self.bound = INFINITE if found.exhausted or not count else int(costs[-1])
        finite = int(np.searchsorted(costs[:count], INFINITE))
        self.ids, self.costs = found.entities[:finite], costs[:finite]
        self.farthest = int(costs[finite - 1] - costs[0]) if finite else INFINITE

    def _grow(self) -> None:
        held = len(self._found.entities)
        if self._count < held or self._found.exhausted:
            self._count = min(self._count * ROUND_GROWTH, held)
            self._take(self._count)
        else:
            self._count *= ROUND_GROWTH
            self._ask()

    def reach(self, slack: int) -> int:
        """Have the candidates within `slack`, or a few rounds more of them; how far those at hand reach."""
        if slack >= self.bound - self.costs[0] and self.bound < INFINITE:
            self._grow()
        while self.bound <= self.costs[0]:
            self._grow()
        return self.reached

    @property
    def reached(self) -> int:
        """How far those at hand reach."""
        return ALL if self.bound >= INFINITE else int(self.bound - self.costs[0]) - (1 << MISS_BITS)

    def within(self, slack: int) -> tuple[Array, Array]:
        """(ids, costs) of the candidates that cost at most `slack` more than the nearest."""
        if slack >= ALL:
            while self.bound < INFINITE:
                self._grow()
        count = self.count(slack)
        return self.ids[:count], self.costs[:count]

    def count(self, slack: int) -> int:
        """Count the candidates at hand that are within `slack`."""
        return int(np.searchsorted(self.costs, self.costs[0] + slack, "right"))

    def next_after(self, slack: int) -> int:
        """Excess over the nearest of the first candidate beyond `slack`, at least; INFINITE: none."""
        count = self.count(slack)
        if count < len(self.costs):
            return int(self.costs[count] - self.costs[0])
        return INFINITE if self.bound >= INFINITE else int(self.bound - self.costs[0])

    def step(self, slack: int) -> int:
        """Slack within which there are several times as many candidates as within `slack`."""
        wanted = max(FIRST_ROUND, self.count(slack) * ROUND_GROWTH)
        if wanted > len(self.costs) and self.bound < INFINITE:
            self._grow()
        return int(self.costs[min(wanted, len(self.costs)) - 1] - self.costs[0])


_FAR = 2
_NO_IDS, _NO_COSTS, _ZERO = np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(1, np.int64)


def _costs(distances: Distance, what: str) -> Array:
    """Distances as costs, int64."""
    exact = np.asarray(distances, np.float64)
    finite = np.isfinite(exact)
    if np.isnan(exact).any() or np.any(exact < 0) or np.any(exact[finite] > FARTHEST):
        raise UsageError(f"a distance of {what} is negative, not a number or above {FARTHEST:g}")
    scaled = np.rint(np.where(finite, exact, 0.0) * UNIT).astype(np.int64) << MISS_BITS
    return np.where(finite, scaled, INFINITE)


def _table(ids: list[Array], costs: list[Array]) -> Array:
    """Ids and costs side by side, int64 [*, 2]."""
    table = np.empty((sum(map(len, ids)), 2), np.int64)
    np.concatenate(ids, out=table[:, 0])
    np.concatenate(costs, out=table[:, 1])
    return table


def read_only(array: Array, dtype: type) -> Array:
    """Make a plain, contiguous, read-only view (a copy if need be), so that the kernels see one type."""
    view = np.ascontiguousarray(array, dtype).view()
    view.setflags(write=False)
    return view


def _mask_rows(masks: list[Array]) -> Array:
    if not masks:
        return _NO_MASKS
    return read_only(masks[0][None] if len(masks) == 1 else np.stack(masks), np.bool_)


_NO_FAR = (
    np.zeros((0, 2), np.int64),
    read_only(np.zeros((0, 0), np.int8), np.int8),
    read_only(np.zeros(0, np.float32), np.float32),
    np.zeros(0, np.int16),
    np.zeros(2),
)
_NO_MASKS = read_only(np.zeros((0, 0), np.bool_), np.bool_)

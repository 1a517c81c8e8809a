"""Exact matching of patterns: the k nearest matches, or all that tie with the best (SimGRAG, 4 and 5).

`kernels/layers.py` cuts the graph down to what can take part, `kernels/messages.py` finds the least cost of
every part, `kernels/search.py` enumerates. Candidates of known nodes are taken in growing rounds; a round is
the last when no match with a candidate left out can be among those asked for, so that the result is that of
unlimited candidates. Distances are rounded to multiples of 1e-9, so that ties do not depend on the order of
a sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Timer
from typing import Any, Literal, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from clew.errors import PatternError, UsageError
from clew.graph.distances import Candidates, Distance, Distances, FixedDistances, TextDistances, Vectors
from clew.graph.graph import Graph
from clew.graph.patterns import check_pattern
from clew.types import Match, MatchResult, Pattern, PatternEdge, PatternNode

__all__ = [
    "Budget",
    "Candidates",
    "Distances",
    "FixedDistances",
    "TextDistances",
    "Vectors",
    "match",
]

Distinct = Literal["nodes", "triples", "none"]
Array = NDArray[Any]

TIE = 1e-6
"""Matches whose GSD differs by no more than this from the best tie with it."""
FIRST_ROUND = 64
ROUND_GROWTH = 16
UNIT = 1e9
FARTHEST = 1e4
MISS_BITS = 5
INFINITE = 1 << 60
UNLIMITED = 1 << 62
ANY, LISTED, DENSE = 0, 1, 2
STOPPED, RETRY = 1, 2
_DISTINCT = {"nodes": 0, "triples": 1, "none": 2}


@dataclass(frozen=True, slots=True)
class Budget:
    """When to stop early: after so many `expansions` (edges and choices looked at) or `milliseconds`.

    The milliseconds are those of the search; compiling it, once, and looking up candidates is before them.
    """

    expansions: int | None = None
    milliseconds: float | None = None


class _Prepared:
    """A graph's arrays as the kernels take them (read-only, contiguous), and their scratch."""

    def __init__(self, graph: Graph) -> None:
        self.nodes, self.relations = graph.nodes, len(graph.relations)
        self.arrays = tuple(
            _read_only(array, dtype)
            for side in (graph.out, graph.into)
            for array, dtype in (
                (side.offsets, np.int64),
                (side.relation, np.int32),
                (side.neighbour, np.int32),
            )
        )
        self._marks: list[Array] = []

    def take_marks(self) -> Array:
        """Scratch that no other thread is using."""
        return self._marks.pop() if self._marks else np.zeros(self.nodes + 1, np.int64)

    def give_marks(self, marks: Array) -> None:
        """Return scratch for the next search."""
        self._marks.append(marks)


_PREPARED: WeakKeyDictionary[Graph, _Prepared] = WeakKeyDictionary()


def match(
    graph: Graph,
    pattern: Pattern,
    distances: Distances,
    *,
    k: int | None = 3,
    all_tied: bool = False,
    project: int | None = None,
    distinct: Distinct = "nodes",
    undirected: bool = True,
    budget: Budget | None = None,
) -> MatchResult:
    """Find the first `k` matches (None: all) in order of (gsd, direction misses, node ids, triple ids).

    `all_tied` instead gives every match whose GSD is within 1e-6 of the best and which has as many direction
    misses. `project` keeps, for every entity that node `project` of the pattern takes, its first match only.
    `distinct` "nodes": no two nodes take one entity (parallel edges different triples); "triples": no two
    edges take one triple; "none": both may. Not `undirected`: edges run as in the pattern. Raises
    `PatternError` for a pattern that cannot be searched.
    """
    check_pattern(pattern)
    if k is not None and k < 1:
        raise UsageError(f"k is {k}: it must be at least 1")
    if project is not None and not 0 <= project < len(pattern.nodes):
        raise PatternError(
            f"pattern: field 'project' is node {project}: the pattern has {len(pattern.nodes)} nodes"
        )
    prepared = _PREPARED.get(graph)
    if prepared is None:
        prepared = _PREPARED[graph] = _Prepared(graph)
    query = _Query(prepared, pattern, distances)
    options = [
        _DISTINCT[distinct],
        int(undirected),
        0 if k is None else k,
        int(all_tied),
        -1 if project is None else project,
        0 if query.uniform else round(TIE * UNIT),
        int(query.uniform),
        0,
        UNLIMITED if budget is None or budget.expansions is None else budget.expansions,
    ]
    if query.hopeless:
        return MatchResult(())
    if budget is None or budget.milliseconds is None:
        return _search(prepared, query, options, np.zeros(1, np.uint8))
    _compile(prepared, query, options)
    stop = np.zeros(1, np.uint8)
    timer = Timer(budget.milliseconds / 1000, stop.fill, (1,))
    timer.daemon = True
    timer.start()
    try:
        return _search(prepared, query, options, stop)
    finally:
        timer.cancel()


class _Query:
    """A pattern with its costs in the arrays of `kernels.edges.Query`; candidates may be widened."""

    def __init__(self, prepared: _Prepared, pattern: Pattern, distances: Distances) -> None:
        self.pattern, self.distances, self.size = pattern, distances, prepared.nodes
        self.uniform, self.hopeless = True, False
        self.masks: list[Array] = []
        self.counts: dict[int, int] = {}
        self.left_out: dict[int, int] = {}
        self._set_edges(prepared.relations)
        self._fixed = [self._fixed_node(i, node) for i, node in enumerate(pattern.nodes)]
        self.set_candidates()

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
        """Return the entity of a fixed node; sets up the mask or the candidates of another."""
        if node.known and node.entity is None:
            self.counts[i] = FIRST_ROUND
        elif node.entity is not None and not 0 <= node.entity < self.size:
            raise PatternError(f"pattern: node {i} ({node.name!r}): the graph has no entity {node.entity}")
        return node.entity if node.known else None

    def set_candidates(self) -> None:
        """Ask for `counts` candidates of every known node that is not fixed."""
        rows: list[list[int]] = []
        ids: list[Array] = []
        costs: list[Array] = []
        self.masks, self.left_out = [], {}
        at, self.least = 0, int(self.edges[:, 5].sum())
        for i, node in enumerate(self.pattern.nodes):
            entity, cost = _NO_IDS, _NO_COSTS
            mask = -1
            if (fixed := self._fixed[i]) is not None:
                entity, cost = np.array([fixed], np.int32), _ZERO
            elif node.known:
                entity, cost = self._candidates(i, node)
            elif node.type is not None:
                mask = self._mask(node)
            rows.append([int(node.known), mask, at, at + len(entity)])
            at += len(entity)
            ids.append(entity)
            costs.append(cost)
        self.nodes = np.array(rows, np.int64)
        self.candidate = _table(ids, costs)
        self.mask_rows = _mask_rows(self.masks)

    def _candidates(self, i: int, node: PatternNode) -> tuple[Array, Array]:
        found = self.distances.node_candidates(node, self.counts[i])
        cost = _costs(found.distances, f"node {node.name!r}")
        if len(cost) == 0:
            self.hopeless = True
            return _NO_IDS, _NO_COSTS
        if np.any(cost[1:] < cost[:-1]):
            raise UsageError(f"the candidates of node {node.name!r} are not in ascending distance")
        self.least += int(cost[0])
        if not found.exhausted and cost[-1] < INFINITE:
            self.left_out[i] = int(cost[-1] - cost[0])
        finite = int(np.searchsorted(cost, INFINITE))
        self.uniform = self.uniform and not cost[:finite].any() and found.exhausted
        self.hopeless = self.hopeless or finite == 0
        return found.entities[:finite], cost[:finite]

    def _mask(self, node: PatternNode) -> int:
        mask = self.distances.allowed(node)
        if mask is None:
            return -1
        if len(mask) != self.size:
            raise UsageError(
                f"the mask of type {node.type!r} has {len(mask)} entries for {self.size} entities"
            )
        self.masks.append(mask)
        return len(self.masks) - 1


_NO_IDS, _NO_COSTS, _ZERO = np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(1, np.int64)


def _search(prepared: _Prepared, query: _Query, options: Sequence[int], stop: Array) -> MatchResult:
    """Search in rounds of more candidates until those left out cannot matter."""
    wanted, tied = options[2], options[3]
    while True:
        status, bound, cost, nodes, triples = _run(prepared, query, options, stop)
        # A match with a candidate left out costs at least this, whatever its other parts are.
        reach = {i: query.least + more for i, more in query.left_out.items()}
        complete = status != STOPPED
        limit = UNLIMITED
        if len(cost) and tied:
            limit = ((int(cost[0]) >> MISS_BITS) + options[5] + 1) << MISS_BITS
        elif wanted and len(cost) == wanted:
            limit = int(cost[-1])
        grow = [i for i, least in reach.items() if least <= limit]
        if not grow or not complete:
            bound = min([bound, *reach.values()]) if not complete else INFINITE
            return _result(cost, nodes, triples, complete, bound)
        for i in grow:
            query.counts[i] *= ROUND_GROWTH
        query.set_candidates()


def _compile(prepared: _Prepared, query: _Query, options: Sequence[int]) -> None:
    """Compile the kernel (or load its machine code) by a search that is stopped before it begins."""
    from clew.graph.kernels.search import search

    if not cast(Any, search).signatures:
        _run(prepared, query, options, np.ones(1, np.uint8))


def _run(
    prepared: _Prepared, query: _Query, options: Sequence[int], stop: Array
) -> tuple[int, int, Array, Array, Array]:
    """(status, bound, costs [c], nodes [c, n], triples [c, m]) of one call of the kernel, sorted."""
    from clew.graph.kernels.search import search

    marks, settings = prepared.take_marks(), np.array(options, np.int64)
    arrays = [*prepared.arrays, query.nodes, query.edges, query.candidate, query.relation]
    arrays += [query.mask_rows, settings, marks, stop]
    status, bound, rows, order = search(*arrays)
    if status == RETRY:
        settings[7] = 1
        status, bound, rows, order = search(*arrays)
    prepared.give_marks(marks)
    count = order[-1]
    rows = rows[:count]
    rows = rows[np.lexsort(rows.T[::-1]) if options[2] == 0 or options[3] else order[:count]]
    n = len(query.nodes)
    return status, max(bound, query.least), rows[:, 0], rows[:, 1 : n + 1], rows[:, n + 1 :]


def _result(cost: Array, nodes: Array, triples: Array, complete: bool, bound: int) -> MatchResult:
    found = [
        Match(round((c >> MISS_BITS) / UNIT, 9), c & 31, tuple(v), tuple(t))
        for c, v, t in zip(cost.tolist(), nodes.tolist(), triples.tolist(), strict=True)
    ]
    least = float("inf") if bound >= INFINITE else (bound >> MISS_BITS) / UNIT
    return MatchResult(tuple(found), complete, least)


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


def _read_only(array: Array, dtype: type) -> Array:
    """Make a plain, contiguous, read-only view (a copy if need be), so that the kernels see one type."""
    view = np.ascontiguousarray(array, dtype).view()
    view.setflags(write=False)
    return view


def _mask_rows(masks: list[Array]) -> Array:
    if not masks:
        return _NO_MASKS
    return _read_only(masks[0][None] if len(masks) == 1 else np.stack(masks), np.bool_)


_NO_MASKS = _read_only(np.zeros((0, 0), np.bool_), np.bool_)

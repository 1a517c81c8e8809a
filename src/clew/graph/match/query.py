"""A pattern's costs as the kernels take them, widened as far as a search needs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from clew.errors import PatternError, UsageError
from clew.foundation.arrays import AnyArray
from clew.graph.graph import offsets_of
from clew.graph.match.candidate_lists import (
    ALL,
    USUAL_ROUNDS,
    CandidateList,
    Rounds,
    costs_of,
    is_named,
)
from clew.graph.match.candidate_tiers import Tier, Tiers
from clew.graph.match.distances import Distances, Measure
from clew.graph.match.kernels import columns as c
from clew.graph.match.kernels.columns import Far, QueryColumns
from clew.types import Pattern, PatternEdge, PatternNode

MOST_CAREFUL = 2048
"""Candidates after which the next round takes all, unless unknown nodes meet: edges could multiply then."""
FAR_AHEAD = 2.3
"""An upper bound so many times above the last cap is not trusted where unknown nodes meet: go half as far."""


class QueryCosts:
    """A pattern with its costs in the arrays of `kernels.columns.QueryColumns`, for a graph of `size` nodes.

    Matches within a slack, so much above `least`, the least cost that any can have, are those of a few
    `runs`. `narrow` sets `candidate`, `nodes`, `far` and `base`, the least cost of a match, for one of them.
    `uniform`: all costs are 0; `hopeless`: nothing can match; `measures`: entities may be measured when they
    are met, so that no more are listed than the runs need.
    """

    def __init__(
        self,
        size: int,
        relations: int,
        pattern: Pattern,
        distances: Distances,
        *,
        measures: bool = False,
        rounds: Rounds = USUAL_ROUNDS,
    ) -> None:
        self.pattern, self.distances, self.size, self._rounds = pattern, distances, size, rounds
        self.uniform, self.hopeless = True, False
        self.masks: list[AnyArray] = []
        self._lists: dict[int, CandidateList] = {}
        self._set_edges(relations)
        self._open_nodes = [i for i, node in enumerate(pattern.nodes) if node.known and node.entity is None]
        self._measures = self._measure_all() if measures and not self.hopeless else {}
        provider_nodes = [
            i for i in self._open_nodes if i not in self._measures or not is_named(self._measures[i])
        ]
        if len(provider_nodes) > 1 and not self.hopeless:
            distances.prepare([pattern.nodes[i] for i in provider_nodes], rounds.first)
        self._fixed_entities = [self._fixed_node(i, node) for i, node in enumerate(pattern.nodes)]
        self._mask_of = [self._mask(node) for node in pattern.nodes]
        self.mask_rows = _NO_MASKS
        if self.masks:
            stacked = self.masks[0][None] if len(self.masks) == 1 else np.stack(self.masks)
            self.mask_rows = read_only(stacked, np.bool_)
        unknown = [not node.known for node in pattern.nodes]
        self._has_unknown_edge = any(unknown[e.head] and unknown[e.tail] for e in pattern.edges)
        self.least = int(self.edges[:, 5].sum()) + sum(
            int(n.costs[0]) for n in self._lists.values() if len(n.costs)
        )
        seeded = any(entity is not None for entity in self._fixed_entities)
        self._tiers = (
            Tiers(self._lists, distances.prepare, seeded=seeded, rounds=rounds) if self._measures else None
        )
        self._tables: dict[int, AnyArray] = {}
        self.far, self.base = _NO_FAR, self.least

    def _measure_all(self) -> dict[int, Measure]:
        """Give the measures of the open nodes; none if one of them has none, or they differ in kind."""
        all_measures = {i: self.distances.measure(self.pattern.nodes[i]) for i in self._open_nodes}
        measures = {i: measure for i, measure in all_measures.items() if measure is not None}
        kinds = {(m.rows is None, m.scale is None) for m in measures.values()}
        return measures if len(measures) == len(all_measures) and len(kinds) == 1 else {}

    def _set_edges(self, relations: int) -> None:
        edges = self.pattern.edges
        edge_costs = [self._relations(i, edge, relations) for i, edge in enumerate(edges)]
        spans, self.relation = _table([listed for _, _, listed in edge_costs])
        rows = [
            [edge.head, edge.tail, mode, *span, least]
            for edge, (mode, least, _), span in zip(edges, edge_costs, spans, strict=True)
        ]
        self.edges = np.array(rows, np.int64)

    def _relations(self, i: int, edge: PatternEdge, relations: int) -> tuple[int, int, CostedIds]:
        """(mode, least cost, the relations with their costs) of a pattern edge."""
        if edge.fixed is not None:
            if not 0 <= edge.fixed < relations:
                raise PatternError(f"pattern: field 'triples[{i}]': the graph has no relation {edge.fixed}")
            return c.LISTED, 0, _at_no_cost(edge.fixed)
        if edge.relation is None:
            return c.ANY, 0, _NO_IDS
        cost = costs_of(self.distances.relation_distances(edge), f"relation {edge.relation!r}")
        if len(cost) != relations:
            raise UsageError(
                f"relation {edge.relation!r} has {len(cost)} distances: the graph has {relations} relations"
            )
        finite = np.flatnonzero(cost < c.INFINITE)
        if len(finite) == 0:
            self.hopeless = True
            return c.LISTED, 0, _NO_IDS
        self.uniform = self.uniform and not cost[finite].any()
        least = int(cost.min())
        if len(finite) <= max(4, relations // 8):
            return c.LISTED, least, (finite, cost[finite])
        return c.DENSE, least, (np.arange(relations), cost)

    def _fixed_node(self, i: int, node: PatternNode) -> int | None:
        """Return the entity of a fixed node; asks for the first candidates of another known one."""
        if node.known and node.entity is None:
            candidates = self._lists[i] = CandidateList(
                self.distances, node, self._measures.get(i), self._rounds
            )
            self.uniform = self.uniform and candidates.bound == c.INFINITE and not candidates.costs.any()
            self.hopeless = self.hopeless or len(candidates.costs) == 0
        elif node.entity is not None and not 0 <= node.entity < self.size:
            raise PatternError(f"pattern: node {i} ({node.name!r}): the graph has no entity {node.entity}")
        return node.entity if node.known else None

    @property
    def least_slack(self) -> int:
        """Slack of the first round: that of the nearest candidates alone."""
        for candidates in self._lists.values():
            candidates.reach(0)
        return 0

    def cap(self, slack: int) -> int:
        """What a match within `slack` may cost."""
        return min(c.INFINITE - 1, (self.least + slack) | c.MISS_MASK)

    def runs(self, slack: int) -> tuple[list[dict[int, Tier]], int]:
        """(the runs that find all matches within `slack`, the least slack at which something else counts)."""
        if self._tiers is not None:
            return self._tiers.runs(slack)
        next_excesses = (candidates.next_after(slack) for candidates in self._lists.values())
        return [{i: Tier(-1, slack, 0) for i in self._lists}], min(next_excesses, default=c.INFINITE)

    def narrow(self, run: dict[int, Tier]) -> None:
        """Set what a match can have in a run."""
        rows: list[tuple[int, int]] = []
        listed: list[CostedIds] = []
        for i, node in enumerate(self.pattern.nodes):
            entries, kind, floor = _NO_IDS, int(node.known), 0
            if (fixed := self._fixed_entities[i]) is not None:
                entries = _at_no_cost(fixed)
            elif node.known:
                tier, candidates = run[i], self._lists[i]
                kind, floor = c.FAR if tier.far else c.KNOWN, int(candidates.costs[0]) + tier.floor
                if not tier.far:
                    entries = candidates.between(tier.low, tier.high)
            rows.append((kind, floor))
            listed.append(entries)
        spans, self.candidate = _table(listed)
        columns = zip(rows, self._mask_of, spans, strict=True)
        self.nodes = np.array([[kind, mask, *span, floor] for (kind, floor), mask, span in columns], np.int64)
        self.base = self.least + sum(tier.floor for tier in run.values())
        self.far = self._far_arrays([i for i, tier in run.items() if tier.far])

    def columns(self, options: AnyArray) -> QueryColumns:
        """All this as the kernels take it, with the `options` of a search."""
        return QueryColumns(
            self.nodes, self.edges, self.candidate, self.relation, self.mask_rows, options, self.far
        )

    def _far_arrays(self, far: list[int]) -> Far:
        """Turn the measures of nodes into the arrays of `kernels.columns.Far`."""
        if not far:
            return _NO_FAR
        node, at = np.zeros((len(self.pattern.nodes), 3), np.int64), 0
        for place, i in enumerate(far):
            slots = len(self._table_of(i))
            node[i], at = (at, slots, place), at + slots
        tables, measures = [self._table_of(i) for i in far], [self._measures[i] for i in far]
        listed = tables[0] if len(tables) == 1 else np.concatenate(tables)
        scales, first = [m.scale for m in measures if m.scale is not None], measures[0]
        _, _, rows, scale, query, plain = _NO_FAR
        if first.rows is not None:
            queries = [m.query for m in measures if m.query is not None]
            rows, scales = read_only(first.rows, np.int8), scales[:1]
            query, plain = np.stack([q.values for q in queries]), np.stack([q.plain for q in queries])
        if scales:
            scale = read_only(scales[0][None] if len(scales) == 1 else np.stack(scales), np.float32)
        return Far(node, listed, rows, scale, query, plain)

    def _table_of(self, node: int) -> AnyArray:
        """Make the hash table of what a measure lists."""
        if node not in self._tables:
            from clew.graph.match.kernels.measure import hash_table

            measure, name = self._measures[node], self.pattern.nodes[node].name
            self._tables[node] = _NO_FAR[1]
            if len(measure.entities):
                costs = costs_of(measure.distances, f"node {name!r}")
                self._tables[node] = hash_table(read_only(measure.entities, np.int32), costs)
        return self._tables[node]

    def wider(self, slack: int, nearest: int, needed: int | None) -> int | None:
        """Find the slack of the next round, at least `nearest`: `needed` if known, else some growth.

        None if there is no next round, as the provider has no more candidates.
        """
        if self._tiers is not None:
            return self._tiers.wider(slack, nearest, needed)
        if self._has_unknown_edge and needed is not None and needed > FAR_AHEAD * slack > 0:
            needed = round(1.5 * slack)
        wide_slack = max(nearest, self._grown_slack(slack) if needed is None else needed)
        return min([wide_slack, *(n.reach(wide_slack) for n in self._lists.values())])

    def _grown_slack(self, slack: int) -> int:
        """Find a slack that lets in several times as many candidates as `slack`."""
        lists = list(self._lists.values())
        count = sum(n.count(slack) for n in lists)
        if not self._has_unknown_edge and count > MOST_CAREFUL:
            return ALL
        grown_slack = round(1.5 * slack) if self._has_unknown_edge else ALL
        for i, step in enumerate(sorted(n.step(slack) for n in lists)):
            if i and sum(n.count(step) for n in lists) > self._rounds.growth * count + self._rounds.first:
                break
            grown_slack = step if step > slack else grown_slack
        return grown_slack

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
        self.hopeless = self.hopeless or not mask.any()
        self.masks.append(mask)
        return len(self.masks) - 1


CostedIds = tuple[AnyArray, AnyArray]
"""Ids, and what each costs."""
_NO_IDS: CostedIds = (np.zeros(0, np.int64), np.zeros(0, np.int64))


def _at_no_cost(id_: int) -> CostedIds:
    return np.array([id_]), np.zeros(1, np.int64)


def _table(listed: Sequence[CostedIds]) -> tuple[list[tuple[int, int]], AnyArray]:
    """Where each list is among all of them, and these: ids and costs side by side, int64 [*, 2]."""
    ends = offsets_of(np.array([len(ids) for ids, _ in listed]))
    table = np.empty((int(ends[-1]), 2), np.int64)
    for column, parts in enumerate(zip(*listed, strict=True)):
        np.concatenate(parts, out=table[:, column])
    return list(pairwise(ends.tolist())), table


def read_only(array: AnyArray, dtype: type) -> AnyArray:
    """Make a plain, contiguous, read-only view (a copy if need be), so that the kernels see one type."""
    view = np.ascontiguousarray(array, dtype).view()
    view.setflags(write=False)
    return view


_NO_FAR = Far(
    np.zeros((0, 3), np.int64),
    np.zeros((0, 2), np.int64),
    read_only(np.zeros((0, 0), np.int8), np.int8),
    read_only(np.zeros((0, 0), np.float32), np.float32),
    np.zeros((0, 0), np.int16),
    np.zeros((0, 2)),
)
_NO_MASKS = read_only(np.zeros((0, 0), np.bool_), np.bool_)

"""A pattern's costs as the kernels take them, and the candidates of its nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from clew.errors import PatternError, UsageError
from clew.foundation.arrays import AnyArray
from clew.graph.graph import offsets_of
from clew.graph.match.distances import Distance, Distances, Measure
from clew.graph.match.kernels import columns as c
from clew.graph.match.kernels.columns import INFINITE, MISS_BITS, UNIT, Far, QueryColumns
from clew.types import Pattern, PatternEdge, PatternNode

# Candidates of one node of a pattern in ascending cost, asked for in growing numbers.


FARTHEST = 1e4
ALL = 1 << 59
"""A slack that leaves nothing out."""


FIRST, GROWTH = 64, 16
"""How many candidates of a node are asked for first, and by what factor more each time after."""
WORTH_A_CUT = 512
"""Candidates of one node that are worth more runs, of those near and of the others."""


class CandidateList:
    """The candidates of `node` that are at hand: `ids` and `costs`, ascending.

    One that is left out costs at least `bound` (INFINITE: none is); `ended`: the provider has no more of
    them. A node that can be measured begins with the entities of exactly its name, and the provider is asked
    only when these are not enough.
    """

    def __init__(self, distances: Distances, node: PatternNode, measure: Measure | None) -> None:
        self._distances, self.node, self._count = distances, node, FIRST
        self._measured, self.has_asked, self.ended = measure is not None, False, False
        if measure is not None and is_named(measure):
            self.ids, self.costs = measure.entities, np.zeros(len(measure.entities), np.int64)
            self.bound = 1 << MISS_BITS
        else:
            self._ask()

    def _ask(self) -> None:
        count_before = len(self._nearest.entities) if self.has_asked else -1
        self.has_asked, self._nearest = True, self._distances.node_candidates(self.node, self._count)
        self.ended = len(self._nearest.entities) == count_before and not self._nearest.exhausted
        self._take(min(self._count, len(self._nearest.entities)))

    def _take(self, count: int) -> None:
        """Turn the distances of the first `count` into costs."""
        nearest = self._nearest
        costs = costs_of(nearest.distances[: count + 1], f"node {self.node.name!r}")
        if np.any(costs[1:] < costs[:-1]):
            raise UsageError(f"the candidates of node {self.node.name!r} are not in ascending distance")
        if count < len(nearest.entities):
            self.bound = int(costs[count])
        else:
            none_left = nearest.exhausted or not count or (self.ended and not self._measured)
            self.bound = INFINITE if none_left else int(costs[-1])
        finite = int(np.searchsorted(costs[:count], INFINITE))
        self.ids, self.costs = nearest.entities[:finite], costs[:finite]

    @property
    def due(self) -> int:
        """For how many candidates the provider is asked next; 0 if more are at hand."""
        if not self.has_asked:
            return self._count
        count = len(self._nearest.entities)
        return 0 if self._count < count or self._nearest.exhausted else self._count * GROWTH

    def grow(self) -> None:
        """Have several times as many candidates, from those at hand or the provider."""
        if not self.due:
            self._count = min(self._count * GROWTH, len(self._nearest.entities))
            self._take(self._count)
        else:
            self._count = self.due
            self._ask()

    def reach(self, slack: int) -> int:
        """Have the candidates within `slack`, or a few rounds more of them; how far those at hand reach."""
        if slack >= self.bound - self.costs[0] and self.bound < INFINITE:
            self.grow()
        while self.bound <= self.costs[0] and not self.ended:
            self.grow()
        return self.reached

    @property
    def reached(self) -> int:
        """How far those at hand reach."""
        return ALL if self.bound >= INFINITE else int(self.bound - self.costs[0]) - (1 << MISS_BITS)

    def between(self, low: int, high: int) -> tuple[AnyArray, AnyArray]:
        """(ids, costs) of the candidates that cost more than `low`, at most `high` above the nearest."""
        if high >= ALL:
            while self.bound < INFINITE:
                self.grow()
        start, stop = self.count(low) if low >= 0 else 0, self.count(high)
        return self.ids[start:stop], self.costs[start:stop]

    def count(self, slack: int) -> int:
        """Count the candidates at hand that are within `slack`."""
        return int(self.costs.searchsorted(self.costs[0] + slack, "right"))

    def next_after(self, slack: int) -> int:
        """Excess over the nearest of the first candidate beyond `slack`, at least; INFINITE: none."""
        count = self.count(slack)
        if count < len(self.costs):
            return int(self.costs[count] - self.costs[0])
        return INFINITE if self.bound >= INFINITE else int(self.bound - self.costs[0])

    def step(self, slack: int) -> int:
        """Slack within which there are several times as many candidates as within `slack`."""
        target = max(FIRST, self.count(slack) * GROWTH)
        if target > len(self.costs) and self.bound < INFINITE:
            self.grow()
        return int(self.costs[min(target, len(self.costs)) - 1] - self.costs[0])


def is_named(measure: Measure) -> bool:
    """Whether there are entities of exactly the name, so that all others are farther."""
    return measure.rows is not None and len(measure.entities) > 0 and not measure.distances.any()


def costs_of(distances: Distance, what: str) -> AnyArray:
    """Distances as costs, int64."""
    values = np.asarray(distances, np.float64)
    if len(values) and values.min() >= 0 and values.max() <= FARTHEST:
        return np.rint(values * UNIT).astype(np.int64) << MISS_BITS
    finite = np.isfinite(values)
    if np.isnan(values).any() or np.any(values < 0) or np.any(values[finite] > FARTHEST):
        raise UsageError(f"a distance of {what} is negative, not a number or above {FARTHEST:g}")
    scaled = np.rint(np.where(finite, values, 0.0) * UNIT).astype(np.int64) << MISS_BITS
    return np.where(finite, scaled, INFINITE)


# Which entities the known nodes of a pattern take in each run of a round.
#
# What a match costs above the least that any can is its excess, the sum of those of its nodes and edges. The
# entities of each open node (known, but by its text) are cut by their excess into tiers: *near* and *listed*
# ones are in its list, *far* ones are not and are measured when they are met. Every match within a slack is
# in one choice of a tier for each node; choices whose least excesses add up to more than the slack are left
# out, and lists are so long that this leaves out all in which too many nodes are far.


MOST_FAR_NODES = 3
"""Nodes that may be far at once."""


@dataclass(frozen=True, slots=True)
class Tier:
    """Entities whose excess is above `low` (-1: all) and at most `high`; none has less than `floor`."""

    low: int
    high: int
    floor: int
    far: bool = False


class Tiers:
    """The tiers of the open nodes, whose lists are `lists` by node.

    `seeded` says that a node of the pattern has a given entity: all the open ones may be far then.
    """

    def __init__(self, lists: Mapping[int, CandidateList], distances: Distances, *, seeded: bool) -> None:
        self._lists, self._distances = lists, distances
        self._may_all_be_far = seeded and len(lists) <= MOST_FAR_NODES

    def runs(self, slack: int) -> tuple[list[dict[int, Tier]], int]:
        """(tiers of each run that all matches within `slack` need, the least excess of a match in none)."""
        chosen, left_out = list[dict[int, Tier]](), INFINITE
        for run in self._choices(self._tiers_within(slack), slack):
            excess = sum(tier.floor for tier in run.values())
            if excess > slack:
                left_out = min(left_out, excess)
            elif len(run) == len(self._lists):
                chosen.append(run)
        return chosen, min(left_out, INFINITE)

    def _choices(self, tiers: Mapping[int, Sequence[Tier]], slack: int) -> Iterator[dict[int, Tier]]:
        """Every choice for the first nodes that is within `slack`, whole ones and the first beyond it."""
        nodes = list(tiers)
        stack: list[dict[int, Tier]] = [{}]
        while stack:
            run = stack.pop()
            if run and (sum(t.floor for t in run.values()) > slack or len(run) == len(nodes)):
                yield run
                continue
            node = nodes[len(run)]
            stack += [run | {node: tier} for tier in reversed(tiers[node])]

    def _tiers_within(self, slack: int) -> dict[int, list[Tier]]:
        part = self._part(slack)
        tiers: dict[int, list[Tier]] = {}
        for node, candidates in self._lists.items():
            listed = min(candidates.reached, part) if slack < ALL else ALL
            is_cut = len(self._lists) > 1 and slack < ALL and candidates.count(listed) > WORTH_A_CUT
            nearest_slack = listed // 2 if is_cut else listed
            tiers[node] = [Tier(-1, nearest_slack, 0)]
            beyond = candidates.next_after(nearest_slack)
            if nearest_slack < listed and beyond <= listed:
                tiers[node].append(Tier(nearest_slack, listed, beyond))
            tiers[node].append(Tier(listed, ALL, candidates.next_after(listed), far=True))
        return tiers

    def _part(self, slack: int) -> int:
        """How far lists are used, at least half of `slack`, so that too many far nodes are beyond it."""
        if self._may_all_be_far:
            return slack // 2
        slack_left = slack
        reached = self._reached()
        for i, reach in enumerate(reached):
            part = -(-slack_left // (len(reached) - i))
            if part <= reach:
                return max(part, slack // 2)
            slack_left -= reach
        return slack

    def _reached(self) -> list[int]:
        """How far the shortest lists reach, as many as may not all be far."""
        return sorted(candidates.reached for candidates in self._lists.values())[: MOST_FAR_NODES + 1]

    @property
    def slack_at_hand(self) -> int:
        """The largest slack for which the lists at hand are long enough."""
        if self._may_all_be_far and all(n.has_asked for n in self._lists.values()):
            return ALL
        return min(ALL, sum(self._reached()))

    def wider(self, slack: int, nearest: int, needed: int | None) -> int | None:
        """The slack of the next round: at least `nearest`, at most `needed`, if that is known.

        None if the lists cannot be made long enough for `nearest`.
        """
        while self.slack_at_hand < nearest:
            if not self._grow():
                return None
        aim = max(nearest, self._aim(slack))
        return min(aim if needed is None else min(max(nearest, needed), aim), self.slack_at_hand)

    def _aim(self, slack: int) -> int:
        """The slack after `slack`, if nothing else is known of where the matches are."""
        lists = self._lists.values()
        if len(lists) > 1 and any(len(candidates.ids) > 65_536 for candidates in lists):
            return round(1.05 * slack)
        reached = sorted(candidates.reached for candidates in lists if 0 < candidates.reached < ALL)
        easy = sum(reached[:2]) if reached else ALL  # within it, at most one node is far
        if slack >= easy:
            return round(1.1 * slack)
        return min(max(easy // 2, round(1.5 * slack)), easy)

    def _grow(self) -> bool:
        """Make the cheapest lists longer, side by side where the provider is asked; False if none can be."""
        growing = [n for n in self._lists.values() if n.reached < ALL and not n.ended]
        due = min((n.due for n in growing), default=0)
        growing = sorted((n for n in growing if n.due == due), key=lambda n: n.reached)[:2]
        if due and len(growing) > 1:
            self._distances.prepare([n.node for n in growing], due)
        for candidates in growing:
            candidates.grow()
        return bool(growing)


# A pattern's costs as the kernels take them, widened as far as a search needs.


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
        measures: bool,
    ) -> None:
        self.pattern, self.distances, self.size = pattern, distances, size
        self.uniform, self.hopeless = True, False
        self.masks: list[AnyArray] = []
        self._lists: dict[int, CandidateList] = {}
        costs = [self._relations(i, edge, relations) for i, edge in enumerate(pattern.edges)]
        spans, self.relation = _table([listed for _, _, listed in costs])
        rows = [
            [edge.head, edge.tail, mode, *span, least]
            for edge, (mode, least, _), span in zip(pattern.edges, costs, spans, strict=True)
        ]
        self.edges = np.array(rows, np.int64)
        self._open_nodes = [i for i, node in enumerate(pattern.nodes) if node.known and node.entity is None]
        self._measures = self._measure_all() if measures and not self.hopeless else {}
        provider_nodes = [
            i for i in self._open_nodes if i not in self._measures or not is_named(self._measures[i])
        ]
        if len(provider_nodes) > 1 and not self.hopeless:
            distances.prepare([pattern.nodes[i] for i in provider_nodes], FIRST)
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
        self._tiers = Tiers(self._lists, distances, seeded=seeded) if self._measures else None
        self._tables: dict[int, AnyArray] = {}
        self.far, self.base = _NO_FAR, self.least

    def _measure_all(self) -> dict[int, Measure]:
        """Give the measures of the open nodes; none if one of them has none, or they differ in kind."""
        all_measures = {i: self.distances.measure(self.pattern.nodes[i]) for i in self._open_nodes}
        measures = {i: measure for i, measure in all_measures.items() if measure is not None}
        kinds = {(m.rows is None, m.scale is None) for m in measures.values()}
        return measures if len(measures) == len(all_measures) and len(kinds) == 1 else {}

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
        finite = np.flatnonzero(cost < INFINITE)
        if not len(finite):
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
            candidates = self._lists[i] = CandidateList(self.distances, node, self._measures.get(i))
            self.uniform = self.uniform and candidates.bound == INFINITE and not candidates.costs.any()
            self.hopeless = self.hopeless or len(candidates.costs) == 0
        elif node.entity is not None and not 0 <= node.entity < self.size:
            raise PatternError(f"pattern: node {i} ({node.name!r}): the graph has no entity {node.entity}")
        return node.entity if node.known else None

    def reach_nearest(self) -> None:
        """Fetch the nearest candidates, which the first round needs."""
        for candidates in self._lists.values():
            candidates.reach(0)

    def cap(self, slack: int) -> int:
        """What a match within `slack` may cost."""
        return min(INFINITE - 1, (self.least + slack) | c.MISS_MASK)

    def runs(self, slack: int) -> tuple[list[dict[int, Tier]], int]:
        """(the runs that find all matches within `slack`, the least slack at which something else counts)."""
        if self._tiers is not None:
            return self._tiers.runs(slack)
        next_excesses = (candidates.next_after(slack) for candidates in self._lists.values())
        return [{i: Tier(-1, slack, 0) for i in self._lists}], min(next_excesses, default=INFINITE)

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
            if i and sum(n.count(step) for n in lists) > GROWTH * count + FIRST:
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

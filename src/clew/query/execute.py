"""Evaluate query graphs exactly, with sets over the adjacency arrays."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from clew.graph.graph import Adjacency, Graph, ValueKind
from clew.graph.values import month_days
from clew.query.sets import difference, distinct, intersection, union
from clew.query.tree import (
    Anchor,
    Both,
    Compared,
    Counted,
    Either,
    Extreme,
    OfType,
    Part,
    Query,
    Sign,
    Value,
    Walk,
    Without,
)

Nodes = NDArray[np.int64]
MOST_EDGES = 5_000_000
"""Edges that one query may follow; a query that needs more is not answered."""
MOST_AROUND = 60_000
"""Edges that `around` sorts at once."""
LONG_LIST, MOST_JUMPS = 400, 256
"""Edges of one node beyond which its relations are found by jumps, and how many jumps there are."""
NO_NODES: Nodes = np.empty(0, np.int64)


class OverBudget(Exception):
    """A query follows more edges than it may."""


@dataclass(eq=False)
class Executor:
    """Evaluates parts over one graph; what was evaluated is kept for as long as the executor is."""

    graph: Graph
    edges_left: int = MOST_EDGES
    _sets: dict[Part, Nodes] = field(default_factory=dict[Part, Nodes])
    _types: dict[int, Nodes] = field(default_factory=dict[int, Nodes])

    def members(self, part: Part) -> Nodes:
        """The nodes of a part, int64, ascending.

        Raises:
            OverBudget: more than `edges_left` edges would be followed.

        """
        nodes = self._sets.get(part)
        if nodes is None:
            nodes = self._sets[part] = self._evaluate(part)
        return nodes

    def _evaluate(self, part: Part) -> Nodes:
        match part:
            case Anchor(node, _):
                return np.array([node], np.int64)
            case OfType(type_, end):
                return self._of_type(type_, end)
            case Walk(source, step):
                return self._walk(part, source, step)
            case Both(left, right):
                return intersection(self.members(left), self.members(right))
            case Either(left, right):
                return union(self.members(left), self.members(right))
            case Without(left, right):
                return difference(self.members(left), self.members(right))
            case Compared(source, steps, sign, value):
                return self._compared(self.members(source), steps, sign, value)
            case Counted(source, step, sign, number, _):
                members = self.members(source)
                return members[stands(self.counts(members, step), sign, number)]
            case Extreme(source, steps, counted, largest, number):
                return self._extreme(self.members(source), steps, counted, largest, number)

    def side(self, step: int) -> Adjacency:
        """The adjacency that a step follows."""
        return self.graph.into if step & 1 else self.graph.out

    def spans(self, nodes: Nodes, relation: int, side: Adjacency) -> tuple[Nodes, Nodes]:
        """First slot of one relation at each node, and how many slots it has there."""
        starts, stops = side.starts[nodes].astype(np.int64), side.stops[nodes].astype(np.int64)
        low = _first_not_below(side.relation, starts, stops, relation)
        high = _first_not_below(side.relation, low, stops, relation + 1)
        return low, high - low

    def edges(self, nodes: Nodes, step: int) -> tuple[Nodes, Nodes]:
        """Places in `nodes` and the neighbours that a step leads to from there, one row an edge.

        Raises:
            OverBudget: there are more than may be followed.

        """
        low, count = self.spans(nodes, step // 2, self.side(step))
        total = int(count.sum())
        self.edges_left -= total + len(nodes)
        if self.edges_left < 0:
            raise OverBudget
        place = np.repeat(np.arange(len(nodes)), count)
        within = np.arange(total) - np.repeat(np.cumsum(count) - count, count)
        slots = np.repeat(low, count) + within
        return place, self.side(step).neighbour[slots].astype(np.int64)

    def around(self, nodes: Nodes) -> dict[int, Nodes] | None:
        """What each step leads to from some nodes, in one pass; None where that is too many edges to sort."""
        neighbours_by_step: dict[int, Nodes] = {}
        for side, adjacency in enumerate((self.graph.out, self.graph.into)):
            slots = _slots_of(adjacency, nodes)
            if slots is None:
                return None
            relation, neighbours = adjacency.relation[slots], adjacency.neighbour[slots].astype(np.int64)
            if not len(relation):
                continue
            if len(nodes) > 1:
                size = self.graph.nodes
                pairs = distinct(relation.astype(np.int64) * size + neighbours)
                relation = pairs // size
                neighbours = pairs - relation * size
            cuts = [0, *(np.flatnonzero(relation[1:] != relation[:-1]) + 1).tolist(), len(relation)]
            for name, start, stop in zip(relation[cuts[:-1]].tolist(), cuts[:-1], cuts[1:], strict=True):
                neighbours_by_step[2 * name + side] = neighbours[start:stop]
        return neighbours_by_step

    def steps(self, nodes: Nodes) -> set[int]:
        """The steps that leave some nodes."""
        steps: set[int] = set()
        for side, adjacency in enumerate((self.graph.out, self.graph.into)):
            slots = _slots_of(adjacency, nodes)
            relations = _relations_at(adjacency, nodes) if slots is None else adjacency.relation[slots]
            steps.update(2 * r + side for r in distinct(relations).tolist())
        return steps

    def counts(self, nodes: Nodes, step: int) -> Nodes:
        """How many edges of a step each node has."""
        return self.spans(nodes, step // 2, self.side(step))[1]

    def _walk(self, part: Walk, source: Part, step: int) -> Nodes:
        return onward(part, distinct(self.edges(self.members(source), step)[1]))

    def _of_type(self, type_: int, end: int) -> Nodes:
        key = type_ if type_ >= 0 else -2 - end
        nodes = self._types.get(key)
        if nodes is None:
            if type_ >= 0:
                types = self.graph.types
                places = np.flatnonzero(types.type == type_)
                nodes = distinct(np.searchsorted(types.offsets, places, "right") - 1).astype(np.int64)
            else:
                nodes = self.side(end).nodes_with(end // 2)
            self._types[key] = nodes
        return nodes

    def values(self, nodes: Nodes, steps: tuple[int, ...]) -> tuple[Nodes, Nodes, NDArray[np.float64]]:
        """Places in `nodes`, value nodes that `steps` lead to, and their parsed values."""
        place, reached = np.arange(len(nodes)), nodes
        for step in steps:
            at, reached = self.edges(reached, step)
            place = place[at]
        values = self.graph.values
        kind = values.kind[reached]
        usual = ValueKind.DATE if (kind == ValueKind.DATE).sum() * 2 > (kind > 0).sum() else ValueKind.NUMBER
        has = kind == usual
        return place[has], reached[has], values.value[reached[has]].astype(np.float64)

    def _compared(self, members: Nodes, steps: tuple[int, ...], sign: Sign, value: Value | Part) -> Nodes:
        place, _, numbers = self.values(members, steps)
        if isinstance(value, Value):
            keep = against(numbers, sign, value, self._are_dates(members, steps))
        else:
            _, _, other_numbers = self.values(self.members(value), ())
            if not len(other_numbers):
                return NO_NODES
            keep = stands(
                numbers, sign, float(other_numbers.max() if sign[0] == ">" else other_numbers.min())
            )
        return members[distinct(place[keep])]

    def _are_dates(self, members: Nodes, steps: tuple[int, ...]) -> bool:
        _, reached, _ = self.values(members, steps)
        return bool(len(reached)) and int(self.graph.values.kind[reached[0]]) == ValueKind.DATE

    def _extreme(
        self, members: Nodes, steps: tuple[int, ...], counted: bool, largest: bool, number: int
    ) -> Nodes:
        place, score = self.scores(members, steps, counted, largest)
        if not len(score):
            return NO_NODES
        order = np.sort(score if not largest else -score)
        bound = order[min(number, len(order)) - 1]
        return members[distinct(place[(score if not largest else -score) <= bound])]

    def scores(
        self, members: Nodes, steps: tuple[int, ...], counted: bool, largest: bool
    ) -> tuple[Nodes, NDArray[np.float64]]:
        """What members are ranked by: places of those that have a score, ascending, and the scores."""
        if counted:
            count = self.counts(members, steps[-1])
            has = count > 0
            return np.flatnonzero(has), count[has].astype(np.float64)
        place, _, numbers = self.values(members, steps)
        order = np.lexsort((-numbers if largest else numbers, place))
        places, first_places = np.unique(place[order], return_index=True)
        return places, numbers[order][first_places]

    def number(self, query: Query) -> float | None:
        """The number that a query asks for, None where it asks for members, or where no value is there."""
        members = self.members(query.part)
        if query.ask == "count":
            return float(len(members))
        if query.ask in ("list", "yes") or not len(members):
            return None
        return _aggregate(query.ask, self._valued(query.part, members))

    def _valued(self, part: Part, members: Nodes) -> NDArray[np.float64]:
        """The values of a set; of a walk, one for each member of its source (equal values count each)."""
        if isinstance(part, Walk):
            _, reached = self.edges(self.members(part.source), part.step)
        else:
            reached = members
        kind = self.graph.values.kind[reached]
        return self.graph.values.value[reached[kind == ValueKind.NUMBER]].astype(np.float64)


def _aggregate(ask: str, numbers: NDArray[np.float64]) -> float | None:
    if not len(numbers):
        return None
    reduce = {"sum": np.sum, "average": np.mean, "largest": np.max, "smallest": np.min}[ask]
    return float(reduce(numbers))


def onward(part: Walk, reached: Nodes) -> Nodes:
    """What a walk reaches without the entity that its chain begins at.

    Where that is all it reaches, it stays, if the walk is no way back: the children of the parents of an only
    child, but no film with the director of a film that is his only one.
    """
    source, length = part.source, 1
    while isinstance(source, Walk):
        source, length = source.source, length + 1
    if not isinstance(source, Anchor) or length == 1:
        return reached
    other_nodes = reached[reached != source.node]
    is_back = isinstance(part.source, Walk) and part.source.step == part.step ^ 1
    return other_nodes if len(other_nodes) or is_back else reached


def stands(numbers: NDArray[np.float64] | Nodes, sign: Sign, value: float) -> NDArray[np.bool_]:
    """Which numbers stand so to a value."""
    match sign:
        case "=":
            return np.asarray(numbers == value)
        case "!=":
            return np.asarray(numbers != value)
        case ">":
            return np.asarray(numbers > value)
        case ">=":
            return np.asarray(numbers >= value)
        case "<":
            return np.asarray(numbers < value)
        case "<=":
            return np.asarray(numbers <= value)


def against(numbers: NDArray[np.float64], sign: Sign, value: Value, are_dates: bool) -> NDArray[np.bool_]:
    """Which values stand so to one of the question; a month or a year is a span of days."""
    if are_dates != value.date:
        return np.zeros(len(numbers), np.bool_)
    low, high = value.number, value.number + value.width
    if value.yearly:
        numbers = month_days(numbers).astype(np.float64)
    if sign in ("=", "!="):
        inside = (numbers >= low) & (numbers <= high)
        return inside if sign == "=" else ~inside
    bound = {">": high, ">=": low, "<": low, "<=": high}[sign]
    return stands(numbers, sign, bound)


def _slots_of(adjacency: Adjacency, nodes: Nodes) -> slice | Nodes | None:
    """The slots of some nodes, by node; None where they are too many to sort."""
    starts = adjacency.starts[nodes]
    count = adjacency.stops[nodes] - starts
    total = int(count.sum())
    if total > MOST_AROUND:
        return None
    if len(nodes) == 1:
        return slice(int(starts[0]), int(starts[0]) + total)
    return np.repeat(starts - np.cumsum(count) + count, count) + np.arange(total)


def _relations_at(adjacency: Adjacency, nodes: Nodes) -> NDArray[np.int32]:
    """The relations of nodes that have very many edges, those of each node once."""
    relations: list[int] = []
    for start, stop in zip(adjacency.starts[nodes].tolist(), adjacency.stops[nodes].tolist(), strict=True):
        if stop - start > LONG_LIST:
            relations += relations_of_list(adjacency.relation, start, stop)
        else:
            relations += set(adjacency.relation[start:stop].tolist())
    return np.array(relations, np.int32)


def relations_of_list(
    relation: NDArray[np.int32], start: int, stop: int, jumps: int = MOST_JUMPS
) -> list[int]:
    """The relations of one sorted list of edges, by at most so many jumps."""
    relations: list[int] = []
    while start < stop and len(relations) < jumps:
        current = int(relation[start])
        relations.append(current)
        start += int(np.searchsorted(relation[start:stop], current + 1))
    remainder = relation[start:stop]
    return relations + remainder[np.append(True, remainder[1:] != remainder[:-1])[: len(remainder)]].tolist()


def _first_not_below(relation: NDArray[np.int32], starts: Nodes, stops: Nodes, least_relation: int) -> Nodes:
    """The first slot of each list whose relation is not below `least_relation`: a binary search in step."""
    if len(starts) <= 4:
        slots = [
            start + int(relation[start:stop].searchsorted(relation.dtype.type(least_relation)))
            for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)
        ]
        return np.array(slots, np.int64)
    low, high = starts.copy(), stops.copy()
    while True:
        open_ = np.flatnonzero(low < high)
        if not len(open_):
            return low
        middle = (low[open_] + high[open_]) // 2
        below = relation[middle] < least_relation
        low[open_[below]] = middle[below] + 1
        high[open_[~below]] = middle[~below]

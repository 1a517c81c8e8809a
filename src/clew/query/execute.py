"""Evaluate query graphs exactly, with sets over the adjacency arrays."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.graph import POSITION
from clew.graph.graph import Adjacency, Graph, ValueKind, listed_places
from clew.graph.match.patterns import COMPARE
from clew.graph.naming import Name, names_of
from clew.graph.steps import End, Step, is_backward, opposite, relation_of, step_of
from clew.graph.values import iso_day, month_days
from clew.query.tree import (
    Amount,
    Anchor,
    Both,
    Compared,
    Counted,
    Either,
    Extreme,
    OfType,
    OnEdge,
    Part,
    Qualified,
    Query,
    Related,
    Sign,
    Value,
    Walk,
    Without,
    last_walks,
)
from clew.text.normalise import normalise

# Sets of nodes as ascending arrays of ids: faster on the short ones of a question than NumPy's own.

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


@dataclass(frozen=True, eq=False)
class OnEdges:
    """Values of one property of edges, a row each, int64 [n].

    `reached` and `before` (in its part of `sources`) are the ends of its edge; `statements` and `places` its
    rows among statements and properties; `numbers` float64 [n] the numbers, or dates if most are; else NaN.
    """

    reached: Nodes
    before: Nodes
    sources: tuple[Part, ...]
    statements: Nodes
    places: Nodes
    numbers: NDArray[np.float64]


@dataclass(eq=False)
class Executor:
    """Evaluates parts over one graph; what was evaluated is kept for as long as the executor is."""

    graph: Graph
    edges_left: int = MOST_EDGES
    _sets: dict[Part, Nodes] = field(default_factory=dict[Part, Nodes])
    _types: dict[int, Nodes] = field(default_factory=dict[int, Nodes])
    _on_edges: dict[OnEdge, NDArray[np.bool_]] = field(default_factory=dict[OnEdge, NDArray[np.bool_]])
    _keyed: dict[tuple[Part, str], OnEdges] = field(default_factory=dict[tuple[Part, str], OnEdges])

    def members(self, part: Part) -> Nodes:
        """The nodes of a part, int64, ascending. Raises OverBudget."""
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
                return onward(part, distinct(self.edges(self.members(source), step)[1]))
            case Qualified(source, step, conditions):
                return distinct(self.qualified(self.members(source), step, conditions)[1])
            case Related(source, step, how, targets):
                return self._related(self.members(source), step, how, self.members(targets))
            case Both(left, right):
                return intersection(self.members(left), self.members(right))
            case Either(left, right):
                return union(self.members(left), self.members(right))
            case Without(left, right):
                return difference(self.members(left), self.members(right))
            case Compared(source, steps, sign, value):
                return self._compared(self.members(source), steps, sign, value)
            case Counted(source, step, sign, number, _, among):
                members = self.members(source)
                return members[stands(self.counts(members, step, among), sign, number)]
            case Extreme(source):
                return self._extreme(part, self.members(source))

    def spans(self, nodes: Nodes, step: Step) -> tuple[Nodes, Nodes]:
        """First slot of one step at each node, and how many slots it has there."""
        side, relation = self.graph.side(step), relation_of(step)
        starts, stops = side.starts[nodes].astype(np.int64), side.stops[nodes].astype(np.int64)
        low = _first_not_below(side.relation, starts, stops, relation)
        high = _first_not_below(side.relation, low, stops, relation + 1)
        return low, high - low

    def edges(self, nodes: Nodes, step: Step) -> tuple[Nodes, Nodes]:
        """Places in `nodes` and the neighbours that a step leads to, one row an edge. Raises OverBudget."""
        low, count = self.spans(nodes, step)
        total = int(count.sum())
        self.edges_left -= total + len(nodes)
        if self.edges_left < 0:
            raise OverBudget
        place = np.repeat(np.arange(len(nodes)), count)
        return place, self.graph.side(step).neighbour[listed_places(low, count)].astype(np.int64)

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
                neighbours_by_step[step_of(name, side)] = neighbours[start:stop]
        return neighbours_by_step

    def steps(self, nodes: Nodes) -> set[Step]:
        """The steps that leave some nodes."""
        steps: set[Step] = set()
        for side, adjacency in enumerate((self.graph.out, self.graph.into)):
            slots = _slots_of(adjacency, nodes)
            relations = _relations_at(adjacency, nodes) if slots is None else adjacency.relation[slots]
            steps.update(step_of(r, side) for r in distinct(relations).tolist())
        return steps

    def counts(self, nodes: Nodes, step: Step, among: Part | None = None) -> Nodes:
        """How many edges of a step each node has, to members of a set if there is one."""
        if among is None:
            return self.spans(nodes, step)[1]
        place, reached = self.edges(nodes, step)
        return np.bincount(place[np.isin(reached, self.members(among))], minlength=len(nodes))

    def qualified(self, nodes: Nodes, step: Step, conditions: tuple[OnEdge, ...]) -> tuple[Nodes, Nodes]:
        """The rows of `edges` of which one statement fulfils all conditions."""
        place, reached = self.edges(nodes, step)
        statements = self.graph.edge_properties
        keep = statements.triples[:, 1] == relation_of(step)
        for condition in conditions:
            keep &= self._fulfilled(condition)
        ends = statements.triples[keep].astype(np.int64)
        allowed = distinct(ends[:, 0] << 32 | ends[:, 2])
        heads, tails = (reached, nodes[place]) if is_backward(step) else (nodes[place], reached)
        is_allowed = np.isin(heads << 32 | tails, allowed)
        return place[is_allowed], reached[is_allowed]

    def on_edges(self, part: Part, key: str) -> OnEdges:
        """The values of a property of the edges that lead to a set, each edge once. Raises OverBudget."""
        known = self._keyed.get((part, key))
        if known is not None:
            return known
        walks, statements = last_walks(part), self.graph.edge_properties
        places, owners = self._places_of(key)
        ends = statements.triples[owners].astype(np.int64)
        of_walk, members = np.full(len(places), -1), self.members(part)
        for number, walk in enumerate(walks):
            heads, tails = (ends[:, 2], ends[:, 0]) if is_backward(walk.step) else (ends[:, 0], ends[:, 2])
            keep = (ends[:, 1] == relation_of(walk.step)) & np.isin(heads, self.members(walk.source))
            keep &= np.isin(tails, members) & (of_walk < 0)
            for condition in walk.conditions if isinstance(walk, Qualified) else ():
                keep &= self._fulfilled(condition)[owners]
            of_walk[keep] = number
        found = np.flatnonzero(of_walk >= 0)
        self.edges_left -= len(found)
        if self.edges_left < 0:
            raise OverBudget
        ends, places, of_walk = ends[found], places[found], of_walk[found]
        is_back = np.array([is_backward(walk.step) for walk in walks], np.bool_)[of_walk]
        kinds = statements.kind[places]
        edges = OnEdges(
            np.where(is_back, ends[:, 0], ends[:, 2]),
            np.where(is_back, ends[:, 2], ends[:, 0]),
            tuple(walks[number].source for number in of_walk.tolist()),
            owners[found],
            places,
            np.where(kinds == _usual(kinds), statements.value[places], np.nan).astype(np.float64),
        )
        self._keyed[part, key] = edges
        return edges

    def names(self, query: Query) -> list[tuple[int, str, Name]]:
        """What *names* and *called* ask of a set: each member, what it is called, and the name that says so.

        Of *names* all but what is known, or what it is shown as; of *called* those that are the text.
        """
        graph, found = self.graph, list[tuple[int, str, Name]]()
        for member in self.members(query.part).tolist():
            label = graph.labels[member]
            shown, known = normalise(label), normalise(query.name or label)
            named = [(normalise(n.text), n) for n in names_of(graph, member)]
            named = [(norm, n) for norm, n in named if not query.key or n.is_in(query.key)]
            same = [(member, n.text, n) for norm, n in named if norm == known]
            if query.ask == "called":
                found += same
                continue
            if not query.key and shown != known and shown not in dict(named):
                found += [(member, label, n) for _, _, n in same]
            found += [(member, n.text, n) for norm, n in named if query.key or norm != known]
        return found

    def _places_of(self, key: str) -> tuple[Nodes, Nodes]:
        """Where values of a property of edges stand, and the statement of each."""
        statements = self.graph.edge_properties
        keys = [number for number, name in enumerate(statements.keys) if name == key]
        places = np.flatnonzero(np.isin(statements.key, keys))
        return places, np.searchsorted(statements.offsets, places, "right") - 1

    def _fulfilled(self, condition: OnEdge) -> NDArray[np.bool_]:
        """Which statements fulfil a condition, bool [statements]."""
        known = self._on_edges.get(condition)
        if known is not None:
            return known
        statements = self.graph.edge_properties
        places, owners = self._places_of(condition.key)
        if isinstance(condition.value, str):
            text = condition.value.casefold()
            same = np.array([statements.texts[at].casefold() == text for at in places.tolist()], np.bool_)
            fits = same if condition.sign == "=" else ~same
        else:
            is_date = statements.kind[places] == ValueKind.DATE
            numbers = np.where(statements.kind[places] > 0, statements.value[places], np.nan)
            fits = _against_mixed(numbers, is_date, condition.sign, condition.value)
        fulfilled = np.zeros(len(statements), np.bool_)
        if condition.or_none:
            fulfilled[:] = True
            fulfilled[owners] = False
        fulfilled[owners[fits]] = True
        self._on_edges[condition] = fulfilled
        return fulfilled

    def _related(self, members: Nodes, step: Step, how: str, targets: Nodes) -> Nodes:
        """Members that a step leads from to some of the targets: only to them, or to all of them."""
        place, reached = self.edges(members, step)
        inside = np.isin(reached, targets)
        if how == "only":
            return members[difference(distinct(place), distinct(place[~inside]))]
        pairs = distinct(place[inside].astype(np.int64) << 32 | reached[inside])
        counts = np.bincount(pairs >> 32, minlength=len(members))
        return members[(counts == len(targets)) & (len(targets) > 0)]

    def _of_type(self, type_: int, end: End) -> Nodes:
        key = type_ if type_ >= 0 else -2 - end
        nodes = self._types.get(key)
        if nodes is None:
            if type_ < 0:
                nodes = self.graph.side(end).nodes_with(relation_of(end))
            else:
                types = self.graph.types
                places = np.flatnonzero(types.type == type_)
                nodes = distinct(np.searchsorted(types.offsets, places, "right") - 1).astype(np.int64)
            self._types[key] = nodes
        return nodes

    def _follow(self, nodes: Nodes, steps: tuple[Step, ...]) -> tuple[Nodes, Nodes]:
        """As `edges`, of several steps."""
        place, reached = np.arange(len(nodes)), nodes
        for step in steps:
            at, reached = self.edges(reached, step)
            place = place[at]
        return place, reached

    def values(self, nodes: Nodes, steps: tuple[Step, ...]) -> tuple[Nodes, Nodes, NDArray[np.float64]]:
        """Places in `nodes`, value nodes that `steps` lead to, and their parsed values."""
        place, reached = self._follow(nodes, steps)
        values = self.graph.values
        kind = values.kind[reached]
        has = kind == _usual(kind)
        return place[has], reached[has], values.value[reached[has]].astype(np.float64)

    def _compared(
        self, members: Nodes, steps: tuple[Step, ...], sign: Sign, value: Value | Part | Amount
    ) -> Nodes:
        place, reached, numbers = self.values(members, steps)
        if isinstance(value, Amount):
            if value.ask == "own":
                return members[distinct(self.own(members, steps, sign, value.way)[0])]
            amount = self.number(Query(value.ask, value.part))
            if amount is None:
                return NO_NODES
            keep = stands(numbers, sign, amount)
        elif isinstance(value, Value):
            are_dates = bool((self.graph.values.kind[reached[:1]] == ValueKind.DATE).all())
            keep = against(numbers, sign, value, are_dates)
        else:
            _, _, others = self.values(self.members(value), ())
            if not len(others):
                return NO_NODES
            keep = stands(numbers, sign, float(others.max() if sign[0] == ">" else others.min()))
        return members[distinct(place[keep])]

    def own(
        self, members: Nodes, steps: tuple[Step, ...], sign: Sign, way: tuple[Step, ...]
    ) -> tuple[Nodes, Nodes, Nodes]:
        """Places in `members`, and the two things of each that stand so to each other."""
        place, reached = self._follow(members, steps)
        at, others = self._follow(members, way)  # of which the places ascend
        low = np.searchsorted(at, place)
        count = np.searchsorted(at, place, "right") - low
        place, one, other = (
            np.repeat(place, count),
            np.repeat(reached, count),
            others[listed_places(low, count)],
        )
        kinds, values = self.graph.values.kind, self.graph.values.value
        are_values = (kinds[one] == kinds[other]) & (kinds[one] != ValueKind.NONE)
        keep = are_values & np.asarray(COMPARE[sign](values[one], values[other]))
        if sign == "=":
            keep |= ~are_values & (one == other)
        elif sign == "!=":  # what is none of the others of the same member
            pairs = place * self.graph.nodes + one
            keep = ~np.isin(pairs, pairs[one == other]) & (keep | ~are_values)
        return place[keep], one[keep], other[keep]

    def _extreme(self, part: Extreme, members: Nodes) -> Nodes:
        place, score = self.scores(members, part)
        if part.largest:
            score = -score
        ranks = np.unique(score) if part.nth else score
        if not len(score) or (part.nth and part.number > len(ranks)):
            return NO_NODES
        if part.nth:
            return members[distinct(place[score == ranks[part.number - 1]])]
        bound = np.sort(score)[min(part.number or len(score), len(score)) - 1]
        return members[distinct(place[score <= bound])]

    def ranked(self, part: Extreme) -> tuple[Nodes, NDArray[np.float64]]:
        """The members of an extreme in their order, with what they are ranked by."""
        members = self.members(part)
        place, score = self.scores(members, part)
        order = np.argsort(-score if part.largest else score, kind="stable")
        return members[place[order]], score[order]

    def listed(self, part: Part) -> Nodes:
        """The members of a part, those of the list that one thing has in the order of the list."""
        members, walks = self.members(part), last_walks(part)
        is_of_one = len(walks) == 1 and isinstance(walks[0].source, Anchor) and not is_backward(walks[0].step)
        if not is_of_one or POSITION not in self.graph.edge_properties.keys:
            return members
        edges = self.on_edges(part, POSITION)
        has = np.isin(edges.reached, members) & ~np.isnan(edges.numbers)
        first = np.full(len(members), np.inf)
        np.minimum.at(first, np.searchsorted(members, edges.reached[has]), edges.numbers[has])
        return members[np.argsort(first, kind="stable")]

    def scores(self, members: Nodes, part: Extreme) -> tuple[Nodes, NDArray[np.float64]]:
        """What members are ranked by: places of those that have a score, ascending, and the scores."""
        if part.key:
            edges = self.on_edges(part.source, part.key)
            has = np.isin(edges.reached, members) & ~np.isnan(edges.numbers)
            place, numbers = np.searchsorted(members, edges.reached[has]), edges.numbers[has]
        elif part.counted:
            count = self.counts(members, part.steps[-1], part.among)
            has = count > 0
            return np.flatnonzero(has), count[has].astype(np.float64)
        else:
            place, _, numbers = self.values(members, part.steps)
            if part.summed:
                places, owners = np.unique(place, return_inverse=True)
                return places, np.bincount(owners, numbers, len(places)).astype(np.float64)
        order = np.lexsort((-numbers if part.largest else numbers, place))
        places, first_places = np.unique(place[order], return_index=True)
        return places, numbers[order][first_places]

    def number(self, query: Query) -> float | None:
        """The number that a query asks for, None where it asks for members, or where no value is there."""
        members = self.members(query.part)
        if query.key:
            edges = self.on_edges(query.part, query.key)
            is_number = self.graph.edge_properties.kind[edges.places] == ValueKind.NUMBER
            numbers = edges.numbers[is_number & ~np.isnan(edges.numbers)]
            return None if query.ask not in _REDUCE else _aggregate(query.ask, numbers)
        match query.ask, query.other:
            case "count", _:
                return float(len(members))
            case "share", other if other is not None:
                whole = self.members(other)
                return len(intersection(members, whole)) / len(whole) if len(whole) else None
            case "difference", other if other is not None:
                return self._difference(members, self.members(other))
            case ("sum" | "average" | "largest" | "smallest") as ask, _ if len(members):
                return _aggregate(ask, self._valued(query.part, members))
            case _:
                return None

    def _difference(self, members: Nodes, others: Nodes) -> float | None:
        """By how much the value of one set is above that of another; of sets of things, their counts."""
        if not len(members) and not len(others):
            return None
        kinds = self.graph.values.kind[[*members[:1].tolist(), *others[:1].tolist()]]
        if not kinds.any():
            return float(len(members) - len(others))
        if len(members) != 1 or len(others) != 1 or kinds[0] != kinds[1]:
            return None
        return float(self.graph.values.value[members[0]] - self.graph.values.value[others[0]])

    def holds(self, query: Query) -> bool:
        """Whether all members of a set, of which there are some, are in another (*every*)."""
        members = self.members(query.part)
        others = NO_NODES if query.other is None else self.members(query.other)
        return bool(len(members)) and not len(difference(members, others))

    def groups(self, query: Query) -> list[tuple[int, Nodes, float | None]]:
        """Each group of a query with its members and, unless these are asked for, its number.

        The largest number first, periods in their order; members that lead to no group are in none. A period
        stands for itself by one of its dates.
        """
        part = query.part
        valued = part if query.ask in _REDUCE and isinstance(part, Walk) else None
        members = self.members(part if valued is None else valued.source)
        place, reached = self._follow(members, query.by)
        if query.period:
            place, reached = self._by_period(place, reached, query.period)
        if valued is None and isinstance(part, Walk) and query.by == (opposite(part.step),):
            inside = np.isin(reached, self.members(part.source))  # by member of a set: none beside it
            place, reached = place[inside], reached[inside]
        pairs = distinct(reached.astype(np.int64) << 32 | place)
        if not len(pairs):
            return []
        of_group, places = pairs >> 32, pairs & 0xFFFFFFFF
        cuts = np.flatnonzero(np.diff(of_group, prepend=-1))
        rows: list[tuple[int, Nodes, float | None]] = []
        for group, inside in zip(of_group[cuts].tolist(), np.split(places, cuts[1:]), strict=True):
            nodes, number = members[inside], None
            if query.ask == "count":
                number = float(len(nodes))
            elif valued is not None:
                _, values = self.edges(nodes, valued.step)
                number = _aggregate(query.ask, self._numbers(values))
            if number is not None or query.ask == "list":
                rows.append((group, nodes, number))
        if query.period:
            return sorted(rows, key=lambda row: self.period(row[0], query.period))
        return sorted(rows, key=lambda row: (-(row[2] or 0.0), row[0]))

    def period(self, node: int, period: str) -> str:
        """The year, month or day of a date or of a year, as ISO 8601 writes it; "" for anything else."""
        values = self.graph.values
        label = self.graph.labels[node]
        if label.isdecimal() or values.kind[node] != ValueKind.DATE:
            return label if label.isdecimal() and period == "year" else ""
        day = iso_day(float(values.value[node]))
        return day if period == "day" else day[: -3 if period == "month" else -6]

    def _by_period(
        self, place: NDArray[np.int64], reached: NDArray[np.int64], period: str
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Places with the first date of the same period instead of their own; those of none are left out."""
        first: dict[str, int] = {}
        dates = {node: self.period(node, period) for node in np.unique(reached).tolist()}
        stands = {node: first.setdefault(text, node) for node, text in dates.items() if text}
        kept = np.array([node in stands for node in reached.tolist()], bool)
        return place[kept], np.array([stands[node] for node in reached[kept].tolist()], reached.dtype)

    def _valued(self, part: Part, members: Nodes) -> NDArray[np.float64]:
        """The values of a set; of a walk, one for each member of its source (equal values count each)."""
        is_walk = isinstance(part, Walk)
        return self._numbers(self.edges(self.members(part.source), part.step)[1] if is_walk else members)

    def _numbers(self, nodes: Nodes) -> NDArray[np.float64]:
        kind = self.graph.values.kind[nodes]
        return self.graph.values.value[nodes[kind == ValueKind.NUMBER]].astype(np.float64)


def _usual(kinds: NDArray[np.uint8]) -> ValueKind:
    """Whether most of some values are dates, or numbers."""
    return ValueKind.DATE if (kinds == ValueKind.DATE).sum() * 2 > (kinds > 0).sum() else ValueKind.NUMBER


_REDUCE = {"sum": np.sum, "average": np.mean, "largest": np.max, "smallest": np.min}


def _aggregate(ask: str, numbers: NDArray[np.float64]) -> float | None:
    return float(_REDUCE[ask](numbers)) if len(numbers) else None


def onward(part: Walk, reached: Nodes) -> Nodes:
    """What a walk reaches without the entity that its chain begins at.

    Where that is all it reaches, it stays, if the walk is no way back.
    """
    source, length = part.source, 1
    while isinstance(source, Walk):
        source, length = source.source, length + 1
    if not isinstance(source, Anchor) or length == 1:
        return reached
    other_nodes = reached[reached != source.node]
    is_back = isinstance(part.source, Walk) and part.source.step == opposite(part.step)
    return other_nodes if len(other_nodes) or is_back else reached


def stands(numbers: NDArray[np.float64] | Nodes, sign: Sign, value: float) -> NDArray[np.bool_]:
    """Which numbers stand so to a value."""
    return np.asarray(COMPARE[sign](numbers, value))


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


def _against_mixed(
    numbers: NDArray[np.float64], is_date: NDArray[np.bool_], sign: Sign, value: Value
) -> NDArray[np.bool_]:
    """Which values stand so to one of the question, where some are dates; a year may be a number."""
    fits = np.zeros(len(numbers), np.bool_)
    fits[is_date] = against(numbers[is_date], sign, value, are_dates=True)
    plain = numbers[~is_date]
    if value.date and value.number >= 1 and not value.yearly:
        first, last = (date.fromordinal(int(d) + 1).year for d in (value.number, value.number + value.width))
        value = Value(float(first), width=float(last - first))
    fits[~is_date] = against(plain, sign, value, are_dates=False)
    return fits & ~np.isnan(numbers)


def _slots_of(adjacency: Adjacency, nodes: Nodes) -> slice | Nodes | None:
    """The slots of some nodes, by node; None where they are too many to sort."""
    starts = adjacency.starts[nodes]
    count = adjacency.stops[nodes] - starts
    total = int(count.sum())
    if total > MOST_AROUND:
        return None
    if len(nodes) == 1:
        return slice(int(starts[0]), int(starts[0]) + total)
    return listed_places(starts, count)


def _relations_at(adjacency: Adjacency, nodes: Nodes) -> NDArray[np.int32]:
    """The relations of nodes that have very many edges, those of each node once."""
    relations: list[int] = []
    for start, stop in zip(adjacency.starts[nodes].tolist(), adjacency.stops[nodes].tolist(), strict=True):
        if stop - start > LONG_LIST:
            relations += relations_of_list(adjacency.relation, start, stop)
        else:
            relations += set(adjacency.relation[start:stop].tolist())
    return np.array(relations, np.int32)


def relations_of_list(relation: NDArray[np.int32], start: int, stop: int) -> list[int]:
    """The relations of one sorted list of edges, by at most `MOST_JUMPS` jumps."""
    relations: list[int] = []
    while start < stop and len(relations) < MOST_JUMPS:
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

"""How two things of a claim may be related in a graph.

Relation paths between them, what they cost, whether they hold.

The words of a claim name the relations; an edge is scored by the words near to it, as the readings of
questions are (`steps.alignment`), whether or not the graph has it. So *the graph says otherwise* is told
from *nobody asked that*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from clew.claims.claim_values import ClaimedValue
from clew.graph.graph import Graph
from clew.reading.rules.comparison import Comparison, Span
from clew.reading.rules.english import FORMER
from clew.reading.rules.readings import USUAL, Reader
from clew.text.lexicon import CLASSES

Float = NDArray[np.float64]
Int = NDArray[np.int64]

ABSENT = 0.6
"""An edge that the graph does not have.

So that of two readings nearly as good the one that holds is taken.
"""
DETOUR = 0.4
"""A path of two steps of which a word does not name one.

*The capital of X is Y* is not said of the capital of a neighbour of X.
"""
FARTHER = 0.9
"""Factor for words that are not right before the later of the two things."""
PLACED = frozenset("located situated found lies lying lie based origin stands standing".split())
"""Words that say no more than that something is at, or from, a place."""
WITHIN = frozenset(
    "in within inside part contains contained containing contain belongs broader narrower".split()
)
"""Words of relations that hold of what is further in, or out, too."""
PERHAPS = 0.8
"""How far what is of no known class may be a place."""
MOST_STEPS = 10
"""Steps at either end that are tried in paths of two."""
MOST_MIDDLES = 5_000
"""Nodes in the middle of a path that are looked at."""
SLACK = 3.0
COUNTED = 0.4
"""How well the noun after a number must name what a step leads to."""


@dataclass(frozen=True, slots=True)
class Item:
    """Something that a claim is about: an entity, a value (then `entity` is -1), or something unnamed (both).

    `optional`: the words may also be just words; `cost` of taking them for this entity.
    """

    start: int
    stop: int
    text: str
    entity: int = -1
    value: ClaimedValue | None = None
    cost: float = 0.0
    optional: bool = False

    @property
    def unnamed(self) -> bool:
        """Whether it is what a pronoun or an indefinite stands for."""
        return self.entity < 0 and self.value is None


@dataclass(frozen=True, slots=True)
class Edge:
    """A path of steps (see `graph.schema`) from one item to another.

    `triples` if the graph has it, else None.

    `named` is the least evidence of the claim's words for one of the steps; `base` the cost without that of
    words that are left unexplained. `counted`: the second item is the number of nodes that the step leads
    to.
    """

    first: int
    second: int
    steps: tuple[int, ...]
    cost: float
    named: float
    triples: tuple[int, ...] | None
    base: float = 0.0
    counted: bool = False


@dataclass(frozen=True, eq=False)
class Scene:
    """A claim's items in the order of the text, and its words compared with the graph."""

    reader: Reader
    comparison: Comparison
    items: tuple[Item, ...]
    free: frozenset[int]

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self.reader.graph

    def words(self, start: int, stop: int) -> list[int]:
        """Rows of the words in [start, stop) that are no part of an item."""
        return [
            row
            for row, w in enumerate(self.comparison.words)
            if start <= w.start < stop
            and w.start not in self.free
            and not any(i.start < w.stop and w.start < i.stop for i in self.items)
        ]

    def near(self, at: int) -> list[int]:
        """Words right before item `at`; of the last item also those that follow."""
        items = self.items
        rows = self.words(items[at - 1].stop if at else 0, items[at].start)
        if at == len(items) - 1:
            rows += self.words(items[at].stop, len(self.comparison.question.text))
        return rows

    def naming(self, at: int) -> list[int]:
        """Words that may name an edge at item `at`: those near to it.

        Where there are none, those of the gap before (*born in X on Y*).
        """
        for before in range(at, -1, -1):
            rows = self.near(before)
            if rows:
                return rows
        return []

    def evidence(self, near: Sequence[int]) -> Float:
        """[S]: how far the words name each step; those that are near count in full."""
        rows = self.words(0, len(self.comparison.question.text))
        if not rows:
            return np.zeros(len(self.reader.fixed))
        factor = np.where(np.isin(rows, near), 1.0, FARTHER)
        return (factor[:, None] * self.comparison.step[rows]).max(axis=0)

    def told(self, rows: Sequence[int]) -> Float:
        """[W, S]: how far each step or a node at its ends explains each word.

        *located* and the like any place.
        """
        rows = list(rows)
        covers = np.maximum(self.comparison.cover[rows], 0.9 * self.comparison.node[rows])
        covers = np.maximum(covers, 0.9 * self.comparison.kind[rows])
        placed = np.array([self.comparison.words[r].norm in PLACED for r in rows], bool)
        if not placed.any():
            return covers
        classes = self.reader.vocabulary.classes
        places = np.maximum(classes[:, CLASSES.index("location")], PERHAPS * (1 - classes.max(axis=1)))
        where = np.maximum(places, places[np.arange(len(places)) ^ 1])
        return np.where(placed[:, None], np.maximum(covers, where[None]), covers)

    def open_cost(self, steps: Sequence[int]) -> float:
        """Cost of all the claim's words that none of some steps explains."""
        rows = self.words(0, len(self.comparison.question.text))
        if not rows:
            return 0.0
        told = self.told(rows)[:, list(steps)].max(axis=1) if steps else np.zeros(len(rows))
        return float((self.comparison.weight[rows] * (1 - told)).sum())


def starts_of(reader: Reader, item: Item) -> Float:
    """[S]: cost of each first step from an item, infinite where it cannot be.

    Steps that it has, or that others have.
    """
    start = np.full(len(reader.fixed), np.inf)
    weights = reader.weights
    if item.value is not None:
        shares = np.zeros(len(start))
        if item.value.numbers is not None:
            shares = np.maximum(shares, reader.schema.numbers)
        if item.value.dates is not None:
            shares = np.maximum(shares, reader.schema.dates)
        start[(shares > 0.2) & (np.arange(len(start)) % 2 == 1)] = weights.step
        return start
    ends = reader.ends_of(item.entity)
    if ends:
        kind = reader.schema.cooccur[ends] / np.maximum(reader.schema.nodes[ends], 1)[:, None]
        start[kind.max(axis=0) >= USUAL] = weights.step + weights.absent
    start[ends] = weights.step
    return start


def edges_between(scene: Scene, first: int, second: int) -> list[Edge]:
    """Edges from one item to a later one, cheapest first; none of them is sure to hold."""
    a, b = scene.items[first], scene.items[second]
    if a.entity < 0:
        return [turned(e) for e in _from(scene, second, first)] if b.entity >= 0 else []
    return _from(scene, first, second)


def turned(edge: Edge) -> Edge:
    """The same edge from its other item."""
    steps = tuple(s ^ 1 for s in reversed(edge.steps))
    triples = None if edge.triples is None else tuple(reversed(edge.triples))
    return replace(edge, first=edge.second, second=edge.first, steps=steps, triples=triples)


def _from(scene: Scene, first: int, second: int) -> list[Edge]:
    """Edges that start at an entity."""
    reader, weights = scene.reader, scene.reader.weights
    a, b = scene.items[first], scene.items[second]
    later = max(first, second)
    near = scene.near(later)
    evidence = scene.evidence(scene.naming(later))
    told = scene.told(near)
    weight = scene.comparison.weight[near]
    begin = reader.charged(scene.comparison, Span(a.start, a.stop), starts_of(reader, a))
    arrive = reader.either_way(starts_of(reader, b))[np.arange(len(begin)) ^ 1]
    if b.value is not None:
        evidence = np.maximum(evidence, _measured(reader, b.value))
    silent = weights.step_evidence * (1 - evidence)
    if _in_present(scene):
        begin = begin + np.repeat(np.where(reader.vocabulary.past, ABSENT, 0.0), 2)
    edges: list[Edge] = []

    def add(steps: tuple[int, ...], cost: float) -> None:
        open_ = float((weight * (1 - told[:, list(steps)].max(axis=1))).sum()) if len(near) else 0.0
        named = float(min(evidence[s] for s in steps))
        edges.append(Edge(first, second, steps, cost + open_, named, None, cost))

    single = begin + np.where(np.isfinite(arrive), np.maximum(arrive - weights.step, 0.0), np.inf)
    both = np.isfinite(begin) & np.isfinite(arrive)
    for step in np.flatnonzero(both):
        add((int(step),), float(single[step] + silent[step]))
    valued = reader.schema.numbers + reader.schema.dates > 0.5
    valued = valued[np.arange(len(begin)) ^ 1]
    places = _within(reader)
    firsts = _best(begin + silent, MOST_STEPS)
    lasts = _best(arrive + silent, MOST_STEPS)
    share = any(w.share for w in scene.comparison.words)
    for s in firsts:
        for t in lasts:
            if not np.isfinite(reader.follow[s, t]) or (valued[s] and not share):
                continue
            if s == t and not share and not places[s]:
                continue  # who cites what cites X does not cite X
            if s // 2 == t // 2 and not share and reader.one_way.is_mutual(int(s) // 2):
                continue  # a neighbour's neighbour is no neighbour
            back = bool(reader.backs[s, t])
            cost = float(begin[s] + silent[s] + reader.follow[s, t] + max(arrive[t] - weights.step, 0.0))
            cost += (0.0 if share else weights.plain_return) if back else float(silent[t])
            if not back and not share:
                cost += DETOUR * (1 - float(min(evidence[s], evidence[t])))
            add((s, t), cost)
    held = _held(scene, a, b, edges)
    return sorted([*held, *_counts(scene, first, second, begin + silent)], key=_order) if b.value else held


def _in_present(scene: Scene) -> bool:
    """Whether a claim is said of now (*plays for*), so that a relation of the past does not tell."""
    lexicon = scene.reader.vocabulary.lexicon
    norms = [w.norm for w in scene.comparison.question.words]
    if FORMER & set(norms):
        return False
    return any(n in ("is", "are") or (n.endswith("s") and lexicon.verb(n)) for n in norms)


def _within(reader: Reader) -> NDArray[np.bool_]:
    """Bool [S]: steps of relations by which a thing is within another, as places and parts are."""
    vocabulary = reader.vocabulary
    place = vocabulary.classes[:, CLASSES.index("location")] >= 0.5
    inside = np.repeat([bool(WITHIN & set(label)) for label in vocabulary.labels], 2)
    return inside | place | place[np.arange(len(place)) ^ 1]


def _counts(scene: Scene, first: int, second: int, costs: Float) -> list[Edge]:
    """Edges that say how many nodes a step leads to (*directed at least five films*)."""
    a, b = scene.items[first], scene.items[second]
    value = b.value
    after = [r for r in scene.words(b.stop, len(scene.comparison.question.text))][:1]
    if value is None or value.numbers is None or value.unit or value.exact is None or not after:
        return []
    if value.exact != round(value.exact) or scene.comparison.words[after[0]].start > b.stop + 2:
        return []
    fits = scene.comparison.node[after[0]] * (scene.reader.schema.numbers[np.arange(len(costs)) ^ 1] < 0.5)
    evidence = scene.evidence(scene.naming(second))
    edges: list[Edge] = []
    for step in np.flatnonzero((fits >= COUNTED) & np.isfinite(costs)):
        reached = walk(scene.graph, a.entity, int(step))
        holds = value.numbers.hold(len(reached)) and len(reached) > 0
        triples = tuple(triple_of(scene.graph, a.entity, int(step), int(n)) for n in reached)
        cost = float(costs[step] + (1 - fits[step]) + (0.0 if holds else ABSENT))
        shown = triples if holds else None
        edges.append(Edge(first, second, (int(step),), cost, float(evidence[step]), shown, cost, True))
    return edges


def _measured(reader: Reader, value: ClaimedValue) -> Float:
    """[S]: 1 for relations whose name has a unit of what the value's unit measures, in both directions."""
    same = [value.measures(label) for label in reader.vocabulary.labels]
    return np.repeat(np.array(same, np.float64), 2)


def _best(costs: Float, count: int) -> list[int]:
    order = np.argsort(costs, kind="stable")[:count]
    return [int(s) for s in order if np.isfinite(costs[s])]


def _held(scene: Scene, a: Item, b: Item, edges: list[Edge]) -> list[Edge]:
    """The cheapest edges with their triples, those that do not hold charged for it."""
    edges.sort(key=_order)
    kept: list[Edge] = []
    for edge in edges:
        if edge.cost > edges[0].cost + SLACK:
            break
        triples = proof(scene.reader, a.entity, edge.steps, b)
        extra = ABSENT if triples is None else 0.0
        kept.append(replace(edge, triples=triples, cost=edge.cost + extra, base=edge.base + extra))
    return sorted(kept, key=_order)


def _order(edge: Edge) -> tuple[float, int, tuple[int, ...]]:
    return (edge.cost, len(edge.steps), edge.steps)


def walk(graph: Graph, node: int, step: int) -> Int:
    """The nodes to which a step leads, ascending."""
    side = graph.out if step % 2 == 0 else graph.into
    low, high = side.relation_span(node, step // 2)
    return side.neighbour[low:high].astype(np.int64)


def triple_of(graph: Graph, node: int, step: int, to: int) -> int:
    """Id of the triple that a step takes."""
    return graph.find_triple(node, step // 2, to) if step % 2 == 0 else graph.find_triple(to, step // 2, node)


def values_that_hold(reader: Reader, nodes: Int, value: ClaimedValue, relation: int) -> Int:
    """Those of some nodes that are a claimed value of a relation, in the relation's own unit."""
    values, factor = reader.graph.values, value.factor(reader.vocabulary.labels[relation])
    chosen = [n for n in nodes if value.holds(int(values.kind[n]), float(values.value[n]), factor)]
    return np.array(chosen, np.int64)


def ends_at(reader: Reader, nodes: Int, item: Item, relation: int) -> Int:
    """Those of some nodes that are an item."""
    if item.value is not None:
        return values_that_hold(reader, nodes, item.value, relation)
    return nodes if item.entity < 0 else nodes[nodes == item.entity]


def proof(reader: Reader, node: int, steps: tuple[int, ...], item: Item) -> tuple[int, ...] | None:
    """Triples of a path from `node` by `steps` to an item, None if the graph has none."""
    graph = reader.graph
    reached = walk(graph, node, steps[0])
    if len(steps) == 1:
        found = ends_at(reader, reached, item, steps[0] // 2)
        return (triple_of(graph, node, steps[0], int(found[0])),) if len(found) else None
    if item.entity >= 0:
        middles = np.intersect1d(reached, walk(graph, item.entity, steps[1] ^ 1))
    else:
        middles = reached[:MOST_MIDDLES]
    for middle in middles:
        if middle in (node, item.entity):
            continue
        last = ends_at(reader, walk(graph, int(middle), steps[1]), item, steps[1] // 2)
        if len(last):
            first = triple_of(graph, node, steps[0], int(middle))
            return first, triple_of(graph, int(middle), steps[1], int(last[0]))
    return None

"""Cut a claim into parts: the cheapest tree of edges that joins all it names.

With something unnamed where it says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice, product

import numpy as np

from clew.claims.claim_edges import (
    ABSENT,
    Edge,
    Int,
    Item,
    Scene,
    edges_between,
    ends_at,
    starts_of,
    triple_of,
    values_that_hold,
    walk,
)
from clew.claims.claim_values import ClaimedValue

UNNAMED = 1.0
"""Cost of an unnamed thing where the claim does not begin with one."""
APART = 10.0
"""Cost of an item that nothing joins to the others."""
MOST_WAYS = 200
"""Combinations of relations around the unnamed thing that are tried."""
MOST_RELATIONS = 6
CLOSE = 0.6
"""How much dearer relations around the unnamed thing may be than the cheapest.

Where only they hold together.
"""

_LISTING = re.compile(r"\s*(?:,|&|,?\s*\b(?:and|or|nor|as well as)\b)\s*(?:(?:the|a|an)\s+)?", re.IGNORECASE)
_AND = re.compile(r"&|\b(?:and|or|nor|as well as)\b", re.IGNORECASE)
"""What stands between things that are listed, and between the last two."""
_VERB = re.compile(r"\s+(?:is|was|are|were|has|have|had|does|did|will)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Tree:
    """Edges that join all items of `scene`; `unnamed` is the item that the claim does not name, -1 if none.

    The edges at the unnamed item hold together (`joined`) or not at all.
    """

    scene: Scene
    edges: tuple[Edge, ...]
    cost: float
    unnamed: int = -1
    joined: bool = True


def best_tree(scene: Scene, *, about_unknown: bool) -> Tree:
    """The cheapest tree, with an unnamed thing if the claim begins with one or that is cheaper."""
    plain = _plain(scene)
    if not about_unknown and (len(scene.items) < 2 or all(e.triples is not None for e in plain.edges)):
        return plain
    unnamed = _with_unnamed(scene, 0.0 if about_unknown else UNNAMED)
    if about_unknown:
        return unnamed
    return unnamed if unnamed.joined and unnamed.cost < plain.cost else plain


def _plain(scene: Scene) -> Tree:
    count = len(scene.items)
    choices = _choices(scene, count, 2)
    edges = _spanning(scene, range(count), choices)
    missing = count - 1 - len(edges)
    edges = [e for e in edges if e.triples is not None or not _joins_clauses(scene, e, edges)]
    return Tree(scene, tuple(edges), _total(scene, edges) + APART * max(missing, 0))


def lists_of(scene: Scene) -> list[list[int]]:
    """Items that the claim lists side by side (*A, B and C*); none where it names nothing else.

    What it says of them it says of each, not of one and another.
    """
    text, items = scene.comparison.question.text, scene.items
    runs: list[list[int]] = [[0]] if items else []
    for at in range(1, len(items)):
        gap = text[items[at - 1].stop : items[at].start]
        if _LISTING.fullmatch(gap):
            runs[-1].append(at)
        else:
            runs.append([at])
    return [r for r in runs if 1 < len(r) < len(items) and _is_list(scene, r)]


def _is_list(scene: Scene, run: Sequence[int]) -> bool:
    """Whether an *and* stands before the last of a run, which begins no clause of its own (*and B is …*)."""
    text, (before, last) = scene.comparison.question.text, (scene.items[i] for i in run[-2:])
    own_clause = run[0] > 0 and _VERB.match(text, last.stop)
    return bool(_AND.search(text[before.stop : last.start])) and not own_clause


def _joins_clauses(scene: Scene, edge: Edge, edges: Sequence[Edge]) -> bool:
    """Whether an edge only joins two clauses that have edges of their own (*A is … B and C is … D*)."""
    text, items = scene.comparison.question.text, scene.items
    low, high = sorted((edge.first, edge.second))
    for at in range(low + 1, high + 1):
        begins = _AND.search(text, items[at - 1].stop, items[at].start) and _VERB.match(text, items[at].stop)
        others = [e for e in edges if e is not edge]
        before = any(max(e.first, e.second) < at for e in others)
        after = any(min(e.first, e.second) >= at for e in others)
        if begins and before and after:
            return True
    return False


def _choices(scene: Scene, count: int, longest: int) -> dict[tuple[int, int], Edge]:
    """The edge of every pair of the first `count` items: its cheapest path, of at most `longest` steps.

    Things that are listed have the same path to a third, the one that costs least for all of them.
    """
    lists = lists_of(scene)
    side_by_side = {pair for run in lists for pair in combinations(run, 2)}
    found: dict[tuple[int, int], list[Edge]] = {}
    for pair in combinations(range(count), 2):
        edges = [] if pair in side_by_side else edges_between(scene, *pair)
        edges = [e for e in edges if len(e.steps) <= longest]
        if edges:
            found[pair] = edges
    for run in lists:
        for other in set(range(count)) - set(run):
            pairs = [(min(i, other), max(i, other)) for i in run]
            _go_alike(found, [p for p in pairs if p in found], other)
    return {pair: edges[0] for pair, edges in found.items()}


def _go_alike(found: dict[tuple[int, int], list[Edge]], pairs: Sequence[tuple[int, int]], other: int) -> None:
    """Put first, for each pair with `other`, the path that all of them have and that costs least in all."""
    paths = [{_seen_from(other, e): e for e in reversed(found[p])} for p in pairs]
    common = [p for p in paths[0] if all(p in more for more in paths[1:])] if paths else []
    if len(paths) < 2 or not common:
        return
    best = min(common, key=lambda p: (sum(more[p].cost for more in paths), len(p), p))
    for pair, more in zip(pairs, paths, strict=True):
        found[pair].insert(0, more[best])


def _seen_from(item: int, edge: Edge) -> tuple[int, ...]:
    """The steps of an edge from one of its items."""
    return edge.steps if edge.first == item else tuple(s ^ 1 for s in reversed(edge.steps))


def _total(scene: Scene, edges: Sequence[Edge]) -> float:
    """Cost of a tree: its edges, its items, and the words that none of its edges explains.

    Without an edge it costs what the cheapest relation of its item does.
    """
    items = sum(i.cost for i in scene.items)
    if edges or not scene.items:
        return items + sum(e.base for e in edges) + scene.open_cost([s for e in edges for s in e.steps])
    if scene.items[0].entity < 0:
        return items + scene.open_cost(()) + APART
    ends = scene.reader.ends_of(scene.items[0].entity)
    evidence = scene.evidence(scene.near(0))
    weights = scene.reader.weights
    alone = [weights.step + weights.step_evidence * (1 - evidence[s]) + scene.open_cost((s,)) for s in ends]
    return items + min(alone, default=scene.open_cost(()) + ABSENT)


def _spanning(scene: Scene, nodes: Sequence[int], choices: dict[tuple[int, int], Edge]) -> list[Edge]:
    """Kruskal's spanning tree of the cheapest edges.

    A value is said of one thing, or of things that are listed; of others only where nothing else joins them.
    """
    parent = {n: n for n in nodes}

    def root(node: int) -> int:
        while parent[node] != node:
            node = parent[node]
        return node

    listed = {i: at for at, run in enumerate(lists_of(scene)) for i in run}
    chosen: list[Edge] = []
    ranked = sorted(choices.items(), key=lambda c: (c[1].cost, c[0]))
    for strict in (True, False):
        for (a, b), edge in ranked:
            if root(a) == root(b) or (strict and _is_shared(scene, edge, chosen, listed)):
                continue
            parent[root(a)] = root(b)
            chosen.append(edge)
    return sorted(chosen, key=lambda e: (max(e.first, e.second), min(e.first, e.second)))


def _is_shared(scene: Scene, edge: Edge, chosen: Sequence[Edge], listed: Mapping[int, int]) -> bool:
    """Whether an edge says a value of another thing than its first, and the two are not listed together."""
    for value, thing in ((edge.first, edge.second), (edge.second, edge.first)):
        if scene.items[value].value is None:
            continue
        others = [e.second if e.first == value else e.first for e in chosen if value in (e.first, e.second)]
        if any(listed.get(o, -1) != listed.get(thing, -2) for o in others):
            return True
    return False


def _with_unnamed(scene: Scene, cost: float) -> Tree:
    """A tree with one more item, before all others, that is something unnamed."""
    text = scene.comparison.question.text
    unnamed = Item(len(text), len(text), "")
    items = (*scene.items, unnamed)
    wider = replace(scene, items=items)
    at = len(items) - 1
    ways = {i: _ways(scene, i, at) for i in range(at)}
    # What is unnamed is one thing: named ones are not joined through another.
    choices = {(i, at): w[0] for i, w in ways.items() if w} | _choices(wider, at, 1)
    edges = _spanning(wider, range(at + 1), choices)
    star = [e.first for e in edges if e.second == at]
    others = [e for e in edges if e.second != at]
    held = _join(wider, star, ways)
    best = [ways[i][0] for i in star]
    around = best if held is None else held
    total = cost + _total(scene, [*others, *around]) + (ABSENT * len(star) if held is None else 0.0)
    total += APART * (at - len(others) - len(around))
    tree = sorted((*others, *around), key=lambda e: (e.first, e.second))
    return Tree(wider, tuple(tree), total, at, held is not None)


def _ways(scene: Scene, item: int, unnamed: int) -> list[Edge]:
    """Single steps from an item to the unnamed thing, cheapest first."""
    reader, target = scene.reader, scene.items[item]
    near = scene.near(item)
    evidence, told = scene.evidence(scene.naming(item)), scene.told(near)
    if target.value is not None:
        arrive = starts_of(reader, target)
    else:
        arrive = np.full(len(reader.fixed), np.inf)
        arrive[reader.ends_of(target.entity)] = reader.weights.step
    # The words name the step that leads to the item; it is walked from the item.
    steps = np.flatnonzero(np.isfinite(arrive))
    silent = reader.weights.step_evidence * (1 - evidence)
    open_ = scene.comparison.weight[near] @ (1 - told) if near else np.zeros(len(arrive))
    back = np.arange(len(arrive)) ^ 1
    base = arrive + silent[back]
    costs = base + open_[back]
    order = steps[np.argsort(costs[steps], kind="stable")][:MOST_RELATIONS]
    return [
        Edge(item, unnamed, (int(s),), float(costs[s]), float(evidence[s ^ 1]), None, float(base[s]))
        for s in order
    ]


def _join(scene: Scene, star: Sequence[int], ways: dict[int, list[Edge]]) -> list[Edge] | None:
    """The cheapest edges around the unnamed thing that hold together for one node.

    None if no close ones do.
    """
    if not star:
        return []
    least = sum(ways[i][0].cost for i in star)
    combinations = sorted(
        islice(product(*(ways[i] for i in star)), MOST_WAYS * 10), key=lambda c: sum(e.cost for e in c)
    )[:MOST_WAYS]
    taken = {i.entity for i in scene.items}
    for chosen in combinations:
        if sum(e.cost for e in chosen) > least + CLOSE * len(star):
            break
        common: Int | None = None
        for edge in chosen:
            nodes = _around(scene, edge)
            common = nodes if common is None else np.intersect1d(common, nodes)
        found = [int(n) for n in common if n not in taken] if common is not None else []
        if found:
            return [replace(e, triples=_proof(scene, e, found[0])) for e in chosen]
    return None


def _around(scene: Scene, edge: Edge) -> Int:
    """The nodes to which an edge may lead from its item."""
    item, step, graph = scene.items[edge.first], edge.steps[0], scene.graph
    if item.value is None:
        return np.unique(walk(graph, item.entity, step))
    nodes = [walk(graph, int(n), step) for n in _value_nodes(scene, item, step // 2)]
    return np.unique(np.concatenate(nodes)) if nodes else np.zeros(0, np.int64)


def _value_nodes(scene: Scene, item: Item, relation: int) -> Int:
    values = scene.graph.values
    return values_that_hold(
        scene.reader, np.flatnonzero(values.kind).astype(np.int64), _valued(item), relation
    )


def _valued(item: Item) -> ClaimedValue:
    if item.value is None:
        raise ValueError("the item is no value")
    return item.value


def _proof(scene: Scene, edge: Edge, node: int) -> tuple[int, ...]:
    """The triple between an item and the node that the unnamed thing is."""
    back = edge.steps[0] ^ 1
    item = scene.items[edge.first]
    ends = ends_at(scene.reader, walk(scene.graph, node, back), item, back // 2)
    return (triple_of(scene.graph, node, back, int(ends[0])),)


def variants(items: Sequence[Sequence[Item]], most: int = 24) -> Iterator[tuple[Item, ...]]:
    """Ways of taking every item for one of its entities, or, where it is optional, for just words.

    Likeliest first.
    """
    choices: list[list[Item | None]] = [[*i, None] if i[0].optional else [*i] for i in items]
    for chosen in islice(product(*choices), most):
        yield tuple(i for i in chosen if i is not None)


DROPPED = 0.6
"""Cost of taking what may be a name for just words."""

"""The triples that prove a member of a set, and the pattern that a query is, where it is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

import numpy as np

from clew.graph.graph import Graph
from clew.graph.steps import Step, edge_of, is_backward, opposite, relation_of, step_of
from clew.query.execute import Executor, Nodes, against, distinct, intersection, stands
from clew.query.tree import (
    Amount,
    Anchor,
    Both,
    Compared,
    Counted,
    Either,
    Extreme,
    OfType,
    Part,
    Qualified,
    Query,
    Related,
    Value,
    Walk,
    Without,
    parts_of,
)
from clew.types import Pattern, PatternEdge, PatternNode

MOST_EDGES_CITED = 50
"""Edges that are cited where a number of edges is the reason."""
FEW_COMPARED = 3
"""So many things that were named to be compared are cited, and facts beside one that is not there."""


def prove(executor: Executor, part: Part, member: int) -> tuple[int, ...]:
    """Ids of the triples that show why `member` is in a set, in the order of the path; each once."""
    return tuple(dict.fromkeys(_prove(executor, part, member)))


def _prove(executor: Executor, part: Part, member: int) -> list[int]:
    match part:
        case Anchor(_, _):
            return []
        case OfType(type_, end):
            return [] if type_ >= 0 else _edges(executor, member, end, 1)
        case Walk(source, step):
            before = _before(executor, source, step, member)
            return [*_prove(executor, source, before), triple_of(executor.graph, before, step, member)]
        case Qualified(source, step, conditions):
            sources = executor.members(source)
            place, reached = executor.qualified(sources, step, conditions)
            before = int(sources[place[reached == member][0]])
            return [*_prove(executor, source, before), triple_of(executor.graph, before, step, member)]
        case Related(source, step, how, targets):
            found = _neighbours(executor, member, step)
            shown = found if how == "only" else intersection(distinct(found), executor.members(targets))
            edges = [triple_of(executor.graph, member, step, int(n)) for n in shown[:MOST_EDGES_CITED]]
            return [*_prove(executor, source, member), *edges]
        case Both(left, right):
            return [*_prove(executor, left, member), *_prove(executor, right, member)]
        case Either(left, right):
            inside = bool(np.isin(member, executor.members(left)))
            return _prove(executor, left if inside else right, member)
        case Without(left, right):
            return [*_prove(executor, left, member), *recorded_instead(executor, right, member)]
        case Counted(source, step):
            return [*_prove(executor, source, member), *_counted(executor, member, step, part.among)]
        case Compared(source, steps, _, _):
            return [*_prove(executor, source, member), *_value_path(executor, part, member, steps)]
        case Extreme(source):
            return [*_prove(executor, source, member), *_ranked_by(executor, part, member)]


def _ranked_by(executor: Executor, part: Extreme, member: int) -> list[int]:
    """The edges or the value for which a member was chosen; of things that were named, the values of all."""
    if part.counted:
        return _counted(executor, member, part.steps[-1], part.among)
    if part.summed:
        return _added_up(executor, member, part.steps)
    if part.key:
        edges = executor.on_edges(part.source, part.key)
        numbers = np.where(edges.reached == member, edges.numbers if part.largest else -edges.numbers, np.nan)
        best = int(edges.statements[np.nanargmax(numbers)])
        return [executor.graph.find_triple(*executor.graph.edge_properties.triples[best].tolist())]
    compared = (
        executor.members(part.source)[:FEW_COMPARED].tolist() if isinstance(part.source, Either) else []
    )
    return [t for node in (member, *compared) for t in _value_path(executor, part, node, part.steps)]


def part_of_path(graph: Graph, triples: Sequence[int], starts: Mapping[int, int], end: int) -> Part | None:
    """What paths lead to from some of `starts`, nodes with their mentions; None where triples are no path."""
    parts, node = list[Part](), end
    for head, relation, tail in map(graph.triple, triples):
        if node == end:
            node = head if head in starts else tail
            parts.append(Anchor(node, starts.get(node, -1)))
        if node not in (head, tail) or parts[-1] == Anchor(node):
            return None
        parts[-1], node = Walk(parts[-1], step_of(relation, node != head)), tail if node == head else head
    return reduce(Both, parts) if parts and node == end else None


def leads_back(part: Part) -> bool:
    """Whether a step goes back along the relation of the one before it: *of the same sex as*."""
    walks = (inner for inner in parts_of(part) if isinstance(inner, Walk))
    return any(isinstance(w.source, Walk) and w.step == opposite(w.source.step) for w in walks)


def recorded_instead(executor: Executor, part: Part, member: int) -> list[int]:
    """What a member has by the last step of a set that it is not in."""
    return _edges(executor, member, opposite(part.step), FEW_COMPARED) if isinstance(part, Walk) else []


def triple_of(graph: Graph, node: int, step: Step, neighbour: int) -> int:
    """The id of the triple by which a step leads from one node to another."""
    return graph.find_triple(*edge_of(node, step, neighbour))


def _before(executor: Executor, source: Part, step: Step, member: int) -> int:
    """The first member of a set from which a step leads to `member`."""
    back = _neighbours(executor, member, opposite(step))
    smaller, larger = sorted((back, executor.members(source)), key=len)
    places = np.minimum(larger.searchsorted(smaller), len(larger) - 1)
    return int(smaller[larger[places] == smaller][0])


def _counted(executor: Executor, member: int, step: Step, among: Part | None) -> list[int]:
    """The edges that are counted, each with why its other end counts."""
    if among is None:
        return _edges(executor, member, step, MOST_EDGES_CITED)
    neighbours, proof = distinct(_neighbours(executor, member, step)), list[int]()
    for node in intersection(neighbours, executor.members(among))[:MOST_EDGES_CITED].tolist():
        proof += [triple_of(executor.graph, member, step, node), *_prove(executor, among, node)]
    return proof


def _added_up(executor: Executor, node: int, steps: tuple[Step, ...]) -> list[int]:
    """The edges on all ways along some steps, each before what it leads to."""
    proof = list[int]()
    for other in distinct(_neighbours(executor, node, steps[0]))[:MOST_EDGES_CITED].tolist() if steps else ():
        proof += [triple_of(executor.graph, node, steps[0], other), *_added_up(executor, other, steps[1:])]
    return proof


def _edges(executor: Executor, member: int, step: Step, most: int) -> list[int]:
    neighbours = _neighbours(executor, member, step)[:most].tolist()
    return [triple_of(executor.graph, member, step, node) for node in neighbours]


def _neighbours(executor: Executor, member: int, step: Step) -> Nodes:
    return executor.edges(np.array([member], np.int64), step)[1]


def _value_path(
    executor: Executor, part: Compared | Extreme, member: int, steps: tuple[Step, ...]
) -> list[int]:
    """The triples from a member to the value for which it was chosen; of a value itself those it beats."""
    if len(steps) > 1 or (not steps and isinstance(part, Extreme)):
        return []
    step = steps[0] if steps else -1
    node = np.array([member], np.int64)
    _, reached, numbers = executor.values(node, steps)
    if isinstance(part, Extreme):
        best = [int(numbers.argmax() if part.largest else numbers.argmin())] if len(reached) else []
        return [triple_of(executor.graph, member, step, int(reached[at])) for at in best]
    value = part.value
    if isinstance(value, Amount) and value.ask == "own":
        _, *ends = executor.own(node, steps, part.sign, value.way)
        ways = zip((steps, value.way), ends, strict=True)
        single = [(way[0], int(of[0])) for way, of in ways if len(way) == 1 and len(of)]
        return [triple_of(executor.graph, member, *edge) for edge in single]
    if not len(reached):
        return []
    bound_proof: list[int] = []
    if isinstance(value, Amount):
        keep = np.ones(len(numbers), np.bool_)
        some = executor.members(value.part)[:FEW_COMPARED].tolist()
        bound_proof = [t for node in some for t in _prove(executor, value.part, node)]
    elif isinstance(value, Value):
        keep = against(numbers, part.sign, value, value.date)
    else:
        _, others, other_numbers = executor.values(executor.members(value), ())
        best = int(other_numbers.argmax() if part.sign[0] == ">" else other_numbers.argmin())
        keep = stands(numbers, part.sign, float(other_numbers[best]))
        bound_proof = _prove(executor, value, int(others[best]))
    values = reached[keep] if keep.any() else reached
    if step < 0:
        return bound_proof
    return [triple_of(executor.graph, member, step, int(values[0])), *bound_proof]


def pattern_of(query: Query, graph: Graph) -> Pattern | None:
    """The pattern of a query that is nothing but entities, steps, types and joins; None for others."""
    if query.ask not in ("list", "count", "yes") or query.by:
        return None
    nodes: list[PatternNode] = []
    edges: list[PatternEdge] = []
    answer = _lay_out(query.part, graph, nodes, edges)
    if answer is None or not edges:
        return None
    return Pattern(tuple(nodes), tuple(edges), None if query.ask == "yes" else answer)


def _lay_out(
    part: Part, graph: Graph, nodes: list[PatternNode], edges: list[PatternEdge], at: int | None = None
) -> int | None:
    """Add what a set needs to a pattern; the place of its node, None where a pattern cannot say it."""
    match part:
        case Anchor(node, _) if at is None:
            nodes.append(PatternNode(graph.label(node), known=True, entity=node))
            return len(nodes) - 1
        case Walk(source, step):
            before = _lay_out(source, graph, nodes, edges)
            if before is None:
                return None
            if at is None:
                number = 1 + sum(not node.known for node in nodes)
                nodes.append(PatternNode(f"UNKNOWN {number}", known=False))
                at = len(nodes) - 1
            head, tail = (at, before) if is_backward(step) else (before, at)
            edges.append(PatternEdge(head, graph.relation_labels[relation_of(step)], tail, relation_of(step)))
            return at
        case Anchor(node, _) if at is not None and not nodes[at].known:
            nodes[at] = PatternNode(graph.label(node), known=True, entity=node)
            return at
        case OfType(type_, _) if at is not None and type_ >= 0 and not nodes[at].known:
            name = graph.types.names[type_]
            nodes[at] = PatternNode(f"UNKNOWN {name} {nodes[at].name.split()[-1]}", known=False, type=name)
            return at
        case Both(left, right):
            place = _lay_out(left, graph, nodes, edges, at)
            return None if place is None else _lay_out(right, graph, nodes, edges, place)
        case _:
            return None

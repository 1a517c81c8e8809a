"""A plan, a pattern with operations, executed over all of a graph: answers with the triples that prove them.

Names and relations are found as for the paper's patterns: the best match of each connected part says which
entities and relations are meant, and which way its edges run; all that is as near counts too. From there on
everything is exact: the part is joined over the whole graph, and operations are carried out on the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import Int64
from clew.graph.graph import Graph, ValueKind
from clew.graph.match.distances import Distances
from clew.graph.values import parse_value, year_of
from clew.grounding import answer_entity, cite
from clew.methods.settings import FITTING_GSD
from clew.methods.simgrag.find_subgraphs import (
    MOST_COMBINATIONS,
    Misfit,
    find_subgraphs,
    same_names,
    same_relations,
    unfit,
)
from clew.methods.simgrag.join import FixedEdge, JoinTable, join, stacked
from clew.methods.simgrag.write_pattern import Operation, PatternPlan, counted_name
from clew.text.normalise import normalise
from clew.types import AnswerEntity, Citation, Match, Pattern, PatternEdge, Reason

MOST_CITED = 200
"""Triples that a number cites; the answer says where there are more."""
SURE_NAME = 0.05
"""Distance up to which an entity is what a name says."""
_SIGN = {">": 1, "<": -1}


@dataclass(frozen=True)
class Executed:
    """Entities with proofs, or a value with triples; or `misfit`, why there is neither."""

    answers: tuple[AnswerEntity, ...] = ()
    proofs: tuple[tuple[int, ...], ...] = ()
    complete: bool = True
    notes: tuple[str, ...] = ()
    misfit: Misfit | None = None

    def citations(self, graph: Graph) -> tuple[Citation, ...]:
        """The triples of each answer."""
        pairs = zip(self.answers, self.proofs, strict=True)
        return tuple(cite(graph, answer.entity, proof) for answer, proof in pairs)


@dataclass(frozen=True)
class _Way:
    """Entities of known nodes, by place, and the edges with their relations and directions."""

    entities: dict[int, list[int]]
    edges: tuple[FixedEdge, ...]


class _Lacking(Exception):
    def __init__(self, reason: Reason, detail: str, names: tuple[str, ...] = ()) -> None:
        self.misfit = Misfit(reason, detail, names)


@dataclass(frozen=True)
class PlanExecutor:
    """Carries out plans over one graph."""

    graph: Graph
    distances: Distances
    bound: float = FITTING_GSD

    def run(self, plan: PatternPlan) -> Executed:
        """Execute a plan; what is wrong with its names or shape is in `misfit`."""
        try:
            return self._run(plan)
        except _Lacking as lacking:
            return Executed(misfit=lacking.misfit)

    def _run(self, plan: PatternPlan) -> Executed:
        if not plan.pattern.nodes:
            return Executed(misfit=Misfit("no_relation", "the graph records nothing of what is asked for"))
        asks = any(op.op == "exists" for op in plan.operations)
        try:
            table = self._all_matches(plan.pattern)
        except _Lacking as lacking:
            if not asks or lacking.misfit.reason != "empty_result":
                raise
            table = JoinTable(0)  # all names are there, and nothing of this shape
        initial_table, notes = table, list[str]()
        for at, op in enumerate(plan.operations):
            if op.op in ("count", "sum", "average", "exists") or not table.nodes:
                return self._value(plan, op, table, initial_table, notes)
            if op.op == "or":
                table = self._with_matches(plan, table, plan.operation_patterns[at])
            elif op.op == "without":
                table = self._without_matches(plan, table, plan.operation_patterns[at])
                notes.append("what the graph does not record is taken not to be so")
            else:
                table = self._filtered(plan, op, table)
        return self._entities(plan, table, notes)

    def _entities(self, plan: PatternPlan, table: JoinTable, notes: list[str]) -> Executed:
        answer = self._answer(plan)
        if not table.rows:
            misfit = Misfit("empty_result", "nothing is left of what fits the question")
            return Executed(misfit=misfit, notes=tuple(notes))
        first = _first_rows(table.nodes[answer])
        graph = self.graph
        entities = [int(e) for e in table.nodes[answer][first]]
        answers = tuple(answer_entity(graph, e) for e in entities)
        proofs = tuple(table.proof(int(row)) for row in first)
        return Executed(answers, proofs, table.complete, tuple(dict.fromkeys(notes)))

    def _answer(self, plan: PatternPlan) -> int:
        """The node asked for: the one the plan names, else the last unknown."""
        unknown = [i for i, node in enumerate(plan.pattern.nodes) if not node.known]
        if plan.answer >= 0:
            return plan.answer
        if not unknown:
            raise _Lacking("empty_result", "the model's pattern has no unknown to answer with")
        return unknown[-1]

    def _value(
        self, plan: PatternPlan, op: Operation, table: JoinTable, initial_table: JoinTable, notes: list[str]
    ) -> Executed:
        """A number, or yes and no, with the triples of the rows that it comes from."""
        if not table.nodes or op.op == "exists":
            value, rows = ("yes", table) if table.rows else ("no", initial_table)
            if not rows.rows:
                rows = self._rows_about(plan.pattern)
                notes.append("what the graph does not record is taken not to be so")
        elif op.op == "count":
            place = plan.place(op.node)
            rows = table.take(_first_rows(table.nodes[place]))
            value = str(rows.rows)
        else:
            place = plan.place(op.node)
            # One row for each triple that leads to a value: two things may have the same number.
            places = [i for i, e in enumerate(plan.pattern.edges) if place in (e.head, e.tail)][-1:]
            leading_triples = [table.triples[i] for i in places if i < len(table.triples)]
            rows = table.take(_first_rows(leading_triples[0] if leading_triples else table.nodes[place]))
            numbers = self.graph.values.value[rows.nodes[place]]
            if not len(numbers) or np.isnan(numbers).any():
                raise _Lacking("empty_result", f'"{op.node}" has no numbers to add up')
            value = f"{numbers.sum() if op.op == 'sum' else numbers.mean():.12g}"
        proof = tuple(dict.fromkeys(t for row in range(rows.rows) for t in rows.proof(row)))
        if len(proof) > MOST_CITED:
            notes.append(f"{MOST_CITED} of the {len(proof):,} triples that it comes from are cited")
        answer = AnswerEntity(value, value, 1.0)
        return Executed((answer,), (proof[:MOST_CITED],), rows.complete, tuple(dict.fromkeys(notes)))

    def _rows_about(self, pattern: Pattern) -> JoinTable:
        """Rows that show why *no*: edges of a pattern at its first known node, the other end left open."""
        for edge in pattern.edges:
            for known_place, open_place in ((edge.head, edge.tail), (edge.tail, edge.head)):
                if not pattern.nodes[known_place].known:
                    continue
                opened = replace(pattern.nodes[open_place], name="UNKNOWN 1", known=False, type=None)
                nodes = tuple(opened if i == open_place else node for i, node in enumerate(pattern.nodes))
                table = self._part_table(*_part(Pattern(nodes, (edge,)), {known_place, open_place}))
                if table.rows:
                    return table
        raise _Lacking("empty_result", "it records nothing of what is asked about")

    # Operations on rows

    def _filtered(self, plan: PatternPlan, op: Operation, table: JoinTable) -> JoinTable:
        answer = self._answer(plan)
        if op.op == "keep" and (counted := counted_name(op.node)):
            numbers = _counts(table.nodes[answer], table.nodes[plan.place(counted)])
            return table.take(_passes(numbers, op.test, parse_value(str(op.than))[1]))
        if op.op == "keep":
            return table.take(self._passing(plan, op, table))
        place = plan.place(op.node)
        if op.op in ("most", "fewest"):
            scores = _counts(table.nodes[answer], table.nodes[place])
        else:
            scores = self.graph.values.value[table.nodes[place]]
            table, scores = table.take(~np.isnan(scores)), scores[~np.isnan(scores)]
        if not table.rows:
            return table
        signed = scores if op.op in ("max", "most") else -scores
        mask = signed >= _nth(table.nodes[answer], signed, max(op.first, 1))
        order = np.argsort(-signed[mask], kind="stable")
        return table.take(np.flatnonzero(mask)[order])

    def _passing(self, plan: PatternPlan, op: Operation, table: JoinTable) -> NDArray[np.bool_]:
        """Which rows pass a test on the value of a node: with a number, a date, a name, or another node."""
        values, column = self.graph.values, table.nodes[plan.place(op.node)]
        other_place = plan.place(str(op.than))
        if other_place >= 0:
            right = table.nodes[other_place]
            if op.test in ("=", "!="):
                return (column == right) == (op.test == "=")
            return _passes(values.value[column], op.test, values.value[right])
        kind, target = parse_value(str(op.than))
        if kind == ValueKind.NONE:
            norm = normalise(str(op.than))
            mask = np.array([normalise(self.graph.labels[int(e)]) == norm for e in column], np.bool_)
            return mask if op.test in ("=", "") else ~mask
        numbers = values.value[column].copy()
        if kind == ValueKind.NUMBER:
            # A year against dates: the year in which they lie.
            dates = values.kind[column] == ValueKind.DATE
            numbers[dates] = [year_of(days) for days in numbers[dates]]
        return _passes(numbers, op.test, target)

    def _with_matches(self, plan: PatternPlan, table: JoinTable, second_pattern: Pattern) -> JoinTable:
        """The rows, and those of another whole pattern; only the node asked for is left of both."""
        answer = self._answer(plan)
        names = [normalise(node.name) for node in second_pattern.nodes]
        name = normalise(plan.pattern.nodes[answer].name)
        if name not in names:
            raise _Lacking("empty_result", "the model's other triples do not have the unknown asked for")
        other_table = self._all_matches(second_pattern)
        answer_table = replace(table, nodes={answer: table.nodes[answer]})
        return stacked(
            [answer_table, replace(other_table, nodes={answer: other_table.nodes[names.index(name)]})]
        )

    def _without_matches(self, plan: PatternPlan, table: JoinTable, second_pattern: Pattern) -> JoinTable:
        """The rows for which another pattern has no match with the same things."""
        places = {normalise(node.name): i for i, node in enumerate(plan.pattern.nodes)}
        shift = len(plan.pattern.nodes)
        place_of_node = {
            i: places.get(normalise(n.name), shift + i) for i, n in enumerate(second_pattern.nodes)
        }
        numbered = JoinTable(table.rows, {**table.nodes, -1: np.arange(table.rows)}, (), table.complete)
        ways = self._ways(second_pattern, {i for i, place in place_of_node.items() if place in table.nodes})
        matched = np.zeros(table.rows, np.bool_)
        for way in ways:
            rows = numbered
            for i, entities in way.entities.items():
                if place_of_node[i] not in rows.nodes:
                    rows = rows.with_node(place_of_node[i], entities)
            edges = [FixedEdge(place_of_node[e.head], e.relation, place_of_node[e.tail]) for e in way.edges]
            matched[join(self.graph, rows, edges).nodes[-1]] = True
        return table.take(~matched)

    # Patterns

    def _all_matches(self, pattern: Pattern) -> JoinTable:
        """All matches of a pattern: those of its connected parts, each with each."""
        table = JoinTable()
        for part, places in _parts(pattern):
            table = table.crossed(self._part_table(part, places))
        return table

    def _part_table(self, part: Pattern, places: Sequence[int]) -> JoinTable:
        """The matches of a connected part, or all things of a type, by the places of nodes in the whole."""
        if not part.edges:
            node = part.nodes[0]
            mask = self.distances.allowed(node)
            if mask is None or not mask.any():
                raise _Lacking("no_relation", f'it declares no type like "{node.type or node.name}"')
            return JoinTable().with_node(places[0], np.flatnonzero(mask))
        tables: list[JoinTable] = []
        for way in self._ways(part, set()):
            rows = JoinTable()
            for place, entities in way.entities.items():
                rows = rows.with_node(place, entities)
            tables.append(self._of_types(part, join(self.graph, rows, way.edges)))
        united = stacked(tables)
        return replace(united, nodes={places[p]: column for p, column in united.nodes.items()})

    def _of_types(self, part: Pattern, table: JoinTable) -> JoinTable:
        """The rows whose unknowns are of the types that the pattern says, where any are."""
        for place, node in enumerate(part.nodes):
            mask = self.distances.allowed(node)
            if mask is not None and place in table.nodes:
                fits = mask[table.nodes[place]]
                table = table.take(fits) if fits.any() else table
        return table

    def _ways(self, part: Pattern, bound: set[int]) -> list[_Way]:
        """The ways to fix names, relations and directions; `bound` nodes are known from elsewhere."""
        if bound or not any(node.known for node in part.nodes):
            return [self._nearest_way(part, bound)]
        result = find_subgraphs(self.graph, part, self.distances, 1)
        misfit = unfit(self.graph, part, result, self.distances, self.bound)
        if misfit is not None:
            raise _Lacking(misfit.reason, misfit.detail, misfit.names)
        best = result.matches[0]
        self._require_names(part, best)
        tied_entities = same_names(part, self.distances, best)
        relations = same_relations(self.graph, part, self.distances, best)
        ways = list(islice(product(*relations), MOST_COMBINATIONS))
        entities = {i: tied for i, tied in enumerate(tied_entities) if part.nodes[i].known}
        return [_Way(entities, self._edges(part, way, best)) for way in ways]

    def _require_names(self, part: Pattern, best: Match) -> None:
        """Refuse a match that puts another entity in the place of one that is there by its name."""
        for node, entity in zip(part.nodes, best.nodes, strict=True):
            near = self.distances.node_candidates(node, 64) if node.known else None
            if near is None or near.distances.min(initial=np.inf) > SURE_NAME:
                continue
            if entity not in near.entities[near.distances <= SURE_NAME]:
                raise _Lacking("empty_result", f'it has "{node.name}", but nothing of this shape around it')

    def _edges(self, part: Pattern, relations: Sequence[int], best: Match) -> tuple[FixedEdge, ...]:
        """Edges in the direction of a match; an unknown relation is that of the match."""
        edges: list[FixedEdge] = []
        for edge, triple, relation in zip(part.edges, best.triples, relations, strict=True):
            head, match_relation, _ = self.graph.triple(triple)
            fixed_relation = match_relation if relation < 0 else relation
            turned = head != best.nodes[edge.head]
            ends = (edge.tail, edge.head) if turned else (edge.head, edge.tail)
            edges.append(FixedEdge(ends[0], fixed_relation, ends[1]))
        return tuple(edges)

    def _nearest_way(self, part: Pattern, bound: set[int]) -> _Way:
        """Names and relations each by itself: for parts that nothing anchors, or that others do."""
        entities: dict[int, list[int]] = {}
        for place, node in enumerate(part.nodes):
            if node.known and place not in bound:
                near = self.distances.node_candidates(node, 64)
                least = near.distances.min(initial=np.inf)
                entities[place] = [int(e) for e in near.entities[near.distances <= least + 1e-6]]
        return _Way(entities, tuple(self._fixed_edge(part, edge) for edge in part.edges))

    def _fixed_edge(self, part: Pattern, edge: PatternEdge) -> FixedEdge:
        """The nearest relation of an edge, the way round in which its ends are of the types that are said."""
        if edge.relation is None:
            raise _Lacking("no_relation", "a relation that is unknown needs a name beside it")
        distances = self.distances.relation_distances(edge)
        relation = int(np.argmin(distances)) if len(distances) else -1
        if relation < 0 or distances[relation] > self.bound:
            raise _Lacking("no_relation", f'it has no relation like "{edge.relation}"')
        forward, turned = (edge.head, edge.tail), (edge.tail, edge.head)
        ends = max((forward, turned), key=lambda ends: self._fitting(part, ends, relation))
        return FixedEdge(ends[0], relation, ends[1])

    def _fitting(self, part: Pattern, ends: tuple[int, int], relation: int) -> int:
        """How many triples of a relation have ends of the types that the pattern says; all without types."""
        table = join(self.graph, JoinTable(), [FixedEdge(0, relation, 1)])
        fits = np.ones(table.rows, np.bool_)
        for column, place in enumerate(ends):
            mask = self.distances.allowed(part.nodes[place])
            if mask is not None and mask.any():
                fits &= mask[table.nodes[column]]
        return int(fits.sum())


def _parts(pattern: Pattern) -> list[tuple[Pattern, list[int]]]:
    """The connected parts of a pattern, each with the places of its nodes in the whole."""
    group = list(range(len(pattern.nodes)))
    for _ in pattern.nodes:
        for edge in pattern.edges:
            group[edge.head] = group[edge.tail] = min(group[edge.head], group[edge.tail])
    return [_part(pattern, {i for i, g in enumerate(group) if g == each}) for each in dict.fromkeys(group)]


def _part(pattern: Pattern, places: set[int]) -> tuple[Pattern, list[int]]:
    order = sorted(places)
    edges = tuple(
        replace(e, head=order.index(e.head), tail=order.index(e.tail))
        for e in pattern.edges
        if e.head in places
    )
    return Pattern(tuple(pattern.nodes[p] for p in order), edges), order


def _first_rows(column: Int64) -> NDArray[np.intp]:
    """The first row of each value, in the order of the rows."""
    return np.sort(np.unique(column, return_index=True)[1])


def _counts(groups: Int64, things: Int64) -> NDArray[np.float64]:
    """For each row, how many different things its group has."""
    pairs = np.unique(np.stack([groups, things]), axis=1)
    group_ids, counts = np.unique(pairs[0], return_counts=True)
    return counts[np.searchsorted(group_ids, groups)].astype(np.float64)


def _nth(groups: Int64, scores: NDArray[np.float64], n: int) -> float:
    """The score of the n-th best group, by its largest; of the last where there are fewer."""
    group_ids, group_of_row = np.unique(groups, return_inverse=True)
    best = np.full(len(group_ids), -np.inf)
    np.maximum.at(best, group_of_row, scores)
    return float(np.sort(best)[-min(n, len(best))])


def _passes(left: NDArray[np.float64], test: str, right: NDArray[np.float64] | float) -> NDArray[np.bool_]:
    known = ~np.isnan(left) & ~np.isnan(right)
    if test in ("=", ""):
        return known & (left == right)
    if test == "!=":
        return known & (left != right)
    strict = _SIGN[test[0]] * (left - right) > 0
    return known & (strict | (left == right) if test.endswith("=") else strict)

"""A plan, a pattern with operations, as a query graph: `query/` executes it, and proves what it comes to.

Names and relations are found as for the paper's patterns: the best match of each connected part says which
entities and relations are meant, and which way its edges run; all that is as near counts too. From there on
all is sets. A node stands for a set, seen along the edges of the pattern, and each operation narrows one:

    [film 1, directed by, Nolan], [film 1, length, number 1]; keep number 1 > 120; count film 1
    → count of Compared(Walk(Nolan, directed by⁻¹), (length,), > 120)

A property of an edge stands beside its relation, *delivered to [@kg > 20]*; of an unknown one, [@kg = UNKNOWN
number 1], the edges that lead to one end are compared, ranked, summed or asked for.

What sets cannot say is refused, and the model told: unknowns in a circle (*written and directed by the same
person*), and what is counted for each thing more than one step away.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TypeVar, cast

import numpy as np

from clew.claims.verify import Stated
from clew.graph.graph import ValueKind
from clew.graph.match.patterns import unknown_type
from clew.graph.steps import Step, backward, forward, opposite, relation_of, step_of
from clew.grounding import cite
from clew.index.vectors.entities import IndexDistances
from clew.methods.simgrag.find_subgraphs import (
    FITTING_GSD,
    find_subgraphs,
    same_names,
    same_relations,
    unfit,
)
from clew.methods.simgrag.write_pattern import Misfit, Operation, PatternPlan, counted_name
from clew.query.execute import Executor, OverBudget
from clew.query.notation import by_label
from clew.query.prove import prove
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
from clew.query.values import in_unit_of, value_of
from clew.query.vocabulary import Vocabulary
from clew.reading.answer import DraftAnswer, answer_of
from clew.reading.edge_words import EdgeKeys
from clew.text.normalise import normalise
from clew.types import AnswerEntity, EdgeCondition, Match, Pattern, PatternEdge, PatternNode

T = TypeVar("T")
_RANKING = ("max", "min", "most", "fewest")
_ASKING = ("list", "count", "sum", "average", "difference", "exists")
_DIGITS = re.compile(r"\d+")
SURE_NAME = 0.05
"""Distance up to which an entity is what a name says."""
SILENCE = "what the graph does not record is taken not to be so"


class _Lacking(Exception):
    """The graph lacks what a plan names, or a query graph cannot say it."""

    def __init__(self, misfit: Misfit) -> None:
        self.misfit = misfit


def _cannot(what: str) -> _Lacking:
    return _Lacking(Misfit("empty_result", f"code cannot carry out the model's operations: {what}"))


def _either(parts: Sequence[Part]) -> Part | None:
    return reduce(Either, parts) if parts else None


def _both(left: Part | None, right: Part | None) -> Part | None:
    return Both(left, right) if left is not None and right is not None else left or right


@dataclass
class _Sets:
    """The sets that the nodes of a pattern without circles stand for.

    By place: `entities` of known nodes, `types` of unknown ones, `steps` of edges from head to tail,
    `conditions` on what stands on them; `narrowed` has a node's set after an operation, and when that was.
    """

    executor: Executor
    pattern: Pattern
    entities: dict[int, Part]
    types: dict[int, Part]
    steps: list[tuple[Step, ...]]
    conditions: list[tuple[OnEdge, ...]]
    narrowed: dict[int, tuple[int, Part]] = field(default_factory=dict[int, tuple[int, Part]])

    def narrow(self, place: int, part: Part) -> None:
        """Let a node stand for a part, which says all that was said of the pattern before."""
        self.narrowed[place] = (1 + max((when for when, _ in self.narrowed.values()), default=0), part)

    def at(self, place: int) -> Part:
        """The set of a node."""
        part = self.seen_from(place, -1)
        if part is None:
            raise _cannot(f'nothing says what "{self.pattern.nodes[place].name}" is')
        return part

    def seen_from(self, place: int, edge: int) -> Part | None:
        """The set of a node by what lies beyond it, seen along an edge (-1: all around it); None for any."""
        is_end = place in self.entities and edge >= 0 and place not in self.narrowed
        if is_end and isinstance(self.entities[place], Anchor):
            return self.entities[place]
        when, part = self.narrowed.get(place, (0, None))
        for number, other in self.around(place, edge):
            # Of several that are called alike, what is beside them alone says which: *the Ford of 1961*.
            if (when and not self._is_narrowed(other, number, when)) or (
                is_end and self.around(other, number)
            ):
                continue
            source = self.seen_from(other, number)
            steps = [self.step(number, other, at) for at in range(len(self.steps[number]))]
            if where := self.conditions[number]:
                walks = [Qualified(source or OfType(-1, step), step, where) for step in steps]
            else:
                walks = [OfType(-1, opposite(s)) if source is None else Walk(source, s) for s in steps]
            part = _both(part, _either(walks))
        part = _both(part, self.entities.get(place))
        return self._of_type(place, part, edge)

    def _of_type(self, place: int, part: Part | None, edge: int) -> Part | None:
        """A set with the type that the pattern says, where that leaves out some, and not all."""
        type_ = self.types.get(place)
        if type_ is None or (part is None and edge < 0):
            return part or type_
        ends = () if part else [self.step(edge, place, at) for at in range(len(self.steps[edge]))]
        whole = part or _either([OfType(-1, end) for end in ends]) or type_
        inside = len(self.executor.members(Both(whole, type_)))
        return _both(part, type_) if 0 < inside < len(self.executor.members(whole)) else part

    def _is_narrowed(self, place: int, edge: int, since: int) -> bool:
        """Whether an operation after another one was on a node beyond an edge."""
        if place in self.entities:
            return False
        when, _ = self.narrowed.get(place, (0, None))
        return when > since or any(self._is_narrowed(o, n, since) for n, o in self.around(place, edge))

    def around(self, place: int, but: int = -1) -> list[tuple[int, int]]:
        """The edges at a node with its neighbours, without one edge."""
        edges = enumerate(self.pattern.edges)
        ends = ((n, e.tail if e.head == place else e.head) for n, e in edges if place in (e.head, e.tail))
        return [(number, other) for number, other in ends if number != but]

    def step(self, edge: int, source: int, at: int = 0) -> Step:
        """The step that leads over an edge from one of its ends."""
        step = self.steps[edge][at]
        return step if self.pattern.edges[edge].head == source else opposite(step)

    def owned(self, place: int) -> tuple[int, Part, Step] | None:
        """What has an unknown of one edge as its value: its place, its set, and the step; None for others."""
        around = self.around(place)
        if len(around) != 1 or place in self.entities or place in self.narrowed:
            return None
        edge, owner = around[0]
        step = self.step(edge, owner)
        part = self.seen_from(owner, edge) or OfType(-1, step)
        return (owner, part, step) if len(self.steps[edge]) == 1 and not self.conditions[edge] else None

    def led_to(self, edge: int, at: int, goal: int) -> tuple[int, Part, str]:
        """The end of an edge that is nearer to a goal, its set, and the property of edges to it."""
        head, tail = self.pattern.edges[edge].head, self.pattern.edges[edge].tail
        place = head if head in self.group(goal, edge) or tail in self.entities else tail
        part, key = self.at(place), self.conditions[edge][at].key
        ways = {walk.source for walk in last_walks(part) if len(self.executor.on_edges(walk, key).places)}
        if len(ways) > 1:
            raise _cannot(f'"@{key}" stands on the edges of several triples')
        return place, part, key

    def way(self, place: int, goal: int) -> tuple[Step, ...]:
        """The steps from an unknown to another one."""
        ways: dict[int, tuple[Step, ...]] = {place: ()}
        for source in (stack := [place]):
            for edge, other in self.around(source):
                is_one = len(self.steps[edge]) == 1 and not self.conditions[edge]
                if other not in ways and other not in self.entities and is_one:
                    ways[other] = (*ways[source], self.step(edge, source))
                    stack.append(other)
        if goal == place or goal not in ways:
            raise _cannot('what is said "by" another unknown has to hang together with it')
        return ways[goal]

    def group(self, place: int, but: int = -1) -> set[int]:
        """The unknowns that hang together with one, without one edge."""
        group, stack = set[int](), [place]
        while stack:
            inner = stack.pop()
            if inner not in group and inner not in self.entities:
                group.add(inner)
                stack += [other for _, other in self.around(inner, but)]
        return group

    def roots(self) -> list[tuple[int, ...]]:
        """Nodes from which all edges are seen: one of each group of unknowns, both ends of known ones."""
        roots: dict[tuple[int, ...], None] = {}
        for edge in self.pattern.edges:
            unknown = [end for end in (edge.head, edge.tail) if end not in self.entities]
            roots[(min(self.group(unknown[0])),) if unknown else (edge.tail, edge.head)] = None
        return list(roots) or [(0,)]


@dataclass(frozen=True, slots=True)
class _Done:
    """A plan whose operations are carried out: its sets, the roots of its pattern, and what these were."""

    plan: PatternPlan
    sets: _Sets
    answer: int
    roots: list[tuple[int, ...]]
    before: list[Part]


@dataclass
class PlanQuery:
    """Makes the query graph of a plan, and answers by it."""

    vocabulary: Vocabulary
    distances: IndexDistances

    def __post_init__(self) -> None:
        self.graph = self.vocabulary.graph
        self.executor = Executor(self.graph)

    def answer(self, plan: PatternPlan) -> DraftAnswer | Misfit:
        """What a plan comes to, or why it comes to nothing: what the graph lacks, or what cannot be said."""
        draft = self._within_budget(lambda: self._answer(plan))
        abstained = None if isinstance(draft, Misfit) else draft.abstained
        return draft if abstained is None else Misfit(abstained.reason, abstained.detail)

    def stated(self, plan: PatternPlan) -> tuple[Stated, ...] | Misfit:
        """What the plan of a claim says: that there is something, or how many or how much; or a misfit."""
        return self._within_budget(lambda: self._stated(plan))

    def _within_budget(self, work: Callable[[], T]) -> T | Misfit:
        try:
            return work()
        except _Lacking as lacking:
            return lacking.misfit
        except OverBudget:
            return Misfit("budget", "the model's query follows more edges than may be followed")

    def _stated(self, plan: PatternPlan) -> tuple[Stated, ...]:
        asks = _last_of(plan)
        done = self._carried_out(plan, asks, nearest=True)
        if asks is not None and asks.op != "exists":
            if asks.by:
                raise _cannot("a number for each of several things is no claim")
            than = value_of(str(asks.than), dates=False)
            if than is None:
                raise _cannot(f'"{asks.op}" is compared with "{asks.than}", which is no number')
            query = self._number(done.plan, done.sets, asks)
            return (Stated(query, plan.denied, asks.test or "=", than.number),)
        after = [op.op in _RANKING for op in plan.operations if op.op in _RANKING or op.op == "keep"]
        if after and after[-1]:
            raise _cannot("something is always the largest: keep what the claim says that it is")
        operands = {plan.place(str(op.than)) for op in plan.operations if op.op == "keep"}
        roots = [
            root
            for root in done.roots
            if not (group := done.sets.group(root[0])) & operands or group & done.sets.narrowed.keys()
        ]
        if plan.denied and len(roots) > 1:
            raise _cannot("of things that hang together by nothing it is not said which is denied")
        return tuple(Stated(Query("yes", done.sets.at(root[0])), plan.denied) for root in roots)

    def _answer(self, plan: PatternPlan) -> DraftAnswer:
        asks = _last_of(plan)
        truth = asks is not None and asks.op == "exists"
        done = self._carried_out(plan, asks, nearest=truth)
        if asks is None:
            return answer_of(self.graph, self.vocabulary, Query("list", done.sets.at(done.answer)))
        if truth:
            return self._truth(done.sets, done.roots, done.before)
        return answer_of(self.graph, self.vocabulary, self._number(done.plan, done.sets, asks))

    def _carried_out(self, plan: PatternPlan, asks: Operation | None, *, nearest: bool) -> _Done:
        """The sets of a plan after its operations, up to what it asks."""
        if not plan.pattern.nodes:
            raise _Lacking(Misfit("no_relation", "the graph records nothing of what is asked for"))
        sets = self._sets(plan.pattern, nearest=nearest)
        roots = sets.roots()
        before = [sets.at(root[0]) for root in roots] if nearest else []
        unknown = [i for i, node in enumerate(plan.pattern.nodes) if not node.known]
        answer = plan.answer if plan.answer >= 0 or not unknown else unknown[-1]
        for at, op in enumerate(plan.operations):
            if op is asks:
                break
            if op.op == "or":
                other = self._sets(plan.operation_patterns[at])
                both = _joined(sets, answer, other, _place_of(plan, answer, other.pattern))
                alone = Pattern((plan.pattern.nodes[answer],), ())
                sets = _Sets(self.executor, alone, {}, {}, [], [], {0: (1, both)})
                plan, answer, roots = replace(plan, pattern=alone, answer=0), 0, [(0,)]
            elif op.op in ("without", "only"):
                self._leave_out(plan, sets, op.op, plan.operation_patterns[at], answer)
            else:
                self._narrow(plan, sets, op, answer)
        return _Done(plan, sets, answer, roots, before)

    def _number(self, plan: PatternPlan, sets: _Sets, op: Operation) -> Query:
        place = plan.place(op.node)
        if on_edge := plan.on_edge(op.node):
            if op.by or op.op not in ("list", "sum", "average"):
                raise _cannot(f'"{op.op}" is not of a property of edges')
            _, part, key = sets.led_to(*on_edge, plan.answer)
            return Query(op.op, part, key=key)
        if op.op == "difference":
            return Query("difference", self._value(plan, sets, op.node), self._value(plan, sets, op.less))
        if op.op in ("count", "list"):
            query, source = Query(op.op, sets.at(place)), place
        else:
            query = Query("sum" if op.op == "sum" else "average", self._value(plan, sets, op.node))
            source = sets.around(place)[0][1] if sets.around(place) else place
        if not op.by:
            return query
        by = plan.place(op.by)
        query = replace(query, by=sets.way(source, by))
        groups = self.executor.members(sets.at(by))
        if not np.isin([group for group, _, _ in self.executor.groups(query)], groups).all():
            raise _cannot(f'some of "{op.node}" belong to what "{op.by}" leaves out, too')
        return query

    def _value(self, plan: PatternPlan, sets: _Sets, node: str) -> Part:
        """The values that a node stands for."""
        place = plan.place(node)
        owned = sets.owned(place) if place >= 0 else None
        part = Walk(owned[1], owned[2]) if owned else sets.narrowed.get(place, (0, None))[1]
        if not isinstance(part, Walk):
            raise _cannot(f'"{node}" is no value of one thing')
        return part

    def _truth(self, sets: _Sets, roots: list[tuple[int, ...]], before: list[Part]) -> DraftAnswer:
        """Yes where each part of the pattern holds; *no* rests on what holds without the operations."""
        query_answers: list[DraftAnswer] = []
        for root in roots:
            tried = [answer_of(self.graph, self.vocabulary, Query("yes", sets.at(place))) for place in root]
            query_answers.append(next((draft for draft in tried if draft.answers), tried[0]))
        failed = next((draft for draft in query_answers if draft.text != "yes"), None)
        if failed is None:
            ids = [t for draft in query_answers for c in draft.citations for t in c.triple_ids]
        else:
            members = [(part, self.executor.members(part)[:1].tolist()) for part in before]
            ids = [t for part, first in members for node in first for t in prove(self.executor, part, node)]
            ids = ids or [t for c in failed.citations for t in c.triple_ids]
            if not ids:
                raise _Lacking(Misfit("empty_result", "it records nothing of what is asked about"))
        value = "yes" if failed is None else "no"
        citation = cite(self.graph, value, tuple(dict.fromkeys(ids)))
        notes = () if failed is None else (SILENCE,)
        return DraftAnswer((AnswerEntity(value, value, 1.0),), (citation,), value, notes=notes)

    # operations

    def _narrow(self, plan: PatternPlan, sets: _Sets, op: Operation, answer: int) -> None:
        counted = counted_name(op.node) if op.op == "keep" else op.node if op.op in ("most", "fewest") else ""
        on_edge = plan.on_edge(op.node)
        if on_edge and op.op == "keep":
            if sets.narrowed or isinstance(op.than, list):
                raise _cannot(f'keep "{op.node}" before all else, by one value')
            key = sets.conditions[on_edge[0]][on_edge[1]].key
            condition = EdgeCondition(key, op.test or "=", str(op.than))
            sets.conditions[on_edge[0]] += (self._on_edge(condition),)
        elif on_edge and op.op in ("max", "min"):
            self._rank_edges(plan, sets, op, sets.led_to(*on_edge, answer), on_edge[0])
        elif counted:
            sets.narrow(answer, self._by_count(plan, sets, op, answer, plan.place(counted)))
        elif op.op == "keep":
            self._keep(plan, sets, op)
        else:
            place = plan.place(op.node)
            owned = sets.owned(place) if place != answer else None
            owner, part, steps = (place, sets.at(place), ()) if owned is None else (*owned[:2], owned[2:])
            number = max(op.nth or op.first, 1)
            sets.narrow(owner, Extreme(part, steps, False, op.op == "max", number, nth=op.nth > 0))

    def _rank_edges(
        self, plan: PatternPlan, sets: _Sets, op: Operation, ranked: tuple[int, Part, str], edge: int
    ) -> None:
        """Keep what the edges with the largest or smallest value lead to; or these, if they are asked of."""
        (place, part, key), number, asks = ranked, max(op.nth or op.first, 1), _last_of(plan)
        if asks is None or plan.on_edge(asks.node) is None:
            sets.narrow(place, Extreme(part, (), False, op.op == "max", number, nth=op.nth > 0, key=key))
            return
        edges = self.executor.on_edges(part, key)
        values = np.unique(edges.numbers[~np.isnan(edges.numbers)])[:: -1 if op.op == "max" else 1]
        if sets.narrowed or len(values) < number:
            raise _cannot(f'it has not so many values of "@{key}" to rank by')
        is_date = bool((self.graph.edge_properties.kind[edges.places] == ValueKind.DATE).any())
        sign: Sign = "=" if op.nth else ">=" if op.op == "max" else "<="
        sets.conditions[edge] += (OnEdge(key, sign, Value(float(values[number - 1]), is_date)),)

    def _on_edge(self, condition: EdgeCondition) -> OnEdge:
        """A condition on a property of an edge; of one that is unknown, that it is there."""
        statements = self.graph.edge_properties
        keys, text = list(statements.keys), condition.value
        at = by_label(keys, keys)(condition.key)
        if at is None:
            raise _Lacking(Misfit("no_relation", f'its edges have no property "@{condition.key}"'))
        if unknown_type(text)[0]:
            return OnEdge(keys[at], "!=", "")
        kinds = statements.kind[statements.key == at]
        value = value_of(text, dates=bool((kinds == ValueKind.DATE).mean() > 0.5)) if kinds.any() else None
        if value is None and condition.sign not in ("=", "!="):
            raise _cannot(f'"@{keys[at]}" does not compare with "{text}"')
        in_unit = None if value is None else in_unit_of(EdgeKeys(self.graph).measured(keys[at]), value)
        return OnEdge(keys[at], cast("Sign", condition.sign), in_unit or text)

    def _by_count(self, plan: PatternPlan, sets: _Sets, op: Operation, answer: int, place: int) -> Part:
        """The answers with so many, most or fewest things beside them."""
        edge = next((number for number, other in sets.around(answer) if other == place), None)
        if edge is None or len(sets.steps[edge]) != 1 or sets.conditions[edge]:
            raise _cannot(
                f'only what is one step from "{plan.pattern.nodes[answer].name}" is counted for each'
            )
        step, among = sets.step(edge, answer), sets.seen_from(place, edge)
        part = sets.at(answer)
        if op.op != "keep" or (op.test or "=") in (">", ">=", "="):  # Then there is one to be counted.
            part = sets.seen_from(answer, edge) or OfType(-1, step)
        if op.op != "keep":
            number, is_nth = max(op.nth or op.first, 1), op.nth > 0
            return Extreme(part, (step,), True, op.op == "most", number, nth=is_nth, among=among)
        number = value_of(str(op.than), dates=False)
        if number is None or not number.number.is_integer():
            raise _cannot(f'"{op.than}" is no whole number')
        return Counted(part, step, op.test or "=", int(number.number), among=among)

    def _keep(self, plan: PatternPlan, sets: _Sets, op: Operation) -> None:
        """Keep what passes a test on the value of a node: with a number, a date, names, or another node."""
        names = op.than if isinstance(op.than, list) else [str(op.than)]
        than = " or ".join(names)
        place, other, sign = plan.place(op.node), plan.place(than), op.test or "="
        if other >= 0 and other in sets.group(place):
            one, own = sets.owned(place), sets.owned(other)
            if one is None or own is None or one[0] != own[0]:
                raise _cannot(f'"{op.node}" and "{than}" are no two values of one thing')
            value = Amount("own", OfType(-1, opposite(own[2])))
            sets.narrow(one[0], Compared(sets.at(one[0]), (one[2],), sign, value))
            return
        part = sets.at(place)
        kinds = self.graph.values.kind[self.executor.members(part)]
        dates, numbers = int((kinds == ValueKind.DATE).sum()), int((kinds == ValueKind.NUMBER).sum())
        number = value_of(than, dates=dates > numbers) if (dates or numbers) and len(names) == 1 else None
        value = sets.at(other) if other >= 0 else number
        if sign in ("=", "!=") and not isinstance(value, Value):
            same = value or reduce(Either, map(self._named, names or [""]))
            sets.narrow(place, Both(part, same) if sign == "=" else Without(part, same))
            return
        if value is None:
            raise _cannot(f'"{op.node}" does not compare with "{than}"')
        owned = sets.owned(place)
        if owned is not None:
            owner, things, step = owned
            if self.executor.counts(self.executor.members(things), step).max(initial=0) <= 1:
                if isinstance(value, Value):
                    value = in_unit_of(self.vocabulary.measured(relation_of(step)), value)
                sets.narrow(owner, Compared(things, (step,), sign, value))
                return
        sets.narrow(place, Compared(part, (), sign, value))

    def _named(self, name: str) -> Part:
        entities = self._entities(PatternNode(name, known=True), SURE_NAME)
        if entities is None:
            raise _Lacking(Misfit("no_entity", f'it has no entity like "{name}"', (name,)))
        return entities

    def _leave_out(self, plan: PatternPlan, sets: _Sets, op: str, second: Pattern, answer: int) -> None:
        """Leave out what another pattern holds for as well; or what its triple does not hold for *only*."""
        shared = [
            (place, at)
            for at, node in enumerate(second.nodes)
            if not node.known and (place := plan.place(node.name)) >= 0
        ]
        if op == "only":
            shared = [pair for pair in shared if pair[0] == answer] or shared
        if len(shared) != 1:
            raise _cannot(f'the triples of "{op}" have to share one unknown with the others')
        place, at = shared[0]
        others = self._sets(second, nearest=True)
        if op == "without":
            sets.narrow(place, Without(sets.at(place), others.at(at)))
            return
        sets.narrow(place, self._only(others, at, -1, sets.at(place)))

    def _only(self, others: _Sets, at: int, came_by: int, source: Part) -> Part:
        """What leads to nothing but what triples say, one behind the other: at each step *only*."""
        ways, members = others.around(at, came_by), self.executor.members(source)
        steps = [others.step(edge, at, n) for edge, _ in ways for n in range(len(others.steps[edge]))]
        steps = [step for step in steps if len(self.executor.edges(members, step)[1])]
        (edge, end), *others_ways = ways
        targets = others.seen_from(end, edge)
        if others_ways or len(steps) != 1 or targets is None or others.conditions[edge]:
            raise _cannot('"only" takes triples one behind the other, which end at what there is alone')
        if end not in others.entities and others.around(end, edge):
            targets = self._only(others, end, edge, OfType(-1, opposite(steps[0])))
        return Related(source, steps[0], "only", targets)

    # what the pattern means in the graph

    def _sets(self, pattern: Pattern, *, nearest: bool = False) -> _Sets:
        """The sets of a pattern; with `nearest`, those of each name by itself where nothing has its shape."""
        where = [tuple(map(self._on_edge, edge.where)) for edge in pattern.edges]
        sets = _Sets(self.executor, pattern, {}, {}, [() for _ in pattern.edges], where)
        _require_no_circle(pattern)
        for place, node in enumerate(pattern.nodes):
            types = () if node.known or node.type is None else self.distances.matching_types(node.type)
            parts = [part for part in map(OfType, types) if len(self.executor.members(part))]
            if (part := _either(parts)) is not None:
                sets.types[place] = part
        for places, edges in _parts(pattern):
            if not edges:
                if places[0] not in sets.types:
                    node = pattern.nodes[places[0]]
                    detail = f'it declares no type like "{node.type or node.name}"'
                    raise _Lacking(Misfit("no_relation", detail))
            elif any(pattern.nodes[place].known for place in places):
                self._fit(sets, places, edges, nearest=nearest)
            else:
                self._take_nearest(sets, places, edges)
        return sets

    def _fit(self, sets: _Sets, places: list[int], edges: list[int], *, nearest: bool) -> None:
        """Entities, relations and directions as the best match of a connected part has them."""
        pattern = sets.pattern
        part = Pattern(
            tuple(pattern.nodes[place] for place in places),
            tuple(
                replace(edge, head=places.index(edge.head), tail=places.index(edge.tail))
                for edge in map(pattern.edges.__getitem__, edges)
            ),
        )
        result = find_subgraphs(self.graph, part, self.distances, 1)
        misfit = unfit(self.graph, part, result, self.distances)
        misfit = misfit or self._other_name(part, result.matches[0])
        if misfit is not None:
            if not nearest or misfit.reason != "empty_result":
                raise _Lacking(misfit)
            self._take_nearest(sets, places, edges)
            return
        best = result.matches[0]
        for place, entities in zip(places, same_names(part, self.distances, best), strict=True):
            if pattern.nodes[place].known:
                sets.entities[place] = cast("Part", _either([Anchor(entity) for entity in entities]))
        relations = same_relations(self.graph, part, self.distances, best)
        for number, edge, triple, tied in zip(edges, part.edges, best.triples, relations, strict=True):
            head, matched, _ = self.graph.triple(triple)
            back = head != best.nodes[edge.head]
            sets.steps[number] = tuple(step_of(matched if r < 0 else r, back) for r in tied)

    def _other_name(self, part: Pattern, best: Match) -> Misfit | None:
        """Refuse a match that puts another entity in the place of one that is there by its name."""
        for node, entity in zip(part.nodes, best.nodes, strict=True):
            if node.known and self._has_other_digits(node.name, int(entity)):
                return Misfit("empty_result", f'it records nothing here for "{node.name}"')
            sure = self._entities(node, SURE_NAME) if node.known else None
            if sure is not None and entity not in self.executor.members(sure):
                return Misfit("empty_result", f'it has "{node.name}", but nothing of this shape around it')
        return None

    def _take_nearest(self, sets: _Sets, places: list[int], edges: list[int]) -> None:
        """Names and relations each by itself: for parts without a name, or that nothing fits."""
        for place in places:
            node = sets.pattern.nodes[place]
            if node.known and (entities := self._entities(node)) is not None:
                sets.entities[place] = entities
        for number in edges:
            sets.steps[number] = (self._nearest_step(sets, sets.pattern.edges[number]),)

    def _entities(self, node: PatternNode, most: float = np.inf) -> Part | None:
        """The entities nearest to a name, all that are as near; None where they are too far."""
        near = self.distances.node_candidates(node, 64)
        least = near.distances.min(initial=np.inf)
        if least > most or not len(near.entities):
            return None
        nearest = near.entities[near.distances <= max(least + 1e-6, most if most < np.inf else 0.0)].tolist()
        if all(self._has_other_digits(node.name, entity) for entity in nearest):
            if most < np.inf:
                return None
            raise _Lacking(Misfit("empty_result", f'it records nothing here for "{node.name}"'))
        return _either([Anchor(entity) for entity in nearest])

    def _has_other_digits(self, name: str, entity: int) -> bool:
        """Whether a number or a code is another one than that of an entity: 1375 is not nearly 1275."""
        own, digits = (_DIGITS.findall(text.replace(",", "")) for text in (self.graph.label(entity), name))
        values, said = self.graph.values, value_of(name, dates=False)
        is_equal = said is not None and values.kind[entity] > 0 and values.value[entity] == said.number
        return not set(digits) <= set(own) and not is_equal

    def _nearest_step(self, sets: _Sets, edge: PatternEdge) -> Step:
        """The nearest relation of an edge, the way round in which its ends are of the types that are said."""
        if edge.relation is None:
            raise _Lacking(Misfit("no_relation", "a relation that is unknown needs a name beside it"))
        distances = self.distances.relation_distances(edge)
        relation = int(np.argmin(distances)) if len(distances) else -1
        if relation < 0 or distances[relation] > FITTING_GSD:
            raise _Lacking(Misfit("no_relation", f'it has no relation like "{edge.relation}"'))
        steps = (forward(relation), backward(relation))
        return max(steps, key=lambda step: self._fitting(sets, edge, step))

    def _fitting(self, sets: _Sets, edge: PatternEdge, step: Step) -> int:
        """How many triples lead by a step from what one end of an edge is to what the other is."""
        ends = [sets.entities.get(place) or sets.types.get(place) for place in (edge.head, edge.tail)]
        members = self.executor.members(ends[0] or OfType(-1, step))
        reached = self.executor.edges(members, step)[1]
        return (
            len(reached) if ends[1] is None else int(np.isin(reached, self.executor.members(ends[1])).sum())
        )


def _last_of(plan: PatternPlan) -> Operation | None:
    """The operation that says what a plan asks."""
    return next((op for op in plan.operations if op.op in _ASKING), None)


def _joined(sets: _Sets, place: int, other: _Sets, at: int) -> Part:
    """What a node stands for in one of two patterns; values stay those of their owners."""
    own, theirs = sets.owned(place), other.owned(at)
    if own and theirs and own[2] == theirs[2]:
        return Walk(Either(own[1], theirs[1]), own[2])
    return Either(sets.at(place), other.at(at))


def _place_of(plan: PatternPlan, answer: int, other: Pattern) -> int:
    name = normalise(plan.pattern.nodes[answer].name)
    place = next((at for at, node in enumerate(other.nodes) if normalise(node.name) == name), -1)
    if place < 0:
        raise _cannot('the triples of an "or" do not have the unknown asked for')
    return place


def _groups(pattern: Pattern, edges: Sequence[PatternEdge]) -> list[int]:
    """A number for each node, the same for those that hang together by some edges."""
    group = list(range(len(pattern.nodes)))
    for edge in edges:
        head, tail = group[edge.head], group[edge.tail]
        group = [head if g == tail else g for g in group]
    return group


def _parts(pattern: Pattern) -> list[tuple[list[int], list[int]]]:
    """The connected parts of a pattern: the places of their nodes, and the numbers of their edges."""
    group = _groups(pattern, pattern.edges)
    return [
        (
            [place for place, g in enumerate(group) if g == each],
            [number for number, edge in enumerate(pattern.edges) if group[edge.head] == each],
        )
        for each in dict.fromkeys(group)
    ]


def _require_no_circle(pattern: Pattern) -> None:
    """Refuse triples that lead over unknowns back to one of them: no set says that two nodes are the same."""
    nodes = pattern.nodes
    edges = [e for e in pattern.edges if not nodes[e.head].known and not nodes[e.tail].known]
    if len(edges) > len(nodes) - len(set(_groups(pattern, edges))):
        raise _cannot("its triples form a circle")

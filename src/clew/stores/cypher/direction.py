"""Direction correction: turn the hops that the schema forbids as they are written, and only those.

A hop is forbidden if no labels that its ends may have are connected in its direction. Ends without labels get
theirs from the other hops that must hold with it. Where the schema allows a hop in neither direction the
query is reported, as every answer to it would be empty. The idea is that of the corrector that SynaptiQA
(section III.B) uses; the rules here are our own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from clew.stores.cypher import tree
from clew.stores.cypher.tree import (
    CypherQuery,
    Expression,
    LabelExpression,
    Length,
    Relationship,
    Statement,
    Syntax,
)
from clew.stores.errors import IllegalHop
from clew.stores.store import GraphSchema, HopSearch, SchemaHop

# What a label expression admits, and which pairs of labels a hop may connect.

Pairs = frozenset[tuple[str, str]]

LONGEST_HOP = 64
"""Longer hops are looked at as if they were of this length; beyond it the labels that they reach repeat."""


def admits_label(expression: LabelExpression, label: str, *, negated: bool = False) -> bool:
    """Whether a node that the schema knows by `label` may satisfy the expression.

    A node may have more labels than the one that a hop of the schema names: `A&B` admits both A and B, while
    what is excluded by `!` is excluded in any case.
    """
    operator, parts = expression.operator, expression.parts
    if operator == "label":
        return (expression.name is not None and expression.name.text == label) != negated
    if operator == "%":
        return not negated
    if operator == "!":
        return admits_label(parts[0], label, negated=not negated)
    if (operator == "|") != negated:
        return any(admits_label(part, label, negated=negated) for part in parts)
    if negated:
        return all(admits_label(part, label, negated=True) for part in parts)
    excluding = [part for part in parts if part.operator == "!"]
    including = [part for part in parts if part.operator not in ("!", "%")]
    return all(admits_label(part, label) for part in excluding) and (
        not including or any(admits_label(part, label) for part in including)
    )


def admits_type(expression: LabelExpression, type_: str) -> bool:
    """Whether a relation of a type satisfies the expression; a relation has one type."""
    match expression.operator:
        case "label":
            return expression.name is not None and expression.name.text == type_
        case "%":
            return True
        case "!":
            return not admits_type(expression.parts[0], type_)
        case "|":
            return any(admits_type(part, type_) for part in expression.parts)
        case "&":
            return all(admits_type(part, type_) for part in expression.parts)


def joint(expressions: Sequence[LabelExpression]) -> LabelExpression | None:
    """Join the expressions about one node by &; None if there are none."""
    parts: list[LabelExpression] = []
    for expression in expressions:
        parts.extend(expression.parts if expression.operator == "&" else (expression,))
    if len(parts) <= 1:
        return parts[0] if parts else None
    return LabelExpression(parts[0].start, parts[0].stop, "&", None, tuple(parts))


def has_several_labels(expression: LabelExpression | None) -> bool:
    """Whether it asks for two labels at once, so that different hops may know the node by different ones."""
    if expression is None or expression.operator != "&":
        return False
    names = {part.name.text if part.name else str(part) for part in expression.parts if part.operator != "!"}
    return len(names) > 1


def hop_pairs(
    schema: GraphSchema, types: Iterable[LabelExpression], length: Length | None, *, undirected: bool = False
) -> Pairs:
    """Return the (head label, tail label) that a hop of some types and length may connect, head to tail.

    Each step of an `undirected` one goes either way, so that two of *acted in* lead from actor to actor.
    """
    type_expressions = tuple(types)
    single = frozenset(
        (hop.head, hop.tail) for hop in schema.hops if all(admits_type(t, hop.type) for t in type_expressions)
    )
    if undirected:
        single |= frozenset((tail, head) for head, tail in single)
    if length is None or (length.low == 1 and length.high == 1):
        return single
    return _repeat_hops(single, schema.labels, length)


def _repeat_hops(single: Pairs, labels: Sequence[str], length: Length) -> Pairs:
    """Union of the powers `low` to `high` of a relation between labels."""
    tails_by_head: defaultdict[str, set[str]] = defaultdict(set)
    for head, tail in single:
        tails_by_head[head].add(tail)
    low = min(length.low, LONGEST_HOP)
    high = LONGEST_HOP + low if length.high is None else min(length.high, LONGEST_HOP + low)
    reached = {label: {label} for label in labels}
    pairs: set[tuple[str, str]] = set()
    for step in range(high + 1):
        if step >= low:
            count_before = len(pairs)
            pairs.update((head, tail) for head, tails in reached.items() for tail in tails)
            if length.high is None and step > low + len(labels) and len(pairs) == count_before:
                break
        reached = {head: {t for mid in tails for t in tails_by_head[mid]} for head, tails in reached.items()}
        if not any(reached.values()):
            break
    return frozenset(pairs)


# The hops of a statement, in groups that must hold together, with what it says about their ends.
#
# A group is what must all be matched for a row: the MATCH clauses of a query. What need not hold (OPTIONAL
# MATCH, patterns in conditions, subqueries) is a group of its own, below the one whose variables it uses.


@dataclass(frozen=True, slots=True)
class PatternHop:
    """An edge of a pattern between the nodes `left` and `right` (numbers), as they stand in the text."""

    edge: Relationship
    left: int
    right: int
    hop_syntax: Syntax
    """The edge with the nodes at its ends."""


@dataclass(slots=True)
class HopGroup:
    """Hops that must hold together; `labels` and `types` are what the statement says of nodes and edges."""

    parent: HopGroup | None
    hops: list[PatternHop] = field(default_factory=list[PatternHop])
    labels: dict[int, list[LabelExpression]] = field(default_factory=dict[int, list[LabelExpression]])
    types: dict[int, list[LabelExpression]] = field(default_factory=dict[int, list[LabelExpression]])
    """By the edge's first token."""


@dataclass(frozen=True, slots=True)
class _Scope:
    """Variables in sight: names → node numbers, names → first tokens of edges."""

    nodes: dict[str, int]
    edges: dict[str, int]

    def copy(self) -> _Scope:
        return _Scope(dict(self.nodes), dict(self.edges))

    def without(self, *names: str) -> _Scope:
        inner = self.copy()
        for name in names:
            inner.nodes.pop(name, None)
            inner.edges.pop(name, None)
        return inner


def find_groups(query: CypherQuery) -> list[HopGroup]:
    """Find all groups of a query, a parent before those below it."""
    finder = _HopFinder()
    finder.query(query, _Scope({}, {}), None)
    return finder.groups


class _HopFinder:
    """Walks the clauses in their order; numbers the nodes."""

    def __init__(self) -> None:
        self.groups: list[HopGroup] = []
        self._nodes = 0

    def _group(self, parent: HopGroup | None) -> HopGroup:
        group = HopGroup(parent)
        self.groups.append(group)
        return group

    def query(self, query: CypherQuery, outer: _Scope, parent: HopGroup | None) -> _Scope:
        """Walk the branches of a query; returns the variables that the last branch leaves."""
        scope = outer
        for branch in query.branches:
            scope = self._branch(branch, outer, self._group(parent))
        return scope

    def _branch(self, branch: tree.Branch, outer: _Scope, group: HopGroup) -> _Scope:
        scope = outer.copy()
        for clause in branch.clauses:
            scope = self._clause(clause, scope, group)
        return scope

    def _clause(self, clause: tree.Clause, scope: _Scope, group: HopGroup) -> _Scope:
        match clause:
            case tree.MatchClause(optional=optional, paths=paths, where=where):
                match_group = self._group(group) if optional else group
                for path in paths:
                    self._path(path, scope, match_group)
                self._where(where, scope, match_group)
                return scope
            case tree.Projection():
                return self._projection(clause, scope, group)
            case tree.CallQuery():
                return self._call(clause, scope, group)
            case tree.Unwind(source=source, variable=variable):
                self._expression(source, scope, group)
                return scope.without(variable.text)
            case tree.CallProcedure(yields=yields, arguments=arguments, where=where):
                inner = scope.without(*(name.text for name in yields))
                for part in [*arguments, *([where] if where else [])]:
                    self._expression(part, inner, group)
                return inner
            case _:
                return scope

    def _call(self, clause: tree.CallQuery, scope: _Scope, group: HopGroup) -> _Scope:
        """Walk a subquery; what one without UNION matches must hold for the rows around it too."""
        inner, query = _Scope({}, {}), clause.query
        first = query.branches[0].clauses[0]
        begins_by_importing = isinstance(first, tree.Projection) and first.keyword == "WITH"
        if clause.imports_all or (clause.imports is None and begins_by_importing):
            inner = scope
        elif clause.imports is not None:
            inner = scope.without(*({*scope.nodes, *scope.edges} - {name.text for name in clause.imports}))
        if not clause.optional and len(query.branches) == 1:
            final_scope = self._branch(query.branches[0], inner, group)
        else:
            final_scope = self.query(query, inner, group)
        result = scope.copy()
        result.nodes.update(
            {name: node for name, node in final_scope.nodes.items() if name not in result.nodes}
        )
        return result

    def _projection(self, clause: tree.Projection, scope: _Scope, group: HopGroup) -> _Scope:
        result = scope.copy() if clause.star else _Scope({}, {})
        for item in clause.items:
            self._expression(item.expression, scope, group)
            subject = item.expression
            if isinstance(subject, tree.Variable):
                if subject.name.text in scope.nodes:
                    result.nodes[item.name] = scope.nodes[subject.name.text]
                if subject.name.text in scope.edges:
                    result.edges[item.name] = scope.edges[subject.name.text]
        joint_scope = scope.copy()
        joint_scope.nodes.update(result.nodes)
        for part in clause.order:
            self._expression(part, joint_scope, group)
        self._where(clause.where, joint_scope, group)
        return result

    def _path(self, path: tree.PathPattern, scope: _Scope, group: HopGroup) -> None:
        """Note the hops of a path and number its nodes; a part that repeats is a group of its own."""
        numbers = [self._element(element, scope, group) for element in path.elements]
        for at, edge in enumerate(path.elements):
            if not isinstance(edge, Relationship):
                continue
            left, right = (numbers[end] or self._new_node() for end in (at - 1, at + 1))
            hop_syntax = Syntax(path.elements[at - 1].start, path.elements[at + 1].stop)
            group.hops.append(PatternHop(edge, left, right, hop_syntax))
            if edge.types is not None:
                group.types.setdefault(edge.start, []).append(edge.types)
            if edge.variable is not None:
                scope.edges[edge.variable.text] = edge.start
            for part in (edge.properties, edge.where):
                self._where(part, scope, group)

    def _element(self, element: Syntax, scope: _Scope, group: HopGroup) -> int | None:
        """Walk a node or a part in parentheses; returns the number of a node."""
        if isinstance(element, tree.NodePattern):
            return self._node(element, scope, group)
        if isinstance(element, tree.Parenthesised):
            inner_group = self._group(group) if element.length else group
            inner = scope.copy() if element.length else scope
            self._path(element.path, inner, inner_group)
            self._where(element.where, inner, inner_group)
        return None

    def _node(self, node: tree.NodePattern, scope: _Scope, group: HopGroup) -> int:
        name = node.variable.text if node.variable else None
        number = scope.nodes.get(name) if name is not None else None
        if number is None:
            number = self._new_node()
            if name is not None:
                scope.nodes[name] = number
        if node.labels is not None:
            group.labels.setdefault(number, []).append(node.labels)
        for part in (node.properties, node.where):
            self._where(part, scope, group)
        return number

    def _new_node(self) -> int:
        self._nodes += 1
        return self._nodes

    def _where(self, where: Expression | None, scope: _Scope, group: HopGroup) -> None:
        """Note what a condition says of labels and types; look for patterns in it."""
        if where is None:
            return
        for part in terms(where, "AND"):
            condition = _label_condition(part)
            if condition is None:
                continue
            name, expression = condition
            if name in scope.nodes:
                group.labels.setdefault(scope.nodes[name], []).append(expression)
            elif name in scope.edges:
                group.types.setdefault(scope.edges[name], []).append(expression)
        self._expression(where, scope, group)

    def _expression(self, expression: Expression, scope: _Scope, group: HopGroup) -> None:
        waiting: list[Syntax] = [expression]
        while waiting:
            part = waiting.pop()
            match part:
                case tree.PatternExpression(path=path):
                    self._path(path, scope.copy(), self._group(group))
                case tree.PatternComprehension(path=path, where=where, result=result):
                    inner, inner_group = scope.copy(), self._group(group)
                    self._path(path, inner, inner_group)
                    self._where(where, inner, inner_group)
                    self._expression(result, inner, inner_group)
                case tree.Subquery(query=query):
                    self.query(query, scope, group)
                case tree.Iteration(variable=variable):
                    self._inner(part, scope.without(variable.text), group)
                case tree.Reduce(variable=variable, accumulator=accumulator):
                    self._inner(part, scope.without(variable.text, accumulator.text), group)
                case _:
                    waiting.extend(reversed(list(part.children())))

    def _inner(self, part: Syntax, scope: _Scope, group: HopGroup) -> None:
        for child in part.children():
            if isinstance(child, Expression):
                self._expression(child, scope, group)


def terms(expression: Expression, operator: str) -> list[Expression]:
    """Split a condition at its ANDs, or its ORs."""
    waiting, parts = [expression], list[Expression]()
    while waiting:
        part = waiting.pop()
        if isinstance(part, tree.Calculation) and part.operator == operator:
            waiting.extend(reversed(part.operands))
        else:
            parts.append(part)
    return parts


def _label_condition(part: Expression) -> tuple[str, LabelExpression] | None:
    """Read what a condition says of a variable's labels or type, None if nothing that is understood."""
    match part:
        case tree.LabelCheck(subject=tree.Variable(name=name), labels=labels):
            return name.text, labels
        case tree.Calculation(operator="NOT", operands=(inner,)):
            condition = _label_condition(inner)
            return condition and (
                condition[0],
                LabelExpression(part.start, part.stop, "!", None, (condition[1],)),
            )
        case tree.Calculation(operator="OR"):
            conditions = [_label_condition(term) for term in terms(part, "OR")]
            label_conditions = [condition for condition in conditions if condition is not None]
            if len(label_conditions) < len(conditions) or len({name for name, _ in label_conditions}) > 1:
                return None
            parts = tuple(labels for _, labels in label_conditions)
            return label_conditions[0][0], LabelExpression(part.start, part.stop, "|", None, parts)
        case tree.Calculation(operator="IN", operands=(tree.LiteralValue(value=str(value)), right)):
            name = _argument(right, "labels")
            return None if name is None else (name, _label(part, value))
        case tree.Calculation(operator="=" | "IN", operands=(left, right)):
            return _type_check(part, left, right)
        case _:
            return None


def _type_check(part: Syntax, left: Expression, right: Expression) -> tuple[str, LabelExpression] | None:
    """`type(r) = 'X'`, `'X' = type(r)`, `type(r) IN ['X', 'Y']`."""
    if _argument(left, "type") is None:
        left, right = right, left
    name = _argument(left, "type")
    if name is None:
        return None
    values = right.items if isinstance(right, tree.ListLiteral) else (right,)
    texts = [v.value for v in values if isinstance(v, tree.LiteralValue) and isinstance(v.value, str)]
    if not texts or len(texts) != len(values):
        return None
    labels = tuple(_label(part, text) for text in texts)
    return name, labels[0] if len(labels) == 1 else LabelExpression(part.start, part.stop, "|", None, labels)


def _argument(call: Expression, function: str) -> str | None:
    match call:
        case tree.Call(name=name, arguments=(tree.Variable(name=variable),)) if name.lower() == function:
            return variable.text
        case _:
            return None


def _label(part: Syntax, text: str) -> LabelExpression:
    return LabelExpression(part.start, part.stop, "label", tree.Name(part.start, part.stop, text), ())


MOST_TURNS = 3
"""So many hops that are legal one by one are turned together, at most, to make a whole pattern legal."""
MOST_LABELS_SHOWN = 4

Domains = dict[int, frozenset[str]]
"""Node number → labels of the schema that it may have."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A change of a statement: `kind`, the text `before` and `after`, and why."""

    kind: str
    before: str
    after: str
    reason: str


@dataclass(slots=True)
class Directions:
    """New texts for tokens, what was changed, and the hops that are legal in no direction, with reasons.

    `missing_hops` are those that the schema does not have, and that would leave an edge as it is, or make it
    legal.
    """

    edits: dict[int, str] = field(default_factory=dict[int, str])
    corrections: list[Correction] = field(default_factory=list[Correction])
    illegal: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    missing_hops: list[HopSearch] = field(default_factory=list[HopSearch])


@dataclass(frozen=True, slots=True)
class _Edge:
    """A hop with the label pairs that the schema allows it, from left to right and from right to left."""

    hop: PatternHop
    rightwards: Pairs
    leftwards: Pairs

    def pairs(self, *, turned: bool) -> Pairs:
        """(left label, right label) pairs, as written or `turned`."""
        direction = self.hop.edge.direction
        if direction == "both":
            return self.rightwards | self.leftwards
        return self.rightwards if (direction == "right") != turned else self.leftwards


def correct_directions(statement: Statement, schema: GraphSchema) -> Directions:
    """Find the hops to turn, and those that are legal in no direction."""
    result = Directions()
    domains_by_group: dict[int, Domains] = {}
    for group in find_groups(statement.query):
        outer_domains = domains_by_group[id(group.parent)] if group.parent is not None else {}
        domains_by_group[id(group)] = _Solver(statement, schema, group, outer_domains).solve(result)
    return result


def require_legal(directions: Directions) -> None:
    """Raise IllegalHop if a hop is legal in no direction."""
    if directions.illegal:
        lines = "; ".join(f"{hop}: {reason}" for hop, reason in directions.illegal)
        raise IllegalHop(f"Illegal hop {lines}", tuple(hop for hop, _ in directions.illegal))


class _Solver:
    """Decides the directions of one group's hops, with the domains of the variables around it."""

    def __init__(
        self, statement: Statement, schema: GraphSchema, group: HopGroup, outer_domains: Domains
    ) -> None:
        self.statement, self.schema, self.group = statement, schema, group
        self._labels = frozenset(schema.labels)
        joint_labels = {node: joint(expressions) for node, expressions in group.labels.items()}
        self._several_label_nodes = {
            node for node, expression in joint_labels.items() if has_several_labels(expression)
        }
        self._domains = dict(outer_domains)
        for node, expression in joint_labels.items():
            self._domains[node] = self._admitted_labels(expression, outer_domains.get(node))
        self._edges: list[_Edge] = []
        for hop in group.hops:
            types, undirected = group.types.get(hop.edge.start, ()), hop.edge.direction == "both"
            pairs = hop_pairs(schema, types, hop.edge.length, undirected=undirected)
            self._edges.append(_Edge(hop, pairs, frozenset((tail, head) for head, tail in pairs)))

    def _admitted_labels(
        self, expression: LabelExpression | None, outer_labels: frozenset[str] | None
    ) -> frozenset[str]:
        labels = self._labels
        if expression is not None:
            labels = frozenset(label for label in labels if admits_label(expression, label))
        # A label that is added further in does not contradict one from further out: a node may have both.
        return labels if outer_labels is None or not labels & outer_labels else labels & outer_labels

    def solve(self, result: Directions) -> Domains:
        """Note the hops to turn and the illegal ones in `result`; return the domains that follow."""
        turned: set[int] = set()
        legal = True
        for position, edge in enumerate(self._edges):
            if self._possible(edge, turned=False):
                continue
            turnable = self._possible(edge, turned=True)
            result.missing_hops += self._searches(edge, turned=not turnable)
            legal = legal and turnable
            if turnable:
                turned.add(position)
            else:
                result.illegal.append((self.statement.source(edge.hop.hop_syntax), self._explain(edge)))
        domains = self._narrow_domains(turned) if legal else None
        if legal and domains is None:
            further_turns, domains = self._turn_further_hops(turned)
            turned |= further_turns
        for position in sorted(turned):
            self._turn(self._edges[position], result)
        return self._domains if domains is None else self._domains | domains

    def _searches(self, edge: _Edge, *, turned: bool) -> list[HopSearch]:
        """What to look for in the graph to know that a hop is there as written, or also `turned`.

        Nothing of a path of several edges.
        """
        relationship = edge.hop.edge
        ends = [self._domain(node) for node in (edge.hop.left, edge.hop.right)]
        type_expressions = self.group.types.get(relationship.start, [])
        types = tuple(
            t
            for t in self.schema.types
            if type_expressions and all(admits_type(expression, t) for expression in type_expressions)
        )
        if relationship.length is not None or not all(ends) or (type_expressions and not types):
            return []
        left, right = (() if labels == self._labels else tuple(sorted(labels)) for labels in ends)
        searches = {"right": HopSearch(left, types, right), "left": HopSearch(right, types, left)}
        return [
            search for way, search in searches.items() if turned or relationship.direction in (way, "both")
        ]

    def _domain(self, node: int) -> frozenset[str]:
        return self._domains.get(node, self._labels)

    def _possible(self, edge: _Edge, *, turned: bool) -> bool:
        left, right = self._domain(edge.hop.left), self._domain(edge.hop.right)
        return any(a in left and b in right for a, b in edge.pairs(turned=turned))

    def _turn_further_hops(self, forced_turns: set[int]) -> tuple[set[int], Domains | None]:
        """Find the fewest further hops to turn so that all hops can hold together; of equals, the last ones.

        If no `MOST_TURNS` hops do, all stay as they are: the schema may not tell all labels of a node.
        """
        free_hops = [
            i
            for i, edge in enumerate(self._edges)
            if i not in forced_turns and edge.hop.edge.direction != "both"
        ]
        for count in range(1, min(MOST_TURNS, len(free_hops)) + 1):
            for chosen in combinations(reversed(free_hops), count):
                domains = self._narrow_domains(forced_turns | set(chosen))
                if domains is not None:
                    return set(chosen), domains
        return set(), None

    def _narrow_domains(self, turned: set[int]) -> Domains | None:
        """Domains from which every label has a partner in every hop; None if one is empty.

        A node that is asked for several labels takes part in each hop by itself.
        """
        arcs = list(self._arcs(turned))
        domains = {node: self._domain(origin) for left, right, _ in arcs for node, origin in (left, right)}
        changed = True
        while changed:
            changed = False
            for (left, _), (right, _), pairs in arcs:
                possible_pairs = [(a, b) for a, b in pairs if a in domains[left] and b in domains[right]]
                for node, possible_labels in (
                    (left, {a for a, _ in possible_pairs}),
                    (right, {b for _, b in possible_pairs}),
                ):
                    if len(possible_labels) < len(domains[node]):
                        domains[node] = frozenset(possible_labels)
                        changed = True
            if not all(domains.values()):
                return None
        return {node: labels for node, labels in domains.items() if node >= 0}

    def _arcs(self, turned: set[int]) -> Iterator[tuple[tuple[int, int], tuple[int, int], Pairs]]:
        """(node, node whose domain it has) at both ends, and the pairs; copies of nodes are negative."""
        copies = 0
        for position, edge in enumerate(self._edges):
            ends: list[tuple[int, int]] = []
            for node in (edge.hop.left, edge.hop.right):
                copies += 1
                ends.append((-copies if node in self._several_label_nodes else node, node))
            yield ends[0], ends[1], edge.pairs(turned=position in turned)

    def _turn(self, edge: _Edge, result: Directions) -> None:
        relationship = edge.hop.edge
        if relationship.direction == "right":
            edits = {relationship.left[0]: "<-", relationship.right[1]: ""}
        else:
            edits = {relationship.left[0]: "", relationship.right[0]: "->"}
        result.edits.update(edits)
        hop_syntax = edge.hop.hop_syntax
        tokens = self.statement.tokens[hop_syntax.start : hop_syntax.stop]
        texts = [edits.get(hop_syntax.start + i, token.text) for i, token in enumerate(tokens)]
        after = "".join((t.space if i else "") + texts[i] for i, t in enumerate(tokens))
        reason = f"the schema has {self._name_allowed_hops(edge)}"
        result.corrections.append(
            Correction("direction", self.statement.source(edge.hop.hop_syntax), after, reason)
        )

    def _name_allowed_hops(self, edge: _Edge) -> str:
        """Name the hops of the schema that are of the edge's types, those at its ends first."""
        hops = self._of_its_types(edge)
        end_labels = self._domain(edge.hop.left) | self._domain(edge.hop.right)
        hops.sort(key=lambda h: -((h.head in end_labels) + (h.tail in end_labels)))
        hops = [h for h in hops if h.head in end_labels and h.tail in end_labels] or hops
        hop_texts = ", ".join(map(str, hops[:MOST_LABELS_SHOWN]))
        return hop_texts + (", …" if len(hops) > MOST_LABELS_SHOWN else "")

    def _of_its_types(self, edge: _Edge) -> list[SchemaHop]:
        types = self.group.types.get(edge.hop.edge.start, [])
        return [hop for hop in self.schema.hops if all(admits_type(t, hop.type) for t in types)]

    def _explain(self, edge: _Edge) -> str:
        for node in (edge.hop.left, edge.hop.right):
            expression = joint(self.group.labels.get(node, []))
            if expression is not None and not self._domain(node):
                return f"the schema has no label {', '.join(name.text for name in expression.names)}"
        if not self._of_its_types(edge):
            types = self.group.types.get(edge.hop.edge.start, [])
            return f"the schema has no relation {', '.join(n.text for t in types for n in t.names)}"
        return f"the schema allows it in neither direction, only {self._name_allowed_hops(edge)}"

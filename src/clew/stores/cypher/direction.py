"""Direction correction: turn the hops that the schema forbids as they are written, and only those.

A hop is forbidden if the schema connects no labels that its ends may have in its direction. An end without
labels gets them from the other hops that must hold at the same time. A hop that the schema allows in neither
direction is reported, as the query could only return nothing. The idea is that of the corrector in SynaptiQA
(section III.B); the rules are our own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations, count

from clew.stores.cypher import tree
from clew.stores.cypher.tree import (
    CypherQuery,
    Expression,
    LabelExpression,
    Relationship,
    Statement,
    Syntax,
    render,
)
from clew.stores.errors import QueryError
from clew.stores.store import GraphSchema, HopSearch, SchemaHop

# The labels that an expression admits, and the pairs of labels that a hop may connect.

Pairs = frozenset[tuple[str, str]]

LONGEST_HOP = 64
"""Longer hops are treated as having this length; beyond it, the labels that they reach repeat."""


def admits_label(expression: LabelExpression, label: str, *, negated: bool = False) -> bool:
    """Whether a node that the schema knows by `label` may satisfy the expression (see `admits_all`)."""
    operator, parts = expression.operator, expression.parts
    if operator == "label":
        return (expression.name is not None and expression.name.text == label) != negated
    if operator == "%":
        return not negated
    if operator == "!":
        return admits_label(parts[0], label, negated=not negated)
    if operator == "&" and not negated:
        return admits_all(parts, label)
    fits = (admits_label(part, label, negated=negated) for part in parts)
    return all(fits) if operator == "|" and negated else any(fits)


def admits_all(parts: Sequence[LabelExpression], label: str) -> bool:
    """Whether a node that the schema knows by `label` may satisfy all these expressions.

    A node may have more labels than the one that a hop of the schema names, so that `A&B` admits A and B. A
    label that `!` excludes is never admitted.
    """
    including = [part for part in parts if part.operator not in ("!", "%")]
    return all(admits_label(part, label) for part in parts if part.operator == "!") and (
        not including or any(admits_label(part, label) for part in including)
    )


def admits_type(expression: LabelExpression, type_: str) -> bool:
    """Whether a relation of a type satisfies the expression; a relation has one type."""
    fits = (admits_type(part, type_) for part in expression.parts)
    match expression.operator:
        case "label":
            return expression.name is not None and expression.name.text == type_
        case "%":
            return True
        case "!":
            return not any(fits)
        case "|":
            return any(fits)
        case "&":
            return all(fits)


def _repeat_hops(single: Pairs, labels: Sequence[str], length: tree.Length) -> Pairs:
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


# The hops of a statement, in groups that must hold together, with the labels that it gives their ends.
#
# The hops of a group must all match for a row: those of the MATCH clauses of a query. Hops that need not
# (of OPTIONAL MATCH, patterns in conditions, subqueries) are a group below the one whose variables they use.


@dataclass(frozen=True, slots=True)
class PatternHop:
    """An edge of a pattern, between nodes with the numbers `left` and `right`, in the order of the text."""

    edge: Relationship
    left: int
    right: int
    hop_syntax: Syntax
    """The edge with the nodes at its ends."""


@dataclass(slots=True)
class HopGroup:
    """Hops that must hold together, with the `labels` of nodes and the `types` of edges by the statement."""

    parent: HopGroup | None
    hops: list[PatternHop] = field(default_factory=list[PatternHop])
    labels: dict[int, list[LabelExpression]] = field(default_factory=dict[int, list[LabelExpression]])
    types: dict[int, list[LabelExpression]] = field(default_factory=dict[int, list[LabelExpression]])
    """By the edge's first token."""


_Scope = dict[str, int | Relationship]
"""The variables in scope: name → number of a node, or an edge."""


def _without(scope: _Scope, names: Iterable[tree.Name]) -> _Scope:
    hidden = {name.text for name in names}
    return {name: found for name, found in scope.items() if name not in hidden}


class _HopFinder:
    """Walks the clauses in order and numbers the nodes; `groups` has each parent before its children."""

    def __init__(self) -> None:
        self.groups: list[HopGroup] = []
        self._numbers = count(1)

    def _group(self, parent: HopGroup | None) -> HopGroup:
        self.groups.append(HopGroup(parent))
        return self.groups[-1]

    def query(self, query: CypherQuery, outer: _Scope, parent: HopGroup | None) -> _Scope:
        """Walk the branches of a query; return the variables in scope at the end of the last one."""
        scope = outer
        for branch in query.branches:
            scope = self._branch(branch, outer, self._group(parent))
        return scope

    def _branch(self, branch: tree.Branch, outer: _Scope, group: HopGroup) -> _Scope:
        scope = dict(outer)
        for clause in branch.clauses:
            match clause:
                case tree.MatchClause(optional=optional, paths=paths, where=where):
                    match_group = self._group(group) if optional else group
                    for path in paths:
                        self._path(path, scope, match_group)
                    self._where(where, scope, match_group)
                case tree.Projection():
                    scope = self._projection(clause, scope, group)
                case tree.CallQuery():
                    scope = self._call(clause, scope, group) | scope
                case tree.Unwind(source=source, variable=variable):
                    self._expression(source, scope, group)
                    scope = _without(scope, (variable,))
                case tree.CallProcedure(yields=yields):
                    scope = _without(scope, yields)
                    self._expression(clause, scope, group)
                case _:
                    pass
        return scope

    def _call(self, clause: tree.CallQuery, scope: _Scope, group: HopGroup) -> _Scope:
        """Walk a subquery; without UNION and OPTIONAL, its hops must hold together with those around it."""
        inner, query = _Scope(), clause.query
        first = query.branches[0].clauses[0]
        begins_by_importing = isinstance(first, tree.Projection) and first.keyword == "WITH"
        if clause.imports_all or (clause.imports is None and begins_by_importing):
            inner = scope
        elif clause.imports is not None:
            imports = {name.text for name in clause.imports}
            inner = {name: found for name, found in scope.items() if name in imports}
        if not clause.optional and len(query.branches) == 1:
            return self._branch(query.branches[0], inner, group)
        return self.query(query, inner, group)

    def _projection(self, clause: tree.Projection, scope: _Scope, group: HopGroup) -> _Scope:
        result = dict(scope) if clause.star else _Scope()
        for item in clause.items:
            self._expression(item.expression, scope, group)
            subject = item.expression
            if isinstance(subject, tree.Variable) and subject.name.text in scope:
                result[item.name] = scope[subject.name.text]
        joint_scope = scope | result
        for part in clause.order:
            self._expression(part, joint_scope, group)
        self._where(clause.where, joint_scope, group)
        return result

    def _path(self, path: tree.PathPattern, scope: _Scope, group: HopGroup) -> None:
        """Add the hops of a path and number its nodes; a part that repeats is a group of its own."""
        numbers = [self._element(element, scope, group) for element in path.elements]
        for at, edge in enumerate(path.elements):
            if not isinstance(edge, Relationship):
                continue
            left, right = (numbers[end] or next(self._numbers) for end in (at - 1, at + 1))
            hop_syntax = Syntax(path.elements[at - 1].start, path.elements[at + 1].stop)
            group.hops.append(PatternHop(edge, left, right, hop_syntax))
            if edge.types is not None:
                group.types.setdefault(edge.start, []).append(edge.types)
            if edge.variable is not None:
                scope[edge.variable.text] = edge
            for part in (edge.properties, edge.where):
                self._where(part, scope, group)

    def _element(self, element: Syntax, scope: _Scope, group: HopGroup) -> int:
        """Walk a node or a part in parentheses; return the number of a node, else 0."""
        if isinstance(element, tree.Parenthesised):
            inner_group = self._group(group) if element.length else group
            inner = dict(scope) if element.length else scope
            self._path(element.path, inner, inner_group)
            self._where(element.where, inner, inner_group)
        if not isinstance(element, tree.NodePattern):
            return 0
        name = "" if element.variable is None else element.variable.text
        number = scope.get(name)
        if not isinstance(number, int):
            number = next(self._numbers)
            if name:
                scope[name] = number
        if element.labels is not None:
            group.labels.setdefault(number, []).append(element.labels)
        for part in (element.properties, element.where):
            self._where(part, scope, group)
        return number

    def _where(self, where: Expression | None, scope: _Scope, group: HopGroup) -> None:
        """Add the labels and types that a condition requires, and walk the patterns in it."""
        if where is None:
            return
        for part in terms(where, "AND"):
            condition = _label_condition(part)
            found = scope.get(condition[0]) if condition else None
            if condition and isinstance(found, int):
                group.labels.setdefault(found, []).append(condition[1])
            elif condition and isinstance(found, Relationship):
                group.types.setdefault(found.start, []).append(condition[1])
        self._expression(where, scope, group)

    def _expression(self, expression: Syntax, scope: _Scope, group: HopGroup) -> None:
        waiting: list[Syntax] = [expression]
        while waiting:
            part = waiting.pop()
            match part:
                case tree.PatternExpression(path=path):
                    self._path(path, dict(scope), self._group(group))
                case tree.PatternComprehension(path=path, where=where, result=result):
                    inner, inner_group = dict(scope), self._group(group)
                    self._path(path, inner, inner_group)
                    self._where(where, inner, inner_group)
                    self._expression(result, inner, inner_group)
                case tree.Subquery(query=query):
                    self.query(query, scope, group)
                case tree.Iteration() | tree.Reduce():
                    children = list(part.children())
                    inner = _without(scope, (name for name in children if isinstance(name, tree.Name)))
                    for child in children:
                        self._expression(child, inner, group)
                case _:
                    waiting.extend(reversed(list(part.children())))


def terms(expression: Expression, operator: str) -> list[Expression]:
    """Split a condition at `operator` (AND or OR)."""
    waiting, parts = [expression], list[Expression]()
    while waiting:
        part = waiting.pop()
        if isinstance(part, tree.Calculation) and part.operator == operator:
            waiting.extend(reversed(part.operands))
        else:
            parts.append(part)
    return parts


def _label_condition(part: Expression) -> tuple[str, LabelExpression] | None:
    """Read a condition as labels or types of a variable: *p:A*, *type(r) = 'X'*; None for any other."""
    texts: Sequence[Expression]
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
            known = [condition for condition in conditions if condition is not None]
            if len(known) < len(conditions) or len({name for name, _ in known}) > 1:
                return None
            return known[0][0], _any_of(part, [labels for _, labels in known])
        case tree.Calculation(
            operator="IN", operands=(text, tree.Call(name=function, arguments=(tree.Variable(name=name),)))
        ) if function.lower() == "labels":
            texts = [text]
        case tree.Calculation(
            operator="=" | "IN",
            operands=(tree.Call(name=function, arguments=(tree.Variable(name=name),)), right),
        ) if function.lower() == "type":
            texts = right.items if isinstance(right, tree.ListLiteral) else [right]
        case _:
            return None
    values = [text.value for text in texts if isinstance(text, tree.LiteralValue)]
    names = [tree.Name(part.start, part.stop, value) for value in values if isinstance(value, str)]
    if not names or len(names) < len(texts):
        return None
    labels = [LabelExpression(each.start, each.stop, "label", each, ()) for each in names]
    return name.text, _any_of(part, labels)


def _any_of(part: Syntax, labels: Sequence[LabelExpression]) -> LabelExpression:
    only = len(labels) == 1
    return labels[0] if only else LabelExpression(part.start, part.stop, "|", None, tuple(labels))


MOST_TURNS = 3
"""Most hops, each legal alone, that are turned to make a whole pattern legal."""
MOST_LABELS_SHOWN = 4

Domains = dict[int, frozenset[str]]
"""Number of a node → labels of the schema that it may have."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A change of a statement: `kind`, the text `before` and `after`, and why."""

    kind: str
    before: str
    after: str
    reason: str


@dataclass(slots=True)
class Directions:
    """New texts of tokens, the corrections that they make, and hops that no direction makes legal.

    `illegal` has the text of each such hop and the reason. `missing_hops` are hops that the schema lacks; if
    the graph has one of them, an edge may stay as it is written, or is legal after all.
    """

    edits: dict[int, str] = field(default_factory=dict[int, str])
    corrections: list[Correction] = field(default_factory=list[Correction])
    illegal: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    missing_hops: list[HopSearch] = field(default_factory=list[HopSearch])


def correct_directions(statement: Statement, schema: GraphSchema) -> Directions:
    """Find the hops to turn, and those that neither direction makes legal."""
    result, finder = Directions(), _HopFinder()
    finder.query(statement.query, {}, None)
    domains_by_group: dict[int, Domains] = {}
    for group in finder.groups:
        outer_domains = domains_by_group[id(group.parent)] if group.parent is not None else {}
        domains_by_group[id(group)] = _Solver(statement, schema, group, outer_domains, result).solve()
    return result


def require_legal(directions: Directions) -> None:
    """Raise QueryError if neither direction makes a hop legal."""
    if directions.illegal:
        lines = "; ".join(f"{hop}: {reason}" for hop, reason in directions.illegal)
        raise QueryError(f"Illegal hop {lines}")


class _Solver:
    """Decides the directions of a group's hops, given the domains of the groups around it."""

    def __init__(
        self,
        statement: Statement,
        schema: GraphSchema,
        group: HopGroup,
        outer_domains: Domains,
        result: Directions,
    ) -> None:
        self.statement, self.schema, self.group, self.result = statement, schema, group, result
        self._labels = frozenset(schema.labels)
        self._domains = dict(outer_domains)
        self._several_label_nodes: set[int] = set()
        """Nodes that must have two labels or more: different hops may know them by different ones."""
        for node, expressions in group.labels.items():
            parts = [part for e in expressions for part in (e.parts if e.operator == "&" else (e,))]
            names = {part.name.text if part.name else str(part) for part in parts if part.operator != "!"}
            if len(names) > 1:
                self._several_label_nodes.add(node)
            admitted = frozenset(label for label in self._labels if admits_all(parts, label))
            # A label added further in does not contradict one from further out: a node may have both.
            self._domains[node] = (admitted & outer_domains.get(node, admitted)) or admitted
        self._pairs = [self._schema_pairs(hop.edge) for hop in group.hops]
        """The (head label, tail label) pairs of each hop; of an undirected one also reversed."""

    def _schema_pairs(self, edge: Relationship) -> Pairs:
        """The pairs that an edge may connect.

        Each step of an undirected one goes either way: two of *acted in* lead from an actor to an actor.
        """
        pairs = frozenset((hop.head, hop.tail) for hop in self._schema_hops(edge))
        if edge.direction == "both":
            pairs |= frozenset((tail, head) for head, tail in pairs)
        return pairs if edge.length is None else _repeat_hops(pairs, self.schema.labels, edge.length)

    def _schema_hops(self, edge: Relationship) -> list[SchemaHop]:
        """The hops of the schema that have the edge's types."""
        types = self.group.types.get(edge.start, [])
        return [hop for hop in self.schema.hops if all(admits_type(t, hop.type) for t in types)]

    def _pairs_of(self, position: int, *, turned: bool) -> Pairs:
        """(left label, right label) pairs of a hop, as written or `turned`."""
        direction, pairs = self.group.hops[position].edge.direction, self._pairs[position]
        if direction == "both" or (direction == "right") != turned:
            return pairs
        return frozenset((tail, head) for head, tail in pairs)

    def solve(self) -> Domains:
        """Add the hops to turn and the illegal ones to `result`; return the domains that follow."""
        turned: set[int] = set()
        legal = True
        for position, hop in enumerate(self.group.hops):
            if self._possible(position, turned=False):
                continue
            turnable = self._possible(position, turned=True)
            self.result.missing_hops += self._searches(hop, turned=not turnable)
            legal = legal and turnable
            if turnable:
                turned.add(position)
            else:
                self.result.illegal.append((self.statement.source(hop.hop_syntax), self._explain(hop)))
        domains = self._narrow_domains(turned) if legal else None
        if legal and domains is None:
            further_turns, domains = self._turn_further_hops(turned)
            turned |= further_turns
        for position in sorted(turned):
            self._turn(self.group.hops[position])
        return self._domains if domains is None else self._domains | domains

    def _searches(self, hop: PatternHop, *, turned: bool) -> list[HopSearch]:
        """The hops to look for in the graph: as written, if `turned` also reversed.

        None for a path of any length.
        """
        edge, ends = hop.edge, [self._domain(node) for node in (hop.left, hop.right)]
        expressions = self.group.types.get(edge.start, [])
        types = tuple(
            t for t in self.schema.types if expressions and all(admits_type(e, t) for e in expressions)
        )
        if edge.length is not None or not all(ends) or (expressions and not types):
            return []
        left, right = (() if labels == self._labels else tuple(sorted(labels)) for labels in ends)
        searches = {"right": HopSearch(left, types, right), "left": HopSearch(right, types, left)}
        return [search for way, search in searches.items() if turned or edge.direction in (way, "both")]

    def _domain(self, node: int) -> frozenset[str]:
        return self._domains.get(node, self._labels)

    def _possible(self, position: int, *, turned: bool) -> bool:
        hop = self.group.hops[position]
        left, right = self._domain(hop.left), self._domain(hop.right)
        return any(a in left and b in right for a, b in self._pairs_of(position, turned=turned))

    def _turn_further_hops(self, forced_turns: set[int]) -> tuple[set[int], Domains | None]:
        """Find the fewest further hops to turn so that all can hold together; of equally few, the last ones.

        If turning `MOST_TURNS` hops is not enough, none is turned: the schema may lack labels of a node.
        """
        free_hops = [
            i
            for i, hop in enumerate(self.group.hops)
            if i not in forced_turns and hop.edge.direction != "both"
        ]
        for turns in range(1, min(MOST_TURNS, len(free_hops)) + 1):
            for chosen in combinations(reversed(free_hops), turns):
                domains = self._narrow_domains(forced_turns | set(chosen))
                if domains is not None:
                    return set(chosen), domains
        return set(), None

    def _narrow_domains(self, turned: set[int]) -> Domains | None:
        """Keep the labels that have a partner in every hop of their node; None if a node keeps none.

        A node with several labels may have a different one in each hop.
        """
        domains, arcs = Domains(), list[tuple[int, int, Pairs]]()
        for position, hop in enumerate(self.group.hops):
            # Copies of nodes are negative.
            left, right = (
                -2 * position - side if node in self._several_label_nodes else node
                for side, node in enumerate((hop.left, hop.right), 1)
            )
            domains |= {left: self._domain(hop.left), right: self._domain(hop.right)}
            arcs.append((left, right, self._pairs_of(position, turned=position in turned)))
        changed = True
        while changed:
            changed = False
            for left, right, pairs in arcs:
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

    def _turn(self, hop: PatternHop) -> None:
        edge, part = hop.edge, hop.hop_syntax
        if edge.direction == "right":
            edits = {edge.left[0]: "<-", edge.right[1]: ""}
        else:
            edits = {edge.left[0]: "", edge.right[0]: "->"}
        self.result.edits.update(edits)
        tokens = self.statement.tokens[part.start : part.stop]
        after = render(tokens, {token - part.start: text for token, text in edits.items()})
        before, reason = self.statement.source(part), f"the schema has {self._name_allowed_hops(hop)}"
        self.result.corrections.append(
            Correction("direction", before, after.removeprefix(tokens[0].space), reason)
        )

    def _name_allowed_hops(self, hop: PatternHop) -> str:
        """Name the schema's hops of the edge's types, those between labels of its ends first."""
        end_labels = self._domain(hop.left) | self._domain(hop.right)
        hops = sorted(
            self._schema_hops(hop.edge), key=lambda h: -((h.head in end_labels) + (h.tail in end_labels))
        )
        hops = [h for h in hops if h.head in end_labels and h.tail in end_labels] or hops
        hop_texts = ", ".join(map(str, hops[:MOST_LABELS_SHOWN]))
        return hop_texts + (", …" if len(hops) > MOST_LABELS_SHOWN else "")

    def _explain(self, hop: PatternHop) -> str:
        for node in (hop.left, hop.right):
            if node in self.group.labels and not self._domain(node):
                names = (name.text for part in self.group.labels[node] for name in part.names)
                return f"the schema has no label {', '.join(names)}"
        if not self._schema_hops(hop.edge):
            types = self.group.types.get(hop.edge.start, [])
            return f"the schema has no relation {', '.join(n.text for t in types for n in t.names)}"
        return f"the schema allows it in neither direction, only {self._name_allowed_hops(hop)}"

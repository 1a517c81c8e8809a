"""The hops of a statement, in groups that must hold together, with what it says about their ends.

A group is what must all be matched for a row: the MATCH clauses of a query. What need not hold (OPTIONAL
MATCH, patterns in conditions, subqueries) is a group of its own, below the one whose variables it uses.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from clew.stores.cypher import tree
from clew.stores.cypher.tree import CypherQuery, Expression, LabelExpression, Relationship, Syntax


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

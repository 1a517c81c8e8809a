"""The names and values that a statement uses, each with its token, and the origins of its columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, cast

from clew.stores.cypher import tree
from clew.stores.cypher.tree import (
    Expression,
    LabelExpression,
    Name,
    Relationship,
    Statement,
    Syntax,
    labels_of,
)

NameKind = Literal["label", "relation", "property"]
Owner = Literal["node", "relation"]
_COMPARING = ("=", "CONTAINS", "STARTS WITH", "ENDS WITH")


@dataclass(frozen=True, slots=True)
class NameUse:
    """A label, relation type or property at a token.

    A property belongs to a node or relation (`owner`); `of` are the labels or types that the statement gives
    that one.
    """

    kind: NameKind
    text: str
    token: int
    owner: Owner = "node"
    of: tuple[str, ...] = ()
    variable: str = ""


@dataclass(frozen=True, slots=True)
class ValueUse:
    """A text or number at a token, which a property of a node or relation (`owner`) is compared with.

    `function` is `toLower` or `toUpper` if the property stands in one: *toLower(p.name) = 'x'*.
    """

    value: str | int | float
    token: int
    property: str
    of: tuple[str, ...]
    operator: str
    function: str = ""
    variable: str = ""
    owner: Owner = "node"


@dataclass(frozen=True)
class Uses:
    """All uses of names and values, in the order of the text."""

    names: tuple[NameUse, ...]
    values: tuple[ValueUse, ...]


def uses_of(statement: Statement) -> Uses:
    """Find the names and values that a statement uses."""
    names, values = list[NameUse](), list[ValueUse]()
    finder = _UseFinder(list(statement.query.walk()))
    for part in finder.parts:
        names += finder.names(part)
        values += finder.values(part)
    in_order = (sorted(dict.fromkeys(uses), key=lambda use: use.token) for uses in (names, values))
    return Uses(*map(tuple, in_order))  # pyright: ignore[reportArgumentType]


class _UseFinder:
    """Knows which variables are nodes and which relations, and the labels that the statement gives each."""

    def __init__(self, parts: list[Syntax]) -> None:
        self.parts = parts
        self._owners: dict[str, Owner] = {}
        self._labels: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for part in parts:
            match part:
                case tree.NodePattern(variable=Name(text=name)) | Relationship(variable=Name(text=name)):
                    self._owners[name] = _owner(part)
                    self._labels[name].update(dict.fromkeys(_possible_labels(labels_of(part))))
                case tree.LabelCheck(subject=tree.Variable(name=Name(text=name)), labels=labels):
                    self._labels[name].update(dict.fromkeys(_possible_labels(labels)))
                case _:
                    pass
        for part in parts:
            # `WITH p AS q`: q has the owner and labels of p.
            alias = part.alias if isinstance(part, tree.ReturnItem) else None
            if alias and (name := self._graph_variable(cast("tree.ReturnItem", part).expression)):
                self._owners.setdefault(alias.text, self._owners[name])
                self._labels[alias.text].update(self._labels[name])

    def _graph_variable(self, expression: Expression) -> str:
        """The variable that an expression is, if it is a node or relation; empty for anything else."""
        name = expression.name.text if isinstance(expression, tree.Variable) else ""
        return name if name in self._owners else ""

    def _element(self, part: tree.NodePattern | Relationship) -> tuple[Owner, tuple[str, ...], str]:
        """What a node or relation of a pattern is, the labels or types that it has anywhere, its variable."""
        name = part.variable.text if part.variable is not None else ""
        return _owner(part), tuple(self._labels[name]) if name else _possible_labels(labels_of(part)), name

    def names(self, part: Syntax) -> Iterator[NameUse]:
        """Yield the names that a part uses itself."""
        labels, is_relation = None, False
        match part:
            case tree.NodePattern() | Relationship():
                labels, is_relation = labels_of(part), isinstance(part, Relationship)
                if isinstance(part.properties, tree.MapLiteral):
                    for entry in part.properties.entries:
                        yield NameUse("property", entry.key.text, entry.key.start, *self._element(part))
            case tree.LabelCheck(subject=tree.Variable(name=Name(text=name))):
                labels, is_relation = part.labels, self._owners.get(name) == "relation"
            case tree.PropertyAccess() | tree.MapProjection() if name := self._graph_variable(part.subject):
                for key in [part.key] if isinstance(part, tree.PropertyAccess) else part.selected:
                    owner, of = self._owners[name], tuple(self._labels[name])
                    yield NameUse("property", key.text, key.start, owner, of, name)
            case _:
                pass
        kind: NameKind = "relation" if is_relation else "label"
        yield from (NameUse(kind, n.text, n.start) for n in (labels.names if labels else ()))

    def values(self, part: Syntax) -> Iterator[ValueUse]:
        """Yield the values that a part compares with properties."""
        match part:
            case tree.NodePattern() | Relationship() if isinstance(part.properties, tree.MapLiteral):
                owner, of, variable = self._element(part)
                for entry in part.properties.entries:
                    for literal in _values(entry.value):
                        yield ValueUse(*literal, entry.key.text, of, "=", "", variable, owner)
            case tree.Calculation(operator="IN", operands=(left, tree.ListLiteral(items=items))):
                for item in items:
                    yield from self._compared_values(left, item, "=")
            case tree.Calculation(operator=operator, operands=(left, right)) if operator in _COMPARING:
                yield from self._compared_values(left, right, operator)
                if operator == "=":
                    yield from self._compared_values(right, left, operator)
            case _:
                pass

    def _compared_values(self, subject: Expression, value: Expression, operator: str) -> Iterator[ValueUse]:
        function = ""
        if isinstance(subject, tree.Call) and subject.name.lower() in ("tolower", "toupper"):
            inner = subject.arguments[0] if len(subject.arguments) == 1 else subject
            subject, function = inner, subject.name
        if isinstance(subject, tree.PropertyAccess) and (name := self._graph_variable(subject.subject)):
            key, owner, of = subject.key.text, self._owners[name], tuple(self._labels[name])
            for literal in _values(value):
                yield ValueUse(*literal, key, of, operator, function, name, owner)


def _values(value: Expression) -> Iterator[tuple[str | int | float, int]]:
    """Yield the text or number that an expression is, with its token."""
    if isinstance(value, tree.LiteralValue) and value.kind in ("string", "integer", "float"):
        yield cast("str | int | float", value.value), value.start


def _owner(part: tree.NodePattern | Relationship) -> Owner:
    return "node" if isinstance(part, tree.NodePattern) else "relation"


def _possible_labels(labels: LabelExpression | None) -> tuple[str, ...]:
    """The labels of `A`, `A|B` and `A&B`; none of an expression that excludes labels."""
    if labels is None or labels.operator not in ("label", "|", "&"):
        return ()
    return tuple(name.text for name in labels.names)


# The origin of a column of the result: the graph, or the statement alone.

Origin = Literal["graph", "graph and text", "statement"]
"""*p.name* and *count(p)* are from the graph, *42* from the statement.

*CASE WHEN p.age > 65 THEN 'old' END* is from graph and text: it depends on the graph, but may return a text
of the statement.
"""

_FROM_LEAST: tuple[Origin, ...] = ("statement", "graph and text", "graph")
"""In the order of how much they prove, the least first."""


def origins_of(statement: Statement) -> tuple[dict[str, Origin], ...]:
    """Return the origin of each column, by its name; one mapping for each branch of a UNION."""
    return tuple(_origins(branch, {}) for branch in statement.query.branches)


def _origins(branch: tree.Branch, known: Mapping[str, Origin]) -> dict[str, Origin]:
    """The origin of each variable after the last clause of a branch."""
    known, matched = dict(known), False
    for clause in branch.clauses:
        match clause:
            case tree.Projection():
                of_items: dict[str, Origin] = {}
                for item in clause.items:
                    name = item.alias.text if item.alias else item.name
                    of_items[name] = _origin(item.expression, known, matched)
                known = {**(known if clause.star else {}), **of_items}
            case tree.Unwind():
                known[clause.variable.text] = _origin(clause.source, known, matched)
            case tree.CallQuery():
                of_branches = [_origins(inner, known) for inner in clause.query.branches]
                known |= {
                    name: next(each for each in _FROM_LEAST if each in [o.get(name) for o in of_branches])
                    for name in of_branches[0]
                }
                matched = True
            case tree.CallProcedure():
                known |= dict.fromkeys((name.text for name in clause.yields), "graph")
            case _:
                matched = True
                names = (
                    part.variable for part in clause.find(tree.NodePattern, Relationship, tree.PathPattern)
                )
                known |= dict.fromkeys((name.text for name in names if name is not None), "graph")
    return known


def _origin(expression: Expression, known: Mapping[str, Origin], matched: bool) -> Origin:
    """The origin of an expression; `count(*)` is from the graph if anything was `matched` before it."""
    parts = list(expression.walk())
    of_variables = {known.get(p.name.text) for p in parts if isinstance(p, tree.Variable)} - {None}
    finds = any(
        isinstance(p, (tree.PatternExpression, tree.PatternComprehension, tree.Subquery)) for p in parts
    )
    counts = matched and any(isinstance(p, tree.Call) and p.star for p in parts)
    if not finds and not counts and of_variables <= {"statement"}:
        return "statement"
    texts = (p.value for p in parts if isinstance(p, tree.LiteralValue) and isinstance(p.value, str))
    says = any(map(str.isalnum, "".join(texts))) or not of_variables <= {"graph", None}
    return "graph and text" if says else "graph"

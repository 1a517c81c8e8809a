"""The names and values that a statement uses, each with its token and what is said around it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from clew.stores.cypher.tree import (
    Calculation,
    Call,
    Expression,
    LabelCheck,
    LabelExpression,
    ListLiteral,
    LiteralValue,
    MapLiteral,
    MapProjection,
    Name,
    NodePattern,
    PropertyAccess,
    Relationship,
    ReturnItem,
    Statement,
    Syntax,
    Variable,
)

NameKind = Literal["label", "relation", "property"]
Owner = Literal["node", "relation"]
_COMPARING = ("=", "CONTAINS", "STARTS WITH", "ENDS WITH")


@dataclass(frozen=True, slots=True)
class NameUse:
    """A label, relation type or property at a token.

    A property belongs to a node or relation (`owner`) of which the statement says the labels or types `of`.
    """

    kind: NameKind
    text: str
    token: int
    owner: Owner = "node"
    of: tuple[str, ...] = ()
    variable: str = ""


@dataclass(frozen=True, slots=True)
class ValueUse:
    """A text or number at a token that a property of a node or relation (its `owner`) is compared with.

    `function` is `toLower` or `toUpper` where the property is compared by way of it.
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
    """Find what a statement says of the graph."""
    finder = _UseFinder(statement)
    order = sorted(finder.names(), key=lambda use: use.token)
    values = sorted(finder.values(), key=lambda use: use.token)
    return Uses(tuple(dict.fromkeys(order)), tuple(dict.fromkeys(values)))


class _UseFinder:
    """Knows which variables are nodes and which relations, and the labels that are said of each."""

    def __init__(self, statement: Statement) -> None:
        self._parts = list(statement.query.walk())
        self._owners: dict[str, Owner] = {}
        self._said: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for part in self._parts:
            self._note(part)
        for part in self._parts:
            self._rename(part)

    def _note(self, part: Syntax) -> None:
        match part:
            case NodePattern(variable=Name(text=name), labels=labels):
                self._owners[name] = "node"
                self._say(name, labels)
            case Relationship(variable=Name(text=name), types=types):
                self._owners[name] = "relation"
                self._say(name, types)
            case LabelCheck(subject=Variable(name=Name(text=name)), labels=labels):
                self._say(name, labels)
            case _:
                pass

    def _rename(self, part: Syntax) -> None:
        """`WITH p AS q`: q is what p is."""
        match part:
            case ReturnItem(expression=Variable(name=Name(text=name)), alias=Name(text=alias)) if (
                name in self._owners
            ):
                self._owners.setdefault(alias, self._owners[name])
                self._said[alias].update(self._said[name])
            case _:
                pass

    def _say(self, name: str, labels: LabelExpression | None) -> None:
        if labels is not None and labels.operator in ("label", "|", "&"):
            self._said[name].update((found.text, None) for found in _label_names(labels))

    def names(self) -> Iterator[NameUse]:
        """Yield the names, in no order."""
        for part in self._parts:
            match part:
                case NodePattern(labels=LabelExpression() as labels):
                    yield from (NameUse("label", n.text, n.start) for n in _label_names(labels))
                case Relationship(types=LabelExpression() as types):
                    yield from (NameUse("relation", n.text, n.start) for n in _label_names(types))
                case LabelCheck(subject=Variable(name=Name(text=name)), labels=labels):
                    kind: NameKind = "relation" if self._owners.get(name) == "relation" else "label"
                    yield from (NameUse(kind, n.text, n.start) for n in _label_names(labels))
                case _:
                    pass
            yield from self._properties(part)

    def _properties(self, part: Syntax) -> Iterator[NameUse]:
        match part:
            case NodePattern(properties=MapLiteral(entries=entries)):
                yield from self._keys([entry.key for entry in entries], "node", part)
            case Relationship(properties=MapLiteral(entries=entries)):
                yield from self._keys([entry.key for entry in entries], "relation", part)
            case PropertyAccess(subject=Variable(name=Name(text=name)), key=key) if name in self._owners:
                yield NameUse("property", key.text, key.start, self._owners[name], self.said(name), name)
            case MapProjection(subject=Variable(name=Name(text=name)), selected=selected) if (
                name in self._owners
            ):
                for key in selected:
                    yield NameUse("property", key.text, key.start, self._owners[name], self.said(name), name)
            case _:
                pass

    def _keys(
        self, keys: Sequence[Name], owner: Owner, part: NodePattern | Relationship
    ) -> Iterator[NameUse]:
        for key in keys:
            yield NameUse("property", key.text, key.start, owner, self._of(part), _variable(part))

    def _of(self, part: NodePattern | Relationship) -> tuple[str, ...]:
        """Return what is said of a node or relation of a pattern, here or elsewhere in the statement."""
        if part.variable is not None:
            return self.said(part.variable.text)
        labels = part.labels if isinstance(part, NodePattern) else part.types
        if labels is None or labels.operator not in ("label", "|", "&"):
            return ()
        return tuple(name.text for name in _label_names(labels))

    def said(self, name: str) -> tuple[str, ...]:
        """Return the labels or types that are said of a variable."""
        return tuple(self._said[name])

    def values(self) -> Iterator[ValueUse]:
        """Yield the values, in no order."""
        for part in self._parts:
            match part:
                case (
                    NodePattern(properties=MapLiteral(entries=entries))
                    | Relationship(properties=MapLiteral(entries=entries))
                ):
                    owner: Owner = "node" if isinstance(part, NodePattern) else "relation"
                    for key, value in (
                        (entry.key.text, v) for entry in entries for v in _values(entry.value)
                    ):
                        yield ValueUse(
                            *value, key, self._of(part), "=", variable=_variable(part), owner=owner
                        )
                case Calculation(operator="IN", operands=(left, ListLiteral(items=items))):
                    for item in items:
                        yield from self._compared(left, item, "=")
                case Calculation(operator=operator, operands=(left, right)) if operator in _COMPARING:
                    yield from self._compared(left, right, operator)
                    if operator == "=":
                        yield from self._compared(right, left, operator)
                case _:
                    pass

    def _compared(self, subject: Expression, value: Expression, operator: str) -> Iterator[ValueUse]:
        function = ""
        match subject:
            case Call(name=name, arguments=(PropertyAccess() as inner,)) if name.lower() in (
                "tolower",
                "toupper",
            ):
                subject, function = inner, name
            case _:
                pass
        match subject:
            case PropertyAccess(subject=Variable(name=Name(text=name)), key=key) if name in self._owners:
                owner = self._owners[name]
                for found in _values(value):
                    yield ValueUse(*found, key.text, self.said(name), operator, function, name, owner)
            case _:
                pass


def _values(value: Expression) -> Iterator[tuple[str | int | float, int]]:
    """Yield the text or number that an expression is, with its token."""
    if isinstance(value, LiteralValue) and value.kind in ("string", "integer", "float"):
        yield cast("str | int | float", value.value), value.start


def _variable(part: NodePattern | Relationship) -> str:
    return part.variable.text if part.variable is not None else ""


def _label_names(labels: LabelExpression) -> Iterator[Name]:
    return (p.name for p in labels.walk() if isinstance(p, LabelExpression) and p.name is not None)

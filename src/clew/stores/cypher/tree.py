"""The syntax tree of a Cypher statement; every node knows its tokens, `[start, stop)`.

The tree is for looking at; the tokens are what is printed. A change of a statement is a set of new texts for
tokens (see `tokens.render`), so that whatever is not changed prints back as it was written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Literal

from clew.stores.cypher.tokens import CypherToken, render

ArrowDirection = Literal["right", "left", "both"]


@dataclass(frozen=True, slots=True)
class Syntax:
    """A part of a statement: its tokens from `start` to before `stop`."""

    start: int
    stop: int

    def children(self) -> Iterator[Syntax]:
        """Yield the parts of this part in their order in the text."""
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Syntax):
                yield value
            elif isinstance(value, tuple):
                yield from (v for v in value if isinstance(v, Syntax))  # pyright: ignore[reportUnknownVariableType]

    def walk(self) -> Iterator[Syntax]:
        """Yield this part and all within it, depth first."""
        waiting: list[Syntax] = [self]
        while waiting:
            part = waiting.pop()
            yield part
            waiting.extend(reversed(list(part.children())))


@dataclass(frozen=True, slots=True)
class Name(Syntax):
    """A label, relation, property or variable as `text` without backticks."""

    text: str


# Expressions


@dataclass(frozen=True, slots=True)
class Expression(Syntax):
    """What has a value."""


@dataclass(frozen=True, slots=True)
class LiteralValue(Expression):
    """A string, number, boolean or null; `token` is where a string or number stands."""

    kind: Literal["string", "integer", "float", "boolean", "null"]
    value: str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Variable(Expression):
    """A use of a variable."""

    name: Name


@dataclass(frozen=True, slots=True)
class Parameter(Expression):
    """`$name`."""

    name: str


@dataclass(frozen=True, slots=True)
class Calculation(Expression):
    """An operator (its words in upper case, `NEG` and `POS` for signs) over `operands`."""

    operator: str
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class PropertyAccess(Expression):
    """`subject.key`."""

    subject: Expression
    key: Name


@dataclass(frozen=True, slots=True)
class Subscript(Expression):
    """`subject[at]` or the slice `subject[low..high]`; `bounds` are those that are given."""

    subject: Expression
    bounds: tuple[Expression, ...]
    slice: bool


@dataclass(frozen=True, slots=True)
class LabelCheck(Expression):
    """`subject:Label`, of a node's labels or a relationship's type."""

    subject: Expression
    labels: LabelExpression


@dataclass(frozen=True, slots=True)
class TypeCheck(Expression):
    """`subject IS [NOT] :: TYPE`; `type` is the type's words."""

    subject: Expression
    type: str


@dataclass(frozen=True, slots=True)
class Call(Expression):
    """A function call; `name` with its namespace, `star` for `count(*)`."""

    name: str
    distinct: bool
    star: bool
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Case(Expression):
    """`CASE [subject] WHEN … THEN … [ELSE …] END`; `parts` in their order, `subject` first."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class ListLiteral(Expression):
    """`[a, b]`."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class MapEntry(Syntax):
    """`key: value`."""

    key: Name
    value: Expression


@dataclass(frozen=True, slots=True)
class MapLiteral(Expression):
    """`{a: 1}`."""

    entries: tuple[MapEntry, ...]


@dataclass(frozen=True, slots=True)
class MapProjection(Expression):
    """`subject {.a, .*, b: 1, c}`: the keys that are selected, other entries, and variables."""

    subject: Variable
    selected: tuple[Name, ...]
    entries: tuple[MapEntry, ...]
    variables: tuple[Variable, ...]
    every: bool


@dataclass(frozen=True, slots=True)
class Iteration(Expression):
    """`[x IN list WHERE … | …]` (`kind` LIST), or ALL, ANY, NONE, SINGLE `(x IN list WHERE …)`."""

    kind: str
    variable: Name
    source: Expression
    where: Expression | None
    result: Expression | None


@dataclass(frozen=True, slots=True)
class Reduce(Expression):
    """`reduce(accumulator = initial, variable IN source | step)`."""

    accumulator: Name
    initial: Expression
    variable: Name
    source: Expression
    step: Expression


@dataclass(frozen=True, slots=True)
class PatternComprehension(Expression):
    """`[p = (a)-->(b) WHERE … | …]`."""

    path: PathPattern
    where: Expression | None
    result: Expression


@dataclass(frozen=True, slots=True)
class PatternExpression(Expression):
    """A pattern used as a condition, or `shortestPath(…)` as a value."""

    path: PathPattern


@dataclass(frozen=True, slots=True)
class Subquery(Expression):
    """`EXISTS { … }`, `COUNT { … }` or `COLLECT { … }`."""

    kind: str
    query: CypherQuery


# Patterns


@dataclass(frozen=True, slots=True)
class LabelExpression(Syntax):
    """A label, or `operator` (`&`, `|`, `!`, `%`) over other label expressions; `:A:B` is `&`."""

    operator: Literal["label", "&", "|", "!", "%"]
    name: Name | None
    parts: tuple[LabelExpression, ...]

    @property
    def names(self) -> tuple[Name, ...]:
        """All labels in it, in their order."""
        parts = (part for part in self.walk() if isinstance(part, LabelExpression))
        return tuple(part.name for part in parts if part.name is not None)


@dataclass(frozen=True, slots=True)
class NodePattern(Syntax):
    """`(variable:labels {properties} WHERE where)`."""

    variable: Name | None
    labels: LabelExpression | None
    properties: Expression | None
    where: Expression | None


@dataclass(frozen=True, slots=True)
class Length(Syntax):
    """`*`, `*2`, `*1..3`, `+` or `{1,3}`; `high` is None where there is no bound."""

    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class Relationship(Syntax):
    """An edge of a pattern; `left` and `right` are the tokens of its dashes and arrow heads."""

    direction: ArrowDirection
    left: tuple[int, ...]
    right: tuple[int, ...]
    variable: Name | None
    types: LabelExpression | None
    length: Length | None
    properties: Expression | None
    where: Expression | None


@dataclass(frozen=True, slots=True)
class Parenthesised(Syntax):
    """A part of a path in parentheses, `((a)-->(b) WHERE …){1,3}`; `length` is None without a quantifier."""

    path: PathPattern
    where: Expression | None
    length: Length | None


@dataclass(frozen=True, slots=True)
class PathPattern(Syntax):
    """`variable = selector (node)-[edge]-(node)…`; `selector` is `shortestPath`, `ALL SHORTEST` and so on."""

    variable: Name | None
    selector: str
    elements: tuple[NodePattern | Relationship | Parenthesised, ...]


# Clauses


@dataclass(frozen=True, slots=True)
class Clause(Syntax):
    """One clause of a query."""


@dataclass(frozen=True, slots=True)
class MatchClause(Clause):
    """`[OPTIONAL] MATCH paths [WHERE where]`."""

    optional: bool
    paths: tuple[PathPattern, ...]
    where: Expression | None


@dataclass(frozen=True, slots=True)
class ReturnItem(Syntax):
    """`expression [AS alias]`; `name` is the name of its column."""

    expression: Expression
    alias: Name | None
    name: str


@dataclass(frozen=True, slots=True)
class Projection(Clause):
    """`WITH` or `RETURN`: items, order, skip and limit, and the `where` of WITH.

    `limit_at` is the token where a limit belongs if there is none.
    """

    keyword: Literal["WITH", "RETURN"]
    distinct: bool
    star: bool
    items: tuple[ReturnItem, ...]
    order: tuple[Expression, ...]
    skip: Expression | None
    limit: Expression | None
    where: Expression | None
    limit_at: int


@dataclass(frozen=True, slots=True)
class Unwind(Clause):
    """`UNWIND source AS variable`."""

    source: Expression
    variable: Name


@dataclass(frozen=True, slots=True)
class CallQuery(Clause):
    """`[OPTIONAL] CALL (imports) { query }`; `imports` is None where the query imports by WITH."""

    optional: bool
    imports: tuple[Name, ...] | None
    every: bool
    query: CypherQuery


@dataclass(frozen=True, slots=True)
class CallProcedure(Clause):
    """`CALL name(arguments) [YIELD items [WHERE where]]`; `yields` are the names that are bound."""

    optional: bool
    name: str
    arguments: tuple[Expression, ...]
    yields: tuple[Name, ...]
    where: Expression | None


@dataclass(frozen=True, slots=True)
class CypherQuery(Syntax):
    """Clauses in their order; `branches` are joined by UNION, ALL where `union_all`."""

    branches: tuple[Branch, ...]
    union_all: bool


@dataclass(frozen=True, slots=True)
class Branch(Syntax):
    """The clauses of one branch of a UNION."""

    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement that has been read: its `text`, tokens and tree."""

    text: str
    tokens: tuple[CypherToken, ...]
    query: CypherQuery

    def print(self) -> str:
        """Print the statement from its tokens; equal to `text`."""
        return render(self.tokens)

    def source(self, part: Syntax) -> str:
        """Return the text of a part, without the space before it."""
        return self.text[self.tokens[part.start].offset : self.end(part)]

    def end(self, part: Syntax) -> int:
        """Offset behind the last token of a part."""
        last = self.tokens[part.stop - 1]
        return last.offset + len(last.text)

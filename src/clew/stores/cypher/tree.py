"""The syntax tree of a Cypher statement; every node knows its tokens, `[start, stop)`.

The tree is for looking at; the tokens are what is printed. A change of a statement is a set of new texts for
tokens (see `tokens.render`), so that whatever is not changed prints back as it was written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeVar

from msgspec import Struct

from clew.stores.cypher.tokens import CypherToken, render

T = TypeVar("T")
ArrowDirection = Literal["right", "left", "both"]


class Syntax(Struct, frozen=True):
    """A part of a statement: its tokens from `start` to before `stop`."""

    start: int
    stop: int

    def children(self) -> Iterator[Syntax]:
        """Yield the parts of this part in their order in the text."""
        for name in self.__struct_fields__:
            value = getattr(self, name)
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

    def find(self, *kinds: type[T]) -> Iterator[T]:
        """Yield the parts of some kinds, of this part itself too, depth first."""
        return (part for part in self.walk() if isinstance(part, kinds))


class Name(Syntax, frozen=True):
    """A label, relation, property or variable as `text` without backticks."""

    text: str


# Expressions


class Expression(Syntax, frozen=True):
    """What has a value."""


class LiteralValue(Expression, frozen=True):
    """A string, number, boolean or null; `token` is where a string or number stands."""

    kind: Literal["string", "integer", "float", "boolean", "null"]
    value: str | int | float | bool | None


class Variable(Expression, frozen=True):
    """A use of a variable."""

    name: Name


class Parameter(Expression, frozen=True):
    """`$name`."""

    name: str


class Calculation(Expression, frozen=True):
    """An operator (its words in upper case, `NEG` and `POS` for signs) over `operands`."""

    operator: str
    operands: tuple[Expression, ...]


class PropertyAccess(Expression, frozen=True):
    """`subject.key`."""

    subject: Expression
    key: Name


class Subscript(Expression, frozen=True):
    """`subject[at]` or the slice `subject[low..high]`; `bounds` are those that are given."""

    subject: Expression
    bounds: tuple[Expression, ...]
    slice: bool


class LabelCheck(Expression, frozen=True):
    """`subject:Label`, of a node's labels or a relationship's type."""

    subject: Expression
    labels: LabelExpression


class TypeCheck(Expression, frozen=True):
    """`subject IS [NOT] :: TYPE`."""

    subject: Expression


class Call(Expression, frozen=True):
    """A function call; `name` with its namespace, `star` for `count(*)`."""

    name: str
    distinct: bool
    star: bool
    arguments: tuple[Expression, ...]


class Case(Expression, frozen=True):
    """`CASE [subject] WHEN … THEN … [ELSE …] END`; `parts` in their order, `subject` first."""

    parts: tuple[Expression, ...]


class ListLiteral(Expression, frozen=True):
    """`[a, b]`."""

    items: tuple[Expression, ...]


class MapEntry(Syntax, frozen=True):
    """`key: value`."""

    key: Name
    value: Expression


class MapLiteral(Expression, frozen=True):
    """`{a: 1}`."""

    entries: tuple[MapEntry, ...]


class MapProjection(Expression, frozen=True):
    """`subject {.a, .*, b: 1, c}`: the keys that are selected, other entries, and variables."""

    subject: Variable
    selected: tuple[Name, ...]
    entries: tuple[MapEntry, ...]
    variables: tuple[Variable, ...]
    all_keys: bool


class Iteration(Expression, frozen=True):
    """`[x IN list WHERE … | …]` (`kind` LIST), or ALL, ANY, NONE, SINGLE `(x IN list WHERE …)`."""

    kind: str
    variable: Name
    source: Expression
    where: Expression | None
    result: Expression | None


class Reduce(Expression, frozen=True):
    """`reduce(accumulator = initial, variable IN source | step)`."""

    accumulator: Name
    initial: Expression
    variable: Name
    source: Expression
    step: Expression


class PatternComprehension(Expression, frozen=True):
    """`[p = (a)-->(b) WHERE … | …]`."""

    path: PathPattern
    where: Expression | None
    result: Expression


class PatternExpression(Expression, frozen=True):
    """A pattern used as a condition, or `shortestPath(…)` as a value."""

    path: PathPattern


class Subquery(Expression, frozen=True):
    """`EXISTS { … }`, `COUNT { … }` or `COLLECT { … }`."""

    kind: str
    query: CypherQuery


# Patterns


class LabelExpression(Syntax, frozen=True):
    """A label, or `operator` (`&`, `|`, `!`, `%`) over other label expressions; `:A:B` is `&`."""

    operator: Literal["label", "&", "|", "!", "%"]
    name: Name | None
    parts: tuple[LabelExpression, ...]

    @property
    def names(self) -> tuple[Name, ...]:
        """All labels in it, in their order."""
        return tuple(part.name for part in self.find(LabelExpression) if part.name is not None)


class NodePattern(Syntax, frozen=True):
    """`(variable:labels {properties} WHERE where)`."""

    variable: Name | None
    labels: LabelExpression | None
    properties: Expression | None
    where: Expression | None


class Length(Syntax, frozen=True):
    """`*`, `*2`, `*1..3`, `+` or `{1,3}`; `high` is None where there is no bound."""

    low: int
    high: int | None


class Relationship(Syntax, frozen=True):
    """An edge of a pattern; `left` and `right` are the tokens of its dashes and arrow heads."""

    direction: ArrowDirection
    left: tuple[int, ...]
    right: tuple[int, ...]
    variable: Name | None
    types: LabelExpression | None
    length: Length | None
    properties: Expression | None
    where: Expression | None


class Parenthesised(Syntax, frozen=True):
    """A part of a path in parentheses, `((a)-->(b) WHERE …){1,3}`; `length` is None without a quantifier."""

    path: PathPattern
    where: Expression | None
    length: Length | None


class PathPattern(Syntax, frozen=True):
    """`variable = selector (node)-[edge]-(node)…`; `selector` is `shortestPath`, `ALL SHORTEST` and so on."""

    variable: Name | None
    selector: str
    elements: tuple[NodePattern | Relationship | Parenthesised, ...]


# Clauses


class Clause(Syntax, frozen=True):
    """One clause of a query."""


class MatchClause(Clause, frozen=True):
    """`[OPTIONAL] MATCH paths [WHERE where]`."""

    optional: bool
    paths: tuple[PathPattern, ...]
    where: Expression | None


class ReturnItem(Syntax, frozen=True):
    """`expression [AS alias]`; `name` is the name of its column."""

    expression: Expression
    alias: Name | None
    name: str


class Projection(Clause, frozen=True):
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


class Unwind(Clause, frozen=True):
    """`UNWIND source AS variable`."""

    source: Expression
    variable: Name


class CallQuery(Clause, frozen=True):
    """`[OPTIONAL] CALL (imports) { query }`; `imports` is None where the query imports by WITH."""

    optional: bool
    imports: tuple[Name, ...] | None
    imports_all: bool
    query: CypherQuery


class CallProcedure(Clause, frozen=True):
    """`CALL name(arguments) [YIELD items [WHERE where]]`; `yields` are the names that are bound."""

    optional: bool
    name: str
    arguments: tuple[Expression, ...]
    yields: tuple[Name, ...]
    where: Expression | None


class CypherQuery(Syntax, frozen=True):
    """Clauses in their order; `branches` are joined by UNION, ALL where `union_all`."""

    branches: tuple[Branch, ...]
    union_all: bool


class Branch(Syntax, frozen=True):
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
        first, last = self.tokens[part.start], self.tokens[part.stop - 1]
        return self.text[first.offset : last.offset + len(last.text)]

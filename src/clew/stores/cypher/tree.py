"""Cypher as tokens and as a syntax tree, whose every node knows its tokens, `[start, stop)`.

The tree is for looking at; the tokens are what is printed. A change of a statement is a set of new texts
for tokens (see `render`), so that whatever is not changed prints back as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import isinf
from typing import Literal, TypeVar, cast

from msgspec import Struct

from clew.stores.errors import QueryRefused, QuerySyntaxError, check_text

# Cypher text → tokens that keep the spaces and comments before them, so that they print back unchanged.
#
# Neo4j decodes `\uXXXX` in the whole text before it reads a word of it, so that an escape can end a string, a
# name or a comment. Such escapes are refused wherever they could; what is left means the same to both
# readers.

TokenKind = Literal["word", "name", "string", "integer", "float", "parameter", "symbol", "end"]

LONGEST_STATEMENT = 50_000
"""A longer statement is not a question's query."""


@dataclass(frozen=True, slots=True)
class CypherToken:
    """A token with the `space` (blanks and comments) before it; `offset` is where `text` begins.

    `value` is what the token stands for: the characters of a string, a name without its backticks, the upper
    case of a word.
    """

    kind: TokenKind
    text: str
    space: str
    offset: int
    value: str


_BLANK = "\t-\r\x1c-\x20\x85\xa0\u1680\u180e\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_SPACE = re.compile(rf"(?:[{_BLANK}]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_TOKEN = re.compile(
    r"""(?P<word>[^\W\d]\w*)
    |(?P<float>(?:[0-9][0-9_]*)?\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9][0-9_]*[eE][+-]?[0-9]+)
    |(?P<integer>0x[0-9a-fA-F_]+|0o[0-7_]+|[0-9][0-9_]*)
    |(?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    |(?P<name>`(?:[^`]|``)+`)
    |(?P<parameter>\$(?:`(?:[^`]|``)+`|\w+))
    |(?P<symbol><=|>=|<>|=~|\+=|\.\.|\|\||::|[()\[\]{},.:;|=<>+\-*/%^&!])""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPES = {
    "\\": "\\", "'": "'", '"': '"', "`": "`", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t",
}  # fmt: skip
_ESCAPE = re.compile(r"\\(?:u+(?P<code>[0-9a-fA-F]{4})|(?P<character>.))", re.DOTALL)
_ENDS_A_STRING = frozenset("'\"\\`\r\n")


def tokenize(text: str) -> tuple[CypherToken, ...]:
    """Cut a statement into tokens; the last has kind `end` and the trailing space.

    Raises QuerySyntaxError for text that is no Cypher, QueryRefused for escapes that hide something.
    """
    if len(text) > LONGEST_STATEMENT:
        raise QueryRefused(f"The query has {len(text):,} characters; at most {LONGEST_STATEMENT:,} are read")
    check_text(text)
    tokens: list[CypherToken] = []
    at = 0
    while True:
        space = _space(text, at)
        at += len(space)
        if at == len(text):
            return (*tokens, CypherToken("end", "", space, at, ""))
        match = _TOKEN.match(text, at)
        if match is None:
            raise _no_token(text, at)
        kind = cast("TokenKind", match.lastgroup)
        tokens.append(CypherToken(kind, match[0], space, at, _value(kind, match[0], text, at)))
        at = match.end()


def render(
    tokens: Iterable[CypherToken], edits: Mapping[int, str] | None = None, *, comments: bool = True
) -> str:
    """Print tokens as they were written; `edits` replace the text of the tokens with these positions.

    Without `comments` what stands between two tokens is a blank, and before a comma nothing.
    """
    parts: list[str] = []
    for position, token in enumerate(tokens):
        parts.append(token.space if comments else " " if token.space and token.text != "," else "")
        parts.append(token.text if edits is None else edits.get(position, token.text))
    return "".join(parts)


def quote_text(text: str) -> str:
    """Write a text as a string of Cypher."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return f"'{escaped}'"


def quote_name(name: str) -> str:
    """Write a label, relation, property or variable, in backticks where it needs them."""
    return name if re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) else "`" + name.replace("`", "``") + "`"


def _space(text: str, at: int) -> str:
    match = _SPACE.match(text, at)
    space = match[0] if match else ""
    if "\\u" in space:
        raise QueryRefused(r"The query has a \u escape in a comment, where it may end the comment. Remove it")
    if text.startswith("/*", at + len(space)):
        raise QuerySyntaxError("a comment that does not end", text, at + len(space))
    return space


def _no_token(text: str, at: int) -> QueryRefused | QuerySyntaxError:
    """Say what is wrong with a place where no token begins."""
    if text.startswith("\\u", at):
        return QueryRefused(r"The query has a \u escape outside a string. Write the character")
    reason = {
        "'": "a string that does not end",
        '"': "a string that does not end",
        "`": "a name in backticks that is empty or does not end",
    }.get(text[at], f"the character {text[at]!r} is not Cypher")
    return QuerySyntaxError(reason, text, at)


def _value(kind: TokenKind, written: str, text: str, at: int) -> str:
    """What the token at a place of a text stands for."""
    match kind:
        case "word":
            return written.upper() if written.isascii() else written
        case "integer" | "float":
            stop, number = at + len(written), written.replace("_", "")
            if len(written) > 400:
                reason = f"a number of {len(written):,} characters, which no database reads"
                raise QuerySyntaxError(reason, text, at)
            if stop < len(text) and (text[stop].isalnum() or text[stop] == "_"):
                raise QuerySyntaxError(f"{text[at : stop + 1]!r} is neither a number nor a name", text, at)
            if kind == "float" and isinf(float(number)):
                raise QuerySyntaxError(f"the number {written} is too large", text, at)
            return number
        case "string":
            return _decode_string(written[1:-1], text, at)
        case "name" | "parameter":
            if "\\u" in written:
                place = "a name, where it may end the name" if kind == "name" else "a parameter's name"
                raise QueryRefused(rf"The query has a \u escape in {place}. Write the character")
            name = written.removeprefix("$")
            return name[1:-1].replace("``", "`") if name[0] == "`" else name
        case _:
            return written


def _decode_string(body: str, text: str, at: int) -> str:
    """Decode the escapes of the string that begins at a place of a text."""

    def decode(escape: re.Match[str]) -> str:
        if escape["code"]:
            character = chr(int(escape["code"], 16))
            if character in _ENDS_A_STRING:
                raise QueryRefused(rf"The query hides a quote as {escape[0]} in a string. Write it as \' ")
            return character
        if (character := _ESCAPES.get(escape["character"])) is None:
            reason = f"the escape \\{escape['character']} in a string is not Cypher"
            raise QuerySyntaxError(reason, text, at + 1 + escape.start())
        return character

    return _ESCAPE.sub(decode, body)


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


def labels_of(element: NodePattern | Relationship) -> LabelExpression | None:
    """The labels of a node, or the types of an edge."""
    return element.labels if isinstance(element, NodePattern) else element.types


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

    def source(self, part: Syntax) -> str:
        """Return the text of a part, without the space before it."""
        first, last = self.tokens[part.start], self.tokens[part.stop - 1]
        return self.text[first.offset : last.offset + len(last.text)]

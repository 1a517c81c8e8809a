"""Expressions of Cypher, by precedence climbing (Cypher manual, "Expressions" and "Operators")."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import NoReturn, TypeVar

from msgspec.structs import replace

from clew.stores.cypher import tree
from clew.stores.cypher.tree import CypherToken, Expression, Name, PathPattern
from clew.stores.errors import QueryRefused, QuerySyntaxError

DEEPEST_STATEMENT = 60
"""Expressions, patterns and subqueries within one another; deeper ones would exhaust Python's stack."""

WRITES = frozenset(
    (
        *("CREATE", "MERGE", "SET", "DELETE", "DETACH", "NODETACH", "REMOVE", "FOREACH", "LOAD", "INSERT"),
        *("DROP", "ALTER", "GRANT", "DENY", "REVOKE", "RENAME", "START", "STOP", "TERMINATE", "ENABLE"),
        *("DEALLOCATE", "REALLOCATE", "DRYRUN"),
    )
)
"""Words with which a clause or command begins that is not a read."""

_CLOSES = {"(": ")", "[": "]", "{": "}"}

T = TypeVar("T")

_BINARY = {
    "OR": 1, "XOR": 2, "AND": 3, "=": 5, "<>": 5, "<": 5, ">": 5, "<=": 5, ">=": 5, "=~": 6, "IN": 6,
    "STARTS": 6, "ENDS": 6, "CONTAINS": 6, "IS": 6, "+": 7, "-": 7, "||": 7, "*": 8, "/": 8, "%": 8, "^": 9,
}  # fmt: skip
"""How tightly a binary operator (by its first word) holds its operands."""
_LABELLED = (tree.Variable, tree.PropertyAccess, tree.Subscript, tree.Call, tree.Parameter)
"""What may have labels behind it."""
_QUANTIFIERS = frozenset(("ALL", "ANY", "NONE", "SINGLE"))
SHORTEST_PATHS = ("SHORTESTPATH", "ALLSHORTESTPATHS")
"""Functions around a pattern, as the parser has them."""


class ExpressionParser:
    """Reads tokens one after the other, and expressions of them; a subclass reads patterns and queries.

    `closing` maps each opening bracket to its closing one.
    """

    bar_ends = False
    """Whether a `|` here ends a condition, rather than joining labels: `[x IN xs WHERE x:A | x]`."""

    def __init__(self, text: str, tokens: tuple[CypherToken, ...]) -> None:
        self.text, self.tokens, self.at, self._depth = text, tokens, 0, 0
        self.value_paths: dict[int, PathPattern] = {}
        """Paths that were read as values, by the token where they begin."""
        self.closing = self._pair_brackets()

    def _pair_brackets(self) -> dict[int, int]:
        pairs: dict[int, int] = {}
        open_brackets: list[int] = []
        for position, token in enumerate(self.tokens):
            if token.kind != "symbol":
                continue
            if token.text in _CLOSES:
                open_brackets.append(position)
            elif token.text in _CLOSES.values():
                if not open_brackets or _CLOSES[self.tokens[open_brackets[-1]].text] != token.text:
                    raise QuerySyntaxError(f"{token.text!r} closes nothing", self.text, token.offset)
                pairs[open_brackets.pop()] = position
        if open_brackets:
            token = self.tokens[open_brackets[-1]]
            raise QuerySyntaxError(f"{token.text!r} is never closed", self.text, token.offset)
        return pairs

    def token(self, ahead: int = 0) -> CypherToken:
        """Return the token `ahead` of here; the end token beyond the last."""
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)]

    def is_next(self, *texts: str, ahead: int = 0) -> bool:
        """Whether one of these symbols or words (upper case) stands here."""
        token = self.token(ahead)
        return token.kind in ("symbol", "word") and token.value in texts

    def is_name(self, ahead: int = 0) -> bool:
        """Whether a word, or a name in backticks, stands here."""
        return self.token(ahead).kind in ("word", "name")

    def take(self, *texts: str) -> bool:
        """Step over symbols or words if they all stand here."""
        present = all(self.is_next(text, ahead=i) for i, text in enumerate(texts))
        self.at += len(texts) if present else 0
        return present

    def expect(self, text: str) -> None:
        """Step over a symbol or word that must stand here."""
        if not self.take(text):
            self.fail(f"expected {text if text.isalpha() else repr(text)}")

    def fail(self, reason: str) -> NoReturn:
        """Raise QuerySyntaxError about this place, QueryRefused where a write begins."""
        token = self.token()
        if token.kind == "word" and token.value in WRITES:
            raise QueryRefused(f"The query has {token.value}, which is no read. Only reading queries are run")
        token_text = "the query ends" if token.kind == "end" else f"found {token.text!r}"
        raise QuerySyntaxError(f"{reason}, {token_text}", self.text, token.offset)

    def name(self, description: str) -> Name:
        """Read a name of any kind: a word or what stands in backticks."""
        token = self.token()
        if not self.is_name():
            self.fail(f"expected {description}")
        self.at += 1
        return Name(self.at - 1, self.at, token.text if token.kind == "word" else token.value)

    def variable(self) -> Name:
        """Read a variable's name; the words that begin a write must be in backticks."""
        if self.token().kind == "word" and self.token().value in WRITES:
            self.fail("expected a variable")
        return self.name("a variable")

    def integer(self) -> int | None:
        """Read a whole number, None if there is none."""
        token = self.token()
        if token.kind != "integer":
            return None
        self.at += 1
        return whole_number(token)

    def read_list(self, read: Callable[[], T]) -> tuple[T, ...]:
        """Read one or more items, with commas between."""
        items = [read()]
        while self.take(","):
            items.append(read())
        return tuple(items)

    def read_until(self, closing: str, read: Callable[[], T]) -> tuple[T, ...]:
        """Read what stands, with commas between, before a closing bracket, and the bracket."""
        items: list[T] = []
        while not self.is_next(closing):
            if items:
                self.expect(",")
            items.append(read())
        self.expect(closing)
        return tuple(items)

    @contextmanager
    def deeper(self) -> Generator[None]:
        """Count the depth of nesting; QuerySyntaxError beyond `DEEPEST_STATEMENT`."""
        self._depth += 1
        if self._depth > DEEPEST_STATEMENT:
            raise QuerySyntaxError("nested too deeply", self.text, self.token().offset)
        try:
            yield
        finally:
            self._depth -= 1

    @abstractmethod
    def path(self, *, expression: bool = False) -> tree.PathPattern:
        """Read a path of a pattern."""

    @abstractmethod
    def label_expression(self) -> tree.LabelExpression:
        """Read what follows a colon."""

    @abstractmethod
    def subquery(self) -> tree.CypherQuery:
        """Read a query, or a pattern with WHERE, up to a closing brace."""

    def expression(self) -> Expression:
        """Read an expression."""
        with self.deeper():
            return self._climb(0)

    def nested(self, read: Callable[[], T], *, bar_ends: bool = False) -> T:
        """Read what stands within brackets of its own."""
        outer_bar_ends, self.bar_ends = self.bar_ends, bar_ends
        result = read()
        self.bar_ends = outer_bar_ends
        return result

    def _inner(self) -> Expression:
        return self.nested(self.expression)

    def _condition(self) -> Expression | None:
        """Read WHERE, if it stands here, before a `|`."""
        return self.nested(self.expression, bar_ends=True) if self.take("WHERE") else None

    def _climb(self, least_power: int) -> Expression:
        start = self.at
        left = self._prefix_expression()
        while True:
            token = self.token()
            power = _BINARY.get(token.value, 0) if token.kind in ("word", "symbol") else 0
            if power <= least_power or (token.kind == "word") != token.value.isalpha():
                return left
            is_check = token.value == "IS"
            left = self._null_check(left, start) if is_check else self._binary(left, start, power)

    def _binary(self, left: Expression, start: int, power: int) -> Expression:
        operator = self.token().value
        self.at += 1
        if operator in ("STARTS", "ENDS"):
            self.expect("WITH")
            operator += " WITH"
        with self.deeper():
            right = self._climb(power)
        return tree.Calculation(start, self.at, operator, (left, right))

    def _null_check(self, left: Expression, start: int) -> Expression:
        """`IS [NOT] NULL`; checks of types and normal forms are not read."""
        self.expect("IS")
        negated = "NOT " if self.take("NOT") else ""
        if not self.take("NULL"):
            self.fail("expected NULL after IS (valueType(x) tells a type)")
        return tree.Calculation(start, self.at, f"IS {negated}NULL", (left,))

    def _prefix_expression(self) -> Expression:
        start = self.at
        if self.is_next("NOT") and not self.is_next(".", ahead=1):
            self.at += 1
            with self.deeper():
                operand = self._climb(_BINARY["AND"])
            return tree.Calculation(start, self.at, "NOT", (operand,))
        if self.is_next("-", "+"):
            sign = "NEG" if self.is_next("-") else "POS"
            self.at += 1
            with self.deeper():
                operand = self._prefix_expression()
            return tree.Calculation(start, self.at, sign, (operand,))
        return self._postfix_expression()

    def _postfix_expression(self) -> Expression:
        start = self.at
        result = self._atom()
        while True:
            if self.is_next(".") and self.is_name(1):
                self.at += 1
                key = self.name("a property")
                result = tree.PropertyAccess(start, self.at, result, key)
            elif self.is_next("["):
                result = self._index(result, start)
            elif self.is_next(":") and isinstance(result, _LABELLED):
                self.at += 1
                labels = self.label_expression()
                result = tree.LabelCheck(start, self.at, result, labels)
            else:
                return result

    def _index(self, subject: Expression, start: int) -> Expression:
        self.expect("[")
        bounds: list[Expression] = []
        if not self.is_next(".."):
            bounds.append(self._inner())
        slice_ = self.take("..")
        if slice_ and not self.is_next("]"):
            bounds.append(self._inner())
        self.expect("]")
        return tree.Subscript(start, self.at, subject, tuple(bounds), slice_)

    def _atom(self) -> Expression:
        token, start = self.token(), self.at
        if token.kind in ("string", "integer", "float"):
            self.at += 1
            value = float(token.value) if token.kind == "float" else token.value
            value = whole_number(token) if token.kind == "integer" else value
            return tree.LiteralValue(start, self.at, token.kind, value)
        if token.kind == "parameter":
            self.at += 1
            return tree.Parameter(start, self.at, token.value)
        if token.kind == "symbol":
            return self._bracket_expression()
        if token.kind == "word" and (keyword_expression := self._keyword_expression()) is not None:
            return keyword_expression
        if self.is_name():
            return self._call_or_variable()
        self.fail("expected an expression")

    def _bracket_expression(self) -> Expression:
        if self.is_next("["):
            return self._list()
        if self.is_next("{"):
            return self.map_literal()
        if not self.is_next("("):
            self.fail("expected an expression")
        if self._is_path():
            start = self.at
            path = self._path_expression()
            return tree.PatternExpression(start, self.at, path)
        self.at += 1
        result = self._inner()
        self.expect(")")
        return result

    def _path_expression(self) -> tree.PathPattern:
        """Read a path that stands as a value; one that was looked at before is not read again."""
        known = self.value_paths.get(self.at)
        path = self.value_paths[self.at] = known or self.path(expression=True)
        self.at = path.stop
        return path

    def _is_path(self) -> bool:
        """Whether an edge follows the parentheses that open here."""
        offset = self.closing[self.at] + 1 - self.at
        offset += self.is_next("<", ahead=offset)
        if not self.is_next("-", ahead=offset):
            return False
        if self.is_next("[", ahead=offset + 1):
            return self.is_next("-", ahead=self.closing[self.at + offset + 1] + 1 - self.at)
        node_offset = offset + 2 + self.is_next(">", ahead=offset + 2)
        return self.is_next("-", ahead=offset + 1) and self.is_next("(", ahead=node_offset)

    def map_literal(self) -> tree.MapLiteral:
        """Read `{key: value, …}`."""
        start = self.at
        self.expect("{")
        entries = self.read_until("}", self._entry)
        return tree.MapLiteral(start, self.at, entries)

    def _entry(self) -> tree.MapEntry:
        start = self.at
        key = self.name("a key")
        self.expect(":")
        value = self._inner()
        return tree.MapEntry(start, self.at, key, value)

    def _list(self) -> Expression:
        start = self.at
        if self.is_name(1) and self.is_next("IN", ahead=2):
            self.at += 1
            iteration = self._iteration(start, "LIST")
            self.expect("]")
            return replace(iteration, stop=self.at)
        has_variable = self.is_name(1) and self.is_next("=", ahead=2)
        if (has_variable and self.is_next("(", ahead=3)) or (
            self.is_next("(", ahead=1) and self._path_follows()
        ):
            return self._pattern_comprehension(start)
        self.at += 1
        items = self.read_until("]", self._inner)
        return tree.ListLiteral(start, self.at, items)

    def _path_follows(self) -> bool:
        """Whether `[` is followed by a pattern and, after it, by WHERE or `|`: else it is a list of one."""
        start = self.at
        self.at += 1
        follows = self._is_path()
        if follows:
            self._path_expression()
            follows = self.is_next("|", "WHERE")
        self.at = start
        return follows

    def _pattern_comprehension(self, start: int) -> Expression:
        self.at += 1
        path = self._path_expression() if self.is_next("(") else self.path()
        where = self._condition()
        self.expect("|")
        result = self._inner()
        self.expect("]")
        return tree.PatternComprehension(start, self.at, path, where, result)

    def _iteration(self, start: int, kind: str) -> tree.Iteration:
        variable = self.variable()
        self.expect("IN")
        source = self.nested(self.expression, bar_ends=True)
        where = self._condition()
        result = self._inner() if kind == "LIST" and self.take("|") else None
        return tree.Iteration(start, self.at, kind, variable, source, where, result)

    def _keyword_expression(self) -> Expression | None:
        """Read what begins with a word that means something only with what follows it."""
        word, start = self.token().value, self.at
        if word in ("TRUE", "FALSE", "NULL") and not self.is_next("(", ahead=1):
            self.at += 1
            return tree.LiteralValue(start, self.at, "null" if word == "NULL" else "boolean", _WORDS[word])
        if word == "CASE" and not self.is_next(".", ")", ahead=1):
            return self._case()
        if word in ("EXISTS", "COUNT", "COLLECT") and self.is_next("{", ahead=1):
            self.at += 2
            query = self.nested(self.subquery)
            self.expect("}")
            return tree.Subquery(start, self.at, word, query)
        if not self.is_next("(", ahead=1):
            return None
        if word in SHORTEST_PATHS:
            path = self.path(expression=True)
            return tree.PatternExpression(start, self.at, path)
        if word in _QUANTIFIERS and self.is_name(2) and self.is_next("IN", ahead=3):
            self.at += 2
            result = self._iteration(start, word)
        elif word == "REDUCE":
            self.at += 2
            result = self._reduce(start)
        else:
            return None
        self.expect(")")
        return replace(result, stop=self.at)

    def _reduce(self, start: int) -> tree.Reduce:
        accumulator = self.variable()
        self.expect("=")
        initial = self._inner()
        self.expect(",")
        variable = self.variable()
        self.expect("IN")
        source = self.nested(self.expression, bar_ends=True)
        self.expect("|")
        step = self._inner()
        return tree.Reduce(start, self.at, accumulator, initial, variable, source, step)

    def _case(self) -> Expression:
        start = self.at
        self.at += 1
        parts: list[Expression] = []
        if not self.is_next("WHEN"):
            parts.append(self.expression())
        while self.take("WHEN"):
            parts += self.read_list(self.expression)
            self.expect("THEN")
            parts.append(self.expression())
        if self.take("ELSE"):
            parts.append(self.expression())
        self.expect("END")
        return tree.Case(start, self.at, tuple(parts))

    def _call_or_variable(self) -> Expression:
        """Read a function call, a map projection or a variable."""
        start, ahead = self.at, 1
        while self.is_next(".", ahead=ahead) and self.is_name(ahead + 1):
            ahead += 2
        if self.is_next("(", ahead=ahead):
            return self._call(start, ahead)
        name = self.variable()
        variable = tree.Variable(start, self.at, name)
        return self._map_projection(variable) if self.is_next("{") else variable

    def _call(self, start: int, length: int) -> Expression:
        parts = [self.token(i) for i in range(0, length, 2)]
        name = ".".join(t.text if t.kind == "word" else t.value for t in parts)
        self.at += length + 1
        if self.is_next("*") and self.is_next(")", ahead=1):
            self.at += 2
            return tree.Call(start, self.at, name, False, True, ())
        distinct = self.is_next("DISTINCT") and not self.is_next(")", ",", ahead=1)
        self.at += distinct
        arguments = self.read_until(")", self._inner)
        return tree.Call(start, self.at, name, distinct, False, arguments)

    def _map_projection(self, subject: tree.Variable) -> Expression:
        self.expect("{")
        parts = self.read_until("}", self._projection_part)
        selected = tuple(part for part in parts if isinstance(part, Name))
        entries = tuple(part for part in parts if isinstance(part, tree.MapEntry))
        variables = tuple(part for part in parts if isinstance(part, tree.Variable))
        return tree.MapProjection(
            subject.start, self.at, subject, selected, entries, variables, None in parts
        )

    def _projection_part(self) -> Name | tree.MapEntry | tree.Variable | None:
        """A key, an entry or a variable of a projection; None for `.*`."""
        if self.take("."):
            return None if self.take("*") else self.name("a property")
        if self.is_next(":", ahead=1):
            return self._entry()
        name = self.variable()
        return tree.Variable(name.start, name.stop, name)


_WORDS = {"TRUE": True, "FALSE": False, "NULL": None}


def whole_number(token: CypherToken) -> int:
    """Value of an integer; one that begins with 0 may be hexadecimal or octal."""
    return int(token.value) if token.value.isdigit() else int(token.value, 0)

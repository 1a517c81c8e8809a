"""Expressions of Cypher, by precedence climbing (Cypher manual, "Expressions" and "Operators")."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace

from clew.stores.cypher.cursor import Cursor
from clew.stores.cypher.tree import (
    Calculation,
    Call,
    Case,
    CypherQuery,
    Expression,
    Iteration,
    LabelCheck,
    LabelExpression,
    ListLiteral,
    LiteralValue,
    MapEntry,
    MapLiteral,
    MapProjection,
    Name,
    Parameter,
    PathPattern,
    PatternComprehension,
    PatternExpression,
    PropertyAccess,
    Reduce,
    Subquery,
    Subscript,
    TypeCheck,
    Variable,
)

_BINARY = {
    "OR": 1, "XOR": 2, "AND": 3, "=": 5, "<>": 5, "<": 5, ">": 5, "<=": 5, ">=": 5, "=~": 6, "IN": 6,
    "STARTS": 6, "ENDS": 6, "CONTAINS": 6, "IS": 6, "+": 7, "-": 7, "||": 7, "*": 8, "/": 8, "%": 8, "^": 9,
}  # fmt: skip
"""How tightly a binary operator (by its first word) holds its operands."""
_NOT, _SIGN = 4, 10
_QUANTIFIERS = frozenset(("ALL", "ANY", "NONE", "SINGLE"))
_SHORTEST = frozenset(("SHORTESTPATH", "ALLSHORTESTPATHS"))


class ExpressionParser(Cursor):
    """The part of the parser that reads expressions; subclasses read patterns and queries within them."""

    bar_ends = False
    """Whether a `|` here ends a condition, rather than joining labels: `[x IN xs WHERE x:A | x]`."""

    @abstractmethod
    def path(self, *, expression: bool = False) -> PathPattern:
        """Read a path of a pattern."""

    @abstractmethod
    def label_expression(self) -> LabelExpression:
        """Read what follows a colon."""

    @abstractmethod
    def subquery(self) -> CypherQuery:
        """Read a query, or a pattern with WHERE, up to a closing brace."""

    def expression(self) -> Expression:
        """Read an expression."""
        with self.deeper():
            return self._climb(0)

    def _nested(self, bar_ends: bool) -> Expression:
        """Read an expression within brackets of its own."""
        before, self.bar_ends = self.bar_ends, bar_ends
        result = self.expression()
        self.bar_ends = before
        return result

    def _climb(self, least: int) -> Expression:
        start = self.at
        left = self._prefixed()
        while True:
            token = self.token()
            power = _BINARY.get(token.value, 0) if token.kind in ("word", "symbol") else 0
            if power <= least or (token.kind == "word") != token.value.isalpha():
                return left
            left = self._checked(left, start) if token.value == "IS" else self._binary(left, start, power)

    def _binary(self, left: Expression, start: int, power: int) -> Expression:
        operator = self.token().value
        self.at += 1
        if operator in ("STARTS", "ENDS"):
            self.expect_words("WITH")
            operator += " WITH"
        with self.deeper():
            right = self._climb(power)
        return Calculation(start, self.at, operator, (left, right))

    def _checked(self, left: Expression, start: int) -> Expression:
        """`IS [NOT] NULL`, `IS [NOT] [NFC] NORMALIZED`, `IS [NOT] (:: | TYPED) TYPE`."""
        self.expect_words("IS")
        negated = "NOT " if self.take_words("NOT") else ""
        if self.take_words("NULL"):
            return Calculation(start, self.at, f"IS {negated}NULL", (left,))
        form = self.at
        self.at += self.is_word("NFC", "NFD", "NFKC", "NFKD")
        if self.take_words("NORMALIZED"):
            return Calculation(start, self.at, f"IS {negated}NORMALIZED", (left,))
        if form == self.at and (self.take_symbol("::") or self.take_words("TYPED")):
            type_ = self._type()
            return TypeCheck(start, self.at, left, type_)
        self.fail("expected NULL, NORMALIZED or a type after IS")

    def _type(self) -> str:
        words: list[str] = []
        while self.token().kind == "word" and not self.is_word(
            "AND", "OR", "XOR", "AS", "RETURN", "WITH", "THEN"
        ):
            words.append(self.token().value)
            self.at += 1
            if self.take_symbol("<"):
                words.append(f"<{self._type()}>")
                self.expect_symbol(">")
        if not words:
            self.fail("expected a type")
        return " ".join(words)

    def _prefixed(self) -> Expression:
        start = self.at
        if self.is_word("NOT") and not self.is_symbol(".", 1):
            self.at += 1
            with self.deeper():
                operand = self._climb(_NOT - 1)
            return Calculation(start, self.at, "NOT", (operand,))
        if self.is_symbol("-") or self.is_symbol("+"):
            sign = "NEG" if self.is_symbol("-") else "POS"
            self.at += 1
            with self.deeper():
                operand = self._prefixed()
            return Calculation(start, self.at, sign, (operand,))
        return self._postfixed()

    def _postfixed(self) -> Expression:
        start = self.at
        result = self._atom()
        while True:
            if self.is_symbol(".") and self.token(1).kind in ("word", "name"):
                self.at += 1
                key = self.name("a property")
                result = PropertyAccess(start, self.at, result, key)
            elif self.is_symbol("["):
                result = self._index(result, start)
            elif self.is_symbol(":") and self._may_have_labels(result):
                self.at += 1
                labels = self.label_expression()
                result = LabelCheck(start, self.at, result, labels)
            else:
                return result

    def _may_have_labels(self, subject: Expression) -> bool:
        return isinstance(subject, (Variable, PropertyAccess, Subscript, Call, Parameter))

    def _index(self, subject: Expression, start: int) -> Expression:
        self.expect_symbol("[")
        bounds: list[Expression] = []
        if not self.is_symbol(".."):
            bounds.append(self._nested(False))
        slice_ = self.take_symbol("..")
        if slice_ and not self.is_symbol("]"):
            bounds.append(self._nested(False))
        self.expect_symbol("]")
        return Subscript(start, self.at, subject, tuple(bounds), slice_)

    def _atom(self) -> Expression:
        token, start = self.token(), self.at
        if token.kind in ("string", "integer", "float"):
            self.at += 1
            return LiteralValue(start, self.at, token.kind, _value(token.kind, token.value))
        if token.kind == "parameter":
            self.at += 1
            return Parameter(start, self.at, token.value)
        if token.kind == "symbol":
            return self._bracketed()
        if token.kind == "word" and (special := self._special()) is not None:
            return special
        if token.kind in ("word", "name"):
            return self._named()
        self.fail("expected an expression")

    def _bracketed(self) -> Expression:
        if self.is_symbol("["):
            return self._list()
        if self.is_symbol("{"):
            start = self.at
            entries = self.map_entries()
            return MapLiteral(start, self.at, entries)
        if not self.is_symbol("("):
            self.fail("expected an expression")
        if self._is_path():
            start = self.at
            path = self.path(expression=True)
            return PatternExpression(start, self.at, path)
        self.at += 1
        result = self._nested(False)
        self.expect_symbol(")")
        return result

    def _is_path(self) -> bool:
        """Whether an edge follows the parentheses that open here."""
        after = self.closing[self.at] + 1 - self.at
        after += self.is_symbol("<", after)
        if not self.is_symbol("-", after):
            return False
        if self.is_symbol("[", after + 1):
            return self.is_symbol("-", self.closing[self.at + after + 1] + 1 - self.at)
        closed = after + 2 + self.is_symbol(">", after + 2)
        return self.is_symbol("-", after + 1) and self.is_symbol("(", closed)

    def map_entries(self) -> tuple[MapEntry, ...]:
        """Read `{key: value, …}`."""
        self.expect_symbol("{")
        entries: list[MapEntry] = []
        while not self.is_symbol("}"):
            if entries:
                self.expect_symbol(",")
            entries.append(self._entry())
        self.expect_symbol("}")
        return tuple(entries)

    def _entry(self) -> MapEntry:
        start = self.at
        key = self.name("a key")
        self.expect_symbol(":")
        value = self._nested(False)
        return MapEntry(start, self.at, key, value)

    def _list(self) -> Expression:
        start = self.at
        if self.token(1).kind in ("word", "name") and self.is_word("IN", ahead=2):
            self.at += 1
            iteration = self._iteration(start, "LIST")
            self.expect_symbol("]")
            return _stretched(iteration, self.at)
        named = self.token(1).kind in ("word", "name") and self.is_symbol("=", 2)
        if (named and self.is_symbol("(", 3)) or (self.is_symbol("(", 1) and self._path_follows()):
            return self._pattern_comprehension(start)
        self.at += 1
        items: list[Expression] = []
        while not self.is_symbol("]"):
            if items:
                self.expect_symbol(",")
            items.append(self._nested(False))
        self.expect_symbol("]")
        return ListLiteral(start, self.at, tuple(items))

    def _path_follows(self) -> bool:
        """Whether `[` is followed by a pattern and, after it, by WHERE or `|`: else it is a list of one."""
        before = self.at
        self.at += 1
        found = self._is_path()
        if found:
            self.path(expression=True)
            found = self.is_symbol("|") or self.is_word("WHERE")
        self.at = before
        return found

    def _pattern_comprehension(self, start: int) -> Expression:
        self.at += 1
        path = self.path()
        where = self._nested(True) if self.take_words("WHERE") else None
        self.expect_symbol("|")
        result = self._nested(False)
        self.expect_symbol("]")
        return PatternComprehension(start, self.at, path, where, result)

    def _iteration(self, start: int, kind: str) -> Iteration:
        variable = self.variable()
        self.expect_words("IN")
        source = self._nested(True)
        where = self._nested(True) if self.take_words("WHERE") else None
        result = self._nested(False) if kind == "LIST" and self.take_symbol("|") else None
        return Iteration(start, self.at, kind, variable, source, where, result)

    def _special(self) -> Expression | None:
        """Read what begins with a word that means something only with what follows it."""
        word, start = self.token().value, self.at
        if word in ("TRUE", "FALSE", "NULL") and not self.is_symbol("(", 1):
            self.at += 1
            return LiteralValue(start, self.at, "null" if word == "NULL" else "boolean", _WORDS[word])
        if word == "CASE" and not self.is_symbol(".", 1) and not self.is_symbol(")", 1):
            return self._case()
        if word in ("EXISTS", "COUNT", "COLLECT") and self.is_symbol("{", 1):
            return self._subquery_expression(word)
        if not self.is_symbol("(", 1):
            return None
        within: Callable[[int], Expression] | None = None
        if word in _QUANTIFIERS and self.token(2).kind in ("word", "name") and self.is_word("IN", ahead=3):
            within = lambda at: self._iteration(at, word)  # noqa: E731
        elif word == "REDUCE":
            within = self._reduce
        elif word in _SHORTEST:
            path = self.path(expression=True)
            return PatternExpression(start, self.at, path)
        if within is None:
            return None
        self.at += 2
        result = within(start)
        self.expect_symbol(")")
        return _stretched(result, self.at)

    def _subquery_expression(self, kind: str) -> Expression:
        start = self.at
        self.at += 2
        before, self.bar_ends = self.bar_ends, False
        query = self.subquery()
        self.bar_ends = before
        self.expect_symbol("}")
        return Subquery(start, self.at, kind, query)

    def _reduce(self, start: int) -> Expression:
        accumulator = self.variable()
        self.expect_symbol("=")
        initial = self._nested(False)
        self.expect_symbol(",")
        variable = self.variable()
        self.expect_words("IN")
        source = self._nested(True)
        self.expect_symbol("|")
        step = self._nested(False)
        return Reduce(start, self.at, accumulator, initial, variable, source, step)

    def _case(self) -> Expression:
        start = self.at
        self.at += 1
        parts: list[Expression] = []
        if not self.is_word("WHEN"):
            parts.append(self.expression())
        while self.take_words("WHEN"):
            parts.append(self.expression())
            while self.take_symbol(","):
                parts.append(self.expression())
            self.expect_words("THEN")
            parts.append(self.expression())
        if self.take_words("ELSE"):
            parts.append(self.expression())
        self.expect_words("END")
        return Case(start, self.at, tuple(parts))

    def _named(self) -> Expression:
        """Read a function call, a map projection or a variable."""
        start, ahead = self.at, 1
        while self.is_symbol(".", ahead) and self.token(ahead + 1).kind in ("word", "name"):
            ahead += 2
        if self.is_symbol("(", ahead):
            return self._call(start, ahead)
        name = self.variable()
        variable = Variable(start, self.at, name)
        return self._map_projection(variable) if self.is_symbol("{") else variable

    def _call(self, start: int, length: int) -> Expression:
        parts = [self.token(i) for i in range(0, length, 2)]
        name = ".".join(t.text if t.kind == "word" else t.value for t in parts)
        self.at += length + 1
        if self.is_symbol("*") and self.is_symbol(")", 1):
            self.at += 2
            return Call(start, self.at, name, False, True, ())
        distinct = self.is_word("DISTINCT") and not self.is_symbol(")", 1) and not self.is_symbol(",", 1)
        self.at += distinct
        arguments: list[Expression] = []
        while not self.is_symbol(")"):
            if arguments:
                self.expect_symbol(",")
            arguments.append(self._nested(False))
        self.expect_symbol(")")
        return Call(start, self.at, name, distinct, False, tuple(arguments))

    def _map_projection(self, subject: Variable) -> Expression:
        self.expect_symbol("{")
        selected: list[Name] = []
        entries: list[MapEntry] = []
        variables: list[Variable] = []
        every, first = False, True
        while not self.is_symbol("}"):
            if not first:
                self.expect_symbol(",")
            first = False
            if self.take_symbol("."):
                if self.take_symbol("*"):
                    every = True
                else:
                    selected.append(self.name("a property"))
            elif self.is_symbol(":", 1):
                entries.append(self._entry())
            else:
                name = self.variable()
                variables.append(Variable(name.start, name.stop, name))
        self.expect_symbol("}")
        return MapProjection(
            subject.start, self.at, subject, tuple(selected), tuple(entries), tuple(variables), every
        )


_WORDS = {"TRUE": True, "FALSE": False, "NULL": None}


def _value(kind: str, text: str) -> str | int | float:
    if kind == "string":
        return text
    if kind == "float":
        return float(text)
    return int(text) if text.isdigit() else int(text, 0)


def _stretched(expression: Expression, stop: int) -> Expression:
    return replace(expression, stop=stop)

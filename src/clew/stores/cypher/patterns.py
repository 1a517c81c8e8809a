"""Patterns of Cypher: nodes, edges, label expressions, paths (Cypher manual, "Patterns")."""

from __future__ import annotations

from clew.stores.cypher import tree
from clew.stores.cypher.expressions import ExpressionParser
from clew.stores.cypher.tree import Expression, Name


class PatternParser(ExpressionParser):
    """The part of the parser that reads patterns."""

    def path(self, *, expression: bool = False) -> tree.PathPattern:
        """Read a path; one that is an expression has no variable and at least one edge."""
        start = self.at
        variable: Name | None = None
        if not expression and self.is_symbol("=", 1):
            variable = self.variable()
            self.at += 1
        with self.deeper():
            selector = "" if expression and self.is_symbol("(") else self._selector()
            if selector.endswith("Path") and self.is_symbol("("):
                self.at += 1
                elements = self._elements()
                self.expect_symbol(")")
            else:
                elements = self._elements()
        return tree.PathPattern(start, self.at, variable, selector, elements)

    def _selector(self) -> str:
        """`shortestPath`, `ANY [k]`, `ALL SHORTEST`, `SHORTEST [k] [GROUPS]`, with PATH or PATHS behind."""
        for name in ("shortestPath", "allShortestPaths"):
            if self.is_word(name.upper()) and self.is_symbol("(", 1):
                self.at += 1
                return "shortestPath" if name == "shortestPath" else "allShortestPath"
        if not self.is_word("ANY", "ALL", "SHORTEST"):
            return ""
        words: list[str] = []
        while not self.is_symbol("("):
            if not (self.is_word("ANY", "ALL", "SHORTEST", "PATH", "PATHS", "GROUP", "GROUPS")):
                number = self.integer()
                if number is None:
                    self.fail("expected a path")
                words.append(str(number))
                continue
            words.append(self.token().value)
            self.at += 1
        return " ".join(words)

    def _elements(self) -> tuple[tree.NodePattern | tree.Relationship | tree.Parenthesised, ...]:
        elements: list[tree.NodePattern | tree.Relationship | tree.Parenthesised] = [self._node_or_group()]
        while True:
            if self.is_symbol("-") or (self.is_symbol("<") and self.is_symbol("-", 1)):
                elements.append(self._relationship())
                elements.append(self._node_or_group())
            elif self.is_symbol("(") and (isinstance(elements[-1], tree.Parenthesised) or self._is_group()):
                elements.append(self._node_or_group())
            else:
                return tuple(elements)

    def _is_group(self) -> bool:
        """Whether the parentheses that open here hold a path and not a node."""
        ahead = 3 if self.token(1).kind in ("word", "name") and self.is_symbol("=", 2) else 1
        return self.is_symbol("(", ahead)

    def _node_or_group(self) -> tree.NodePattern | tree.Parenthesised:
        if not self.is_symbol("("):
            self.fail("expected '(' of a node")
        if not self._is_group():
            return self._node()
        start = self.at
        self.at += 1
        path = self.path()
        where = self._inner() if self.take_words("WHERE") else None
        self.expect_symbol(")")
        length = self._quantifier()
        return tree.Parenthesised(start, self.at, path, where, length)

    def _node(self) -> tree.NodePattern:
        start = self.at
        self.expect_symbol("(")
        variable = self._element_variable()
        labels = self._labels()
        properties = self._properties()
        where = self._inner() if self.take_words("WHERE") else None
        self.expect_symbol(")")
        return tree.NodePattern(start, self.at, variable, labels, properties, where)

    def _element_variable(self) -> Name | None:
        """Read the variable of a node or edge, if it has one."""
        if self.token().kind not in ("word", "name"):
            return None
        if self.is_word("WHERE", "IS") and not (self.is_symbol(")", 1) or self.is_symbol(":", 1)):
            return None
        return self.variable()

    def _labels(self) -> tree.LabelExpression | None:
        if self.take_symbol(":") or self.take_words("IS"):
            return self.label_expression()
        return None

    def _properties(self) -> Expression | None:
        start = self.at
        if self.is_symbol("{"):
            entries = self.map_entries()
            return tree.MapLiteral(start, self.at, entries)
        if self.token().kind == "parameter":
            self.at += 1
            return tree.Parameter(start, self.at, self.tokens[start].value)
        return None

    def _relationship(self) -> tree.Relationship:
        start = self.at
        leftwards = self.take_symbol("<")
        self.expect_symbol("-")
        left = tuple(range(start, self.at))
        variable: Name | None = None
        types = length = properties = where = None
        if self.take_symbol("["):
            variable = self._element_variable()
            types = self._labels()
            length = self._star()
            properties = self._properties()
            where = self._inner() if self.take_words("WHERE") else None
            self.expect_symbol("]")
        middle = self.at
        self.expect_symbol("-")
        rightwards = self.take_symbol(">")
        right = tuple(range(middle, self.at))
        quantifier = self._quantifier()
        direction: tree.ArrowDirection = (
            "both" if leftwards == rightwards else "left" if leftwards else "right"
        )
        return tree.Relationship(
            start, self.at, direction, left, right, variable, types, length or quantifier, properties, where
        )

    def _star(self) -> tree.Length | None:
        start = self.at
        if not self.take_symbol("*"):
            return None
        low = self.integer()
        high = self.integer() if self.take_symbol("..") else low
        return tree.Length(start, self.at, 1 if low is None else low, high)

    def _quantifier(self) -> tree.Length | None:
        """`+`, `*`, `{n}` or `{low, high}` behind an edge or a path in parentheses."""
        start = self.at
        if self.take_symbol("+"):
            return tree.Length(start, self.at, 1, None)
        if self.take_symbol("*"):
            return tree.Length(start, self.at, 0, None)
        if not self.take_symbol("{"):
            return None
        low = self.integer()
        if self.take_symbol(","):
            high = self.integer()
        elif low is None:
            self.fail("expected a number of repetitions")
        else:
            high = low
        self.expect_symbol("}")
        return tree.Length(start, self.at, low or 0, high)

    def label_expression(self) -> tree.LabelExpression:
        """Read `A`, `A:B`, `A&B`, `A|B`, `!A`, `%`, `(A|B)&!C`; `A|:B` is the old way to write `A|B`."""
        start = self.at
        with self.deeper():
            parts = [self._all_labels()]
            while self.is_symbol("|") and not self.bar_ends:
                self.at += 1
                self.take_symbol(":")
                parts.append(self._all_labels())
        return parts[0] if len(parts) == 1 else tree.LabelExpression(start, self.at, "|", None, tuple(parts))

    def _all_labels(self) -> tree.LabelExpression:
        start = self.at
        parts = [self._label()]
        while self.take_symbol("&") or self.take_symbol(":"):
            parts.append(self._label())
        return parts[0] if len(parts) == 1 else tree.LabelExpression(start, self.at, "&", None, tuple(parts))

    def _label(self) -> tree.LabelExpression:
        start = self.at
        if self.take_symbol("!"):
            with self.deeper():
                negated = self._label()
            return tree.LabelExpression(start, self.at, "!", None, (negated,))
        if self.take_symbol("%"):
            return tree.LabelExpression(start, self.at, "%", None, ())
        if self.take_symbol("("):
            inner = self.nested(self.label_expression)
            self.expect_symbol(")")
            return inner
        name = self.name("a label")
        return tree.LabelExpression(start, self.at, "label", name, ())

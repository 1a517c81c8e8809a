"""Patterns and statements of the read-only Cypher language; what is not known to be one is refused.

Written from the Cypher 5 manual ("Clauses", "Subqueries"). `parse` is the way in.
"""

from __future__ import annotations

from clew.stores.cypher import tree
from clew.stores.cypher.expressions import SHORTEST_PATHS, ExpressionParser
from clew.stores.cypher.tree import Expression, Name, tokenize
from clew.stores.errors import QueryRefused, QuerySyntaxError

_CLAUSES = ("MATCH", "OPTIONAL", "UNWIND", "WITH", "RETURN", "CALL")
_REFUSED = {
    "USE": "choose the database when you connect",
    "EXPLAIN": "only the query itself is run",
    "PROFILE": "only the query itself is run",
    "CYPHER": "options of the server's planner are not for queries",
    "SHOW": "commands of administration are not run",
    "FINISH": "a query must return something",
}


def parse(text: str) -> tree.Statement:
    """Parse a reading statement, with at most one `;` at its end.

    Raises QuerySyntaxError for what is no Cypher, QueryRefused for what is more than a read.
    """
    tokens = tokenize(text)
    try:
        return tree.Statement(text, tokens, Parser(text, tokens).statement())
    except RecursionError as error:
        raise QuerySyntaxError("nested too deeply", text, 0) from error


class Parser(ExpressionParser):
    """Reads queries and clauses, and the patterns in them (Cypher manual, "Patterns")."""

    def statement(self) -> tree.CypherQuery:
        """Read the whole text."""
        if self.token().kind == "end":
            self.fail("expected a query")
        query = self._query(whole=True)
        if self.take(";") and self.token().kind != "end":
            raise QueryRefused("The text has several statements. Run them one by one")
        if self.token().kind != "end":
            self.fail("expected a clause or the end of the query")
        return query

    def _query(self, *, whole: bool) -> tree.CypherQuery:
        start = self.at
        branches = [self._branch(whole=whole)]
        union_all = False
        while self.take("UNION"):
            union_all = self.take("ALL")
            if not union_all:
                self.take("DISTINCT")
            branches.append(self._branch(whole=whole))
        return tree.CypherQuery(start, self.at, tuple(branches), union_all)

    def _branch(self, *, whole: bool) -> tree.Branch:
        start = self.at
        clauses: list[tree.Clause] = []
        returns = False
        while not returns and self.is_next(*_CLAUSES):
            clause = self._clause()
            clauses.append(clause)
            returns = isinstance(clause, tree.Projection) and clause.keyword == "RETURN"
        only_procedure = len(clauses) == 1 and isinstance(clauses[0], tree.CallProcedure)
        if not clauses or (whole and not only_procedure and not returns):
            if self.is_next(*_REFUSED):
                word = self.token().value
                raise QueryRefused(f"The query has {word}: {_REFUSED[word]}")
            self.fail("expected a clause such as MATCH or RETURN")
        return tree.Branch(start, self.at, tuple(clauses))

    def _clause(self) -> tree.Clause:
        start = self.at
        if self.is_next("WITH", "RETURN"):
            return self._projection()
        if self.take("UNWIND"):
            source = self.expression()
            self.expect("AS")
            variable = self.variable()
            return tree.Unwind(start, self.at, source, variable)
        optional = self.take("OPTIONAL")
        if self.take("MATCH"):
            paths, where = self._pattern()
            return tree.MatchClause(start, self.at, optional, paths, where)
        self.expect("CALL")
        if self.is_next("{", "("):
            return self._call_query(start, optional)
        return self._call_procedure(start, optional)

    def _pattern(self) -> tuple[tuple[tree.PathPattern, ...], Expression | None]:
        """Paths with commas between them, and WHERE."""
        paths = self.read_list(self.path)
        if self.is_next("USING"):
            raise QueryRefused("The query has USING: hints for the planner are not supported. Leave it out")
        where = self.expression() if self.take("WHERE") else None
        return paths, where

    def _projection(self) -> tree.Projection:
        start, keyword = self.at, self.token().value
        self.at += 1
        distinct = self.take("DISTINCT")
        star = self.take("*")
        items = self.read_list(self._item) if not star or self.take(",") else ()
        order = self.read_list(self._sort_key) if self.take("ORDER", "BY") else ()
        skip = self.expression() if self.take("SKIP") or self.take("OFFSET") else None
        limit_at = self.at
        limit = self.expression() if self.take("LIMIT") else None
        where = self.expression() if keyword == "WITH" and self.take("WHERE") else None
        kind = "WITH" if keyword == "WITH" else "RETURN"
        return tree.Projection(
            start, self.at, kind, distinct, star, items, order, skip, limit, where, limit_at
        )

    def _item(self) -> tree.ReturnItem:
        start = self.at
        expression = self.expression()
        first, last = self.tokens[start], self.tokens[self.at - 1]
        alias = self.name("a name") if self.take("AS") else None
        # A column is named as a server does: a quoted variable loses its backticks, else as it is written.
        quoted_name = first.value if first is last and first.kind == "name" else None
        name = alias.text if alias else quoted_name or self.text[first.offset : last.offset + len(last.text)]
        return tree.ReturnItem(start, self.at, expression, alias, name)

    def _sort_key(self) -> Expression:
        key = self.expression()
        self.at += self.is_next("ASC", "DESC", "ASCENDING", "DESCENDING")
        return key

    def _call_query(self, start: int, optional: bool) -> tree.Clause:
        imports: tuple[Name, ...] | None = None
        imports_all = False
        if self.take("("):
            imports_all = self.take("*")
            imports = self.read_until(")", self.variable)
        self.expect("{")
        with self.deeper():
            query = self._query(whole=False)
        self.expect("}")
        if self.is_next("IN"):
            raise QueryRefused("The query has CALL { } IN TRANSACTIONS, which is for writing")
        return tree.CallQuery(start, self.at, optional, imports, imports_all, query)

    def _call_procedure(self, start: int, optional: bool) -> tree.Clause:
        parts = [self.name("a procedure").text]
        while self.take("."):
            parts.append(self.name("a procedure").text)
        arguments = self.read_until(")", self.expression) if self.take("(") else ()
        yields: tuple[Name, ...] = ()
        where: Expression | None = None
        if self.take("YIELD"):
            yields = () if self.take("*") else self.read_list(self._yield_item)
            where = self.expression() if self.take("WHERE") else None
        return tree.CallProcedure(start, self.at, optional, ".".join(parts), arguments, yields, where)

    def _yield_item(self) -> Name:
        name = self.variable()
        return self.variable() if self.take("AS") else name

    def subquery(self) -> tree.CypherQuery:
        """Read the inside of `EXISTS { … }`: a query, or paths with WHERE."""
        with self.deeper():
            if self.is_next(*_CLAUSES) and not self.is_next("=", ahead=1):
                return self._query(whole=False)
            start = self.at
            paths, where = self._pattern()
            match = tree.MatchClause(start, self.at, False, paths, where)
            return tree.CypherQuery(start, self.at, (tree.Branch(start, self.at, (match,)),), False)

    def path(self, *, expression: bool = False) -> tree.PathPattern:
        """Read a path; one that is an expression has no variable and at least one edge."""
        start = self.at
        variable: Name | None = None
        if not expression and self.is_next("=", ahead=1):
            variable = self.variable()
            self.at += 1
        with self.deeper():
            selector = "" if expression and self.is_next("(") else self._selector()
            if selector.endswith("Path") and self.is_next("("):
                self.at += 1
                elements = self._elements()
                self.expect(")")
            else:
                elements = self._elements()
        return tree.PathPattern(start, self.at, variable, selector, elements)

    def _selector(self) -> str:
        """`shortestPath`, `ANY [k]`, `ALL SHORTEST`, `SHORTEST [k] [GROUPS]`, with PATH or PATHS behind."""
        if self.is_next(*SHORTEST_PATHS) and self.is_next("(", ahead=1):
            self.at += 1
            return "shortestPath" if self.tokens[self.at - 1].value == "SHORTESTPATH" else "allShortestPath"
        if not self.is_next("ANY", "ALL", "SHORTEST"):
            return ""
        words: list[str] = []
        while not self.is_next("("):
            if self.is_next("ANY", "ALL", "SHORTEST", "PATH", "PATHS", "GROUP", "GROUPS"):
                words.append(self.token().value)
                self.at += 1
            elif (number := self.integer()) is not None:
                words.append(str(number))
            else:
                self.fail("expected a path")
        return " ".join(words)

    def _elements(self) -> tuple[tree.NodePattern | tree.Relationship | tree.Parenthesised, ...]:
        elements: list[tree.NodePattern | tree.Relationship | tree.Parenthesised] = [self._node_or_group()]
        while True:
            if self.is_next("-") or (self.is_next("<") and self.is_next("-", ahead=1)):
                elements.append(self._relationship())
                elements.append(self._node_or_group())
            elif self.is_next("(") and (isinstance(elements[-1], tree.Parenthesised) or self._is_group()):
                elements.append(self._node_or_group())
            else:
                return tuple(elements)

    def _is_group(self) -> bool:
        """Whether the parentheses that open here hold a path and not a node."""
        ahead = 3 if self.is_name(1) and self.is_next("=", ahead=2) else 1
        return self.is_next("(", ahead=ahead)

    def _node_or_group(self) -> tree.NodePattern | tree.Parenthesised:
        if not self.is_next("("):
            self.fail("expected '(' of a node")
        if not self._is_group():
            return self._node()
        start = self.at
        self.at += 1
        path = self.path()
        where = self._inner() if self.take("WHERE") else None
        self.expect(")")
        length = self._quantifier()
        return tree.Parenthesised(start, self.at, path, where, length)

    def _node(self) -> tree.NodePattern:
        start = self.at
        self.expect("(")
        variable = self._element_variable()
        labels = self._labels()
        properties = self._properties()
        where = self._inner() if self.take("WHERE") else None
        self.expect(")")
        return tree.NodePattern(start, self.at, variable, labels, properties, where)

    def _element_variable(self) -> Name | None:
        """Read the variable of a node or edge, if it has one."""
        if not self.is_name():
            return None
        if self.is_next("WHERE", "IS") and not self.is_next(")", ":", ahead=1):
            return None
        return self.variable()

    def _labels(self) -> tree.LabelExpression | None:
        if self.take(":") or self.take("IS"):
            return self.label_expression()
        return None

    def _properties(self) -> Expression | None:
        if self.is_next("{"):
            return self.map_literal()
        if self.token().kind == "parameter":
            self.at += 1
            return tree.Parameter(self.at - 1, self.at, self.tokens[self.at - 1].value)
        return None

    def _relationship(self) -> tree.Relationship:
        start = self.at
        leftwards = self.take("<")
        self.expect("-")
        left = tuple(range(start, self.at))
        variable: Name | None = None
        types = length = properties = where = None
        if self.take("["):
            variable = self._element_variable()
            types = self._labels()
            length = self._star()
            properties = self._properties()
            where = self._inner() if self.take("WHERE") else None
            self.expect("]")
        middle = self.at
        self.expect("-")
        rightwards = self.take(">")
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
        if not self.take("*"):
            return None
        low = self.integer()
        high = self.integer() if self.take("..") else low
        return tree.Length(start, self.at, 1 if low is None else low, high)

    def _quantifier(self) -> tree.Length | None:
        """`+`, `*`, `{n}` or `{low, high}` behind an edge or a path in parentheses."""
        start = self.at
        if self.take("+"):
            return tree.Length(start, self.at, 1, None)
        if self.take("*"):
            return tree.Length(start, self.at, 0, None)
        if not self.take("{"):
            return None
        low = self.integer()
        if self.take(","):
            high = self.integer()
        elif low is None:
            self.fail("expected a number of repetitions")
        else:
            high = low
        self.expect("}")
        return tree.Length(start, self.at, low or 0, high)

    def label_expression(self) -> tree.LabelExpression:
        """Read `A`, `A:B`, `A&B`, `A|B`, `!A`, `%`, `(A|B)&!C`; `A|:B` is the old way to write `A|B`."""
        start = self.at
        with self.deeper():
            parts = [self._all_labels()]
            while self.is_next("|") and not self.bar_ends:
                self.at += 1
                self.take(":")
                parts.append(self._all_labels())
        return parts[0] if len(parts) == 1 else tree.LabelExpression(start, self.at, "|", None, tuple(parts))

    def _all_labels(self) -> tree.LabelExpression:
        start = self.at
        parts = [self._label()]
        while self.take("&") or self.take(":"):
            parts.append(self._label())
        return parts[0] if len(parts) == 1 else tree.LabelExpression(start, self.at, "&", None, tuple(parts))

    def _label(self) -> tree.LabelExpression:
        start = self.at
        if self.take("!"):
            with self.deeper():
                negated = self._label()
            return tree.LabelExpression(start, self.at, "!", None, (negated,))
        if self.take("%"):
            return tree.LabelExpression(start, self.at, "%", None, ())
        if self.take("("):
            inner = self.nested(self.label_expression)
            self.expect(")")
            return inner
        name = self.name("a label")
        return tree.LabelExpression(start, self.at, "label", name, ())

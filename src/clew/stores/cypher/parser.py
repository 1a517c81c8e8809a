"""Statements of the read-only Cypher language; what is not known to be one is refused.

Written from the Cypher 5 manual ("Clauses", "Subqueries"). `parse` is the way in.
"""

from __future__ import annotations

from clew.stores.cypher.patterns import PatternParser
from clew.stores.cypher.tokens import CypherToken, tokenize
from clew.stores.cypher.tree import (
    Branch,
    CallProcedure,
    CallQuery,
    Clause,
    CypherQuery,
    Expression,
    MatchClause,
    Name,
    PathPattern,
    Projection,
    ReturnItem,
    Statement,
    Unwind,
)
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


def parse(text: str) -> Statement:
    """Parse a reading statement, with at most one `;` at its end.

    Raises QuerySyntaxError for what is no Cypher, QueryRefused for what is more than a read.
    """
    tokens = tokenize(text)
    try:
        return Statement(text, tokens, Parser(text, tokens).statement())
    except RecursionError as error:
        raise QuerySyntaxError("nested too deeply", text, 0) from error


class Parser(PatternParser):
    """Reads clauses and queries."""

    def statement(self) -> CypherQuery:
        """Read the whole text."""
        if self.token().kind == "end":
            self.fail("expected a query")
        query = self._query(whole=True)
        if self.take_symbol(";") and self.token().kind != "end":
            raise QueryRefused("The text has several statements. Run them one by one")
        if self.token().kind != "end":
            self.fail("expected a clause or the end of the query")
        return query

    def _query(self, *, whole: bool) -> CypherQuery:
        start = self.at
        branches = [self._branch(whole=whole)]
        every = False
        while self.take_words("UNION"):
            every = self.take_words("ALL")
            if not every:
                self.take_words("DISTINCT")
            branches.append(self._branch(whole=whole))
        return CypherQuery(start, self.at, tuple(branches), every)

    def _branch(self, *, whole: bool) -> Branch:
        start = self.at
        clauses: list[Clause] = []
        while self.is_word(*_CLAUSES):
            clauses.append(self._clause())
            last = clauses[-1]
            if isinstance(last, Projection) and last.keyword == "RETURN":
                break
        if not clauses:
            self._refuse_clause()
        last = clauses[-1]
        alone = isinstance(last, CallProcedure) and len(clauses) == 1
        if whole and not alone and not (isinstance(last, Projection) and last.keyword == "RETURN"):
            self._refuse_clause()
        return Branch(start, self.at, tuple(clauses))

    def _refuse_clause(self) -> None:
        token = self.token()
        if token.kind == "word" and token.value in _REFUSED:
            raise QueryRefused(f"The query has {token.value}: {_REFUSED[token.value]}")
        self.fail("expected a clause such as MATCH or RETURN")

    def _clause(self) -> Clause:
        start = self.at
        if self.is_word("WITH", "RETURN"):
            return self._projection()
        if self.take_words("UNWIND"):
            source = self.expression()
            self.expect_words("AS")
            variable = self.variable()
            return Unwind(start, self.at, source, variable)
        optional = self.take_words("OPTIONAL")
        if self.take_words("MATCH"):
            paths, where = self._pattern()
            return MatchClause(start, self.at, optional, paths, where)
        self.expect_words("CALL")
        if self.is_symbol("{") or self.is_symbol("("):
            return self._call_query(start, optional)
        return self._call_procedure(start, optional)

    def _pattern(self) -> tuple[tuple[PathPattern, ...], Expression | None]:
        """Paths with commas between them, and WHERE."""
        paths = [self.path()]
        while self.take_symbol(","):
            paths.append(self.path())
        if self.is_word("USING"):
            raise QueryRefused("The query has USING: hints for the planner are not supported. Leave it out")
        where = self.expression() if self.take_words("WHERE") else None
        return tuple(paths), where

    def _projection(self) -> Projection:
        start, keyword = self.at, self.token().value
        self.at += 1
        distinct = self.take_words("DISTINCT")
        star = self.take_symbol("*")
        items: list[ReturnItem] = []
        if not star or self.take_symbol(","):
            items.append(self._item())
            while self.take_symbol(","):
                items.append(self._item())
        order = self._order()
        skip = self.expression() if self.take_words("SKIP") or self.take_words("OFFSET") else None
        limit_at = self.at
        limit = self.expression() if self.take_words("LIMIT") else None
        where = self.expression() if keyword == "WITH" and self.take_words("WHERE") else None
        kind = "WITH" if keyword == "WITH" else "RETURN"
        return Projection(
            start, self.at, kind, distinct, star, tuple(items), order, skip, limit, where, limit_at
        )

    def _item(self) -> ReturnItem:
        start = self.at
        expression = self.expression()
        first, last = self.tokens[start], self.tokens[self.at - 1]
        text = self.text[first.offset : last.offset + len(last.text)]
        alias = self.name("a name") if self.take_words("AS") else None
        return ReturnItem(start, self.at, expression, alias, alias.text if alias else _column(text, first))

    def _order(self) -> tuple[Expression, ...]:
        if not self.take_words("ORDER", "BY"):
            return ()
        order = [self._sorted()]
        while self.take_symbol(","):
            order.append(self._sorted())
        return tuple(order)

    def _sorted(self) -> Expression:
        key = self.expression()
        self.at += self.is_word("ASC", "DESC", "ASCENDING", "DESCENDING")
        return key

    def _call_query(self, start: int, optional: bool) -> Clause:
        imports: list[Name] | None = None
        every = False
        if self.take_symbol("("):
            imports = []
            every = self.take_symbol("*")
            while not self.is_symbol(")"):
                if imports:
                    self.expect_symbol(",")
                imports.append(self.variable())
            self.expect_symbol(")")
        self.expect_symbol("{")
        with self.deeper():
            query = self._query(whole=False)
        self.expect_symbol("}")
        if self.is_word("IN"):
            raise QueryRefused("The query has CALL { } IN TRANSACTIONS, which is for writing")
        return CallQuery(start, self.at, optional, None if imports is None else tuple(imports), every, query)

    def _call_procedure(self, start: int, optional: bool) -> Clause:
        parts = [self.name("a procedure").text]
        while self.take_symbol("."):
            parts.append(self.name("a procedure").text)
        arguments: list[Expression] = []
        if self.take_symbol("("):
            while not self.is_symbol(")"):
                if arguments:
                    self.expect_symbol(",")
                arguments.append(self.expression())
            self.expect_symbol(")")
        yields: list[Name] = []
        where: Expression | None = None
        if self.take_words("YIELD"):
            if not self.take_symbol("*"):
                yields.append(self._yielded())
                while self.take_symbol(","):
                    yields.append(self._yielded())
            where = self.expression() if self.take_words("WHERE") else None
        return CallProcedure(
            start, self.at, optional, ".".join(parts), tuple(arguments), tuple(yields), where
        )

    def _yielded(self) -> Name:
        name = self.variable()
        return self.variable() if self.take_words("AS") else name

    def subquery(self) -> CypherQuery:
        """Read the inside of `EXISTS { … }`: a query, or paths with WHERE."""
        with self.deeper():
            if self.is_word(*_CLAUSES) and not self.is_symbol("=", 1):
                return self._query(whole=False)
            start = self.at
            paths, where = self._pattern()
            match = MatchClause(start, self.at, False, paths, where)
            return CypherQuery(start, self.at, (Branch(start, self.at, (match,)),), False)


def _column(text: str, first: CypherToken) -> str:
    """Name a column as a server does: a quoted variable loses its backticks, else as it is written."""
    return first.value if first.kind == "name" and text == first.text else text

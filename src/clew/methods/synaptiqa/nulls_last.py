"""Nulls in a descending order: Cypher has them first, so that the newest book would be one without a date.

`ORDER BY b.bought DESC LIMIT 1` asks for the last that is known. Where what has no value takes a place among
the rows that are kept, the query is run with such rows behind the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from clew.methods.synaptiqa.queried import QueryResult
from clew.stores.cypher.direction import Correction
from clew.stores.cypher.functions import AGGREGATES
from clew.stores.cypher.parser import parse
from clew.stores.cypher.tokens import render
from clew.stores.cypher.tree import Call, Expression, Projection, PropertyAccess, Statement, Variable
from clew.stores.errors import QueryError, StoreTimeout

REASON = "what has no value is behind what has one"


@dataclass(frozen=True, slots=True)
class Ordered:
    """A statement with its result, and what was changed of it."""

    statement: Statement
    result: QueryResult
    corrections: tuple[Correction, ...] = ()


def with_nulls_last(
    statement: Statement, result: QueryResult, run: Callable[[Statement], QueryResult]
) -> Ordered:
    """Run a statement again with nulls last, if it keeps some rows of a descending order, or goes on in it.

    The statement stays as it is where the rows are the same, or the database takes no such order.
    """
    edits, made = _edits(statement)
    if not edits:
        return Ordered(statement, result)
    ordered = parse(render(statement.tokens, edits))
    try:
        other = run(ordered)
    except (QueryError, StoreTimeout):
        return Ordered(statement, result)
    if [row.cells for row in other.rows] == [row.cells for row in result.rows]:
        return Ordered(statement, result)
    return Ordered(ordered, other, made)


def _edits(statement: Statement) -> tuple[dict[int, str], tuple[Correction, ...]]:
    edits: dict[int, str] = {}
    made: list[Correction] = []
    for part in statement.query.walk():
        if isinstance(part, Projection) and (part.limit is not None or part.keyword == "WITH"):
            for key in _descending(statement, part):
                text = statement.source(key)
                edits[key.start] = f"{text} IS NULL, {statement.tokens[key.start].text}"
                before, after = f"ORDER BY {text} DESC", f"ORDER BY {text} IS NULL, {text} DESC"
                made.append(Correction("rule", before, after, REASON))
    return edits, tuple(made)


def _descending(statement: Statement, projection: Projection) -> Iterator[Expression]:
    """What a projection is ordered by from the greatest on, and may be null: no count, no sum."""
    given = {item.alias.text: item.expression for item in projection.items if item.alias is not None}
    for key in projection.order:
        behind = statement.tokens[key.stop].text if key.stop < len(statement.tokens) else ""
        of = given.get(key.name.text, key) if isinstance(key, Variable) else key
        if behind.upper() in ("DESC", "DESCENDING") and _may_be_null(of):
            yield key


def _may_be_null(expression: Expression) -> bool:
    parts = list(expression.walk())
    calls = {part.name.lower() for part in parts if isinstance(part, Call)}
    of_values = any(isinstance(part, (PropertyAccess, Variable)) for part in parts)
    return of_values and not calls & (AGGREGATES - {"avg", "max", "min"}) and "coalesce" not in calls

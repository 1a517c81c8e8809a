"""The guard: which statements are run, and the form in which they are sent.

The parser lets reading clauses through and nothing else. Here the functions and procedures are compared with
those allowed, values leave the text and become parameters, comments are dropped, and every RETURN gets a
limit. A store adds the rest: a session that cannot write, limits of time and memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from clew.stores.cypher import tree
from clew.stores.cypher.functions import FUNCTIONS, PROCEDURES
from clew.stores.cypher.parser import parse
from clew.stores.cypher.tokens import render
from clew.stores.cypher.tree import Statement
from clew.stores.errors import QueryRefused

PARAMETER_PREFIX = "clew_"
"""Of the parameters that values become; a caller's must not begin like it."""
USUAL_ROWS = 1_000
"""Rows that a query returns at most unless its caller gives another number."""
_LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Guarded:
    """A query as it is sent.

    `columns` are the names of its columns as the statement has them, None where only the server knows them
    (`RETURN *`, `CALL` alone). It returns at most `rows + 1` rows, the last of which says that there are
    more.
    """

    text: str
    parameters: Mapping[str, object]
    columns: tuple[str, ...] | None
    rows: int


Dialect = Callable[[Statement, dict[int, str]], None]
"""Changes new texts of tokens so that a statement means to a database what it means to Neo4j."""


def guard(
    query: str | Statement,
    rows: int = USUAL_ROWS,
    parameters: Mapping[str, object] | None = None,
    dialect: Dialect | None = None,
) -> Guarded:
    """Make a harmless query of a text, which returns at most `rows` rows, or refuse it.

    Raises QuerySyntaxError for what is no Cypher, QueryRefused for what is not a harmless read.
    """
    statement = parse(query) if isinstance(query, str) else query
    parameter_values = dict(parameters or {})
    _check_calls(statement.query)
    _check_parameters(statement.query, parameter_values)
    edits, values = _bind(statement)
    if dialect is not None:
        dialect(statement, edits)
    _limit(statement, rows, parameter_values, edits)
    tokens = statement.tokens[: statement.query.stop]
    text = render(tokens, edits, comments=False).strip()
    return Guarded(text, parameter_values | values, _columns(statement), rows)


def _check_calls(query: tree.CypherQuery) -> None:
    for call in query.find(tree.Call, tree.CallProcedure):
        is_function = isinstance(call, tree.Call)
        if call.name.lower() in FUNCTIONS if is_function else call.name in PROCEDURES:
            continue
        callee = f"{'function' if is_function else 'procedure'} {call.name}"
        raise QueryRefused(f"The query calls the {callee}, which is not on the list of those allowed")


def _check_parameters(query: tree.CypherQuery, parameter_values: Mapping[str, object]) -> None:
    for name, value in parameter_values.items():
        if name.startswith(PARAMETER_PREFIX):
            raise QueryRefused(
                f"The parameter ${name} has a name that is kept for Clew ({PARAMETER_PREFIX}…)"
            )
        if not _is_plain(value, 0):
            raise QueryRefused(f"The value of ${name} is not a text, number, boolean or list of them")
    for parameter in query.find(tree.Parameter):
        if parameter.name not in parameter_values:
            raise QueryRefused(f"The query has the parameter ${parameter.name}, which has no value")


def _is_plain(value: object, depth: int) -> bool:
    if isinstance(value, (list, tuple)):
        return depth < 3 and all(_is_plain(item, depth + 1) for item in value)  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, int):
        return abs(value) <= _LARGEST
    return value is None or isinstance(value, (str, float))


def _bind(statement: Statement) -> tuple[dict[int, str], dict[str, object]]:
    """Replace texts and numbers by parameters, except where the language wants a number written out.

    Equal ones share a name, so that equal expressions stay equal.
    """
    bounds = (b for part in statement.query.find(tree.Projection) for b in (part.skip, part.limit) if b)
    written_out = {part.start for bound in bounds for part in bound.walk()}
    names: dict[tuple[str, object], str] = {}
    edits: dict[int, str] = {}
    for part in statement.query.find(tree.LiteralValue):
        if part.kind not in ("string", "integer", "float"):
            continue
        if isinstance(part.value, int) and part.value > _LARGEST:
            raise QueryRefused(f"The number {part.value} is too large")
        if part.start not in written_out:
            name = names.setdefault((part.kind, part.value), f"{PARAMETER_PREFIX}{len(names)}")
            edits[part.start] = f"${name}"
    return edits, {name: value for (_, value), name in names.items()}


def _limit(
    statement: Statement, rows: int, parameter_values: Mapping[str, object], edits: dict[int, str]
) -> None:
    """Give every final RETURN a limit of one row more than `rows`, or less where it has one."""
    for branch in statement.query.branches:
        last = branch.clauses[-1]
        if not isinstance(last, tree.Projection):
            continue
        if last.limit is None:
            token_before = last.limit_at - 1
            text = edits.get(token_before, statement.tokens[token_before].text)
            edits[token_before] = f"{text} LIMIT {rows + 1}"
            continue
        bound = _bound(last.limit, parameter_values)
        if bound > rows + 1:
            for position in range(last.limit.start, last.limit.stop):
                edits[position] = ""
            edits[last.limit.start] = str(rows + 1)


def _bound(limit: tree.Expression, parameter_values: Mapping[str, object]) -> int:
    value = limit.value if isinstance(limit, tree.LiteralValue) else None
    if isinstance(limit, tree.Parameter):
        value = parameter_values[limit.name]
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise QueryRefused("LIMIT must be a whole number that is written out")
    return value


def _columns(statement: Statement) -> tuple[str, ...] | None:
    last = statement.query.branches[0].clauses[-1]
    if not isinstance(last, tree.Projection) or last.star:
        return None
    return tuple(item.name for item in last.items)

"""The guard: which statements are run, in which form, and what the rows of one rest on.

The parser lets reading clauses through and nothing else. Here the functions and procedures are compared
with those allowed, values leave the text and become parameters, comments are dropped, and every RETURN gets
a limit. A store adds the rest: a session that cannot write, limits of time and memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from clew.stores.cypher import tree
from clew.stores.cypher.parser import parse
from clew.stores.cypher.tree import Statement, Syntax, render
from clew.stores.errors import QueryRefused

# What a guarded query may call: functions and procedures of Cypher 5 that only read or compute.

_SCALAR = """char_length character_length coalesce elementId endNode head id last length nullIf properties
randomUUID size startNode timestamp toBoolean toBooleanOrNull toFloat toFloatOrNull toInteger
toIntegerOrNull type valueType"""
_AGGREGATING = "avg collect count max min percentileCont percentileDisc stDev stDevP sum"
_LISTS = """keys labels nodes range relationships reverse tail toBooleanList toFloatList toIntegerList
toStringList exists isEmpty all any none single"""
_NUMBERS = """abs ceil floor isNaN rand round sign e exp log log10 sqrt acos asin atan atan2 cos cosh cot coth
degrees haversin pi radians sin sinh tan tanh"""
_TEXTS = """btrim left lower ltrim normalize replace right rtrim split substring toLower toString
toStringOrNull toUpper trim upper"""
_TIMES = """date datetime localdatetime localtime time duration duration.between duration.inDays
duration.inMonths duration.inSeconds datetime.fromEpoch datetime.fromEpochMillis"""
_SPACE = "point point.distance point.withinBBox distance vector.similarity.cosine vector.similarity.euclidean"
_CLOCKS = tuple(
    f"{kind}.{form}"
    for kind in ("date", "datetime", "localdatetime", "localtime", "time")
    for form in ("truncate", "realtime", "statement", "transaction")
)

_NAMES = " ".join((_SCALAR, _AGGREGATING, _LISTS, _NUMBERS, _TEXTS, _TIMES, _SPACE)).split()
FUNCTIONS = frozenset(name.lower() for name in (*_NAMES, *_CLOCKS))
"""In lower case, as the names of functions have none."""

AGGREGATES = frozenset(name.lower() for name in _AGGREGATING.split())
"""Functions that make one value of many rows; in lower case."""

PROCEDURES = frozenset(
    """db.labels db.relationshipTypes db.propertyKeys db.schema.nodeTypeProperties
    db.schema.relTypeProperties db.index.fulltext.queryNodes db.index.fulltext.queryRelationships
    db.index.vector.queryNodes db.index.vector.queryRelationships""".split()
)


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


Dialect = Callable[[Statement, dict[int, str], Mapping[int, str]], str]
"""Writes a statement so that it means to a database what it means to Neo4j.

It is given new texts of tokens, and texts that stand before a token (or the end), where a limit belongs.
"""


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
    limits = _limits(statement, rows, parameter_values, edits)
    if dialect is None:
        tokens = statement.tokens[: statement.query.stop]
        for token, limit in limits.items():
            edits[token - 1] = edits.get(token - 1, tokens[token - 1].text) + limit
        text = render(tokens, edits, comments=False).strip()
    else:
        text = dialect(statement, edits, limits)
    last = statement.query.branches[0].clauses[-1]
    items = last.items if isinstance(last, tree.Projection) and not last.star else None
    columns = None if items is None else tuple(item.name for item in items)
    return Guarded(text, parameter_values | values, columns, rows)


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


def tokens_of_bounds(query: tree.CypherQuery) -> set[int]:
    """First tokens of what stands behind SKIP and LIMIT, where numbers must be written out."""
    bounds = (b for part in query.find(tree.Projection) for b in (part.skip, part.limit) if b)
    return {part.start for bound in bounds for part in bound.walk()}


def _bind(statement: Statement) -> tuple[dict[int, str], dict[str, object]]:
    """Replace texts and numbers by parameters, except where the language wants a number written out.

    Equal ones share a name, so that equal expressions stay equal.
    """
    in_bounds = tokens_of_bounds(statement.query)
    names: dict[tuple[str, object], str] = {}
    edits: dict[int, str] = {}
    for part in statement.query.find(tree.LiteralValue):
        if part.kind not in ("string", "integer", "float"):
            continue
        if isinstance(part.value, int) and part.value > _LARGEST:
            raise QueryRefused(f"The number {part.value} is too large")
        if part.start not in in_bounds:
            name = names.setdefault((part.kind, part.value), f"{PARAMETER_PREFIX}{len(names)}")
            edits[part.start] = f"${name}"
    return edits, {name: value for (_, value), name in names.items()}


def _limits(
    statement: Statement, rows: int, parameter_values: Mapping[str, object], edits: dict[int, str]
) -> dict[int, str]:
    """Give every final RETURN a limit of one row more than `rows`, or less where it has one.

    Returns the limits that are new, by the token where each belongs.
    """
    limits = dict[int, str]()
    for branch in statement.query.branches:
        last = branch.clauses[-1]
        if not isinstance(last, tree.Projection):
            continue
        if last.limit is None:
            limits[last.limit_at] = f" LIMIT {rows + 1}"
            continue
        bound = last.limit.value if isinstance(last.limit, tree.LiteralValue) else None
        if isinstance(last.limit, tree.Parameter):
            bound = parameter_values[last.limit.name]
        if not isinstance(bound, int) or isinstance(bound, bool) or bound < 0:
            raise QueryRefused("LIMIT must be a whole number that is written out")
        if bound > rows + 1:
            edits[last.limit.start] = str(rows + 1)
    return limits


# A statement rewritten so that each row also returns the paths that it matched: what its answers rest on.
#
# Every path of MATCH gets a variable. A WITH or RETURN that groups (it aggregates, or is DISTINCT) collects
# them, any other hands them on, so that neither the rows nor their order change. What is matched inside
# CALL { } is not seen.

PATH_COLUMNS = "evidence_"
"""Of the columns that hold paths."""


def with_evidence(statement: Statement) -> tuple[str, ...]:
    """Return the statement with columns of paths, one text for each branch of a UNION."""
    return tuple(_branch(statement, branch) for branch in statement.query.branches)


def sample_of_evidence(statement: Statement, most: int) -> tuple[str, ...]:
    """Return queries for at most `most` of the paths behind a statement, before anything is grouped."""
    return tuple(_branch(statement, branch, most) for branch in statement.query.branches)


def subquery_evidence(statement: Statement, most: int) -> tuple[str, ...]:
    """Return queries for at most `most` paths of the EXISTS, COUNT and patterns of the last RETURN."""
    queries: list[str] = []
    for branch in statement.query.branches:
        last = branch.clauses[-1]
        if not isinstance(last, tree.Projection) or groups(last):
            continue
        earlier_clauses = render(statement.tokens[branch.start : last.start], {}, comments=False)
        for part in (p for item in last.items for p in item.walk()):
            pattern = _subquery_pattern(part, statement)
            if pattern:
                match = "" if pattern.upper().startswith("MATCH") else "MATCH "
                queries += sample_of_evidence(parse(f"{earlier_clauses} {match}{pattern} RETURN 1"), most)
    return tuple(queries)


def _subquery_pattern(part: Syntax, statement: Statement) -> str:
    """What a subquery, or a pattern that is a condition, matches; empty for any other part."""
    if isinstance(part, tree.PatternExpression):
        return "" if part.path.selector else statement.source(part.path)
    if not isinstance(part, tree.Subquery) or part.kind not in ("EXISTS", "COUNT"):
        return ""
    inner = render(statement.tokens[part.start + 2 : part.stop - 1], {}, comments=False).strip()
    return "" if "RETURN" in inner.upper() else inner


def is_evidence(column: str) -> bool:
    """Whether a column was added by `with_evidence`."""
    return column.startswith(PATH_COLUMNS)


def _branch(statement: Statement, branch: tree.Branch, most: int | None = None) -> str:
    edits, paths, stop = dict[int, str](), dict[str, str](), branch.stop
    for clause in branch.clauses:
        if isinstance(clause, tree.MatchClause):
            for path in clause.paths:
                column = f"{PATH_COLUMNS}{len(paths)}"
                if path.variable is None:
                    edits[path.start] = f"{column} = {statement.tokens[path.start].text}"
                paths[column] = column if path.variable is None else statement.source(path.variable)
        elif isinstance(clause, tree.Projection):
            if most is not None and (groups(clause) or clause.keyword == "RETURN"):
                stop = clause.start
                break
            if paths and not (clause.star and clause.keyword == "WITH"):
                edits |= _hand_on(statement, clause, paths)
                paths = {column: column for column in paths}
    own_edits = {token - branch.start: text for token, text in edits.items()}
    text = render(statement.tokens[branch.start : stop], own_edits, comments=False).strip()
    if most is None:
        return text
    return f"{text} RETURN {', '.join(_returned_columns(paths, collect=False))} LIMIT {most}"


def _hand_on(statement: Statement, clause: tree.Projection, paths: Mapping[str, str]) -> dict[int, str]:
    """The texts of tokens that have a WITH or RETURN return the paths in sight (by column) too."""
    edits = {clause.start + 1: ""} if clause.distinct and not clause.star else dict[int, str]()
    if clause.items:
        columns = _returned_columns(paths, collect=groups(clause) and not clause.star)
        last = clause.items[-1].stop - 1
        edits[last] = ", ".join([statement.tokens[last].text, *columns])
    return edits


def _returned_columns(paths: Mapping[str, str], *, collect: bool) -> Iterator[str]:
    for column, value in paths.items():
        if collect:
            yield f"collect({value}) AS {column}"
        else:
            yield column if value == column else f"{value} AS {column}"


def groups(clause: tree.Projection) -> bool:
    """Whether a WITH or RETURN makes one row of many."""
    return clause.distinct or any(aggregates(item) for item in clause.items)


def aggregates(part: Syntax) -> bool:
    """Whether a part has an aggregate that is not within a subquery."""
    if isinstance(part, tree.Subquery):
        return False
    if isinstance(part, tree.Call) and part.name.lower() in AGGREGATES:
        return True
    return any(aggregates(child) for child in part.children())

"""The Cypher of ladybug: what differs from Neo4j's is rewritten to mean the same, or refused.

Ladybug matches walks where Neo4j matches trails (no relation twice in a MATCH), counts positions from one,
names some functions otherwise and lacks others. Its own tests and ours (`tests/stores`) are the source.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import NoReturn

from clew.stores.cypher import tree
from clew.stores.cypher.hops import terms
from clew.stores.cypher.tokens import quote_name
from clew.stores.cypher.tree import Expression, LabelExpression, Path, Relationship, Statement, Syntax
from clew.stores.errors import QueryRefused

LONGEST = 30
"""Ladybug follows no path further."""

MOST_PARTS = 2
"""Patterns that share no variable, and UNWIND, in one query."""

_SAME = frozenset(
    (
        *(
            "count",
            "collect",
            "min",
            "max",
            "avg",
            "coalesce",
            "size",
            "abs",
            "ceil",
            "floor",
            "sqrt",
            "sign",
        ),
        *("trim", "ltrim", "rtrim", "replace", "reverse", "nodes", "length", "range", "pi", "left", "right"),
    )
)
_RENAMED = {
    "type": "label", "tolower": "lower", "toupper": "upper", "lower": "lower", "upper": "upper",
    "relationships": "rels", "log": "ln", "log10": "log",
}  # fmt: skip
_COMPARISONS = frozenset(("=", "<>", "<", ">", "<=", ">="))
_REFUSED: dict[type[Syntax], str] = {
    tree.Reduce: "reduce",
    tree.PatternComprehension: "pattern comprehensions",
    tree.MapProjection: "map projections",
    tree.TypeCheck: "checks of types",
    tree.CallQuery: "CALL { }",
    tree.CallProcedure: "CALL of procedures",
    tree.Group: "repeated parts of paths",
}


def refuse(what: str) -> NoReturn:
    """Say that the embedded store cannot do something as Neo4j does it."""
    raise QueryRefused(f"The embedded store does not have {what}. Write the query without, or use Neo4j")


_RESERVED = frozenset(
    (
        *(
            "ALL",
            "AND",
            "ANY",
            "ASC",
            "ASCENDING",
            "CASE",
            "COLUMN",
            "CREATE",
            "DEFAULT",
            "DESC",
            "DESCENDING",
        ),
        *(
            "DISTINCT",
            "ELSE",
            "END",
            "ENDS",
            "EXISTS",
            "FALSE",
            "FOREIGN",
            "GLOB",
            "GROUP",
            "HEADERS",
            "HINT",
        ),
        *("IN", "INSTALL", "JOIN", "LIMIT", "MACRO", "MULTI_JOIN", "NONE", "NOT", "NULL", "ON", "ONLY"),
        *("OPTIONAL", "OR", "ORDER", "PRIMARY", "PROFILE", "SHORTEST", "SINGLE", "SKIP", "STARTS", "TABLE"),
        *(
            "THEN",
            "TO",
            "TRAIL",
            "TRUE",
            "UNION",
            "UNIQUE",
            "UNWIND",
            "WHEN",
            "WHERE",
            "WITH",
            "WSHORTEST",
            "XOR",
        ),
    )
)
"""Words that ladybug takes for a name in backticks only."""


def quoted(name: str) -> str:
    """Write a name for ladybug, in backticks where it needs them."""
    return f"`{name}`" if name.upper() in _RESERVED else quote_name(name)


@dataclass(slots=True)
class _Edits:
    """New texts of tokens, and texts before and behind them."""

    statement: Statement
    texts: dict[int, str]
    nested: set[int] = field(default_factory=set[int])
    """First tokens of what stands in subqueries."""
    names: int = field(default=0)

    def put(self, token: int, text: str) -> None:
        self.texts[token] = text

    def before(self, token: int, text: str) -> None:
        self.texts[token] = text + self.text(token)

    def behind(self, token: int, text: str) -> None:
        self.texts[token] = self.text(token) + text

    def text(self, token: int) -> str:
        return self.texts.get(token, self.statement.tokens[token].text)

    def drop(self, tokens: Iterable[int]) -> None:
        for token in tokens:
            self.texts[token] = ""

    def new_name(self) -> str:
        self.names += 1
        return f"clew_edge_{self.names}"


def to_ladybug(statement: Statement, texts: dict[int, str], loops: frozenset[str]) -> None:
    """Change `texts` (new texts of tokens) so that the statement means in ladybug what it means in Neo4j.

    `loops` are the relation types that lead some node to itself. Raises QueryRefused for what has no such
    form.
    """
    inner = (q.query for q in statement.query.walk() if isinstance(q, tree.Subquery))
    edits = _Edits(statement, texts, {part.start for query in inner for part in query.walk()})
    for part in statement.query.walk():
        if isinstance(part, tree.Name):
            edits.put(part.start, quoted(part.text))
    for part in list(statement.query.walk()):
        for kind, what in _REFUSED.items():
            if isinstance(part, kind):
                refuse(what)
        if isinstance(part, Expression):
            _expression(part, edits)
        else:
            _pattern(part, edits, loops)


def _expression(part: Expression, edits: _Edits) -> None:
    match part:
        case tree.Call():
            _call(part, edits)
        case tree.Index():
            _index(part, edits)
        case tree.Operation():
            _operation(part)
        case tree.LabelCheck():
            _label_check(part, edits)
        case tree.Iteration(kind="LIST"):
            refuse("list comprehensions")
        case tree.MapLiteral() if not _is_of_pattern(part, edits.statement):
            refuse("maps as values")
        case tree.Subquery():
            _subquery(part, edits)
        case tree.PatternExpression(path=path):
            _pattern_expression(path)
        case _:
            pass


def _pattern(part: Syntax, edits: _Edits, loops: frozenset[str]) -> None:
    if isinstance(part, tree.Match):
        _match(part, edits)
    elif isinstance(part, tree.Branch):
        _products(part)
    elif isinstance(part, tree.Projection) and part.star and part.keyword == "RETURN":
        refuse("RETURN *. Name what shall be returned")
    elif isinstance(part, (tree.NodePattern, Relationship)):
        _labels(part)
        if isinstance(part, Relationship):
            _loops(part, loops)


def _call(call: tree.Call, edits: _Edits) -> None:
    name, at = call.name.lower(), call.start
    if name in _SAME:
        return
    if name in _RENAMED:
        edits.put(at, _RENAMED[name])
    elif name == "sum":
        edits.before(at, "coalesce(")
        edits.behind(call.stop - 1, ", 0)")
    elif name == "labels":
        edits.put(at, "[label")
        edits.behind(call.stop - 1, "]")
    elif name == "substring" and len(call.arguments) in (2, 3):
        start = call.arguments[1]
        edits.before(start.start, "(")
        edits.behind(start.stop - 1, ") + 1" + (", 1000000" if len(call.arguments) == 2 else ""))
    else:
        refuse(f"the function {call.name}")


def _index(index: tree.Index, edits: _Edits) -> None:
    match index:
        case tree.Index(
            subject=tree.Call(name=name), bounds=(tree.Literal_(value=0) as zero,), slice=False
        ) if name.lower() == "labels":
            edits.put(zero.start, "1")
        case _:
            refuse("[ ] on a list as Neo4j has it")


def _operation(operation: tree.Operation) -> None:
    if operation.operator == "||":
        refuse("the operator ||")
    if "NORMALIZED" in operation.operator:
        refuse("IS NORMALIZED")
    if operation.operator in _COMPARISONS:
        first = operation.operands[0]
        if isinstance(first, tree.Operation) and first.operator in _COMPARISONS:
            refuse("comparisons in a row (a < b < c)")


def _label_check(check: tree.LabelCheck, edits: _Edits) -> None:
    names = _names(check.labels)
    if names is None:
        refuse("label expressions with & or !")
    quoted = ", ".join("'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'" for name in names)
    edits.drop(range(check.subject.stop, check.stop))
    edits.before(check.subject.start, "(label(")
    edits.behind(check.subject.stop - 1, f") IN [{quoted}])")


def _is_of_pattern(part: Syntax, statement: Statement) -> bool:
    return any(
        isinstance(p, (tree.NodePattern, Relationship)) and p.properties is part
        for p in statement.query.walk()
    )


def _subquery(subquery: tree.Subquery, edits: _Edits) -> None:
    clauses = [clause for branch in subquery.query.branches for clause in branch.clauses]
    if subquery.kind == "COLLECT" or len(clauses) != 1 or not isinstance(clauses[0], tree.Match):
        refuse("subqueries that are more than MATCH and WHERE")
    first = edits.statement.tokens[clauses[0].start]
    if not (first.kind == "word" and first.value == "MATCH"):
        edits.behind(subquery.start + 1, " MATCH")


def _pattern_expression(path: Path) -> None:
    edges = [e for e in path.elements if isinstance(e, Relationship)]
    if path.selector or any(e.length for e in edges):
        refuse("paths of any length in a condition")
    if any(_may_be_same(a, b) for a, b in combinations(edges, 2)):
        refuse("a pattern of several edges in a condition. Write EXISTS { … }")


def _match(match: tree.Match, edits: _Edits) -> None:
    """Give lengths ladybug's form, and say that no relation is matched twice."""
    edges: list[Relationship] = []
    for path in match.paths:
        if path.selector:
            _shortest(path, edits)
        for element in path.elements:
            if isinstance(element, (tree.NodePattern, Relationship)) and element.where is not None:
                refuse("WHERE inside a pattern")
            if isinstance(element, Relationship):
                edges.append(element)
                if element.length is not None and not path.selector:
                    _length(element, element.length, "TRAIL", edits)
    names: dict[int, str] = {}
    apart: list[str] = []
    for first, second in combinations(edges, 2):
        if _may_be_same(first, second):
            if first.length or second.length:
                refuse("paths of any length beside edges of the same relation in one MATCH")
            apart.append(f"id({_named(first, names, edits)}) <> id({_named(second, names, edits)})")
    _conditions(match, apart, len(edges), edits)


def _length(edge: Relationship, length: tree.Length, kind: str, edits: _Edits) -> None:
    if edge.variable is not None:
        refuse("a variable for the edges of a path of any length")
    if edge.properties is not None:
        refuse("properties of the edges of a path of any length")
    if length.high is None or length.high > LONGEST:
        refuse(f"paths of any length without a bound. Write one of at most {LONGEST}, as in *..5")
    if edits.statement.tokens[length.start].text != "*" or length.start > edge.right[0]:
        refuse("quantifiers of paths. Write *1..5 inside the brackets")
    edits.drop(range(length.start, length.stop))
    edits.put(length.start, f"* {kind} {length.low}..{length.high}")


def _shortest(path: Path, edits: _Edits) -> None:
    """`shortestPath((a)-[:R*..5]-(b))` → `(a)-[:R* SHORTEST 1..5]-(b)`."""
    kinds = {"shortestPath": "SHORTEST", "allShortestPath": "ALL SHORTEST"}
    edge = path.elements[1] if len(path.elements) == 3 else None
    if path.selector not in kinds or not isinstance(edge, Relationship) or edge.length is None:
        refuse("this form of shortest paths. Write shortestPath((a)-[*..5]-(b))")
    if edge.length.low > 1:
        refuse("shortest paths of a least length")
    length = tree.Length(edge.length.start, edge.length.stop, 1, edge.length.high)
    _length(edge, length, kinds[path.selector], edits)
    opening = path.elements[0].start - 1
    edits.drop((opening - 1, opening, path.stop - 1))


def _named(edge: Relationship, names: dict[int, str], edits: _Edits) -> str:
    """Return the name of an edge; one without gets one."""
    if edge.variable is not None:
        return quoted(edge.variable.text)
    if edge.start not in names:
        names[edge.start] = edits.new_name()
        if edge.left[-1] + 1 == edge.right[0]:
            edits.behind(edge.left[-1], f"[{names[edge.start]}]")
        else:
            edits.behind(edge.left[-1] + 1, names[edge.start])
    return names[edge.start]


def _conditions(match: tree.Match, apart: list[str], edges: int, edits: _Edits) -> None:
    """Add conditions to a MATCH, and put those that compare several of its parts behind it.

    Ladybug 0.22 loses rows where such a condition is tested before the last edge is followed: of 46 rows of
    `(a {…})-[x]->(m)<-[y]-(b)-[z]->(n) WHERE id(x) <> id(y)` it returns 22. `WITH *` between the two makes it
    return all; in OPTIONAL MATCH and subqueries, which can have none, longer patterns are refused.
    """
    where = match.where
    compares = where is not None and any(len(_variables(term)) > 1 for term in terms(where, "AND"))
    if not apart and not compares:
        return
    condition = " AND ".join(apart)
    if match.optional or match.start in edits.nested:
        if edges > 2:
            refuse("conditions between parts of a pattern of several edges in OPTIONAL MATCH or a subquery")
        barrier = ""
    else:
        barrier = " WITH *"
    if where is None:
        edits.behind(match.stop - 1, f"{barrier} WHERE {condition}")
        return
    at = match.paths[-1].stop
    edits.before(at, barrier.lstrip() + " " if barrier else "")
    if apart:
        edits.before(at + 1, f"{condition} AND (")
        edits.behind(match.stop - 1, ")")


def _variables(expression: Expression) -> set[str]:
    return {part.name.text for part in expression.walk() if isinstance(part, tree.Variable)}


def _products(branch: tree.Branch) -> None:
    """Refuse large products of patterns that share no variable: ladybug 0.22 may not end them in time."""
    parts: list[set[str]] = []
    for clause in branch.clauses:
        for path in clause.paths if isinstance(clause, tree.Match) else ():
            found = (p for p in path.walk() if isinstance(p, (tree.NodePattern, Relationship)))
            names = {p.variable.text for p in found if p.variable is not None}
            joined = [other for other in parts if other & names]
            parts = [other for other in parts if not other & names]
            parts.append(names.union(*joined))
    if len(parts) + any(isinstance(clause, tree.Unwind) for clause in branch.clauses) > MOST_PARTS:
        refuse("products of patterns that are not connected")


def _labels(part: tree.NodePattern | Relationship) -> None:
    expression = part.labels if isinstance(part, tree.NodePattern) else part.types
    if expression is not None and _names(expression) is None:
        refuse("label expressions with & or !")


def _loops(edge: Relationship, loops: frozenset[str]) -> None:
    """Refuse edges without direction where a relation from a node to itself would be counted twice."""
    names = _names(edge.types) if edge.types is not None else None
    found = loops if names is None else loops & set(names)
    if edge.direction == "both" and found:
        refuse(
            f"edges without direction over {', '.join(sorted(found))}, which leads some nodes to themselves"
        )


def _may_be_same(first: Relationship, second: Relationship) -> bool:
    if first.types is None or second.types is None:
        return True
    one, other = _names(first.types), _names(second.types)
    return one is None or other is None or bool(set(one) & set(other))


def _names(expression: LabelExpression) -> tuple[str, ...] | None:
    """Return the names of `A` and `A|B`; None for other expressions."""
    if expression.operator == "label" and expression.name is not None:
        return (expression.name.text,)
    if expression.operator != "|":
        return None
    return (
        tuple(_all_names(expression.parts)) if all(p.operator == "label" for p in expression.parts) else None
    )


def _all_names(parts: Iterable[LabelExpression]) -> Iterator[str]:
    return (part.name.text for part in parts if part.name is not None)

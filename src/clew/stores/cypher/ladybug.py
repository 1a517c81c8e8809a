"""The Cypher of ladybug: what differs from Neo4j's is rewritten to mean the same, or refused.

Ladybug matches walks where Neo4j matches trails (no relation twice in a MATCH), counts positions from one,
names some functions otherwise and lacks others. Its own tests and ours (`tests/stores`) are the source.
"""

from __future__ import annotations

from clew.stores.cypher import tree
from clew.stores.cypher.ladybug_edits import TokenEdits, label_names, quoted, refuse
from clew.stores.cypher.ladybug_patterns import check_condition, rewrite_pattern
from clew.stores.cypher.tree import Expression, Relationship, Statement, Syntax

_RENAMED = {
    "type": "label", "tolower": "lower", "toupper": "upper", "lower": "lower", "upper": "upper",
    "relationships": "rels", "log": "ln", "log10": "log",
}  # fmt: skip
_SAME = frozenset(
    """
    count collect min max avg coalesce size abs ceil floor sqrt sign trim ltrim rtrim replace reverse
    nodes length range pi left right
    """.split()
)
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


def to_ladybug(statement: Statement, texts: dict[int, str], loops: frozenset[str]) -> None:
    """Change `texts` (new texts of tokens) so that the statement means in ladybug what it means in Neo4j.

    `loops` are the relation types that lead some node to itself. Raises QueryRefused for what has no such
    form.
    """
    inner = (q.query for q in statement.query.walk() if isinstance(q, tree.Subquery))
    edits = TokenEdits(statement, texts, {part.start for query in inner for part in query.walk()})
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
            rewrite_pattern(part, edits, loops)


def _expression(part: Expression, edits: TokenEdits) -> None:
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
            check_condition(path)
        case _:
            pass


def _call(call: tree.Call, edits: TokenEdits) -> None:
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


def _index(index: tree.Index, edits: TokenEdits) -> None:
    match index:
        case tree.Index(
            subject=tree.Call(name=name), bounds=(tree.LiteralValue(value=0) as zero,), slice=False
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


def _label_check(check: tree.LabelCheck, edits: TokenEdits) -> None:
    names = label_names(check.labels)
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


def _subquery(subquery: tree.Subquery, edits: TokenEdits) -> None:
    clauses = [clause for branch in subquery.query.branches for clause in branch.clauses]
    if subquery.kind == "COLLECT" or len(clauses) != 1 or not isinstance(clauses[0], tree.Match):
        refuse("subqueries that are more than MATCH and WHERE")
    first = edits.statement.tokens[clauses[0].start]
    if not (first.kind == "word" and first.value == "MATCH"):
        edits.behind(subquery.start + 1, " MATCH")

"""The Cypher of ladybug: what differs from Neo4j's is rewritten to mean the same, or refused.

Ladybug matches walks where Neo4j matches trails (no relation twice in a MATCH), counts positions from one,
names some functions otherwise and lacks others. Its own tests and ours (`tests/stores`) are the source.
"""

from __future__ import annotations

from collections.abc import Mapping

from clew.stores.cypher import tree
from clew.stores.cypher.ladybug_edits import (
    NODE_ID,
    TokenEdits,
    label_names,
    quoted,
    quoted_text,
    refuse,
    without_dots,
)
from clew.stores.cypher.ladybug_patterns import check_condition, rewrite_pattern
from clew.stores.cypher.ladybug_values import rewrite_values
from clew.stores.cypher.tree import Expression, Relationship, Statement, Syntax

_RENAMED_FUNCTIONS = {
    "type": "label", "tolower": "lower", "toupper": "upper", "lower": "lower", "upper": "upper",
    "relationships": "rels", "log": "ln", "log10": "log", "split": "string_split",
}  # fmt: skip
_SAME_FUNCTIONS = frozenset(
    """
    count collect min max avg coalesce abs ceil floor sqrt sign trim ltrim rtrim replace reverse
    nodes length range pi left right
    """.split()
)
_CASTS = {
    "tofloat": "DOUBLE", "tofloatornull": "DOUBLE", "tointeger": "DOUBLE", "tointegerornull": "DOUBLE",
    "tostring": "STRING", "tostringornull": "STRING",
    "datetime": "TIMESTAMP", "localdatetime": "TIMESTAMP",
}  # fmt: skip
_PARTS = ("year", "quarter", "month", "week", "day")
"""Parts of a date that stand behind it as a property does."""
_FAR_POSITION = 1_000_000
"""A position behind the end of any list."""
_COMPARISONS = frozenset(("=", "<>", "<", ">", "<=", ">="))
_REPEATABLE = (tree.PropertyAccess, tree.Variable, tree.LiteralValue, tree.Parameter, tree.Call)
"""What may stand in the middle of comparisons in a row."""
_REFUSED: dict[type[Syntax], str] = {
    tree.Reduce: "reduce",
    tree.PatternComprehension: "pattern comprehensions",
    tree.MapProjection: "map projections",
    tree.TypeCheck: "checks of types",
    tree.CallQuery: "CALL { }",
    tree.CallProcedure: "CALL of procedures",
    tree.Parenthesised: "repeated parts of paths",
}


def to_ladybug(
    statement: Statement, texts: dict[int, str], loops: frozenset[str], kinds: Mapping[str, str]
) -> None:
    """Change `texts` (new texts of tokens) so that the statement means in ladybug what it means in Neo4j.

    `loops` are the relation types that lead some node to itself, `kinds` the types of ladybug of relations
    whose tails are all values. Raises QueryRefused for what has no such form.
    """
    inner = (subquery.query for subquery in statement.query.find(tree.Subquery))
    edits = TokenEdits(statement, texts, {part.start for query in inner for part in query.walk()})
    for name in statement.query.find(tree.Name):
        edits.put(name.start, quoted(name.text))
    rewrite_values(statement, edits, kinds)
    sizes = (call for call in statement.query.find(tree.Call) if call.name.lower() == "size")
    counted_tokens = {
        call.arguments[0].start for call in sizes if _has_argument_of(tree.PatternComprehension, call)
    }
    for part in list(statement.query.walk()):
        for kind, feature in _REFUSED.items():
            if isinstance(part, kind) and part.start not in counted_tokens:
                refuse(feature)
        if isinstance(part, Expression):
            _expression(part, edits)
        else:
            rewrite_pattern(part, edits, loops)
    edits.finish()


def _expression(part: Expression, edits: TokenEdits) -> None:
    match part:
        case tree.Call():
            _call(part, edits)
        case tree.Subscript():
            _index(part, edits)
        case tree.Calculation():
            _operation(part, edits)
        case tree.LabelCheck():
            _label_check(part, edits)
        case tree.Iteration(kind="LIST"):
            _comprehension(part, edits)
        case tree.Iteration(where=Expression() as where):
            _write_out(where, edits)
        case tree.PropertyAccess():
            _part_of_date(part, edits)
        case tree.MapLiteral():
            patterns = edits.statement.query.find(tree.NodePattern, Relationship)
            if not any(pattern.properties is part for pattern in patterns):
                refuse("maps as values")
        case tree.Subquery():
            _subquery(part, edits)
        case tree.PatternExpression(path=path):
            check_condition(path)
        case _:
            pass


def _call(call: tree.Call, edits: TokenEdits) -> None:
    name, at = call.name.lower(), call.start
    if name in _SAME_FUNCTIONS:
        return
    if (rewrite := _REWRITES.get(name)) is not None:
        rewrite(call, edits)
        return
    if name in _CASTS and len(call.arguments) == 1:
        edits.put(at, "CAST")
        if name.startswith("tointeger"):
            edits.put(at, "CAST(floor(CAST")
            edits.behind(call.stop - 1, ") AS INT64)")
        edits.before(call.stop - 1, f" AS {_CASTS[name]}")
        return
    if name in ("round", "head", "last") and len(call.arguments) == 1:
        edits.put(at, "round" if name == "round" else "list_extract")
        edits.before(call.stop - 1, {"round": ", 0", "head": ", 1", "last": ", -1"}[name])
        return
    if name == "round" or (name == "date" and len(call.arguments) == 1):
        return
    if name in _RENAMED_FUNCTIONS:
        edits.put(at, _RENAMED_FUNCTIONS[name])
        if name == "split" and call.arguments:
            _as_text(call.arguments[0], edits)
    elif name == "sum":
        edits.before(at, "coalesce(")
        edits.behind(call.stop - 1, ", 0)")
    elif name == "labels":
        edits.put(at, "[label")
        edits.behind(call.stop - 1, "]")
    elif name == "substring" and len(call.arguments) in (2, 3):
        start = call.arguments[1]
        edits.before(start.start, "(")
        edits.behind(start.stop - 1, ") + 1" + (f", {_FAR_POSITION}" if len(call.arguments) == 2 else ""))
    else:
        refuse(f"the function {call.name}")


def _has_argument_of(kind: type[Expression], call: tree.Call) -> bool:
    return len(call.arguments) == 1 and isinstance(call.arguments[0], kind)


def _exists(call: tree.Call, edits: TokenEdits) -> None:
    if _has_argument_of(tree.PropertyAccess, call):
        edits.put(call.start, "")
        edits.before(call.stop - 1, " IS NOT NULL")
    elif _has_argument_of(tree.PatternExpression, call):
        _call_to_subquery("EXISTS", call, edits)
    else:
        refuse("exists() of what is neither a property nor a pattern")


def _call_to_subquery(kind: str, call: tree.Call, edits: TokenEdits) -> None:
    """*exists((a)-->(b))* is EXISTS { MATCH (a)-->(b) }."""
    edits.put(call.start, kind)
    edits.put(call.start + 1, "{ MATCH ")
    edits.put(call.stop - 1, "}")


def _size(call: tree.Call, edits: TokenEdits) -> None:
    """*size* of a pattern, or of a list made of one, is how often it is matched."""
    argument = call.arguments[0] if len(call.arguments) == 1 else None
    if isinstance(argument, tree.PatternExpression):
        _call_to_subquery("COUNT", call, edits)
    elif isinstance(argument, tree.PatternComprehension):
        if argument.path.variable is not None:
            refuse("a name for the path of a pattern comprehension")
        check_condition(argument.path)
        edits.put(argument.start, "MATCH ")
        pattern_stop = argument.path.stop if argument.where is None else argument.where.stop
        edits.drop(range(pattern_stop, argument.stop))
        _call_to_subquery("COUNT", call, edits)
        edits.put(call.start + 1, "{ ")


def _id(call: tree.Call, edits: TokenEdits) -> None:
    """*id(n)* is the graph's id of a node; those of ladybug are no numbers."""
    variable = edits.statement.source(call.arguments[0]) if _has_argument_of(tree.Variable, call) else ""
    names = (node.variable for node in edits.statement.query.find(tree.NodePattern))
    if not any(name is not None and edits.statement.source(name) == variable for name in names):
        refuse("the id of what is no node")
    edits.put(call.start, "")
    edits.behind(call.stop - 1, f".{NODE_ID}")


def _days(call: tree.Call, edits: TokenEdits) -> None:
    """*duration.inDays(a, b).days*: dates less dates are days here."""
    next_texts = [token.text for token in edits.statement.tokens[call.stop : call.stop + 2]]
    if next_texts != [".", "days"] or len(call.arguments) != 2:
        refuse("durations but for duration.inDays(a, b).days")
    first, last = call.arguments
    edits.drop(range(call.start, first.start))
    edits.before(call.start, "(-1 * (")
    edits.put(first.stop, " - ")
    edits.drop((call.stop, call.stop + 1))
    edits.put(last.stop, "))")


_REWRITES = {"size": _size, "exists": _exists, "id": _id, "elementid": _id, "duration.indays": _days}
"""Functions that may take a pattern, are of nodes, or become arithmetic."""


def _index(index: tree.Subscript, edits: TokenEdits) -> None:
    match index:
        case tree.Subscript(bounds=(tree.LiteralValue(kind="integer", value=int(at)) as place,), slice=False):
            # Positions are counted from one, and from the end as in Neo4j.
            edits.put(place.start, str(at + 1 if at >= 0 else at))
        case tree.Subscript(slice=True, subject=subject):
            first, last = _slice(index, edits.statement)
            edits.drop(range(subject.stop, index.stop))
            edits.before(subject.start, "list_slice(")
            edits.behind(subject.stop - 1, f", {first}, {last})")
        case _:
            refuse("[ ] on a list as Neo4j has it")


def _slice(index: tree.Subscript, statement: Statement) -> tuple[int, int]:
    """The first and last position of a slice as ladybug counts them; Neo4j's last one is left out."""
    bounds = [value for bound in index.bounds if (value := _whole_number(bound)) is not None]
    if len(bounds) != len(index.bounds):
        refuse("slices of a list between computed positions")
    opens = statement.tokens[index.subject.stop + 1].text == ".."
    low, high = (0 if opens else bounds[0]), (bounds[-1] if opens or len(bounds) == 2 else None)
    if high == 0:
        refuse("an empty slice of a list")
    return (low + 1 if low >= 0 else low), (_FAR_POSITION if high is None else high if high > 0 else high - 1)


def _whole_number(part: Expression) -> int | None:
    """A whole number that is written out, with or without a sign; None for anything else."""
    if isinstance(part, tree.Calculation) and part.operator == "NEG":
        value = _whole_number(part.operands[0])
        return None if value is None else -value
    return part.value if isinstance(part, tree.LiteralValue) and isinstance(part.value, int) else None


def _comprehension(part: tree.Iteration, edits: TokenEdits) -> None:
    """*[x IN list WHERE x > 1 | x.name]* as ladybug's functions of lists."""
    name = quoted(part.variable.text)
    inner_expressions = [expression for expression in (part.where, part.result) if expression is not None]
    kept_ranges = (
        range(expression.start, expression.stop) for expression in (part.source, *inner_expressions)
    )
    edits.drop(set(range(part.start, part.stop)).difference(*kept_ranges))
    opening_text = "list_transform(" * (part.result is not None) + "list_filter(" * (part.where is not None)
    edits.before(part.source.start, opening_text or "(")
    for expression in inner_expressions:
        edits.before(expression.start, f", {name} -> ")
        edits.behind(expression.stop - 1, ")")
        _write_out(expression, edits)
    if not inner_expressions:
        edits.behind(part.source.stop - 1, ")")


def _write_out(expression: Expression, edits: TokenEdits) -> None:
    """Texts and numbers as they are: a function of a list can have no parameters in it."""
    for part in expression.walk():
        if isinstance(part, tree.Parameter):
            refuse("parameters in a comprehension")
        if isinstance(part, (tree.PatternExpression, tree.Subquery)):
            refuse("patterns in a condition on the items of a list")
        if isinstance(part, tree.LiteralValue) and isinstance(part.value, str):
            if not part.value.isprintable():
                refuse("texts with control characters in a comprehension")
            edits.put(part.start, quoted_text(part.value))
        elif isinstance(part, tree.LiteralValue) and part.kind in ("integer", "float"):
            edits.put(part.start, repr(part.value))


def _part_of_date(part: tree.PropertyAccess, edits: TokenEdits) -> None:
    """*m.date.year*: a property of a property is a part of a date."""
    if part.key.text.lower() not in _PARTS or not isinstance(part.subject, (tree.PropertyAccess, tree.Call)):
        return
    edits.before(part.start, f"date_part('{part.key.text.lower()}', ")
    edits.drop(range(part.subject.stop, part.stop))
    edits.behind(part.subject.stop - 1, ")")


def _operation(operation: tree.Calculation, edits: TokenEdits) -> None:
    if operation.operator == "||":
        refuse("the operator ||")
    if operation.operator == "=~":
        _as_text(operation.operands[0], edits)
    if "NORMALIZED" in operation.operator:
        refuse("IS NORMALIZED")
    if operation.operator in _COMPARISONS and operation.start not in edits.chained:
        _split_comparisons(operation, edits)


def _as_text(part: Expression, edits: TokenEdits) -> None:
    """Make a text of what may be a number: ladybug 0.22 reads its bytes as one, and may end the process."""
    edits.before(part.start, "CAST(")
    edits.behind(part.stop - 1, " AS STRING)")


def _split_comparisons(last: tree.Calculation, edits: TokenEdits) -> None:
    """*a < b < c* is *a < b AND b < c*."""
    middles: list[Expression] = []
    first = last.operands[0]
    while isinstance(first, tree.Calculation) and first.operator in _COMPARISONS:
        middles.append(first.operands[-1])
        first = first.operands[0]
    if not middles:
        return
    edits.chained.add(last.start)
    for middle in middles:
        in_brackets = edits.statement.tokens[middle.stop].text not in _COMPARISONS
        if in_brackets or not isinstance(middle, _REPEATABLE):
            refuse("comparisons in a row (a < b < c) with an expression between")
        edits.repeat(middle.start, middle.stop, " AND ")
    edits.before(last.start, "(")
    edits.behind(last.stop - 1, ")")


def _label_check(check: tree.LabelCheck, edits: TokenEdits) -> None:
    names = label_names(check.labels)
    if names is None:
        refuse("label expressions with & or !")
    texts = ", ".join(quoted_text(without_dots(name)) for name in names)
    edits.drop(range(check.subject.stop, check.stop))
    edits.before(check.subject.start, "(label(")
    edits.behind(check.subject.stop - 1, f") IN [{texts}])")


def _subquery(subquery: tree.Subquery, edits: TokenEdits) -> None:
    clauses = [clause for branch in subquery.query.branches for clause in branch.clauses]
    if subquery.kind == "COLLECT" or len(clauses) != 1 or not isinstance(clauses[0], tree.MatchClause):
        refuse("subqueries that are more than MATCH and WHERE")
    first = edits.statement.tokens[clauses[0].start]
    if not (first.kind == "word" and first.value == "MATCH"):
        edits.behind(subquery.start + 1, " MATCH")

"""Numbers, days and booleans that are nodes: compared, ordered and computed with as such, and not as texts.

Where a source tells no literals from entities, a number is a node with its text for a name. Of a relation
whose tails are all whole numbers, numbers, days or booleans, the embedded store has the value in a column of
its own beside the name. Here *p.name* becomes that column where *p* is such a tail, and only where a value is
wanted: in comparisons, ORDER BY, arithmetic, and functions of numbers and dates. Days are in order as texts
too, so that they stay texts but beside dates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from clew.stores.cypher import tree
from clew.stores.cypher.evidence import groups
from clew.stores.cypher.ladybug_edits import TokenEdits, label_names, refuse
from clew.stores.cypher.tree import Expression, PathPattern, Relationship, Statement

VALUE_COLUMNS = {"INT64": "clew_whole", "DOUBLE": "clew_number", "DATE": "clew_day", "BOOLEAN": "clew_true"}
"""Type of ladybug → the column of nodes that are such values."""
_ORDER_OPERATORS = frozenset(("<", ">", "<=", ">="))
_COMPUTING_OPERATORS = frozenset(("-", "*", "/", "%", "^", "NEG", "POS"))
_NUMBER_FUNCTIONS = frozenset(
    "max min sum avg abs ceil floor round sqrt sign tointeger tointegerornull tofloat tofloatornull".split()
)
_NUMBER = re.compile(r"-?\d{1,15}(\.\d+)?")
_DATE_FUNCTIONS = frozenset(("date", "datetime", "localdatetime"))


def rewrite_values(statement: Statement, edits: TokenEdits, kinds: Mapping[str, str]) -> None:
    """Put the value's column in the place of a name; `kinds` are types of ladybug by relation."""
    for part in statement.query.find(tree.Calculation):
        if part.operator == "IN":
            _rewrite_list(part, edits, kinds)
    if columns := _columns(statement, kinds):
        for branch in statement.query.find(tree.Branch):
            _branch(branch, edits, columns)


def _rewrite_list(part: tree.Calculation, edits: TokenEdits, kinds: Mapping[str, str]) -> None:
    """*b.year IN ['1999', 2004]*: texts of numbers are numbers, where the property is one."""
    left, items = part.operands
    if not isinstance(left, tree.PropertyAccess) or not isinstance(items, tree.ListLiteral):
        return
    if kinds.get(left.key.text) not in ("INT64", "DOUBLE"):
        return
    for item in items.items:
        if isinstance(item, tree.LiteralValue) and isinstance(item.value, str):
            if not _NUMBER.fullmatch(item.value):
                refuse(f"a comparison of numbers with {item.value!r}")
            edits.put(item.start, item.value)


def _branch(branch: tree.Branch, edits: TokenEdits, columns: Mapping[str, str]) -> None:
    aliases = {
        item.alias.text: item.expression
        for part in branch.find(tree.Projection)
        for item in part.items
        if item.alias is not None and _column(item.expression, columns)
    }
    for expression, is_date in _value_expressions(branch):
        # What is called otherwise gets its value where it gets that name.
        original = aliases.get(expression.name.text) if isinstance(expression, tree.Variable) else None
        target = expression if original is None else original
        if is_date or _column(target, columns) != VALUE_COLUMNS["DATE"]:
            _put_column(target, edits, columns)
    for part in branch.find(tree.Projection):
        if part.order and groups(part):
            # Only what a projection has can order it then.
            ordered_names = {_name_variable(order) for order in part.order} & columns.keys()
            ordered_names -= {name for name in ordered_names if columns[name] == VALUE_COLUMNS["DATE"]}
            for item in part.items:
                if _name_variable(item.expression) in ordered_names:
                    _put_column(item.expression, edits, columns)


def _columns(statement: Statement, kinds: Mapping[str, str]) -> dict[str, str]:
    """The column of each variable that can only be the tail of relations with values of one type."""
    kinds_by_variable: dict[str, set[str]] = {}
    for path in statement.query.find(PathPattern):
        for at, edge in enumerate(path.elements):
            if isinstance(edge, Relationship) and edge.direction != "both":
                tail = path.elements[at + 1 if edge.direction == "right" else at - 1]
                if isinstance(tail, tree.NodePattern) and tail.variable is not None:
                    names = label_names(edge.types) if edge.types and edge.length is None else None
                    kind = _common_kind({kinds.get(name, "") for name in names or ("",)})
                    kinds_by_variable.setdefault(tail.variable.text, set()).add(kind)
    return {
        name: VALUE_COLUMNS[kind]
        for name, tail_kinds in kinds_by_variable.items()
        if (kind := _common_kind(tail_kinds))
    }


def _common_kind(kinds: set[str]) -> str:
    """The one type, or numbers where some are whole; empty where there is none for all."""
    if len(kinds) == 1:
        return next(iter(kinds))
    return "DOUBLE" if kinds == {"INT64", "DOUBLE"} else ""


def _value_expressions(branch: tree.Branch) -> Iterator[tuple[Expression, bool]]:
    """What is taken for a value, and whether for a date."""
    for part in branch.walk():
        if isinstance(part, tree.Projection):
            yield from ((order, False) for order in part.order)
        elif isinstance(part, tree.Call) and part.name.lower() in (*_NUMBER_FUNCTIONS, *_DATE_FUNCTIONS):
            yield from ((first, part.name.lower() in _DATE_FUNCTIONS) for first in part.arguments[:1])
        elif isinstance(part, tree.Calculation) and _is_of_values(part):
            calls = (operand for operand in part.operands if isinstance(operand, tree.Call))
            is_date = part.operator == "-" or any(call.name.lower() in _DATE_FUNCTIONS for call in calls)
            yield from ((operand, is_date) for operand in part.operands)


def _is_of_values(part: tree.Calculation) -> bool:
    """Whether an operation is one of values whatever its operands are, or beside a number or boolean."""
    if part.operator in (*_ORDER_OPERATORS, *_COMPUTING_OPERATORS, "NOT"):
        return True
    with_number = part.operator in ("=", "<>", "+", "IN") and any(map(_is_number, part.operands))
    literals = (operand for operand in part.operands if isinstance(operand, tree.LiteralValue))
    return with_number or (part.operator in ("=", "<>") and any(x.kind == "boolean" for x in literals))


def _is_number(part: Expression) -> bool:
    if isinstance(part, tree.ListLiteral):
        return bool(part.items) and all(map(_is_number, part.items))
    is_literal = isinstance(part, tree.LiteralValue) and part.kind in ("integer", "float")
    return is_literal or (isinstance(part, tree.Call) and part.name.lower() in _NUMBER_FUNCTIONS)


def _put_column(expression: Expression, edits: TokenEdits, columns: Mapping[str, str]) -> None:
    if isinstance(expression, tree.PropertyAccess) and (column := _column(expression, columns)):
        edits.put(expression.key.start, column)


def _column(expression: Expression, columns: Mapping[str, str]) -> str:
    return columns.get(_name_variable(expression), "")


def _name_variable(expression: Expression) -> str:
    """The variable whose name an expression is (*p* of *p.name*); empty for anything else."""
    match expression:
        case tree.PropertyAccess(subject=tree.Variable(name=variable), key=tree.Name(text="name")):
            return variable.text
        case _:
            return ""

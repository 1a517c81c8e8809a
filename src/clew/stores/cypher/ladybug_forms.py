"""What rewriting Cypher for ladybug is made of: new texts of tokens, patterns, and values that are nodes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from clew.stores.cypher import tree
from clew.stores.cypher.guard import groups
from clew.stores.cypher.tree import (
    Expression,
    LabelExpression,
    PathPattern,
    Relationship,
    Statement,
    quote_name,
)
from clew.stores.errors import QueryRefused

# What all rewriting of Cypher for ladybug needs: new texts of tokens, names, and refusals.

_RESERVED = frozenset(
    """
    ACYCLIC ALL AND ANY ASC ASCENDING CASE CAST COLUMN CREATE DBTYPE DEFAULT DESC DESCENDING DISTINCT ELSE END
    ENDS EXISTS FALSE FOR FOREIGN GLOB GROUP HEADERS HINT IN INDEX INSTALL JOIN LIMIT MACRO MULTI_JOIN NONE
    NOT NULL ON ONLY OPTIONAL OR ORDER PRIMARY PROFILE SHORTEST SINGLE SKIP STARTS TABLE THEN TO TRAIL TRUE
    UNION UNIQUE UNWIND WHEN WHERE WITH WSHORTEST XOR
    """.split()
)
"""Words that ladybug takes for a name in backticks only."""


def refuse(feature: str) -> NoReturn:
    """Say that the embedded store cannot do something as Neo4j does it."""
    raise QueryRefused(f"The embedded store does not have {feature}. Write the query without, or use Neo4j")


NODE_ID = "clew_id"
"""The property that holds the graph's id of a node."""
OF_PROPERTIES = "clew_properties"
"""The key of a map that stands for the properties of the node or edge that it holds."""
_DOT = "\ufe52"
"""Stands for a dot in names of tables: ladybug takes what is before a dot for a database."""


def without_dots(name: str) -> str:
    """A name as ladybug can have it (`film.directed_by`, as Freebase writes)."""
    return name.replace(".", _DOT)


def with_dots(name: str) -> str:
    """A name of ladybug as the graph has it."""
    return name.replace(_DOT, ".")


def quoted(name: str) -> str:
    """Write a name for ladybug, in backticks where it needs them."""
    name = without_dots(name)
    return f"`{name}`" if name.upper() in _RESERVED else quote_name(name)


@dataclass(frozen=True, slots=True)
class GraphFacts:
    """What a statement is rewritten by.

    `loops` are the relation types that lead some node to itself, `kinds` the types of ladybug of relations
    whose tails are all values, `columns` those of properties (of the same name everywhere), `properties` the
    names of each label and relation type.
    """

    loops: Collection[str]
    kinds: Mapping[str, str]
    columns: Mapping[str, str]
    properties: Mapping[str, Sequence[str]]


def label_names(expression: LabelExpression | None) -> tuple[str, ...] | None:
    """Return the names of `A` and `A|B`; None for other expressions, and for none."""
    if expression is None:
        return None
    alternatives = expression.parts if expression.operator == "|" else (expression,)
    if any(part.operator != "label" for part in alternatives):
        return None
    return tuple(name.text for name in expression.names)


# Numbers, days and booleans that are nodes: compared, ordered and computed with as such, and not as texts.
#
# Where a source tells no literals from entities, a number is a node with its text for a name. Of a relation
# whose tails are all whole numbers, numbers, days or booleans, the embedded store has the value in a column
# of its own beside the name. Here *p.name* becomes that column where *p* is such a tail, and only where a
# value is wanted: in comparisons, ORDER BY, arithmetic, and functions of numbers and dates. Days are in order
# as texts too, so that they stay texts but beside dates.

VALUE_COLUMNS = {"INT64": "clew_whole", "DOUBLE": "clew_number", "DATE": "clew_day", "BOOLEAN": "clew_true"}
"""Type of ladybug → the column of nodes that are such values."""
_ORDER_OPERATORS = frozenset(("<", ">", "<=", ">="))
COMPUTING = frozenset(("-", "*", "/", "%", "^", "NEG", "POS"))
_NUMBER_FUNCTIONS = frozenset(
    "max min sum avg abs ceil floor round sqrt sign tointeger tointegerornull tofloat tofloatornull".split()
)
_NUMBER = re.compile(r"-?\d{1,15}(\.\d+)?")
_DATE_FUNCTIONS = frozenset(("date", "datetime", "localdatetime"))


def values_of_names(statement: Statement, facts: GraphFacts) -> tuple[dict[int, str], set[int]]:
    """Put the value's column in the place of a name.

    Returns the texts of parts by their `id`, and the lists whose texts are written as numbers.
    """
    texts, lists, query = dict[int, str](), set[int](), statement.query
    for part in query.find(tree.Calculation):
        if part.operator == "IN":
            left, items = part.operands
            if (
                isinstance(left, tree.PropertyAccess)
                and isinstance(items, tree.ListLiteral)
                and facts.kinds.get(left.key.text) in ("INT64", "DOUBLE")
            ):
                lists.add(id(items))
                texts |= _numbers(items)
    if columns := _columns(statement, facts.kinds):
        for branch in query.find(tree.Branch):
            for key, column in _keys(branch, columns):
                texts[id(key)] = column
    return texts, lists


def _numbers(items: tree.ListLiteral) -> Iterator[tuple[int, str]]:
    """*b.year IN ['1999', 2004]*: texts of numbers are numbers, where the property is one."""
    for item in items.items:
        if isinstance(item, tree.LiteralValue) and isinstance(item.value, str):
            if not _NUMBER.fullmatch(item.value):
                refuse(f"a comparison of numbers with {item.value!r}")
            yield id(item), item.value


def _keys(branch: tree.Branch, columns: Mapping[str, str]) -> Iterator[tuple[tree.Name, str]]:
    """The names that stand for values in a branch, each with the column of the value."""
    aliases = {
        item.alias.text: item.expression
        for part in branch.find(tree.Projection)
        for item in part.items
        if item.alias is not None and _column(item.expression, columns)
    }
    targets = list[Expression]()
    for expression, is_date in _value_expressions(branch):
        # What is called otherwise gets its value where it gets that name.
        original = aliases.get(expression.name.text) if isinstance(expression, tree.Variable) else None
        target = expression if original is None else original
        if is_date or _column(target, columns) != VALUE_COLUMNS["DATE"]:
            targets.append(target)
    for part in branch.find(tree.Projection):
        if part.order and groups(part):
            # Only what a projection has can order it then.
            ordered_names = {_name_variable(order) for order in part.order} & columns.keys()
            ordered_names -= {name for name in ordered_names if columns[name] == VALUE_COLUMNS["DATE"]}
            targets += [
                item.expression for item in part.items if _name_variable(item.expression) in ordered_names
            ]
    for target in targets:
        if isinstance(target, tree.PropertyAccess) and (column := _column(target, columns)):
            yield target.key, column


def _columns(statement: Statement, kinds: Mapping[str, str]) -> dict[str, str]:
    """The column of each variable that can only be the tail of relations with values of one type."""
    kinds_by_variable: dict[str, set[str]] = {}
    for path in statement.query.find(PathPattern):
        for at, edge in enumerate(path.elements):
            if isinstance(edge, Relationship) and edge.direction != "both":
                tail = path.elements[at + 1 if edge.direction == "right" else at - 1]
                if isinstance(tail, tree.NodePattern) and tail.variable is not None:
                    names = label_names(edge.types) if edge.length is None else None
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
    if part.operator in (*_ORDER_OPERATORS, *COMPUTING, "NOT"):
        return True
    with_number = part.operator in ("=", "<>", "+", "IN") and any(map(_is_number, part.operands))
    literals = (operand for operand in part.operands if isinstance(operand, tree.LiteralValue))
    return with_number or (part.operator in ("=", "<>") and any(x.kind == "boolean" for x in literals))


def _is_number(part: Expression) -> bool:
    if isinstance(part, tree.ListLiteral):
        return bool(part.items) and all(map(_is_number, part.items))
    is_literal = isinstance(part, tree.LiteralValue) and part.kind in ("integer", "float")
    return is_literal or (isinstance(part, tree.Call) and part.name.lower() in _NUMBER_FUNCTIONS)


def _column(expression: Expression, columns: Mapping[str, str]) -> str:
    return columns.get(_name_variable(expression), "")


def _name_variable(expression: Expression) -> str:
    """The variable whose name an expression is (*p* of *p.name*); empty for anything else."""
    match expression:
        case tree.PropertyAccess(subject=tree.Variable(name=variable), key=tree.Name(text="name")):
            return variable.text
        case _:
            return ""

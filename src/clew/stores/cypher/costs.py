"""Parts of a reading query that no timeout ends: a database looks at the clock between rows, not within one.

An expression that runs on for hours or fills the memory within one row is refused before it is sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from clew.stores.cypher import tree
from clew.stores.cypher.tree import Expression, Syntax
from clew.stores.errors import QueryRefused

MOST_NUMBERS = 1_000_000
"""Numbers that all `range` calls of a query make, if every one runs within the others."""
MOST_LOOPS = 2
"""Loops over lists within one another."""
MOST_GROWING = 6
"""Sums of two or more variables, each of which may multiply the length of a list or text."""
MOST_EQUAL_TERMS = 4
MOST_REPLACED = 1_000
"""How many times as long a text may become by `replace` within `replace`."""
MOST_OPEN_REPEATS = 4
"""Unbounded repetitions in a regular expression: matching takes a power of the text's length."""

_SIZES = ("size", "length", "count")
"""Functions that tell the length of something that the query holds already."""

ParameterValues = Mapping[str, object]
"""Values of the query's parameters."""


def check_costs(query: tree.CypherQuery, values: ParameterValues) -> None:
    """Raise QueryRefused for an expression that could run on, or grow, without end."""
    numbers, growing_sums = 1, 0
    for part in query.walk():
        if isinstance(part, tree.Call) and part.name.lower() == "range":
            numbers *= max(1, _length(part, values))
            if numbers > MOST_NUMBERS:
                raise QueryRefused(f"Its ranges make more than {MOST_NUMBERS:,} numbers. Make them shorter")
        elif isinstance(part, tree.Calculation) and part.operator == "=~":
            check_regex(_text(part.operands[1], values))
        elif isinstance(part, tree.Reduce):
            _check_reduce(part)
        elif isinstance(part, (tree.Calculation, tree.ReturnItem, tree.MapEntry)):
            growing_sums += _grows(part)
    if growing_sums > MOST_GROWING:
        raise QueryRefused("It adds up variables again and again, which may grow without end")
    _check_nesting(query, values)


def _length(call: tree.Call, values: ParameterValues) -> int:
    """How many numbers a range has at most; QueryRefused if the query does not show it."""
    bounds = [_number(argument, values) for argument in call.arguments]
    if len(bounds) not in (2, 3):
        raise QueryRefused("range takes two or three numbers")
    if any(b is None for b in bounds):
        calls = (inner for argument in call.arguments[:2] for inner in argument.find(tree.Call))
        if any(inner.name.lower() in _SIZES for inner in calls):
            return 1
        raise QueryRefused(
            "The length of a range cannot be told before the query runs. Write numbers, or size(…)"
        )
    low, high, step = (*bounds, 1)[:3]
    return 0 if not step else abs(int((high or 0) - (low or 0)) // int(step)) + 1


def _number(expression: Expression, values: ParameterValues) -> float | None:
    """Read the value of a number, with its sign."""
    match expression:
        case tree.LiteralValue(value=bool()):
            return None
        case tree.LiteralValue(value=int() | float() as value):
            return value
        case tree.Calculation(operator="NEG", operands=(inner,)):
            value = _number(inner, values)
            return None if value is None else -value
        case tree.Parameter(name=name):
            value = values.get(name)
            return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
        case _:
            return None


def _text(expression: Expression, values: ParameterValues) -> str | None:
    """Read a text that is written out or a parameter."""
    value = values.get(expression.name) if isinstance(expression, tree.Parameter) else None
    value = expression.value if isinstance(expression, tree.LiteralValue) else value
    return value if isinstance(value, str) else None


def check_regex(text: str | None) -> None:
    """Raise QueryRefused for a regular expression that may run without end, or (None) is not written out."""
    if text is None:
        raise QueryRefused("A regular expression must be written out as a text. Use CONTAINS or STARTS WITH")
    plain_text = re.sub(r"\\.|\[(?:\\.|[^\]\\])*\]", "x", text)
    if re.search(r"\)(?:[*+]|\{\d*,?\d*\})", plain_text) and re.search(r"\([^()]*[*+{|]", plain_text):
        raise QueryRefused("A regular expression with a repetition within a repetition may run without end")
    if len(re.findall(r"[*+]|\{\d+,\}", plain_text)) > MOST_OPEN_REPEATS or re.search(
        r"\{\d{4,}", plain_text
    ):
        raise QueryRefused("A regular expression with so many repetitions may run without end")


def _check_reduce(part: tree.Reduce) -> None:
    name = part.accumulator.text
    step = part.step
    repetitions: list[Syntax] = [p for p in step.find(tree.Call) if p.name.lower() == "replace"]
    repetitions += step.find(tree.Iteration, tree.Reduce)
    growing_parts = (p for p in step.walk() if _makes_longer(p) and _uses(p, name) > 1)
    if any(_uses(p, name) for p in repetitions) or any(growing_parts):
        raise QueryRefused(f"reduce doubles {name} at each step, which may grow without end")


def _uses(part: Syntax, name: str) -> int:
    return sum(variable.name.text == name for variable in part.find(tree.Variable))


def _makes_longer(part: Syntax) -> bool:
    """Whether it makes a longer text or list, or a list, out of its operands."""
    adding = isinstance(part, tree.Calculation) and part.operator in ("+", "||", "*", "^")
    return adding or isinstance(part, (tree.ListLiteral, tree.MapLiteral))


def _grows(part: Syntax) -> bool:
    """Whether it is a sum of several whole variables (not of their properties)."""
    if not isinstance(part, tree.Calculation) or part.operator not in ("+", "||"):
        return False
    whole_variables = sum(isinstance(operand, tree.Variable) for operand in _summands(part))
    if whole_variables > MOST_EQUAL_TERMS:
        raise QueryRefused(f"It adds up {whole_variables} variables at once, which may grow without end")
    return whole_variables > 1


def _summands(part: tree.Calculation) -> Iterable[Expression]:
    waiting: list[Expression] = list(part.operands)
    while waiting:
        operand = waiting.pop()
        if isinstance(operand, tree.Calculation) and operand.operator in ("+", "||"):
            waiting.extend(operand.operands)
        else:
            yield operand


def _check_nesting(query: tree.CypherQuery, values: ParameterValues) -> None:
    """Refuse loops over lists, and `replace`, too often within one another."""
    waiting: list[tuple[Syntax, int, int]] = [(query, 0, 1)]
    while waiting:
        part, loops, growth = waiting.pop()
        loops += isinstance(part, (tree.Iteration, tree.Reduce))
        if loops > MOST_LOOPS:
            raise QueryRefused(f"It has more than {MOST_LOOPS} loops over lists within one another")
        if isinstance(part, tree.Call) and part.name.lower() == "replace" and len(part.arguments) == 3:
            replacement = _text(part.arguments[2], values)
            growth *= MOST_REPLACED // 10 if replacement is None else max(1, len(replacement))
            if growth > MOST_REPLACED:
                raise QueryRefused("replace within replace may make a text that is too long")
        waiting.extend((child, loops, growth) for child in part.children())

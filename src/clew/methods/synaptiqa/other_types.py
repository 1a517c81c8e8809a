"""Comparisons of a text with a number or a date, which hold of nothing and are no error in Cypher.

`o.orderDate >= date('1998-01-01')` finds nothing where the database keeps days as texts, and a count of it
is 0. So a query that found nothing is told so.
"""

from __future__ import annotations

from collections.abc import Iterator

from clew.methods.synaptiqa.check_names import implied_labels
from clew.stores.cypher.schema import GraphSchema
from clew.stores.cypher.tree import Calculation, Call, Expression, LiteralValue, PropertyAccess, Statement
from clew.stores.cypher.uses import uses_of

_COMPARISONS = frozenset(("=", "<>", "<", ">", "<=", ">="))
_TIMES = ("date", "datetime", "localdatetime", "time", "localtime")
_TEXT = "text "


def other_types(statement: Statement, schema: GraphSchema) -> tuple[str, ...]:
    """Say which properties that are texts a statement compares with a number or a date."""
    uses = {use.token: use for use in uses_of(statement).names if use.kind == "property"}
    implied = implied_labels(statement, schema)
    told: list[str] = []
    for subject, value in _compared(statement):
        use = uses.get(subject.key.start)
        if use is None or use.owner != "node":
            continue
        labels = use.of or implied.get(use.variable, ())
        kinds = [schema.kinds.get(label, {}).get(use.text, "") for label in labels]
        if kinds and all(kind.startswith(_TEXT) for kind in kinds):
            of = "|".join(labels)
            example = kinds[0].removeprefix(_TEXT)
            told.append(f"{of}.{use.text} is a text, as in '{example}'; no text compares with {value}")
    return tuple(dict.fromkeys(told))


def _compared(statement: Statement) -> Iterator[tuple[PropertyAccess, str]]:
    for part in statement.query.walk():
        if isinstance(part, Calculation) and part.operator in _COMPARISONS and len(part.operands) == 2:
            for subject, value in (part.operands, part.operands[::-1]):
                if isinstance(subject, PropertyAccess) and (kind := _kind(value)):
                    yield subject, kind


def _kind(value: Expression) -> str:
    if isinstance(value, LiteralValue) and value.kind in ("integer", "float"):
        return "a number"
    if isinstance(value, Call) and value.name.lower() in _TIMES:
        return f"a {value.name.lower()}"
    return ""

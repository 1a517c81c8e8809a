"""What a label expression admits, and which pairs of labels a hop may connect."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from clew.stores.cypher.schema import GraphSchema
from clew.stores.cypher.tree import LabelExpression, Length

Pairs = frozenset[tuple[str, str]]

LONGEST_HOP = 64
"""Longer hops are looked at as if they were of this length; beyond it the labels that they reach repeat."""


def admits_label(expression: LabelExpression, label: str, *, negated: bool = False) -> bool:
    """Whether a node that the schema knows by `label` may satisfy the expression.

    A node may have more labels than the one that a hop of the schema names: `A&B` admits both A and B, while
    what is excluded by `!` is excluded in any case.
    """
    operator, parts = expression.operator, expression.parts
    if operator == "label":
        return (expression.name is not None and expression.name.text == label) != negated
    if operator == "%":
        return not negated
    if operator == "!":
        return admits_label(parts[0], label, negated=not negated)
    if (operator == "|") != negated:
        return any(admits_label(part, label, negated=negated) for part in parts)
    if negated:
        return all(admits_label(part, label, negated=True) for part in parts)
    excluding = [part for part in parts if part.operator == "!"]
    including = [part for part in parts if part.operator not in ("!", "%")]
    return all(admits_label(part, label) for part in excluding) and (
        not including or any(admits_label(part, label) for part in including)
    )


def admits_type(expression: LabelExpression, type_: str) -> bool:
    """Whether a relation of a type satisfies the expression; a relation has one type."""
    match expression.operator:
        case "label":
            return expression.name is not None and expression.name.text == type_
        case "%":
            return True
        case "!":
            return not admits_type(expression.parts[0], type_)
        case "|":
            return any(admits_type(part, type_) for part in expression.parts)
        case "&":
            return all(admits_type(part, type_) for part in expression.parts)


def joint(expressions: Sequence[LabelExpression]) -> LabelExpression | None:
    """Join the expressions about one node by &; None if there are none."""
    parts: list[LabelExpression] = []
    for expression in expressions:
        parts.extend(expression.parts if expression.operator == "&" else (expression,))
    if len(parts) <= 1:
        return parts[0] if parts else None
    return LabelExpression(parts[0].start, parts[0].stop, "&", None, tuple(parts))


def has_several_labels(expression: LabelExpression | None) -> bool:
    """Whether it asks for two labels at once, so that different hops may know the node by different ones."""
    if expression is None or expression.operator != "&":
        return False
    names = {part.name.text if part.name else str(part) for part in expression.parts if part.operator != "!"}
    return len(names) > 1


def hop_pairs(
    schema: GraphSchema, types: Iterable[LabelExpression], length: Length | None, *, undirected: bool = False
) -> Pairs:
    """Return the (head label, tail label) that a hop of some types and length may connect, head to tail.

    Each step of an `undirected` one goes either way, so that two of *acted in* lead from actor to actor.
    """
    type_expressions = tuple(types)
    single = frozenset(
        (hop.head, hop.tail) for hop in schema.hops if all(admits_type(t, hop.type) for t in type_expressions)
    )
    if undirected:
        single |= frozenset((tail, head) for head, tail in single)
    if length is None or (length.low == 1 and length.high == 1):
        return single
    return _repeat_hops(single, schema.labels, length)


def _repeat_hops(single: Pairs, labels: Sequence[str], length: Length) -> Pairs:
    """Union of the powers `low` to `high` of a relation between labels."""
    tails_by_head: defaultdict[str, set[str]] = defaultdict(set)
    for head, tail in single:
        tails_by_head[head].add(tail)
    low = min(length.low, LONGEST_HOP)
    high = LONGEST_HOP + low if length.high is None else min(length.high, LONGEST_HOP + low)
    reached = {label: {label} for label in labels}
    pairs: set[tuple[str, str]] = set()
    for step in range(high + 1):
        if step >= low:
            count_before = len(pairs)
            pairs.update((head, tail) for head, tails in reached.items() for tail in tails)
            if length.high is None and step > low + len(labels) and len(pairs) == count_before:
                break
        reached = {head: {t for mid in tails for t in tails_by_head[mid]} for head, tails in reached.items()}
        if not any(reached.values()):
            break
    return frozenset(pairs)

"""Conditions on the properties of edges: of a pattern's edges, or of edges by themselves, also ranked.

A condition is met by a triple if one of its statements meets all conditions of the edge. Numbers and dates
are compared as such, other values as text, without regard to case.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from clew.errors import PatternError, UsageError
from clew.graph.graph import Graph, ValueKind
from clew.graph.named import named_triple
from clew.graph.values import parse_value
from clew.types import EdgeCondition, MatchResult, Pattern, TripleText

FIRST_MATCHES, MOST_MATCHES = 64, 65_536
"""Matches that are looked at first for those that meet the conditions, and at most."""
TIE = 1e-6
"""Matches whose GSD differs by no more than this from the best tie with it."""
_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "!=": operator.ne,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_CONDITION = re.compile(r"\s*(!=|<=|>=|=|<|>)?\s*(.*?)\s*", re.DOTALL)


def conditions_of(conditions: Mapping[str, object], where: str) -> tuple[EdgeCondition, ...]:
    """Read `{"since": ">2010", "airline": "KLM"}`; raises PatternError."""
    edge_conditions: list[EdgeCondition] = []
    for key, value in conditions.items():
        if isinstance(value, bool) or not isinstance(value, str | int | float) or not str(value).strip():
            raise PatternError(f'{where}: the condition on {key!r} is {value!r}. Write text, as in ">2010"')
        parts = _CONDITION.fullmatch(str(value))
        if parts is None or not parts[2]:
            raise PatternError(f'{where}: the condition on {key!r} compares with nothing. Write ">2010"')
        edge_conditions.append(EdgeCondition(key, parts[1] or "=", parts[2]))
    return tuple(edge_conditions)


def match_where(
    search: Callable[[int], MatchResult], graph: Graph, pattern: Pattern, k: int | None
) -> MatchResult:
    """The first `k` that meet the conditions (None: all tied with the best), of those that `search` gives."""
    places = [(i, edge.where) for i, edge in enumerate(pattern.edges) if edge.where]
    _check_keys(graph, [condition.key for _, where in places for condition in where])
    statements, count = graph.edge_properties.statements, max(FIRST_MATCHES, k or 0)
    while True:
        result = search(count)
        matches = [
            m for m in result.matches
            if all(
                any(_meets(graph, statement, where) for statement in statements(*graph.triple(m.triples[i])))
                for i, where in places
            )
        ]  # fmt: skip
        is_last = len(result.matches) < count
        if k is None and matches:
            best = [m for m in matches if m.gsd <= matches[0].gsd + TIE]
            if is_last or result.matches[-1].gsd > matches[0].gsd + TIE:
                return replace(result, matches=tuple(best))
        if is_last or (k is not None and len(matches) >= k):
            return replace(result, matches=tuple(matches[:k]))
        if count >= MOST_MATCHES:
            return replace(result, matches=tuple(matches[:k]), complete=False, bound=result.matches[-1].gsd)
        count = min(4 * count, MOST_MATCHES)


def find_edges(
    graph: Graph,
    ends: tuple[int | None, int | None, int | None],
    conditions: Sequence[EdgeCondition],
    *,
    order: str | None = None,
    smallest: bool = False,
) -> Iterator[TripleText]:
    """Statements with given ends (None: any) that meet all conditions, each with its properties.

    Ranked by the property `order`, the largest first, those without it left out; else as the source has them.
    Raises UsageError for a property that no edge has.
    """
    properties = graph.edge_properties
    _check_keys(graph, [c.key for c in conditions] + ([] if order is None else [order]))
    rows = np.ones(len(properties), np.bool_)
    for column, id_ in enumerate(ends):
        if id_ is not None:
            rows &= properties.triples[:, column] == id_
    statements = [s for s in np.flatnonzero(rows).tolist() if _meets(graph, s, conditions)]
    if order is not None:
        ranks = {s: _number(graph, s, order) for s in statements}
        statements = [s for s in statements if not math.isnan(ranks[s])]
        statements.sort(key=lambda s: ranks[s] if smallest else -ranks[s])
    for statement in statements:
        named = named_triple(graph, *properties.triples[statement].tolist())
        yield replace(named, properties=(properties.of(statement),))


def _check_keys(graph: Graph, keys: Sequence[str]) -> None:
    known_keys = list(graph.edge_properties.keys)
    unknown = next((key for key in keys if key not in known_keys), None)
    if unknown is not None:
        advice = (
            f"Those of this graph are: {', '.join(known_keys[:12])}"
            if known_keys
            else "Edges of this graph have none"
        )
        raise UsageError(f"No edge has a property {unknown!r}. {advice}")


def _meets(graph: Graph, statement: int, conditions: Sequence[EdgeCondition]) -> bool:
    return all(
        any(_is_met(graph, at, condition) for at in _property_places(graph, statement, condition.key))
        for condition in conditions
    )


def _property_places(graph: Graph, statement: int, key: str) -> list[int]:
    properties = graph.edge_properties
    span = range(int(properties.offsets[statement]), int(properties.offsets[statement + 1]))
    return [at for at in span if properties.keys[int(properties.key[at])] == key]


def _is_met(graph: Graph, at: int, condition: EdgeCondition) -> bool:
    properties, sign = graph.edge_properties, condition.sign
    kind, bound = parse_value(condition.value)
    if kind != ValueKind.NONE and kind == properties.kind[at]:
        return _COMPARE[sign](float(properties.value[at]), bound)
    if kind != ValueKind.NONE and sign not in ("=", "!="):
        return False  # a text is neither above nor below a number
    return _COMPARE[sign](properties.texts[at].casefold(), condition.value.casefold())


def _number(graph: Graph, statement: int, key: str) -> float:
    properties = graph.edge_properties
    numbers = [
        float(properties.value[at]) for at in _property_places(graph, statement, key) if properties.kind[at]
    ]
    return numbers[0] if numbers else math.nan

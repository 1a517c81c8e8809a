"""Patterns: their JSON form, the conditions on their edges, and checks that they can be searched."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from clew.errors import PatternError, UsageError
from clew.graph.graph import Graph, ValueKind
from clew.graph.values import parse_value
from clew.types import EdgeCondition, MatchResult, Pattern, PatternEdge, PatternNode

# Conditions on the properties of the edges of a pattern.
#
# A condition is met by a triple if one of its statements meets all conditions of the edge. Numbers and dates
# are compared as such, other values as text, without regard to case.


FIRST_MATCHES, MOST_MATCHES = 64, 65_536
"""Matches that are looked at first for those that meet the conditions, and at most."""
TIE = 1e-6
"""Matches whose GSD differs by no more than this from the best tie with it."""
COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
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
        if parts is None or not parts[2] or (parts[1] and parts[2][0] in "<>=!"):
            raise PatternError(
                f'{where}: the condition on {key!r} compares with nothing: {value!r}. Write ">2010"'
            )
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
    span = range(*properties.offsets[statement : statement + 2].tolist())
    return [at for at in span if properties.keys[int(properties.key[at])] == key]


def _is_met(graph: Graph, at: int, condition: EdgeCondition) -> bool:
    properties, compare = graph.edge_properties, COMPARE[condition.sign]
    kind, bound = parse_value(condition.value)
    if kind != ValueKind.NONE and kind == properties.kind[at]:
        return compare(float(properties.value[at]), bound)
    if kind != ValueKind.NONE and condition.sign not in ("=", "!="):
        return False  # a text is neither above nor below a number
    return compare(properties.texts[at].casefold(), condition.value.casefold())


# Patterns: reading their JSON form and checking that they can be searched.

MOST_PATTERN_EDGES = 16
PATTERN_ADVICE = 'write {"triples": [[head, relation, tail], …], "answer": name}'
_UNKNOWN = re.compile(
    r"unknown(?:[\s_]+(?P<type>.*?))??(?:[\s_]*(?P<number>\d+))?", re.IGNORECASE | re.DOTALL
)
_UNTYPED = frozenset({"", "thing", "entity"})


def unknown_type(name: str) -> tuple[bool, str | None]:
    """(whether `name` stands for an unknown, its type): "UNKNOWN director 1" → (True, "director").

    "UNKNOWN", "UNKNOWN 1", "UNKNOWN thing 1" and "UNKNOWN entity 1" have no type (SimGRAG section 4.3).
    """
    parts = _UNKNOWN.fullmatch(name.strip())
    if parts is None:
        return False, None
    kind = (parts["type"] or "").strip()
    return True, None if kind.casefold() in _UNTYPED else kind


def pattern_from_json(obj: object, where: str) -> Pattern:
    """Read the pattern `obj`; `where` ("file:line") begins the message of every `PatternError`.

    Nodes are numbered as they first appear; equal names are one node; equal triples are parallel edges. A
    triple may have conditions on properties of its edge: `[head, relation, tail, {"since": ">2010"}]`.
    """
    if not isinstance(obj, dict):
        raise PatternError(f"{where}: a pattern is an object: {PATTERN_ADVICE}")
    fields = cast("dict[str, Any]", obj)
    triples = fields.get("triples")
    if not isinstance(triples, list) or not triples:
        raise PatternError(
            f"{where}: field 'triples' must be a list of at least one triple: {PATTERN_ADVICE}"
        )
    places: dict[str, int] = {}
    edges: list[PatternEdge] = []
    for i, triple in enumerate(cast("list[object]", triples)):
        at = f"{where}: field 'triples[{i}]'"
        conditions: tuple[EdgeCondition, ...] = ()
        if isinstance(triple, list) and len(triple) == 4 and isinstance(triple[3], dict):  # pyright: ignore
            conditions = conditions_of(cast("dict[str, object]", triple[3]), at)
            triple = cast("list[object]", triple)[:3]
        head, relation, tail = _strings(triple, at)
        unknown = unknown_type(relation)[0]
        place = [places.setdefault(name, len(places)) for name in (head, tail)]
        edges.append(PatternEdge(place[0], None if unknown else relation, place[1], where=conditions))
    kinds = [(name, *unknown_type(name)) for name in places]
    nodes = tuple(PatternNode(name, known=not unknown, type=kind) for name, unknown, kind in kinds)
    answer = fields.get("answer")
    if answer is not None and (not isinstance(answer, str) or answer.strip() not in places):
        raise PatternError(f"{where}: field 'answer' must be the name of a node of 'triples', not {answer!r}")
    pattern = Pattern(nodes, tuple(edges), None if answer is None else places[answer.strip()])
    check_pattern(pattern, where)
    return pattern


def check_pattern(pattern: Pattern, where: str = "pattern") -> None:
    """Raise a `PatternError` that names the field if `pattern` cannot be searched."""
    nodes, edges = pattern.nodes, pattern.edges
    count = len(nodes)
    if not edges:
        raise PatternError(f"{where}: field 'triples' is empty: give at least one triple")
    if len(edges) > MOST_PATTERN_EDGES:
        raise PatternError(
            f"{where}: field 'triples' has {len(edges)} triples: at most {MOST_PATTERN_EDGES} can be searched"
        )
    if pattern.answer is not None and not 0 <= pattern.answer < count:
        raise PatternError(f"{where}: field 'answer' is node {pattern.answer}: the pattern has {count} nodes")
    for i, edge in enumerate(edges):
        if not (0 <= edge.head < count and 0 <= edge.tail < count):
            raise PatternError(
                f"{where}: field 'triples[{i}]' names a node that is not among the {count} nodes"
            )
    previous, connected = 0, 1 << edges[0].head
    while previous != connected:
        previous = connected
        for edge in edges:
            if (connected >> edge.head | connected >> edge.tail) & 1:
                connected |= 1 << edge.head | 1 << edge.tail
    for i, node in enumerate(nodes):
        if not connected >> i & 1:
            raise PatternError(
                f"{where}: field 'triples': {node.name!r} is not connected with "
                f"{nodes[edges[0].head].name!r}; search disconnected parts one by one"
            )
    if not any(node.known for node in nodes):
        raise PatternError(f"{where}: field 'triples': every node is unknown: name at least one entity")


def _strings(triple: object, field: str) -> list[str]:
    if not isinstance(triple, list):
        raise PatternError(f"{field} must be a list of three strings: [head, relation, tail]")
    parts = cast("list[object]", triple)
    if len(parts) != 3:
        raise PatternError(f"{field} has {len(parts)} entries: it needs three, [head, relation, tail]")
    strings: list[str] = []
    for part, name in zip(parts, ("head", "relation", "tail"), strict=True):
        if not isinstance(part, str) or not part.strip():
            raise PatternError(f"{field}: its {name} must be a string that is not empty")
        strings.append(part.strip())
    return strings

"""Patterns: reading their JSON form and checking that they can be searched."""

from __future__ import annotations

import re
from typing import Any, cast

from clew.errors import PatternError
from clew.graph.match.conditions import conditions_of
from clew.types import EdgeCondition, Pattern, PatternEdge, PatternNode

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
    nodes = tuple(_node(name) for name in places)
    pattern = Pattern(nodes, tuple(edges), _answer(fields.get("answer"), places, where))
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


def _node(name: str) -> PatternNode:
    unknown, kind = unknown_type(name)
    return PatternNode(name, known=not unknown, type=kind)


def _answer(answer: object, places: dict[str, int], where: str) -> int | None:
    if answer is None:
        return None
    if not isinstance(answer, str) or answer.strip() not in places:
        raise PatternError(f"{where}: field 'answer' must be the name of a node of 'triples', not {answer!r}")
    return places[answer.strip()]

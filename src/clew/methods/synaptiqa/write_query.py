"""The `write query` step without a model: a pattern whose relations are fixed becomes Cypher."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clew.stores.cypher.tokens import quote_name
from clew.types import Pattern


@dataclass(frozen=True, slots=True)
class WrittenQuery:
    """A statement whose rows are the answer node's id and then the id of every edge's triple."""

    text: str
    edges: int


def write_query(
    pattern: Pattern, label: Callable[[int], str | None], relation: Callable[[int], str], *, trail: bool
) -> WrittenQuery | None:
    """Write a pattern as Cypher for the embedded store; None for a pattern that has no such form.

    `label` gives the label of an entity (None for a literal, which is no node there), `relation` the name of
    a relation id. With `trail` no triple is used twice: the edges share a MATCH; else each has its own.
    """
    if pattern.answer is None or not pattern.edges or any(e.fixed is None for e in pattern.edges):
        return None
    if any(not node.known and node.type is not None for node in pattern.nodes):
        return None  # a node of several types is in the table of the first
    nodes: list[str] = []
    for at, node in enumerate(pattern.nodes):
        own = None if node.entity is None else label(node.entity)
        if node.known and own is None:
            return None
        known = f":{quote_name(own)} {{clew_id: {node.entity}}}" if own is not None else ""
        nodes.append(f"(n{at}{known})")
    hops = [
        f"{nodes[e.head]}-[r{at}:{quote_name(relation(e.fixed))}]->{nodes[e.tail]}"
        for at, e in enumerate(pattern.edges)
        if e.fixed is not None
    ]
    match = "MATCH " + ", ".join(hops) if trail else " ".join(f"MATCH {hop}" for hop in hops)
    triples = "".join(f", r{at}.clew_triple AS r{at}" for at in range(len(hops)))
    return WrittenQuery(f"{match} RETURN n{pattern.answer}.clew_id AS answer{triples}", len(hops))

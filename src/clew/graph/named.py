"""Triples of a graph as people read them: by names, with their ids and the properties of their edges."""

from __future__ import annotations

from dataclasses import replace

from clew.graph.graph import DERIVED, INFERRED, Graph
from clew.types import TripleText


def triple_text(graph: Graph, triple: int) -> TripleText:
    """Name a triple by its id, and say whether it is inferred."""
    inferred = int(graph.source[triple]) in (INFERRED, DERIVED)
    return replace(named_triple(graph, *graph.triple(triple)), inferred=inferred)


def named_triple(graph: Graph, head: int, relation: int, tail: int) -> TripleText:
    """Name a triple by the ids of its ends and relation."""
    names = (graph.label(head), graph.relation_labels[relation], graph.label(tail))
    ids = (graph.entities[head], graph.relations[relation], graph.entities[tail])
    properties = properties_of(graph, head, relation, tail)
    return TripleText(*names, properties, ids=None if ids == names else ids)


def properties_of(
    graph: Graph, head: int, relation: int, tail: int
) -> tuple[tuple[tuple[str, str], ...], ...]:
    """Return the properties of each edge that the source has of a triple."""
    properties = graph.edge_properties
    if not len(properties):
        return ()
    return tuple(map(properties.of, properties.statements(head, relation, tail)))

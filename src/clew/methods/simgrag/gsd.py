"""The terms of a match's graph semantic distance (SimGRAG eq. 3): how far each node and relation is."""

from __future__ import annotations

import numpy as np

from clew.graph.graph import Graph
from clew.graph.match.distances import Distances
from clew.types import Match, Pattern, PatternEdge, PatternNode

MOST_LISTED_ENTITIES = 1 << 20
"""Candidates among which an entity is looked for where entities are not measured."""


def gsd_terms(
    graph: Graph, pattern: Pattern, found: Match, distances: Distances
) -> list[tuple[str, str, float | None]]:
    """The terms of eq. 3: (name in the pattern, name in the graph, distance), known nodes and then relations.

    They add up to the GSD. A distance is None where it cannot be told.
    """
    terms: list[tuple[str, str, float | None]] = []
    for node, entity in zip(pattern.nodes, found.nodes, strict=True):
        if node.known:
            terms.append((node.name, graph.labels[entity], _rounded(node_distance(node, entity, distances))))
    for edge, triple in zip(pattern.edges, found.triples, strict=True):
        relation = graph.triple(triple)[1]
        if edge.relation is not None:
            far = edge_distance(edge, relation, distances)
            terms.append((edge.relation, graph.relation_labels[relation], _rounded(far)))
    return terms


def _rounded(distance: float | None) -> float | None:
    return None if distance is None else round(distance, 3)


def edge_distance(edge: PatternEdge, relation: int, distances: Distances) -> float:
    """How far a relation of the graph is from that of an edge."""
    if edge.relation is None or edge.fixed is not None:
        return 0.0
    return float(distances.relation_distances(edge)[relation])


def node_distance(node: PatternNode, entity: int, distances: Distances) -> float | None:
    """How far an entity is from a node; None if it is not among its candidates."""
    if not node.known or node.entity is not None:
        return 0.0
    measured = distances.measure(node)
    if measured is None:
        near = distances.node_candidates(node, MOST_LISTED_ENTITIES)
        listed, far = near.entities, near.distances
    else:
        listed, far = measured.entities, measured.distances
    at = np.flatnonzero(listed == entity)
    if len(at):
        return float(far[at[0]])
    if measured is None or measured.scale is None:
        return None
    if measured.rows is None or measured.query is None:
        return float(measured.scale[entity])
    query = measured.query.values.astype(np.float64) * measured.query.step
    vector = measured.rows[entity].astype(np.float64) * float(measured.scale[entity])
    return float(np.linalg.norm(vector - query))

"""Which nodes are at the ends of each relation: end 2r are its heads, end 2r + 1 its tails."""

from __future__ import annotations

import numpy as np

from clew.graph.kernels import Array, entry


@entry
def count_nodes(starts: Array, stops: Array, relation: Array, relations: int) -> tuple[Array, Array, Array]:
    """Count, for each relation of one direction, the nodes that have it and its edges.

    Also its first slot in the order of nodes, -1 without one; all int64 [relations].
    """
    nodes, edges = np.zeros(relations, np.int64), np.zeros(relations, np.int64)
    first = np.full(relations, -1, np.int64)
    for node in range(len(starts)):
        for slot in range(starts[node], stops[node]):
            here = relation[slot]
            edges[here] += 1
            if slot == starts[node] or relation[slot - 1] != here:
                nodes[here] += 1
                if first[here] < 0:
                    first[here] = slot
    return nodes, edges, first


@entry
def list_nodes(starts: Array, stops: Array, relation: Array, places: Array, nodes: Array) -> None:
    """Write the nodes that have each relation, ascending, into `nodes` from its place of `places` on."""
    at = places.copy()
    for node in range(len(starts)):
        for slot in range(starts[node], stops[node]):
            here = relation[slot]
            if slot == starts[node] or relation[slot - 1] != here:
                nodes[at[here]] = node
                at[here] += 1


@entry
def count_ends(starts: Array, stops: Array, relation: Array, side: int, nodes: Array, found: Array) -> None:
    """Add to `found` int64 [ends] how many of `nodes` have each end of one `side` (0: out, 1: into)."""
    for node in nodes:
        for slot in range(starts[node], stops[node]):
            if slot == starts[node] or relation[slot - 1] != relation[slot]:
                found[2 * relation[slot] + side] += 1

"""The triples around some nodes, hop by hop, both ways: breadth-first search over the adjacency."""

from __future__ import annotations

import numpy as np

from clew.graph.kernels import Array, compiled, entry
from clew.graph.kernels.columns import GraphColumns

UNSEEN = 0
"""State of a node that no hop has reached; a reached node has state 1, one whose edges were taken 2."""


@compiled
def triple_of(graph: GraphColumns, head: int, relation: int, tail: int) -> int:
    """Position of the triple among the outgoing edges of `head`, which are sorted by (relation, tail)."""
    low, high = graph.out_starts[head], graph.out_stops[head]
    while low < high:
        middle = (low + high) >> 1
        here = graph.out_relation[middle]
        if here < relation or (here == relation and graph.out_neighbour[middle] < tail):
            low = middle + 1
        else:
            high = middle
    return low


@entry
def count_edges(graph: GraphColumns, nodes: Array, most: int) -> Array:
    """How many of `nodes`, in their order, have at most `most` edges together, and that number: int64 [2].

    The first node is always taken.
    """
    total, taken = 0, 0
    for node in nodes:
        here = graph.out_stops[node] - graph.out_starts[node]
        here += graph.into_stops[node] - graph.into_starts[node]
        if taken and total + here > most:
            break
        total += here
        taken += 1
    return np.array([taken, total])


@entry
def take_hop(graph: GraphColumns, nodes: Array, state: Array, room: int) -> tuple[Array, Array]:
    """Take the triples of `nodes` that no earlier hop took, each once: ids int64 [n], far ends int32 [n].

    `state` uint8 [all nodes] is kept from hop to hop. `room` is at least the number of edges of `nodes`.
    """
    triples = np.empty(room, np.int64)
    ends = np.empty(room, np.int32)
    count = 0
    for node in nodes:
        if state[node] == 2:
            continue
        for at in range(graph.out_starts[node], graph.out_stops[node]):
            # A triple of a finished node was taken there; a loop is taken here, among the outgoing.
            if state[graph.out_neighbour[at]] != 2:
                triples[count], ends[count] = at, graph.out_neighbour[at]
                count += 1
        for at in range(graph.into_starts[node], graph.into_stops[node]):
            head = graph.into_neighbour[at]
            if state[head] != 2 and head != node:
                triples[count] = triple_of(graph, head, graph.into_relation[at], node)
                ends[count] = head
                count += 1
        state[node] = 2
    return triples[:count], ends[:count]


@entry
def reach(ends: Array, state: Array) -> Array:
    """Those of `ends` that no hop had reached, in order, each once: int32 [n]; they are then reached."""
    fresh = np.empty(len(ends), np.int32)
    count = 0
    for end in ends:
        if state[end] == UNSEEN:
            state[end] = 1
            fresh[count] = end
            count += 1
    return fresh[:count]

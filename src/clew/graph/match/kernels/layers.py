"""The layers of a search: one of entities for each pattern node, and the edges between two of them."""

from __future__ import annotations

import numpy as np

from clew.graph.kernels import compiled
from clew.graph.match.kernels.columns import (
    BASE,
    COST,
    EDGE_START,
    EDGE_STOP,
    ENTITY,
    FIRST,
    FLOOR,
    HEAD,
    ID,
    INFINITE,
    LAST,
    LOWEST,
    PARENT,
    SIZE,
    SOURCE,
    START,
    TARGET,
    VIA,
    WEIGHT,
    ZERO,
    GraphColumns,
    Layers,
    QueryColumns,
)
from clew.graph.match.kernels.edges import count_at, room

EXACT_LIMIT = 64
"""Entities whose edges are counted by relation; of more, the degrees of about so many are taken."""


@compiled
def empty_layers(nodes: int) -> Layers:
    """No layers, with a little room."""
    node = np.empty((nodes, 6), np.int64)
    node[:, :] = -1
    return Layers(node, np.empty((256, 3), np.int64), np.empty((256, 4), np.int64), np.zeros(2, np.int64))


@compiled
def layers_room(layers: Layers, entries: int, edges: int) -> Layers:
    """`layers` with space for so many more entries and edges."""
    entries += layers.used[0]
    edges += layers.used[1]
    if entries <= len(layers.entry) and edges <= len(layers.edge):
        return layers
    return Layers(layers.node, room(layers.entry, entries), room(layers.edge, edges), layers.used)


@compiled
def open_layer(query: QueryColumns, layers: Layers, node: int) -> Layers:
    """Start the layer of `node`, a component of its own: its candidates if it is known, else nothing."""
    first, stop = query.nodes[node, FIRST], query.nodes[node, LAST]
    layers = layers_room(layers, stop - first, ZERO)
    start = layers.used[0]
    layers.node[node, START], layers.node[node, SIZE] = start, stop - first
    entry, candidate = layers.entry, query.candidate
    base = query.options[BASE] - query.nodes[node, FLOOR]
    for j in range(stop - first):
        cost = candidate[first + j, WEIGHT]
        entry[start + j, ENTITY], entry[start + j, COST] = candidate[first + j, ID], cost
        entry[start + j, LOWEST] = base + cost
    layers.used[0] = start + stop - first
    return layers


@compiled
def compact(layers: Layers) -> Layers:  # noqa: C901
    """`layers` without the dead entries and their edges."""
    count, old, old_edge = ZERO, layers.entry, layers.edge
    for i in range(layers.used[0]):
        if old[i, LOWEST] < INFINITE:
            count += 1
    if 2 * count > layers.used[0]:
        return layers
    node, place = layers.node.copy(), np.empty(layers.used[0], np.int64)
    entry, used = np.empty((count, 3), np.int64), np.zeros(2, np.int64)
    edge = np.empty_like(layers.edge)
    for v in range(len(node)):
        if node[v, START] < 0:
            continue
        start = used[0]
        for i in range(node[v, START], node[v, START] + node[v, SIZE]):
            place[i] = used[0] - start
            if old[i, LOWEST] < INFINITE:
                for column in range(3):
                    entry[used[0], column] = old[i, column]
                used[0] += 1
        node[v, START], node[v, SIZE] = start, used[0] - start
    for v in range(len(node)):
        parent = node[v, PARENT]
        if node[v, START] < 0 or parent < 0:
            continue
        above, below, fill = layers.node[parent, START], layers.node[v, START], used[1]
        for j in range(node[v, EDGE_START], node[v, EDGE_STOP]):
            source, target = above + old_edge[j, SOURCE], below + old_edge[j, TARGET]
            if old[source, LOWEST] < INFINITE and old[target, LOWEST] < INFINITE:
                for column in range(4):
                    edge[used[1], column] = old_edge[j, column]
                edge[used[1], SOURCE], edge[used[1], TARGET] = place[source], place[target]
                used[1] += 1
        node[v, EDGE_START], node[v, EDGE_STOP] = fill, used[1]
    return Layers(node, entry, edge, used)


@compiled
def turn(layers: Layers, node: int) -> None:
    """Make `node` the root of its component: the joins on its way up change their owner."""
    parent, via = layers.node[node, PARENT], layers.node[node, VIA]
    start, stop = layers.node[node, EDGE_START], layers.node[node, EDGE_STOP]
    layers.node[node, PARENT] = -1
    while parent >= 0:
        edge = layers.edge
        for j in range(start, stop):
            source = edge[j, SOURCE]
            edge[j, SOURCE] = edge[j, TARGET]
            edge[j, TARGET] = source
        above, next_via = layers.node[parent, PARENT], layers.node[parent, VIA]
        next_start, next_stop = layers.node[parent, EDGE_START], layers.node[parent, EDGE_STOP]
        layers.node[parent, PARENT], layers.node[parent, VIA] = node, via
        layers.node[parent, EDGE_START], layers.node[parent, EDGE_STOP] = start, stop
        node, parent, via, start, stop = parent, above, next_via, next_start, next_stop


@compiled
def root_of(layers: Layers, node: int) -> int:
    """Find the root of the component of `node`."""
    while layers.node[node, PARENT] >= 0:
        node = layers.node[node, PARENT]
    return node


@compiled
def components(layers: Layers) -> int:
    """Count the components."""
    count = 0
    for v in range(len(layers.node)):
        if layers.node[v, START] >= 0 and layers.node[v, PARENT] < 0:
            count += 1
    return count


@compiled
def layer_edges(
    graph: GraphColumns, query: QueryColumns, layers: Layers, edge: int, node: int, most: int
) -> int:
    """Edges to look at when `edge` is followed from the layer of `node`; counting ends beyond `most`.

    Of many entities, it is estimated by some.
    """
    first, size = layers.node[node, START], layers.node[node, SIZE]
    at_head, stride = query.edges[edge, HEAD] == node, 1 + size // (EXACT_LIMIT + 1)
    total = 0
    for i in range(0, size, stride):
        if layers.entry[first + i, LOWEST] < INFINITE:
            total += count_at(graph, query, edge, layers.entry[first + i, ENTITY], at_head, stride == 1)
            if total * stride > most:
                break
    return total * stride

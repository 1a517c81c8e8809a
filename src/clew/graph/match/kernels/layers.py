"""The layers of a search: one of entities for each pattern node, and the edges between two of them."""

from __future__ import annotations

import numpy as np

from clew.graph.kernels import compiled
from clew.graph.match.kernels import columns as c
from clew.graph.match.kernels.columns import GraphColumns, Layers, QueryColumns
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
    first, stop = query.nodes[node, c.FIRST], query.nodes[node, c.LAST]
    layers = layers_room(layers, stop - first, c.ZERO)
    start = layers.used[0]
    layers.node[node, c.START], layers.node[node, c.SIZE] = start, stop - first
    entry, candidate = layers.entry, query.candidate
    base = query.options[c.BASE] - query.nodes[node, c.FLOOR]
    for j in range(stop - first):
        cost = candidate[first + j, c.WEIGHT]
        entry[start + j, c.ENTITY], entry[start + j, c.COST] = candidate[first + j, c.ID], cost
        entry[start + j, c.LOWEST] = base + cost
    layers.used[0] = start + stop - first
    return layers


@compiled
def compact(layers: Layers) -> Layers:  # noqa: C901
    """`layers` without the dead entries and their edges."""
    count, old_entry, old_edge = c.ZERO, layers.entry, layers.edge
    for i in range(layers.used[0]):
        if old_entry[i, c.LOWEST] < c.INFINITE:
            count += 1
    if 2 * count > layers.used[0]:
        return layers
    node, place = layers.node.copy(), np.empty(layers.used[0], np.int64)
    entry, used = np.empty((count, 3), np.int64), np.zeros(2, np.int64)
    edge = np.empty_like(layers.edge)
    for v in range(len(node)):
        if node[v, c.START] < 0:
            continue
        start = used[0]
        for i in range(node[v, c.START], node[v, c.START] + node[v, c.SIZE]):
            place[i] = used[0] - start
            if old_entry[i, c.LOWEST] < c.INFINITE:
                for column in range(3):
                    entry[used[0], column] = old_entry[i, column]
                used[0] += 1
        node[v, c.START], node[v, c.SIZE] = start, used[0] - start
    for v in range(len(node)):
        parent = node[v, c.PARENT]
        if node[v, c.START] < 0 or parent < 0:
            continue
        above, below, fill = layers.node[parent, c.START], layers.node[v, c.START], used[1]
        for j in range(node[v, c.EDGE_START], node[v, c.EDGE_STOP]):
            source, target = above + old_edge[j, c.SOURCE], below + old_edge[j, c.TARGET]
            if old_entry[source, c.LOWEST] < c.INFINITE and old_entry[target, c.LOWEST] < c.INFINITE:
                for column in range(4):
                    edge[used[1], column] = old_edge[j, column]
                edge[used[1], c.SOURCE], edge[used[1], c.TARGET] = place[source], place[target]
                used[1] += 1
        node[v, c.EDGE_START], node[v, c.EDGE_STOP] = fill, used[1]
    return Layers(node, entry, edge, used)


@compiled
def turn(layers: Layers, node: int) -> None:
    """Make `node` the root of its component: the joins on its way up change their owner."""
    parent, via = layers.node[node, c.PARENT], layers.node[node, c.VIA]
    start, stop = layers.node[node, c.EDGE_START], layers.node[node, c.EDGE_STOP]
    layers.node[node, c.PARENT] = -1
    while parent >= 0:
        edge = layers.edge
        for j in range(start, stop):
            source = edge[j, c.SOURCE]
            edge[j, c.SOURCE] = edge[j, c.TARGET]
            edge[j, c.TARGET] = source
        grandparent, next_via = layers.node[parent, c.PARENT], layers.node[parent, c.VIA]
        next_start, next_stop = layers.node[parent, c.EDGE_START], layers.node[parent, c.EDGE_STOP]
        layers.node[parent, c.PARENT], layers.node[parent, c.VIA] = node, via
        layers.node[parent, c.EDGE_START], layers.node[parent, c.EDGE_STOP] = start, stop
        node, parent, via, start, stop = parent, grandparent, next_via, next_start, next_stop


@compiled
def root_of(layers: Layers, node: int) -> int:
    """Find the root of the component of `node`."""
    while layers.node[node, c.PARENT] >= 0:
        node = layers.node[node, c.PARENT]
    return node


@compiled
def components(layers: Layers) -> int:
    """Count the components."""
    count = 0
    for v in range(len(layers.node)):
        if layers.node[v, c.START] >= 0 and layers.node[v, c.PARENT] < 0:
            count += 1
    return count


@compiled
def layer_edges(
    graph: GraphColumns, query: QueryColumns, layers: Layers, edge: int, node: int, most: int
) -> int:
    """Edges to look at if `edge` is followed from the layer of `node` (of many: estimated), up to `most`."""
    first, size = layers.node[node, c.START], layers.node[node, c.SIZE]
    at_head, stride = query.edges[edge, c.HEAD] == node, 1 + size // (EXACT_LIMIT + 1)
    total = 0
    for i in range(0, size, stride):
        if layers.entry[first + i, c.LOWEST] < c.INFINITE:
            total += count_at(graph, query, edge, layers.entry[first + i, c.ENTITY], at_head, stride == 1)
            if total * stride > most:
                break
    return total * stride

"""The part of the graph that can hold a match, as one layer of entities per pattern node.

Layers grow from the known node with the fewest edges towards the other known nodes, always by the
cheapest join; edges between two layers are kept, so that later stages never look anything up. What hangs
off with no known node beyond it is left to the enumeration, which reads the graph there directly.
"""

from __future__ import annotations

import numpy as np

from clew.graph.kernels import Array, compiled
from clew.graph.match.kernels import columns as c
from clew.graph.match.kernels.columns import GraphColumns, LayerJoin, Layers, QueryColumns, Search
from clew.graph.match.kernels.joins import join_new, join_two
from clew.graph.match.kernels.layers import (
    compact,
    components,
    empty_layers,
    layer_edges,
    open_layer,
    root_of,
    turn,
)

FREE_LIMIT = 100_000
"""Edges that are worth following to make the bounds of a node without known nodes beyond it exact."""


@compiled
def all_costs_known(query: QueryColumns, layers: Layers) -> bool:
    """Whether all far nodes have layers."""
    for v in range(len(query.nodes)):
        if query.nodes[v, c.KIND] == c.FAR and layers.node[v, c.START] < 0:
            return False
    return True


@compiled
def leads(query: QueryColumns, layers: Layers, parent: int, child: int) -> bool:
    """Whether another component, a far or the projected node is reached from `child` outside the layers."""
    seen, root = 1 << child, root_of(layers, parent)
    for _ in range(len(query.nodes)):
        seen_before = seen
        for e in range(len(query.edges)):
            head, tail = query.edges[e, c.HEAD], query.edges[e, c.TAIL]
            for flip in range(2):
                near, far = (head, tail) if flip == 0 else (tail, head)
                if seen >> near & 1:
                    if layers.node[far, c.START] < 0:
                        seen |= 1 << far
                    elif root_of(layers, far) != root:
                        return True
        if seen == seen_before:
            break
    for v in range(len(query.nodes)):
        if seen >> v & 1 and query.nodes[v, c.KIND] == c.FAR:
            return True
    return query.options[c.PROJECT] >= 0 and seen >> query.options[c.PROJECT] & 1 != 0


@compiled
def next_join(graph: GraphColumns, query: QueryColumns, layers: Layers) -> tuple[int, int, int]:
    """(pattern edge, node to scan, other node) of the cheapest join to make; edge -1 when there is none."""
    best, best_scanned, best_other = -1, -1, -1
    least, needed = c.INFINITE, False
    for e in range(len(query.edges)):
        for flip in range(2):
            scanned = query.edges[e, c.HEAD if flip == 0 else c.TAIL]
            other = query.edges[e, c.TAIL if flip == 0 else c.HEAD]
            if layers.node[scanned, c.START] < 0:
                continue
            if layers.node[other, c.START] >= 0:
                need = root_of(layers, scanned) != root_of(layers, other)
                if not need:
                    continue
            else:
                need = leads(query, layers, scanned, other)
                if needed and not need:
                    continue
            most = least if needed or not need else c.INFINITE
            if not need and query.options[c.EAGER] == 0:
                if query.options[c.UNIFORM] == 1:
                    continue
                most = min(most, FREE_LIMIT + 1)
            cost = layer_edges(graph, query, layers, e, scanned, most)
            if cost < most:
                best, best_scanned, best_other = e, scanned, other
                least, needed = cost, need
    return best, best_scanned, best_other


@compiled
def grow(search: Search) -> tuple[Layers, Array, int]:
    """(layers, a buffer for later use, the root of them all)."""
    query = search.query
    layers = empty_layers(len(query.nodes))
    buffer = np.empty((256, 4), np.int64)
    begin = c.ZERO
    for node in range(len(query.nodes)):
        if query.nodes[node, c.KIND] == c.KNOWN:
            layers, begin = open_layer(query, layers, node), node
    while search.state[c.STATUS] == c.DONE:
        edge, scanned, other = next_join(search.graph, query, layers)
        if edge < 0:
            break
        search.scratch.marks[-1] += 1
        fill, is_new = layers.used[1], layers.node[other, c.START] < 0
        if is_new:
            layers = open_layer(query, layers, other)
        ahead = query.options[c.AHEAD] != 0 and components(layers) == 2 and all_costs_known(query, layers)
        join = LayerJoin(edge, scanned, other, ahead)
        if is_new:
            layers, buffer = join_new(search, layers, buffer, join)
        else:
            layers, buffer = join_two(search, layers, buffer, join)
            turn(layers, other)
        layers.node[other, c.PARENT], layers.node[other, c.VIA] = scanned, edge
        layers.node[other, c.EDGE_START], layers.node[other, c.EDGE_STOP] = fill, layers.used[1]
        begin = root_of(layers, scanned)
    return compact(layers), buffer, begin

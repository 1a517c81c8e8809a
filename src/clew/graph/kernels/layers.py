"""The part of the graph that can hold a match, as one layer of entities per pattern node.

Layers grow from the known node with the fewest edges towards the other known nodes, always by the
cheapest join; edges between two layers are kept, so that later stages never look anything up. What hangs
off with no known node beyond it is left to the enumeration, which reads the graph there directly.
"""

from __future__ import annotations

import numpy as np

from clew.graph.kernels import Array, compiled
from clew.graph.kernels.columns import (
    ALIVE,
    ALLOWED,
    CODE,
    COST,
    DISTINCT,
    DONE,
    EAGER,
    EDGE_START,
    EDGE_STOP,
    ENTITY,
    FIRST,
    HEAD,
    ID,
    INFINITE,
    KIND,
    KNOWN,
    LAST,
    MASK,
    NEIGHBOUR,
    NODES,
    ONE,
    PARENT,
    PRICE,
    PROJECT,
    SIZE,
    SOURCE,
    SPENT,
    START,
    STATUS,
    STOPPED,
    TAIL,
    TARGET,
    UNIFORM,
    VIA,
    WEIGHT,
    ZERO,
    Graph,
    Layers,
    Query,
)
from clew.graph.kernels.edges import count_at, edges_at, room

FREE_LIMIT = 100_000
"""Edges that are worth following to make the bounds of a node without known nodes beyond it exact."""
NOT_HERE = 0xFFFFFFFF
"""Place of an entity that the layer may not hold."""
EXACT_LIMIT = 256
"""Entities whose edges are counted by relation; of more, the degrees are taken."""


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
def open_layer(query: Query, layers: Layers, node: int, alive: int) -> Layers:
    """Start the layer of `node`: its candidates if it is known, else nothing."""
    first, stop = query.nodes[node, FIRST], query.nodes[node, LAST]
    layers = layers_room(layers, stop - first, ZERO)
    start = layers.used[0]
    layers.node[node, START], layers.node[node, SIZE] = start, stop - first
    for j in range(stop - first):
        layers.entry[start + j, ENTITY] = query.candidate[first + j, ID]
        layers.entry[start + j, COST] = query.candidate[first + j, WEIGHT]
        layers.entry[start + j, ALIVE] = alive
    layers.used[0] = start + stop - first
    return layers


@compiled
def spend(state: Array, stop: Array, amount: int) -> bool:
    """Count `amount` of work; True when the budget has ended."""
    state[SPENT] += amount
    if state[SPENT] > state[ALLOWED] or stop[0] != 0:
        state[STATUS] = STOPPED
        return True
    return False


@compiled
def set_aside(query: Query, child: int) -> Array:
    """Entities that `child` cannot be: each is the only candidate of another node of an injective match."""
    entities = np.empty(len(query.nodes), np.int64)
    count = 0
    for v in range(len(query.nodes)):
        first = query.nodes[v, FIRST]
        if v != child and query.nodes[v, KIND] == KNOWN and query.nodes[v, LAST] - first == 1:
            entities[count] = query.candidate[first, ID]
            count += 1
    return entities[: count if query.options[DISTINCT] == NODES else 0]


@compiled
def join_forward(
    graph: Graph,
    query: Query,
    layers: Layers,
    buffer: Array,
    marks: Array,
    edge: int,
    parent: int,
    child: int,
    state: Array,
    stop: Array,
) -> tuple[Layers, Array]:
    """Follow the edges of every entity in the layer of `parent`."""
    known, mask = query.nodes[child, KIND] == KNOWN, query.nodes[child, MASK]
    at_head = query.edges[edge, HEAD] == parent
    injective = query.options[DISTINCT] == NODES
    generation = marks[-1] << 32
    first, begin = layers.node[parent, START], layers.node[child, START]
    for j in range(layers.node[child, SIZE]):
        marks[layers.entry[begin + j, ENTITY]] = generation + j
    for other in set_aside(query, child):
        marks[other] = generation + NOT_HERE
    for i in range(layers.node[parent, SIZE]):
        if layers.entry[first + i, ALIVE] == 0:
            continue
        entity = layers.entry[first + i, ENTITY]
        buffer, count = edges_at(graph, query, edge, entity, at_head, buffer, ZERO)
        if spend(state, stop, count + 1):
            break
        layers = layers_room(layers, count, count)
        entry, edges, size, fill = layers.entry, layers.edge, layers.node[child, SIZE], layers.used[1]
        for j in range(count):
            other = buffer[j, NEIGHBOUR]
            mark = marks[other]
            place = mark - generation
            if injective and (other == entity or place == NOT_HERE):
                continue
            if mark < generation:
                if known or (mask >= 0 and not query.masks[mask, other]):
                    continue
                place = size
                size += 1
                marks[other] = generation + place
                entry[begin + place, ENTITY], entry[begin + place, COST] = other, 0
            entry[begin + place, ALIVE] = 1
            edges[fill, SOURCE], edges[fill, TARGET] = i, place
            edges[fill, CODE], edges[fill, PRICE] = buffer[j, CODE], buffer[j, PRICE]
            fill += 1
        if layers.used[1] == fill:
            entry[first + i, ALIVE] = 0
        layers.used[0] += size - layers.node[child, SIZE]
        layers.node[child, SIZE], layers.used[1] = size, fill
    return layers, buffer


@compiled
def join_backward(
    graph: Graph,
    query: Query,
    layers: Layers,
    buffer: Array,
    marks: Array,
    edge: int,
    parent: int,
    child: int,
    state: Array,
    stop: Array,
) -> tuple[Layers, Array]:
    """Follow the edges of every candidate of the known node `child` back to the layer of `parent`."""
    at_head = query.edges[edge, HEAD] == child
    injective = query.options[DISTINCT] == NODES
    generation = marks[-1] << 32
    first, begin = layers.node[parent, START], layers.node[child, START]
    for i in range(layers.node[parent, SIZE]):
        if layers.entry[first + i, ALIVE] != 0:
            marks[layers.entry[first + i, ENTITY]] = generation + i
            layers.entry[first + i, ALIVE] = 0
    for j in range(layers.node[child, SIZE]):
        entity = layers.entry[begin + j, ENTITY]
        buffer, count = edges_at(graph, query, edge, entity, at_head, buffer, ZERO)
        if spend(state, stop, count + 1):
            break
        layers = layers_room(layers, ZERO, count)
        entry, edges, fill = layers.entry, layers.edge, layers.used[1]
        for i in range(count):
            mark = marks[buffer[i, NEIGHBOUR]]
            if mark < generation or (injective and buffer[i, NEIGHBOUR] == entity):
                continue
            entry[first + mark - generation, ALIVE] = 1
            entry[begin + j, ALIVE] = 1
            edges[fill, SOURCE], edges[fill, TARGET] = mark - generation, j
            edges[fill, CODE], edges[fill, PRICE] = buffer[i, CODE], buffer[i, PRICE]
            fill += 1
        layers.used[1] = fill
    return layers, buffer


@compiled
def candidate_edges(graph: Graph, query: Query, edge: int, node: int) -> int:
    """Edges to look at when `edge` is followed from all candidates of the known pattern node `node`."""
    first, stop = query.nodes[node, FIRST], query.nodes[node, LAST]
    exact, at_head = stop - first <= EXACT_LIMIT, query.edges[edge, HEAD] == node
    total = 0
    for j in range(first, stop):
        total += count_at(graph, query, edge, query.candidate[j, ID], at_head, exact)
    return total


@compiled
def layer_edges(graph: Graph, query: Query, layers: Layers, edge: int, node: int, most: int) -> int:
    """Edges to look at when `edge` is followed from the layer of `node`; counting ends beyond `most`."""
    first, size = layers.node[node, START], layers.node[node, SIZE]
    exact, at_head = size <= EXACT_LIMIT, query.edges[edge, HEAD] == node
    total = 0
    for i in range(size):
        if layers.entry[first + i, ALIVE] != 0:
            total += count_at(graph, query, edge, layers.entry[first + i, ENTITY], at_head, exact)
            if total > most:
                break
    return total


@compiled
def leads(query: Query, layers: Layers, node: int) -> bool:
    """Whether a known or projected node without a layer is reached from `node` outside the layers."""
    seen = 1 << node
    for _ in range(len(query.nodes)):
        before = seen
        for e in range(len(query.edges)):
            head, tail = query.edges[e, HEAD], query.edges[e, TAIL]
            if (
                layers.node[head, START] < 0
                and layers.node[tail, START] < 0
                and (seen >> head | seen >> tail) & 1
            ):
                seen |= 1 << head | 1 << tail
        if seen == before:
            break
    for v in range(len(query.nodes)):
        if seen >> v & 1 and (query.nodes[v, KIND] == KNOWN or v == query.options[PROJECT]):
            return True
    return False


@compiled
def next_join(graph: Graph, query: Query, layers: Layers) -> tuple[int, int, int, bool]:
    """(pattern edge, parent, child, backward) of the cheapest join to make; edge -1 when there is none."""
    best, best_parent, best_child, best_backward = -1, -1, -1, False
    least, needed = INFINITE, False
    for e in range(len(query.edges)):
        for flip in range(2):
            parent = query.edges[e, HEAD if flip == 0 else TAIL]
            child = query.edges[e, TAIL if flip == 0 else HEAD]
            if layers.node[parent, START] < 0 or layers.node[child, START] >= 0:
                continue
            need = leads(query, layers, child)
            if needed and not need:
                continue
            most = least if needed or not need else INFINITE
            if not need and query.options[EAGER] == 0:
                if query.options[UNIFORM] == 1:
                    continue
                most = min(most, FREE_LIMIT + 1)
            cost, backward = INFINITE, False
            if query.nodes[child, KIND] == KNOWN:
                cost, backward = candidate_edges(graph, query, e, child), True
            forward = layer_edges(graph, query, layers, e, parent, min(cost, most))
            if forward <= cost:
                cost, backward = forward, False
            if cost < most:
                best, best_parent, best_child, best_backward = e, parent, child, backward
                least, needed = cost, need
    return best, best_parent, best_child, best_backward


@compiled
def first_node(graph: Graph, query: Query) -> int:
    """Find the known node whose candidates have the fewest edges for one of its pattern edges."""
    best, least = -1, INFINITE
    for e in range(len(query.edges)):
        for flip in range(2):
            node = query.edges[e, HEAD if flip == 0 else TAIL]
            if query.nodes[node, KIND] == KNOWN:
                cost = candidate_edges(graph, query, e, node)
                if cost < least:
                    best, least = node, cost
    return best


@compiled
def grow(graph: Graph, query: Query, marks: Array, state: Array, stop: Array) -> tuple[Layers, Array, int]:
    """(layers, a buffer for later use, the node they began from).

    `marks` int64 [N + 1] is scratch: a place in the current layer, valid if it is of the generation that
    the last entry counts.
    """
    layers = empty_layers(len(query.nodes))
    buffer = np.empty((256, 3), np.int64)
    begin = first_node(graph, query)
    layers = open_layer(query, layers, begin, ONE)
    while state[STATUS] == DONE:
        edge, parent, child, backward = next_join(graph, query, layers)
        if edge < 0:
            break
        layers = open_layer(query, layers, child, ZERO)
        layers.node[child, PARENT], layers.node[child, VIA] = parent, edge
        layers.node[child, EDGE_START] = layers.used[1]
        marks[-1] += 1
        if backward:
            layers, buffer = join_backward(
                graph, query, layers, buffer, marks, edge, parent, child, state, stop
            )
        else:
            layers, buffer = join_forward(
                graph, query, layers, buffer, marks, edge, parent, child, state, stop
            )
        layers.node[child, EDGE_STOP] = layers.used[1]
    return layers, buffer, begin

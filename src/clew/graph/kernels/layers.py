"""The part of the graph that can hold a match, as one layer of entities per pattern node.

Layers grow from the known node with the fewest edges towards the other known nodes, always by the
cheapest join; edges between two layers are kept, so that later stages never look anything up. What hangs
off with no known node beyond it is left to the enumeration, which reads the graph there directly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clew.graph.kernels import Array, compiled
from clew.graph.kernels.edges import (
    DISTINCT,
    EAGER,
    FIRST,
    HEAD,
    INFINITE,
    KIND,
    KNOWN,
    MASK,
    NODES,
    PROJECT,
    STOP,
    TAIL,
    UNIFORM,
    Buffer,
    Graph,
    Query,
    buffer_room,
    count_at,
    edges_at,
    room,
)

FREE_LIMIT = 100_000
EXACT_LIMIT = 256
SPENT, ALLOWED, STATUS = 0, 1, 2
DONE, STOPPED, RETRY = 0, 1, 2


class Layers(NamedTuple):
    """Layers and the edges between them, each in one arena.

    Entries of pattern node v are `start[v] .. start[v] + size[v]` (start -1: no layer) of `entity` int32,
    `cost` int64, `alive` uint8. The edges that joined v to `parent[v]` by pattern edge `via[v]` are
    `edge_start[v] .. edge_stop[v]` of `source`, `target` (int32, places in the two layers), `code`,
    `edge_cost` int64.
    """

    start: Array
    size: Array
    parent: Array
    via: Array
    edge_start: Array
    edge_stop: Array
    entity: Array
    cost: Array
    alive: Array
    source: Array
    target: Array
    code: Array
    edge_cost: Array
    used: Array


@compiled
def empty_layers(nodes: int) -> Layers:
    """No layers, with a little room."""
    return Layers(
        np.full(nodes, -1, np.int64),
        np.zeros(nodes, np.int64),
        np.full(nodes, -1, np.int64),
        np.full(nodes, -1, np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int64),
        np.empty(256, np.int32),
        np.empty(256, np.int64),
        np.empty(256, np.uint8),
        np.empty(256, np.int32),
        np.empty(256, np.int32),
        np.empty(256, np.int64),
        np.empty(256, np.int64),
        np.zeros(2, np.int64),
    )


@compiled
def layers_room(layers: Layers, entities: int, edges: int) -> Layers:
    """`layers` with space for so many more entities and edges."""
    entities += layers.used[0]
    edges += layers.used[1]
    if entities <= len(layers.entity) and edges <= len(layers.source):
        return layers
    return Layers(
        layers.start,
        layers.size,
        layers.parent,
        layers.via,
        layers.edge_start,
        layers.edge_stop,
        room(layers.entity, entities),
        room(layers.cost, entities),
        room(layers.alive, entities),
        room(layers.source, edges),
        room(layers.target, edges),
        room(layers.code, edges),
        room(layers.edge_cost, edges),
        layers.used,
    )


@compiled
def open_layer(query: Query, layers: Layers, node: int, alive: int) -> Layers:
    """Start the layer of `node`: its candidates if it is known, else nothing."""
    first, stop = query.nodes[node, FIRST], query.nodes[node, STOP]
    layers = layers_room(layers, stop - first, 0)
    start = layers.used[0]
    layers.start[node], layers.size[node] = start, stop - first
    for j in range(stop - first):
        layers.entity[start + j] = query.candidate[first + j]
        layers.cost[start + j] = query.candidate_cost[first + j]
        layers.alive[start + j] = alive
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
def add_edge(layers: Layers, source: int, target: int, code: int, cost: int) -> None:
    """Keep one edge between two layers; there is room for it."""
    at = layers.used[1]
    layers.source[at], layers.target[at] = source, target
    layers.code[at], layers.edge_cost[at] = code, cost
    layers.used[1] = at + 1


@compiled
def join_forward(
    graph: Graph,
    query: Query,
    layers: Layers,
    buffer: Buffer,
    marks: Array,
    edge: int,
    parent: int,
    child: int,
    state: Array,
    stop: Array,
) -> tuple[Layers, Buffer]:
    """Follow the edges of every entity in the layer of `parent`."""
    known, mask = query.nodes[child, KIND] == KNOWN, query.nodes[child, MASK]
    at_head = query.edges[edge, HEAD] == parent
    injective = query.options[DISTINCT] == NODES
    generation = marks[-1] << 32
    first, begin = layers.start[parent], layers.start[child]
    for j in range(layers.size[child]):
        marks[layers.entity[begin + j]] = generation + j
    for i in range(layers.size[parent]):
        if layers.alive[first + i] == 0:
            continue
        entity = layers.entity[first + i]
        buffer, count = edges_at(graph, query, edge, entity, at_head, buffer, 0)
        if spend(state, stop, count + 1):
            break
        layers = layers_room(layers, count, count)
        before = layers.used[1]
        for j in range(count):
            other = buffer.neighbour[j]
            if injective and other == entity:
                continue
            mark = marks[other]
            if mark >= generation:
                place = mark - generation
                layers.alive[begin + place] = 1
            elif known or (mask >= 0 and not query.masks[mask, other]):
                continue
            else:
                place = layers.size[child]
                marks[other] = generation + place
                layers.entity[begin + place] = other
                layers.cost[begin + place] = 0
                layers.alive[begin + place] = 1
                layers.size[child] = place + 1
                layers.used[0] += 1
            add_edge(layers, i, place, buffer.code[j], buffer.cost[j])
        if layers.used[1] == before:
            layers.alive[first + i] = 0
    return layers, buffer


@compiled
def join_backward(
    graph: Graph,
    query: Query,
    layers: Layers,
    buffer: Buffer,
    marks: Array,
    edge: int,
    parent: int,
    child: int,
    state: Array,
    stop: Array,
) -> tuple[Layers, Buffer]:
    """Follow the edges of every candidate of the known node `child` back to the layer of `parent`."""
    at_head = query.edges[edge, HEAD] == child
    injective = query.options[DISTINCT] == NODES
    generation = marks[-1] << 32
    first, begin = layers.start[parent], layers.start[child]
    for i in range(layers.size[parent]):
        if layers.alive[first + i] != 0:
            marks[layers.entity[first + i]] = generation + i
            layers.alive[first + i] = 0
    for j in range(layers.size[child]):
        entity = layers.entity[begin + j]
        buffer, count = edges_at(graph, query, edge, entity, at_head, buffer, 0)
        if spend(state, stop, count + 1):
            break
        layers = layers_room(layers, 0, count)
        for i in range(count):
            mark = marks[buffer.neighbour[i]]
            if mark < generation or (injective and buffer.neighbour[i] == entity):
                continue
            layers.alive[first + mark - generation] = 1
            layers.alive[begin + j] = 1
            add_edge(layers, mark - generation, j, buffer.code[i], buffer.cost[i])
    return layers, buffer


@compiled
def candidate_edges(graph: Graph, query: Query, edge: int, node: int) -> int:
    """Edges to look at when `edge` is followed from all candidates of the known pattern node `node`."""
    first, stop = query.nodes[node, FIRST], query.nodes[node, STOP]
    exact, at_head = stop - first <= EXACT_LIMIT, query.edges[edge, HEAD] == node
    total = 0
    for j in range(first, stop):
        total += count_at(graph, query, edge, query.candidate[j], at_head, exact)
    return total


@compiled
def layer_edges(graph: Graph, query: Query, layers: Layers, edge: int, node: int, most: int) -> int:
    """Edges to look at when `edge` is followed from the layer of `node`; counting ends beyond `most`."""
    first, size = layers.start[node], layers.size[node]
    exact, at_head = size <= EXACT_LIMIT, query.edges[edge, HEAD] == node
    total = 0
    for i in range(size):
        if layers.alive[first + i] != 0:
            total += count_at(graph, query, edge, layers.entity[first + i], at_head, exact)
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
            if layers.start[head] < 0 and layers.start[tail] < 0 and (seen >> head | seen >> tail) & 1:
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
            if layers.start[parent] < 0 or layers.start[child] >= 0:
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
    """The known node whose candidates have the fewest edges for one of its pattern edges."""
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
def grow(graph: Graph, query: Query, marks: Array, state: Array, stop: Array) -> tuple[Layers, Buffer, int]:
    """(layers, a buffer for later use, the node they began from).

    `marks` int64 [N + 1] is scratch: a place in the current layer, valid if it is of the generation that
    the last entry counts.
    """
    layers = empty_layers(len(query.nodes))
    buffer = Buffer(np.empty(256, np.int32), np.empty(256, np.int64), np.empty(256, np.int64))
    begin = first_node(graph, query)
    layers = open_layer(query, layers, begin, 1)
    while state[STATUS] == DONE:
        edge, parent, child, backward = next_join(graph, query, layers)
        if edge < 0:
            break
        layers = open_layer(query, layers, child, 0)
        layers.parent[child], layers.via[child] = parent, edge
        layers.edge_start[child] = layers.used[1]
        marks[-1] += 1
        if backward:
            layers, buffer = join_backward(
                graph, query, layers, buffer, marks, edge, parent, child, state, stop
            )
        else:
            layers, buffer = join_forward(
                graph, query, layers, buffer, marks, edge, parent, child, state, stop
            )
        layers.edge_stop[child] = layers.used[1]
    return layers, buffer_room(buffer, 256), begin

"""Messages between layers: the least cost of what lies below every entity, and the best way to it.

With the pattern's tree hung from a root, `total[x]` is the least cost of the subtree of x's pattern node
when that node is x (nodes may repeat here; the enumeration sees to injectivity). Among equal costs the
pointers follow the smallest entity ids in the order of the pattern nodes, so that `best` is the least in
(cost, ids), component by component, as the ids of independent subtrees do not affect each other.
Source of the idea: Tziavelis et al., "Optimal algorithms for ranked enumeration", VLDB 2020.
"""

from __future__ import annotations

import numpy as np

from clew.graph.kernels import Array, compiled
from clew.graph.match.kernels.columns import (
    BEGIN,
    BY,
    CHEAPEST,
    CODE,
    COST,
    DISTINCT,
    EDGE,
    EDGE_START,
    EDGE_STOP,
    ENTITY,
    FROM,
    HEAD,
    INFINITE,
    LEAST,
    LINK,
    LOWEST,
    MEMBERS,
    NODE,
    NODES,
    PARENT,
    POINTER,
    PRICE,
    ROW,
    SIZE,
    SOURCE,
    START,
    TAIL,
    TARGET,
    TRIPLES,
    UP,
    VIA,
    WIDTH,
    EnumerationSteps,
    GraphColumns,
    Layers,
    LayerTree,
    QueryColumns,
)
from clew.graph.match.kernels.edges import triple_of


@compiled
def hang(layers: Layers, root: int, node: Array) -> tuple[Array, Array]:
    """(order from the root, node whose joining edges link each); writes UP and BY."""
    nodes = len(layers.node)
    order, owner = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    order[0] = root
    count, at = 1, 0
    while at < count:
        u = order[at]
        at += 1
        for v in range(nodes):
            if v == node[u, UP] or v == u or layers.node[v, START] < 0:
                continue
            own = v if layers.node[v, PARENT] == u else (u if layers.node[u, PARENT] == v else -1)
            if own >= 0:
                order[count], owner[v] = v, own
                node[v, UP], node[v, BY] = u, layers.node[own, VIA]
                count += 1
    return order[:count], owner


@compiled
def smaller(
    graph: GraphColumns, layers: Layers, tree: LayerTree, node: int, edges: tuple[int, int], place: int
) -> bool:
    """Whether the first of two edges at `place` of the parent of `node` is less by (ids below, triple)."""
    new, old = edges
    width = tree.node[node, WIDTH]
    one = tree.node[node, ROW] + tree.edge[old, TARGET] * width
    other = tree.node[node, ROW] + tree.edge[new, TARGET] * width
    for j in range(width):
        if tree.best[one + j] != tree.best[other + j]:
            return tree.best[other + j] < tree.best[one + j]
    near = layers.entry[layers.node[tree.node[node, UP], START] + place, ENTITY]
    far = layers.entry[layers.node[node, START] + tree.edge[new, TARGET], ENTITY]
    triple = triple_of(graph, tree.edge[new, CODE], near, far)
    return triple < triple_of(graph, tree.edge[old, CODE], near, far)


@compiled
def link_node(graph: GraphColumns, layers: Layers, tree: LayerTree, node: int, owner: int) -> None:
    """Sort the edges between `node` and its parent by place of the parent, and send the messages up."""
    start, stop = layers.node[owner, EDGE_START], layers.node[owner, EDGE_STOP]
    near, far = (SOURCE, TARGET) if owner == node else (TARGET, SOURCE)
    begin, size = tree.node[node, LINK], layers.node[tree.node[node, UP], SIZE]
    below, above = layers.node[node, START], layers.node[tree.node[node, UP], START]
    link, edge, total, found = tree.link, tree.edge, tree.total, layers.edge
    for i in range(size + 1):
        link[begin + i, BEGIN] = 0
    for j in range(start, stop):
        if total[below + found[j, far]] < INFINITE and total[above + found[j, near]] < INFINITE:
            link[begin + found[j, near], BEGIN] += 1
    position = start
    for i in range(size):
        count = link[begin + i, BEGIN]
        link[begin + i, BEGIN] = position
        link[begin + i, CHEAPEST], link[begin + i, POINTER] = INFINITE, -1
        position += count
    link[begin + size, BEGIN] = position
    for j in range(start, stop):
        child = total[below + found[j, far]]
        i = begin + found[j, near]
        if child >= INFINITE or total[above + found[j, near]] >= INFINITE:
            continue
        at = link[i, BEGIN]
        link[i, BEGIN] = at + 1
        edge[at, TARGET], edge[at, CODE], edge[at, PRICE] = found[j, far], found[j, CODE], found[j, PRICE]
        cost = child + found[j, PRICE]
        if cost < link[i, CHEAPEST] or (
            cost == link[i, CHEAPEST]
            and smaller(graph, layers, tree, node, (at, link[i, POINTER]), i - begin)
        ):
            link[i, CHEAPEST], link[i, POINTER] = cost, at
    for i in range(size, 0, -1):
        link[begin + i, BEGIN] = link[begin + i - 1, BEGIN]
    link[begin, BEGIN] = start
    for i in range(size):
        total[above + i] = min(INFINITE, total[above + i] + link[begin + i, CHEAPEST])


@compiled
def write_rows(layers: Layers, tree: LayerTree, node: int) -> None:
    """Write the best ids below every place of `node`, from the rows of its children."""
    nodes, best, total, entry = len(layers.node), tree.best, tree.total, layers.entry
    row, width, start = tree.node[node, ROW], tree.node[node, WIDTH], layers.node[node, START]
    own = row + tree.column[node, node]
    for i in range(layers.node[node, SIZE]):
        if total[start + i] < INFINITE:
            best[own + i * width] = entry[start + i, ENTITY]
    for child in range(nodes):
        if tree.node[child, UP] != node:
            continue
        link, edge = tree.link, tree.edge
        for w in range(nodes):
            if tree.node[child, MEMBERS] >> w & 1 == 0:
                continue
            place, column = row + tree.column[node, w], tree.node[child, ROW] + tree.column[child, w]
            below, links = tree.node[child, WIDTH], tree.node[child, LINK]
            for i in range(layers.node[node, SIZE]):
                if total[start + i] < INFINITE:
                    target = edge[link[links + i, POINTER], TARGET]
                    best[place + i * width] = best[column + target * below]


@compiled
def plan_tree(layers: Layers, root: int) -> tuple[LayerTree, Array]:
    """Lay out the arrays of a tree, nothing sent yet; also returns the owners of the links."""
    nodes = len(layers.node)
    node, column = np.empty((nodes, 6), np.int64), np.zeros((nodes, nodes), np.int64)
    for v in range(nodes):
        node[v, UP], node[v, BY], node[v, LINK] = -1, -1, 0
        node[v, MEMBERS], node[v, WIDTH], node[v, ROW] = 0, 0, 0
    order, owner = hang(layers, root, node)
    links, cells = 0, 0
    for at in range(len(order) - 1, -1, -1):
        v = order[at]
        node[v, MEMBERS] |= 1 << v
        if at > 0:
            node[node[v, UP], MEMBERS] |= node[v, MEMBERS]
            node[v, LINK] = links
            links += layers.node[node[v, UP], SIZE] + 1
        for w in range(nodes):
            if node[v, MEMBERS] >> w & 1:
                column[v, w] = node[v, WIDTH]
                node[v, WIDTH] += 1
        node[v, ROW] = cells
        cells += node[v, WIDTH] * layers.node[v, SIZE]
    total, entry = np.empty(layers.used[0], np.int64), layers.entry
    for i in range(layers.used[0]):
        total[i] = entry[i, COST] if entry[i, LOWEST] < INFINITE else INFINITE
    link, edge = np.empty((links, 3), np.int64), np.empty((layers.used[1], 4), np.int64)
    return LayerTree(root, order, node, column, link, edge, total, np.empty(cells, np.int32)), owner


@compiled
def send(graph: GraphColumns, layers: Layers, root: int) -> LayerTree:
    """All messages towards `root`."""
    tree, owner = plan_tree(layers, root)
    for at in range(len(tree.order) - 1, -1, -1):
        node = tree.order[at]
        write_rows(layers, tree, node)
        if at > 0:
            link_node(graph, layers, tree, node, owner[node])
    return tree


@compiled
def pick_free(query: QueryColumns, layers: Layers, assigned: int, node: int) -> int:
    """Pattern edge by which the free `node` is reached: from an unknown node if one is assigned."""
    choice, unknown = -1, False
    for e in range(len(query.edges)):
        head, tail = query.edges[e, HEAD], query.edges[e, TAIL]
        if (head == node) == (tail == node):
            continue
        other = tail if head == node else head
        if assigned >> other & 1 == 0:
            continue
        soft = layers.node[other, START] < 0 or layers.node[other, SIZE] > 1
        if choice < 0 or (soft and not unknown):
            choice, unknown = e, soft
    return choice


@compiled
def plan_steps(query: QueryColumns, layers: Layers, tree: LayerTree) -> EnumerationSteps:
    """Assign nodes in the pattern's order as far as they hang together; close edges as soon as possible."""
    nodes, edges = len(query.nodes), len(query.edges)
    step = np.empty((nodes + edges, 3), np.int64)
    assigned, closed, count, base = 0, 0, 0, 0
    track = query.options[DISTINCT] == TRIPLES
    choice, by = tree.root, -1
    while choice >= 0:
        step[count, NODE], step[count, EDGE], step[count, FROM] = choice, by, -1
        if by >= 0:
            step[count, FROM] = query.edges[by, HEAD] + query.edges[by, TAIL] - choice
            closed |= 1 << by
        if by >= 0 and layers.node[choice, START] < 0:
            base += query.edges[by, LEAST]
        assigned |= 1 << choice
        count += 1
        for e in range(edges):
            head, tail = query.edges[e, HEAD], query.edges[e, TAIL]
            joined = tree.node[head, BY] == e or tree.node[tail, BY] == e
            if closed >> e & 1 == 0 and not joined and assigned >> head & 1 and assigned >> tail & 1:
                step[count, NODE], step[count, EDGE], step[count, FROM] = -1, e, head
                closed |= 1 << e
                base += query.edges[e, LEAST]
                track = track or query.options[DISTINCT] == NODES
                count += 1
        choice, by = -1, -1
        for v in range(nodes):
            if assigned >> v & 1:
                continue
            if layers.node[v, START] < 0:
                by = pick_free(query, layers, assigned, v)
            elif assigned >> tree.node[v, UP] & 1:
                by = tree.node[v, BY]
            if by >= 0:
                choice = v
                break
    return EnumerationSteps(step[:count], base, track)

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
from clew.graph.match.kernels import columns as c
from clew.graph.match.kernels.columns import EnumerationSteps, GraphColumns, Layers, LayerTree, QueryColumns
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
            if v == node[u, c.UP] or v == u or layers.node[v, c.START] < 0:
                continue
            joined_node = v if layers.node[v, c.PARENT] == u else (u if layers.node[u, c.PARENT] == v else -1)
            if joined_node >= 0:
                order[count], owner[v] = v, joined_node
                node[v, c.UP], node[v, c.BY] = u, layers.node[joined_node, c.VIA]
                count += 1
    return order[:count], owner


@compiled
def smaller(
    graph: GraphColumns, layers: Layers, tree: LayerTree, node: int, edges: tuple[int, int], place: int
) -> bool:
    """Whether the first of two edges at `place` of the parent of `node` is less by (ids below, triple)."""
    new, old = edges
    width = tree.node[node, c.WIDTH]
    old_row = tree.node[node, c.ROW] + tree.edge[old, c.TARGET] * width
    new_row = tree.node[node, c.ROW] + tree.edge[new, c.TARGET] * width
    for j in range(width):
        if tree.best[old_row + j] != tree.best[new_row + j]:
            return tree.best[new_row + j] < tree.best[old_row + j]
    near = layers.entry[layers.node[tree.node[node, c.UP], c.START] + place, c.ENTITY]
    far = layers.entry[layers.node[node, c.START] + tree.edge[new, c.TARGET], c.ENTITY]
    triple = triple_of(graph, tree.edge[new, c.CODE], near, far)
    return triple < triple_of(graph, tree.edge[old, c.CODE], near, far)


@compiled
def link_node(graph: GraphColumns, layers: Layers, tree: LayerTree, node: int, owner: int) -> None:
    """Sort the edges between `node` and its parent by place of the parent, and send the messages up."""
    start, stop = layers.node[owner, c.EDGE_START], layers.node[owner, c.EDGE_STOP]
    near, far = (c.SOURCE, c.TARGET) if owner == node else (c.TARGET, c.SOURCE)
    begin, size = tree.node[node, c.LINK], layers.node[tree.node[node, c.UP], c.SIZE]
    below, above = layers.node[node, c.START], layers.node[tree.node[node, c.UP], c.START]
    link, edge, total, layer_edge = tree.link, tree.edge, tree.total, layers.edge
    for i in range(size + 1):
        link[begin + i, c.BEGIN] = 0
    for j in range(start, stop):
        if total[below + layer_edge[j, far]] < c.INFINITE and total[above + layer_edge[j, near]] < c.INFINITE:
            link[begin + layer_edge[j, near], c.BEGIN] += 1
    position = start
    for i in range(size):
        count = link[begin + i, c.BEGIN]
        link[begin + i, c.BEGIN] = position
        link[begin + i, c.CHEAPEST], link[begin + i, c.POINTER] = c.INFINITE, -1
        position += count
    link[begin + size, c.BEGIN] = position
    for j in range(start, stop):
        child = total[below + layer_edge[j, far]]
        i = begin + layer_edge[j, near]
        if child >= c.INFINITE or total[above + layer_edge[j, near]] >= c.INFINITE:
            continue
        at = link[i, c.BEGIN]
        link[i, c.BEGIN] = at + 1
        edge[at, c.TARGET] = layer_edge[j, far]
        edge[at, c.CODE], edge[at, c.PRICE] = layer_edge[j, c.CODE], layer_edge[j, c.PRICE]
        cost = child + layer_edge[j, c.PRICE]
        if cost < link[i, c.CHEAPEST] or (
            cost == link[i, c.CHEAPEST]
            and smaller(graph, layers, tree, node, (at, link[i, c.POINTER]), i - begin)
        ):
            link[i, c.CHEAPEST], link[i, c.POINTER] = cost, at
    for i in range(size, 0, -1):
        link[begin + i, c.BEGIN] = link[begin + i - 1, c.BEGIN]
    link[begin, c.BEGIN] = start
    for i in range(size):
        total[above + i] = min(c.INFINITE, total[above + i] + link[begin + i, c.CHEAPEST])


@compiled
def write_rows(layers: Layers, tree: LayerTree, node: int) -> None:
    """Write the best ids below every place of `node`, from the rows of its children."""
    nodes, best, total, entry = len(layers.node), tree.best, tree.total, layers.entry
    row, width, start = tree.node[node, c.ROW], tree.node[node, c.WIDTH], layers.node[node, c.START]
    id_place = row + tree.column[node, node]
    for i in range(layers.node[node, c.SIZE]):
        if total[start + i] < c.INFINITE:
            best[id_place + i * width] = entry[start + i, c.ENTITY]
    for child in range(nodes):
        if tree.node[child, c.UP] != node:
            continue
        link, edge = tree.link, tree.edge
        for w in range(nodes):
            if tree.node[child, c.MEMBERS] >> w & 1 == 0:
                continue
            place, column = row + tree.column[node, w], tree.node[child, c.ROW] + tree.column[child, w]
            below, links = tree.node[child, c.WIDTH], tree.node[child, c.LINK]
            for i in range(layers.node[node, c.SIZE]):
                if total[start + i] < c.INFINITE:
                    target = edge[link[links + i, c.POINTER], c.TARGET]
                    best[place + i * width] = best[column + target * below]


@compiled
def plan_tree(layers: Layers, root: int) -> tuple[LayerTree, Array]:
    """Lay out the arrays of a tree, nothing sent yet; also returns the owners of the links."""
    nodes = len(layers.node)
    node, column = np.empty((nodes, 6), np.int64), np.zeros((nodes, nodes), np.int64)
    for v in range(nodes):
        node[v, c.UP], node[v, c.BY], node[v, c.LINK] = -1, -1, 0
        node[v, c.MEMBERS], node[v, c.WIDTH], node[v, c.ROW] = 0, 0, 0
    order, owner = hang(layers, root, node)
    links, cells = 0, 0
    for at in range(len(order) - 1, -1, -1):
        v = order[at]
        node[v, c.MEMBERS] |= 1 << v
        if at > 0:
            node[node[v, c.UP], c.MEMBERS] |= node[v, c.MEMBERS]
            node[v, c.LINK] = links
            links += layers.node[node[v, c.UP], c.SIZE] + 1
        for w in range(nodes):
            if node[v, c.MEMBERS] >> w & 1:
                column[v, w] = node[v, c.WIDTH]
                node[v, c.WIDTH] += 1
        node[v, c.ROW] = cells
        cells += node[v, c.WIDTH] * layers.node[v, c.SIZE]
    total, entry = np.empty(layers.used[0], np.int64), layers.entry
    for i in range(layers.used[0]):
        total[i] = entry[i, c.COST] if entry[i, c.LOWEST] < c.INFINITE else c.INFINITE
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
        head, tail = query.edges[e, c.HEAD], query.edges[e, c.TAIL]
        if (head == node) == (tail == node):
            continue
        assigned_end = tail if head == node else head
        if assigned >> assigned_end & 1 == 0:
            continue
        has_choice = layers.node[assigned_end, c.START] < 0 or layers.node[assigned_end, c.SIZE] > 1
        if choice < 0 or (has_choice and not unknown):
            choice, unknown = e, has_choice
    return choice


@compiled
def plan_steps(query: QueryColumns, layers: Layers, tree: LayerTree) -> EnumerationSteps:
    """Assign nodes in the pattern's order as far as they hang together; close edges as soon as possible."""
    nodes, edges = len(query.nodes), len(query.edges)
    step = np.empty((nodes + edges, 3), np.int64)
    assigned, closed, count, base = 0, 0, 0, 0
    track = query.options[c.DISTINCT] == c.TRIPLES
    choice, by = tree.root, -1
    while choice >= 0:
        step[count, c.NODE], step[count, c.EDGE], step[count, c.FROM] = choice, by, -1
        if by >= 0:
            step[count, c.FROM] = query.edges[by, c.HEAD] + query.edges[by, c.TAIL] - choice
            closed |= 1 << by
        if by >= 0 and layers.node[choice, c.START] < 0:
            base += query.edges[by, c.LEAST]
        assigned |= 1 << choice
        count += 1
        for e in range(edges):
            head, tail = query.edges[e, c.HEAD], query.edges[e, c.TAIL]
            joined = tree.node[head, c.BY] == e or tree.node[tail, c.BY] == e
            if closed >> e & 1 == 0 and not joined and assigned >> head & 1 and assigned >> tail & 1:
                step[count, c.NODE], step[count, c.EDGE], step[count, c.FROM] = -1, e, head
                closed |= 1 << e
                base += query.edges[e, c.LEAST]
                track = track or query.options[c.DISTINCT] == c.NODES
                count += 1
        choice, by = -1, -1
        for v in range(nodes):
            if assigned >> v & 1:
                continue
            if layers.node[v, c.START] < 0:
                by = pick_free(query, layers, assigned, v)
            elif assigned >> tree.node[v, c.UP] & 1:
                by = tree.node[v, c.BY]
            if by >= 0:
                choice = v
                break
    return EnumerationSteps(step[:count], base, track)

"""Messages between layers: the least cost of what lies below every entity, and the best way to it.

With the pattern's tree hung from a root, `total[x]` is the least cost of the subtree of x's pattern node
when that node is x (nodes may repeat here; the enumeration sees to injectivity). Among equal costs the
pointers follow the smallest entity ids in the order of the pattern nodes, so that `best` is the least in
(cost, ids), component by component, as the ids of independent subtrees do not affect each other.
Source of the idea: Tziavelis et al., "Optimal algorithms for ranked enumeration", VLDB 2020.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clew.graph.kernels import Array, compiled
from clew.graph.kernels.edges import DISTINCT, HEAD, INFINITE, LEAST, NODES, TAIL, TRIPLES, Query
from clew.graph.kernels.layers import Layers


class Tree(NamedTuple):
    """The layers hung from `root`, children before parents in reversed `order`.

    `parent`, `via` int64 [n]: the parent node and the pattern edge to it. Links from place i of the parent's
    layer to places of v's are `first[link[v] + i] .. first[link[v] + i + 1]` of `target`, `code`, `cost`;
    `least` and `pointer` at `link[v] + i` are their least sum of link and total, and the place that reaches it.
    `total` int64 runs parallel to the entities of the layers. `best` has, for place i of v, the entity ids of
    the nodes in `members[v]` (a bit set) ascending, at `row[v] + i * width[v]`; `column[v, w]` is w's place.
    """

    root: int
    parent: Array
    via: Array
    order: Array
    link: Array
    first: Array
    target: Array
    code: Array
    cost: Array
    least: Array
    pointer: Array
    total: Array
    members: Array
    width: Array
    column: Array
    row: Array
    best: Array


@compiled
def hang(layers: Layers, root: int) -> tuple[Array, Array, Array, Array]:
    """(order from the root, parent, pattern edge, node whose joining edges link it) of the layers."""
    nodes = len(layers.start)
    order = np.empty(nodes, np.int64)
    parent, via, owner = np.full(nodes, -1, np.int64), np.full(nodes, -1, np.int64), np.full(nodes, -1, np.int64)
    order[0] = root
    count, at = 1, 0
    while at < count:
        u = order[at]
        at += 1
        for v in range(nodes):
            if v == parent[u] or v == u or layers.start[v] < 0:
                continue
            own = v if layers.parent[v] == u else (u if layers.parent[u] == v else -1)
            if own >= 0:
                order[count], parent[v], via[v], owner[v] = v, u, layers.via[own], own
                count += 1
    return order[:count].copy(), parent, via, owner


@compiled
def smaller_row(best: Array, one: int, other: int, width: int) -> bool:
    """Whether the row at `one` comes before the row at `other`."""
    for j in range(width):
        if best[one + j] != best[other + j]:
            return best[one + j] < best[other + j]
    return False


@compiled
def link_node(layers: Layers, tree: Tree, node: int, owner: int) -> None:
    """Sort the edges between `node` and its parent by place of the parent, and send the messages up."""
    start, stop = layers.edge_start[owner], layers.edge_stop[owner]
    near = layers.source if owner == node else layers.target
    far = layers.target if owner == node else layers.source
    begin, size = tree.link[node], layers.size[tree.parent[node]]
    below, above = layers.start[node], layers.start[tree.parent[node]]
    first = tree.first
    for i in range(size + 1):
        first[begin + i] = 0
    for j in range(start, stop):
        if tree.total[below + far[j]] < INFINITE and tree.total[above + near[j]] < INFINITE:
            first[begin + near[j]] += 1
    position = start
    for i in range(size):
        count = first[begin + i]
        first[begin + i] = position
        position += count
    first[begin + size] = position
    for i in range(size):
        tree.least[begin + i], tree.pointer[begin + i] = INFINITE, -1
    row, width = tree.row[node], tree.width[node]
    for j in range(start, stop):
        child = tree.total[below + far[j]]
        i = begin + near[j]
        if child >= INFINITE or tree.total[above + near[j]] >= INFINITE:
            continue
        at = first[i]
        first[i] = at + 1
        tree.target[at], tree.code[at], tree.cost[at] = far[j], layers.code[j], layers.edge_cost[j]
        cost = child + layers.edge_cost[j]
        if cost < tree.least[i] or (
            cost == tree.least[i]
            and smaller_row(tree.best, row + far[j] * width, row + tree.pointer[i] * width, width)
        ):
            tree.least[i], tree.pointer[i] = cost, far[j]
    for i in range(size, 0, -1):
        first[begin + i] = first[begin + i - 1]
    first[begin] = start
    for i in range(size):
        least = tree.least[begin + i]
        tree.total[above + i] = min(INFINITE, tree.total[above + i] + least)


@compiled
def write_rows(layers: Layers, tree: Tree, node: int) -> None:
    """Write the best ids below every place of `node`, from the rows of its children."""
    nodes = len(layers.start)
    row, width, start = tree.row[node], tree.width[node], layers.start[node]
    for i in range(layers.size[node]):
        if tree.total[start + i] < INFINITE:
            tree.best[row + i * width + tree.column[node, node]] = layers.entity[start + i]
    for child in range(nodes):
        if tree.parent[child] != node:
            continue
        for w in range(nodes):
            if tree.members[child] >> w & 1 == 0:
                continue
            place, column = tree.column[node, w], tree.column[child, w]
            for i in range(layers.size[node]):
                if tree.total[start + i] < INFINITE:
                    below = tree.pointer[tree.link[child] + i] * tree.width[child] + column
                    tree.best[row + i * width + place] = tree.best[tree.row[child] + below]


@compiled
def plan_tree(layers: Layers, root: int) -> tuple[Tree, Array]:
    """(a tree with its arrays laid out and nothing sent yet, owners of the links)."""
    nodes = len(layers.start)
    order, parent, via, owner = hang(layers, root)
    members, width, row = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    link, column = np.zeros(nodes, np.int64), np.zeros((nodes, nodes), np.int64)
    links, cells = 0, 0
    for at in range(len(order) - 1, -1, -1):
        v = order[at]
        members[v] |= 1 << v
        if at > 0:
            members[parent[v]] |= members[v]
            link[v] = links
            links += layers.size[parent[v]] + 1
        for w in range(nodes):
            if members[v] >> w & 1:
                column[v, w] = width[v]
                width[v] += 1
        row[v] = cells
        cells += width[v] * layers.size[v]
    total = np.empty(layers.used[0], np.int64)
    for i in range(layers.used[0]):
        total[i] = layers.cost[i] if layers.alive[i] != 0 else INFINITE
    edges = layers.used[1]
    tree = Tree(
        root,
        parent,
        via,
        order,
        link,
        np.empty(links, np.int64),
        np.empty(edges, np.int32),
        np.empty(edges, np.int64),
        np.empty(edges, np.int64),
        np.empty(links, np.int64),
        np.empty(links, np.int64),
        total,
        members,
        width,
        column,
        row,
        np.empty(cells, np.int32),
    )
    return tree, owner


@compiled
def send(layers: Layers, root: int) -> Tree:
    """All messages towards `root`."""
    tree, owner = plan_tree(layers, root)
    for at in range(len(tree.order) - 1, -1, -1):
        node = tree.order[at]
        write_rows(layers, tree, node)
        if at > 0:
            link_node(layers, tree, node, owner[node])
    return tree


class Steps(NamedTuple):
    """Order of the enumeration: step s assigns `node[s]`, or closes an edge between assigned nodes (-1).

    `edge[s]` is its pattern edge, `parent[s]` the assigned end that it starts from, -1 for the root; `base`
    is a lower bound of the cost of everything outside the layers; `track` says whether two pattern edges
    could take the same triple against the rules.
    """

    node: Array
    edge: Array
    parent: Array
    base: int
    track: bool


@compiled
def pick_free(query: Query, layers: Layers, assigned: int, node: int) -> int:
    """Pattern edge by which the free `node` is reached: from an unknown node if one is assigned."""
    choice, unknown = -1, False
    for e in range(len(query.edges)):
        head, tail = query.edges[e, HEAD], query.edges[e, TAIL]
        if (head == node) == (tail == node):
            continue
        other = tail if head == node else head
        if assigned >> other & 1 == 0:
            continue
        soft = layers.start[other] < 0 or layers.size[other] > 1
        if choice < 0 or (soft and not unknown):
            choice, unknown = e, soft
    return choice


@compiled
def plan_steps(query: Query, layers: Layers, tree: Tree) -> Steps:
    """Assign nodes in the pattern's order as far as they hang together; close edges as soon as possible."""
    nodes, edges = len(query.nodes), len(query.edges)
    node = np.full(nodes + edges, -1, np.int64)
    edge, parent = node.copy(), node.copy()
    assigned, closed, count, base = 0, 0, 0, 0
    track = query.options[DISTINCT] == TRIPLES
    choice, by = tree.root, -1
    while choice >= 0:
        node[count], edge[count] = choice, by
        if by >= 0:
            parent[count] = query.edges[by, HEAD] + query.edges[by, TAIL] - choice
            closed |= 1 << by
        if by >= 0 and layers.start[choice] < 0:
            base += query.edges[by, LEAST]
        assigned |= 1 << choice
        count += 1
        for e in range(edges):
            head, tail = query.edges[e, HEAD], query.edges[e, TAIL]
            joined = tree.via[head] == e or tree.via[tail] == e
            if closed >> e & 1 == 0 and not joined and assigned >> head & 1 and assigned >> tail & 1:
                edge[count], parent[count] = e, head
                closed |= 1 << e
                base += query.edges[e, LEAST]
                track = track or query.options[DISTINCT] == NODES
                count += 1
        choice, by = -1, -1
        for v in range(nodes):
            if assigned >> v & 1:
                continue
            if layers.start[v] < 0:
                by = pick_free(query, layers, assigned, v)
            elif assigned >> tree.parent[v] & 1:
                by = tree.via[v]
            if by >= 0:
                choice = v
                break
    return Steps(node[:count].copy(), edge[:count].copy(), parent[:count].copy(), base, track)

"""The search for matches in compiled code: messages between layers, then enumeration by rising cost."""

from __future__ import annotations

import numpy as np

from clew.graph.kernels import Array, compiled, entry
from clew.graph.match.kernels import columns as c
from clew.graph.match.kernels.columns import (
    EnumerationPlan,
    EnumerationState,
    EnumerationSteps,
    EnumerationTask,
    GraphColumns,
    Layers,
    LayerScratch,
    LayerTree,
    MatchRows,
    QueryColumns,
    Search,
    edges_at,
    edges_between,
    room,
    triple_of,
)
from clew.graph.match.kernels.layers import grow

# Messages between layers: the least cost of what lies below every entity, and the best way to it.
#
# With the pattern's tree hung from a root, `total[x]` is the least cost of the subtree of x's pattern node
# when that node is x (nodes may repeat here; the enumeration sees to injectivity). Among equal costs the
# pointers follow the smallest entity ids in the order of the pattern nodes, so that `best` is the least in
# (cost, ids), component by component, as the ids of independent subtrees do not affect each other.
# Source of the idea: Tziavelis et al., "Optimal algorithms for ranked enumeration", VLDB 2020.


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


# The matches that a search has found, and how near those are that it has not.


MOST_LATE = 4096


@compiled
def empty_matches(width: int, capacity: int) -> MatchRows:
    """No matches, with room for `capacity` rows of `width`."""
    return MatchRows(np.empty((capacity, width), np.int64), np.zeros(capacity + 1, np.int64))


@compiled
def note_late_bound(late: Array, bound: int, capacity: int) -> None:
    """Remember a bound above the limit if it is among the `capacity` smallest (a binary max-heap)."""
    count = late[-1]
    if count == capacity:
        if bound >= late[0]:
            return
        at = 0
        while 2 * at + 1 < count:
            child = 2 * at + 1
            if child + 1 < count and late[child + 1] > late[child]:
                child += 1
            if late[child] <= bound:
                break
            late[at] = late[child]
            at = child
        late[at] = bound
        return
    late[-1] = count + 1
    at = count
    while at > 0 and late[(at - 1) >> 1] < bound:
        late[at] = late[(at - 1) >> 1]
        at = (at - 1) >> 1
    late[at] = bound


@compiled
def comes_before(row: Array, rows: Array, slot: int) -> bool:
    """Whether a match comes before the one in `slot`."""
    for j in range(len(row)):
        if row[j] != rows[slot, j]:
            return row[j] < rows[slot, j]
    return False


@compiled
def keep_match(matches: MatchRows, most_matches: int, row: Array) -> MatchRows:
    """Add a match: all of them if `most_matches` is 0, else the first `most_matches`."""
    count = matches.order[-1]
    slot = count
    if most_matches > 0 and count == most_matches:
        slot = matches.order[count - 1]
        if not comes_before(row, matches.rows, slot):
            return matches
        count -= 1
    matches = MatchRows(room(matches.rows, slot + 1), matches.order)
    if most_matches > 0:
        at = count
        while at > 0 and comes_before(row, matches.rows, matches.order[at - 1]):
            matches.order[at] = matches.order[at - 1]
            at -= 1
        matches.order[at] = slot
    for j in range(len(row)):
        matches.rows[slot, j] = row[j]
    matches.order[-1] = count + 1
    return matches


@compiled
def is_too_late(layer: Array, tree: LayerTree, node: Array, rows: Array, slot: int) -> bool:
    """Whether every completion at the bound's cost comes after the match in `slot` by entity ids.

    `layer` and `node` are those of `Layers` and `EnumerationState`.
    """
    for w in range(len(node)):
        if node[w, c.ASSIGNED] & 1:
            value = node[w, c.ENTITY]
        elif layer[w, c.START] >= 0:
            top = w
            while node[tree.node[top, c.UP], c.ASSIGNED] & 1 == 0:
                top = tree.node[top, c.UP]
            place = tree.edge[
                tree.link[tree.node[top, c.LINK] + node[tree.node[top, c.UP], c.PLACE], c.POINTER], c.TARGET
            ]
            value = tree.best[tree.node[top, c.ROW] + place * tree.node[top, c.WIDTH] + tree.column[top, w]]
        else:
            return False
        row_value = rows[slot, 1 + w]
        if value != row_value:
            return value > row_value
    return False


# Enumeration of matches in rounds of rising cost.
#
# A round walks depth-first through all partial assignments whose lower bound is within a limit. For layers
# the bound is exact up to injectivity, so that nearly every descent ends in a match. When k matches are
# known, what cannot come before the last of them in (cost, entity ids) is cut off.


LAZY_LIMIT = 100_000
"""Choices looked at before it is worth growing layers for all nodes."""


@compiled
def empty_walk(query: QueryColumns) -> EnumerationState:
    """Nothing assigned but what has one candidate only, which is set aside."""
    nodes, edges = len(query.nodes), len(query.edges)
    node = np.zeros((nodes, 3), np.int64)
    for v in range(nodes):
        if query.nodes[v, c.KIND] == c.KNOWN and query.nodes[v, c.LAST] - query.nodes[v, c.FIRST] == 1:
            node[v, c.ENTITY], node[v, c.ASSIGNED] = query.candidate[query.nodes[v, c.FIRST], c.ID], 2
    return EnumerationState(
        node,
        np.zeros((edges, 2), np.int64) - 1,
        np.zeros((nodes + edges, 4), np.int64),
        np.zeros(MOST_LATE + 1, np.int64),
        np.zeros(1 + nodes + edges, np.int64),
    )


@compiled
def assigned_triple(graph: GraphColumns, query: QueryColumns, walk: EnumerationState, edge: int) -> int:
    """Triple id of `edge`, whose ends are assigned."""
    head, tail = query.edges[edge, c.HEAD], query.edges[edge, c.TAIL]
    return triple_of(graph, walk.edge[edge, c.TAKEN], walk.node[head, c.ENTITY], walk.node[tail, c.ENTITY])


@compiled
def repeats_triple(graph: GraphColumns, query: QueryColumns, walk: EnumerationState, edge: int) -> bool:
    """Whether the triple of `edge`, whose ends are assigned, is in use; writes its id."""
    triple = assigned_triple(graph, query, walk, edge)
    walk.edge[edge, c.TRIPLE] = -1
    for e in range(len(walk.edge)):
        if walk.edge[e, c.TRIPLE] == triple:
            return True
    walk.edge[edge, c.TRIPLE] = triple
    return False


@compiled
def emit(
    graph: GraphColumns,
    query: QueryColumns,
    walk: EnumerationState,
    matches: MatchRows,
    most_matches: int,
    cost: int,
) -> MatchRows:
    """Write the match that is assigned, with its triple ids."""
    walk.row[0] = cost
    nodes = len(walk.node)
    for v in range(nodes):
        walk.row[1 + v] = walk.node[v, c.ENTITY]
    for e in range(len(walk.edge)):
        walk.row[1 + nodes + e] = assigned_triple(graph, query, walk, e)
    return keep_match(matches, most_matches, walk.row)


@compiled
def read_choices(
    graph: GraphColumns,
    query: QueryColumns,
    steps: EnumerationSteps,
    walk: EnumerationState,
    buffer: Array,
    step: int,
    state: Array,
) -> Array:
    """Read the choices of a `step` outside the layers from the graph into `buffer`, behind its FILL.

    It is called for every partial assignment, and counts references to every array that it gets: not to those
    of a whole `Search`.
    """
    base, above = walk.step[step, c.FILL], c.INFINITE
    edge = steps.step[step, c.EDGE]
    if steps.step[step, c.NODE] >= 0:
        parent = steps.step[step, c.FROM]
        at_head = query.edges[edge, c.HEAD] == parent
        most = query.options[c.CAP] - walk.step[step, c.BOUND] + query.edges[edge, c.LEAST]
        entity = walk.node[parent, c.ENTITY]
        buffer, count, above = edges_at(graph, query, edge, (entity, at_head), most, buffer, base)
    else:
        head, tail = query.edges[edge, c.HEAD], query.edges[edge, c.TAIL]
        ends = walk.node[head, c.ENTITY], walk.node[tail, c.ENTITY]
        buffer, count = edges_between(graph, query, edge, ends, buffer, base)
    walk.step[step, c.AT], walk.step[step, c.END], walk.step[step, c.FILL] = base, count, count
    state[c.CUT] = min(state[c.CUT], above)
    return buffer


@compiled
def run_round(  # noqa: C901
    search: Search, plan: EnumerationPlan, buffer: Array, matches: MatchRows, task: EnumerationTask
) -> tuple[MatchRows, Array]:
    """Add the matches of one task to `matches`; no calls on the common path, which would count references."""
    graph, query, state, stop = search.graph, search.query, search.state, search.stop
    layers, tree, steps, walk = plan
    layer, entries, node_of, edge_of, step_of = layers.node, layers.entry, walk.node, walk.edge, walk.step
    links, tree_edges, totals, tree_node, order_of = tree.link, tree.edge, tree.total, tree.node, steps.step
    rows, order, pattern_edges, pattern_nodes = matches.rows, matches.order, query.edges, query.nodes
    injective = query.options[c.DISTINCT] == c.NODES
    last, count = len(order_of) - 1, len(node_of)
    lazy = False
    for v in range(count):
        lazy = lazy or (layer[v, c.START] < 0 and query.options[c.EAGER] == 0)
    patience = state[c.SPENT] + (LAZY_LIMIT if lazy else c.INFINITE)
    step = c.ZERO
    step_of[0, c.AT], step_of[0, c.END] = task.low, task.high
    step_of[0, c.BOUND], step_of[0, c.FILL] = steps.base, 0
    walk.late[-1] = 0
    while step >= 0:
        node, edge, j = order_of[step, c.NODE], order_of[step, c.EDGE], step_of[step, c.AT]
        if node >= 0:
            node_of[node, c.ASSIGNED] &= 2
        if edge >= 0:
            edge_of[edge, c.TRIPLE] = -1
        if j >= step_of[step, c.END]:
            step -= 1
            continue
        step_of[step, c.AT] = j + 1
        state[c.SPENT] += 1
        if state[c.SPENT] > state[c.ALLOWED] or stop[0] != 0 or state[c.SPENT] > patience:
            state[c.STATUS] = c.RETRY if state[c.SPENT] > patience else c.STOPPED
            break

        bound = step_of[step, c.BOUND]
        if node < 0:
            bound += buffer[j, c.PRICE] - pattern_edges[edge, c.LEAST]
            edge_of[edge, c.TAKEN] = buffer[j, c.CODE]
        else:
            if layer[node, c.START] < 0:
                entity = buffer[j, c.NEIGHBOUR]
                bound += buffer[j, c.PRICE] - pattern_edges[edge, c.LEAST]
                edge_of[edge, c.TAKEN] = buffer[j, c.CODE]
                mask = pattern_nodes[node, c.MASK]
                if mask >= 0 and not query.masks[mask, entity]:
                    continue
            else:
                place = j
                if edge >= 0:
                    place = tree_edges[j, c.TARGET]
                    link = tree_node[node, c.LINK] + node_of[order_of[step, c.FROM], c.PLACE]
                    bound += tree_edges[j, c.PRICE] - links[link, c.CHEAPEST]
                    edge_of[edge, c.TAKEN] = tree_edges[j, c.CODE]
                bound += totals[layer[node, c.START] + place]
                entity = entries[layer[node, c.START] + place, c.ENTITY]
                node_of[node, c.PLACE] = place
            if bound >= c.INFINITE:
                continue
            if injective:
                clash = False
                for v in range(count):
                    clash |= v != node and node_of[v, c.ASSIGNED] != 0 and node_of[v, c.ENTITY] == entity
                if clash:
                    continue
            node_of[node, c.ENTITY] = entity
            node_of[node, c.ASSIGNED] |= 1

        if task.most_matches > 0 and order[-1] == task.most_matches:
            worst = order[task.most_matches - 1]
            if bound > rows[worst, 0]:
                continue
            if bound == rows[worst, 0] and is_too_late(layer, tree, node_of, rows, worst):
                continue
        if bound > task.limit:
            note_late_bound(walk.late, bound, task.ahead)
            continue
        if steps.track and edge >= 0 and repeats_triple(graph, query, walk, edge):
            continue
        if step == last:
            if bound > task.floor and (task.misses < 0 or bound & c.MISS_MASK == task.misses):
                matches = emit(graph, query, walk, matches, task.most_matches, bound)
                rows = matches.rows
            continue
        step += 1
        step_of[step, c.BOUND], step_of[step, c.FILL] = bound, step_of[step - 1, c.FILL]
        next_node = order_of[step, c.NODE]
        if next_node >= 0 and layer[next_node, c.START] >= 0:
            link = tree_node[next_node, c.LINK] + node_of[order_of[step, c.FROM], c.PLACE]
            step_of[step, c.AT], step_of[step, c.END] = links[link, c.BEGIN], links[link + 1, c.BEGIN]
        else:
            buffer = read_choices(graph, query, steps, walk, buffer, step, state)
    for v in range(count):
        node_of[v, c.ASSIGNED] &= 2
    return matches, buffer


@compiled
def run_rounds(
    search: Search, plan: EnumerationPlan, buffer: Array, matches: MatchRows, task: EnumerationTask
) -> tuple[MatchRows, Array, int]:
    """Run `task` with rising limits up to its own; also returns the cost below which nothing is missing.

    The limit rises to a bound that at least four times as many partial assignments reach as before, so
    that all rounds together cost little more than the last.
    """
    tree, steps, walk, state = plan.tree, plan.steps, plan.walk, search.state
    cap, start = task.limit, plan.layers.node[tree.root, c.START]
    least = min(c.INFINITE, tree.total[start + task.low : start + task.high].min() + steps.base)
    limit, floor, ahead = least if task.most_matches > 0 else cap, task.floor, 4
    while least <= cap and least < c.INFINITE:
        round_task = EnumerationTask(task.low, task.high, floor, limit, task.most_matches, task.misses, ahead)
        matches, buffer = run_round(search, plan, buffer, matches, round_task)
        if state[c.STATUS] != c.DONE or (task.most_matches > 0 and matches.order[-1] == task.most_matches):
            break
        if task.most_matches == 0 or walk.late[-1] == 0:
            break
        floor = limit
        least = walk.late[: walk.late[-1]].min()
        limit = min(walk.late[0], cap)
        ahead = min(4 * ahead, MOST_LATE)
    return matches, buffer, least


@compiled
def follow(
    graph: GraphColumns, query: QueryColumns, layers: Layers, tree: LayerTree, place: int, row: Array
) -> bool:
    """Write the best match of the root at `place` into `row`, by the pointers; False if it breaks the rules.

    It is the first of all with this root, as what it minimises leaves out nothing but the rules. Only for
    patterns that are all layers and have no edge to close.
    """
    count = len(layers.node)
    at, pointer = np.zeros(count, np.int64), 0
    row[0] = tree.total[layers.node[tree.root, c.START] + place]
    for i in range(count):
        v = tree.order[i]
        at[v] = place
        if i > 0:
            pointer = tree.link[tree.node[v, c.LINK] + at[tree.node[v, c.UP]], c.POINTER]
            at[v] = tree.edge[pointer, c.TARGET]
        row[1 + v] = layers.entry[layers.node[v, c.START] + at[v], c.ENTITY]
        for w in tree.order[: i if query.options[c.DISTINCT] == c.NODES else 0]:
            if row[1 + w] == row[1 + v]:
                return False
        if i > 0:
            e = tree.node[v, c.BY]
            row[1 + count + e] = triple_of(
                graph, tree.edge[pointer, c.CODE], row[1 + v], row[1 + tree.node[v, c.UP]]
            )
            for w in tree.order[1 : i if query.options[c.DISTINCT] == c.TRIPLES else 1]:
                if row[1 + count + tree.node[w, c.BY]] == row[1 + count + e]:
                    return False
    return True


@compiled
def run_projected(
    search: Search, plan: EnumerationPlan, buffer: Array, matches: MatchRows, task: EnumerationTask
) -> MatchRows:
    """Run `task` for every root on its own, keeping the first match of each."""
    graph, query, (layers, tree, steps, walk) = search.graph, search.query, plan
    root_matches = empty_matches(len(walk.row), 1)
    direct = len(steps.step) == len(layers.node) == len(tree.order)
    start = layers.node[tree.root, c.START]
    for i in range(task.low, task.high):
        bound, cap = tree.total[start + i] + steps.base, task.limit
        if task.most_matches > 0 and matches.order[-1] == task.most_matches:
            worst = matches.order[task.most_matches - 1]
            cap = min(cap, matches.rows[worst, 0])
            walk.node[tree.root, c.PLACE] = i
            walk.node[tree.root, c.ENTITY] = layers.entry[start + i, c.ENTITY]
            walk.node[tree.root, c.ASSIGNED] |= 1
            is_late = bound == cap and is_too_late(layers.node, tree, walk.node, matches.rows, worst)
            walk.node[tree.root, c.ASSIGNED] &= 2
            if is_late:
                continue
        if bound > cap:
            continue
        fits = direct and follow(graph, query, layers, tree, i, walk.row)
        if fits and (task.misses < 0 or walk.row[0] & c.MISS_MASK == task.misses):
            matches = keep_match(matches, task.most_matches, walk.row)
            continue
        root_matches.order[-1] = 0
        root_task = EnumerationTask(i, i + 1, -1, cap, 1, task.misses, 0)
        root_matches, buffer, _ = run_rounds(search, plan, buffer, root_matches, root_task)
        if root_matches.order[-1] > 0:
            matches = keep_match(matches, task.most_matches, root_matches.rows[0])
        if search.state[c.STATUS] != c.DONE:
            break
    return matches


@compiled
def find_matches(search: Search, plan: EnumerationPlan, buffer: Array) -> tuple[MatchRows, int]:
    """Find the matches that the options ask for, and the cost below which none is missing."""
    query, (layers, tree, steps, walk) = search.query, plan
    most_matches, roots = query.options[c.COUNT], layers.node[tree.root, c.SIZE]
    cap, misses, bound = c.INFINITE - 1, -1, -1
    if roots == 0:
        return empty_matches(len(walk.row), 0), bound
    if query.options[c.TIED] == 1:
        most_matches = 0
        best = empty_matches(len(walk.row), 1)
        task = EnumerationTask(0, roots, -1, cap, 1, -1, 0)
        best, buffer, bound = run_rounds(search, plan, buffer, best, task)
        if best.order[-1] == 0 or search.state[c.STATUS] != c.DONE:
            return best, bound
        cap, slack = best.rows[0, 0], query.options[c.SLACK]
        bound = cap
        if slack > 0:
            misses = cap & c.MISS_MASK
            cap = ((cap >> c.MISS_BITS) + slack) << c.MISS_BITS | c.MISS_MASK
    matches = empty_matches(len(walk.row), max(most_matches, 1))
    task = EnumerationTask(0, roots, -1, cap, most_matches, misses, 0)
    if query.options[c.PROJECT] < 0:
        matches, buffer, least = run_rounds(search, plan, buffer, matches, task)
        return matches, max(bound, least)
    if bound < 0:
        start = layers.node[tree.root, c.START]
        bound = tree.total[start : start + roots].min() + steps.base
    matches = run_projected(search, plan, buffer, matches, task)
    return matches, bound


# The entry point of the kernels of a search.


@entry
def search(
    graph: GraphColumns, query: QueryColumns, marks: Array, bits: Array, stop: Array
) -> tuple[int, int, int, int, Array, Array]:
    """(status, bound, cut, work, rows of matches, their order and then their count).

    `marks` and `bits` are those of `LayerScratch`; the order is of use only if the number of matches was
    limited. `cut` is how far the nearest part that was left out is above the cap (INFINITE: nothing was),
    `work` what was spent of the expansions.
    """
    state = np.zeros(4, np.int64)
    state[c.CUT] = c.INFINITE
    state[c.ALLOWED] = query.options[c.EXPANSIONS]
    searched = Search(graph, query, LayerScratch(marks, bits, np.zeros(c.SIEVE, np.uint8)), state, stop)
    layers, buffer, begin = grow(searched)
    if state[c.STATUS] != c.DONE:
        rows = empty_matches(c.ONE, c.ZERO)
        return state[c.STATUS], -1, state[c.CUT], state[c.SPENT], rows.rows, rows.order
    root = query.options[c.PROJECT] if query.options[c.PROJECT] >= 0 else begin
    tree = send(graph, layers, root)
    plan = EnumerationPlan(layers, tree, plan_steps(query, layers, tree), empty_walk(query))
    rows, bound = find_matches(searched, plan, buffer)
    return state[c.STATUS], bound, state[c.CUT], state[c.SPENT], rows.rows, rows.order

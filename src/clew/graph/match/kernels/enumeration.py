"""Enumeration of matches in rounds of rising cost.

A round walks depth-first through all partial assignments whose lower bound is within a limit. For layers the
bound is exact up to injectivity, so that nearly every descent ends in a match. When k matches are known, what
cannot come before the last of them in (cost, entity ids) is cut off.
"""

from __future__ import annotations

import numpy as np

from clew.graph.kernels import Array, compiled
from clew.graph.match.kernels import columns as c
from clew.graph.match.kernels.columns import (
    EnumerationPlan,
    EnumerationState,
    EnumerationSteps,
    EnumerationTask,
    GraphColumns,
    Layers,
    LayerTree,
    MatchRows,
    QueryColumns,
    Search,
)
from clew.graph.match.kernels.edges import edges_at, edges_between, triple_of
from clew.graph.match.kernels.match_rows import (
    MOST_LATE,
    empty_matches,
    is_too_late,
    keep_match,
    note_late_bound,
)

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

"""Enumeration of matches in rounds of rising cost, and the entry point of the kernels.

A round walks depth-first through all partial assignments whose lower bound is within a limit. For layers the
bound is exact up to injectivity, so that nearly every descent ends in a match. When k matches are known, what
cannot come before the last of them in (cost, entity ids) is cut off.
"""

from __future__ import annotations

import numpy as np

from clew.graph.kernels import Array, compiled, entry
from clew.graph.kernels.columns import (
    ALLOWED,
    ASSIGNED,
    AT,
    BEGIN,
    BOUND,
    BY,
    CAP,
    CHEAPEST,
    CODE,
    COUNT,
    CUT,
    DISTINCT,
    DONE,
    EAGER,
    EDGE,
    END,
    ENTITY,
    EXPANSIONS,
    FILL,
    FIRST,
    FROM,
    HEAD,
    ID,
    INFINITE,
    KIND,
    KNOWN,
    LAST,
    LEAST,
    LINK,
    MASK,
    MISS_BITS,
    MISS_MASK,
    NEIGHBOUR,
    NODE,
    NODES,
    ONE,
    PLACE,
    POINTER,
    PRICE,
    PROJECT,
    RETRY,
    ROW,
    SIEVE,
    SIZE,
    SLACK,
    SPENT,
    START,
    STATUS,
    STOPPED,
    TAIL,
    TAKEN,
    TARGET,
    TIED,
    TRIPLE,
    TRIPLES,
    UP,
    WIDTH,
    ZERO,
    Far,
    Found,
    Graph,
    Layers,
    Query,
    Scratch,
    Steps,
    Task,
    Tree,
    Walk,
)
from clew.graph.kernels.edges import edges_at, edges_between, room, triple_of
from clew.graph.kernels.layers import grow
from clew.graph.kernels.messages import plan_steps, send

HELPERS = "9d28a5baaaab6c39"
LAZY_LIMIT = 100_000
"""Choices looked at before it is worth growing layers for all nodes."""
MOST_LATE = 4096


@compiled
def empty_walk(query: Query) -> Walk:
    """Nothing assigned but what has one candidate only, which is set aside."""
    nodes, edges = len(query.nodes), len(query.edges)
    node = np.zeros((nodes, 3), np.int64)
    for v in range(nodes):
        if query.nodes[v, KIND] == KNOWN and query.nodes[v, LAST] - query.nodes[v, FIRST] == 1:
            node[v, ENTITY], node[v, ASSIGNED] = query.candidate[query.nodes[v, FIRST], ID], 2
    return Walk(
        node,
        np.zeros((edges, 2), np.int64) - 1,
        np.zeros((nodes + edges, 4), np.int64),
        np.zeros(MOST_LATE + 1, np.int64),
        np.zeros(1 + nodes + edges, np.int64),
    )


@compiled
def empty_found(width: int, capacity: int) -> Found:
    """No matches, with room for `capacity` rows of `width`."""
    return Found(np.empty((capacity, width), np.int64), np.zeros(capacity + 1, np.int64))


@compiled
def note_late(late: Array, bound: int, capacity: int) -> None:
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
def keep(found: Found, wanted: int, row: Array) -> Found:
    """Add a match: all of them if `wanted` is 0, else the first `wanted`."""
    count = found.order[-1]
    slot = count
    if wanted > 0 and count == wanted:
        slot = found.order[count - 1]
        if not comes_before(row, found.rows, slot):
            return found
        count -= 1
    found = Found(room(found.rows, slot + 1), found.order)
    if wanted > 0:
        at = count
        while at > 0 and comes_before(row, found.rows, found.order[at - 1]):
            found.order[at] = found.order[at - 1]
            at -= 1
        found.order[at] = slot
    for j in range(len(row)):
        found.rows[slot, j] = row[j]
    found.order[-1] = count + 1
    return found


@compiled
def too_late(layer: Array, tree: Tree, node: Array, rows: Array, slot: int) -> bool:
    """Whether every completion at the bound's cost comes after the match in `slot` by entity ids.

    `layer` and `node` are those of `Layers` and `Walk`.
    """
    for w in range(len(node)):
        if node[w, ASSIGNED] & 1:
            value = node[w, ENTITY]
        elif layer[w, START] >= 0:
            top = w
            while node[tree.node[top, UP], ASSIGNED] & 1 == 0:
                top = tree.node[top, UP]
            place = tree.edge[
                tree.link[tree.node[top, LINK] + node[tree.node[top, UP], PLACE], POINTER], TARGET
            ]
            value = tree.best[tree.node[top, ROW] + place * tree.node[top, WIDTH] + tree.column[top, w]]
        else:
            return False
        other = rows[slot, 1 + w]
        if value != other:
            return value > other
    return False


@compiled
def repeats(graph: Graph, query: Query, walk: Walk, edge: int) -> bool:
    """Whether the triple of `edge`, whose ends are assigned, is in use; writes its id."""
    one, other = walk.node[query.edges[edge, HEAD], ENTITY], walk.node[query.edges[edge, TAIL], ENTITY]
    triple = triple_of(graph, walk.edge[edge, TAKEN], one, other)
    walk.edge[edge, TRIPLE] = -1
    for e in range(len(walk.edge)):
        if walk.edge[e, TRIPLE] == triple:
            return True
    walk.edge[edge, TRIPLE] = triple
    return False


@compiled
def emit(graph: Graph, query: Query, walk: Walk, found: Found, wanted: int, cost: int) -> Found:
    """Write the match that is assigned, with its triple ids."""
    walk.row[0] = cost
    nodes = len(walk.node)
    for v in range(nodes):
        walk.row[1 + v] = walk.node[v, ENTITY]
    for e in range(len(walk.edge)):
        one, other = walk.node[query.edges[e, HEAD], ENTITY], walk.node[query.edges[e, TAIL], ENTITY]
        walk.row[1 + nodes + e] = triple_of(graph, walk.edge[e, TAKEN], one, other)
    return keep(found, wanted, walk.row)


@compiled
def choices(
    graph: Graph,
    query: Query,
    steps: Steps,
    walk: Walk,
    buffer: Array,
    step: int,
    base: int,
    state: Array,
) -> Array:
    """Read the choices of a `step` outside the layers from the graph into `buffer`, from `base` on."""
    edge = steps.step[step, EDGE]
    if steps.step[step, NODE] >= 0:
        parent = steps.step[step, FROM]
        at_head = query.edges[edge, HEAD] == parent
        most = query.options[CAP] - walk.step[step, BOUND] + query.edges[edge, LEAST]
        entity = walk.node[parent, ENTITY]
        buffer, count = edges_at(graph, query, edge, entity, at_head, most, buffer, base, state)
    else:
        head, tail = walk.node[query.edges[edge, HEAD], ENTITY], walk.node[query.edges[edge, TAIL], ENTITY]
        buffer, count = edges_between(graph, query, edge, head, tail, buffer, base)
    walk.step[step, AT], walk.step[step, END], walk.step[step, FILL] = base, count, count
    return buffer


@compiled
def lowest(values: Array, count: int) -> int:
    """Find the smallest of the first `count` values."""
    least = values[0]
    for i in range(1, count):
        least = min(least, values[i])
    return least


@compiled
def one_round(  # noqa: C901
    graph: Graph,
    query: Query,
    layers: Layers,
    tree: Tree,
    steps: Steps,
    walk: Walk,
    buffer: Array,
    found: Found,
    task: Task,
    state: Array,
    stop: Array,
) -> tuple[Found, Array]:
    """Add the matches of one task to `found`.

    The loop has no calls on its common path: each would count references to every array that it passes on.
    """
    layer, entries, node_of, edge_of, step_of = layers.node, layers.entry, walk.node, walk.edge, walk.step
    links, tree_edges, totals, tree_node, plan = tree.link, tree.edge, tree.total, tree.node, steps.step
    rows, order, pattern_edges, pattern_nodes = found.rows, found.order, query.edges, query.nodes
    injective = query.options[DISTINCT] == NODES
    last, count = len(plan) - 1, len(node_of)
    lazy = False
    for v in range(count):
        lazy = lazy or (layer[v, START] < 0 and query.options[EAGER] == 0)
    patience = state[SPENT] + (LAZY_LIMIT if lazy else INFINITE)
    step = ZERO
    step_of[0, AT], step_of[0, END], step_of[0, BOUND], step_of[0, FILL] = task.low, task.high, steps.base, 0
    walk.late[-1] = 0
    while step >= 0:
        node, edge, j = plan[step, NODE], plan[step, EDGE], step_of[step, AT]
        if node >= 0:
            node_of[node, ASSIGNED] &= 2
        if edge >= 0:
            edge_of[edge, TRIPLE] = -1
        if j >= step_of[step, END]:
            step -= 1
            continue
        step_of[step, AT] = j + 1
        state[SPENT] += 1
        if state[SPENT] > state[ALLOWED] or stop[0] != 0 or state[SPENT] > patience:
            state[STATUS] = RETRY if state[SPENT] > patience else STOPPED
            break

        bound = step_of[step, BOUND]
        if node < 0:
            bound += buffer[j, PRICE] - pattern_edges[edge, LEAST]
            edge_of[edge, TAKEN] = buffer[j, CODE]
        else:
            if layer[node, START] < 0:
                entity = buffer[j, NEIGHBOUR]
                bound += buffer[j, PRICE] - pattern_edges[edge, LEAST]
                edge_of[edge, TAKEN] = buffer[j, CODE]
                mask = pattern_nodes[node, MASK]
                if mask >= 0 and not query.masks[mask, entity]:
                    continue
            else:
                place = j
                if edge >= 0:
                    place = tree_edges[j, TARGET]
                    link = tree_node[node, LINK] + node_of[plan[step, FROM], PLACE]
                    bound += tree_edges[j, PRICE] - links[link, CHEAPEST]
                    edge_of[edge, TAKEN] = tree_edges[j, CODE]
                bound += totals[layer[node, START] + place]
                entity = entries[layer[node, START] + place, ENTITY]
                node_of[node, PLACE] = place
            if bound >= INFINITE:
                continue
            if injective:
                clash = False
                for v in range(count):
                    clash |= v != node and node_of[v, ASSIGNED] != 0 and node_of[v, ENTITY] == entity
                if clash:
                    continue
            node_of[node, ENTITY] = entity
            node_of[node, ASSIGNED] |= 1

        if task.wanted > 0 and order[-1] == task.wanted:
            worst = order[task.wanted - 1]
            if bound > rows[worst, 0]:
                continue
            if bound == rows[worst, 0] and too_late(layer, tree, node_of, rows, worst):
                continue
        if bound > task.limit:
            note_late(walk.late, bound, task.ahead)
            continue
        if steps.track and edge >= 0 and repeats(graph, query, walk, edge):
            continue
        if step == last:
            if bound > task.after and (task.misses < 0 or bound & MISS_MASK == task.misses):
                found = emit(graph, query, walk, found, task.wanted, bound)
                rows = found.rows
            continue
        step += 1
        base = step_of[step - 1, FILL]
        step_of[step, BOUND], step_of[step, FILL] = bound, base
        following = plan[step, NODE]
        if following >= 0 and layer[following, START] >= 0:
            link = tree_node[following, LINK] + node_of[plan[step, FROM], PLACE]
            step_of[step, AT], step_of[step, END] = links[link, BEGIN], links[link + 1, BEGIN]
        else:
            buffer = choices(graph, query, steps, walk, buffer, step, base, state)
    for v in range(count):
        node_of[v, ASSIGNED] &= 2
    return found, buffer


@compiled
def rounds(
    graph: Graph,
    query: Query,
    layers: Layers,
    tree: Tree,
    steps: Steps,
    walk: Walk,
    buffer: Array,
    found: Found,
    task: Task,
    state: Array,
    stop: Array,
) -> tuple[Found, Array, int]:
    """Run `task` with rising limits up to its own; also returns the cost below which nothing is missing.

    The limit rises to a bound that at least four times as many partial assignments reach as before, so
    that all rounds together cost little more than the last.
    """
    cap, start = task.limit, layers.node[tree.root, START]
    least = INFINITE
    for i in range(task.low, task.high):
        least = min(least, tree.total[start + i] + steps.base)
    limit, after, ahead = least if task.wanted > 0 else cap, task.after, 4
    while least <= cap and least < INFINITE:
        one = Task(task.low, task.high, after, limit, task.wanted, task.misses, ahead)
        found, buffer = one_round(graph, query, layers, tree, steps, walk, buffer, found, one, state, stop)
        if state[STATUS] != DONE or (task.wanted > 0 and found.order[-1] == task.wanted):
            break
        if task.wanted == 0 or walk.late[-1] == 0:
            break
        after = limit
        least = lowest(walk.late, walk.late[-1])
        limit = min(walk.late[0], cap)
        ahead = min(4 * ahead, MOST_LATE)
    return found, buffer, least


@compiled
def follow(graph: Graph, query: Query, layers: Layers, tree: Tree, place: int, row: Array) -> bool:
    """Write the best match of the root at `place` into `row`, by the pointers; False if it breaks the rules.

    It is the first of all with this root, as what it minimises leaves out nothing but the rules. Only for
    patterns that are all layers and have no edge to close.
    """
    count = len(layers.node)
    at, pointer = np.zeros(count, np.int64), 0
    row[0] = tree.total[layers.node[tree.root, START] + place]
    for i in range(count):
        v = tree.order[i]
        at[v] = place
        if i > 0:
            pointer = tree.link[tree.node[v, LINK] + at[tree.node[v, UP]], POINTER]
            at[v] = tree.edge[pointer, TARGET]
        row[1 + v] = layers.entry[layers.node[v, START] + at[v], ENTITY]
        for w in tree.order[: i if query.options[DISTINCT] == NODES else 0]:
            if row[1 + w] == row[1 + v]:
                return False
        if i > 0:
            e = tree.node[v, BY]
            row[1 + count + e] = triple_of(
                graph, tree.edge[pointer, CODE], row[1 + v], row[1 + tree.node[v, UP]]
            )
            for w in tree.order[1 : i if query.options[DISTINCT] == TRIPLES else 1]:
                if row[1 + count + tree.node[w, BY]] == row[1 + count + e]:
                    return False
    return True


@compiled
def projected(
    graph: Graph,
    query: Query,
    layers: Layers,
    tree: Tree,
    steps: Steps,
    walk: Walk,
    buffer: Array,
    found: Found,
    task: Task,
    state: Array,
    stop: Array,
) -> Found:
    """Run `task` for every root on its own, keeping the first match of each."""
    own = empty_found(len(walk.row), 1)
    direct = len(steps.step) == len(layers.node) == len(tree.order)
    start = layers.node[tree.root, START]
    for i in range(task.low, task.high):
        bound, cap = tree.total[start + i] + steps.base, task.limit
        if task.wanted > 0 and found.order[-1] == task.wanted:
            worst = found.order[task.wanted - 1]
            cap = min(cap, found.rows[worst, 0])
            walk.node[tree.root, PLACE], walk.node[tree.root, ENTITY] = i, layers.entry[start + i, ENTITY]
            walk.node[tree.root, ASSIGNED] |= 1
            late = bound == cap and too_late(layers.node, tree, walk.node, found.rows, worst)
            walk.node[tree.root, ASSIGNED] &= 2
            if late:
                continue
        if bound > cap:
            continue
        fits = direct and follow(graph, query, layers, tree, i, walk.row)
        if fits and (task.misses < 0 or walk.row[0] & MISS_MASK == task.misses):
            found = keep(found, task.wanted, walk.row)
            continue
        own.order[-1] = 0
        one = Task(i, i + 1, -1, cap, 1, task.misses, 0)
        own, buffer, _ = rounds(graph, query, layers, tree, steps, walk, buffer, own, one, state, stop)
        if own.order[-1] > 0:
            found = keep(found, task.wanted, own.rows[0])
        if state[STATUS] != DONE:
            break
    return found


@compiled
def matches(
    graph: Graph,
    query: Query,
    layers: Layers,
    tree: Tree,
    steps: Steps,
    buffer: Array,
    state: Array,
    stop: Array,
) -> tuple[Found, int]:
    """Find the matches that the options ask for, and the cost below which none is missing."""
    walk = empty_walk(query)
    wanted, roots = query.options[COUNT], layers.node[tree.root, SIZE]
    cap, misses, bound = INFINITE - 1, -1, -1
    if roots == 0:
        return empty_found(len(walk.row), 0), bound
    if query.options[TIED] == 1:
        wanted = 0
        best = empty_found(len(walk.row), 1)
        task = Task(0, roots, -1, cap, 1, -1, 0)
        best, buffer, bound = rounds(graph, query, layers, tree, steps, walk, buffer, best, task, state, stop)
        if best.order[-1] == 0 or state[STATUS] != DONE:
            return best, bound
        cap, slack = best.rows[0, 0], query.options[SLACK]
        bound = cap
        if slack > 0:
            misses = cap & MISS_MASK
            cap = ((cap >> MISS_BITS) + slack) << MISS_BITS | MISS_MASK
    found = empty_found(len(walk.row), max(wanted, 1))
    task = Task(0, roots, -1, cap, wanted, misses, 0)
    if query.options[PROJECT] < 0:
        found, buffer, least = rounds(
            graph, query, layers, tree, steps, walk, buffer, found, task, state, stop
        )
        return found, max(bound, least)
    if bound < 0:
        bound = lowest(tree.total[layers.node[tree.root, START] :], roots) + steps.base
    found = projected(graph, query, layers, tree, steps, walk, buffer, found, task, state, stop)
    return found, bound


@entry
def search(
    out_starts: Array,
    out_stops: Array,
    out_relation: Array,
    out_neighbour: Array,
    into_starts: Array,
    into_stops: Array,
    into_relation: Array,
    into_neighbour: Array,
    nodes: Array,
    edges: Array,
    candidate: Array,
    relation: Array,
    masks: Array,
    options: Array,
    marks: Array,
    bits: Array,
    stop: Array,
    measured: Array,
    listed: Array,
    rows: Array,
    scale: Array,
    vector: Array,
    plain: Array,
) -> tuple[int, int, int, int, Array, Array]:
    """(status, bound, cut, work, rows of matches, their order and then their count).

    `marks` and `bits` are those of `Scratch`, `stop` uint8 [1] is that of `spend`,
    `measured` to `plain` as in `Far`; the order is of use only if the number of matches was limited. `cut` is
    how far the nearest part that was left out is above the cap (INFINITE: nothing was), `work` what was spent
    of the expansions.
    """
    graph = Graph(
        out_starts,
        out_stops,
        out_relation,
        out_neighbour,
        into_starts,
        into_stops,
        into_relation,
        into_neighbour,
    )
    far = Far(measured, listed, rows, scale, vector, plain)
    query = Query(nodes, edges, candidate, relation, masks, options, far)
    state = np.zeros(4, np.int64)
    state[CUT] = INFINITE
    state[ALLOWED] = options[EXPANSIONS]
    scratch = Scratch(marks, bits, np.zeros(SIEVE, np.uint8))
    layers, buffer, begin = grow(graph, query, scratch, state, stop)
    if state[STATUS] != DONE:
        found = empty_found(ONE, ZERO)
        return state[STATUS], -1, state[CUT], state[SPENT], found.rows, found.order
    root = options[PROJECT] if options[PROJECT] >= 0 else begin
    tree = send(graph, layers, root)
    steps = plan_steps(query, layers, tree)
    found, bound = matches(graph, query, layers, tree, steps, buffer, state, stop)
    return state[STATUS], bound, state[CUT], state[SPENT], found.rows, found.order

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
    CHEAPEST,
    CODE,
    COUNT,
    DISTINCT,
    DONE,
    EAGER,
    EDGE,
    END,
    ENTITY,
    EXPANSIONS,
    FILL,
    FROM,
    HEAD,
    INFINITE,
    LEAST,
    LINK,
    MASK,
    MISS_BITS,
    MISS_MASK,
    NEIGHBOUR,
    NODE,
    NODES,
    PLACE,
    POINTER,
    PRICE,
    PROJECT,
    RETRY,
    ROW,
    SIZE,
    SLACK,
    SPENT,
    START,
    STATUS,
    TAIL,
    TAKEN,
    TARGET,
    TIED,
    TRIPLE,
    UP,
    WIDTH,
    Found,
    Graph,
    Layers,
    Query,
    Steps,
    Task,
    Tree,
    Walk,
)
from clew.graph.kernels.edges import edges_at, edges_between, room, triple_of
from clew.graph.kernels.layers import grow, spend
from clew.graph.kernels.messages import plan_steps, send

HELPERS = ""
LAZY_LIMIT = 100_000
"""Choices looked at before it is worth growing layers for all nodes."""
MOST_LATE = 4096


@compiled
def empty_walk(nodes: int, edges: int) -> Walk:
    """Nothing assigned."""
    return Walk(
        np.zeros((nodes, 3), np.int64),
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
def note_late(walk: Walk, bound: int, capacity: int) -> None:
    """Remember a bound above the limit if it is among the `capacity` smallest (a binary max-heap)."""
    late, count = walk.late, walk.late[-1]
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
    walk.late[-1] = count + 1
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
def too_late(layers: Layers, tree: Tree, walk: Walk, found: Found, slot: int) -> bool:
    """Whether every completion at the bound's cost comes after the match in `slot` by entity ids."""
    nodes = len(walk.node)
    for w in range(nodes):
        if walk.node[w, ASSIGNED] != 0:
            value = walk.node[w, ENTITY]
        elif layers.node[w, START] >= 0:
            top = w
            while walk.node[tree.node[top, UP], ASSIGNED] == 0:
                top = tree.node[top, UP]
            place = tree.link[tree.node[top, LINK] + walk.node[tree.node[top, UP], PLACE], POINTER]
            value = tree.best[tree.node[top, ROW] + place * tree.node[top, WIDTH] + tree.column[top, w]]
        else:
            return False
        other = found.rows[slot, 1 + w]
        if value != other:
            return value > other
    return False


@compiled
def clashes(query: Query, walk: Walk, node: int, entity: int) -> bool:
    """Whether `entity` is taken by another node of an injective match."""
    if query.options[DISTINCT] != NODES:
        return False
    for v in range(len(walk.node)):
        if v != node and walk.node[v, ASSIGNED] != 0 and walk.node[v, ENTITY] == entity:
            return True
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
    layers: Layers,
    tree: Tree,
    steps: Steps,
    walk: Walk,
    buffer: Array,
    step: int,
    base: int,
) -> Array:
    """Set the range of choices of `step`; those that are read from the graph go into `buffer` from `base`."""
    node, edge, parent = steps.step[step, NODE], steps.step[step, EDGE], steps.step[step, FROM]
    if node >= 0 and layers.node[node, START] >= 0:
        link = tree.node[node, LINK] + walk.node[parent, PLACE]
        walk.step[step, AT], walk.step[step, END] = tree.link[link, BEGIN], tree.link[link + 1, BEGIN]
        walk.step[step, FILL] = base
        return buffer
    if node >= 0:
        at_head = query.edges[edge, HEAD] == parent
        buffer, count = edges_at(graph, query, edge, walk.node[parent, ENTITY], at_head, buffer, base)
    else:
        head, tail = query.edges[edge, HEAD], query.edges[edge, TAIL]
        buffer, count = edges_between(
            graph, query, edge, walk.node[head, ENTITY], walk.node[tail, ENTITY], buffer, base
        )
    walk.step[step, AT], walk.step[step, END], walk.step[step, FILL] = base, count, count
    return buffer


@compiled
def take(
    query: Query, layers: Layers, tree: Tree, steps: Steps, walk: Walk, buffer: Array, step: int
) -> int:
    """Assign the next choice of `step`; returns the lower bound with it, `INFINITE` if it is not allowed."""
    j = walk.step[step, AT]
    walk.step[step, AT] = j + 1
    node, edge = steps.step[step, NODE], steps.step[step, EDGE]
    bound = walk.step[step, BOUND]
    if node < 0:
        walk.edge[edge, TAKEN] = buffer[j, CODE]
        return bound - query.edges[edge, LEAST] + buffer[j, PRICE]
    walk.node[node, ASSIGNED] = 0
    if layers.node[node, START] < 0:
        entity = buffer[j, NEIGHBOUR]
        walk.edge[edge, TAKEN] = buffer[j, CODE]
        bound += buffer[j, PRICE] - query.edges[edge, LEAST]
        mask = query.nodes[node, MASK]
        if mask >= 0 and not query.masks[mask, entity]:
            return INFINITE
    else:
        place = j
        if edge >= 0:
            place = tree.edge[j, TARGET]
            walk.edge[edge, TAKEN] = tree.edge[j, CODE]
            bound += tree.edge[j, PRICE] - tree.link[tree.node[node, LINK] + walk.node[steps.step[step, FROM], PLACE], CHEAPEST]
        bound += tree.total[layers.node[node, START] + place]
        walk.node[node, PLACE] = place
        entity = layers.entry[layers.node[node, START] + place, ENTITY]
    if bound >= INFINITE or clashes(query, walk, node, entity):
        return INFINITE
    walk.node[node, ENTITY], walk.node[node, ASSIGNED] = entity, 1
    return bound


@compiled
def allowed(
    graph: Graph,
    query: Query,
    layers: Layers,
    tree: Tree,
    steps: Steps,
    walk: Walk,
    found: Found,
    task: Task,
    step: int,
    bound: int,
) -> bool:
    """Whether the choice just taken at `step` is worth following."""
    if bound >= INFINITE:
        return False
    if task.wanted > 0 and found.order[-1] == task.wanted:
        worst = found.order[task.wanted - 1]
        if bound > found.rows[worst, 0]:
            return False
        if bound == found.rows[worst, 0] and too_late(layers, tree, walk, found, worst):
            return False
    if bound > task.limit:
        note_late(walk, bound, task.ahead)
        return False
    if steps.track and steps.step[step, EDGE] >= 0:
        return not repeats(graph, query, walk, steps.step[step, EDGE])
    return True


@compiled
def leave(steps: Steps, walk: Walk, step: int) -> None:
    """Undo the choice of `step`."""
    if steps.step[step, NODE] >= 0:
        walk.node[steps.step[step, NODE], ASSIGNED] = 0
    if steps.step[step, EDGE] >= 0:
        walk.edge[steps.step[step, EDGE], TRIPLE] = -1


@compiled
def lowest(values: Array, count: int) -> int:
    """The smallest of the first `count` values."""
    least = values[0]
    for i in range(1, count):
        least = min(least, values[i])
    return least


@compiled
def one_round(
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
    """Add the matches of one task to `found`."""
    last = len(steps.step) - 1
    lazy = False
    for v in range(len(layers.node)):
        lazy = lazy or (layers.node[v, START] < 0 and query.options[EAGER] == 0)
    begun = state[SPENT]
    step = np.int64(0)
    walk.step[0, AT], walk.step[0, END], walk.step[0, BOUND], walk.step[0, FILL] = task.low, task.high, steps.base, 0
    walk.late[-1] = 0
    while step >= 0:
        if walk.step[step, AT] >= walk.step[step, END]:
            leave(steps, walk, step)
            step -= 1
            continue
        if spend(state, stop, 1):
            break
        if lazy and state[SPENT] - begun > LAZY_LIMIT:
            state[STATUS] = RETRY
            break
        bound = take(query, layers, tree, steps, walk, buffer, step)
        if not allowed(graph, query, layers, tree, steps, walk, found, task, step, bound):
            continue
        if step < last:
            step += 1
            walk.step[step, BOUND] = bound
            buffer = choices(graph, query, layers, tree, steps, walk, buffer, step, walk.step[step - 1, FILL])
        elif bound > task.after and (task.misses < 0 or bound & MISS_MASK == task.misses):
            found = emit(graph, query, walk, found, task.wanted, bound)
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
        found, buffer = one_round(
            graph, query, layers, tree, steps, walk, buffer, found, one, state, stop
        )
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
    start = layers.node[tree.root, START]
    for i in range(task.low, task.high):
        bound, cap = tree.total[start + i] + steps.base, task.limit
        if task.wanted > 0 and found.order[-1] == task.wanted:
            worst = found.order[task.wanted - 1]
            cap = min(cap, found.rows[worst, 0])
            walk.node[tree.root, PLACE], walk.node[tree.root, ENTITY] = i, layers.entry[start + i, ENTITY]
            walk.node[tree.root, ASSIGNED] = 1
            late = bound == cap and too_late(layers, tree, walk, found, worst)
            walk.node[tree.root, ASSIGNED] = 0
            if late:
                continue
        if bound > cap:
            continue
        own.order[-1] = 0
        one = Task(i, i + 1, -1, cap, 1, task.misses, 0)
        own, buffer, _ = rounds(
            graph, query, layers, tree, steps, walk, buffer, own, one, state, stop
        )
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
    """(matches that the options ask for, cost below which none is missing)."""
    walk = empty_walk(len(query.nodes), len(query.edges))
    wanted, roots = query.options[COUNT], layers.node[tree.root, SIZE]
    cap, misses, bound = INFINITE - 1, -1, -1
    if roots == 0:
        return empty_found(len(walk.row), 0), bound
    if query.options[TIED] == 1:
        wanted = 0
        best = empty_found(len(walk.row), 1)
        task = Task(0, roots, -1, cap, 1, -1, 0)
        best, buffer, bound = rounds(
            graph, query, layers, tree, steps, walk, buffer, best, task, state, stop
        )
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
    found = projected(
        graph, query, layers, tree, steps, walk, buffer, found, task, state, stop
    )
    return found, bound


@entry
def search(
    out_offsets: Array,
    out_relation: Array,
    out_neighbour: Array,
    into_offsets: Array,
    into_relation: Array,
    into_neighbour: Array,
    nodes: Array,
    edges: Array,
    candidate: Array,
    relation: Array,
    masks: Array,
    options: Array,
    marks: Array,
    stop: Array,
) -> tuple[int, int, Array, Array]:
    """(status, bound, rows of matches, their order and then their count) for a `Query` on a `Graph`.

    `marks` int64 [N + 1] and `stop` uint8 [1] are as in `grow` and `spend`; the order is of use only if
    the number of matches was limited.
    """
    graph = Graph(out_offsets, out_relation, out_neighbour, into_offsets, into_relation, into_neighbour)
    query = Query(nodes, edges, candidate, relation, masks, options)
    state = np.zeros(3, np.int64)
    state[ALLOWED] = options[EXPANSIONS]
    layers, buffer, begin = grow(graph, query, marks, state, stop)
    if state[STATUS] != DONE:
        found = empty_found(np.int64(1), np.int64(0))
        return state[STATUS], -1, found.rows, found.order
    root = options[PROJECT] if options[PROJECT] >= 0 else begin
    tree = send(layers, root)
    steps = plan_steps(query, layers, tree)
    found, bound = matches(graph, query, layers, tree, steps, buffer, state, stop)
    return state[STATUS], bound, found.rows, found.order

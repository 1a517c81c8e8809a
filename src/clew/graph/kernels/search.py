"""Enumeration of matches in rounds of rising cost, and the entry point of the kernels.

A round walks depth-first through all partial assignments whose lower bound is within a limit. For layers the
bound is exact up to injectivity, so that nearly every descent ends in a match. When k matches are known, what
cannot come before the last of them in (cost, entity ids) is cut off.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clew.graph.kernels import Array, compiled, entry
from clew.graph.kernels.edges import (
    COUNT,
    DISTINCT,
    EAGER,
    EXPANSIONS,
    HEAD,
    INFINITE,
    LEAST,
    MASK,
    MISS_BITS,
    MISS_MASK,
    NODES,
    PROJECT,
    SLACK,
    TAIL,
    TIED,
    Buffer,
    Graph,
    Query,
    edges_at,
    edges_between,
    room,
    triple_of,
)
from clew.graph.kernels.layers import ALLOWED, DONE, RETRY, SPENT, STATUS, Layers, grow, spend
from clew.graph.kernels.messages import Steps, Tree, plan_steps, send

HELPERS = ""
LAZY_LIMIT = 100_000


class Found(NamedTuple):
    """Matches: `count` int64 [1], `cost` int64, `node` int32 (n each), `triple` int64 (m each).

    `order` int64 lists them by (cost, nodes, triples) as long as their number is bounded.
    """

    count: Array
    cost: Array
    node: Array
    triple: Array
    order: Array


class Walk(NamedTuple):
    """The state of one walk: per pattern node `entity`, `place` (in its layer) and `assigned`; per pattern edge
    `code` and `triple`; per step the range `at .. stop` of choices, the `bound` before it and the `fill` of the buffer. `late` is a heap of
    the smallest bounds above the limit, `late_count` its size.
    """

    entity: Array
    place: Array
    assigned: Array
    code: Array
    triple: Array
    at: Array
    stop: Array
    bound: Array
    fill: Array
    late: Array
    late_count: Array


@compiled
def empty_walk(nodes: int, edges: int) -> Walk:
    """Nothing assigned."""
    steps = nodes + edges + 1
    return Walk(
        np.zeros(nodes, np.int32),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.uint8),
        np.zeros(edges, np.int64),
        np.full(edges, -1, np.int64),
        np.zeros(steps, np.int64),
        np.zeros(steps, np.int64),
        np.zeros(steps, np.int64),
        np.zeros(steps, np.int64),
        np.zeros(4096, np.int64),
        np.zeros(1, np.int64),
    )


@compiled
def empty_found(nodes: int, edges: int, capacity: int) -> Found:
    """No matches, with room for `capacity`."""
    return Found(
        np.zeros(1, np.int64),
        np.empty(capacity, np.int64),
        np.empty(capacity * nodes, np.int32),
        np.empty(capacity * edges, np.int64),
        np.empty(capacity, np.int64),
    )


@compiled
def note_late(walk: Walk, bound: int, capacity: int) -> None:
    """Remember a bound above the limit if it is among the `capacity` smallest (a binary max-heap)."""
    late, count = walk.late, walk.late_count[0]
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
    walk.late_count[0] = count + 1
    at = count
    while at > 0 and late[(at - 1) >> 1] < bound:
        late[at] = late[(at - 1) >> 1]
        at = (at - 1) >> 1
    late[at] = bound


@compiled
def comes_before(found: Found, slot: int, cost: int, entity: Array, triple: Array) -> bool:
    """Whether a match comes before the one in `slot`."""
    if cost != found.cost[slot]:
        return cost < found.cost[slot]
    for v in range(len(entity)):
        other = found.node[slot * len(entity) + v]
        if entity[v] != other:
            return entity[v] < other
    for e in range(len(triple)):
        other = found.triple[slot * len(triple) + e]
        if triple[e] != other:
            return triple[e] < other
    return False


@compiled
def keep(found: Found, wanted: int, cost: int, entity: Array, triple: Array) -> Found:
    """Add a match: all of them if `wanted` is 0, else the first `wanted`."""
    count = found.count[0]
    slot = count
    if wanted > 0 and count == wanted:
        slot = found.order[count - 1]
        if not comes_before(found, slot, cost, entity, triple):
            return found
        count -= 1
    elif slot == len(found.cost):
        found = Found(
            found.count,
            room(found.cost, slot + 1),
            room(found.node, 2 * len(found.node)),
            room(found.triple, 2 * len(found.triple)),
            room(found.order, slot + 1),
        )
    if wanted > 0:
        at = count
        while at > 0 and comes_before(found, found.order[at - 1], cost, entity, triple):
            found.order[at] = found.order[at - 1]
            at -= 1
        found.order[at] = slot
    found.cost[slot] = cost
    for v in range(len(entity)):
        found.node[slot * len(entity) + v] = entity[v]
    for e in range(len(triple)):
        found.triple[slot * len(triple) + e] = triple[e]
    found.count[0] = count + 1
    return found


@compiled
def too_late(layers: Layers, tree: Tree, walk: Walk, found: Found, slot: int) -> bool:
    """Whether every completion at the bound's cost comes after the match in `slot` by entity ids."""
    nodes = len(walk.entity)
    for w in range(nodes):
        if walk.assigned[w] != 0:
            value = walk.entity[w]
        elif layers.start[w] >= 0:
            top = w
            while walk.assigned[tree.parent[top]] == 0:
                top = tree.parent[top]
            place = tree.pointer[tree.link[top] + walk.place[tree.parent[top]]]
            value = tree.best[tree.row[top] + place * tree.width[top] + tree.column[top, w]]
        else:
            return False
        other = found.node[slot * nodes + w]
        if value != other:
            return value > other
    return False


@compiled
def clashes(query: Query, walk: Walk, node: int, entity: int) -> bool:
    """Whether `entity` is taken by another node of an injective match."""
    if query.options[DISTINCT] != NODES:
        return False
    for v in range(len(walk.entity)):
        if v != node and walk.assigned[v] != 0 and walk.entity[v] == entity:
            return True
    return False


@compiled
def repeats(graph: Graph, query: Query, walk: Walk, edge: int) -> bool:
    """Whether the triple of `edge`, whose ends are assigned, is in use; writes its id."""
    one, other = walk.entity[query.edges[edge, HEAD]], walk.entity[query.edges[edge, TAIL]]
    triple = triple_of(graph, walk.code[edge], one, other)
    walk.triple[edge] = -1
    for e in range(len(walk.triple)):
        if walk.triple[e] == triple:
            return True
    walk.triple[edge] = triple
    return False


@compiled
def emit(graph: Graph, query: Query, walk: Walk, found: Found, wanted: int, cost: int) -> Found:
    """Write the match that is assigned, with its triple ids."""
    triple = np.empty(len(query.edges), np.int64)
    for e in range(len(query.edges)):
        one, other = walk.entity[query.edges[e, HEAD]], walk.entity[query.edges[e, TAIL]]
        triple[e] = triple_of(graph, walk.code[e], one, other)
    return keep(found, wanted, cost, walk.entity, triple)


@compiled
def choices(
    graph: Graph,
    query: Query,
    layers: Layers,
    tree: Tree,
    steps: Steps,
    walk: Walk,
    buffer: Buffer,
    step: int,
    base: int,
) -> Buffer:
    """Set the range of choices of `step`; those that are read from the graph go into `buffer` from `base`."""
    node, edge, parent = steps.node[step], steps.edge[step], steps.parent[step]
    if node >= 0 and layers.start[node] >= 0:
        link = tree.link[node] + walk.place[parent]
        walk.at[step], walk.stop[step] = tree.first[link], tree.first[link + 1]
        walk.fill[step] = base
        return buffer
    if node >= 0:
        at_head = query.edges[edge, HEAD] == parent
        buffer, count = edges_at(graph, query, edge, walk.entity[parent], at_head, buffer, base)
    else:
        head, tail = query.edges[edge, HEAD], query.edges[edge, TAIL]
        buffer, count = edges_between(
            graph, query, edge, walk.entity[head], walk.entity[tail], buffer, base
        )
    walk.at[step], walk.stop[step], walk.fill[step] = base, count, count
    return buffer


@compiled
def take(
    query: Query, layers: Layers, tree: Tree, steps: Steps, walk: Walk, buffer: Buffer, step: int
) -> int:
    """Assign the next choice of `step`; returns the lower bound with it, `INFINITE` if it is not allowed."""
    j = walk.at[step]
    walk.at[step] = j + 1
    node, edge = steps.node[step], steps.edge[step]
    bound = walk.bound[step]
    if node < 0:
        walk.code[edge] = buffer.code[j]
        return bound - query.edges[edge, LEAST] + buffer.cost[j]
    walk.assigned[node] = 0
    if layers.start[node] < 0:
        entity = buffer.neighbour[j]
        walk.code[edge] = buffer.code[j]
        bound += buffer.cost[j] - query.edges[edge, LEAST]
        mask = query.nodes[node, MASK]
        if mask >= 0 and not query.masks[mask, entity]:
            return INFINITE
    else:
        place = j
        if edge >= 0:
            place = tree.target[j]
            walk.code[edge] = tree.code[j]
            bound += tree.cost[j] - tree.least[tree.link[node] + walk.place[steps.parent[step]]]
        bound += tree.total[layers.start[node] + place]
        walk.place[node] = place
        entity = layers.entity[layers.start[node] + place]
    if bound >= INFINITE or clashes(query, walk, node, entity):
        return INFINITE
    walk.entity[node], walk.assigned[node] = entity, 1
    return bound


class Task(NamedTuple):
    """One round: roots `low .. high`, costs in (`after`, `limit`], at most `wanted` matches (0: all), only those
    of `misses` direction misses unless it is -1, and how many bounds above the limit to remember.
    """

    low: int
    high: int
    after: int
    limit: int
    wanted: int
    misses: int
    ahead: int


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
    if task.wanted > 0 and found.count[0] == task.wanted:
        worst = found.order[task.wanted - 1]
        if bound > found.cost[worst]:
            return False
        if bound == found.cost[worst] and too_late(layers, tree, walk, found, worst):
            return False
    if bound > task.limit:
        note_late(walk, bound, task.ahead)
        return False
    if steps.track and steps.edge[step] >= 0:
        return not repeats(graph, query, walk, steps.edge[step])
    return True


@compiled
def leave(steps: Steps, walk: Walk, step: int) -> None:
    """Undo the choice of `step`."""
    if steps.node[step] >= 0:
        walk.assigned[steps.node[step]] = 0
    if steps.edge[step] >= 0:
        walk.triple[steps.edge[step]] = -1


@compiled
def one_round(
    graph: Graph,
    query: Query,
    layers: Layers,
    tree: Tree,
    steps: Steps,
    walk: Walk,
    buffer: Buffer,
    found: Found,
    task: Task,
    state: Array,
    stop: Array,
) -> tuple[Found, Buffer]:
    """Add the matches of one task to `found`."""
    last = len(steps.node) - 1
    lazy = query.options[EAGER] == 0 and layers.start.min() < 0
    begun = state[SPENT]
    step = 0
    walk.at[0], walk.stop[0], walk.bound[0], walk.fill[0] = task.low, task.high, steps.base, 0
    walk.late_count[0] = 0
    while step >= 0:
        if walk.at[step] >= walk.stop[step]:
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
            walk.bound[step] = bound
            buffer = choices(graph, query, layers, tree, steps, walk, buffer, step, walk.fill[step - 1])
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
    buffer: Buffer,
    found: Found,
    task: Task,
    state: Array,
    stop: Array,
) -> tuple[Found, Buffer, int]:
    """Run `task` with rising limits up to its own; also returns the cost below which nothing is missing.

    The limit rises to a bound that at least four times as many partial assignments reach as before, so
    that all rounds together cost little more than the last.
    """
    cap = task.limit
    least = INFINITE
    for i in range(task.low, task.high):
        least = min(least, tree.total[layers.start[tree.root] + i] + steps.base)
    limit, after, ahead = least if task.wanted > 0 else cap, task.after, 4
    while least <= cap and least < INFINITE:
        one = Task(task.low, task.high, after, limit, task.wanted, task.misses, ahead)
        found, buffer = one_round(
            graph, query, layers, tree, steps, walk, buffer, found, one, state, stop
        )
        if state[STATUS] != DONE or (task.wanted > 0 and found.count[0] == task.wanted):
            break
        if task.wanted == 0 or walk.late_count[0] == 0:
            break
        after = limit
        least = walk.late[: walk.late_count[0]].min()
        limit = min(walk.late[0], cap)
        ahead = min(4 * ahead, len(walk.late))
    return found, buffer, least


@compiled
def projected(
    graph: Graph,
    query: Query,
    layers: Layers,
    tree: Tree,
    steps: Steps,
    walk: Walk,
    buffer: Buffer,
    found: Found,
    task: Task,
    state: Array,
    stop: Array,
) -> Found:
    """Run `task` for every root on its own, keeping the first match of each."""
    own = empty_found(len(query.nodes), len(query.edges), 1)
    start = layers.start[tree.root]
    for i in range(task.low, task.high):
        bound, cap = tree.total[start + i] + steps.base, task.limit
        if task.wanted > 0 and found.count[0] == task.wanted:
            worst = found.order[task.wanted - 1]
            cap = min(cap, found.cost[worst])
            walk.place[tree.root], walk.entity[tree.root] = i, layers.entity[start + i]
            walk.assigned[tree.root] = 1
            late = bound == cap and too_late(layers, tree, walk, found, worst)
            walk.assigned[tree.root] = 0
            if late:
                continue
        if bound > cap:
            continue
        own.count[0] = 0
        one = Task(i, i + 1, -1, cap, 1, task.misses, 0)
        own, buffer, _ = rounds(
            graph, query, layers, tree, steps, walk, buffer, own, one, state, stop
        )
        if own.count[0] > 0:
            found = keep(found, task.wanted, own.cost[0], own.node, own.triple)
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
    buffer: Buffer,
    state: Array,
    stop: Array,
) -> tuple[Found, int]:
    """(matches that the options ask for, cost below which none is missing)."""
    nodes, edges = len(query.nodes), len(query.edges)
    walk = empty_walk(nodes, edges)
    wanted, roots = query.options[COUNT], layers.size[tree.root]
    cap, misses, bound = INFINITE - 1, -1, -1
    if roots == 0:
        return empty_found(nodes, edges, 0), bound
    if query.options[TIED] == 1:
        wanted = 0
        best = empty_found(nodes, edges, 1)
        task = Task(0, roots, -1, cap, 1, -1, 0)
        best, buffer, bound = rounds(
            graph, query, layers, tree, steps, walk, buffer, best, task, state, stop
        )
        if best.count[0] == 0 or state[STATUS] != DONE:
            return best, bound
        cap, slack = best.cost[0], query.options[SLACK]
        bound = cap
        if slack > 0:
            misses = cap & MISS_MASK
            cap = ((cap >> MISS_BITS) + slack) << MISS_BITS | MISS_MASK
    found = empty_found(nodes, edges, max(wanted, 1))
    task = Task(0, roots, -1, cap, wanted, misses, 0)
    if query.options[PROJECT] < 0:
        found, buffer, least = rounds(
            graph, query, layers, tree, steps, walk, buffer, found, task, state, stop
        )
        return found, max(bound, least)
    if bound < 0:
        bound = tree.total[layers.start[tree.root] : layers.start[tree.root] + roots].min() + steps.base
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
    candidate_cost: Array,
    relation: Array,
    relation_cost: Array,
    masks: Array,
    options: Array,
    marks: Array,
    stop: Array,
) -> tuple[int, int, int, Array, Array, Array, Array]:
    """(status, bound, number of matches, costs, nodes, triples, order) for a `Query` on a `Graph`.

    `marks` int64 [N + 1] and `stop` uint8 [1] are as in `grow` and `spend`; the order is of use only if
    the number of matches was limited.
    """
    graph = Graph(out_offsets, out_relation, out_neighbour, into_offsets, into_relation, into_neighbour)
    query = Query(nodes, edges, candidate, candidate_cost, relation, relation_cost, masks, options)
    state = np.zeros(3, np.int64)
    state[ALLOWED] = options[EXPANSIONS]
    layers, buffer, begin = grow(graph, query, marks, state, stop)
    if state[STATUS] != DONE:
        found = empty_found(0, 0, 0)
        return state[STATUS], -1, 0, found.cost, found.node, found.triple, found.order
    root = options[PROJECT] if options[PROJECT] >= 0 else begin
    tree = send(layers, root)
    steps = plan_steps(query, layers, tree)
    found, bound = matches(graph, query, layers, tree, steps, buffer, state, stop)
    return state[STATUS], bound, found.count[0], found.cost, found.node, found.triple, found.order

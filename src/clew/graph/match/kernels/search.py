"""The entry point of the kernels of a search."""

from __future__ import annotations

import numpy as np

from clew.graph.kernels import Array, entry
from clew.graph.match.kernels.columns import (
    ALLOWED,
    CUT,
    DONE,
    EXPANSIONS,
    INFINITE,
    ONE,
    PROJECT,
    SIEVE,
    SPENT,
    STATUS,
    ZERO,
    Far,
    GraphColumns,
    LayerScratch,
    QueryColumns,
)
from clew.graph.match.kernels.enumeration import matches
from clew.graph.match.kernels.found import empty_found
from clew.graph.match.kernels.growth import grow
from clew.graph.match.kernels.messages import plan_steps, send


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

    `marks` and `bits` are those of `LayerScratch`, `stop` uint8 [1] is that of `spend`,
    `measured` to `plain` as in `Far`; the order is of use only if the number of matches was limited. `cut` is
    how far the nearest part that was left out is above the cap (INFINITE: nothing was), `work` what was spent
    of the expansions.
    """
    graph = GraphColumns(
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
    query = QueryColumns(nodes, edges, candidate, relation, masks, options, far)
    state = np.zeros(4, np.int64)
    state[CUT] = INFINITE
    state[ALLOWED] = options[EXPANSIONS]
    scratch = LayerScratch(marks, bits, np.zeros(SIEVE, np.uint8))
    layers, buffer, begin = grow(graph, query, scratch, state, stop)
    if state[STATUS] != DONE:
        found = empty_found(ONE, ZERO)
        return state[STATUS], -1, state[CUT], state[SPENT], found.rows, found.order
    root = options[PROJECT] if options[PROJECT] >= 0 else begin
    tree = send(graph, layers, root)
    steps = plan_steps(query, layers, tree)
    found, bound = matches(graph, query, layers, tree, steps, buffer, state, stop)
    return state[STATUS], bound, state[CUT], state[SPENT], found.rows, found.order

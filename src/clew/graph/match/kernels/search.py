"""The entry point of the kernels of a search."""

from __future__ import annotations

import numpy as np

from clew.graph.kernels import Array, entry
from clew.graph.match.kernels import columns as c
from clew.graph.match.kernels.columns import EnumerationPlan, GraphColumns, LayerScratch, QueryColumns, Search
from clew.graph.match.kernels.enumeration import empty_walk, find_matches
from clew.graph.match.kernels.growth import grow
from clew.graph.match.kernels.match_rows import empty_matches
from clew.graph.match.kernels.messages import plan_steps, send


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

"""A graph as the kernels take it: one value of eight arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from clew.graph.kernels import Array

if TYPE_CHECKING:
    from clew.graph.graph import Graph


class GraphColumns(NamedTuple):
    """Both adjacencies: starts and stops int64 [N], relation and neighbour int32 [slots]."""

    out_starts: Array
    out_stops: Array
    out_relation: Array
    out_neighbour: Array
    into_starts: Array
    into_stops: Array
    into_relation: Array
    into_neighbour: Array


def graph_columns(graph: Graph, *, directed: bool = False) -> GraphColumns:
    """The arrays of a graph; `directed`, no node has an edge that comes in."""
    out, into = graph.out, graph.into
    stops = into.starts if directed else into.stops
    sides = (
        *(out.starts, out.stops, out.relation, out.neighbour),
        *(into.starts, stops, into.relation, into.neighbour),
    )
    # Memory-mapped arrays are a type of their own, which takes long to tell within a tuple.
    return GraphColumns(*map(np.asarray, sides))

"""Countries, which are known by their names where a graph does not say what they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from clew.foundation.arrays import Int64
from clew.graph.graph import Graph
from clew.graph.schema import MOSTLY_VALUES, Schema
from clew.index.store.directory import Index
from clew.query.vocabulary import words_of_label
from clew.reading.demonyms import country_names


def named_countries(index: Index, schema: Schema) -> dict[str, list[int]]:
    """Nodes whose names tell that they are countries, where a relation leads to such, but none says so.

    With those that stand in their place at the same relations.
    """
    graph = index.graph
    if any("country" in words_of_label(label).split() for label in graph.relation_labels):
        return {}
    hits = (index.names.exact(name) for name in sorted(country_names()))
    countries = sorted({h.entity for name_hits in hits for h in name_hits if h.exact and h.kind != "alias"})
    sides = [(2 * r + side, n) for n in countries for side, r in _relations_at(graph, n)]
    counts = Counter(end for end, _ in sides)
    ends = [end for end, n in counts.items() if n >= MOSTLY_VALUES * schema.nodes[end]]
    if not ends:
        return {}
    # What stands where mostly countries do is one too, though no list of names has it.
    alike = [_nodes_at(graph, end) for end in ends]
    return {"country": np.unique(np.concatenate([np.array(countries, np.int64), *alike])).tolist()}


def _nodes_at(graph: Graph, end: int) -> Int64:
    side = graph.into if end % 2 else graph.out
    return np.unique(side.owners(np.flatnonzero(side.relation == end // 2)))


def _relations_at(graph: Graph, node: int) -> Iterator[tuple[int, int]]:
    """(side, relation) of all edges of a node, each once; side 0 where it is a head."""
    for side, adjacency in enumerate((graph.out, graph.into)):
        start, stop = adjacency.span(node)
        yield from ((side, int(r)) for r in np.unique(adjacency.relation[start:stop]))

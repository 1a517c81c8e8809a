"""Countries, which are known by their names where a graph does not say what they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from clew.graph.graph import Graph
from clew.graph.schema import MOSTLY, Schema
from clew.index.store.directory import Index
from clew.reading.rules.demonyms import country_names
from clew.reading.rules.vocabulary import label_words


def named_countries(index: Index, schema: Schema) -> dict[str, list[int]]:
    """Nodes whose names tell that they are countries, where a relation leads to such, but none says so."""
    graph = index.graph
    if any("country" in label_words(label) for label in graph.relation_labels):
        return {}
    hits = (index.names.exact(name) for name in sorted(country_names()))
    found = sorted({h.entity for of in hits for h in of if h.exact and h.kind != "alias"})
    sides = [(2 * r + side, n) for n in found for side, r in _relations_at(graph, n)]
    counts = Counter(end for end, _ in sides)
    return {"country": found} if any(n >= MOSTLY * schema.nodes[end] for end, n in counts.items()) else {}


def _relations_at(graph: Graph, node: int) -> Iterator[tuple[int, int]]:
    """(side, relation) of all edges of a node, each once; side 0 where it is a head."""
    for side, adjacency in enumerate((graph.out, graph.into)):
        start, stop = adjacency.span(node)
        yield from ((side, int(r)) for r in np.unique(adjacency.relation[start:stop]))

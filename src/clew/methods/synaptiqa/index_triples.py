"""The triples of an index behind what its embedded store returns."""

from __future__ import annotations

from dataclasses import dataclass

from clew.graph.graph import Graph, ValueKind
from clew.grounding import triple_text
from clew.methods.synaptiqa.read_rows import Proved
from clew.stores.cypher.ladybug_values import BOOLEANS
from clew.stores.store import StoredEdge, StoredNode


@dataclass(frozen=True)
class IndexTriples:
    """Nodes and edges of the embedded store carry the ids of the graph."""

    graph: Graph

    def name(self, node: StoredNode) -> str:
        """Return the entity."""
        return self.graph.entities[int(node.id)]

    def label(self, node: StoredNode) -> str:
        """Return the label of the entity."""
        return self.graph.labels[int(node.id)]

    def of_edge(self, edge: StoredEdge, head: StoredNode, tail: StoredNode) -> Proved:
        """Return the triple of an edge."""
        return self._proved(int(edge.id))

    def of_property(self, node: StoredNode, key: str) -> tuple[Proved, ...]:
        """Return the triples from a node to literals by the relation that the property stands for."""
        graph, head = self.graph, int(node.id)
        start, stop = graph.out.span(head)
        return tuple(
            self._proved(triple)
            for triple in range(start, stop)
            if self._is_value(int(graph.out.neighbour[triple]))
            and graph.labels[int(graph.out.neighbour[triple])] != graph.labels[head]
            and graph.relations[int(graph.out.relation[triple])] in (key, key.removesuffix("_"))
        )

    def _is_value(self, node: int) -> bool:
        """Whether a node is a literal, or a number, date or boolean where the source does not tell."""
        values = self.graph.values
        typed = bool(values.datatype[node] >= 0 or values.kind[node] != ValueKind.NONE)
        return typed or self.graph.labels[node].lower() in BOOLEANS

    def _proved(self, triple: int) -> Proved:
        return Proved(triple_text(self.graph, triple), triple)

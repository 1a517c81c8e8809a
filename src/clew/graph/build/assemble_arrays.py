"""A graph of one array directory: names stay bytes, and ids stay as they are given."""

from __future__ import annotations

import numpy as np

from clew.graph.build.assemble import Assembler, adjacencies
from clew.graph.build.name_ids import NameIds
from clew.graph.graph import Graph
from clew.graph.readers.batch import Batch, IdTriples
from clew.graph.values import node_values


class ArrayAssembler(Assembler):
    """An `Assembler` of the one batch that an array directory gives."""

    def __init__(self) -> None:
        super().__init__()
        self._given: IdTriples | None = None
        self._ids: NameIds | None = None

    def add(self, batch: Batch, source: int) -> None:
        """Take the ids of `batch`."""
        if batch.ids is None or self._given is not None or source != 0:
            raise ValueError("one batch of ids is expected")
        self._given = batch.ids
        self.triples = len(batch.ids.head)

    def _node(self, entity: str) -> int | None:
        if self._given is None:
            return None
        if self._ids is None:
            self._ids = NameIds.of(self._given.entities)
        node = self._ids.find(entity)
        return None if node < 0 else node

    def graph(self) -> tuple[Graph, int]:
        """Return the graph and the number of duplicate triples that were merged."""
        given = self._given
        if given is None:
            return super().graph()
        nodes, relations = len(given.entities), len(given.relations)
        no_source = np.zeros(1, np.uint16)
        out, into, source = adjacencies(given.head, given.relation, given.tail, no_source, nodes, relations)
        graph = Graph(
            entities=given.entities,
            labels=given.entities,
            relations=given.relations,
            relation_labels=given.relations,
            out=out,
            into=into,
            values=node_values(given.entities, given.entities, np.full(nodes, -1, np.int16), []),
            types=self._type_table(nodes),
            aliases=self._alias_table(),
            source=source,
        )
        return graph, self.triples - graph.triples

"""Relations of which it matters who stands where: those that join things of one sort, and are not mutual.

*Ann reports to Bob* is not *Bob reports to Ann*. But *France borders Spain* is the same as *Spain borders
France*, and of *Memento* and *Nolan* only one can have directed the other, whatever the order of the words.
"""

from __future__ import annotations

import numpy as np

from clew.graph.graph import Graph
from clew.graph.schema import Schema
from clew.reading.rules.vocabulary import Vocabulary

ALIKE = 0.5
"""Both ends are of one sort where so many of each have a further end, or a type, in common."""
MIRRORED = 0.05
"""A relation is mutual where so many of its triples are there in both directions."""
LOOKED_AT = 400
"""Triples of a relation that are looked at for that."""
MUTUAL = frozenset(
    "with between married marriage marry spouse wife husband partner sibling sister brother twin cousin"
    " friend neighbor neighbour border adjacent adjoin rival opponent colleague peer ally equal equivalent"
    " similar related connected linked same together meet".split()
)
"""Words of relations that hold both ways, as stems or whole."""


class OneWay:
    """Which relations of a graph are one-way; found out when first asked."""

    def __init__(self, graph: Graph, schema: Schema, vocabulary: Vocabulary) -> None:
        self._graph, self._schema, self._vocabulary = graph, schema, vocabulary
        self._known: dict[int, bool] = {}

    def __contains__(self, relation: int) -> bool:
        if relation not in self._known:
            self._known[relation] = self._of_one_sort(relation) and not self.is_mutual(relation)
        return self._known[relation]

    def _of_one_sort(self, relation: int) -> bool:
        """Whether the same things, or things with the same ends or types, are heads and tails."""
        schema, head, tail = self._schema, 2 * relation, 2 * relation + 1
        if schema.cooccur[head, tail]:
            return True
        nodes = np.maximum(schema.nodes, 1)
        alike = np.minimum(schema.cooccur[head] / nodes[head], schema.cooccur[tail] / nodes[tail])
        alike[[head, tail]] = 0.0
        types = np.minimum(schema.typed[head] / nodes[head], schema.typed[tail] / nodes[tail])
        return max(alike.max(initial=0.0), types.max(initial=0.0)) >= ALIKE

    def is_mutual(self, relation: int) -> bool:
        """Whether a relation holds both ways, by its name or by the graph's triples."""
        if self._schema.inverse[relation] == relation:
            return True
        if any(_mutual(word) for word in self._vocabulary.labels[relation]):
            return True
        triples: list[tuple[int, int, int]] = []
        for _, slots in self._graph.out.pieces_of(relation):
            triples += [self._graph.triple(slot) for slot in slots[: LOOKED_AT - len(triples)].tolist()]
            if len(triples) >= LOOKED_AT:
                break
        mirrored = sum(self._graph.find_triple(tail, relation, head) >= 0 for head, _, tail in triples)
        return mirrored > MIRRORED * len(triples)


def _mutual(word: str) -> bool:
    return word in MUTUAL or word.removesuffix("s") in MUTUAL

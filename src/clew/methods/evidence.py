"""What a model was given to read, and which of its triples prove an entity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from clew.foundation.arrays import Int64
from clew.graph.graph import Graph
from clew.methods.asked import Judge, asked_of
from clew.methods.evidence_names import EvidenceNames, IsName, evidence_nodes

Proofs = Mapping[int, tuple[int, ...]]
"""Entity → the path of triples that proves it, from an entity of the question."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A line of a prompt: its triples; where it lists entities, these, with the path that proves each.

    `cut`: it does not list all that the graph has, which are `total`, 0 where that is not known.
    """

    triples: tuple[int, ...] = ()
    ends: Proofs = field(default_factory=dict[int, tuple[int, ...]])
    cut: bool = False
    total: int = 0

    @property
    def all_triples(self) -> tuple[int, ...]:
        """Its triples, and those of the paths to what it lists."""
        paths = (self.triples, *self.ends.values())
        return tuple(dict.fromkeys(triple for path in paths for triple in path))


@dataclass(frozen=True, eq=False)
class ReadEvidence:
    """What a model was given to read.

    `facts[i]` is the line with the number i + 1; `known_proofs` is where proofs begin: the answers before
    with their proofs, and the question's entities, with nothing to prove. `named_entities` are those that the
    question names; `is_name` is as in `EvidenceNames`. `question` is what is asked, `judge` says what answers
    it.
    """

    graph: Graph
    facts: tuple[Fact, ...]
    known_proofs: Proofs = field(default_factory=dict[int, tuple[int, ...]])
    named_entities: frozenset[int] = frozenset()
    is_name: IsName | None = None
    question: str = ""
    judge: Judge | None = None

    def misfit(self, entity: int) -> str:
        """Why an entity is not what is asked for; empty where it may be."""
        return self.judge.misfit(asked_of(self.question), entity) if self.judge is not None else ""

    def decides(self, value: str, named: frozenset[int]) -> tuple[int, ...] | str:
        """The triples by which a query graph of the question comes to a value; else as `Judge.decides`."""
        return "" if self.judge is None else self.judge.decides(self.question, value, named)

    @cached_property
    def triples(self) -> tuple[int, ...]:
        """All triples, as they come first."""
        return tuple(dict.fromkeys(triple for fact in self.facts for triple in fact.triples))

    @cached_property
    def names(self) -> EvidenceNames:
        """The names that an answer may have."""
        nodes = dict.fromkeys(evidence_nodes(self.graph, self.triples))
        nodes |= dict.fromkeys(entity for fact in self.facts for entity in fact.ends)
        return EvidenceNames(self.graph, tuple(nodes), self.is_name)

    def nodes_of(self, facts: Sequence[Fact]) -> set[int]:
        """The entities of some of the facts."""
        return {node for fact in facts for node in (*evidence_nodes(self.graph, fact.triples), *fact.ends)}

    def lines(self, numbers: Iterable[int]) -> tuple[Fact, ...]:
        """Some of the facts; numbers of no line are left out."""
        return tuple(self.facts[n - 1] for n in numbers if 1 <= n <= len(self.facts))


def prove_stated(
    evidence: ReadEvidence, entities: Sequence[int], cited: Sequence[Fact]
) -> dict[int, tuple[int, ...]]:
    """Prove entities by the facts that a reply names, else by all that were given.

    A line that lists an entity has its path. Other paths begin at what is known. Where several of them
    through the named facts lead to an answer, as in a conjunction, all are its proof; else the shortest is,
    and one from an answer of the chain before one from the question. Without anything known, it is the first
    fact that holds the entity. One that nothing proves is left out.
    """
    proofs: dict[int, tuple[int, ...]] = {}
    cited_paths = _Paths(evidence, tuple(dict.fromkeys(t for fact in cited for t in fact.triples)))
    all_paths = _Paths(evidence, evidence.triples)
    for entity in entities:
        listed = next((fact.ends[entity] for fact in cited if entity in fact.ends), None)
        proof = listed or cited_paths.all_to(entity) or all_paths.best_to(entity)
        proof = proof or next((fact.ends[entity] for fact in evidence.facts if entity in fact.ends), None)
        if not proof and entity in evidence.named_entities:
            # One of the question's own (*which is heavier, A or B*) rests on all facts that were named.
            proof = cited_paths.with_all(entity) or all_paths.holding(entity)
        if not proof and not any(evidence.known_proofs.values()):
            # What is *not* so of what is asked about has no path from it: the facts that were named hold it.
            proof = cited_paths.holding(entity)
        if proof:
            proofs[entity] = proof
    return proofs


class _Paths:
    """Paths through some triples from what is known."""

    def __init__(self, evidence: ReadEvidence, triples: Sequence[int]) -> None:
        self.evidence, self.triples = evidence, tuple(triples)
        self.around: dict[int, list[tuple[int, int]]] = {}
        for triple in triples:
            head, _, tail = evidence.graph.triple(triple)
            self.around.setdefault(head, []).append((triple, tail))
            if tail != head:
                self.around.setdefault(tail, []).append((triple, head))
        self._from: dict[int, dict[int, tuple[int, ...]]] = {}

    def all_to(self, entity: int) -> tuple[int, ...] | None:
        """The paths from each known entity to one, together; None if there is none."""
        if not self.around.get(entity):
            return None
        if not self.evidence.known_proofs:
            return self.holding(entity)
        paths = [
            path for start in self.evidence.known_proofs if (path := self._path(start, entity)) is not None
        ]
        known_proof = self.evidence.known_proofs.get(entity, ())
        return tuple(dict.fromkeys([*known_proof, *(t for path in paths for t in path)])) or None

    def best_to(self, entity: int) -> tuple[int, ...] | None:
        """The shortest path from a known entity; None if there is none."""
        known = self.evidence.known_proofs
        if not known:
            return self.holding(entity)
        paths = [
            (not known[start], len(path), at, path)
            for at, start in enumerate(known)
            if (path := self._path(start, entity)) is not None
        ]
        return min(paths)[-1] if paths else known.get(entity) or None

    def with_all(self, entity: int) -> tuple[int, ...] | None:
        """All triples, if one of them holds an entity."""
        return self.triples if self.around.get(entity) else None

    def holding(self, entity: int) -> tuple[int, ...] | None:
        """The first triple that holds an entity."""
        around = self.around.get(entity)
        return (around[0][0],) if around else None

    def _path(self, start: int, entity: int) -> tuple[int, ...] | None:
        """From a known entity, its own proof first; None where nothing leads there, or it is the entity."""
        if start == entity:
            return None
        if start not in self._from:
            self._from[start] = self._search(start)
        path = self._from[start].get(entity)
        return None if path is None else (*self.evidence.known_proofs[start], *path)

    def _search(self, start: int) -> dict[int, tuple[int, ...]]:
        """Breadth first; other known entities are ends, and nothing goes on through them."""
        stops = self.evidence.known_proofs.keys() - {start}
        paths: dict[int, tuple[int, ...]] = {start: ()}
        frontier = [start]
        while frontier:
            following: list[int] = []
            for node in frontier:
                for triple, neighbour in self.around.get(node, ()):
                    if neighbour not in paths:
                        paths[neighbour] = (*paths[node], triple)
                        if neighbour not in stops:
                            following.append(neighbour)
            frontier = following
        return paths


def triples_at_node(graph: Graph, node: int, relation: int, side: int) -> list[int]:
    """The triple ids of a relation at an entity, as head (0) or tail (1)."""
    low, high = (graph.into if side else graph.out).relation_span(node, relation)
    if not side:
        return list(range(low, high))
    return [graph.find_triple(head, relation, node) for head in graph.into.neighbour[low:high].tolist()]


def of_relation(graph: Graph, relation: int) -> Int64:
    """All triples of a relation, int64 ids."""
    return np.flatnonzero(graph.out.relation == relation)

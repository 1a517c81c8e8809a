"""Which triples a sub-question is answered from (KG-RAG sections 3.4.2, 3.4.3): the top K, and whole lists.

Beyond the paper: where the top K holds a triple of a relation at what the sub-question starts from, it may
hold all of them, so that *which films* has its list and *how many* is right. The paper's K cuts lists at 30.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from clew.foundation.arrays import Int64
from clew.graph.graph import Graph
from clew.graph.neighbourhood import CandidateTriples
from clew.index.vectors.triple_search import TripleSearch
from clew.llm.read_evidence import Proofs
from clew.methods.topic_entities import entities_named_in

MOST_ADDED_TRIPLES = 300
"""Triples that whole lists may add to the top K."""
MOST_WHOLE_RELATIONS = 5
"""Relations of the top K whose lists are looked at, in their order."""


@dataclass(frozen=True, slots=True)
class RetrievedTriples:
    """Triple ids, best first; `notes` say what a limit left out of them."""

    triples: Sequence[int] = ()
    notes: tuple[str, ...] = ()


def gone_on_from(graph: Graph, text: str, sub_answers: Sequence[Proofs]) -> tuple[int, ...]:
    """The entities of the last sub-answer and of those that a text names; of all where it names none."""
    answers = [proofs for proofs in sub_answers if proofs]
    named_entities = set(entities_named_in(graph, text, (entity for proofs in answers for entity in proofs)))
    continued = [proofs for proofs in answers if proofs is answers[-1] or named_entities & proofs.keys()]
    return tuple(
        dict.fromkeys(entity for proofs in (continued if named_entities else answers) for entity in proofs)
    )


def nearest_first(vectors: TripleSearch, candidates: CandidateTriples, text: str, k: int) -> list[int]:
    """The K triples of the first hop most similar to a text, then half as many of the hops behind it."""
    near = candidates.hops[0] if candidates.hops else np.empty(0, np.int64)
    far = np.concatenate(candidates.hops[1:]) if len(candidates.hops) > 1 else np.empty(0, np.int64)
    first = vectors.top(text, near, k)[0].tolist()
    room = k - len(first) + k // 2
    return first + (vectors.top(text, far, room)[0].tolist() if room else [])


def with_lists(graph: Graph, nearest: Sequence[int], starts: Collection[int]) -> RetrievedTriples:
    """Add all triples of the best relations of `nearest` at `starts`, as far as they fit.

    Without starts a relation is taken whole. A list that does not fit is noted.
    """
    evidence = dict.fromkeys(nearest)
    notes: list[str] = []
    room = MOST_ADDED_TRIPLES
    for relation, side in list(dict.fromkeys(_steps(graph, nearest, starts)))[:MOST_WHOLE_RELATIONS]:
        triples = of_relation(graph, relation) if side < 0 else _triples_at(graph, starts, relation, side)
        missing = [triple for triple in triples.tolist() if triple not in evidence]
        if len(missing) > room:
            name = graph.relation_labels[relation]
            notes.append(f"{len(triples) - len(missing):,} of {len(triples):,} triples of {name} are read")
            continue
        room -= len(missing)
        evidence |= dict.fromkeys(missing)
    return RetrievedTriples(tuple(evidence), tuple(notes))


def _steps(graph: Graph, nearest: Sequence[int], starts: Collection[int]) -> list[tuple[int, int]]:
    """Relation and side of the triples that touch a start; (relation, -1) of all where there is none."""
    steps: list[tuple[int, int]] = []
    for triple in nearest:
        head, relation, tail = graph.triple(triple)
        if not starts:
            steps.append((relation, -1))
        elif head in starts or tail in starts:
            steps.append((relation, 0 if head in starts else 1))
    return steps


def of_relation(graph: Graph, relation: int) -> Int64:
    """All triples of a relation, int64 ids."""
    slots = np.arange(graph.triples)
    return slots[graph.out.relation[slots] == relation]


def _triples_at(graph: Graph, starts: Collection[int], relation: int, side: int) -> Int64:
    """The triple ids of a relation at some entities, as heads (0) or tails (1)."""
    triples: list[int] = []
    for node in starts:
        low, high = (graph.into if side else graph.out).relation_span(node, relation)
        if side:
            heads = graph.into.neighbour[low:high].tolist()
            triples += [graph.find_triple(head, relation, node) for head in heads]
        else:
            triples += range(low, high)
    return np.array(triples, np.int64)


def lists_are_whole(graph: Graph, proofs: Proofs, read_triples: Collection[int]) -> bool:
    """Whether nothing was left out of the lists that answers come from: those of their last triples."""
    lists: set[tuple[int, int, int]] = set()
    for entity, proof in proofs.items():
        head, relation, tail = graph.triple(proof[-1])
        if entity in (head, tail):
            lists.add((relation, 1, tail) if entity == head else (relation, 0, head))
    return all(
        triple in read_triples
        for relation, side, node in lists
        for triple in _triples_at(graph, [node], relation, side).tolist()
    )

"""Which triples a sub-question is answered from (KG-RAG sections 3.4.2, 3.4.3): the top K, and whole lists.

Beyond the paper: where the top K holds a triple of a relation at what the sub-question starts from, it may
hold all of them, so that *which films* has its list and *how many* is right. The paper's K cuts lists at 30.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from clew.graph.graph import Graph
from clew.graph.neighbourhood import CandidateTriples
from clew.index.vectors.triple_search import TripleSearch
from clew.methods.evidence import Proofs, of_relation, triples_at_node
from clew.methods.topic_entities import entities_named_in

MOST_ADDED_TRIPLES = 300
"""Triples that whole lists may add to the top K."""
MOST_WHOLE_RELATIONS = 5
"""Relations of the top K whose lists are looked at, in their order."""


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


def with_lists(graph: Graph, nearest: Sequence[int], starts: Collection[int]) -> tuple[list[int], list[str]]:
    """Triples with all of the best relations of `nearest` at `starts`, as far as they fit; and notes.

    Without starts a relation is taken whole. A list that does not fit is noted.
    """
    evidence = dict.fromkeys(nearest)
    notes: list[str] = []
    room = MOST_ADDED_TRIPLES
    for relation, side in list(dict.fromkeys(_steps(graph, nearest, starts)))[:MOST_WHOLE_RELATIONS]:
        triples = (
            of_relation(graph, relation).tolist()
            if side < 0
            else [triple for node in starts for triple in triples_at_node(graph, node, relation, side)]
        )
        missing = [triple for triple in triples if triple not in evidence]
        if len(missing) > room:
            name = graph.relation_labels[relation]
            notes.append(f"{len(triples) - len(missing):,} of {len(triples):,} triples of {name} are read")
            continue
        room -= len(missing)
        evidence |= dict.fromkeys(missing)
    return list(evidence), notes


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

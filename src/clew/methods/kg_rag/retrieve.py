"""Which triples a sub-question is answered from (KG-RAG sections 3.4.2, 3.4.3): the top K, and whole lists.

Beyond the paper, the top K keep the relations that matter, and hold all of their triples at what the
sub-question starts from, so that *which films* has its list and *how many* is right; the paper's K cuts lists
at 30. One that names nothing to start from (*the oldest vessel*) is asked of the values of all of its type.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from clew.graph.graph import Graph
from clew.graph.neighbourhood import CandidateTriples
from clew.index.vectors.triples import TripleSearch
from clew.methods.asked import AskedSteps
from clew.methods.evidence import Proofs, of_relation, triples_at_node
from clew.methods.fact_lines import LONG_LIST
from clew.methods.topic_entities import entities_named_in

MOST_ADDED_TRIPLES = 300
"""Triples that whole lists may add to the top K."""
MOST_READ, MOST_NEAR = 4, 3
"""Relations that the likeliest readings of a sub-question follow, and others of the nearest triples.

Of 188 sub-questions of a strong model, 186 had all facts that its answers rest on among these: 21 facts on
average in the place of 30 (benchmarks/RESULTS.md).
"""
MOST_WHOLE = 2
"""Relations that are read of all of a type."""
MOST_IN_COMMON = 30
"""Things that a relation leads to, each of which is a line."""
MOST_OF_AN_END = 30
"""Least, and greatest, values that are read of a relation that is too long."""


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


def with_lists(
    graph: Graph,
    nearest: Sequence[int],
    asked: AskedSteps,
    starts: Collection[int],
    *,
    directed: bool = False,
) -> tuple[list[int], list[str]]:
    """The nearest triples that matter, and the whole lists that they are a part of; and notes.

    Those of the relations that the likeliest readings of the question follow matter, and of the nearest few.
    Without starts a relation is read whole, of the types that are asked of. A list that does not fit is
    noted; of values the least and the greatest are read, among which the oldest and the largest are.
    """
    starts = starts or asked.entities
    near = list(dict.fromkeys(graph.triple(triple)[1] for triple in nearest))
    if asked.relations:
        read = asked.relations[:MOST_READ]
        near = [*read, *[relation for relation in near if relation not in read][:MOST_NEAR]]
    if asked.relations and not starts:
        near, nearest = list(asked.relations[:MOST_WHOLE]), ()
    evidence = dict.fromkeys(triple for triple in nearest if graph.triple(triple)[1] in near)
    notes, room = list[str](), MOST_ADDED_TRIPLES
    for relation in near:
        for triples in _lists(graph, relation, asked.types, starts, (0,) if directed else (0, 1)):
            missing = [triple for triple in triples if triple not in evidence]
            if len(missing) > room and _in_common(graph, missing):
                evidence |= dict.fromkeys(missing)  # A few lines say it.
                continue
            if len(missing) > room:
                missing = _ends(graph, missing)
                shown = len(evidence.keys() & set(triples)) + len(missing)
                name, which = graph.relation_labels[relation], ", the least and the greatest" * bool(missing)
                notes.append(f"{shown:,} of {len(triples):,} triples of {name} are read{which}")
            room -= len(missing)
            evidence |= dict.fromkeys(missing)
    return list(evidence), notes


def _lists(
    graph: Graph, relation: int, types: Sequence[int], starts: Collection[int], sides: Sequence[int]
) -> Iterator[Sequence[int]]:
    """The triples of a relation at the starts, as heads (0) or tails (1); else those of the types."""
    if starts:
        for side in sides:
            yield [triple for node in starts for triple in triples_at_node(graph, node, relation, side)]
        return
    triples = of_relation(graph, relation)
    if types:
        is_asked = graph.types.having(types[0])
        for other in types[1:]:
            is_asked = is_asked | graph.types.having(other)
        of_types = is_asked[graph.out.owners(triples)] | is_asked[graph.out.neighbour[triples]]
        triples = triples[of_types] if of_types.any() else triples
    yield triples.tolist()


def _in_common(graph: Graph, triples: Sequence[int]) -> bool:
    """Whether triples lead to so few things that a line for each says all (`fact_lines`)."""
    counts = np.unique(graph.out.neighbour[np.array(triples)], return_counts=True)[1]
    return len(counts) <= MOST_IN_COMMON and bool((counts >= LONG_LIST).all())


def _ends(graph: Graph, triples: Sequence[int]) -> list[int]:
    """The triples with the least and the greatest values; empty where they have none."""
    tails = graph.out.neighbour[np.array(triples)]
    if not graph.values.kind[tails].all():
        return []
    order = np.argsort(graph.values.value[tails], kind="stable")
    return [triples[at] for at in (*order[:MOST_OF_AN_END], *order[-MOST_OF_AN_END:])]

"""Candidate triples against a plain breadth-first search, and the bounds for hubs."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.graph.neighbourhood import HopLimits, find_candidates
from graph.reference import make_graph

TRIPLES = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 2), st.integers(0, 7)), max_size=25)


def zero(triples: np.ndarray) -> np.ndarray:
    return np.zeros(len(triples), np.float32)


def slow(
    triples: list[tuple[int, int, int]], entities: list[int], hops: int
) -> list[set[tuple[int, int, int]]]:
    """Hop i: the triples at a node that is i hops away, which no hop before had."""
    near, seen, found = set(entities), set[tuple[int, int, int]](), []
    for _ in range(hops):
        hop = {t for t in triples if t[0] in near or t[2] in near} - seen
        seen |= hop
        found.append(hop)
        near |= {node for h, _, t in hop for node in (h, t)}
    return found


@settings(max_examples=60)
@given(TRIPLES, st.lists(st.integers(0, 7), min_size=1, max_size=3), st.integers(1, 4))
def test_hops_are_those_of_a_plain_search(triples, entities, hops):
    graph = make_graph(8, 3, triples)
    found = find_candidates(graph, entities, hops, zero)
    by_hop = [[graph.triple(int(t)) for t in hop] for hop in found.hops]
    expected = [hop for hop in slow(sorted(set(triples)), entities, hops)]
    assert [set(hop) for hop in by_hop if hop] == [hop for hop in expected if hop]
    assert all(len(hop) == len(set(hop)) for hop in by_hop)
    assert found.left_out == 0
    assert len(found) == len(found.triples)


def star(leaves: int):
    """A hub (0) with a triple to each leaf, and one on from each leaf."""
    triples = [(0, 0, i) for i in range(1, leaves + 1)]
    return make_graph(2 * leaves + 1, 1, triples + [(i, 0, leaves + i) for i in range(1, leaves + 1)])


def test_a_hub_keeps_the_most_similar_and_goes_on_from_them():
    graph = star(50)
    found = find_candidates(graph, [0], 2, lambda t: t.astype(np.float32), HopLimits(most_triples=5))
    assert {graph.triple(int(t))[2] for t in found.hops[0]} == {46, 47, 48, 49, 50}
    assert {graph.triple(int(t))[0] for t in found.hops[1]} == {46, 47, 48, 49, 50}
    assert found.left_out == 45


def test_of_edges_that_are_too_many_those_behind_the_most_similar_are_looked_at():
    graph = star(50)
    found = find_candidates(graph, [0], 2, lambda t: t.astype(np.float32), HopLimits(most_edges=60))
    assert {graph.triple(int(t))[0] for t in found.hops[1]} == set(range(21, 51))
    assert found.left_out == 40

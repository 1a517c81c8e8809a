"""Counts of pairs of ends are those of the square, however they are kept."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.graph import schema
from clew.graph.schema import Cooccurrence, schema_of
from graph.reference import dense, make_graph

NODES, RELATIONS = 6, 5
TRIPLES = st.lists(
    st.tuples(*(st.integers(0, most - 1) for most in (NODES, RELATIONS, NODES))), min_size=1, max_size=40
)


@contextmanager
def without_square(most_pairs: int) -> Iterator[None]:
    """Count as graphs of many relations are, with room for so many pairs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "MOST_PAIRS", most_pairs)
        patch.setattr(schema, "PAIRS_AT_ONCE", 30)
        patch.setattr(schema, "MOST_CELLS", 0)
        yield


@settings(max_examples=100)
@given(TRIPLES, st.sampled_from([0, 10, 60, 10_000]))
def test_rows_are_those_of_the_square(triples, most_pairs) -> None:
    graph = make_graph(NODES, RELATIONS, sorted(set(triples)))
    expected = schema_of(graph)
    with without_square(most_pairs):
        found = schema_of(graph).together
        square = dense(expected.together)
        np.testing.assert_array_equal(dense(found), square)
        np.testing.assert_array_equal(found.nodes, np.diagonal(square))
        for one, other in np.ndindex(square.shape):
            fresh = Cooccurrence.of_arrays(found.arrays())
            assert fresh.meet(one, other) == bool(square[one, other])

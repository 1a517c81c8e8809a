"""A schema is the same however it is counted: interpreted or compiled, in a square or pair by pair."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.graph import schema
from clew.graph.build import build_graph
from clew.graph.schema import Cooccurrence, schema_of
from graph.reference import dense, make_graph

NODES, RELATIONS = 6, 5
TRIPLES = st.lists(
    st.tuples(*(st.integers(0, most - 1) for most in (NODES, RELATIONS, NODES))), min_size=1, max_size=40
)
FILMS = Path(__file__).parents[2] / "examples" / "films.tsv"


def both(graph):
    made = []
    for most in (10**9, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(schema, "MOST_INTERPRETED", most)
            made.append(schema_of(graph))
    return made


def assert_same(one, other):
    for field in fields(one):
        left, right = getattr(one, field.name), getattr(other, field.name)
        if field.name == "together":
            left, right = dense(left), dense(right)
        assert left.dtype == right.dtype
        np.testing.assert_array_equal(left, right)


@settings(max_examples=50, deadline=None)
@given(TRIPLES, st.sampled_from([0, 10, 60, 10_000]))
def test_of_any_graph(triples, most_pairs):
    graph = make_graph(NODES, RELATIONS, sorted(set(triples)))
    interpreted, compiled = both(graph)
    assert_same(interpreted, compiled)
    with pytest.MonkeyPatch.context() as patch:
        for name, most in (("MOST_PAIRS", most_pairs), ("AT_ONCE", 30), ("MOST_CELLS", 0)):
            patch.setattr(schema, name, most)
        found = schema_of(graph).together
        np.testing.assert_array_equal(dense(found), dense(compiled.together))
        for one, other in np.ndindex(dense(found).shape):
            assert Cooccurrence.of_arrays(found.arrays()).meet(one, other) == bool(dense(found)[one, other])


def test_of_a_graph_with_types_and_values():
    graph, _ = build_graph([FILMS], types=FILMS.with_name("films.types.tsv"))
    assert_same(*both(graph))

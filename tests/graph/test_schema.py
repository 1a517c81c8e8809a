"""A schema is the same whether its loops are interpreted, as those of a small graph are, or compiled."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.graph import schema
from clew.graph.build import build_graph
from clew.graph.schema import schema_of
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
@given(TRIPLES)
def test_of_any_graph(triples):
    assert_same(*both(make_graph(NODES, RELATIONS, sorted(set(triples)))))


def test_of_a_graph_with_types_and_values():
    graph, _ = build_graph([FILMS], types=FILMS.with_name("films.types.tsv"))
    assert_same(*both(graph))

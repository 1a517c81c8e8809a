"""The schema of a graph after edits is that of the triples then; `test_updates` compares whole indexes."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.graph.edit import GraphEdit, edited
from clew.graph.schema import MOST_COUNTED_ENDS, Schema, schema_after, schema_of
from graph.reference import dense, make_graph

Triple = tuple[int, int, int]
NODES, NEW, RELATIONS = 6, 2, 3
triples = st.sets(st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 5)), max_size=20)
rounds = st.lists(
    st.sets(st.tuples(st.integers(0, 7), st.integers(0, 2), st.integers(0, 7)), max_size=6),
    min_size=1,
    max_size=3,
)


def array(found: set[Triple]) -> np.ndarray:
    return np.array(sorted(found), np.int64).reshape(-1, 3)


def assert_same_schema(found: Schema, expected: Schema) -> None:
    for name in [field.name for field in fields(Schema) if field.name != "together"]:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)
    np.testing.assert_array_equal(dense(found.together), dense(expected.together))


values = st.lists(st.sampled_from(["1990", "12.5", "2001-02-03", "x"]), min_size=2, max_size=2)


@settings(max_examples=100)
@given(triples, rounds, values, st.sampled_from([MOST_COUNTED_ENDS, 0]))
def test_a_schema_after_an_edit_is_that_of_the_graph_then(start, changes, names, most) -> None:
    """However pairs of ends are counted: in a square, or row by row where there are more than `most`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("clew.graph.schema.MOST_COUNTED_ENDS", most)
        check_schemas(start, changes, names)


def check_schemas(start, changes, names) -> None:
    """Also where new values are the largest, and where the largest goes; the first brings a relation."""
    graph = make_graph(NODES, RELATIONS, list(start))
    schema, relations = schema_of(graph), ["another"]
    for changed in changes:
        held = set(zip(*(column.tolist() for column in graph.out.columns()), strict=True))
        new = {(h, len(graph.relations) if relations and h == t else r, t) for h, r, t in changed} - held
        types = [(1, "person"), (NODES, "place")] if names else []
        edit = GraphEdit(
            array(new), array(changed & held), names, names, [None] * len(names), relations, relations,
            types_added=types,
        )  # fmt: skip
        after, _ = edited(graph, edit)
        schema = schema_after(schema, graph, after, edit.changed_nodes(graph.nodes))
        assert_same_schema(schema, schema_of(after))
        graph, names, relations = after, [], []

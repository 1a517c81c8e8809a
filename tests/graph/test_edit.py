"""A graph after edits is the graph of the triples then, array by array."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.graph.edit import GraphEdit, edited
from clew.graph.graph import Graph
from clew.graph.match.distances import FixedDistances
from clew.graph.match.matcher import match
from clew.graph.neighbourhood import find_candidates
from clew.graph.schema import MOST_CELLS, Schema, schema_after, schema_of
from clew.graph.walks.walks import Walker, WalkSettings
from clew.types import Pattern, PatternEdge, PatternNode
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


def after(start: set[Triple], changes: list[set[Triple]]) -> tuple[Graph, Graph]:
    """The graph after all changes: edited round by round, and made at once."""
    graph, held = make_graph(NODES, RELATIONS, list(start)), set(start)
    names = [f"e{NODES + i}" for i in range(NEW)]
    for changed in changes:
        edit = GraphEdit(array(changed - held), array(changed & held), names, names, [None] * len(names))
        graph, held, names = edited(graph, edit)[0], held ^ changed, []
    return graph, make_graph(NODES + NEW, RELATIONS, list(held))


def assert_same_adjacency(found: Graph, expected: Graph) -> None:
    for mine, other in ((found.out, expected.out), (found.into, expected.into)):
        for name in ("offsets", "relation", "neighbour"):
            a, b = getattr(mine, name), getattr(other, name)
            np.testing.assert_array_equal(a, b)
            assert a.dtype == b.dtype
        for relation in range(RELATIONS):
            nodes, relations, _ = other.columns()
            np.testing.assert_array_equal(mine.nodes_with(relation), np.unique(nodes[relations == relation]))


@settings(max_examples=300)
@given(triples, rounds)
def test_edges_are_those_of_the_graph_made_at_once(start, changes) -> None:
    found, expected = after(start, changes)
    assert_same_adjacency(found, expected)
    for head, relation, tail in zip(*(c.tolist() for c in expected.out.columns()), strict=True):
        assert found.triple(found.find_triple(head, relation, tail)) == (head, relation, tail)


def assert_same_schema(found: Schema, expected: Schema) -> None:
    for name in [field.name for field in fields(Schema) if field.name != "together"]:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)
    np.testing.assert_array_equal(dense(found.together), dense(expected.together))


values = st.lists(st.sampled_from(["1990", "12.5", "2001-02-03", "x"]), min_size=2, max_size=2)


@settings(max_examples=300)
@given(triples, rounds, values, st.sampled_from([MOST_CELLS, 0]))
def test_a_schema_after_an_edit_is_that_of_the_graph_then(start, changes, names, cells) -> None:
    """However pairs of ends are counted, one by one or in a square of at most so many `cells`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("clew.graph.schema.MOST_CELLS", cells)
        patch.setattr("clew.graph.schema.MOST_PAIRS", 30)
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


@settings(max_examples=100)
@given(triples, rounds)
def test_kernels_see_the_graph_made_at_once(start, changes) -> None:
    found, expected = after(start, changes)
    for kind in ("bfs", "random"):
        settings_of = WalkSettings(kind, 3, 4, 4)
        mine, other = (
            Walker(g, settings_of).walk(np.arange(g.nodes, dtype=np.int32)) for g in (found, expected)
        )
        for field in ("offsets", "steps", "nodes", "counts"):
            np.testing.assert_array_equal(getattr(mine, field), getattr(other, field))
    assert_same_schema(schema_of(found), schema_of(expected))
    sought = [
        sorted(g.triple(int(t)) for t in find_candidates(g, [0, 6], 2, lambda t: np.zeros(len(t))).triples)
        for g in (found, expected)
    ]
    assert sought[0] == sought[1]


@settings(max_examples=100)
@given(triples, rounds)
def test_matches_are_those_of_the_graph_made_at_once(start, changes) -> None:
    found, expected = after(start, changes)
    pattern = Pattern(
        (
            PatternNode("e0", known=True, entity=0),
            PatternNode("UNKNOWN 1", known=False),
            PatternNode("UNKNOWN 2", known=False),
        ),
        (PatternEdge(0, "r1", 1, fixed=1), PatternEdge(1, "r0", 2, fixed=0)),
        2,
    )
    both = [match(g, pattern, FixedDistances(g), k=None) for g in (found, expected)]
    nodes = [[m.nodes for m in result.matches] for result in both]
    assert nodes[0] == nodes[1]
    for m in both[0].matches:
        assert [found.triple(t)[1] for t in m.triples] == [1, 0]

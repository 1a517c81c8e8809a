"""A schema counts what its definition says, in a square or row by row, in one block of nodes or in many."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.graph import schema
from clew.graph.build import build_graph
from clew.graph.graph import Graph
from clew.graph.schema import schema_of
from clew.graph.steps import relation_of
from graph.reference import dense, make_graph

NODES, RELATIONS = 6, 5
TRIPLES = st.lists(
    st.tuples(*(st.integers(0, most - 1) for most in (NODES, RELATIONS, NODES))), min_size=1, max_size=40
)
FILMS = Path(__file__).parents[2] / "examples" / "films.tsv"


def check(graph: Graph) -> None:
    found, ends = schema_of(graph), range(2 * len(graph.relations))
    triples = list(zip(*(column.tolist() for column in graph.out.columns()), strict=True))
    edges = {end: [t[2 * (end % 2)] for t in triples if t[1] == relation_of(end)] for end in ends}
    nodes = {end: set(edges[end]) for end in ends}
    kind, value, types = graph.values.kind, graph.values.value, graph.types
    assert found.triples.tolist() == [len(edges[end]) for end in ends[::2]]
    assert dense(found.together).tolist() == [[len(nodes[a] & nodes[b]) for b in ends] for a in ends]
    for end in ends:
        of_end = sorted(nodes[end])
        assert found.nodes[end] == len(of_end)
        assert found.repeated[end] == sum(edges[end].count(node) > 1 for node in of_end)
        for share, number in ((found.numbers, 1), (found.dates, 2)):
            assert share[end] == sum(kind[n] == number for n in of_end) / max(1, len(of_end))
        valued = [value[n] for n in of_end if kind[n]]
        assert [found.low[end], found.high[end]] == [min(valued), max(valued)] if valued else True
        assert found.typed[end].tolist() == [
            sum(type_ in types.of(node) for node in of_end) for type_ in range(len(types.names))
        ]
        for other in ends:
            assert found.together.meet(end, other) == (not nodes[end].isdisjoint(nodes[other]))
    for relation, inverse in enumerate(found.inverse.tolist()):
        pairs = [{(h, t) for h, r, t in triples if r == number} for number in (relation, inverse)]
        assert inverse < 0 or pairs[0] == {pair[::-1] for pair in pairs[1]}


@settings(max_examples=50, deadline=None)
@given(TRIPLES, st.sampled_from([4096, 0]), st.sampled_from([1, 7, 1000]))
def test_of_any_graph(triples, most, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "MOST_COUNTED_ENDS", most)
        patch.setattr(schema, "ROWS_AT_ONCE", block)
        patch.setattr(schema, "AT_ONCE", block)
        check(make_graph(NODES, RELATIONS, sorted(set(triples))))


def test_of_a_graph_with_types_and_values():
    graph, _ = build_graph([FILMS], types=FILMS.with_name("films.types.tsv"))
    check(graph)

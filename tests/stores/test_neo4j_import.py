"""`export`: a whole Neo4j graph."""

import pytest

from clew.graph.build import build_graph
from clew.stores.errors import StoreError
from clew.stores.export import export_neo4j, write_nodes


@pytest.fixture(scope="module")
def store(filled):
    return filled(
        "CREATE (h:Hub:Big {name: 'hub', tags: ['a', 'b'], born: date('1999-03-12')}), (o {title: 'other'}) "
        "CREATE (h)-[:LIKES {since: 5}]->(o), (o)-[:LIKES]->(o), (o)-[:LIKES]->(o) "
        "CREATE (h)-[:HAS]->(:`Leaf;s` {name: 'odd leaf', notes: ['x; y', 'a|b', 'c'], mixed: 'p;q'}), "
        "(h)-[:HAS]->(:Leaf {name: 'plain leaf', mixed: ['r', 's'], notes: []}) "
        "WITH h UNWIND range(1, 30) AS i CREATE (h)-[:HAS]->(:Leaf {name: 'leaf ' + i, size: i})"
    )


def triples(folder):
    graph, report = build_graph([folder])
    found = {
        (graph.labels[h], graph.relations[r], graph.labels[t])
        for h, r, t in (graph.triple(i) for i in range(graph.triples))
    }
    return found, graph, report


EXPECTED = {
    *(("hub", "HAS", f"leaf {i}") for i in range(1, 31)),
    *((f"leaf {i}", "size", str(i)) for i in range(1, 31)),
    *(("hub", "tags", tag) for tag in "ab"),
    *[("hub", "born", "1999-03-12"), ("hub", "LIKES", "other"), ("other", "LIKES", "other")],
    ("other", "title", "other"),
    *[("hub", "HAS", "odd leaf"), ("hub", "HAS", "plain leaf")],
    *(("odd leaf", "notes", note) for note in ("x; y", "a|b", "c")),
    *[("odd leaf", "mixed", "p;q"), ("plain leaf", "mixed", "r"), ("plain leaf", "mixed", "s")],
}


@pytest.mark.parametrize(("hub", "shard_ids"), [(10, 50_000), (10_000, 10)])
def test_all_of_a_graph_is_read(store, tmp_path, hub, shard_ids):
    shown = []
    export_neo4j(store, tmp_path, lambda *state: shown.append(state), hub=hub, shard_ids=shard_ids)
    found, graph, report = triples(tmp_path)
    assert found | {("other", "title", "other")} == EXPECTED
    assert sorted(graph.types.names) == ["Big", "Hub", "Leaf", "Leaf;s"]
    assert report.duplicates == 1
    assert shown[-1] == ("nodes and edges", 34 + 35, 34 + 35)
    held = graph.edge_properties
    assert [held.of(statement) for statement in range(len(held))] == [(("since", "5"),)]


def test_an_empty_database_is_said(store, tmp_path, monkeypatch):
    monkeypatch.setattr("clew.stores.export._numbers", lambda *_: [0, 0])
    with pytest.raises(StoreError, match="no nodes that this user may read"):
        export_neo4j(store, tmp_path)


def test_a_text_in_a_column_of_lists_stays_one(tmp_path):
    """Also one with the separator in it, which becomes a blank, as it does in an item of a list."""
    rows = [
        ["1", ["Node"], {"name": "one", "notes": "a\x1fb"}],
        ["2", ["Node", "Odd\x1fone"], {"name": "two", "notes": ["c\x1fd", "e"]}],
    ]
    write_nodes(tmp_path / "nodes.csv", rows)
    graph, _ = build_graph([tmp_path / "nodes.csv"])
    found = {(graph.labels[h], graph.labels[t]) for h, _, t in map(graph.triple, range(graph.triples))}
    assert found == {("one", "a b"), ("two", "c d"), ("two", "e")}
    assert sorted(graph.types.names) == ["Node", "Odd one"]

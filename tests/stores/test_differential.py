"""The same queries give the same rows on Neo4j and on the embedded store, or that one refuses them."""

from collections import Counter
from contextlib import closing

import pytest
from graphs import EXAMPLES, EXTRA, load, queries

from clew.graph.build.build import build_graph
from clew.stores.errors import QueryRefused

pytest.importorskip("ladybug", reason="ladybug is not installed")
ROWS = 1_000_000


@pytest.fixture(scope="module", params=["movies", "northwind", "films"])
def stores(request, neo4j_address, tmp_path_factory):
    """(graph, Neo4j, the embedded store with what was read from Neo4j)."""
    if not EXAMPLES.is_dir():
        pytest.skip("the example graphs are not beside the repository")
    import neo4j
    from neo4j_server import PASSWORD

    from clew.stores.import_folder import open_folder
    from clew.stores.ladybug import LadybugStore
    from clew.stores.neo4j import Neo4jStore
    from clew.stores.neo4j_export import export

    with neo4j.GraphDatabase.driver(neo4j_address, auth=("neo4j", PASSWORD)) as driver:
        load(driver, request.param)
    folder = tmp_path_factory.mktemp(request.param)
    with closing(Neo4jStore(neo4j_address, password=PASSWORD, seconds=30, rows=ROWS)) as server:
        imported = open_folder(folder, "a server")
        export(server, imported)
        graph = build_graph([imported.data])[0]
        with closing(LadybugStore.of_graph(graph, seconds=30, rows=ROWS)) as embedded:
            yield request.param, server, embedded


def _rows(result):
    def plain(value):
        if isinstance(value, float) and not isinstance(value, bool):
            return round(value, 9)
        return float(value) if isinstance(value, int) and not isinstance(value, bool) else value

    return Counter(tuple(plain(v) for v in row) for row in result.rows)


def test_the_same_rows(stores):
    graph, server, embedded = stores
    asked = [*queries(graph, server.schema()), *EXTRA[graph]]
    different, refused = [], []
    for query in asked:
        expected = server.run(query)
        try:
            found = embedded.run(query)
        except QueryRefused as error:
            refused.append((query, str(error)))
            continue
        if _rows(found) != _rows(expected) or found.columns != expected.columns:
            different.append((query, found.rows[:3], expected.rows[:3]))
    print(f"{graph}: {len(asked)} queries, {len(refused)} refused, {len(different)} different")  # noqa: T201
    assert not different
    assert len(asked) - len(refused) >= {"movies": 60, "northwind": 50, "films": 90}[graph]


def test_the_schemas_have_the_same_hops(stores):
    _, server, embedded = stores
    assert set(server.schema().hops) == set(embedded.schema().hops)

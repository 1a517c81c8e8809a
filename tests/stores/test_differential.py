"""The same queries give the same rows on Neo4j and on the embedded store, or that one refuses them."""

import random
from collections import Counter
from contextlib import closing

import pytest
from graphs import EXTRA, kinds_of_queries

from clew.graph.build import build_graph
from clew.stores.errors import QueryRefused
from clew.stores.export import export_neo4j

pytest.importorskip("ladybug", reason="ladybug is not installed")
ROWS = 1_000_000
MOST_REFUSED = 0.1
"""Share of the queries."""


@pytest.fixture(scope="module", params=["movies", "northwind", "films"])
def stores(request, filled, tmp_path_factory):
    """(graph, Neo4j, the embedded store with what was read from Neo4j)."""
    from clew.stores.ladybug import LadybugStore

    folder = tmp_path_factory.mktemp(request.param)
    server = filled(graph=request.param, rows=ROWS)
    export_neo4j(server, folder)
    with closing(LadybugStore.of_graph(build_graph([folder])[0], seconds=30, rows=ROWS)) as embedded:
        yield request.param, server, embedded


def _plain(value):
    """A value that can be counted: a whole number is no float, the order of a list is none."""
    if isinstance(value, float):
        return ("float", round(value, 9))
    if isinstance(value, (list, tuple)):
        return tuple(sorted(map(_plain, value), key=repr))
    if isinstance(value, dict):
        return tuple(sorted((key, _plain(inner)) for key, inner in value.items()))
    return (type(value).__name__, value)


def _rows(result):
    return Counter(tuple(map(_plain, row)) for row in result.rows)


@pytest.mark.parametrize("each", [1, pytest.param(None, marks=pytest.mark.slow)])
def test_the_same_rows(stores, each):
    """So many queries of each kind, of a seed; `slow` asks all."""
    graph, server, embedded = stores
    kinds, draw = kinds_of_queries(graph, server.schema()), random.Random(13)
    asked = [query for kind in kinds for query in draw.sample(kind, min(each or len(kind), len(kind)))]
    asked += EXTRA[graph]
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
    assert len(refused) <= len(asked) * MOST_REFUSED


def test_the_schemas_have_the_same_hops(stores):
    _, server, embedded = stores
    assert set(server.schema().hops) == set(embedded.schema().hops)

"""The same queries give the same rows on Neo4j and on the embedded store, or that one refuses them."""

import random
from collections import Counter
from contextlib import closing

import pytest
from graphs import EXTRA, kinds_of_queries
from random_queries import Writer

from clew.graph.build import build_graph
from clew.stores.errors import QueryError
from clew.stores.export import export_neo4j

pytest.importorskip("ladybug", reason="ladybug is not installed")
ROWS = 1_000_000
MOST_REFUSED, MOST_WRONG = 0.12, 0.03
"""Shares of the queries: those that the embedded store refuses, and those that are no Cypher at all."""
RANDOM = 3_000


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


def counted(name, stores, queries):
    """How many queries are right, refused (also by Neo4j) or differ; fails where one differs."""
    _, server, embedded = stores
    counts, different = Counter(), []
    for query in queries:
        try:
            expected = server.run(query)
        except QueryError:
            counts["refused by Neo4j"] += 1
            continue
        try:
            found = embedded.run(query)
        except QueryError:
            counts["refused"] += 1
            continue
        is_same = _rows(found) == _rows(expected) and found.columns == expected.columns
        counts["right" if is_same else "differ"] += 1
        different += [] if is_same else [(query, found.rows[:3], expected.rows[:3])]
    print(f"{name}: {len(queries)} queries, {dict(counts)}")  # noqa: T201
    assert different == []
    return counts


@pytest.mark.parametrize("each", [1, pytest.param(None, marks=pytest.mark.slow)])
def test_the_same_rows(stores, each):
    """So many queries of each kind, of a seed; `slow` asks all."""
    graph, server, _ = stores
    kinds, draw = kinds_of_queries(graph, server.schema()), random.Random(13)
    asked = [query for kind in kinds for query in draw.sample(kind, min(each or len(kind), len(kind)))]
    asked += EXTRA[graph]
    counts = counted(graph, stores, asked)
    assert counts["refused"] <= len(asked) * MOST_REFUSED
    assert not counts["refused by Neo4j"]


@pytest.mark.slow
def test_random_queries_give_the_same_rows_or_are_refused(stores):
    if stores[0] != "movies":
        pytest.skip("the queries are of the movies")
    writer = Writer(2026)
    counts = counted("random", stores, [writer.query() for _ in range(RANDOM)])
    assert counts["refused"] <= RANDOM * MOST_REFUSED
    assert counts["refused by Neo4j"] <= RANDOM * MOST_WRONG


def test_the_schemas_have_the_same_hops(stores):
    _, server, embedded = stores
    assert set(server.schema().hops) == set(embedded.schema().hops)

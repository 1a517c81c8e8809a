"""The attack corpus on real databases: nothing is written, no file is read, nothing runs past its time."""

import time
from contextlib import closing, suppress

import pytest
from cases import CYPHER

from clew.stores.cypher.guard import Guarded
from clew.stores.errors import QueryError, QueryRefused, StoreTimeout

SECONDS = 1.0
ALLOWED = SECONDS + 5
"""Whole, each would take minutes; five seconds are for a busy machine."""
COUNT = "MATCH (n) OPTIONAL MATCH (n)-[r]->() RETURN count(DISTINCT n) AS n, count(r) AS r"


@pytest.fixture(scope="module")
def server(filled):
    return filled(COUNT, graph="movies", seconds=SECONDS)  # the first query of a server takes longer


@pytest.fixture(scope="module")
def embedded(films):
    pytest.importorskip("ladybug", reason="ladybug is not installed")
    from clew.stores.ladybug import LadybugStore

    with closing(LadybugStore.of_graph(films[0], seconds=SECONDS)) as store:
        yield store


@pytest.fixture(params=["server", "embedded"])
def store(request):
    return request.getfixturevalue(request.param)


def test_no_attack_is_run(store):
    before = store.run(COUNT).rows
    for statement in CYPHER["refused"]:
        with pytest.raises(QueryError):
            store.run(statement)
    assert store.run(COUNT).rows == before


@pytest.mark.parametrize("statement", CYPHER["slow"])
def test_a_slow_query_ends_in_time(store, statement):
    start = time.monotonic()
    with suppress(StoreTimeout, QueryError):
        store.run(statement)
    assert time.monotonic() - start < ALLOWED


def test_harmless_statements_run_on_neo4j(server):
    for statement in CYPHER["harmless"]:
        server.run(statement)


def test_the_session_itself_refuses_a_write_that_the_guard_would_miss(server):
    with pytest.raises(QueryError, match=r"[Ww]rit"):
        server.read("CREATE (n) RETURN n", most=1)
    with pytest.raises(QueryRefused, match="more than read"):
        server._explain_and_read(Guarded("MATCH (n) DELETE n", {}, None, 10))

"""Databases for the tests of stores: a Neo4j server for the whole run, and example graphs in it."""

import os
import sys
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "servers")]
FILMS = HERE.parents[1] / "examples" / "films.tsv"


@pytest.fixture(scope="session")
def films():
    """The film graph of the examples."""
    from clew.graph.build import build_graph

    return build_graph([FILMS], types=FILMS.with_name("films.types.tsv"))


@pytest.fixture(scope="session")
def neo4j_address():
    """A Neo4j server; CLEW_TEST_NEO4J=0 leaves out what needs it."""
    if os.environ.get("CLEW_TEST_NEO4J") == "0":
        pytest.skip("CLEW_TEST_NEO4J=0 leaves out the tests that need a Neo4j server")
    pytest.importorskip("neo4j", reason="the driver of Neo4j is not installed")
    import neo4j_server

    with ExitStack() as stack:
        try:
            address = stack.enter_context(neo4j_server.neo4j_server())
        except neo4j_server.Unavailable as error:
            pytest.skip(str(error))
        yield address


@pytest.fixture(scope="module")
def filled(neo4j_address):
    """Fill the server with an example graph, or by statements, and open it as a store."""
    import neo4j
    from graphs import EXAMPLES, load
    from neo4j_server import PASSWORD

    from clew.stores.neo4j import Neo4jStore

    with ExitStack() as stack:

        def fill(*statements, graph=None, seconds=30, **options):
            if graph and not EXAMPLES.is_dir():
                pytest.skip("the example graphs are not beside the repository")
            with neo4j.GraphDatabase.driver(neo4j_address, auth=("neo4j", PASSWORD)) as driver:
                load(driver, graph) if graph else driver.execute_query("MATCH (n) DETACH DELETE n")
                for statement in statements:
                    driver.execute_query(statement)
            store = Neo4jStore(neo4j_address, password=PASSWORD, seconds=seconds, **options)
            return stack.enter_context(closing(store))

        yield fill

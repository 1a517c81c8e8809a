"""Databases for the tests of stores: a Neo4j server for the whole run, and example graphs in it."""

import os
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "servers")]
EXAMPLES = HERE.parents[1].parent / "shared" / "data" / "neo4j_examples"
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

"""SynaptiQA on a Neo4j server, asked at its address."""

import json
from dataclasses import replace

import pytest
from graphs import EXAMPLES, load

from clew.errors import UsageError
from clew.llm.testing import ScriptedModel


@pytest.fixture(scope="module")
def movies(neo4j_address):
    if not EXAMPLES.is_dir():
        pytest.skip("the example graphs are not beside the repository")
    import neo4j
    from neo4j_server import PASSWORD

    from clew.database import Database
    from clew.stores.neo4j import Neo4jStore
    from clew.text.embedders.static import StaticEmbedder

    with neo4j.GraphDatabase.driver(neo4j_address, auth=("neo4j", PASSWORD)) as driver:
        load(driver, "movies")
    with Database(Neo4jStore(neo4j_address, password=PASSWORD, seconds=30), StaticEmbedder.load()) as opened:
        yield opened


def model(query, column):
    def reply(request):
        return json.dumps({"column": column}) if "<rows>" in request.messages[1].text else query

    return ScriptedModel(reply)


def test_a_sloppy_query_is_corrected_and_cited(movies):
    query = "MATCH (p:Actor {name: 'Kevin Bakon'})<-[:ACTED_IN]-(m:Movies) RETURN m.name AS film"
    answer = movies.ask("Which films?", model=model(query, "film"))
    assert answer.method == "synaptiqa"
    assert {a.label for a in answer.answers} == {"Apollo 13", "A Few Good Men", "Frost/Nixon"}
    assert ["Kevin Bacon", "ACTED_IN", "Apollo 13"] in [
        t.as_json() for c in answer.citations for t in c.triples
    ]


def test_a_shortest_path(movies):
    query = (
        "MATCH p = shortestPath((a:Person {name: 'Kevin Bacon'})-[*]-(b:Person {name: 'Meg Ryan'})) RETURN p"
    )
    answer = movies.ask("How are they connected?", model=model(query, "p"))
    assert answer.text.startswith("Kevin Bacon ─ACTED_IN→ ")
    assert len(answer.citations[0].triples) == 4


def test_a_write_is_not_run(movies):
    before = movies.store.run("MATCH (n) RETURN count(n) AS n").rows
    answer = movies.ask("Delete it", model=model("MATCH (n) DETACH DELETE n", "n"))
    assert answer.abstained is not None
    assert movies.store.run("MATCH (n) RETURN count(n) AS n").rows == before


def test_methods_of_an_index_are_refused(movies):
    with pytest.raises(UsageError, match="needs an index"):
        movies.ask("Who?", method="kaping", model=model("", ""))
    with pytest.raises(UsageError, match="needs a chat model"):
        movies.ask("Who?")


@pytest.fixture(scope="module")
def rare(neo4j_address):
    """A graph that has a hop which its schema lacks, as one does that is read from a sample."""
    import neo4j
    from neo4j_server import PASSWORD

    from clew.database import Database
    from clew.stores.neo4j import Neo4jStore
    from clew.text.embedders.static import StaticEmbedder

    with neo4j.GraphDatabase.driver(neo4j_address, auth=("neo4j", PASSWORD)) as driver:
        driver.execute_query("MATCH (n) DETACH DELETE n")
        driver.execute_query(
            "CREATE (p:Person {name: 'Ford'})<-[:KNOWS]-(:Person {name: 'Arthur'}), "
            "(:Robot {name: 'Marvin'})-[:KNOWS]->(p)-[:OWNS]->(:Ship {name: 'Heart'})"
        )
    store = Neo4jStore(neo4j_address, password=PASSWORD, seconds=30)
    whole = store.schema()
    sampled = replace(whole, hops=tuple(hop for hop in whole.hops if hop.head != "Robot"))
    with pytest.MonkeyPatch.context() as patch, Database(store, StaticEmbedder.load()) as opened:
        patch.setattr(store, "schema", lambda: sampled)
        yield opened


@pytest.mark.parametrize(
    ("pattern", "corrected"),
    [
        ("(r:Robot)-[:KNOWS]->(x:Person)", "(r:Robot)-[:KNOWS]->(x:Person)"),
        ("(r:Robot)-[:KNOWS]->(x)", "(r:Robot)-[:KNOWS]->(x)"),
        ("(r:Robot)-->(x:Person)", "(r:Robot)-->(x:Person)"),
        ("(x:Person)-[:KNOWS]->(r:Robot)", "(x:Person)<-[:KNOWS]-(r:Robot)"),
        ("(x:Person)<-[:OWNS]-(s:Ship)", "(x:Person)-[:OWNS]->(s:Ship)"),
    ],
)
def test_a_hop_that_the_sample_missed_is_looked_for_before_it_is_called_illegal(rare, pattern, corrected):
    answer = rare.ask("Whom does the robot know?", model=model(f"MATCH {pattern} RETURN x.name AS x", "x"))
    assert [a.label for a in answer.answers] == ["Ford"], answer.abstained
    assert corrected in (answer.query or "")


@pytest.mark.parametrize(
    ("heads", "types", "tails", "found"),
    [
        (("Robot",), ("KNOWS",), ("Person",), ("Robot", "KNOWS", "Person")),
        (("Ship", "Robot"), ("OWNS", "KNOWS"), (), ("Robot", "KNOWS", "Person")),
        ((), (), ("Ship",), ("Person", "OWNS", "Ship")),
        (("Person",), ("KNOWS",), ("Robot",), None),
        (("Person",), ("OWNS",), ("Robot",), None),
        (("Robot",), ("OWNS",), ("Ship",), None),
    ],
)
def test_a_hop_is_found_where_it_is(rare, heads, types, tails, found):
    from clew.stores.cypher.schema import HopSearch, SchemaHop

    hops = rare.store.find_hops(HopSearch(heads, types, tails))
    assert hops == (() if found is None else (SchemaHop(*found),))

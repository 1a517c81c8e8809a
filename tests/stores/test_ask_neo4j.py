"""A Neo4j server asked at its address: SynaptiQA, and methods of an index by a copy or a neighbourhood."""

import json
import threading
from dataclasses import replace

import pytest
from graphs import EXAMPLES, load

from clew.errors import UsageError
from clew.llm.testing import ScriptedModel
from clew.stores.near_neo4j import NearNeo4j
from clew.stores.neighbourhood import Fetcher, FetchLimits


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
        movies.ask("Who?", method="synaptiqa")


def detail(answer, step):
    return next(each.detail for each in answer.steps if each.name == step)


@pytest.fixture
def large(movies):
    """The database as if it were too large to be copied."""
    from clew.database import Database
    from clew.methods.database_copy import DatabaseCopy

    opened = Database(movies.store, movies.embedder)
    vars(opened)["_copy"] = DatabaseCopy(NearNeo4j(movies.store), movies.embedder, most=10)
    return opened


@pytest.mark.parametrize("method", ["auto", "kg-rag", "walk-retrieve"])
def test_a_method_of_an_index_asks_what_is_near_the_names(large, method):
    answer = large.ask("Who directed Apollo 13?", method=method)
    assert [a.label for a in answer.answers] == ["Ron Howard"]
    assert answer.citations
    near = detail(answer, "neighbourhood")
    assert near["round trips"] <= 7
    assert near["edges"] > 10


def test_what_is_near_is_fetched_once_until_the_database_changes(large, movies):
    question = "Who directed Cast Away?"
    large.ask(question, method="kg-rag")
    before = movies.store.trips
    large.ask(question, method="kg-rag")
    assert movies.store.trips - before == 1
    write(movies, "CREATE (:Film)")
    before = movies.store.trips
    large.ask(question, method="kg-rag")
    assert movies.store.trips - before > 3


def test_one_that_fetches_holds_up_nobody_else(large, monkeypatch):
    fetch, begun, go_on = Fetcher.fetch, threading.Event(), threading.Event()

    def slow(fetcher, found):
        if threading.current_thread() is not threading.main_thread():
            begun.set()
            assert go_on.wait(30)
        fetch(fetcher, found)

    large.prepare("kg-rag")
    monkeypatch.setattr(Fetcher, "fetch", slow)
    answers = []
    other = threading.Thread(
        target=lambda: answers.append(large.ask("Who directed Hoffa?", method="kg-rag").text)
    )
    other.start()
    try:
        assert begun.wait(30)
        assert large.ask("Who directed Apollo 13?", method="kg-rag").text == "Ron Howard"
        assert not answers
    finally:
        go_on.set()
        other.join()
    assert answers == ["Danny DeVito"]


def write(movies, query):
    import neo4j
    from neo4j_server import PASSWORD

    with neo4j.GraphDatabase.driver(movies.store.address, auth=("neo4j", PASSWORD)) as driver:
        driver.execute_query(query)


def test_a_small_database_is_copied_once_until_it_changes(movies, tmp_path):
    from clew.database import Database
    from clew.methods.database_copy import DatabaseCopy

    opened = Database(movies.store, movies.embedder, cache_dir=tmp_path)
    vars(opened)["_copy"] = DatabaseCopy(NearNeo4j(movies.store), movies.embedder, tmp_path, worth=0)
    question = "Who directed Apollo 13?"
    first = opened.ask(question, method="kg-rag")
    assert [a.label for a in first.answers] == ["Ron Howard"]
    assert detail(first, "copy of the database")["round trips"] <= 12
    for again in (opened, Database(movies.store, movies.embedder, cache_dir=tmp_path)):
        answer = again.ask(question, method="auto")
        assert detail(answer, "copy of the database")["round trips"] == 1
        assert answer.complete
    write(movies, "MATCH (m {title: 'Apollo 13'}) CREATE (:Person {name: 'Ada Ada'})-[:DIRECTED]->(m)")
    try:
        answer = opened.ask(question, method="kg-rag")
        assert {a.label for a in answer.answers} == {"Ron Howard", "Ada Ada"}
    finally:
        write(movies, "MATCH (n {name: 'Ada Ada'}) DETACH DELETE n")


def test_a_database_that_changes_too_often_is_not_copied_again(movies, tmp_path):
    from clew.methods.database_copy import DatabaseCopy

    copy = DatabaseCopy(NearNeo4j(movies.store), movies.embedder, tmp_path)
    first = copy.current()
    assert first is not None
    assert copy.current() is first
    write(movies, "CREATE (:Film)")
    assert copy.current() is None


def test_a_database_that_changes_while_it_is_copied_is_not_taken_for_whole(movies, tmp_path):
    from clew.methods import database_copy

    class Changes(NearNeo4j):
        def export(self, folder):
            path = super().export(folder)
            write(movies, "CREATE (:Film)")
            return path

    copy = database_copy.DatabaseCopy(Changes(movies.store), movies.embedder, tmp_path)
    assert copy.current() is None
    assert not list(tmp_path.glob("*.state"))


def test_names_are_found_in_any_case_and_the_longest_wins(movies):
    fetcher = Fetcher(NearNeo4j(movies.store))
    assert len(fetcher.nodes_named_in("who directed apollo 13?").topic_entities) == 1
    assert not fetcher.nodes_named_in("Who directed it?").topic_entities
    long = fetcher.nodes_named_in("Who acted in The Matrix Reloaded?").topic_entities
    (title,) = movies.store.read("MATCH (n) WHERE id(n) = $id RETURN n.title", {"id": int(long[0])}, most=1)[
        1
    ][0]
    assert (len(long), title) == (1, "The Matrix Reloaded")


def test_what_is_not_fetched_makes_the_answer_incomplete(movies):
    fetcher = Fetcher(NearNeo4j(movies.store), FetchLimits(hops=3, hub=2))
    found = fetcher.nodes_named_in("Who directed Apollo 13?")
    fetcher.fetch(found)
    assert found.hubs
    assert "not passed through" in found.notes[0]
    whole = Fetcher(NearNeo4j(movies.store)).nodes_named_in("Who directed Apollo 13?")
    Fetcher(NearNeo4j(movies.store)).fetch(whole)
    assert not whole.notes
    assert set(found.edges) < set(whole.edges)


def test_a_question_without_a_name_is_not_answered(large):
    answer = large.ask("Which film is the longest?", method="kg-rag")
    assert answer.abstained.reason == "no_entity"


CLAIMS = {
    "Ron Howard directed Apollo 13.": "supported",
    "Ron Howard directed Apollo 13 and Cast Away.": "refuted",
    "Tom Hanks acted in Apollo 13 and Cast Away.": "supported",
    "Apollo 13 was directed by Tom Hanks.": "refuted",
    "Ron Howard painted Apollo 13.": "not_enough_info",
}


@pytest.mark.parametrize("asked", ["movies", "large"])
def test_claims_are_verified_by_a_copy_and_by_what_is_near(request, asked):
    database, step = request.getfixturevalue(asked), "copy of the database"
    for claim, verdict in CLAIMS.items():
        told = database.verify(claim)
        assert told.verdict == verdict, claim
        assert all(p.triples for p in told.parts if p.verdict != "not_enough_info")
        if asked == "large":
            near = detail(told, "neighbourhood")
            assert near["round trips"] <= 6
            assert near["edges"] > 10
        else:
            assert detail(told, step)["triples"] > 100
    before = database.store.trips
    database.verify("Ron Howard directed Apollo 13.")
    assert database.store.trips - before == 1


def test_a_model_verifies_a_claim_against_what_is_near(large):
    from clew.llm.testing import ScriptedModel

    asked = []

    def reply(request):
        asked.append(request.messages[-1].text)
        return "{}"

    told = large.verify("Ron Howard painted Apollo 13.", model=ScriptedModel(reply))
    assert asked
    assert told.verdict == "not_enough_info"
    assert detail(told, "neighbourhood")["round trips"] <= 7


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


@pytest.fixture(scope="module")
def shop(neo4j_address):
    """Orders without a name, employees of one title, two guests of one name, a town called as a guest."""
    import neo4j
    from neo4j_server import PASSWORD

    from clew.database import Database
    from clew.stores.neo4j import Neo4jStore
    from clew.text.embedders.static import StaticEmbedder

    with neo4j.GraphDatabase.driver(neo4j_address, auth=("neo4j", PASSWORD)) as driver:
        driver.execute_query("MATCH (n) DETACH DELETE n")
        driver.execute_query(
            "UNWIND range(1, 12) AS i CREATE (:Order {orderID: 10247 + i, shipName: 'Alfreds', "
            "orderDate: date('1996-07-04') + duration({days: i})})"
        )
        driver.execute_query(
            "UNWIND [['Nancy', 'Davolio'], ['Andrew', 'Fuller'], ['Nancy', 'Drew']] AS n "
            "CREATE (:Employee {employeeID: size(n[0]) + size(n[1]), firstName: n[0], lastName: n[1], "
            "title: 'Sales Representative'})"
        )
        driver.execute_query(
            "CREATE (:Guest {name: 'Kim', code: 'P1'}), (:Guest {name: 'Kim', code: 'P2'}), "
            "(:Guest {name: 'Paris', code: 'P3'}), (:Guest {name: 'Ada', code: 'P4'}), "
            "(:Guest {name: 'Bo', code: 'P5'}), (:Town {name: 'Paris', code: 'T1'})"
        )
        driver.execute_query(
            "MATCH (o:Order {orderID: 10248}), (e:Employee {lastName: 'Davolio'}) CREATE (e)-[:SOLD]->(o)"
        )
        driver.execute_query("MATCH (a:Guest), (t:Town) CREATE (a)-[:LIVES_IN]->(t)")
    with Database(Neo4jStore(neo4j_address, password=PASSWORD, seconds=30), StaticEmbedder.load()) as opened:
        yield opened


def test_a_node_without_a_name_is_called_by_its_label_and_key(shop):
    query = "MATCH (e:Employee)-[:SOLD]->(o:Order) RETURN o"
    answer = shop.ask("What did Nancy Davolio sell?", model=model(query, "o"))
    assert [a.entity for a in answer.answers] == ["Order 10248"]
    assert [t.as_json() for t in answer.citations[0].triples] == [["Nancy Davolio", "SOLD", "Order 10248"]]


def test_nodes_of_equal_names_are_not_merged(shop):
    answer = shop.ask("Who lives there?", model=model("MATCH (p:Guest)-[:LIVES_IN]->(:Town) RETURN p", "p"))
    assert {a.entity for a in answer.answers} == {
        "Kim (Guest P1)", "Kim (Guest P2)", "Paris (Guest P3)", "Ada (Guest P4)", "Bo (Guest P5)",
    }  # fmt: skip
    assert {c.triples[0].tail for c in answer.citations} == {"Paris (Town T1)"}


def test_the_properties_of_a_row_are_cited_also_one_that_looks_like_a_name(shop):
    query = "MATCH (o:Order {orderID: 10248}) RETURN o.shipName AS ship"
    answer = shop.ask("Who got order 10248?", model=model(query, "ship"))
    assert ["Order 10248", "shipName", "Alfreds"] in [t.as_json() for t in answer.citations[0].triples]


def test_the_schema_says_what_values_are(shop):
    schema = shop.store.schema()
    assert schema.kinds["Order"]["orderID"].startswith("whole number 102")
    assert schema.kinds["Order"]["orderDate"].startswith("date 1996-07-")
    assert schema.namings["Employee"].names == ("firstName", "lastName")

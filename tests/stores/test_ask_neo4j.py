"""A Neo4j server asked at its address by SynaptiQA."""

import json
from dataclasses import replace

import pytest

from clew.database import Database
from clew.errors import UsageError
from clew.llm.testing import ScriptedModel
from clew.stores.store import HopSearch, SchemaHop
from clew.text.embedders import StaticEmbedder


@pytest.fixture(scope="module")
def movies(filled):
    with Database(filled(graph="movies"), StaticEmbedder.load()) as opened:
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


def test_methods_of_an_index_and_claims_say_how_to_make_one(movies):
    for method in ("kaping", "kg-rag"):
        with pytest.raises(UsageError, match="clew index"):
            movies.ask("Who?", method=method, model=model("", ""))
    with pytest.raises(UsageError, match="needs a chat model"):
        movies.ask("Who?")
    with pytest.raises(UsageError, match="clew index"):
        movies.verify("Ron Howard directed Apollo 13.")


@pytest.fixture(scope="module")
def rare(filled):
    """A graph that has a hop which its schema lacks, as one does that is read from a sample."""
    store = filled(
        "CREATE (p:Person {name: 'Ford'})<-[:KNOWS]-(:Person {name: 'Arthur'}), "
        "(:Robot {name: 'Marvin'})-[:KNOWS]->(p)-[:OWNS]->(:Ship {name: 'Heart'})"
    )
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
    hops = rare.store.find_hops(HopSearch(heads, types, tails))
    assert hops == (() if found is None else (SchemaHop(*found),))


@pytest.fixture(scope="module")
def shop(filled):
    """Orders without a name, employees of one title, two guests of one name, a town called as a guest."""
    store = filled(
        "UNWIND range(1, 12) AS i CREATE (:Order {orderID: 10247 + i, shipName: 'Alfreds', "
        "orderDate: date('1996-07-04') + duration({days: i})})",
        "UNWIND [['Nancy', 'Davolio'], ['Andrew', 'Fuller'], ['Nancy', 'Drew']] AS n "
        "CREATE (:Employee {employeeID: size(n[0]) + size(n[1]), firstName: n[0], lastName: n[1], "
        "title: 'Sales Representative'})",
        "CREATE (:Guest {name: 'Kim', code: 'P1'}), (:Guest {name: 'Kim', code: 'P2'}), "
        "(:Guest {name: 'Paris', code: 'P3'}), (:Guest {name: 'Ada', code: 'P4'}), "
        "(:Guest {name: 'Bo', code: 'P5'}), (:Town {name: 'Paris', code: 'T1'})",
        "MATCH (o:Order {orderID: 10248}), (e:Employee {lastName: 'Davolio'}) CREATE (e)-[:SOLD]->(o)",
        "MATCH (a:Guest), (t:Town) CREATE (a)-[:LIVES_IN]->(t)",
    )
    with Database(store, StaticEmbedder.load()) as opened:
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

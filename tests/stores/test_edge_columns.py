"""Properties of edges in the embedded store: typed, asked in Cypher, and returned with edges."""

from contextlib import closing

import pytest

from clew.errors import ClewError
from clew.graph.build import build_graph

pytest.importorskip("ladybug", reason="ladybug is not installed")

FLIGHTS = """from,to,relationship,airline,since,weight,first day,Since,clew_triple
Oslo,Paris,flight,SAS,2001,2.5,2001-05-01,old,a
Oslo,Paris,flight,KLM,2012,3,2012-06-01,new,b
Oslo,Rome,flight,Norwegian,2007,1,2007-01-02,,
Paris,Rome,flight,"Air ""F"", x",2015,4,,,
Rome,Paris,train,,1999,,,,
Rome,Oslo,road,,,,,,
"""


def store_of(tmp_path, text, name="flights.csv"):
    from clew.stores.ladybug import LadybugStore

    (tmp_path / name).write_text(text)
    return LadybugStore.of_graph(build_graph([tmp_path / name])[0])


@pytest.fixture(scope="module")
def flights(tmp_path_factory):
    with closing(store_of(tmp_path_factory.mktemp("flights"), FLIGHTS)) as store:
        yield store


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("MATCH (a)-[r:flight]->(b) WHERE r.since > 2010 RETURN b.name, r.airline",
         [("Paris", "KLM"), ("Rome", 'Air "F", x')]),
        # Each edge of the source is one, also where two have the same ends.
        ("MATCH ({name: 'Oslo'})-[r:flight]->({name: 'Paris'}) RETURN count(r)", [(2,)]),
        ("MATCH ()-[r:flight {airline: 'KLM'}]->(b) RETURN b.name, r.weight", [("Paris", 3.0)]),
        ("MATCH ()-[r:flight]->() RETURN max(r.weight), avg(r.since)", [(4.0, 2008.75)]),
        ("MATCH ()-[r:flight]->(b) WHERE r.`first day` < date('2007-01-01') RETURN r.airline", [("SAS",)]),
        ("MATCH ()-[r:flight]->() WHERE r.`first day` IS NULL RETURN r.airline", [('Air "F", x',)]),
        ("MATCH (a)-[r]->(b) WHERE r.since < 2002 RETURN type(r), b.name",
         [("flight", "Paris"), ("train", "Paris")]),
        # Names that the store has otherwise: it knows no case, and `clew_triple` is its own.
        ("MATCH ()-[r:flight]->() WHERE r.Since_ = 'old' RETURN r.clew_triple_", [("a",)]),
        ("MATCH (a)-[:road]->(b) RETURN a.name", [("Rome",)]),
    ],
)  # fmt: skip
def test_edges_are_asked_by_their_properties(flights, query, expected):
    assert sorted(flights.run(query).rows) == expected


SALES = """from;relation;to;sold on;price €;paid;rebate
Weber;sells to;Hof;31.12.2020;1.234,50;yes;none
Weber;sells to;Linde;01.02.2021;900,00;no;5
"""


def test_cypher_and_sparql_get_what_the_columns_are(tmp_path):
    from clew.stores.sparql.embedded import EmbeddedSparql

    with closing(store_of(tmp_path, SALES, "sales.csv")) as store:
        query = "MATCH ()-[r]->() WHERE r.`sold on` < date('2021-01-15') AND r.paid RETURN r.`price €`"
        assert store.run(query).rows == ((1234.5,),)
    graph = build_graph([tmp_path / "sales.csv"])[0]
    with closing(EmbeddedSparql.of_graph(graph)) as rdf:
        edge = "?a r:sells%20to ?b {| p:sold%20on ?day ; p:paid true ; p:price%20%E2%82%AC ?price |}"
        rows = rdf.run(f'SELECT ?price {{ {edge} FILTER(?day < "2021-01-15"^^xsd:date) }}').rows
        assert [row[0].value for row in rows] == ["1234.5"]
        rows = rdf.run("SELECT ?v { [] p:rebate ?v } ORDER BY isNumeric(?v)").rows
        assert [(row[0].value, row[0].datatype[-6:]) for row in rows] == [("none", ""), ("5", "nteger")]


def test_what_may_be_no_day_and_no_boolean_is_a_text(tmp_path):
    """A month is no day, and a letter or a code that *no* is written with says nothing of truth."""
    from clew.stores.sparql.embedded import EmbeddedSparql

    text = "from;relation;to;since;side;lang;paid\nA;likes;B;2020-05;N;NO;yes\nB;likes;C;2020-06;N;NO;no\n"
    with closing(store_of(tmp_path, text, "links.csv")) as store:
        query = "MATCH ()-[r]->() WHERE r.side = 'N' AND r.paid RETURN r.since, r.side, r.lang"
        assert store.run(query).rows == (("2020-05", "N", "NO"),)
    with closing(EmbeddedSparql.of_graph(build_graph([tmp_path / "links.csv"])[0])) as rdf:
        edge = "[] p:paid true ; p:since ?since ; p:side ?side ; p:lang ?lang"
        ((*terms,),) = rdf.run(f"SELECT ?since ?side ?lang {{ {edge} }}").rows
        assert [(term.value, term.datatype) for term in terms] == [("2020-05", ""), ("N", ""), ("NO", "")]


def test_an_edge_has_its_properties(flights):
    ((edge,),) = flights.run("MATCH ()-[r:train]->() RETURN r").rows
    assert (edge.type, edge.properties) == ("train", {"since": 1999})


def test_a_property_that_a_relation_lacks_is_said(flights):
    with pytest.raises(ClewError, match="airline"):
        flights.run("MATCH ()-[r:train]->() RETURN r.airline")


def test_statements_of_rdf_are_edges_and_values_that_differ_in_kind_are_texts(tmp_path):
    text = """@prefix : <http://e/> .
    :a :knows :b {| :since 2001 ; :source "x", "y" |} . :a :knows :c {| :since "long ago" |} .
    :a :age 30 {| :since 2020 |} . :a :b :c ."""
    with closing(store_of(tmp_path, text, "g.ttl")) as store:
        rows = store.run("MATCH ()-[r:`http://e/knows`]->(n) RETURN n.name, r.since, r.source").rows
        assert sorted(rows) == [("b", "2001", ("x", "y")), ("c", "long ago", None)]
        assert store.run("MATCH (n {name: 'a'}) RETURN n.`http://e/age`").rows == ((30,),)


def test_lists_of_texts_hold_the_texts(tmp_path):
    """Whatever is in them."""
    values = ["x", "y, z", 'q"r', "[b]", "it's", "back\\slash", "NULL", " lead ", "l\nm"]
    told = ", ".join(
        '"' + v.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"' for v in values
    )
    text = f"@prefix : <http://e/> . :a :n {told} . :a :b :c . :c :n 'one' ; :m 1, 2.5 ."
    with closing(store_of(tmp_path, text, "g.ttl")) as store:
        assert sorted(store.run("MATCH (a {name: 'a'}) RETURN a.`http://e/n`").rows[0][0]) == sorted(values)
        query = "MATCH (a) WHERE 'y, z' IN a.`http://e/n` RETURN a.name"
        assert store.run(query).rows == (("a",),)
        assert store.run("MATCH (a {name: 'c'}) RETURN a.`http://e/n`, a.`http://e/m`").rows == (
            (("one",), (1.0, 2.5)),
        )

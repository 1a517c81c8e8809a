"""SPARQL over an index of RDF is over that RDF: names, languages, datatypes, blank nodes, graphs, lists."""

from pathlib import Path

import pyoxigraph
import pytest

from clew import Clew
from clew.stores.errors import QueryError
from clew.stores.sparql.embedded import statements

CITIES = (Path(__file__).parents[2] / "data" / "stores" / "cities.trig").read_text("utf-8")
PREFIX = "PREFIX ex: <http://example.org/> PREFIX owl: <http://www.w3.org/2002/07/owl#> "
XSD = "http://www.w3.org/2001/XMLSchema#"


@pytest.fixture(scope="module")
def cities(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cities")
    (folder / "cities.trig").write_text(CITIES, "utf-8")
    with Clew.index([folder / "cities.trig"], folder / "cities.clew") as clew:
        yield clew


def rows(clew, query):
    found = clew.query(PREFIX + query).rows
    return sorted(
        tuple(
            term if isinstance(term, bool) else term.value.removeprefix("http://example.org/") for term in row
        )
        for row in found
    )


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("SELECT ?s { ?s a ex:City }", [("berlin",), ("bremen",), ("cologne",), ("hamburg",)]),
        ('SELECT ?s { ?s rdfs:label "Köln"@de }', [("cologne",)]),
        ('SELECT ?s { ?s rdfs:label "Köln" }', []),
        ("SELECT ?l { ex:cologne rdfs:label ?l FILTER(lang(?l) = 'en') }", [("Cologne",)]),
        ("SELECT ?s ?l { ?s skos:prefLabel ?l }", [("cologne", "Köln")]),
        ("SELECT ?l { ex:cologne skos:altLabel ?l }", [("Colonia",)]),
        ("SELECT ?d { ex:berlin ex:population ?p BIND(datatype(?p) AS ?d) }", [(XSD + "integer",)]),
        ("SELECT ?d { ex:cologne ex:founded ?y BIND(datatype(?y) AS ?d) }", [(XSD + "gYear",)]),
        ('ASK { ex:cologne ex:code "007" }', [(True,)]),
        ('ASK { ex:cologne ex:motto "a \\"quoted\\"\\nline" }', [(True,)]),
        ("SELECT ?n { ex:cologne ex:mayor ?m . ?m ex:name ?n FILTER(isBlank(?m)) }", [("Henriette Reker",)]),
        ("SELECT ?g ?s { GRAPH ?g { ?s a ex:City } }", [("g1", "hamburg"), ("g2", "bremen")]),
        ("SELECT ?p { GRAPH ex:g1 { ex:hamburg ex:population ?p } }", [("1900000",)]),
        ("SELECT ?p { GRAPH ex:g2 { ex:hamburg ex:population ?p } }", []),
        ("SELECT ?x { ex:trip ex:stops/rdf:rest*/rdf:first ?x }", [("berlin",), ("cologne",)]),
        ("SELECT ?x { ex:book ex:authors/rdf:_2 ?x }", [("bob",)]),
        ("SELECT ?w { [] rdf:subject ex:berlin ; rdf:object ex:cologne ; ex:since ?w }", [("1987",)]),
        ("SELECT (SUM(?p) AS ?n) { ?s ex:population ?p }", [("6665335",)]),
        ("SELECT ?c { ?c a owl:Class }", [("City",)]),
        # What follows from the ontology is there too.
        ("SELECT (COUNT(?s) AS ?n) { ?s a ex:Place }", [("4",)]),
    ],
)
def test_a_query_is_over_what_the_source_says(cities, query, found):
    assert rows(cities, query) == found


def said(quads):
    """Statements with all blank nodes as one, and the name of their graph."""

    def text(term):
        return "_" if isinstance(term, pyoxigraph.BlankNode) else str(term)

    return {tuple(map(text, (q.subject, q.predicate, q.object, q.graph_name))) for q in quads}


def test_nothing_of_a_source_is_lost_and_what_follows_is_added(cities):
    source = said(pyoxigraph.parse(CITIES.encode(), pyoxigraph.RdfFormat.TRIG))
    lines = "".join(statements(cities.opened.graph)).encode()
    stored = said(pyoxigraph.parse(lines, pyoxigraph.RdfFormat.N_QUADS))
    assert source - stored == set()
    default = {row[:3] for row in source}
    more = {row for row in stored - source if row[:3] not in default}
    lists = {("authors", "ann"), ("authors", "bob"), ("stops", "berlin"), ("stops", "cologne")}
    assert {row[1:3] for row in more} == {
        ("<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>", "<http://example.org/Place>"),
        *((f"<http://example.org/{of}>", f"<http://example.org/{member}>") for of, member in lists),
    }


def test_an_update_changes_what_is_asked(tmp_path):
    (tmp_path / "cities.trig").write_text(CITIES, "utf-8")
    prefixes = CITIES[: CITIES.index("ex:City a")]
    (tmp_path / "more.ttl").write_text(
        prefixes + 'ex:berlin rdfs:label "Berlino"@it . ex:bonn a ex:City .', "utf-8"
    )
    (tmp_path / "less.trig").write_text(
        prefixes
        + 'ex:cologne skos:prefLabel "Köln"@de . ex:g1 { ex:hamburg ex:population "1900000"^^xsd:integer . }',
        "utf-8",
    )
    with Clew.index([tmp_path / "cities.trig"], tmp_path / "cities.clew") as clew:
        clew.update(add=[tmp_path / "more.ttl"], remove=[tmp_path / "less.trig"])
        assert rows(clew, 'SELECT ?s { ?s rdfs:label "Berlino"@it }') == [("berlin",)]
        assert ("bonn",) in rows(clew, "SELECT ?s { ?s a ex:City }")
        assert rows(clew, "SELECT ?l { ?s rdfs:label ?l FILTER(lang(?l) = 'de') }") == [
            ("Bremen",),
            ("Köln",),
        ]
        assert rows(clew, "SELECT ?p { GRAPH ?g { ?s ex:population ?p } }") == []
        with pytest.raises(QueryError, match="The graph has no skos:prefLabel"):
            rows(clew, "SELECT ?l { ?s skos:prefLabel ?l }")
    with Clew.open(tmp_path / "cities.clew") as clew:
        assert rows(clew, 'SELECT ?s { ?s rdfs:label "Berlino"@it }') == [("berlin",)]


def test_a_triple_that_is_removed_by_names_goes_from_its_graphs(tmp_path):
    (tmp_path / "cities.trig").write_text(CITIES + "ex:g1 { ex:hamburg ex:twin ex:berlin . }\n", "utf-8")
    iri = "http://example.org/{}".format
    with Clew.index([tmp_path / "cities.trig"], tmp_path / "cities.clew") as clew:
        assert rows(clew, "SELECT ?g { GRAPH ?g { ?s ex:twin ?o } }") == [("g1",)]
        clew.update(remove=[(iri("hamburg"), iri("twin"), iri("berlin"))])
        assert rows(clew, "SELECT ?g { GRAPH ?g { ?s ex:twin ?o } }") == []
        assert rows(clew, "SELECT ?o { ex:hamburg ex:twin ?o }") == []


def test_an_entity_that_is_removed_leaves_no_label(tmp_path):
    (tmp_path / "cities.trig").write_text(CITIES, "utf-8")
    (tmp_path / "gone.txt").write_text("http://example.org/bremen\n", "utf-8")
    with Clew.index([tmp_path / "cities.trig"], tmp_path / "cities.clew") as clew:
        clew.update(remove_entities=tmp_path / "gone.txt")
        with pytest.raises(QueryError):
            rows(clew, "SELECT ?l { ex:bremen rdfs:label ?l }")
        assert ("bremen",) not in rows(clew, "SELECT ?s { ?s a ex:City }")


def test_tables_beside_rdf_keep_their_prefixes(tmp_path):
    (tmp_path / "cities.trig").write_text(CITIES, "utf-8")
    (tmp_path / "visits.tsv").write_text("Ann\tvisited\thttp://example.org/cologne\n", "utf-8")
    with Clew.index([tmp_path / "cities.trig", tmp_path / "visits.tsv"], tmp_path / "all.clew") as clew:
        query = "SELECT ?l { ?s r:visited ?c ; rdfs:label ?l . ?c rdfs:label 'Köln'@de }"
        assert rows(clew, query) == [("Ann",)]

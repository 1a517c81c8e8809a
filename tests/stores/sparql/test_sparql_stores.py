"""What every SPARQL store does: in process, Oxigraph's server and Jena Fuseki over HTTP."""

import time
from contextlib import ExitStack, closing, nullcontext, suppress

import pytest
from cases import SPARQL
from neo4j_server import Unavailable
from sparql_server import fuseki_server, oxigraph_server

from clew.stores.errors import QueryError, StoreError, StoreTimeout
from clew.stores.sparql.embedded import EmbeddedSparql, statements
from clew.stores.sparql.endpoint import SparqlEndpoint
from clew.stores.store import as_json

SECONDS = 0.5
ALLOWED = SECONDS + 5
"""Whole, each would take minutes; five seconds are for starting a process on a busy machine."""
COUNT = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"


@pytest.fixture(scope="module")
def triples(films, tmp_path_factory):
    path = tmp_path_factory.mktemp("rdf") / "films.nt"
    path.write_text("".join(statements(films[0])), "utf-8")
    return path


@pytest.fixture(
    scope="module",
    params=["embedded", *(pytest.param(name, marks=pytest.mark.server) for name in ("oxigraph", "fuseki"))],
)
def opened(request, films, triples):
    """A function that opens the store with its options."""
    with ExitStack() as stack:
        if request.param == "embedded":
            yield lambda **options: stack.enter_context(closing(EmbeddedSparql.of_graph(films[0], **options)))
            return
        server = {"oxigraph": oxigraph_server, "fuseki": fuseki_server}[request.param]
        try:
            address = stack.enter_context(server(triples))
        except Unavailable as error:
            pytest.skip(str(error))
        yield lambda **options: SparqlEndpoint(address, **options)


@pytest.fixture(scope="module")
def store(opened):
    return opened(seconds=20, rows=50)


PREFIXED = "PREFIX r: <urn:clew:relation:> PREFIX e: <urn:clew:entity:> "


def values(rows):
    return [tuple(None if term is None else term.value for term in row) for row in rows.rows]


def test_rows_are_those_of_the_graph(store, films):
    graph = films[0]
    director = list(graph.entities).index("Christopher Nolan")
    relation = list(graph.relations).index("directed_by")
    start, stop = graph.into.span(director)
    expected = {
        graph.labels[int(film)]
        for film, own in zip(graph.into.neighbour[start:stop], graph.into.relation[start:stop], strict=True)
        if own == relation
    }
    query = "SELECT ?name { ?f r:directed_by e:Christopher%20Nolan ; rdfs:label ?name }"
    rows = store.run(f"PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> {PREFIXED}{query}")
    assert rows.columns == ("name",)
    assert rows.complete
    assert {name for (name,) in values(rows)} == expected
    assert len(expected) > 3


def test_rows_are_limited_and_that_is_said(store):
    rows = store.run("SELECT ?s { ?s ?p ?o } LIMIT 60")
    assert (len(rows.rows), rows.complete) == (50, False)
    rows = store.run("SELECT ?s { ?s ?p ?o } LIMIT 50")
    assert (len(rows.rows), rows.complete) == (50, True)


def test_values_have_their_types(store):
    query = (
        'SELECT ?i ?t ?l ?u ?none { BIND(5 AS ?i) BIND("a" AS ?t) BIND("b"@en AS ?l) BIND(<urn:x> AS ?u) }'
    )
    (row,) = store.run(query).rows
    assert [as_json(value) for value in row] == [
        {"type": "literal", "value": "5", "datatype": "http://www.w3.org/2001/XMLSchema#integer"},
        {"type": "literal", "value": "a"},
        {"type": "literal", "value": "b", "xml:lang": "en"},
        {"type": "uri", "value": "urn:x"},
        None,
    ]


def test_ask_is_a_row_and_construct_triples(store):
    rows = store.run("ASK { ?s ?p ?o }")
    assert (rows.columns, rows.rows) == (("ask",), ((True,),))
    assert store.run("ASK { ?s <urn:none> ?o }").rows == ((False,),)
    rows = store.run(f"{PREFIXED} CONSTRUCT {{ ?f r:x ?d }} WHERE {{ ?f r:directed_by ?d }} LIMIT 3")
    assert rows.columns == ("subject", "predicate", "object")
    assert {p for _, p, _ in values(rows)} == {"urn:clew:relation:x"}
    assert len(rows.rows) == 3


def test_no_attack_is_run(store):
    before = values(store.run(COUNT))
    for query in SPARQL["refused"]:
        with pytest.raises(QueryError):
            store.run(query)
    assert values(store.run(COUNT)) == before


def test_harmless_queries_run(store):
    for query in SPARQL["harmless"]:
        with suppress(QueryError) if store.name == "embedded" else nullcontext():
            store.run(query)


@pytest.fixture(scope="module")
def hasty(opened):
    store = opened(seconds=SECONDS)
    store.run("ASK { }")  # the first one loads the parser, and starts the process
    return store


@pytest.mark.parametrize("number", range(len(SPARQL["slow"])))
def test_a_slow_query_ends_in_time(hasty, number):
    start = time.monotonic()
    with suppress(StoreTimeout, StoreError):
        hasty.run(SPARQL["slow"][number])
    assert time.monotonic() - start < ALLOWED
    assert values(hasty.run("SELECT ?x { BIND(1 AS ?x) }")) == [("1",)]


def test_what_the_store_does_not_understand_is_one_line(store):
    with pytest.raises(QueryError) as raised:
        store.run("SELECT * { ?s nowhere:p ?o }")
    assert "\n" not in str(raised.value)
    assert "nowhere" in str(raised.value) or "refix" in str(raised.value)


def test_a_closed_store_leaves_nothing(films):
    store = EmbeddedSparql.of_graph(films[0])
    store.run("ASK { ?s ?p ?o }")
    folder = store.processes().folder
    assert folder.exists()
    store.close()
    assert not folder.exists()

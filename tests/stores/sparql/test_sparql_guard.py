import pytest

from clew.stores.errors import QueryRefused, QuerySyntaxError
from clew.stores.sparql.guard import LONGEST_SPARQL, guard_sparql


def sent(query, rows=10):
    return guard_sparql(query, rows).text


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("SELECT * { ?s ?p ?o }", "SELECT * { ?s ?p ?o } LIMIT 11"),
        ("SELECT * { ?s ?p ?o } LIMIT 5", "SELECT * { ?s ?p ?o } LIMIT 5"),
        ("SELECT * { ?s ?p ?o } LIMIT 500", "SELECT * { ?s ?p ?o } LIMIT 11"),
        ("SELECT * { ?s ?p ?o } LIMIT 500 OFFSET 20", "SELECT * { ?s ?p ?o } LIMIT 11 OFFSET 20"),
        ("SELECT * { ?s ?p ?o } OFFSET 20 LIMIT 500", "SELECT * { ?s ?p ?o } OFFSET 20 LIMIT 11"),
        ("SELECT * { ?s ?p ?o } # LIMIT 3", "SELECT * { ?s ?p ?o }   LIMIT 11"),
        ("SELECT * { ?s ?p 'LIMIT 3' }", "SELECT * { ?s ?p 'LIMIT 3' } LIMIT 11"),
        (
            "SELECT * { { SELECT * { ?s ?p ?o } LIMIT 3 } }",
            "SELECT * { { SELECT * { ?s ?p ?o } LIMIT 3 } } LIMIT 11",
        ),
        ("SELECT * { ?s ?p ?o } VALUES ?s { <a> }", "SELECT * { ?s ?p ?o } LIMIT 11 VALUES ?s { <a> }"),
        ("SELECT ?limit { ?limit ?p ?o }", "SELECT ?limit { ?limit ?p ?o } LIMIT 11"),
        ("CONSTRUCT WHERE { ?s ?p ?o }", "CONSTRUCT WHERE { ?s ?p ?o } LIMIT 11"),
        ("DESCRIBE <a>", "DESCRIBE <a> LIMIT 11"),
        ("ASK { ?s ?p ?o }", "ASK { ?s ?p ?o }"),
    ],
)
def test_a_limit_is_always_set(query, text):
    assert sent(query) == text


@pytest.mark.parametrize(
    ("start", "end", "limited"),
    [
        ("SELECT * { ?s ?p ?o } ", "", "LIMIT 11 VALUES ?x { 1 } "),
        ("SELECT * ", "{ ?s ?p ?o }", "{ ?s ?p ?o } LIMIT 11"),
    ],
)
def test_a_statement_of_nothing_but_values_is_guarded(start, end, limited):
    """As long as the guard takes, with its VALUES behind the pattern or before it."""
    values = "VALUES ?x { 1 } " if not end else "VALUES ?x "
    count = (LONGEST_SPARQL - len(start + end)) // len(values)
    query = start + values * count + end
    assert len(query) > LONGEST_SPARQL - 20
    is_as_wanted = sent(query) == (start + values * (count - (not end)) + limited).strip()
    assert is_as_wanted  # two texts of 20 kB are not compared by letters where they differ


def test_comments_are_dropped_and_what_looks_like_them_stays():
    assert sent("SELECT * { <a#b> ?p 'x # y' # no\n}") == "SELECT * { <a#b> ?p 'x # y'  \n} LIMIT 11"


def test_a_fault_is_placed():
    with pytest.raises(QuerySyntaxError, match="line 2, column 2"):
        guard_sparql("SELECT * {\n \\ ?s ?p 1 .\n}")


def test_what_is_refused_is_said():
    for query, what in [
        ("DROP ALL", "DROP writes"),
        ("SELECT * { SERVICE <http://x> { ?s ?p ?o } }", "SERVICE"),
        ("SELECT * FROM <http://x> { ?s ?p ?o }", "default-graph-uri"),
        ("SELECT (<http://f>(?s) AS ?x) { ?s ?p ?o }", "function http://f"),
        ("SELECT * { ?s <java:x> ?o }", "java:x"),
        ("SELECT * { ?s ?p '\\u0041' }", r"\\u0041"),
    ]:
        with pytest.raises(QueryRefused, match=what):
            guard_sparql(query)


def test_an_unknown_prefix_is_named_where_the_known_ones_are():
    assert guard_sparql("SELECT * { ?s x:p ?o }").text
    with pytest.raises(QueryRefused, match="prefix x: is not declared"):
        guard_sparql("SELECT * { ?s x:p ?o }", prefixes={"r": "urn:r:"})
    assert guard_sparql("PREFIX x: <urn:x:> SELECT * { ?s x:p/r:q ?o }", prefixes={"r": "urn:r:"}).text

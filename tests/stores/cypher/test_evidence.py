"""Statements rewritten to return what they matched."""

import pytest

from clew.stores.cypher.evidence import is_evidence, sample_of_evidence, with_evidence
from clew.stores.cypher.parser import parse

CASES = [
    (
        "MATCH (a:A)-[:R]->(b) RETURN b.name AS name",
        "MATCH evidence_0 = (a:A)-[:R]->(b) RETURN b.name AS name, evidence_0",
    ),
    (
        "MATCH (a)-[:R]->(b) RETURN DISTINCT b.name ORDER BY b.name LIMIT 3",
        "MATCH evidence_0 = (a)-[:R]->(b) RETURN  b.name, collect(evidence_0) AS evidence_0 "
        "ORDER BY b.name LIMIT 3",
    ),
    (
        "MATCH (a) RETURN count(*) AS n",
        "MATCH evidence_0 = (a) RETURN count(*) AS n, collect(evidence_0) AS evidence_0",
    ),
    (
        "MATCH (a)-->(b) WITH a, count(b) AS n WHERE n > 2 RETURN a.name",
        "MATCH evidence_0 = (a)-->(b) WITH a, count(b) AS n, collect(evidence_0) AS evidence_0 WHERE n > 2 "
        "RETURN a.name, evidence_0",
    ),
    (
        "MATCH (a), (b), p = shortestPath((a)-[*..4]-(b)) RETURN length(p)",
        "MATCH evidence_0 = (a), evidence_1 = (b), p = shortestPath((a)-[*..4]-(b)) "
        "RETURN length(p), evidence_0, evidence_1, p AS evidence_2",
    ),
    (
        "MATCH (a) OPTIONAL MATCH (a)-->(b) RETURN a.name, b.name",
        "MATCH evidence_0 = (a) OPTIONAL MATCH evidence_1 = (a)-->(b) "
        "RETURN a.name, b.name, evidence_0, evidence_1",
    ),
    ("RETURN 1 AS one", "RETURN 1 AS one"),
    ("MATCH (a) RETURN *", "MATCH evidence_0 = (a) RETURN *"),
    (
        "MATCH (a) WHERE COUNT { (a)-->() } > 1 RETURN a.name",
        "MATCH evidence_0 = (a) WHERE COUNT { (a)-->() } > 1 RETURN a.name, evidence_0",
    ),
]


@pytest.mark.parametrize(("query", "expected"), CASES, ids=[query for query, _ in CASES])
def test_rows_return_the_paths_that_they_matched(query, expected):
    (text,) = with_evidence(parse(query))
    assert text == expected
    assert parse(text).print() == text


def test_each_branch_of_a_union_is_a_query_of_its_own():
    texts = with_evidence(parse("MATCH (a:A) RETURN a.x AS x UNION MATCH (b:B)-->(c) RETURN c.x AS x"))
    assert texts == (
        "MATCH evidence_0 = (a:A) RETURN a.x AS x, evidence_0",
        "MATCH evidence_0 = (b:B)-->(c) RETURN c.x AS x, evidence_0",
    )


def test_a_sample_is_taken_before_anything_is_grouped():
    (text,) = sample_of_evidence(parse("MATCH (a)-->(b) WHERE b.x > 1 RETURN count(b) AS n"), 7)
    assert text == "MATCH evidence_0 = (a)-->(b) WHERE b.x > 1 RETURN evidence_0 LIMIT 7"


def test_columns_of_evidence_are_told_from_those_of_the_query():
    assert is_evidence("evidence_3")
    assert not is_evidence("name")

"""From a reply to the statement in it."""

import json

import pytest

from clew.methods.synaptiqa.write_query import bound_paths, extract_query
from clew.stores.cypher.tree import render
from clew.stores.errors import QueryError

Q = "MATCH (n:Person) RETURN n.name AS name"
REPLIES = [
    Q,
    f"  {Q};  ",
    f"```cypher\n{Q}\n```",
    f"```\nCypher: {Q}\n```",
    f"Sure!\n\n```cypher\n{Q}\n```\nIt returns every name.",
    f"Here is the Cypher I generated: {Q}",
    f"{Q}\n\nThis query will create a list of names.",
    f"To answer this we match people.\n\n{Q}\n\nLet me know!",
    f"Use the query `{Q}` for that.",
    f"Show all of them with: {Q}",
    f"```json\nnot cypher\n```\n{Q}",
    json.dumps({"cypher": Q}),
    f'Here it is:\n```json\n{{"explanation": "all names", "query": "{Q}"}}\n```',
    f"{Q}; MATCH (m) RETURN m",
    f"{Q};\n\nOr, if they have titles:\nMATCH (m) RETURN m.title AS name;",
    f"```cypher\n{Q};\nMATCH (m) RETURN m;\n```",
]


@pytest.mark.parametrize("reply", REPLIES)
def test_prose_and_fences_are_left_out(reply):
    extracted = extract_query(reply)
    assert extracted.text.rstrip("; ").strip() == Q
    assert all(c.kind == "extract" for c in extracted.corrections)


MENDED = [
    ("MATCH (n:P), RETURN n", "MATCH (n:P) RETURN n"),
    ("MATCH (n:P name:'x') RETURN n", "MATCH (n:P {name:'x'}) RETURN n"),
    ("MATCH (n:P) WHERE n.x == 1 RETURN n", "MATCH (n:P) WHERE n.x = 1 RETURN n"),
    ("MATCH (n:P) WHERE n.x != 1 && n.y = 2 RETURN n", "MATCH (n:P) WHERE n.x <> 1  AND  n.y = 2 RETURN n"),
    ("MATCH (n:P) WHERE n.x LIKE '%a%' RETURN n", "MATCH (n:P) WHERE n.x CONTAINS 'a' RETURN n"),
    ("MATCH (n:P) WHERE n.x LIKE 'a%' RETURN n", "MATCH (n:P) WHERE n.x STARTS WITH 'a' RETURN n"),
    ("MATCH (n {x: ‘a’}) RETURN n", "MATCH (n {x: 'a'}) RETURN n"),
    (
        "MATCH (p1:Fault_name content:'Cold Trough'),(p2:Normal_status), "
        "p=shortestpath((p1)-[*..10]-(p2)), RETURN p",
        "MATCH (p1:Fault_name {content:'Cold Trough'}),(p2:Normal_status), "
        "p=shortestpath((p1)-[*..10]-(p2)) RETURN p",
    ),
]


@pytest.mark.parametrize(("reply", "expected"), MENDED)
def test_rules_mend_what_is_nearly_cypher_and_say_why(reply, expected):
    extracted = extract_query(reply)
    assert extracted.text == expected
    assert {c.kind for c in extracted.corrections} == {"rule"}
    assert all(c.reason for c in extracted.corrections)


def test_texts_in_quotes_are_not_mended():
    query = "MATCH (n {x: 'a != b, RETURN == c'}), RETURN n"
    assert extract_query(query).text == "MATCH (n {x: 'a != b, RETURN == c'}) RETURN n"


@pytest.mark.parametrize(
    "reply",
    [
        "MATCH (n) DETACH DELETE n",
        "MATCH (n)\nDETACH DELETE n",
        "MATCH (n) RETURN n\nDELETE n",
        "MATCH (n) RETURN n; DROP DATABASE x",
        "MATCH (n) RETURN n;\nMATCH (n) DELETE n",
        "CREATE (n:Evil) RETURN n",
        "```cypher\nMATCH (n) SET n.x = 1 RETURN n\n```",
        "LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line",
    ],
)
def test_what_writes_is_no_statement(reply):
    with pytest.raises(QueryError):
        extract_query(reply)


@pytest.mark.parametrize(
    "reply", ["", "   ", "I cannot help.", "MATCH (n", "```\n```", "\x00" * 9, "MATCH " * 20_000]
)
def test_a_reply_without_a_statement_is_an_error(reply):
    with pytest.raises(QueryError):
        extract_query(reply)


def test_a_semicolon_in_a_text_ends_no_statement():
    query = "MATCH (n {x: 'a; b'}) RETURN n"
    assert extract_query(f"{query}; RETURN 1").text.rstrip("; ") == query


def test_paths_without_a_bound_get_one():
    statement = extract_query("MATCH (a)-[*]-(b), (c)-[:R*2..]->(d), (e)-[*..3]->(f) RETURN a").statement
    edits, made = bound_paths(statement)
    assert render(statement.tokens, edits) == (
        "MATCH (a)-[*1..10]-(b), (c)-[:R*2..10]->(d), (e)-[*..3]->(f) RETURN a"
    )
    assert [(c.before, c.after) for c in made] == [("*", "*1..10"), ("*2..", "*2..10")]

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.stores.cypher.guard import guard
from clew.stores.errors import QueryError, QueryRefused


@pytest.mark.parametrize(
    ("statement", "word"),
    [
        ("MATCH (n) DELETE n", "DELETE"), ("MATCH (n) DETACH DELETE n", "DETACH"),
        ("MATCH (n) SET n.x = 1 RETURN n", "SET"), ("LOAD CSV FROM 'x' AS l RETURN l", "LOAD"),
        ("CALL db.createLabel('x')", "db.createLabel"), ("RETURN apoc.util.sha1(['x'])", "apoc.util.sha1"),
        ("RETURN 1; RETURN 2", "several statements"), ("USE system MATCH (n) RETURN n", "USE"),
    ],
)  # fmt: skip
def test_the_message_names_what_is_refused(statement, word):
    with pytest.raises(QueryRefused, match=re.escape(word)):
        guard(statement)


def test_values_become_parameters():
    guarded = guard("MATCH (n {name: 'O\\'Brien'}) WHERE n.age > 3 AND n.x = -1.5 RETURN n.name")
    assert guarded.text == (
        "MATCH (n {name: $clew_0}) WHERE n.age > $clew_1 AND n.x = -$clew_2 RETURN n.name LIMIT 1001"
    )
    assert guarded.parameters == {"clew_0": "O'Brien", "clew_1": 3, "clew_2": 1.5}


def test_equal_values_share_a_parameter_but_not_with_another_type():
    guarded = guard("RETURN 1 AS a, 1 AS b, 1.0 AS c, '1' AS d, true AS e")
    assert (
        guarded.text == "RETURN $clew_0 AS a, $clew_0 AS b, $clew_1 AS c, $clew_2 AS d, true AS e LIMIT 1001"
    )
    assert [type(v) for v in guarded.parameters.values()] == [int, float, str]


def test_columns_keep_the_names_of_the_statement():
    assert guard("MATCH (n) RETURN n.x + 1, n.name AS name, `a b`.x, 'text'").columns == (
        "n.x + 1",
        "name",
        "`a b`.x",
        "'text'",
    )
    assert guard("MATCH (n) RETURN *").columns is None


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("MATCH (n) RETURN n", "MATCH (n) RETURN n LIMIT 11"),
        ("MATCH (n) RETURN n;", "MATCH (n) RETURN n LIMIT 11"),
        ("MATCH (n) RETURN n // all\n;", "MATCH (n) RETURN n LIMIT 11"),
        ("MATCH (n) RETURN n LIMIT 5", "MATCH (n) RETURN n LIMIT 5"),
        ("MATCH (n) RETURN n LIMIT 5000", "MATCH (n) RETURN n LIMIT 11"),
        ("MATCH (n) RETURN n SKIP 2", "MATCH (n) RETURN n SKIP 2 LIMIT 11"),
        ("MATCH (n) RETURN n ORDER BY n.x DESC", "MATCH (n) RETURN n ORDER BY n.x DESC LIMIT 11"),
        ("MATCH (n) WITH n LIMIT 99 RETURN n", "MATCH (n) WITH n LIMIT 99 RETURN n LIMIT 11"),
        (
            "RETURN 1 AS x UNION RETURN 1 AS x",
            "RETURN $clew_0 AS x LIMIT 11 UNION RETURN $clew_0 AS x LIMIT 11",
        ),
        ("RETURN 1", "RETURN $clew_0 LIMIT 11"),
        ("CALL db.labels()", "CALL db.labels()"),
    ],
)
def test_every_query_has_a_limit(statement, text):
    assert guard(statement, rows=10).text == text


def test_comments_are_not_sent():
    assert guard("MATCH (n) /* a */ RETURN n // b").text == "MATCH (n) RETURN n LIMIT 1001"


def test_parameters_of_the_caller_are_kept():
    guarded = guard("MATCH (n {name: $name}) RETURN n LIMIT $most", parameters={"name": "x", "most": 5})
    assert guarded.parameters == {"name": "x", "most": 5}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"clew_0": 1}, "kept for Clew"),
        ({"x": object()}, "not a text"),
        ({"x": {"a": 1}}, "not a text"),
        ({"x": 2**70}, "not a text"),
    ],
)
def test_parameters_that_are_no_values_are_refused(parameters, message):
    with pytest.raises(QueryRefused, match=message):
        guard("RETURN 1", parameters=parameters)


@settings(max_examples=80)
@given(st.text(max_size=40))
def test_a_text_is_bound_whatever_it_holds(text):
    quoted = "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
    guarded = guard(f"MATCH (n) WHERE n.name = {quoted} RETURN n")
    assert guarded.text == "MATCH (n) WHERE n.name = $clew_0 RETURN n LIMIT 1001"
    assert guarded.parameters == {"clew_0": text}


PIECES = [
    *("MATCH", "RETURN", "WITH", "WHERE", "CREATE", "SET", "DELETE", "MERGE", "CALL", "LOAD CSV", "FOREACH"),
    *("(n)", "n", "n.x", "=", "1", "'a'", "-[:R]->", "{", "}", "[", "]", "|", ",", ":", ";", "//", "/*",
     "*/"),
    *("\n", "`", "'", '"', "\\u0027", "$x", "AS", "IN", "UNION", "EXISTS", "REMOVE", "DETACH", ".", "(", ")"),
]  # fmt: skip


@settings(max_examples=200)
@given(st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join))
def test_no_mixture_of_pieces_gets_a_write_through(text):
    """What is sent has no word of a write in it but as a name: after a dot, a colon, AS or as a key."""
    try:
        sent = guard(text, parameters={"x": 1}).text
    except QueryError:
        return
    words = re.sub(r"`[^`]*`|[.:]\s*\w+|\bAS\s+\w+|\w+\s*:", " ", sent)
    assert not re.search(r"\b(CREATE|SET|DELETE|MERGE|LOAD|FOREACH|REMOVE|DETACH)\b", words)

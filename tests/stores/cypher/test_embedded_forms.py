"""Forms in which models ask: numbers, days, lists, order and absence in the embedded store."""

import json
import re
from pathlib import Path

import pytest

from clew.engine import Clew
from clew.stores.errors import QueryError, QueryRefused

pytest.importorskip("ladybug", reason="ladybug is not installed")

MACHINES = {
    "Press A": ("Line 1", "260", "2024-03-01", "12.5", "true", ("pump", "seal")),
    "Press B": ("Line 1", "90", "2023-11-20", "7.25", "false", ("pump",)),
    "Mill C": ("Line 2", "1000", "2024-01-15", "30.0", "true", ("motor",)),
    "Mill D": ("Line 2", "95", "2022-07-04", "8", "false", ()),
}
OTHERS = [
    ("Press A", "feeds", "Press B"),
    ("Press B", "feeds", "Mill C"),
    ("Mill C", "feeds", "Mill D"),
    ("Press A", "note", "see Dr. Who v2.5"),
    ("Line 1", "plant.hall", "Hall 1"),
]


@pytest.fixture(scope="module")
def store():
    from clew.stores.ladybug import LadybugStore

    triples, types = list(OTHERS), {"Hall 1": ["hall.room"]}
    for name, (line, pressure, day, weight, running, parts) in MACHINES.items():
        triples += [(name, "part_of_line", line), (name, "max_pressure", pressure)]
        triples += [(name, "serviced_on", day), (name, "weight", weight), (name, "running", running)]
        triples += [(name, "has_component", part) for part in parts]
        types |= {name: ["machine"], line: ["line"]} | {part: ["component"] for part in parts}
    with Clew.from_triples(triples, types=types) as clew:
        opened = LadybugStore.of_graph(clew.opened.graph)
        yield opened
        opened.close()


PRESSURE = "MATCH (m:machine)-[:max_pressure]->(p)"
FILE = Path(__file__).parents[2] / "data" / "stores" / "embedded_forms.txt"
FORMS = [
    (query, json.loads(rows))
    for query, rows in re.findall(r"^(\w.*)\n    => (.*)$", FILE.read_text("utf-8"), re.MULTILINE)
]


@pytest.mark.parametrize(("query", "rows"), FORMS)
def test_a_usual_form_gives_the_rows_that_it_means(store, query, rows):
    assert json.loads(json.dumps(store.run(query).rows, default=str)) == rows


def test_an_aggregate_beside_a_variable_is_an_error_of_the_query(store):
    with pytest.raises(QueryError, match="Name the aggregate by WITH first"):
        store.run("MATCH (m:machine) WITH count(m) AS n MATCH (c:component) RETURN toFloat(count(c)) / n")


@pytest.mark.parametrize("clause", ["RETURN count(m) * 0 + k", "WITH count(m) + k AS n RETURN n"])
def test_an_aggregate_beside_a_constant_variable_is_an_error_of_the_query(store, clause):
    """As in Neo4j: a variable that only stands beside an aggregate is none to group by."""
    with pytest.raises(QueryRefused, match=r"aggregate and k.*Name the aggregate by WITH first"):
        store.run(f"WITH 7 AS k MATCH (m:machine) {clause}")


def test_an_aggregate_beside_a_subquery_is_refused(store):
    with pytest.raises(QueryRefused, match="subqueries and patterns beside an aggregate"):
        store.run("MATCH (m:machine) RETURN count(m) + COUNT { (m)-[:feeds]->() }")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("substring('pump', -1)", r"substring\(\) with a number below zero"),
        ("substring('pump', 0, -1)", r"substring\(\) with a number below zero"),
        ("left('pump', -1)", r"left\(\) with a number below zero"),
        ("right('pump', -1)", r"right\(\) with a number below zero"),
        ("toString(2.5)", r"toString\(\) but of one whole number"),
        ("toString(2 ^ 3)", r"toString\(\) but of one whole number"),
        ("['a', 1]", "lists of texts, numbers and booleans together"),
        ("CASE null WHEN null THEN 1 END", "CASE x WHEN y, but with what is written out for y"),
        ("[1, null] = [1, null]", "comparisons of lists that may hold a null"),
        ("range(1, 9223372036854775807)", r"range\(\) with a bound of over 32 bits"),
        ("datetime('2024-01-01T00:00:00+02:00')", "times of another zone than UTC"),
        ("range(-9223372036854775807, 9223372036854775807, 4611686018427387904)", "of over 32 bits"),
    ],
)
def test_a_number_that_ladybug_takes_otherwise_is_refused(store, call, message):
    """Neo4j has an error for the texts; ladybug returns a text, or a list that is too short."""
    with pytest.raises(QueryRefused, match=message):
        store.run(f"RETURN {call}")


@pytest.mark.parametrize(
    "query",
    [
        "MATCH (m:machine) RETURN substring(m.name, size(m.name) - 7)",
        "MATCH (m:machine) RETURN substring(m.name, 0, size(m.name) - 7)",
        "MATCH (m:machine) RETURN left(m.name, size(m.name) - 7)",
        "WITH 9223372036854775807 AS n RETURN size(range(1, n))",
    ],
)
def test_such_a_number_that_is_computed_is_an_error_of_the_query(store, query):
    with pytest.raises(QueryError, match="Could not convert"):
        store.run(query)


@pytest.mark.parametrize("query", ["WITH 1 AS x, 2 AS X RETURN x", "MATCH (M:machine) RETURN m.name"])
def test_names_that_differ_in_case_alone_are_refused(store, query):
    with pytest.raises(QueryRefused, match="names that differ in case alone"):
        store.run(query)


@pytest.mark.parametrize("pattern", ["(?!Press).*", r"(.)\\1.*", "Press (", "a{1,2000}"])
def test_a_pattern_that_the_store_cannot_read_is_an_error_of_the_query(store, pattern):
    """Ladybug would find nothing by it."""
    with pytest.raises(QueryError, match="that it cannot read"):
        store.run(f"MATCH (m:machine) WHERE m.name =~ '{pattern}' RETURN m.name")


def test_an_error_while_running_is_one_of_the_query(store):
    with pytest.raises(QueryError, match="Divide by zero"):
        store.run("MATCH (m:machine) RETURN 1/0")


@pytest.mark.parametrize(
    "condition",
    [
        "any(x IN ['pump', 'seal'] WHERE (m)-[:has_component]->({name: x}))",
        "size([(m)-[:has_component*1..2]->(c) | c]) > 1",
        "id(m.name) > 1",
        "m.max_pressure IN ['high']",
        "EXISTS { (m)-[:feeds*1..2]->() } OR any(x IN [m.name] WHERE x <> m.name)",
        "size(['a', 'b'][..size(m.name)]) > 1",
    ],
)
def test_what_the_store_lacks_is_an_error_of_the_query(store, condition):
    with pytest.raises(QueryError, match="does not have"):
        store.run(f"MATCH (m:machine) WHERE {condition} RETURN m.name")


def test_a_text_that_is_no_number_is_an_error_of_the_query(store):
    with pytest.raises(QueryError, match="Could not convert"):
        store.run(f"{PRESSURE} WHERE p.name > 'high' RETURN m.name")


def test_columns_beside_a_name_are_not_shown(store):
    node = store.run(f"{PRESSURE} RETURN p LIMIT 1").rows[0][0]
    assert list(node.properties) == ["name"]
    assert store.schema().label_properties["Entity"] == {"name"}


@pytest.mark.parametrize(
    "query",
    [
        "MATCH (m:machine) RETURN [(m)-[:feeds]->(x) | x.name + '!']",
        "MATCH (m:machine) WITH m, [w IN split(m.name, ' ') WHERE w <> m.name] AS l RETURN l, count(*)",
        "MATCH (m:machine) RETURN [w IN split(m.name, ' ') | w + m.name] AS l, count(*)",
        "MATCH (m:machine) WITH collect(m) AS l RETURN [x IN l WHERE x.weight > 8 | x.name]",
        "MATCH (m:machine) WITH collect({n: m.name}) AS l RETURN [x IN l | x.n]",
        "MATCH (m:machine) RETURN m.name AS x ORDER BY COUNT { (x)-[:feeds]->() }",
        "MATCH (m:machine) RETURN COLLECT { MATCH (m)-[:feeds]->(x) RETURN x.name }",
        "MATCH (m:machine)-[:feeds*1..2]->(n) RETURN [(m)-[:feeds]->(x) | x.name]",
        "MATCH (m:machine) RETURN [(m)-[:feeds]->(x)-[:feeds]->(y) | y.name]",
        "MATCH (m:machine) CALL (m) { MATCH (m)-[:feeds]->()-[:feeds]->(y) RETURN count(y) AS n } RETURN n",
        "MATCH (m:machine) RETURN [(m)-[:feeds]->(x) | [(x)-[:feeds]->(y) | y.name]]",
        "MATCH (m:machine) RETURN COLLECT { MATCH (m)-[:feeds]->(x) RETURN x.name ORDER BY x.name }",
        "MATCH (m:machine) CALL (m) { OPTIONAL MATCH (m)-[:feeds]->(x) RETURN count(*) AS n } RETURN n",
        "MATCH (m:machine) CALL (m) { MATCH (m)-[:feeds]->(x) RETURN x.name AS n LIMIT 1 } RETURN n",
        "MATCH (m:machine), (x:line) CALL (m) { MATCH (m)-[:feeds]->(x) RETURN count(x) AS n } RETURN n",
        "MATCH (m:machine) RETURN DISTINCT properties(m)",
        "MATCH (m:machine) WITH properties(m) AS p RETURN p.weight",
    ],
)
def test_a_form_of_rows_that_ladybug_cannot_tell_apart_is_refused(store, query):
    with pytest.raises(QueryRefused, match="The embedded store does not have"):
        store.run(query)

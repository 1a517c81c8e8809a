"""Forms in which models ask: numbers, days, lists, order and absence in the embedded store."""

import datetime

import pytest

from clew.engine import Clew
from clew.stores.errors import QueryError

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
        opened = LadybugStore.of_graph(clew.index.graph)
        yield opened
        opened.close()


PRESSURE = "MATCH (m:machine)-[:max_pressure]->(p)"
SERVICE = "MATCH (m:machine)-[:serviced_on]->(d)"
PARTS = "MATCH (m:machine)-[:has_component]->(c)"
FORMS = [
    # numbers are in order, compared and computed with as numbers, as properties and as nodes
    ("MATCH (m:machine) RETURN m.name ORDER BY m.max_pressure DESC LIMIT 1", [("Mill C",)]),
    (f"{PRESSURE} RETURN m.name ORDER BY p.name DESC LIMIT 1", [("Mill C",)]),
    (f"{PRESSURE} RETURN m.name, p.name ORDER BY p.name LIMIT 1", [("Press B", "90")]),
    (f"{PRESSURE} RETURN m.name, p.name AS v ORDER BY v DESC LIMIT 1", [("Mill C", 1000)]),
    (f"{PRESSURE} RETURN m.name ORDER BY toFloat(p.name) DESC LIMIT 1", [("Mill C",)]),
    (f"{PRESSURE} RETURN max(p.name), min(p.name)", [(1000, 90)]),
    (f"{PRESSURE} RETURN DISTINCT p.name ORDER BY p.name", [(90,), (95,), (260,), (1000,)]),
    (f"{PRESSURE} RETURN p.name AS v, count(m) AS n ORDER BY n, v DESC LIMIT 2", [(1000, 1), (260, 1)]),
    (
        f"{PRESSURE} WITH m, p.name AS v WHERE v > 100 RETURN m.name, v ORDER BY v",
        [("Press A", 260), ("Mill C", 1000)],
    ),
    (f"{PRESSURE} WITH p.name AS v RETURN max(v), avg(v)", [(1000, 361.25)]),
    (f"{PRESSURE} WHERE p.name > 100 RETURN m.name ORDER BY m.name", [("Mill C",), ("Press A",)]),
    (f"{PRESSURE} WHERE p.name > '100' RETURN m.name ORDER BY m.name", [("Mill C",), ("Press A",)]),
    (f"{PRESSURE} WHERE toInteger(p.name) > 100 RETURN count(m)", [(2,)]),
    (f"{PRESSURE} WHERE p.name IN [260, 95] RETURN count(m)", [(2,)]),
    (f"{PRESSURE} WHERE p.name = '260' OR p.name = 95 RETURN count(m)", [(2,)]),
    ("MATCH (m)-[:max_pressure]->(p {name: 260}) RETURN m.name", [("Press A",)]),
    ("MATCH (m:machine {max_pressure: '260'}) RETURN m.name", [("Press A",)]),
    ("MATCH (m:machine) WHERE 90 <= m.max_pressure <= 100 RETURN count(m)", [(2,)]),
    ("MATCH (m:machine) WHERE 90 <= toInteger(m.max_pressure) < 260 RETURN count(m)", [(2,)]),
    ("MATCH (m:machine) WHERE 5 < 90 <= m.max_pressure < 1000 <= 2000 RETURN count(m)", [(3,)]),
    ("MATCH (m)-[:weight]->(w) RETURN sum(w.name), avg(w.name)", [(57.75, 14.4375)]),
    (
        "MATCH (m)-[:max_pressure|weight]->(p) RETURN p.name ORDER BY p.name DESC LIMIT 2",
        [("1000",), ("260",)],
    ),
    (
        "MATCH (a {name: 'Press A'})-[:max_pressure]->(p), (b {name: 'Press B'})-[:max_pressure]->(q)"
        " RETURN p.name > q.name, toInteger(p.name) - toInteger(q.name)",
        [(True, 170)],
    ),
    (
        f"{PRESSURE} WITH max(toInteger(p.name)) AS top MATCH (n)-[:max_pressure]->(q)"
        " WHERE toInteger(q.name) = top RETURN n.name",
        [("Mill C",)],
    ),
    (f"{PRESSURE} RETURN p.name + ' bar', p.name + 1 ORDER BY m.name LIMIT 1", [("1000 bar", 1001)]),
    (
        "MATCH (m:machine) OPTIONAL MATCH (m)-[:max_pressure]->(p) WHERE p.name > 500"
        " RETURN m.name, p.name ORDER BY m.name LIMIT 2",
        [("Mill C", "1000"), ("Mill D", None)],
    ),
    (
        "RETURN EXISTS { MATCH ({name: 'Press A'})-[:max_pressure]->(p) WHERE toInteger(p.name) > 100 } AS a",
        [(True,)],
    ),
    ("MATCH (m:machine) RETURN round(avg(m.weight), 1), round(max(m.max_pressure) / 3.0)", [(14.4, 333.0)]),
    # dates
    ("MATCH (m:machine) WHERE m.serviced_on < date('2024-01-01') RETURN count(m)", [(2,)]),
    ("MATCH (m:machine) WHERE m.serviced_on < '2024-01-01' RETURN count(m)", [(2,)]),
    (
        "MATCH (m:machine) WHERE datetime(m.serviced_on) > datetime('2024-02-01') RETURN m.name",
        [("Press A",)],
    ),
    ("MATCH (m:machine) RETURN min(m.serviced_on)", [(datetime.date(2022, 7, 4),)]),
    (f"{SERVICE} WHERE date(d.name) < date('2024-01-01') RETURN count(m)", [(2,)]),
    (f"{SERVICE} WHERE date(d.name).year = 2024 RETURN count(m)", [(2,)]),
    (f"{SERVICE} WHERE d.name > '2023' RETURN count(m)", [(3,)]),
    (f"{SERVICE} WHERE d.name STARTS WITH '2024' RETURN count(m)", [(2,)]),
    (f"{SERVICE} WHERE toInteger(substring(d.name, 0, 4)) = 2024 RETURN count(m)", [(2,)]),
    (f"{SERVICE} WHERE toInteger(split(d.name, '-')[0]) = 2022 RETURN m.name", [("Mill D",)]),
    (f"{SERVICE} RETURN max(d.name)", [("2024-03-01",)]),
    (f"{SERVICE} RETURN d.name, m.name ORDER BY date(d.name) DESC LIMIT 1", [("2024-03-01", "Press A")]),
    (f"{SERVICE} RETURN left(d.name, 4) AS y, count(*) ORDER BY y LIMIT 1", [("2022", 1)]),
    # lists
    (f"{PARTS} WITH m, collect(c.name) AS cs RETURN cs[0], size(cs) ORDER BY m.name LIMIT 1", [("motor", 1)]),
    (
        f"{PARTS} WITH m, collect(c.name) AS s RETURN [x IN s WHERE x STARTS WITH 'p'] ORDER BY m.name",
        [((),), (("pump",),), (("pump",),)],
    ),
    (
        f"{PARTS} WITH m, collect(c.name) AS cs RETURN [x IN cs | toUpper(x)] ORDER BY m.name LIMIT 1",
        [(("MOTOR",),)],
    ),
    (f'{PARTS} WITH m, [x IN collect(c.name) WHERE x <> "it\'s \\\\"] AS cs RETURN sum(size(cs))', [(4,)]),
    (
        "MATCH p = shortestPath((a {name: 'Press A'})-[:feeds*..5]->(b {name: 'Mill D'}))"
        " RETURN [n IN nodes(p) | n.name]",
        [(("Press A", "Press B", "Mill C", "Mill D"),)],
    ),
    # an order outlives an aggregate
    (
        "MATCH (m:machine) WITH m ORDER BY m.max_pressure DESC LIMIT 2 RETURN collect(m.name)",
        [(("Mill C", "Press A"),)],
    ),
    (f"{PRESSURE} WITH m, toInteger(p.name) AS v ORDER BY v DESC RETURN collect(m.name)[0]", [("Mill C",)]),
    (
        "MATCH (m:machine) WITH m ORDER BY m.weight LIMIT 2 WHERE m.weight > 7.5 RETURN max(m.weight)",
        [(8.0,)],
    ),
    # absence, counts, lengths
    (
        f"MATCH (m:machine) OPTIONAL {PARTS.removesuffix('(c)').replace('(m:machine)', '(m)')}(c)"
        " RETURN m.name, count(c) ORDER BY m.name LIMIT 2",
        [("Mill C", 1), ("Mill D", 0)],
    ),
    (
        "MATCH (m {name: 'Mill D'}) OPTIONAL MATCH p = (m)-[:has_component]->() RETURN m.name, p",
        [("Mill D", None)],
    ),
    (
        "MATCH (m:machine) RETURN m.name, size((m)-[:has_component]->()) ORDER BY m.name LIMIT 3",
        [("Mill C", 1), ("Mill D", 0), ("Press A", 2)],
    ),
    ("MATCH (a {name: 'Press A'})-[:feeds*2]-(b:machine) RETURN b.name", [("Mill C",)]),
    ("MATCH (l)-[:`plant.hall`]->(h:`hall.room`) RETURN h.name", [("Hall 1",)]),
    ("MATCH (m:machine) WHERE NOT exists((m)-[:has_component]->()) RETURN m.name", [("Mill D",)]),
    (
        "MATCH (a {name: 'Press A'}), (b {name: 'Mill D'}) RETURN EXISTS((a)-[:feeds]->(b)) AS answer",
        [(False,)],
    ),
    (
        "MATCH (m:machine) RETURN m.name, size([(m)-[:has_component]->(c) WHERE c.name <> 'seal' | c]) AS n"
        " ORDER BY n, m.name LIMIT 2",
        [("Mill D", 0), ("Mill C", 1)],
    ),
    # two of a kind
    (
        "MATCH (a:machine)-[:has_component]->(c)<-[:has_component]-(b:machine) WHERE id(a) < id(b)"
        " RETURN c.name, count(*)",
        [("pump", 1)],
    ),
    (
        "MATCH (a)-[:part_of_line]->(l)<-[:part_of_line]-(b) WHERE elementId(a) > elementId(b)"
        " RETURN count(*)",
        [(2,)],
    ),
    # conditions on all of a list
    (
        f"{PARTS} WITH m, collect(c.name) AS cs WHERE all(x IN cs WHERE x = 'pump') RETURN m.name",
        [("Press B",)],
    ),
    (
        f"{PARTS} WITH m, collect(c.name) AS cs WHERE any(x IN cs WHERE x STARTS WITH 's') RETURN m.name",
        [("Press A",)],
    ),
    (
        f"{PARTS} WITH m, collect(c.name) AS cs WHERE none(x IN cs WHERE x = 'pump') RETURN m.name",
        [("Mill C",)],
    ),
    # booleans
    ("MATCH (m:machine) WHERE m.running = true RETURN m.name ORDER BY m.name", [("Mill C",), ("Press A",)]),
    ("MATCH (m:machine) WHERE m.running RETURN count(m)", [(2,)]),
    ("MATCH (m:machine) WHERE NOT m.running RETURN m.name ORDER BY m.name", [("Mill D",), ("Press B",)]),
    ("MATCH (m:machine) WHERE m.running = 'false' RETURN count(m)", [(2,)]),
    ("MATCH (m:machine)-[:running]->(r) WHERE r.name = false RETURN count(m)", [(2,)]),
    ("MATCH (m)-[:running]->({name: 'true'}) RETURN count(m)", [(2,)]),
    ("MATCH (m {name: 'Press B'}) RETURN m.running", [(False,)]),
    # texts of values: of a number too a regular expression may ask, and a list
    ("MATCH (m:machine) WHERE m.max_pressure =~ '9.*' RETURN count(m)", [(2,)]),
    ("MATCH (m:machine) WHERE m.serviced_on =~ '2024.*' RETURN count(m)", [(2,)]),
    (
        "MATCH (m {name: 'Press A'}) RETURN split(m.serviced_on, '-')[0], split(m.weight, '.')[0]",
        [("2024", "12")],
    ),
    ("MATCH (m:machine) WHERE m.max_pressure IN ['260', 95] RETURN count(m)", [(2,)]),
    (
        f"{SERVICE} RETURN duration.inDays(date('2024-01-01'), date(d.name)).days AS n ORDER BY n DESC"
        " LIMIT 1",
        [(60,)],
    ),
    # slices
    (f"{PARTS} WITH c.name AS n ORDER BY n RETURN collect(n)[..2]", [(("motor", "pump"),)]),
    (f"{PARTS} WITH c.name AS n ORDER BY n RETURN collect(n)[1..3]", [(("pump", "pump"),)]),
    (f"{PARTS} WITH c.name AS n ORDER BY n RETURN collect(n)[2..]", [(("pump", "seal"),)]),
    (f"{PARTS} WITH c.name AS n ORDER BY n RETURN collect(n)[-1..]", [(("seal",),)]),
    (f"{PARTS} WITH c.name AS n ORDER BY n RETURN collect(n)[..-1]", [(("motor", "pump", "pump"),)]),
]


@pytest.mark.parametrize(("query", "rows"), FORMS)
def test_a_usual_form_gives_the_rows_that_it_means(store, query, rows):
    assert list(store.run(query).rows) == rows


def test_an_aggregate_beside_a_variable_is_an_error_of_the_query(store):
    with pytest.raises(QueryError, match="Name the aggregate by WITH first"):
        store.run("MATCH (m:machine) WITH count(m) AS n MATCH (c:component) RETURN toFloat(count(c)) / n")


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

"""Forms in which models ask: numbers, days, lists, order and absence in the embedded store."""

import json
import re
import tomllib
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


FILE = Path(__file__).parents[2] / "data" / "stores" / "embedded_forms.txt"
FORMS = re.findall(r"^(\w.*)\n    => (.*)$", FILE.read_text("utf-8"), re.MULTILINE)
ERRORS = tomllib.loads(FILE.with_name("embedded_errors.toml").read_text("utf-8"))


@pytest.mark.parametrize(("query", "rows"), FORMS)
def test_a_usual_form_gives_the_rows_that_it_means(store, query, rows):
    assert json.loads(json.dumps(store.run(query).rows, default=str)) == json.loads(rows)


@pytest.mark.parametrize(
    ("kind", "message", "query"),
    [
        (kind, message, query)
        for kind, messages in ERRORS.items()
        for message, queries in messages.items()
        for query in queries
    ],
)
def test_what_the_store_lacks_or_takes_otherwise_than_neo4j_is_an_error_that_says_so(
    store, kind, message, query
):
    with pytest.raises(QueryRefused if kind == "refused" else QueryError, match=message):
        store.run(query)


def test_columns_beside_a_name_are_not_shown(store):
    node = store.run("MATCH (m:machine)-[:max_pressure]->(p) RETURN p LIMIT 1").rows[0][0]
    assert list(node.properties) == ["name"]
    assert store.schema().label_properties["Entity"] == {"name"}

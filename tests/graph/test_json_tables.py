"""JSON as people have it: rows, lines, and networks of nodes and links."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from clew import Clew
from clew.errors import InputError, ParseError, UsageError
from clew.graph import XSD
from clew.graph.build import build_graph
from clew.graph.readers.documents import without
from clew.graph.readers.hints import Hints
from clew.graph.readers.registry import choose_reader
from graph.test_table_reader import Found, write

RECORDS = [
    {"name": "Bulba", "types": ["Grass", "Poison"], "base": {"HP": 45, "Speed": 45.5}, "evolves": None},
    {"name": "Charma", "types": ["Fire"], "base": {"HP": 39, "Speed": 65}, "evolves": "Charme",
     "shiny": True},
]  # fmt: skip
EXPECTED = [
    ("Bulba", "types", "Grass"), ("Bulba", "types", "Poison"),
    ("Bulba", "base HP", ("45", XSD + "integer")), ("Bulba", "base Speed", ("45.5", XSD + "decimal")),
    ("Charma", "types", "Fire"), ("Charma", "base HP", ("39", XSD + "integer")),
    ("Charma", "base Speed", ("65", XSD + "decimal")), ("Charma", "evolves", "Charme"),
    ("Charma", "shiny", ("true", XSD + "boolean")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", json.dumps(RECORDS)),
        ("a.json", json.dumps({"count": 2, "results": RECORDS})),
        ("a.json", json.dumps({r["name"]: r for r in RECORDS})),
        ("a.jsonl", "\n\n".join(json.dumps(r) for r in RECORDS)),
        ("a.json", "\n".join(json.dumps(r) for r in RECORDS)),
        ("a", json.dumps(RECORDS, indent=1)),
        ("a", "\n".join(json.dumps(r) for r in RECORDS)),
    ],
)
def test_an_object_is_a_row(name: str, text: str, tmp_path: Path) -> None:
    found = Found(write(tmp_path / name, text))
    assert found.triples == EXPECTED
    assert "id = name; relations = types, base HP, base Speed, evolves, shiny" in found.note


def test_an_object_in_a_list_is_its_name(tmp_path: Path) -> None:
    rows = [{"title": "M", "cast": [{"name": "Guy", "age": 3}, {"age": 4}]}, {"title": "T", "cast": []}]
    found = Found(write(tmp_path / "a.json", json.dumps(rows)))
    assert found.triples == [("M", "cast", "Guy")]
    assert "objects and lists without a name are left out of: cast" in found.note


LABEL = [
    {"kind": "person", "id": "p1", "name": "Ann Moor", "hometown": "Cork"},
    {"kind": "person", "id": "p2", "name": "Bo Lind", "hometown": "Malmö"},
    {"kind": "person", "id": "p3", "name": "Cy Wren", "hometown": "Cork"},
    {"kind": "band", "id": "b1", "name": "Low Tide", "formed": 2012,
     "lineup": [{"person": "p1", "plays": "fiddle", "from": 2012},
                {"person": "p2", "plays": "drums", "from": 2013, "to": 2016}]},
    {"kind": "band", "id": "b2", "name": "The Weirs", "formed": 2015,
     "lineup": [{"person": "p3", "plays": "bass", "from": 2015},
                {"person": "p2", "plays": "drums", "from": 2015}]},
    {"kind": "tour", "id": "t1", "name": "Winter Tour", "artist": "b1",
     "shows": [{"city": "Oslo", "tickets": 310}, {"city": "Cork", "tickets": 420}]},
    {"kind": "tour", "id": "t2", "name": "Ferry Tour", "artist": "b2",
     "shows": [{"city": "Oslo", "tickets": 95}]},
]  # fmt: skip


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which bands were formed after 2013?", {"The Weirs"}),
        ("Which persons come from Cork?", {"Ann Moor", "Cy Wren"}),
        ("Who plays drums in Low Tide?", {"Bo Lind"}),
        ("Who is in Low Tide these days?", {"Ann Moor"}),
        ("Who are the current members of The Weirs?", {"Bo Lind", "Cy Wren"}),
        ("Is Bo Lind currently in The Weirs?", {"yes"}),
        ("Where does Ann Moor come from these days?", {"Cork"}),
        ("How many shows did the Winter Tour have?", {"2"}),
        ("What is the total number of tickets of shows of the Winter Tour?", {"730"}),
    ],
)
def test_lists_of_objects_are_tables_and_a_field_tells_kinds(
    tmp_path: Path, question: str, names: set[str]
) -> None:
    path = write(tmp_path / "label.jsonl", "\n".join(map(json.dumps, LABEL)))
    with Clew.open(path, cache_dir=tmp_path / "cache") as clew:
        answer = clew.ask(question)
        assert {a.label for a in answer.answers} == names, answer.abstained


def _club(kinds: int) -> str:
    """200 players with an `id` and rounds with a `no`, then things of more kinds; all have a name."""
    lines = [
        {"kind": "player", "id": f"p{i}", "name": f"Player {i}", "rating": i}
        if i % 2
        else {"kind": "round", "no": f"r{i}", "name": f"Round {i}", "venue": "Hall"}
        for i in range(200)
    ]
    lines += [
        {"kind": "x" * (i + 1), "no": f"x{i}", "name": f"X {i}", "venue": "Hall"} for i in range(kinds - 2)
    ]
    return "\n".join(map(json.dumps, lines))


def test_kinds_without_a_field_of_ids_that_all_have_are_tables(tmp_path: Path) -> None:
    """Although all have a name; not where there are so many that each would be a pass over the file."""
    with Clew.open(write(tmp_path / "club.jsonl", _club(2))) as clew:
        assert dict(clew.info().types) == {"player": 100, "round": 100}
        assert [a.label for a in clew.ask("Which player has the highest rating?").answers] == ["Player 199"]
    with pytest.raises(ParseError, match="the id is empty"):
        Clew.open(write(tmp_path / "many.jsonl", _club(150)))


def test_an_update_reads_kinds_and_lists_of_objects_as_its_index_does(tmp_path: Path) -> None:
    write(tmp_path / "label.jsonl", "\n".join(map(json.dumps, LABEL)))
    more = {"kind": "band", "id": "b3", "name": "Night Heron", "formed": 2020,
            "lineup": [{"person": "p1", "plays": "harp", "from": 2020}]}  # fmt: skip
    write(tmp_path / "label_more.jsonl", json.dumps(more))
    with Clew.index(tmp_path / "label.jsonl", tmp_path / "label.clew") as clew:
        clew.update(add=tmp_path / "label_more.jsonl")
        asked = ("Which bands were formed after 2018?", "Who plays harp in Night Heron?")
        assert [[a.label for a in clew.ask(q).answers] for q in asked] == [["Night Heron"], ["Ann Moor"]]


STAFF = [
    {
        "id": i,
        "name": name,
        "email": f"{i}@lib.org",
        "boss": None if i == 1 else {"id": 1, "name": "Ann Moor"},
    }
    for i, name in enumerate(("Ann Moor", "Bo Lind", "Cy Wren"), 1)
]
ROOMS = [{"id": 1, "name": "Corn Hall", "seats": 120}, {"id": 2, "name": "Study", "seats": 10}]
BRANCHES = [
    {"id": 1, "name": "Central", "type": "Town", "address": {"street": "2 High St", "town": "Aldermere"},
     "manager": {"id": "2", "name": "Bo Lind"}, "rooms": ROOMS, "languages": ["Urdu", "Polish"]},
    {"id": 2, "name": "Mobile", "type": "Van", "address": {"street": "Carr Road", "town": "Thornbeck"},
     "manager": {"id": "3", "name": "Cy Wren"}, "rooms": [], "languages": []},
    {"id": 3, "name": "Pell", "type": "Town", "address": {"street": "Quay", "town": "Thornbeck"},
     "manager": {"id": 2, "name": "Bo Lind"}, "rooms": [{"id": 3, "name": "Loft", "seats": None}]},
]  # fmt: skip
EVENTS = [
    {"id": "e1", "title": "Seed Swap", "place": {"branch": {"id": 1, "name": "Central"}, "room": ROOMS[0]},
     "staffIds": [2, 3], "sales": [{"item": "Tea", "sum": 3}, {"item": "Cake", "sum": 8}]},
    {"id": "e2", "title": "Book Sale", "place": {"branch": {"id": 3, "name": "Pell"}, "room": None},
     "staffIds": [3], "sales": [{"item": "Tea", "sum": 4}]},
]  # fmt: skip
LIBRARIES = {
    "service": "Libraries",
    "exportedAt": "2025-12-15",
    "records": {"branches": BRANCHES, "staff": STAFF, "events": EVENTS, "closures": []},
}


def pairs(found: Found, relation: str) -> set[tuple[str, str]]:
    """What the heads and the tails of a relation are called."""
    triples = [(found.labels.get(h, h), t) for h, r, t in found.triples if r == relation]
    return {(h, found.labels.get(t, t) if isinstance(t, str) else t[0]) for h, t in triples}


def test_arrays_at_any_depth_are_tables_that_refer_to_each_other(tmp_path: Path) -> None:
    found = Found(write(tmp_path / "export.json", json.dumps(LIBRARIES)))
    kinds = Counter(type_ for _, type_ in set(found.types))
    assert kinds == {"branch": 3, "staff": 3, "event": 2, "room": 3, "sale": 3}
    assert pairs(found, "manager") == {("Central", "Bo Lind"), ("Mobile", "Cy Wren"), ("Pell", "Bo Lind")}
    assert pairs(found, "rooms") == {("Central", "Corn Hall"), ("Central", "Study"), ("Pell", "Loft")}
    assert pairs(found, "languages") == {("Central", "Urdu"), ("Central", "Polish")}
    assert pairs(found, "address town") >= {("Central", "Aldermere"), ("Pell", "Thornbeck")}
    assert pairs(found, "place branch") == {("Seed Swap", "Central"), ("Book Sale", "Pell")}
    assert pairs(found, "place room") == {("Seed Swap", "Corn Hall")}
    assert pairs(found, "staffIds") > {("Seed Swap", "Bo Lind"), ("Book Sale", "Cy Wren")}
    assert pairs(found, "boss") == {("Bo Lind", "Ann Moor"), ("Cy Wren", "Ann Moor")}
    assert pairs(found, "event") == {
        ("sale 1", "Seed Swap"),
        ("sale 2", "Seed Swap"),
        ("sale 3", "Book Sale"),
    }
    assert "left out around the rows (2): service, exportedAt" in found.note
    assert {"manager: ids of staff", "rooms: ids of rooms"} <= {
        n.split("/")[-1].split(": ", 1)[1] for n in found.tally.notes
    }


THINGS = [{"id": i, "name": f"Thing {i}", "weight": i} for i in (1, 2, 3)]
WRAPPED: dict[str, Any] = {
    "results": {"data": {"results": THINGS}, "total": 3},
    "OData": {"@odata.context": "$metadata", "value": THINGS},
    "HAL": {
        "_embedded": {"things": [{**t, "_links": {"self": {"href": "/t"}}} for t in THINGS]},
        "_links": {"self": {"href": "/things"}, "next": {"href": "/things?page=2"}},
    },
    "Elasticsearch": {
        "hits": {"total": {"value": 3}, "hits": [{"_index": "t", "_id": "1", "_source": t} for t in THINGS]}
    },
    "Airtable": {"records": [{"id": f"rec{t['id']}", "fields": without(t, "id")} for t in THINGS]},
    "GeoJSON": {
        "type": "FeatureCollection",
        "features": [{"type": "Feature", "geometry": None, "properties": t} for t in THINGS],
    },
    "GraphQL": {"data": {"things": {"edges": [{"node": t} for t in THINGS], "pageInfo": {"next": None}}}},
    "MongoDB": [
        {"_id": {"$oid": f"5f{t['id']}"}, "name": t["name"], "weight": {"$numberLong": str(t["weight"])}}
        for t in THINGS
    ],
    "links beside": {"links": [{"rel": "self", "href": "/t"}], "content": THINGS},
    "pages": [THINGS[:1], THINGS[1:]],
    "pages of several": {"things": {"items": THINGS, "total": 3}, "others": {"items": [], "total": 0}},
    "other items": {"things": [3, None, [1, 2], *THINGS]},
    "map": {"status": "ok", "things": {f"t{t['id']}": without(t, "id") for t in THINGS}},
}


@pytest.mark.parametrize("document", WRAPPED.values(), ids=WRAPPED)
def test_what_is_around_rows_is_passed_through(document: object, tmp_path: Path) -> None:
    found = Found(write(tmp_path / "things.json", json.dumps(document)))
    assert pairs(found, "weight") == {(t["name"], str(t["weight"])) for t in THINGS}
    assert Counter(type_ for _, type_ in found.types)["thing"] == 3


def test_one_thing_in_several_fields_is_one(tmp_path: Path) -> None:
    """Although its ids are numbers, as those of other things are."""
    teams = [{"id": i, "name": f"Team {i}", "city": "Ulm"} for i in range(4)]
    matches = [{"id": i, "homeTeam": teams[i], "awayTeam": teams[i - 1], "goals": i} for i in range(4)]
    found = Found(write(tmp_path / "matches.json", json.dumps({"matches": matches})))
    assert Counter(type_ for _, type_ in set(found.types)) == {"match": 4, "team": 4}


def test_ids_that_count_within_a_list_are_none(tmp_path: Path) -> None:
    orders = [{"id": f"o{n}", "lines": [{"id": 1, "qty": n}, {"id": 2, "qty": n + 5}]} for n in (1, 2)]
    found = Found(write(tmp_path / "orders.json", json.dumps({"orders": orders})))
    assert pairs(found, "order") == {(f"line {n}", f"o{(n + 1) // 2}") for n in (1, 2, 3, 4)}
    assert pairs(found, "qty") == {(f"line {n}", qty) for n, qty in enumerate("1627", 1)}


def test_arrays_of_one_name_in_two_places_stay_apart(tmp_path: Path) -> None:
    def part(town: str, *more: str) -> dict[str, object]:
        rows = [{"id": n, "name": f"{town} {n}", "town": town} for n in (1, 2)]
        return {
            "customers": rows,
            **{name: [{"id": 1, "name": name, "x": 2}] for name in more},
            more[0] + "2": 1,
        }

    document = {"sales": part("Ulm", "offers", "deals"), "support": part("Bonn", "tickets", "calls")}
    found = Found(write(tmp_path / "a.json", json.dumps(document)))
    assert pairs(found, "town") == {(f"{town} {n}", town) for town in ("Ulm", "Bonn") for n in (1, 2)}


def test_lists_in_objects_of_lists_are_rows_of_those(tmp_path: Path) -> None:
    def parts(n: int) -> list[object]:
        return [
            {"date": f"2024-01-0{k}", "items": [{"sku": "a", "n": n}, {"sku": "b", "n": k}]} for k in (1, 2)
        ]

    orders = [{"id": f"o{n}", "shipments": parts(n)} for n in (1, 2)]
    found = Found(write(tmp_path / "a.json", json.dumps({"orders": orders})))
    assert ("o2, shipment 1", "o2") in pairs(found, "order")
    shipments = [f"o{n}, shipment {k}" for n in (1, 2) for k in (1, 2)]
    assert pairs(found, "shipment") == {(f"item {i + 1}", shipments[i // 2]) for i in range(8)}


@pytest.mark.parametrize(
    "inner",
    [
        {"a": 0},
        {"id": "x", "name": "X", "children": []},
        {"id": "y", "n": 3, "part": None},
    ],
)
def test_nesting_has_no_limit_that_crashes(inner: dict[str, object], tmp_path: Path) -> None:
    deep: object = inner
    for n in range(300):
        key = [*inner][-1]
        deep = {**inner, "id": f"k{n}", key: [deep] if key == "children" else deep}
    things = [*THINGS, {"id": 4, "name": "Deep", "weight": 9, "of": deep}]
    found = Found(write(tmp_path / "a.json", json.dumps({"things": things, "beside": deep})))
    assert ("Deep", "9") in pairs(found, "weight")


@pytest.mark.parametrize("code", ["", "S"])
def test_an_update_knows_what_stands_within_rows(code: str, tmp_path: Path) -> None:
    def document(*numbers: int) -> str:
        staff = [{"id": f"{code}{n}", "name": f"Person {n}", "grade": n} for n in numbers]
        shops = [
            {"id": n, "name": f"Shop {n}", "manager": without(s, "grade")} for n, s in enumerate(staff, 1)
        ]
        return json.dumps({"staff": staff, "shops": shops} if len(numbers) > 1 else {"shops": [
            {"id": 9, "name": "Shop 9", "manager": without(staff[0], "grade")}]})  # fmt: skip

    write(tmp_path / "a.json", document(1, 2, 3))
    with Clew.index(tmp_path / "a.json", tmp_path / "a.clew") as clew:
        clew.update(add=write(tmp_path / "b.json", document(2)))
        assert dict(clew.info().types) == {"staff": 3, "shop": 4}
        found = clew.query("MATCH (s:shop)-[:manager]->(p:staff {name: 'Person 2'}) RETURN s.name")
        assert set(found.rows) == {("Shop 2",), ("Shop 9",)}


ODD = [
    {"id": "x1", "name": "Late", "lineup": ["Ann", "Bob"]},
    {"id": "x2", "name": "Later", "lineup": "Cid"},
    {"id": "x3", "name": "Last", "lineup": {"person": "Dee", "plays": "flute"}},
]


@pytest.mark.parametrize("before", [1, 300])
def test_a_field_that_holds_other_things_too_loses_none(before: int, tmp_path: Path) -> None:
    rows: list[object] = [
        {"id": f"b{n}", "name": f"Band {n}", "lineup": [{"person": f"P{n}", "plays": "bass"}] * 2}
        for n in range(before)
    ]
    found = Found(write(tmp_path / "bands.jsonl", "\n".join(map(json.dumps, [*rows, *ODD]))))
    said = {tail if isinstance(tail, str) else tail[0] for _, _, tail in found.triples}
    assert {"Ann", "Bob", "Cid", "Dee"} <= said
    assert ("P0" in said) == (before > 1)  # of one among others the name is not told, which a note says
    assert before > 1 or "left out of: lineup" in found.note


def network(nodes: list[object], links: list[object], **more: object) -> str:
    return json.dumps({"nodes": nodes, "links": links} | more)


NAMES = ["Ned", "Jon", "Arya"]
MEETS = [("Ned", "linked to", "Jon"), ("Arya", "linked to", "Ned")]


ENDS = [(head, tail) for head, _, tail in MEETS]
NETWORKS = {
    "d3": network([{"id": n} for n in NAMES], [{"source": h, "target": t} for h, t in ENDS]),
    "places": network([{"name": n, "group": 1} for n in NAMES],
     [{"source": NAMES.index(h), "target": NAMES.index(t)} for h, t in ENDS]),
    "vis.js": json.dumps({"nodes": [{"id": n} for n in NAMES],
     "edges": [{"from": h, "to": t} for h, t in ENDS]}),
    "cytoscape": json.dumps({"elements": {"nodes": [{"data": {"id": n}} for n in NAMES],
     "edges": [{"data": {"id": f"e{h}", "source": h, "target": t}} for h, t in ENDS]}}),
    "sigma": json.dumps({"nodes": [{"key": n, "attributes": {"size": 2}} for n in NAMES],
     "edges": [{"key": h, "source": h, "target": t} for h, t in ENDS]}),
    "links alone": json.dumps({"links": [{"source": h, "target": t, "value": 1} for h, t in ENDS]}),
}  # fmt: skip


@pytest.mark.parametrize("text", NETWORKS.values(), ids=NETWORKS)
def test_a_network_as_many_programs_write_it(text: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", text)
    assert [row for row in Found(path).triples if row[1] == "linked to"] == MEETS
    graph, report = build_graph([path])
    assert set(NAMES) <= set(graph.entities)
    assert not any("ids of nodes" in note for note in report.notes)


def test_ends_are_ids_although_nodes_have_names(tmp_path: Path) -> None:
    nodes = [{"id": 7, "name": "Ned", "group": 1}, {"id": 8, "name": "Jon", "group": 2}]
    found = Found(
        write(tmp_path / "a.json", network(nodes, [{"source": 7, "target": 8, "type": "father of"}]))
    )
    assert found.labels == {"7": "Ned", "8": "Jon"}
    assert ("7", "father of", "8") in found.triples
    assert ("7", "group", ("1", XSD + "integer")) in found.triples


def test_a_network_without_directions_has_links_both_ways(tmp_path: Path) -> None:
    text = network([{"id": "A"}, {"id": "B"}], [{"source": "A", "target": "B", "weight": 2}], directed=False)
    path = write(tmp_path / "a.json", text)
    assert Found(path).triples == [("A", "linked to", "B"), ("B", "linked to", "A")]
    graph, _ = build_graph([path])
    assert list(graph.edge_properties.keys) == ["weight"]


def test_places_of_nodes_of_one_name_stay_apart(tmp_path: Path) -> None:
    text = network([{"name": "Ann"}, {"name": "Ann"}], [{"source": 0, "target": 1}])
    found = Found(write(tmp_path / "a.json", text))
    assert found.triples == [("0", "linked to", "1")]
    assert found.labels == {"0": "Ann", "1": "Ann"}


def test_results_without_rows_are_no_graph(tmp_path: Path) -> None:
    text = '{"head": {"vars": ["a", "b"]}, "results": {"bindings": []}}'
    assert Found(write(tmp_path / "a.json", text)).triples == []


def test_nodes_without_fields_are_their_places(tmp_path: Path) -> None:
    found = Found(write(tmp_path / "a.json", '{"nodes": [{}], "links": [{"source": "a", "target": "b"}]}'))
    assert found.triples == [("a", "linked to", "b")]


def test_columns_can_be_said(tmp_path: Path) -> None:
    rows = [{"home": "Ajax", "away": "Roma", "goals": 2}, {"home": "Roma", "away": "Ajax", "goals": 1}]
    hints = Hints(columns={"head": "home", "tail": "away"}, relation="plays at home against")
    found = Found(write(tmp_path / "a.json", json.dumps(rows)), hints)
    assert found.triples[0] == ("Ajax", "plays at home against", "Roma")
    with pytest.raises(UsageError, match=r"no column 'x'. The table has: home, away, goals"):
        Found(tmp_path / "a.json", Hints(id="x"))


def test_nodes_of_a_network_are_of_the_kind_that_a_column_says(tmp_path: Path) -> None:
    nodes = [{"id": "n1", "kind": "peak", "name": "Gletsch"}, {"id": "n2", "kind": "hut", "name": "Almhaus"}]
    network = {"nodes": nodes, "links": [{"source": "n2", "target": "n1", "rel": "near"}]}
    found = Found(write(tmp_path / "park.json", json.dumps(network)))
    assert found.types == [("n1", "peak"), ("n2", "hut")]
    assert found.triples == [("n2", "near", "n1")]


def test_json_ld_is_known_whatever_it_is_called(tmp_path: Path) -> None:
    text = json.dumps([{"@id": "http://e.org/a", "http://e.org/p": {"@id": "http://e.org/b"}}])
    for name in ("a.json", "a"):
        assert choose_reader(write(tmp_path / name, text)).name == "jsonld"


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.json", '{"type": "Topology", "arcs": [[1, 2]]}', "a form that is not known. Known are arrays"),
        ("a.json", "[1, 2]", "a form that is not known"),
        ("a.json", '{"name": "festival", "scripts": {}}', "a form that is not known"),
        ("a.json", '[{"name": "x"},\n {"name" "y"}]', r"a\.json:2: broken JSON: Expecting ':'"),
        ("a.json", "[" * 100_000, "broken JSON: it is nested too deep"),
        ("a.jsonl", '{"name": "x"}\n{"name"\n', r"a\.jsonl:2: broken JSON"),
        ("a.jsonl", '{"name": "x"}\n3\n', r"a\.jsonl:2: the line is no object"),
        ("a.json", '[{"id": "1", "a": "x"}, {"id": null, "a": "y"}]', "node 2: the id is empty"),
        ("a.json", '{"nodes": [{"id": 1}], "links": [{"source": 1, "target": null}]}', "edge 1: a cell"),
        ("a.json", '{"nodes": [{"id": 1}], "links": [{"here": 1, "there": 1}]}',
         "not clear what the columns"),
        ("a.json", '{"bomFormat": "CycloneDX", "components": [], "dependencies": ["x"]}',
         "not as its format says"),
        ("a.json", '[{"type": "relationship", "start": {"id": "1"}, "end": {"id": "2"}}]',
         "not as its format"),
    ],
)  # fmt: skip
def test_faults_say_where_they_are(name: str, text: str, reason: str, tmp_path: Path) -> None:
    path = write(tmp_path / name, text)
    with pytest.raises(ParseError, match=reason):
        Found(path)


def test_a_document_that_is_too_long_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clew.graph.readers.stream.MOST_DOCUMENT_BYTES", 1 << 20)
    path = write(tmp_path / "a.json", "[" + " " * (1 << 21) + "]")
    with pytest.raises(InputError, match=r"more than 1 MiB\. Give it as an object a line"):
        Found(path)


def test_a_number_stays_as_it_is_written(tmp_path: Path) -> None:
    digits = "9" * 5_000
    text = f'[{{"name": "a", "n": 1e999, "m": 1.50}}, {{"name": "b", "n": {digits}, "m": NaN}}]'
    found = Found(write(tmp_path / "a.json", text))
    assert found.triples == [("a", "n", "1e999"), ("a", "m", ("1.50", XSD + "decimal")), ("b", "n", digits)]


def test_objects_in_lists_say_what_they_are_at_any_depth(tmp_path: Path) -> None:
    leaf = {"id": "c", "label": "Cluster", "size": 39}
    tree = {"id": "f", "label": "Flare", "children": [{"id": "a", "label": "Analytics", "children": [leaf]}]}
    found = Found(write(tmp_path / "a.json", json.dumps(tree)))
    assert set(found.triples) == {
        ("c", "size", ("39", XSD + "integer")),
        ("a", "children", "c"),
        ("f", "children", "a"),
    }


@pytest.mark.parametrize("around", [{"id": "resp_1", "object": "list"}, {"name": "Catalogue 2024"}])
def test_what_is_around_a_list_is_no_tree(tmp_path: Path, around: dict[str, str]) -> None:
    products = [{"id": "a", "name": "Anvil", "price": 3}, {"id": "b", "name": "Bell", "price": 5}]
    found = Found(write(tmp_path / "a.json", json.dumps({**around, "products": products})))
    assert {relation for _, relation, _ in found.triples} == {"price"}


@pytest.mark.parametrize("bounds", [("cold", "warm"), (1.5, 2.5), (3, True), (0, 1 << 31)])
def test_two_bounds_are_no_whole_number_of_a_driver(tmp_path: Path, bounds: tuple[object, object]) -> None:
    low, high = bounds
    properties = {"name": "Ulm", "range": {"low": low, "high": high}}
    node = {"type": "node", "id": "1", "labels": ["City"], "properties": properties}
    near = {"type": "relationship", "id": "2", "label": "NEAR", "start": {"id": "1"}, "end": {"id": "1"}}
    graph = build_graph([write(tmp_path / "a.json", json.dumps([node, near]))])[0]
    assert {"range low", "range high"} < set(graph.relations)


def test_adjacency_lists_and_records_of_drivers_are_networks(tmp_path: Path) -> None:
    graph = {"nodes": [{"id": "Ann"}, {"id": "Bob"}], "adjacency": [[{"id": "Bob", "relation": "knows"}], []]}
    assert Found(write(tmp_path / "a.json", json.dumps(graph))).triples == [("Ann", "knows", "Bob")]

    def number(of: int) -> dict[str, int]:
        return {"low": of, "high": 0}

    ends = [{"identity": number(at), "labels": ["P"], "properties": {"name": n}} for at, n in enumerate("AB")]
    link = {"identity": number(7), "start": number(0), "end": number(1), "type": "KNOWS"}
    link["properties"] = {"since": number(1999)}
    record = {"keys": ["n", "r", "m"], "length": 3, "_fields": [ends[0], link, ends[1]]}
    graph = build_graph([write(tmp_path / "b.json", json.dumps([record]))])[0]
    ((_, properties),) = graph.edge_properties.rows()
    assert (graph.triples, [p[:2] for p in properties]) == (1, [("since", "1999")])

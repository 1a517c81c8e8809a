"""Entities as a table, over HTTP: types, columns, sorting, filters, counted values, pages."""

import pytest

from clew import Clew

FILM = "head of directed_by"


def table(running, **body):
    reply = running.client.post("/v1/films/table", json=body)
    assert reply.status_code == 200, reply.text
    return reply.json()


def names(page):
    return [row["label"] for row in page["rows"]]


def test_types_are_listed_with_their_counts(films):
    told = films.client.get("/v1/films/types").json()
    assert told["declared"]
    assert {"type": "film", "count": 266} in told["types"]
    assert table(films, type="film", columns=[])["count"] == 266


def test_a_type_is_a_table_of_what_its_entities_have(films):
    page = table(films, type=FILM)
    assert page["count"] == 266
    columns = {column["name"]: column for column in page["available"]}
    assert (columns["release_year"]["kind"], columns["release_year"]["low"]) == ("number", "1940")
    assert columns["starring"]["filled"] == 260
    assert len(page["columns"]) == 5
    assert all(len(row["cells"]) == 5 for row in page["rows"])


def test_rows_are_sorted_by_value_and_those_without_one_come_last(films):
    oldest = table(films, type=FILM, columns=["release_year"], sort="release_year", limit=1)
    newest = table(films, type=FILM, columns=["release_year"], sort="release_year", descending=True, limit=1)
    assert oldest["rows"][0]["cells"][0]["values"] == ["1940"]
    assert newest["rows"][0]["cells"][0]["values"] == ["2023"]
    last = table(films, type=FILM, columns=["runtime_minutes"], sort="runtime_minutes", offset=265)
    assert last["rows"][0]["cells"][0]["values"] == []
    assert last["next"] is None


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ({"column": "directed_by", "is": "=", "value": "christopher nolan"}, 11),
        ({"column": "directed_by", "is": "contains", "value": "nolan"}, 11),
        ({"column": "release_year", "is": ">=", "value": "2023"}, 4),
        ({"column": "runtime_minutes", "is": "missing"}, 65),
        ({"column": "runtime_minutes", "is": "present"}, 201),
    ],
)
def test_filters_keep_what_they_say(films, condition, count):
    assert table(films, type=FILM, filters=[condition])["count"] == count


def test_values_are_counted_with_the_filters_that_are_set(films):
    body = {"type": FILM, "column": "genre"}
    everything = films.client.post("/v1/films/facets", json=body).json()
    nolan = [{"column": "directed_by", "is": "=", "value": "Christopher Nolan"}]
    his = films.client.post("/v1/films/facets", json=body | {"filters": nolan}).json()
    total = sum(value["count"] for value in his["values"])
    assert 0 < total < sum(value["count"] for value in everything["values"])
    for value in his["values"][:3]:
        both = [*nolan, {"column": "genre", "is": "=", "value": value["label"]}]
        assert table(films, type=FILM, filters=both)["count"] == value["count"]


def test_numbers_have_a_histogram_with_round_ends(films):
    told = films.client.post("/v1/films/facets", json={"type": FILM, "column": "release_year"}).json()
    assert sum(bar["count"] for bar in told["bars"]) == 266
    assert [bar["from"] for bar in told["bars"]] == list(range(1940, 2025, 5))
    assert told["bars"][-1]["to"] == 2025


@pytest.mark.parametrize("prices", [["0.14", "999.85", "3", "4"], ["7"], ["0.3", "0.6"], ["-3.2", "9"]])
def test_bars_hold_all_numbers(tmp_path, prices):
    rows = [f"P{at},Part {at},{price}" for at, price in enumerate(prices)]
    (tmp_path / "parts.csv").write_text("\n".join(["id,name,price", *rows]))
    with Clew.open([tmp_path / "parts.csv"]) as clew:
        bars = clew.table(type="part").facets("price")["bars"]
    assert sum(bar["count"] for bar in bars) == len(prices)
    assert all(len(str(bar[end])) <= 6 for bar in bars for end in ("from", "to"))


def test_heads_of_columns_are_words(films, depots):
    columns = table(films, type="person")["available"]
    heads = {column["name"]: column["label"] for column in columns}
    assert heads["directed_by^"] == "films directed by …"
    assert heads["starring^"] == "films starring …"
    heads = {column["name"]: column["label"] for column in table(films, type="film")["available"]}
    assert heads["runtime_minutes"] == "runtime (minutes)"
    around = depots.client.get("/v1/depots/entities/D1").json()
    headings = {group["heading"] for group in around["groups"] if group["direction"] == "in"}
    assert "employees who work at …" in headings


def test_dates_have_a_histogram_of_days(depots):
    body = {"type": "employee", "column": "hired"}
    bars = depots.client.post("/v1/depots/facets", json=body).json()["bars"]
    assert sum(bar["count"] for bar in bars) == 8
    assert bars[0]["from"] == "2008-11-30"
    within = [
        {"column": "hired", "is": ">=", "value": bars[0]["from"]},
        {"column": "hired", "is": "<", "value": bars[4]["to"]},
    ]
    page = depots.client.post("/v1/depots/table", json={"type": "employee", "filters": within}).json()
    assert page["count"] == sum(bar["count"] for bar in bars[:5])


def test_a_query_and_named_entities_are_tables_too(films):
    query = "{Christopher Nolan} ^directed_by"
    assert "Memento" in names(table(films, query=query, columns=["release_year"]))
    assert names(table(films, entities=["Heat", "Memento"], columns=[])) == ["Heat", "Memento"]
    assert names(table(films, entities=["Heat", "Memento"], columns=[], sort="", descending=True)) == [
        "Memento",
        "Heat",
    ]


def test_pages_follow_each_other(films):
    first = table(films, type=FILM, columns=[], sort="", limit=200)
    second = table(films, type=FILM, columns=[], sort="", limit=200, offset=first["next"])
    assert len({*names(first), *names(second)}) == 266
    assert second["next"] is None


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"type": "Movie"}, 'no type \\"Movie\\"'),
        ({"query": "nonsense ("}, "cannot be read"),
        ({"type": FILM, "columns": ["budget"]}, 'no relation \\"budget\\"'),
        ({}, "Give one of: type, query, entities"),
        (
            {"type": FILM, "filters": [{"column": "release_year", "is": ">", "value": "old"}]},
            "neither a number",
        ),
        ({"type": FILM, "filters": [{"column": "release_year", "is": "like", "value": "1"}]}, "filters.0.is"),
    ],
)
def test_what_cannot_be_a_table_is_said(films, body, told):
    reply = films.client.post("/v1/films/table", json=body)
    assert reply.status_code in (400, 422)
    assert told in reply.text


def test_entities_with_ids_are_shown_by_name(tmp_path):
    (tmp_path / "staff.csv").write_text("id,name,type\nE1,Ann Lee,Employee\nE2,Bob Ray,Employee\n")
    (tmp_path / "posts.csv").write_text("source,target,relation\nE1,E2,manages\n")
    with Clew.open([tmp_path / "staff.csv", tmp_path / "posts.csv"]) as clew:
        (first, _) = clew.table(type="Employee").page(["manages"])["rows"]
    assert (first["entity"], first["label"], first["cells"][0]["values"]) == ("E1", "Ann Lee", ["Bob Ray"])

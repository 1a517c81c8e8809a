"""What query graphs ask beyond sets: edges, groups, order, shares, averages, *every* and *only*."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew import Clew
from clew.graph.schema import schema_of
from clew.query.notation import NameLookup, NotationError, read_query
from clew.query.vocabulary import Vocabulary
from clew.query.words import say
from clew.reading.answer import answer_of

TABLES = {
    "employee": "id,name,team,age,salary,city\n1,Ann Lee,Red,41,90,Oslo\n2,Bob Ray,Red,35,65,Bergen\n"
    "3,Cid Orr,Blue,52,70,Oslo\n4,Dee Poe,Blue,29,40,\n",
    "ordered": "start,end,date,amount,status\nAcme,Lamp,2023-02-01,5,open\nAcme,Desk,2022-03-04,1,shipped\n"
    "Belt,Desk,2024-01-09,7,open\n",
    "works_at": "start,end,since,until\nEva,Nord,2010,2015\nEva,Sud,2016,\nFin,Nord,2014,2020\n",
}


@pytest.fixture(scope="module")
def graphs(tmp_path_factory) -> dict[str, Clew]:
    folder: Path = tmp_path_factory.mktemp("operators")
    opened: dict[str, Clew] = {}
    for name, text in TABLES.items():
        (folder / f"{name}.csv").write_text(text)
        opened[name] = Clew.open(folder / f"{name}.csv", cache_dir=folder)
    return opened


def asked(graph: Clew, text: str):
    """A query in notation as it is answered, and said."""
    columns = graph.index.graph

    def place(strings):
        names = list(strings)
        return lambda name: names.index(name) if name in names else None

    keys = list(columns.edge_properties.keys)
    lookup = NameLookup(
        place(columns.labels),
        place(columns.relation_labels),
        place(columns.types.names),
        lambda name: name if name in keys else None,
    )
    query = read_query(text, lookup)
    vocabulary = Vocabulary.of(columns, schema_of(columns))
    return answer_of(columns, vocabulary, query), say(query, vocabulary)


@pytest.mark.parametrize(
    ("graph", "query", "answer", "words"),
    [
        (
            "employee",
            "count(^team) by .team",
            "Red: 2 · Blue: 2",
            "the number of things with a team, by team",
        ),
        (
            "employee",
            "avg(^team .salary) by .team",
            "Red: 77.5 · Blue: 55",
            "the average salary of things with a team, by team",
        ),
        (
            "employee",
            "^team by .city",
            "Oslo: Ann Lee, Cid Orr · Bergen: Bob Ray",
            "things with a team, by city",
        ),
        ("employee", "nth(2, ^team, .age)", "Ann Lee", "the second oldest thing with a team"),
        (
            "employee",
            "nth(-2, ^team, .salary)",
            "Bob Ray",
            "the thing with a team and with the second lowest salary",
        ),
        (
            "employee",
            "top(all, ^team, .age)",
            "Cid Orr · Ann Lee · Bob Ray · Dee Poe",
            "things with a team from the highest to the lowest age",
        ),
        ("employee", "top(2, ^team, .age)", "Cid Orr · Ann Lee", "the 2 oldest things with a team"),
        (
            "employee",
            "share({Oslo}^city, ^team)",
            "50 %",
            "the share of things with a team that are things whose city is Oslo",
        ),
        (
            "employee",
            "diff({Ann Lee}.salary, {Bob Ray}.salary)",
            "25",
            "the difference between the salary of Ann Lee and that of Bob Ray",
        ),
        (
            "employee",
            "diff({Oslo}^city, {Bergen}^city)",
            "1",
            "how many more there are of things whose city is Oslo than of Bergen",
        ),
        (
            "employee",
            "^team[salary > avg(^team .salary)]",
            "Ann Lee · Cid Orr",
            "things with a team whose salary is more than the average salary of things with a team",
        ),
        (
            "employee",
            "every({Red}^team, ^team[age > 30])",
            "yes",
            "whether all things whose team is Red are things with a team that are older than 30",
        ),
        (
            "employee",
            "every({Blue}^team, ^team[age > 30])",
            "no",
            "whether all things whose team is Blue are things with a team that are older than 30",
        ),
        (
            "employee",
            "{Oslo}^city[.team only {Red}]",
            "Ann Lee",
            "things whose city is Oslo and whose team is only Red",
        ),
        (
            "ordered",
            '{Acme}."linked to"[@date > 2023-01-01]',
            "Lamp",
            "what Acme is linked to (date after 1 January 2023)",
        ),
        ("ordered", '{Desk}^"linked to"[@status = "open"]', "Belt", "things linked to Desk (status open)"),
        ("ordered", '{Acme}."linked to"[@amount >= 2]', "Lamp", "what Acme is linked to (amount at least 2)"),
        (
            "ordered",
            'count({Acme}."linked to"[@date > 2022-01-01][@status = shipped])',
            "1",
            "the number of things that Acme is linked to (date after 1 January 2022 and status shipped)",
        ),
        (
            "ordered",
            '^"linked to"[."linked to" only {Desk}]',
            "Belt",
            "things linked to a thing and linked to only Desk",
        ),
        (
            "ordered",
            '^"linked to"[."linked to" all {Desk} | {Lamp}]',
            "Acme",
            "things linked to a thing and linked to all of Desk or Lamp",
        ),
        (
            "works_at",
            '{Nord}^"linked to"[@since <= 2014][@until >= 2016 or none]',
            "Fin",
            "things linked to Nord (since 2014 or earlier and until 2016 or later or none)",
        ),
        (
            "works_at",
            '{Eva}."linked to"[@since <= 2017][@until >= 2017 or none]',
            "Sud",
            "what Eva is linked to (in 2017)",
        ),
    ],
)
def test_it_is_answered_proved_and_said(graphs, graph, query, answer, words):
    draft, said = asked(graphs[graph], query)
    assert (draft.text, said) == (answer, words)
    assert all(citation.triples for citation in draft.citations)
    assert len(draft.citations) >= min(1, len(draft.answers))


def test_a_condition_on_an_edge_stands_behind_a_relation(graphs):
    with pytest.raises(NotationError, match="behind a relation"):
        asked(graphs["ordered"], "{Acme}[@date > 2023]")


def test_rows_of_groups_have_their_columns(graphs):
    draft, _ = asked(graphs["employee"], "avg(^team .salary) by .team")
    assert draft.rows is not None
    assert draft.rows.as_json() == {
        "columns": ["team", "average salary of things with a team"],
        "rows": [["Red", 77.5], ["Blue", 55]],
    }
    assert {"Ann Lee", "Red", "90"} <= {end for t in draft.citations[0].triples for end in (t.head, t.tail)}


def test_what_is_in_no_group_is_counted(graphs):
    draft, _ = asked(graphs["employee"], "^team by .city")
    assert draft.notes == ("1 of them are in no group",)


def test_what_leads_to_no_group_and_what_has_no_number_is_left_open(graphs):
    for query in ("avg({Dee Poe} .salary) by .city", "diff({Dee Poe} .city, {Red} .city)"):
        assert asked(graphs["employee"], query)[0].abstained is not None

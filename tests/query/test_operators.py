"""What query graphs ask beyond sets: edges, groups, order, shares, averages, *every* and *only*.

`tests/data/query/operators.txt`: `> query => answer ~ the query in words`.
"""

from pathlib import Path

import pytest

from clew import Clew
from clew.graph.build import graph_of
from clew.graph.schema import schema_of
from clew.query.notation import NameLookup, NotationError, read_query
from clew.query.tree import (
    Amount,
    Anchor,
    Both,
    Compared,
    Counted,
    Extreme,
    OfType,
    Query,
    Value,
    Walk,
    Without,
)
from clew.query.vocabulary import Vocabulary
from clew.query.words import say
from clew.reading.answer import answer_of
from sections import read_sections

SECTIONS = read_sections(Path(__file__).parents[1] / "data" / "query" / "operators.txt")


@pytest.fixture(scope="module")
def graphs(cache) -> dict[str, Clew]:
    return {name: section.open(cache) for name, section in SECTIONS.items()}


def asked(graph: Clew, text: str):
    """A query in notation as it is answered, and said."""
    columns = graph.opened.graph

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
    ("graph", "query", "expected"), [(n, q, e) for n, one in SECTIONS.items() for _, q, e in one.cases]
)
def test_it_is_answered_proved_and_said(graphs, graph, query, expected):
    draft, said = asked(graphs[graph], query)
    assert f"{draft.text} ~ {said}" == expected
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


SAID = read_sections(Path(__file__).parents[1] / "data" / "query" / "words.txt")


GRAPHS = {name: graph_of(section.triples, section.types) for name, section in SAID.items()}


CASES = [(name, query, words) for name, section in SAID.items() for _, query, words in section.cases]


@pytest.mark.parametrize(("graph", "query", "words"), CASES)
def test_a_query_is_said_in_plain_english(graph: str, query: str, words: str) -> None:
    names = GRAPHS[graph]

    def place(strings: list[str]):
        return lambda name: strings.index(name) if name in strings else None

    lookup = NameLookup(*map(place, map(list, (names.labels, names.relations, names.types.names))))
    assert say(read_query(query, lookup), Vocabulary.of(names, schema_of(names))) == words


NAMES = NameLookup(
    {"Ida": 1, "Ben": 2, "stout": 3}.get,
    {"knows": 0, "made by": 1, "film.by": 2, "born": 3}.get,
    {"Beer": 0, "Old Beer": 1}.get,
    {"hours": "hours", "order date": "order_date"}.get,
)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("{Ida} .knows ^film.by", Query("list", Walk(Walk(Anchor(1), 0), 5))),
        ('{Ida} ."made by"', Query("list", Walk(Anchor(1), 2))),
        ("count(Beer)", Query("count", OfType(0))),
        (".knows[count(^knows) > 1]", Query("list", Counted(OfType(-1, 1), 1, ">", 1))),
        ("argmax(^born, .born)", Query("list", Extreme(OfType(-1, 6), (6,), False, True))),
        ('"Old Beer"', Query("list", OfType(1))),
        ("Beer & {Ida} .knows", Query("list", Both(OfType(0), Walk(Anchor(1), 0)))),
        ("Beer - {Ida}", Query("list", Without(OfType(0), Anchor(1)))),
        ("Beer[born > 5]", Query("list", Compared(OfType(0), (6,), ">", Value(5.0)))),
        ("ask({Ida}[born > {Ben} .born])", Query("yes", Compared(Anchor(1), (6,), ">", Walk(Anchor(2), 6)))),
        ("Beer[born > {.knows .born}]",
         Query("list", Compared(OfType(0), (6,), ">", Amount("own", Walk(OfType(-1, 1), 6))))),
        ('Beer[knows = "stout"]', Query("list", Both(OfType(0), Walk(Anchor(3), 1)))),
        ("Beer[count(^knows) = 0]", Query("list", Counted(OfType(0), 1, "=", 0))),
        ("Beer[.knows]", Query("list", Counted(OfType(0), 0, ">=", 1))),
        ("argmin(Beer, .born) .knows", Query("list", Walk(Extreme(OfType(0), (6,), False, False), 0))),
        ("@hours({Ida} .knows)", Query("list", Walk(Anchor(1), 0), key="hours")),
        ('max(@"order date"({Ida} .knows))', Query("largest", Walk(Anchor(1), 0), key="order_date")),
        ("argmax({Ida} .knows, @hours)",
         Query("list", Extreme(Walk(Anchor(1), 0), (), False, True, key="hours"))),
        ("argmax(Beer, sum(.born))",
         Query("list", Extreme(OfType(0), (6,), False, True, summed=True))),
        ("argmin(Beer, sum(^knows .born))",
         Query("list", Extreme(OfType(0), (1, 6), False, False, summed=True))),
        ("top(3, Beer, count(^knows))", Query("list", Extreme(OfType(0), (1,), True, True, 3))),
    ],
)  # fmt: skip
def test_what_is_read(text, query):
    assert read_query(text, NAMES) == query


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{Eva} .knows", "no entity 'Eva'"), ("{Ida} .likes", "no relation 'likes'"),
        ("Wine", "no type 'Wine'"), ("{Ida", "cannot be read at"), ("{Ida} knows", "left over: knows"),
        ("", "expected more"),
        ("(" * 30 + "{Ida}" + ")" * 30, "inside each other"),
        ("{Ida}" * 200, "longer than"), ("top(x, Beer, .born)", "whole number"),
        ("count(@hours({Ida} .knows))", "count is of a set"),
        ("@hours({Ida} .knows) by .knows", "left over: by"),
        ("@weight({Ida} .knows)", "no edge has a property 'weight'"),
        ("__import__('os')", "cannot be read|no type"),
    ],
)  # fmt: skip
def test_anything_else_says_what_is_wrong(text, said):
    with pytest.raises(NotationError, match=said):
        read_query(text, NAMES)

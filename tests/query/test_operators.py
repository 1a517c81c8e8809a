"""What query graphs ask beyond sets: edges, groups, order, shares, averages, *every* and *only*.

`tests/data/query/operators.txt`: `> query => answer ~ the query in words`.
"""

from pathlib import Path

import pytest

from clew import Clew
from clew.graph.schema import schema_of
from clew.query.notation import NameLookup, NotationError, read_query
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

"""What is recorded as yes or no is answered by the value, and says of what it is so."""

import pytest

from clew import Clew

TRIPLES = (
    ("Oak Court", "has_lift", "no"), ("Elm House", "has_lift", "yes"), ("Ash House", "has_lift", "yes"),
    ("Oak Court", "area", "Clifton"), ("Elm House", "area", "Clifton"), ("Ash House", "area", "Redland"),
    ("Oak Court", "landlord", "Ida Moor"), ("Elm House", "landlord", "Kim Lowe"),
)  # fmt: skip
TYPES = {name: ["building"] for name in ("Oak Court", "Elm House", "Ash House")}


@pytest.fixture(scope="module")
def graph():
    with Clew.from_triples(TRIPLES, types=TYPES) as clew:
        yield clew


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("Is there a lift at Oak Court?", {"no"}),
        ("Does Oak Court have a lift?", {"no"}),
        ("Does Elm House have a lift?", {"yes"}),
        ("Which buildings in Clifton have a lift?", {"Elm House"}),
        ("buildings without a lift", {"Oak Court"}),
    ],
)
def test_the_value_decides(graph, question, wanted):
    answer = graph.ask(question)
    assert {a.label for a in answer.answers} == wanted
    assert all(c.triples for c in answer.citations)

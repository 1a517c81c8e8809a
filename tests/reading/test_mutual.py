"""What holds both ways is found both ways, however a graph records it."""

import pytest

from clew import Clew

TRIPLES = (
    ("Mina Holt", "sibling_of", "Norma Holt"), ("Heather Holt", "sibling_of", "Mina Holt"),
    ("Keith Shaw", "knows", "Mina Holt"), ("Norma Holt", "knows", "Paul Rigby"),
    ("Norma Holt", "parent_of", "Eve Holt"), ("Ida Moss", "wife", "Kim Moss"),
    ("Kim Moss", "wife", "Ann Reed"),
)  # fmt: skip


@pytest.fixture(scope="module")
def graph():
    with Clew.from_triples(TRIPLES) as clew:
        yield clew


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("Who is a sibling of Mina Holt?", {"Norma Holt", "Heather Holt"}),
        ("Who does Mina Holt know?", {"Keith Shaw"}),
        ("Who knows Norma Holt?", {"Paul Rigby"}),
        ("Who is a parent of Eve Holt?", {"Norma Holt"}),
        ("Who is the wife of Kim Moss?", {"Ann Reed"}),
    ],
)
def test_both_ways(graph, question, wanted):
    answer = graph.ask(question)
    assert {a.label for a in answer.answers} == wanted
    assert all(c.triples for c in answer.citations)

"""The lines beside walks: relation paths of topics, and whole types and relations where there is no topic."""

import pytest

from clew.engine import Clew
from clew.llm.testing import ScriptedModel

TRIPLES = [
    ("Ann", "plays for", "Reds"), ("Bea", "plays for", "Reds"), ("Cid", "plays for", "Blues"),
    ("Ann", "born in", "Oslo"), ("Bea", "born in", "Rome"), ("Cid", "born in", "Oslo"), ("Ann", "goals", "7"),
    ("Bea", "goals", "12"), ("Cid", "goals", "3"), ("Reds", "rival of", "Blues"),
    ("Blues", "rival of", "Reds"),
]  # fmt: skip


@pytest.fixture(scope="module")
def clubs():
    with Clew.from_triples(TRIPLES, types={"Reds": ["club"], "Blues": ["club"]}) as opened:
        yield opened


def test_an_answer_from_a_whole_relation_is_cited(clubs):
    reply = "Bea has 12.\nFacts: 1\nAnswer: Bea"
    model = ScriptedModel(lambda _: reply)
    answer = clubs.ask("Who has the most goals?", method="walk-retrieve", model=model)
    assert [a.label for a in answer.answers] == ["Bea"]
    assert [t.as_json() for t in answer.citations[0].triples] == [["Bea", "goals", "12"]]


def test_all_of_a_type_is_an_answer(clubs):
    model = ScriptedModel(lambda _: "They are listed.\nFacts: 1\nAnswer: all of 1")
    answer = clubs.ask("Which clubs are there?", method="walk-retrieve", model=model)
    assert sorted(a.label for a in answer.answers) == ["Blues", "Reds"]
    assert all(c.triples for c in answer.citations)

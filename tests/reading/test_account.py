"""The account of words: an answer is of every word of its question, or is marked as one of the rest."""

from __future__ import annotations

import pytest

from clew import Clew
from clew.errors import UsageError


@pytest.fixture(scope="module")
def depots():
    triples = [
        ("Hamburg Depot", "managed_by", "Ivo Marek"), ("Bremen Depot", "managed_by", "Petra Zimmer"),
        ("Hamburg Depot", "located_in", "Hamburg"), ("Bremen Depot", "located_in", "Bremen"),
        ("Ivo Marek", "works_at", "Hamburg Depot"), ("Petra Zimmer", "works_at", "Bremen Depot"),
        ("Lena Ortiz", "works_at", "Bremen Depot"), ("Lena Ortiz", "reports_to", "Petra Zimmer"),
        ("Hamburg Depot", "opened_in", "1998"), ("Bremen Depot", "opened_in", "2004"),
    ]  # fmt: skip
    with Clew.from_triples(triples) as graph:
        yield graph


def unplaced(answer) -> list[str]:
    return [word.text for word in answer.account if word.as_ == "unplaced"]


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Who manages the Hamburg Depot?", ["Ivo Marek"]),
        ("who manages the hamburg depot", ["Ivo Marek"]),
        ("Please tell me who manages Hamburg Depot, thanks!", ["Ivo Marek"]),
        ("Who is the manager of the Hambrug Depot?", ["Ivo Marek"]),
        ("Where does Zimmer work?", ["Bremen Depot"]),
    ],
)
def test_a_question_all_of_whose_words_are_carried_is_answered(
    depots: Clew, question: str, answers: list[str]
):
    answer = depots.ask(question)
    assert [a.label for a in answer.answers] == answers
    assert not unplaced(answer)
    assert [question[w.begin : w.end] for w in answer.account] == [w.text for w in answer.account]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Who manages the London Depot?", "London"),
        ("Where does Dunwich Marek work?", "Dunwich"),
        ("Where does Petra Lindqvar work?", "Lindqvar"),
        ("Who manages the Hamburg Depot in the rain?", "rain"),
        ("Who manages the Hamburg Depot without permission of the king?", "without"),
        ("Who manages the Hamburg Depot 7?", "7"),
        ('Who manages the "Old Hamburg Depot"?', "Old"),
    ],
)
def test_a_question_with_a_word_that_nothing_carries_is_not_answered(depots: Clew, question: str, words: str):
    answer = depots.ask(question)
    assert not answer.answers
    assert answer.abstained is not None
    assert words in unplaced(answer)
    assert words in answer.abstained.detail


def test_the_rest_is_answered_where_that_is_wanted_and_marked(depots: Clew):
    question = "Who manages the Hamburg Depot in the rain?"
    answer = depots.ask(question, partial=True)
    assert [a.label for a in answer.answers] == ["Ivo Marek"]
    assert any('"rain"' in note for note in answer.notes)
    placed = {word["text"]: (word["as"], word["part"]) for word in answer.as_json()["account"]}
    assert placed["Hamburg"] == ("name", "Hamburg Depot")
    assert placed["manages"][0] == "relation"
    assert placed["rain"][0] == "unplaced"
    with pytest.raises(UsageError):
        depots.ask(question, method="kg-rag", partial=True)

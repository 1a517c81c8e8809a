"""Questions and their answers over small graphs of many trades, in `tests/data/reading/questions.txt`.

A section is a graph: lines `head | relation | tail` and `Type: names`, then `> question => answers`.
A question without answers has to be left open, for the reason behind `?`. One that begins with `!`
fails today.
"""

from pathlib import Path

import pytest

from clew import Clew
from sections import read_sections

SECTIONS = read_sections(Path(__file__).parents[1] / "data" / "reading" / "questions.txt", ">!")
WRONG = pytest.mark.xfail(strict=True, reason="fails today")
CASES = [
    pytest.param(name, question, answers, id=question, marks=[WRONG] if mark == "!" else [])
    for name, section in SECTIONS.items()
    for mark, question, answers in section.cases
]


@pytest.fixture(scope="module")
def graphs(cache: Path) -> dict[str, Clew]:
    return {name: section.open(cache) for name, section in SECTIONS.items()}


@pytest.mark.parametrize(("graph", "question", "answers"), CASES)
def test_a_question_has_its_answers(graphs: dict[str, Clew], graph: str, question: str, answers: str):
    answer = graphs[graph].ask(question)
    names, _, reason = answers.partition("?")
    wanted = {one.strip() for one in names.split(",")} - {""}
    assert {a.label for a in answer.answers} == wanted, answer.reading
    assert not reason or (answer.abstained and answer.abstained.reason) == reason.strip()


@pytest.mark.parametrize(
    ("graph", "question", "note"),
    [
        ("causes of death", "Who was poisoned?", '"poisoned" is taken for poison'),
        ("library", "Books written by Gray", '"Gray" is taken for Mina Gray'),
        ("spelling", "Who is the composr of Heat?", '"composr" is read as "composer"'),
        ("spelling", "Which composr has Ran?", '"composr" is read as "composer"'),
    ],
)
def test_what_a_word_is_taken_for_is_said(graphs: dict[str, Clew], graph: str, question: str, note: str):
    assert note in graphs[graph].ask(question).notes

"""Questions and their answers over small graphs of many trades, in `tests/data/reading/questions.txt`.

A section is a graph: lines `head | relation | tail` and `Type: names`, then `> question => answers`.
A question without answers has to be left open, for the reason behind `?`. One that begins with `!`
fails today.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from clew import Clew

FILE = Path(__file__).parents[1] / "data" / "reading" / "questions.txt"
SECTIONS = {
    name: lines
    for section in FILE.read_text("utf-8").split("\n\n")
    for name, *lines in [section.removeprefix("# ").strip().split("\n")]
}
WRONG = pytest.mark.xfail(strict=True, reason="fails today")
CASES = [
    pytest.param(
        name,
        question.strip(),
        answers.strip(),
        id=question.strip(),
        marks=[WRONG] if line[0] == "!" else [],
    )
    for name, lines in SECTIONS.items()
    for line in lines
    if line[:2] in ("> ", "! ")
    for question, answers in [line[2:].rsplit("=>", 1)]
]


@pytest.fixture(scope="module")
def graphs() -> dict[str, Clew]:
    made: dict[str, Clew] = {}
    for name, lines in SECTIONS.items():
        told = [line for line in lines if line[:2] not in ("> ", "! ")]
        typed = [line.split(":", 1) for line in told if "|" not in line]
        made[name] = Clew.from_triples(
            [tuple(part.strip() for part in line.split("|")) for line in told if "|" in line],
            types={one.strip(): [type_] for type_, names in typed for one in names.split(",")},
        )
    return made


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

"""Stated answers → answers with proofs: what is linked, what is rejected and why, what a proof is.

Asked by `kaping`; every method that reads facts grounds what is stated in the same way.
"""

from collections.abc import Iterator

import pytest

from clew.engine import Clew
from clew.llm.testing import ScriptedModel
from clew.methods.settings import KapingSettings
from clew.types import Answer

TRIPLES = [
    ("Hydraulic Press HP-40", "max_pressure_bar", "260"),
    ("Hydraulic Press HP-40B", "max_pressure_bar", "220"),
    ("Test Bench TB-5", "max_pressure_bar", "400"), ("Test Bench TB-5 Mk2", "max_pressure_bar", "230"),
    ("Test Bench TB-5", "commissioned_on", "2014-02-28"),
    ("Marta Kowel", "works_shift", "Weekend Shift"), ("Marta Kovel", "works_shift", "Early Shift"),
    ("Lowe & Hask", "based_in", "Sant Orell"), ("Sant Orell", "in_country", "Talesia"),
    ("The Prestige", "directed_by", "Christopher Nolan"),
    ("Memento", "directed_by", "Christopher Nolan"), ("Boiler B-1", "max_pressure_bar", "9"),
]  # fmt: skip
NAMES = {end for head, _, tail in TRIPLES for end in (head, tail)} - {"Marta Kovel", "Early Shift"}
LISTED = [*TRIPLES, *(("The Plant", "lists", name) for name in sorted(NAMES))]


@pytest.fixture(scope="module")
def plant() -> Iterator[Clew]:
    with Clew.from_triples(LISTED, aliases={"Boiler B-1": ["the Kettle"]}) as clew:
        yield clew


def ask(clew: Clew, reply: str, *entities: str, question: str = "What is there?") -> Answer:
    model, settings = ScriptedModel(lambda _: reply), KapingSettings(k=50)
    return clew.ask(question, method="kaping", model=model, entities=list(entities), settings=settings)


def labels(found: Answer) -> list[str]:
    return [answer.label for answer in found.answers]


@pytest.mark.parametrize(
    ("stated", "names"),
    [
        ("Hydraulic Press HP-40", ["Hydraulic Press HP-40"]),
        ("HP-40", ["Hydraulic Press HP-40"]),
        ("hydraulic press hp 40 (260 bar)", ["Hydraulic Press HP-40"]),
        ("TB-5", ["Test Bench TB-5"]), ("the Kettle", ["Boiler B-1"]), ("Kettle", ["Boiler B-1"]),
        ("Hydraulik Press HP-40", ["Hydraulic Press HP-40"]),
        ("Prestige", ["The Prestige"]), ("260 bar", ["260"]), ("28 February 2014", ["2014-02-28"]),
        ("Lowe & Hask", ["Lowe & Hask"]),
        ("HP-40; HP-40B", ["Hydraulic Press HP-40", "Hydraulic Press HP-40B"]),
        ("Lowe & Hask, Sant Orell and Talesia", ["Lowe & Hask", "Sant Orell", "Talesia"]),
        ("Christopher Nolan, but I am not sure", []), ("Hydraulic Press HP-41", []), ("Uwe Boll", []),
        ("Press", []),
    ],
)  # fmt: skip
def test_names_are_linked_to_the_evidence(plant: Clew, stated: str, names: list[str]):
    assert labels(ask(plant, f"So it is.\nAnswer: {stated}", "The Plant")) == names


def test_a_right_name_of_something_else_is_no_misspelling(plant: Clew):
    assert labels(ask(plant, "Answer: Marta Kowell", "The Plant")) == ["Marta Kowel"]
    found = ask(plant, "Answer: Marta Kovel", "The Plant")
    assert found.abstained is not None
    assert "Marta Kovel (it is not in the facts)" in found.abstained.detail


def test_entities_of_the_question_are_dropped_unless_nothing_else_is_answered(plant: Clew):
    found = ask(plant, "Answer: Memento; Christopher Nolan", "Memento")
    assert labels(found) == ["Christopher Nolan"]
    assert "the question names it itself" in found.notes[0]
    two = ("Test Bench TB-5", "Boiler B-1")
    assert labels(ask(plant, "400 is more than 9.\nFacts: 1, 2\nAnswer: Test Bench TB-5", *two)) == [two[0]]


def test_a_proof_is_the_triples_from_what_was_asked_about(plant: Clew):
    found = ask(plant, "Answer: Christopher Nolan", "Memento")
    assert [[t.as_json() for t in c.triples] for c in found.citations] == [
        [["Memento", "directed_by", "Christopher Nolan"]]
    ]

"""The names that a user gives for a question's entities."""

import pytest

from clew.engine import Clew
from clew.llm.testing import ScriptedModel

TRIPLES = [
    ("Hydraulic Press HP-40", "lubricated_with", "Arctol 68"),
    ("Hydraulic Press HP-40B", "lubricated_with", "Arctol 46"),
    ("Ball Mill TB-5", "lubricated_with", "Arctol 100"),
    ("Ball Mill TB-5 Mk2", "lubricated_with", "Arctol 220"),
    ("North Hall Crane", "lubricated_with", "Grease 2"),
    ("North Hall Lift", "lubricated_with", "Grease 3"),
]


@pytest.fixture(scope="module")
def plant():
    with Clew.from_triples(TRIPLES) as opened:
        yield opened


@pytest.mark.parametrize("method", ["auto", "kg-rag", "walk-retrieve", "kaping"])
def test_every_method_takes_the_code_of_a_thing(plant, method):
    said = ["1. What is it lubricated with?"] if method == "kg-rag" else []
    model = None if method == "auto" else ScriptedModel([*said, "Facts: 1\nAnswer: Arctol 68"])
    answer = plant.ask("What is it lubricated with?", entities=["HP-40"], method=method, model=model)
    assert [a.label for a in answer.answers] == ["Arctol 68"]
    assert [t.head for t in answer.citations[0].triples] == ["Hydraulic Press HP-40"]


def test_a_part_of_no_name_is_no_entity(plant):
    answer = plant.ask("What is it lubricated with?", entities=["XY-9"])
    assert answer.abstained is not None
    assert answer.abstained.reason == "no_entity"
    assert '"XY-9"' in answer.abstained.detail

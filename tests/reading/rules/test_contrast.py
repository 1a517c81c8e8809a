"""Two things compared in a question."""

import pytest

from clew.reading.rules.contrast import find_contrast
from clew.reading.rules.question import read_question


@pytest.mark.parametrize(
    ("text", "sign", "attribute", "hinge", "choice"),
    [
        ("Which is longer, X or Y?", 1, "length|duration", "or", True),
        ("Who is older, X or Y?", -1, "date", "or", True),
        ("Which of X and Y is bigger?", 1, "size|area|radius|diameter|population", "and", True),
        ("Which was approved first, X or Y?", -1, "date", "or", True),
        ("Is X taller than Y?", 1, "height", "than", False),
        ("Did X score more goals than Y?", 1, "", "than", False),
        ("Is X more expensive than Y?", 1, "price", "than", False),
        ("Was X released before Y?", -1, "date", "before", False),
    ],
)
def test_what_is_compared(text, sign, attribute, hinge, choice):
    found = find_contrast(read_question(text))
    assert (found.sign, found.attribute, found.hinge.norm, found.choice) == (sign, attribute, hinge, choice)


@pytest.mark.parametrize(
    "text",
    ["Who directed X or Y?", "Was X released before 2005?", "Which films are longer than X?", "Is X by Y?"],
)
def test_nothing_is_compared(text):
    assert find_contrast(read_question(text)) is None

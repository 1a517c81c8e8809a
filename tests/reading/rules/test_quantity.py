"""How many of something a question asks for."""

import math

import pytest

from clew.reading.rules.question import read_question


@pytest.mark.parametrize(
    ("text", "low", "high", "nouns"),
    [
        ("directors with more than five films", 6, math.inf, ["films"]),
        ("Which drugs target at least 2 proteins?", 2, math.inf, ["proteins"]),
        ("Who has fewer than three skills?", 1, 2, ["skills"]),
        ("Who has at most one project?", 1, 1, ["project"]),
        ("Which clubs have exactly two coaches?", 2, 2, ["coaches"]),
        ("Who wrote three or more books?", 3, math.inf, ["books"]),
        ("Which players have had more than two former clubs?", 3, math.inf, ["former", "clubs"]),
        ("projects with more than two people assigned", 3, math.inf, ["people"]),
    ],
)
def test_a_number_of_things_is_asked_for(text, low, high, nouns):
    found = read_question(text).counting
    assert (found.low, found.high, [w.norm for w in found.nouns]) == (low, high, nouns)


@pytest.mark.parametrize("text", ["films after 2010", "Who wrote two books?", "Is it older than 50?"])
def test_no_number_of_things_is_asked_for(text):
    assert read_question(text).counting is None


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [("players taller than 185", 185, math.inf), ("drugs cheaper than 20", -math.inf, 20)],
)
def test_any_comparative_before_a_number_is_a_range(text, low, high):
    limits = read_question(text).limits
    assert (limits.low, limits.high) == (low, high)

"""Which noun of a question says what is asked for."""

import pytest

from clew.reading.rules.question import read_question


def asked(text):
    question = read_question(text)
    return [w.text for w in question.words if w.start in question.asked]


@pytest.mark.parametrize(
    ("text", "nouns"),
    [
        ("Which films did Ann Lee direct?", ["films"]),
        ("Which other companies are in Oslo?", ["companies"]),
        ("What film genre is Heat?", ["genre"]),
        ("Which horror films are in Italian?", ["films"]),
        ("How many companies did Ann Lee found?", ["companies"]),
        ("Give me a list of all critically endangered birds.", ["birds"]),
        ("please list cities in France", ["cities"]),
        ("Show me easy Italian dishes", ["dishes"]),
        ("Films by whoever directed Heat", ["Films"]),
        ("Years in which films directed by Ann Lee were released", ["Years"]),
    ],
)
def test_the_noun_that_is_asked_for(text, nouns):
    assert asked(text) == nouns


@pytest.mark.parametrize(
    "text", ["Who directed Heat?", "films directed by Ann Lee were written by who", "Is Heat a film?"]
)
def test_no_noun_says_what_is_asked_for(text):
    assert asked(text) == []

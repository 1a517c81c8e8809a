"""The type that a question asks for by its name."""

import pytest
from small_graph import SmallGraph

from clew.reading.asked_type import asked_type, asks_who

SHIPS = SmallGraph(
    """
    Ibis | captain | Ann
    Heron | captain | Bo
    Heron | built in | 1901
    """,
    {"ship": ["Ibis", "Heron"], "person": ["Ann", "Bo"]},
)
NAMED = SmallGraph("s1 | name | Ibis\ns2 | name | Heron", {"ship": ["s1", "s2"]})


def asked(of: SmallGraph, question: str) -> str:
    found = asked_type(question, of.mentions(question), of.matcher.compare(question))
    return of.vocabulary.types[found] if found >= 0 else ""


@pytest.mark.parametrize(
    ("question", "type_"),
    [
        ("Which ships does Ann command?", "ship"),
        ("How many ships are there?", "ship"),
        ("List all ships of Ann", "ship"),
        ("Give me the names of the ships that Ann commands", "ship"),
        ("Count the number of different ships", "ship"),
        ("ships built before 1910", "ship"),
        ("Ann or Bo ships", "ship"),
        ("ship captains before 1910", ""),
        ("captain of the ship Ibis", ""),
        ("What is the captain of the ship Ibis?", ""),
        ("Who commands the ships?", ""),
        ("Which persons are ships named after?", "person"),
        ("Is Ibis a ship?", ""),
    ],
)
def test_the_type_that_is_asked_for(question, type_):
    assert asked(SHIPS, question) == type_


def test_a_name_that_is_recorded_is_asked_for_itself():
    assert asked(NAMED, "What are the names of the ships?") == ""
    assert asked(NAMED, "List all ships") == "ship"


@pytest.mark.parametrize(
    ("question", "is_asked"),
    [
        ("Who owns Tide Clock?", True),
        ("And who owns it?", True),
        ("tell me who owns it", True),
        ("Which people own it?", False),
        ("the film of the one who owns it", False),
    ],
)
def test_who_asks_for_people(question, is_asked):
    assert asks_who(question) is is_asked

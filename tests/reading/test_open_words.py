"""What narrows what is asked for, and numbers of names, that a reading does not say."""

import pytest

from clew import Clew
from clew.methods.built_in import built_in_reader
from clew.query.tree import OfType, Query
from clew.reading.open_words import (
    leaves_clause_open,
    leaves_modifier_open,
    leaves_number_open,
    leaves_predicate_open,
)


def leaves_open(guard, triples, types, question) -> bool:
    """What a guard says of the likeliest reading of a question."""
    with Clew.from_triples(triples, types=types) as graph:
        reader = built_in_reader(graph.index, graph.embedder).reader
        reading = reader.read(question)
        return guard(reader.vocabulary, reading, reading.ranking.ranked[0].option.query)


SHIPS = [
    ("Ibis", "captain", "Ann"),
    ("Heron", "captain", "Bo"),
    ("Heron", "colour", "red"),
    ("Ibis", "built in", "1901"),
]
TYPES = {"Ibis": ["ship"], "Heron": ["ship"], "Ann": ["person"], "Bo": ["person"]}


@pytest.mark.parametrize(
    ("question", "is_open"),
    [
        ("Which haunted ships have the captain Ann?", True),
        ("How many haunted ships are there?", True),
        ("haunted ships of captain Ann", True),
        ("twin-masted ships of captain Ann", True),
        ("the best attended ships of captain Ann", False),
        ("the longest-serving captain of a ship", False),
        ("anything red", False),
        ("Which different ships have the captain Ann?", False),
        ("Which ships have the captain Ann?", False),
        ("How many red ships are there?", False),
        ("Which officer is of the ship Ibis?", False),
        ("Who captained the ship Ibis?", False),
    ],
)
def test_a_word_that_narrows_a_type_is_open_unless_a_label_says_it(question, is_open):
    assert leaves_open(leaves_modifier_open, SHIPS, TYPES, question) == is_open


@pytest.mark.parametrize(
    ("question", "is_open"),
    [
        ("ships of captain Ann with a figurehead", True),
        ("ships of captain Ann that were sunk", True),
        ("Which ships of captain Ann have a story?", False),
        ("ships that have the captain Ann", False),
        ("Captain Ann has which ships?", False),
        ("the ship of Ann and who is its captain", False),
    ],
)
def test_a_clause_that_narrows_is_open_unless_a_label_says_some_of_it(question, is_open):
    assert leaves_open(leaves_clause_open, SHIPS, TYPES, question) == is_open


def test_a_question_is_not_answered_with_what_it_does_not_ask_for():
    with Clew.from_triples(SHIPS, types=TYPES) as graph:
        answer = graph.ask("How many haunted ships are there?")
        assert answer.abstained is not None
        assert "haunted" in answer.abstained.detail


@pytest.mark.parametrize(
    ("question", "is_open"),
    [
        ("Which ships are haunted?", True),
        ("How many ships have tenure?", True),
        ("How many ships are there?", False),
        ("Which ships are listed?", False),
        ("What are the names of all ships?", False),
    ],
)
def test_what_is_said_of_all_of_a_type_is_open(question, is_open):
    with Clew.from_triples(SHIPS, types=TYPES) as graph:
        reader = built_in_reader(graph.index, graph.embedder).reader
        reading = reader.read(question)
        ships = Query("list", OfType(reader.vocabulary.types.index("ship")))
        assert leaves_predicate_open(reader.vocabulary, reading, ships) is is_open


FLATS = [
    ("7 Merchant House", "in building", "Merchant House"),
    ("Ann", "rents", "7 Merchant House"),
    ("Merchant House", "caretaker", "Bo"),
    ("Merchant House", "built in", "1901"),
]


@pytest.mark.parametrize(
    ("question", "is_open"),
    [
        ("Who is the caretaker of 8 Merchant House?", True),
        ("Who is the caretaker of Merchant House?", False),
        ("Who rents 7 Merchant House?", False),
    ],
)
def test_a_number_beside_a_name_makes_it_another(question, is_open):
    def guard(_, reading, query):
        return leaves_number_open(reading, query)

    assert leaves_open(guard, FLATS, {}, question) == is_open


def test_a_name_beside_a_common_word_is_of_another_thing():
    triples = [
        ("Harbour Fire Station", "service type", "fire"),
        ("Northfield Station", "service type", "rail"),
        ("Harbour Fire Station", "commander", "Ingrid Solberg"),
        ("Northfield Station", "commander", "Helga Brandt"),
    ]
    with Clew.from_triples(triples) as graph:
        assert graph.ask("commander of Harbour Fire Station").answers[0].label == "Ingrid Solberg"
        answer = graph.ask("commander of Southgate Fire Station")
        assert not answer.answers
        assert "Southgate" in answer.abstained.detail


def test_what_is_mutual_is_said_by_its_adjective():
    triples = [("Mill Hill", "borders on", "Old Town"), ("Old Town", "borders on", "Eastmoor")]
    types = {name: ["district"] for name in ("Mill Hill", "Old Town", "Eastmoor")}
    assert not leaves_open(leaves_modifier_open, triples, types, "neighbouring districts of Mill Hill")

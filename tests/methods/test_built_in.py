"""The pattern of a question, as methods without a model follow it, or why it has none."""

from __future__ import annotations

import pytest

from clew.engine import Clew
from clew.methods.built_in import AskedPattern, built_in_reader
from clew.types import Abstention


def asked(films: Clew, question: str, entities: tuple[str, ...] = ()) -> AskedPattern | Abstention:
    return built_in_reader(films.index, films.embedder).pattern(question, entities)


def triples_of(found: AskedPattern | Abstention) -> list[list[str]]:
    assert isinstance(found, AskedPattern)
    return found.pattern.as_json()["triples"]


def test_a_chain_is_a_pattern_from_its_name(films: Clew):
    found = asked(films, "Which actors play in films directed by Christopher Nolan?")
    assert triples_of(found) == [
        ["UNKNOWN 1", "directed_by", "Christopher Nolan"],
        ["UNKNOWN 1", "starring", "UNKNOWN 2"],
    ]
    assert isinstance(found, AskedPattern)
    assert (found.pattern.answer, found.counts) == (2, False)


def test_a_question_of_yes_or_no_is_a_pattern_without_an_answer(films: Clew):
    found = asked(films, "Did Christopher Nolan direct Memento?")
    assert triples_of(found) == [["Memento", "directed_by", "Christopher Nolan"]]
    assert isinstance(found, AskedPattern)
    assert found.pattern.answer is None


def test_what_is_counted_is_the_answer_of_its_pattern(films: Clew):
    found = asked(films, "How many films did Christopher Nolan direct?")
    assert triples_of(found) == [["UNKNOWN 1", "directed_by", "Christopher Nolan"]]
    assert isinstance(found, AskedPattern)
    assert found.counts


@pytest.mark.parametrize(
    ("question", "entities", "reason", "detail"),
    [
        ("What is the longest film directed by Christopher Nolan?", (), "no_relation", "Ask with: auto"),
        ("Who painted Memento?", (), "no_relation", 'it has no relation like "painted"'),
        ("Who directed it?", ("Xyzzy Plugh",), "no_entity", 'it has no entity "Xyzzy Plugh" (given)'),
    ],
)
def test_what_has_no_pattern_says_why(films: Clew, question, entities, reason, detail):
    found = asked(films, question, entities)
    assert isinstance(found, Abstention)
    assert found.reason == reason
    assert detail in found.detail

"""Why a question is left open, in true words: which words have no place, and what is recorded instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew.engine import Clew


def left(clew: Clew, question: str) -> tuple[str, str, tuple[str, ...]]:
    abstained = clew.ask(question).abstained
    assert abstained is not None
    return abstained.reason, abstained.detail, abstained.candidates


@pytest.mark.parametrize("name", ["Xyzzy Plugh", "Qwertz"])
def test_a_name_that_the_graph_lacks_is_told(films: Clew, name: str):
    reason, detail, _ = left(films, f"Who directed {name}?")
    assert reason == "no_entity"
    assert f'"{name}"' in detail


def test_a_relation_that_the_graph_lacks_is_told_with_what_it_records(films: Clew):
    reason, detail, _ = left(films, "What is the budget of Memento?")
    assert reason == "unplaced"
    assert detail.startswith('I cannot place "budget"')
    assert 'of "Memento" the graph records ' in detail


def test_a_text_of_other_words_names_nothing(films: Clew):
    assert left(films, "hello")[0] == "no_entity"


STAFF = [
    ("Ann", "worksAt", "Acme"), ("Dan", "worksAt", "Initech"), ("Ann", "livesIn", "Rome"),
    ("Acme", "locatedIn", "Rome"), ("Acme", "foundedIn", "1999"), ("Initech", "foundedIn", "2001"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("question", "untrue"),
    [
        ("When did Ann work at Acme?", '"work"'),
        ("When did Dan begin to work at Initech?", '"Dan"'),
    ],
)
def test_nothing_that_is_there_is_said_to_be_missing(question: str, untrue: str):
    with Clew.from_triples(STAFF) as clew:
        abstained = clew.ask(question).abstained
        assert abstained is None or f"place {untrue}" not in abstained.detail


def test_a_part_of_a_name_that_is_read_is_not_told_as_lacking(tmp_path: Path):
    graph = tmp_path / "ships.tsv"
    graph.write_text("MV Saga Bris\tflag\tNorway\nMV Saga Bris\tbuilt\t1999\nMV Heron\tflag\tPanama\n")
    with Clew.open(graph) as ships:
        abstained = ships.ask("What is the tonnage of the Saga Bris?").abstained
        assert abstained is not None
        assert 'place "Saga' not in abstained.detail

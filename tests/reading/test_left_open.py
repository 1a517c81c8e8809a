"""Why a question is left open, in true words: which words have no place, and what is recorded instead."""

from pathlib import Path

import pytest

from clew.engine import Clew

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

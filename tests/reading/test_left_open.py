"""Why a question is left open, in true words: what the graph lacks, and what it records instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew.engine import Clew
from clew.reading.left_open import left_open
from clew.reading.shared_reader import reader_of


def left(films: Clew, question: str) -> tuple[str, str, tuple[str, ...]]:
    reader = reader_of(films.index, films.embedder)
    abstained = left_open(reader, films.index.names, reader.read(question))
    return abstained.reason, abstained.detail, abstained.candidates


@pytest.mark.parametrize("name", ["Xyzzy Plugh", "Qwertz"])
def test_a_name_that_the_graph_lacks_is_told(films: Clew, name: str):
    reason, detail, _ = left(films, f"Who directed {name}?")
    assert (reason, detail) == ("no_entity", f'it has no entity like "{name}"')


def test_a_relation_that_the_graph_lacks_is_told_with_what_it_records(films: Clew):
    reason, detail, _ = left(films, "What is the budget of Memento?")
    assert reason == "no_relation"
    assert detail.startswith('it has no relation like "budget"; of "Memento" it records ')
    assert "directed_by" in detail or "more" in detail


def test_a_text_of_other_words_names_nothing(films: Clew):
    assert left(films, "hello")[:2] == ("no_entity", "it names no entity of this graph")


def test_two_names_of_which_nothing_is_recorded_are_told_for_yes_or_no(films: Clew):
    _, detail, _ = left(films, "Is Memento better than Inception?")
    assert detail.startswith('it does not tell yes or no for "Memento" and "Inception"')


def test_where_all_words_are_said_the_likeliest_reading_is_told(films: Clew):
    _, detail, _ = left(films, "Who directed Memento?")
    assert detail.startswith("no reading is likely enough; the likeliest is: the director of Memento")


def test_one_reader_is_shared(films: Clew):
    assert reader_of(films.index, films.embedder) is reader_of(films.index, films.embedder)


STAFF = [
    ("Ann", "worksAt", "Acme"), ("Dan", "worksAt", "Initech"), ("Ann", "livesIn", "Rome"),
    ("Acme", "locatedIn", "Rome"), ("Acme", "foundedIn", "1999"), ("Initech", "foundedIn", "2001"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("question", "untrue"),
    [
        ("When did Ann work at Acme?", 'no relation like "work"'),
        ("When did Dan begin to work at Initech?", 'no entity like "Dan"'),
    ],
)
def test_nothing_that_is_there_is_said_to_be_missing(question: str, untrue: str):
    with Clew.from_triples(STAFF) as clew:
        assert untrue not in left(clew, question)[1]


def test_no_value_and_no_word_of_place_is_called_a_relation(tmp_path: Path):
    source = tmp_path / "meetings.tsv"
    source.write_text("Standup\tstarts\t09:30\nReview\tstarts\t14:00\nReview\theld_on\t2016-03-05\n", "utf-8")
    with Clew.open(source, cache_dir=tmp_path) as meetings:
        for question in ("What starts before 10am?", "What is held in March?"):
            assert "no relation like" not in left(meetings, question)[1]


def test_a_part_of_a_name_that_is_read_is_not_told_as_lacking(tmp_path: Path):
    graph = tmp_path / "ships.tsv"
    graph.write_text("MV Saga Bris\tflag\tNorway\nMV Saga Bris\tbuilt\t1999\nMV Heron\tflag\tPanama\n")
    with Clew.open(graph) as ships:
        reason, detail, _ = left(ships, "Who commands the Saga Bris?")
    assert reason == "no_relation"
    assert 'of "MV Saga Bris" it records' in detail

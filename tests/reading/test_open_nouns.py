"""Nouns that belong to a name, and that a reading does not say."""

import pytest

from clew import Clew
from clew.methods.built_in import built_in_reader
from clew.reading.open_nouns import leaves_noun_open

TRIPLES = [("Heat", "written by", "Ann"), ("Ran", "written by", "Bo"), ("Heat", "genre", "Drama")]


@pytest.mark.parametrize(
    ("question", "is_open"),
    [
        ("Who composed the music of Heat?", True),
        ("Who composed Heat's music?", True),
        ("What is the genre of Heat?", False),
        ("Who wrote Heat?", False),
        ("Which films of Ann are there?", False),
    ],
)
def test_a_noun_of_a_name_is_open_unless_a_label_says_it(question, is_open):
    with Clew.from_triples(TRIPLES) as graph:
        reader = built_in_reader(graph.index, graph.embedder).reader
        reading = reader.read(question)
        best = reading.ranking.ranked[0].option.query
        assert leaves_noun_open(reader.vocabulary, reading, best) == is_open

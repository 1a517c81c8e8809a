"""Names that a text is a part of."""

import pytest

from clew.graph.build.build import graph_of
from clew.index.names.containing import MOST_FOUND, nodes_containing
from clew.index.names.names import NamesIndex


def found(names, text):
    graph = graph_of([(name, "is", "x") for name in names])
    nodes = nodes_containing(NamesIndex.of(graph), text)
    return None if nodes is None else [graph.entities[n] for n in nodes]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Kurosawa", ["Akira Kurosawa"]),
        ("Seven Samurai", ["The Seven Samurai"]),
        ("Kuro", []),
        ("Akira Kurosawa", []),
    ],
)
def test_whole_words_of_a_longer_name(text, names):
    assert found(["Akira Kurosawa", "The Seven Samurai"], text) == names


def test_a_surname_goes_before_a_first_name():
    assert found(["Mary Gray", "Gray Owl"], "Gray") == ["Mary Gray"]


def test_no_name_reaches_over_the_end_of_another():
    assert found(["Akira", "Kurosawa Ken"], "Akira Kurosawa") == []


def test_a_text_in_very_many_names_tells_nothing():
    assert found([f"Lake {i}" for i in range(MOST_FOUND + 1)], "Lake") is None

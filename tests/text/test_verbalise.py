"""Walks as sentences."""

import pytest

from clew.graph.build.build import graph_of
from clew.text.verbalise import Templates, phrases_of


@pytest.mark.parametrize(
    ("name", "forward", "inverse"),
    [
        ("directed_by", "is directed by", "directed"),
        ("has_genre", "has genre", "is genre of"),
        ("birthPlace", "has birth Place", "is birth Place of"),
        ("capital of", "is capital of", "has capital"),
        ("in_language", "is in language", "is language of"),
        ("located_in", "located in", "is that in which located"),
        ("is_located_in", "is located in", "is that in which located"),
        ("knows", "knows", "has as one that knows it"),
        ("founded", "founded", "is founded by"),
        ("spouse", "has spouse", "is spouse of"),
        ("", "is related to", "is related to"),
    ],
)
def test_a_relation_is_said_in_both_directions(name, forward, inverse):
    phrases = phrases_of(name)
    assert (phrases.forward, phrases.inverse) == (forward, inverse)


@pytest.fixture(scope="module")
def templates():
    return Templates(graph_of([("Memento", "directed_by", "C_Nolan"), ("Tenet", "directed_by", "C_Nolan")]))


def test_a_walk_is_one_sentence_in_its_order(templates):
    assert templates.sentence(0, [0, 1], [1, 2]) == "Memento is directed by C Nolan, which directed Tenet"


def test_what_is_behind_the_end_of_a_walk_is_not_said(templates):
    assert templates.sentence(0, [0, -1], [1, -1]) == "Memento is directed by C Nolan"


def test_an_outline_names_the_root_only(templates):
    assert templates.outline(0, [0, 1]) == "Memento is directed by, which directed"


def test_a_paragraph_says_common_beginnings_once(templates):
    said = templates.paragraph(1, [([1], [0]), ([1], [2]), ([1, 0], [0, 1])])
    assert said == "C Nolan directed Memento (which is directed by C Nolan) and Tenet."

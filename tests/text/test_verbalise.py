"""Walks as sentences."""

import pytest

from clew.graph.build import graph_of
from clew.text.verbalise import Templates, phrases_of


@pytest.mark.parametrize(
    ("name", "forward", "inverse"),
    [
        ("directed_by", "is directed by", "directed"), ("has_genre", "has genre", "is genre of"),
        ("birthPlace", "has birth Place", "is birth Place of"),
        ("capital of", "is capital of", "has capital"),
        ("in_language", "is in language", "is language of"),
        ("located_in", "located in", "has located in it"),
        ("is_located_in", "is located in", "has located in it"),
        ("knows", "knows", "has as one that knows it"), ("founded", "founded", "is founded by"),
        ("parents", "has parents", "is parents of"),
        ("produces", "produces", "has as one that produces it"),
        ("shows_symptom", "shows symptom", "has as one that shows symptom it"),
        ("works_shift", "works shift", "has as one that works shift it"),
        ("consumed_part", "consumed part", "is part that consumed it"),
        ("part_of_line", "is part of line", "is line that has as part"),
        ("date_of_birth", "has date of birth", "is date of birth of"),
        ("number_of_minority_votes", "has number of minority votes", "is number of minority votes of"),
        ("part_of", "is part of", "has part"), ("hasPart", "has Part", "is Part of"),
        ("starred_actors", "starred actors", "is actors that starred it"),
        ("written_by", "is written by", "written"),
        ("lubricated_with", "lubricated with", "has lubricated with it"),
        ("max_pressure_bar", "has max pressure bar", "is max pressure bar of"),
        ("spouse", "has spouse", "is spouse of"), ("", "is related to", "is related to"),
    ],
)  # fmt: skip
def test_a_relation_is_said_in_both_directions(name, forward, inverse):
    phrases = phrases_of(name)
    assert (phrases.forward, phrases.inverse) == (forward, inverse)


@pytest.fixture(scope="module")
def templates():
    return Templates(graph_of([("Memento", "directed_by", "C_Nolan"), ("Tenet", "directed_by", "C_Nolan")]))


def test_a_walk_is_one_sentence_in_its_order(templates):
    assert templates.sentence(0, [0, 1], [1, 2]) == "Memento is directed by C Nolan, which directed Tenet"


@pytest.mark.parametrize(
    ("steps", "nodes", "said"),
    [
        ([0], [1], "HP-14 lubricated with Arctol 46"),
        ([1, 2], [0, 2], "HP-14 lubricated with Arctol 46, and HP-14 shows symptom drift"),
        ([0, 1], [1, 3], "HP-14 lubricated with Arctol 46, and PK-7 lubricated with Arctol 46"),
        ([4, 2], [3, 2], "HP-14 is part of line PK-7, which shows symptom drift"),
        ([-1], [-1], "HP-14"),
    ],
)
def test_every_triple_of_a_walk_is_said_from_head_to_tail(steps, nodes, said):
    triples = [
        ("HP-14", "lubricated_with", "Arctol 46"),
        ("HP-14", "shows_symptom", "drift"),
        ("PK-7", "part_of_line", "HP-14"),
    ]
    templates = Templates(graph_of(triples))
    root = 1 if steps == [1, 2] else 0
    assert templates.clauses(root, steps, nodes) == said


def test_what_is_behind_the_end_of_a_walk_is_not_said(templates):
    assert templates.sentence(0, [0, -1], [1, -1]) == "Memento is directed by C Nolan"


def test_an_outline_names_the_root_only(templates):
    assert templates.outline(0, [0, 1]) == "Memento is directed by, which directed"

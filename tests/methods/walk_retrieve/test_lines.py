"""The lines beside walks: relation paths of topics, and whole types and relations where there is no topic."""

import pytest

from clew.engine import Clew
from clew.llm.testing import ScriptedModel
from clew.methods.relation_ranking import RelationRanking
from clew.methods.walk_retrieve.lines import best_paths, path_lines, whole_lists

TRIPLES = [
    ("Ann", "plays for", "Reds"),
    ("Bea", "plays for", "Reds"),
    ("Cid", "plays for", "Blues"),
    ("Ann", "born in", "Oslo"),
    ("Bea", "born in", "Rome"),
    ("Cid", "born in", "Oslo"),
    ("Ann", "goals", "7"),
    ("Bea", "goals", "12"),
    ("Cid", "goals", "3"),
    ("Reds", "rival of", "Blues"),
    ("Blues", "rival of", "Reds"),
]


@pytest.fixture(scope="module")
def clubs():
    with Clew.from_triples(TRIPLES, types={"Reds": ["club"], "Blues": ["club"]}) as opened:
        yield opened


def node(clubs, name):
    return clubs.index.names.exact(name)[0].entity


def lines_of(clubs, question, *topics):
    graph = clubs.index.graph
    ranking = RelationRanking(graph, clubs.embedder)
    paths = best_paths(graph, ranking, question, [node(clubs, name) for name in topics], 16)
    return [line.text for line in path_lines(graph, paths)]


def lists_of(clubs, question, *topics):
    ranking = RelationRanking(clubs.index.graph, clubs.embedder)
    return whole_lists(clubs.index.graph, ranking, question, [node(clubs, name) for name in topics])


def test_a_line_says_which_thing_leads_to_which_end(clubs):
    lines = lines_of(clubs, "Where are the players of the Reds born?", "Reds")
    assert "Reds ←plays for─ · ─born in→ : Oslo [Ann]; Rome [Bea] (2)" in lines


def test_a_path_that_only_turns_back_is_no_line(clubs):
    lines = lines_of(clubs, "Where are the players of the Reds born?", "Reds")
    assert not [line for line in lines if "─born in→ · ←born in─ : Ann" in line and "Cid" not in line]
    assert not [line for line in lines if "─plays for→ : Reds" in line]


def test_of_a_relation_that_is_stored_both_ways_one_line_is_left(clubs):
    lines = lines_of(clubs, "Who is the rival of the Reds?", "Reds")
    assert len([line for line in lines if line.endswith(": Blues (1)") and line.count("rival of") == 1]) == 1


def test_every_topic_has_its_share_of_the_lines(clubs):
    lines = lines_of(clubs, "Which players play for both?", "Reds", "Blues")
    assert {line.split(" ")[0] for line in lines[:4]} == {"Reds", "Blues"}


def test_without_a_topic_types_and_relations_are_read_whole(clubs):
    texts = [each.text for each in lists_of(clubs, "Who has the most goals of all clubs?")]
    assert texts[0] == "everything of type club : Reds; Blues (2)"
    assert "everything ─goals→ : 7 [Ann (1)]; 12 [Bea (1)]; 3 [Cid (1)] (3)" in texts


def test_with_a_topic_that_is_no_number_nothing_is_read_whole(clubs):
    assert lists_of(clubs, "How many goals do the Reds have?", "Reds") == []
    assert lists_of(clubs, "Who has more than 7 goals?", "7")


def test_an_answer_from_a_whole_relation_is_cited(clubs):
    reply = "Bea has 12.\nFacts: 1\nAnswer: Bea"
    model = ScriptedModel(lambda _: reply)
    answer = clubs.ask("Who has the most goals?", method="walk-retrieve", model=model)
    assert [a.label for a in answer.answers] == ["Bea"]
    assert [t.as_json() for t in answer.citations[0].triples] == [["Bea", "goals", "12"]]


def test_all_of_a_type_is_an_answer(clubs):
    model = ScriptedModel(lambda _: "They are listed.\nFacts: 1\nAnswer: all of 1")
    answer = clubs.ask("Which clubs are there?", method="walk-retrieve", model=model)
    assert sorted(a.label for a in answer.answers) == ["Blues", "Reds"]
    assert all(c.triples for c in answer.citations)

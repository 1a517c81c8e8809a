from pathlib import Path

import pytest

pytest.importorskip("ladybug", reason="ladybug is not installed")

FILMS = Path(__file__).resolve().parents[3] / "examples" / "films.tsv"
QUESTIONS = [
    "Who directed Memento?",
    "Which films share a director with Memento?",
    "Which films were directed by Christopher Nolan?",
    "Who starred in films directed by Michael Mann?",
    "What genre is Heat?",
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_query_finds_what_the_matcher_finds(films, question):
    matched, queried = films.ask(question), films.ask(question, method="synaptiqa")
    assert {a.entity for a in queried.answers} == {a.entity for a in matched.answers} != set()
    assert queried.method == "synaptiqa"


def test_citations_are_triples_of_the_graph_and_the_query_is_shown(films):
    answer = films.ask("Who directed Memento?", method="synaptiqa")
    (citation,) = answer.citations
    assert [t.as_json() for t in citation.triples] == [["Memento", "directed_by", "Christopher Nolan"]]
    assert "MATCH (n0:film {clew_id: 0})-[r0:directed_by]->(n1)" in answer.steps[-1].detail["query"]


def test_it_abstains_where_the_matcher_does(films):
    answer = films.ask("Who composed the music of Memento?", method="synaptiqa")
    assert answer.abstained is not None
    assert answer.abstained.reason == "no_relation"

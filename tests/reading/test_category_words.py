"""Categories that a question calls by other words than the graph."""

import pytest
from small_graph import LEXICON, SmallGraph

from clew import Clew
from clew.reading.category_words import CategoryWords
from clew.reading.mentions import MEANT

LINES = """
Odo | cause of death | poison
Ada | cause of death | poison
Una | cause of death | fever
Odo | contract | freelance
Ada | contract | permanent
Una | pensioned | yes
Ada | pensioned | no
Odo | friend of | Ada
"""
SMALL = SmallGraph(LINES)


def meant(question: str) -> dict[str, list[str]]:
    """The categories that words of a question mean."""
    return {
        m.text: [SMALL.graph.labels[c.node] for c in m.candidates if c.how == MEANT]
        for m in SMALL.mentions(question)
        if any(c.how == MEANT for c in m.candidates)
    }


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Who was poisoned?", {"poisoned": ["poison"]}),
        ("our freelancers", {"freelancers": ["freelance"]}),
        ("Who died of poison?", {}),
        ("Who was drowned?", {}),
        ("Whose cause was fever?", {}),
        ("Who is affirmative?", {}),
    ],
)
def test_words_mean_the_category_that_they_derive_from(question, found):
    assert meant(question) == found


def test_things_and_what_is_yes_or_no_are_no_categories():
    words = CategoryWords.of(SMALL.vocabulary, LEXICON)
    nodes = {node for near in words.by_lemma.values() for node, _ in near}
    assert {SMALL.graph.labels[node] for node in nodes} == {"poison", "fever", "freelance", "permanent"}


def test_of_many_values_none_is_a_category():
    assert not CategoryWords.of(SMALL.vocabulary, LEXICON, of_relation=1).by_lemma


def test_those_of_most_edges_stay_where_there_are_too_many():
    words = CategoryWords.of(SMALL.vocabulary, LEXICON, most=1)
    assert {SMALL.graph.labels[n] for near in words.by_lemma.values() for n, _ in near} == {"poison"}


def test_the_answer_says_what_a_word_is_taken_for():
    triples = [tuple(part.strip() for part in line.split("|")) for line in LINES.strip().splitlines()]
    with Clew.from_triples(triples) as graph:
        answer = graph.ask("Who was poisoned?")
    assert {one.label for one in answer.answers} == {"Odo", "Ada"}
    assert '"poisoned" is taken for poison' in answer.notes

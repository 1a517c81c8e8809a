"""What a question asks for that no query graph says."""

import pytest
from small_graph import SmallGraph

from clew import Clew
from clew.query.tree import Extreme, OfType, Query, Walk
from clew.reading.unsayable import asks_more, denies, excepts

LINES = """
Aspirin | approved | 1999
Aspirin | made_by | Bell
Lorazin | approved | 2004
Lorazin | made_by | Tor
"""
SMALL = SmallGraph(LINES, {"Drug": ["Aspirin", "Lorazin"]})
DRUGS, APPROVED = OfType(0), SMALL.step("approved")


@pytest.mark.parametrize(
    ("question", "more"),
    [
        ("Which drugs have names that start with the letter L?", True),
        ("Which drugs contain the word in?", True),
        ("Which drugs begin with L?", True),
        ("Which drugs start with a trial?", False),
        ("the second oldest drug", True),
        ("the oldest drug", False),
        ("Who made every drug?", True),
        ("List every drug", False),
        ("How many drugs does each maker have?", True),
        ("How many drugs does Bell have?", False),
        ("How much older is Aspirin than Lorazin?", True),
        ("How many drugs are older than 3 years?", False),
        ("Name the first three drugs", True),
        ("the first drug", False),
        ("What percentage of drugs are by Bell?", True),
        ("which share of the drugs is by Tor", True),
        ("Which drugs were approved later than the average?", True),
        ("Which drugs were approved later than Aspirin?", False),
        ("drugs approved <", True),
        ("drugs approved < 2000", False),
    ],
)
def test_what_is_asked_for_is_more_than_a_list(question, more):
    assert asks_more(SMALL.vocabulary, question, Query("list", DRUGS)) == more


def test_the_first_few_of_a_rank_are_said():
    assert not asks_more(
        SMALL.vocabulary, "the first three drugs", Query("list", Extreme(DRUGS, (APPROVED,), False, False, 3))
    )


@pytest.mark.parametrize("question", ["Which drugs did Bell not make?", "Who made every drug?"])
def test_something_simpler_is_no_answer(question):
    triples = [tuple(part.strip() for part in line.split("|")) for line in LINES.strip().splitlines()]
    with Clew.from_triples(triples, types={"Aspirin": ["drug"], "Lorazin": ["drug"]}) as graph:
        answers = {answer.label for answer in graph.ask(question).answers}
        assert answers in (set(), {"Lorazin"})


def test_an_average_that_the_graph_records_is_compared_with():
    small = SmallGraph("Oslo | average_rain | 5\nBern | average_rain | 9", {"Town": ["Oslo", "Bern"]})
    query = Query("list", Walk(OfType(0), small.step("average_rain")))
    assert not asks_more(small.vocabulary, "rain above the average of 6", query)


@pytest.mark.parametrize(
    ("question", "denied", "excepted"),
    [
        ("Which drugs are not by Bell?", True, False),
        ("drugs other than Aspirin", False, True),
        ("all drugs apart from Aspirin", False, True),
        ("drugs except Aspirin", False, True),
        ("drugs by Bell (excluding generics)", False, False),
        ("drugs by Bell", False, False),
    ],
)
def test_what_is_left_out_is_told_by_words(question, denied, excepted):
    mentions = SMALL.mentions(question)
    assert (denies(question, mentions), excepts(question, mentions)) == (denied, excepted)

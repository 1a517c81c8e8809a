"""Who stands where: questions over relations whose heads and tails are of one sort."""

import pytest

from clew import Clew
from clew.methods.built_in import built_in_reader
from clew.reading.which_way import goes_both_ways

TRIPLES = (
    ("Ada", "reports_to", "Bo"), ("Bo", "reports_to", "Cy"), ("Dee", "reports_to", "Bo"),
    ("Pump 1", "feeds", "Tank 2"), ("Tank 2", "feeds", "Mill 3"), ("Mill 3", "feeds", "Silo 4"),
    ("Wheel", "part_of", "Axle"), ("Axle", "part_of", "Cart"),
    ("Ann", "parent", "Joe"), ("Joe", "parent", "Max"),
    ("Team A", "managed_by", "Team B"), ("Team B", "managed_by", "Team C"),
    ("Tool X", "depends_on", "Tool Y"), ("Tool Y", "depends_on", "Tool Z"),
    ("Zed", "married_to", "Uma"), ("Uma", "sister", "Pia"), ("Pia", "married_to", "Tom"),
    ("Talent", "broader", "Intelligence"), ("Intelligence", "broader", "Mind"),
)  # fmt: skip


@pytest.fixture(scope="module")
def graph():
    with Clew.from_triples(TRIPLES) as clew:
        yield clew


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("Who reports to Bo?", {"Ada", "Dee"}),
        ("Who does Bo report to?", {"Cy"}),
        ("What feeds Mill 3?", {"Tank 2"}),
        ("What does Tank 2 feed?", {"Mill 3"}),
        ("Which unit is fed by Tank 2?", {"Mill 3"}),
        ("What is Axle part of?", {"Cart"}),
        ("What is part of the Axle?", {"Wheel"}),
        ("Who is Joe's parent?", {"Max"}),
        ("Whose parent is Joe?", {"Ann"}),
        ("Which team does Team B manage?", {"Team A"}),
        ("Who manages Team B?", {"Team C"}),
        ("What depends on Tool Y?", {"Tool X"}),
        ("What does Tool Y depend on?", {"Tool Z"}),
    ],
)
def test_the_place_of_a_name_says_which_end_is_asked_for(graph, question, wanted):
    assert {a.label for a in graph.ask(question).answers} == wanted


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Does Ada report to Bo?", "yes"),
        ("Does Bo report to Ada?", "no"),
        ("Is Team B managed by Team A?", "no"),
        ("Does Tool X depend on Tool Y?", "yes"),
        ("Is Intelligence broader than Talent?", "yes"),
    ],
)
def test_whether_it_is_so_minds_the_direction(graph, question, said):
    assert graph.ask(question).text == said


@pytest.mark.parametrize("question", ["Is Zed married to Uma?", "Is Uma married to Zed?"])
def test_what_is_mutual_holds_both_ways(graph, question):
    assert graph.ask(question).text == "yes"


def test_a_few_names_that_are_shared_by_chance_are_no_chain():
    """Of twelve films one is called like a writer: nobody wrote a writer."""
    triples = [(f"Film {i}", "written_by", f"Writer {i}") for i in range(11)]
    triples += [
        ("Writer 3", "written_by", "Writer 4"),
        ("Film 3", "released", "1999"),
        ("Film 4", "released", "2001"),
    ]
    with Clew.from_triples(triples) as clew:
        vocabulary = built_in_reader(clew.index, clew.embedder).reader.vocabulary
        relation = list(vocabulary.graph.relations).index("written_by")
        assert not goes_both_ways(vocabulary, relation)
    with Clew.from_triples(TRIPLES) as clew:
        vocabulary = built_in_reader(clew.index, clew.embedder).reader.vocabulary
        assert goes_both_ways(vocabulary, list(vocabulary.graph.relations).index("reports_to"))

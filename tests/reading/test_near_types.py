"""A noun that names no declared type means the one that is clearly nearest, if one is."""

import pytest
from small_graph import EMBEDDER, SmallGraph

from clew.graph.schema import schema_of
from clew.index.names.names import NamesIndex
from clew.reading.answer import answer_of
from clew.reading.answer_kind import noun_asked_for
from clew.reading.reader import QuestionReader

TRADE = SmallGraph(
    """
    Miramar | city | Porto
    Atlantico | city | Porto
    Braga Foods | city | Porto
    Vienna House | city | Linz
    Tuna | supplier | Braga Foods
    O-1 | customer | Miramar
    O-2 | customer | Atlantico
    O-3 | customer | Vienna House
    """,
    {
        "customer": ["Miramar", "Atlantico", "Vienna House"],
        "supplier": ["Braga Foods"],
        "product": ["Tuna"],
        "order": ["O-1", "O-2", "O-3"],
        "city": ["Porto", "Linz"],
    },
)
READER = QuestionReader(TRADE.graph, schema_of(TRADE.graph), NamesIndex.of(TRADE.graph), EMBEDDER)


@pytest.mark.parametrize(
    ("question", "wanted"),
    [("our clients in Porto", {"Miramar", "Atlantico"}), ("vendors in Porto", {"Braga Foods"})],
)
def test_clients_are_customers_and_vendors_are_suppliers(question, wanted):
    best = READER.read(question).ranking.ranked[0]
    assert {a.label for a in answer_of(TRADE.graph, READER.vocabulary, best.option.query).answers} == wanted


@pytest.mark.parametrize(
    ("question", "noun"),
    [
        ("which of our buyers are in Porto", "buyers"),
        ("list all vendors", "vendors"),
        ("vendors in Porto", "vendors"),
        ("When did the ferry leave", ""),
        ("is there a lift at Porto", ""),
        ("Who sells tuna", ""),
    ],
)
def test_the_noun_that_is_asked_for(question, noun):
    assert noun_asked_for(question, ()) == noun

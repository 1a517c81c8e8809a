"""A question in the words of the graph's own labels is read word for word."""

import pytest
from small_graph import EMBEDDER, SmallGraph

from clew.graph.schema import schema_of
from clew.index.names.names import NamesIndex
from clew.reading.answer import answer_of
from clew.reading.reader import QuestionReader

SMALL = SmallGraph(
    """
    k8s-node-13 | srv.tenant | Tallow & Wick
    k8s-node-13 | srv.failover | k8s-node-14
    k8s-node-14 | srv.tenant | Harbour Data
    Colin Haskett | cllr_elected | 1996-11-09
    Colin Haskett | cllr_party | Unity
    Colin Haskett | cllr_ward | Abbey
    Nordgen | parentCompany | Lumen
    Lumen | parentCompany | Axon
    Oslo | train | Paris
    Oslo | flight | Bergen
    Bergen | flight | Paris
    Ann | blood_group | A+
    Bob | blood_group | A-
    """
)
READER = QuestionReader(SMALL.graph, schema_of(SMALL.graph), NamesIndex.of(SMALL.graph), EMBEDDER)


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("srv tenant of k8s-node-13", {"Tallow & Wick"}),
        ("What is Colin Haskett's cllr elected?", {"1996-11-09"}),
        ("whose parent company is Lumen?", {"Nordgen"}),
        ("parent company of Lumen", {"Axon"}),
        ("To which town is there a train from Oslo?", {"Paris"}),
        ("Where does the Oslo train go?", {"Paris"}),
        ("things with blood group A-", {"Bob"}),
        ("Who has blood group A+?", {"Ann"}),
    ],
)
def test_labels_are_read_word_for_word(question: str, answers: set[str]) -> None:
    best = READER.read(question).ranking.ranked[0]
    drafted = answer_of(SMALL.graph, READER.vocabulary, best.option.query)
    assert {a.label for a in drafted.answers} == answers
    assert best.probability > 0.5

"""Where a type is asked for, what keeps to it is answered."""

from small_graph import EMBEDDER, SmallGraph

from clew.graph.schema import schema_of
from clew.index.names.names import NamesIndex
from clew.reading.answer import answer_of
from clew.reading.reader import QuestionReader

LEAGUE = SmallGraph(
    """
    Diogo | nationality | Portugal
    Matteo | nationality | Italy
    Marco | nationality | Italy
    Erik | nationality | Norway
    Diogo | plays for | Rovers
    Matteo | plays for | Rovers
    Marco | coaches | Rovers
    Erik | coaches | Town
    """,
    {
        "player": ["Diogo", "Matteo"],
        "coach": ["Marco", "Erik"],
        "club": ["Rovers", "Town"],
        "country": ["Italy", "Portugal", "Norway"],
    },
)
READER = QuestionReader(LEAGUE.graph, schema_of(LEAGUE.graph), NamesIndex.of(LEAGUE.graph), EMBEDDER)


def test_either_of_two_keeps_to_the_type() -> None:
    for question in ("Italian or Portuguese players", "Which players are from Italy or Portugal?"):
        best = READER.read(question).ranking.ranked[0]
        drafted = answer_of(LEAGUE.graph, READER.vocabulary, best.option.query)
        assert {a.label for a in drafted.answers} == {"Diogo", "Matteo"}, question

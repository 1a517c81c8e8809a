"""Where a type is asked for, what keeps to it is answered."""

import pytest
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


LAND = SmallGraph(
    """
    Alder | nickname | The Copper State
    Birch | nickname | The Lake State
    Elmton | nickname | The Old Town
    Elmton | in_state | Alder
    Ashton | in_state | Birch
    Mere | in_state | Birch
    Tarn | in_state | Alder
    Ashton | on_lake | Tarn
    Elmton | on_lake | Mere
    """,
    {
        "state": ["Alder", "Birch"],
        "city": ["Elmton", "Ashton"],
        "lake": ["Mere", "Tarn"],
    },
)
LAND_READER = QuestionReader(LAND.graph, schema_of(LAND.graph), NamesIndex.of(LAND.graph), EMBEDDER)


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("Which state has the nickname The Copper State?", {"Alder"}),
        ("Which city has the nickname The Old Town?", {"Elmton"}),
    ],
)
def test_of_what_several_types_have_the_type_is_kept(question, wanted) -> None:
    best = LAND_READER.read(question).ranking.ranked[0]
    drafted = answer_of(LAND.graph, LAND_READER.vocabulary, best.option.query)
    assert {a.label for a in drafted.answers} == wanted

"""Two values between which others are asked for."""

import pytest
from small_graph import SmallGraph

from clew.reading.between import bounds_between

SMALL = SmallGraph(
    """
    Block 1 | height | 4
    Block 1 | width | 7
    """,
    {"Block": ["Block 1"]},
)


@pytest.mark.parametrize(
    ("question", "signs"),
    [
        ("blocks with a height between 3 and 5", {"3": ">=", "5": "<="}),
        ("blocks from 3 to 5 high", {"3": ">=", "5": "<="}),
        ("blocks from 3 high and 5 wide", {}),
        ("blocks made between the start of 2010 and the end of 2013", {"2010": ">=", "2013": "<="}),
        ("blocks of height 3 and width 5", {}),
    ],
)
def test_between_and_from_are_two_bounds(question, signs):
    mentions = SMALL.mentions(question)
    assert {mentions[i].text: sign for i, sign in bounds_between(question, mentions).items()} == signs

"""What the places of the values of a question tell about candidates."""

import math

import pytest
from small_graph import SmallGraph

from clew.reading.query import Both, Compared, OfType, Part, Query, Value
from clew.reading.value_pairs import CROSSED, OF_A_NAME, ONE_IS_ENOUGH, ValuePairs

SMALL = SmallGraph(
    """
    Block 1 | height | 4
    Block 1 | width | 7
    Block 2 | height | 9
    Block 2 | width | 2
    """,
    {"Block": ["Block 1", "Block 2"]},
)
BLOCKS = OfType(0)


def pairs(question: str) -> ValuePairs:
    return ValuePairs(question, SMALL.mentions(question), SMALL.matcher.compare(question))


def above(source: Part, relation: str, question: str, written: str) -> Compared:
    place = next(i for i, m in enumerate(SMALL.mentions(question)) if m.text == written)
    return Compared(source, (SMALL.step(relation),), ">", Value(float(written), mention=place))


@pytest.mark.parametrize(
    ("question", "signs"),
    [
        ("blocks with a height between 3 and 5", {"3": ">=", "5": "<="}),
        ("blocks from 3 to 5 high", {"3": ">=", "5": "<="}),
        ("blocks from 3 high and 5 wide", {}),
        ("blocks of height 3 and width 5", {}),
    ],
)
def test_between_and_from_are_two_bounds(question, signs):
    mentions = SMALL.mentions(question)
    assert {mentions[i].text: sign for i, sign in pairs(question).bounds.items()} == signs


@pytest.mark.parametrize(("first", "second", "left"), [("height", "width", 1), ("width", "height", CROSSED)])
def test_the_first_value_is_of_the_attribute_that_is_said_first(first, second, left):
    question = "blocks with a height over 3 and a width over 5"
    part = above(above(BLOCKS, first, question, "3"), second, question, "5")
    assert pairs(question).against(Query("list", part)) == pytest.approx(math.log(left))


@pytest.mark.parametrize(("joined", "left"), [("and", 1), ("or", ONE_IS_ENOUGH)])
def test_either_of_two_values_is_not_both(joined, left):
    question = f"blocks with a height over 3 {joined} a width over 5"
    part = above(above(BLOCKS, "height", question, "3"), "width", question, "5")
    assert pairs(question).against(Query("list", part)) == pytest.approx(math.log(left))


def test_sets_that_are_joined_are_not_nested():
    question = "blocks with a height over 3 or a width over 5"
    both = Both(above(BLOCKS, "height", question, "3"), above(BLOCKS, "width", question, "5"))
    assert pairs(question).against(Query("list", both)) == 0


def test_a_number_of_a_name_is_no_value():
    question = "blocks higher than block 1"
    assert pairs(question).against(Query("list", above(BLOCKS, "height", question, "1"))) == pytest.approx(
        math.log(OF_A_NAME)
    )

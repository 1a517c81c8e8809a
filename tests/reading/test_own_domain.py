"""The largest of all that have a value, unless a word says of which things."""

import numpy as np
import pytest
from small_graph import SmallGraph

from clew.reading.candidates import Option
from clew.reading.own_domain import take_own_domains
from clew.reading.query import Extreme, OfType, Query

SMALL = SmallGraph(
    """
    Ann | salary | 10
    Ann | works_in | Sales
    Bo | salary | 20
    """
)
SALARY, WORKS_IN = SMALL.step("salary"), SMALL.step("works_in")


@pytest.mark.parametrize(
    ("question", "own"),
    [("Who has the highest salary?", True), ("Of all who work, whose salary is highest?", False)],
)
def test_things_of_an_end_that_nothing_says_are_all_that_have_the_value(question: str, own: bool) -> None:
    queries = [Query("list", Extreme(OfType(-1, end), (SALARY,), False, True)) for end in (WORKS_IN, SALARY)]
    scores = np.array([2.0, 1.0, 0.0], np.float32)
    take_own_domains(SMALL.matcher.compare(question), [Option(query, 1.0, -1) for query in queries], scores)
    assert (int(scores.argmax()) == 1) == own

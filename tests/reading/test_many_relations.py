"""Reading over a graph of many relations: what is looked at is bounded, and is what the question says."""

import numpy as np
from small_graph import SmallGraph

from clew.query.execute import relations_of_list
from clew.reading.paths import Exploration


def test_of_too_many_steps_those_that_the_question_says_are_followed() -> None:
    lines = [f"Hub | colour {i} | thing {i}" for i in range(20)]
    small = SmallGraph("\n".join([*lines, "Hub | owner | Ann", "Bee | owner | Ann"]))
    question = "Who is the owner of Hub?"
    mentions, likeness = small.mentions(question), small.matcher.compare(question)
    asked = Exploration(small.vocabulary, question, mentions, likeness, most_steps=3)
    steps = asked.steps_at(np.array([small.ids["Hub"]], np.int64))
    assert len(steps) == 3
    assert small.step("owner") in steps


def test_relations_of_a_list_are_the_same_by_jumps_and_at_once() -> None:
    relation = np.array([0, 0, 1, 1, 1, 4, 5, 5, 9], np.int32)
    for jumps in (0, 1, 3, 100):
        assert relations_of_list(relation, 0, 9, jumps) == [0, 1, 4, 5, 9]
        assert relations_of_list(relation, 2, 8, jumps) == [1, 4, 5]
        assert relations_of_list(relation, 3, 3, jumps) == []

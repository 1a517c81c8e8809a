"""A candidate beside another one that says the same and more."""

import math

import numpy as np
import pytest
from small_graph import SmallGraph

from clew.query.tree import Anchor, Both, Compared, OfType, Part, Query, Value, Walk
from clew.reading.candidates import Option
from clew.reading.narrower import LEFT_OUT, Narrower

SMALL = SmallGraph(
    """
    Oak Hall | area | Midtown
    Oak Hall | kind | flat
    Oak Hall | rent | 900
    Elm House | area | Midtown
    Elm House | kind | villa
    Elm House | rent | 1500
    """,
    {"Home": ["Oak Hall", "Elm House"]},
)
HOMES = OfType(0)


def scored(question: str, options: list[Option], scores: list[float]) -> np.ndarray:
    """The scores of candidates when what leaves something out was put right."""
    compare = Narrower(SMALL.vocabulary, SMALL.mentions(question), SMALL.matcher.compare(question))
    made = np.array(scores, np.float32)
    compare.put_right(options, made)
    return made


def left(question: str, wide: Part, narrow: Part) -> float:
    """What is left of the odds of the first of two candidates; the second has the rest of them."""
    options = [Option(Query("list", wide), 1.0), Option(Query("list", narrow), 1.0)]
    made = scored(question, options, [2.0, 1.0])
    assert np.exp(made).sum() == pytest.approx(np.exp([2.0, 1.0]).sum(), rel=1e-5)
    return math.exp(made[0] - 2.0)


def named(question: str, name: str) -> Anchor:
    node = SMALL.ids[name]
    place = next(i for i, m in enumerate(SMALL.mentions(question)) if node in {c.node for c in m.candidates})
    return Anchor(node, place)


def at(question: str, name: str, relation: str) -> Walk:
    return Walk(named(question, name), SMALL.step(f"^{relation}"))


def test_a_name_that_is_left_out_tells_against_a_candidate():
    question = "flats in Midtown"
    wide = at(question, "Midtown", "area")
    assert left(question, wide, Both(at(question, "flat", "kind"), wide)) == pytest.approx(LEFT_OUT)


def test_all_of_a_type_leaves_out_what_narrows_it():
    question = "homes in Midtown"
    assert left(question, HOMES, Both(at(question, "Midtown", "area"), HOMES)) == pytest.approx(LEFT_OUT)


def test_what_follows_from_a_narrower_set_is_narrower():
    question = "rent of the flats in Midtown"
    wide, rent = at(question, "Midtown", "area"), SMALL.step("rent")
    narrow = Both(at(question, "flat", "kind"), wide)
    assert left(question, Walk(wide, rent), Walk(narrow, rent)) == pytest.approx(LEFT_OUT)


def test_a_condition_that_no_word_says_tells_nothing():
    question = "homes in Midtown"
    wide = at(question, "Midtown", "area")
    more = Compared(wide, (SMALL.step("rent"),), ">", Value(1000.0))
    assert left(question, wide, more) == 1


def test_another_set_tells_nothing():
    question = "flats in Midtown"
    assert left(question, at(question, "Midtown", "area"), at(question, "flat", "kind")) == 1


def test_whether_something_is_so_is_not_narrowed():
    question = "are there flats in Midtown"
    wide, narrow = at(question, "Midtown", "area"), at(question, "flat", "kind")
    options = [Option(Query("yes", part), 1.0) for part in (wide, Both(narrow, wide))]
    assert scored(question, options, [2.0, 1.0]).tolist() == [2.0, 1.0]


def test_what_is_far_less_likely_tells_nothing():
    question = "flats in Midtown"
    wide = at(question, "Midtown", "area")
    options = [Option(Query("list", p), 1.0) for p in (wide, Both(at(question, "flat", "kind"), wide))]
    assert scored(question, options, [9.0, 1.0]).tolist() == [9.0, 1.0]


def test_a_name_is_not_said_by_a_type_that_is_like_it():
    crimes = SmallGraph(
        """
        CR-1 | crime_type | Robbery
        CR-2 | crime_type | Fraud
        """,
        {"Crime": ["CR-1", "CR-2"], "Kind": ["Robbery", "Fraud"]},
    )
    question = "robbery on record"
    mentions = crimes.mentions(question)
    place = next(i for i, m in enumerate(mentions) if m.text == "robbery")
    narrow = Walk(Anchor(crimes.ids["Robbery"], place), crimes.step("^crime_type"))
    options = [Option(Query("list", part), 1.0) for part in (OfType(crimes.types["Crime"]), narrow)]
    made = np.array([2.0, 1.0], np.float32)
    Narrower(crimes.vocabulary, mentions, crimes.matcher.compare(question)).put_right(options, made)
    assert made[1] > made[0]

"""What makes a reading more or less to be trusted."""

from dataclasses import replace

import pytest

from clew.reading.rules.comparison import Span
from clew.reading.rules.confidence import Trust, confidence
from clew.reading.rules.explain import Explanation, explain
from clew.reading.rules.reading import Anchor, Reading

ANCHOR = Anchor(Span(0, 3), 0, 0.0, "Ann", "exact", ways=(0, 2, 4))
ONE = Reading((ANCHOR,), ((0,),), (), 0.0)
CLEAR = Explanation((), (), (), share=1.0, worst=0.0, weakest=0.9, mean=0.9, unnamed=())


def test_a_clear_reading_is_trusted_and_an_empty_one_is_not():
    assert confidence(ONE, CLEAR, Trust()) > 0.9
    assert confidence(ONE, replace(CLEAR, share=0.0, worst=1.0, weakest=0.0, mean=0.0), Trust()) < 0.1


@pytest.mark.parametrize(
    ("field", "worse"), [("share", 0.5), ("weakest", 0.1), ("mean", 0.1), ("worst", 0.8)]
)
def test_less_evidence_is_less_trust(field, worse):
    assert confidence(ONE, replace(CLEAR, **{field: worse}), Trust()) < confidence(ONE, CLEAR, Trust())


def test_longer_and_doubtful_readings_are_trusted_less():
    long = Reading((ANCHOR,), ((0, 2, 4),), (), 0.0)
    ordinary = Reading((replace(ANCHOR, ordinary=True),), ((0,),), (), 0.0)
    assert confidence(long, CLEAR, Trust()) < confidence(ONE, CLEAR, Trust())
    assert confidence(ordinary, CLEAR, Trust()) < confidence(ONE, CLEAR, Trust())


def explained(firms, text, name, step):
    _, comparison = firms.compare(text)
    anchor = Anchor(firms.span(text, name), 0, 0.0, name, "exact", ways=(0, 2, 4))
    return explain(comparison, Reading((anchor,), ((step,),), (), 0.0))


def test_a_word_that_names_the_step_is_explained(firms):
    told = explained(firms, "Who is the founder of Acme?", "Acme", firms.step("founded_by"))
    assert (told.open_words, told.unnamed) == ((), ())


def test_a_word_that_nothing_names_stays_open(firms):
    told = explained(firms, "Who is the goalkeeper of Acme?", "Acme", firms.step("founded_by"))
    assert told.open_words == ("goalkeeper",)
    assert told.share < 0.3


def test_an_unknown_capitalised_word_is_an_open_name(firms):
    told = explained(firms, "Who founded Acme with Zyxo?", "Acme", firms.step("founded_by"))
    assert told.open_names == ("Zyxo",)


def test_words_of_an_operator_are_explained(firms):
    text = "What is the goalkeeper of Acme?"
    _, comparison = firms.compare(text)
    anchor = Anchor(firms.span(text, "Acme"), 0, 0.0, "Acme", "exact", ways=(0, 2, 4))
    reading = Reading((anchor,), ((firms.step("founded_by"),),), (), 0.0)
    assert explain(comparison, reading, extra=frozenset({text.index("goalkeeper")})).open_words == ()

"""The first look at candidates, and how far words say a chain in its order."""

import numpy as np
import pytest

from clew.query.tree import Anchor, Both, OfType, Walk
from clew.reading.calibration import KNOWN_BEFORE
from clew.reading.first_pass import CANDIDATES_KEPT, FirstPass
from clew.reading.ranker import MODEL
from clew.reading.word_order import MOST_STEPS, StepChain, chain_of, in_order

ONE = Anchor(7, 0)


def test_few_candidates_are_all_kept_and_of_many_the_best():
    first = FirstPass.open(MODEL / "first_pass.npz")
    rows = np.random.default_rng(0).random((CANDIDATES_KEPT + 40, len(KNOWN_BEFORE)), np.float32)
    assert first.best(rows[:CANDIDATES_KEPT]).tolist() == list(range(CANDIDATES_KEPT))
    best = first.best(rows)
    left = np.setdiff1d(np.arange(len(rows)), best)
    scores = first.scores(rows)
    assert (len(best), best.tolist()) == (CANDIDATES_KEPT, sorted(best.tolist()))
    assert scores[best].min() >= scores[left].max()


@pytest.mark.parametrize(
    ("part", "chain"),
    [
        (Walk(ONE, 4), StepChain(0, (4,))),
        (Walk(Walk(ONE, 4), 7), StepChain(0, (4, 7))),
        (Both(Walk(ONE, 4), OfType(2)), StepChain(0, (4,), 2)),
        (ONE, None),
        (Walk(Anchor(7), 4), None),
        (Walk(OfType(2), 4), None),
        (Both(Walk(ONE, 4), Walk(ONE, 6)), None),
    ],
)
def test_chains_begin_at_a_name_of_the_question(part, chain):
    assert chain_of(part) == chain


def test_words_in_the_order_of_the_steps_say_more():
    """*actors of films by X*: outward from X, *films* says the first step and *actors* the second."""
    words = np.zeros((1, 2, MOST_STEPS), np.float32)
    words[0, 0, 1] = words[0, 1, 0] = 1.0
    counts, left = np.array([2]), [False, False]
    assert in_order(words, counts, left)[0].tolist() == [1.0, 1.0]
    assert in_order(words[:, ::-1], counts, left)[0].tolist() == [0.5, 0.5]


def test_the_side_that_is_read_first_matters():
    """*films that share actors with X were directed by whom*: first what is left of X, then what is right."""
    words = np.zeros((1, 2, MOST_STEPS), np.float32)
    words[0, 0, 0] = words[0, 1, 1] = 1.0
    assert in_order(words, np.array([2]), [False, True])[0].tolist() == [1.0, 0.5]


def test_steps_that_a_chain_has_not_say_nothing():
    words = np.ones((1, 1, MOST_STEPS), np.float32)
    words[0, 0, 0] = 0.25
    assert in_order(words, np.array([1]), [True])[0].tolist() == [0.25, 0.25]

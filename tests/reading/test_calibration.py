"""From the head's scores to probabilities."""

import json

import numpy as np
import pytest

from clew.reading.alignment import ALIGNED
from clew.reading.answer_kind import KINDS
from clew.reading.calibration import KNOWN_BEFORE, OF_CANDIDATES, OF_NONE, Calibration, rows_of
from clew.reading.features import FEATURES
from clew.reading.ranker import MODEL
from clew.reading.tokens import Kind

TOKENS = [[(Kind.ANCHOR, 0), (Kind.FORWARD, 3)], [(Kind.ANCHOR, 0), (Kind.FORWARD, 3), (Kind.FORWARD, 1)]]


def rows():
    features = np.zeros((2, len(FEATURES)), np.float32)
    features[:, FEATURES.index("steps")] = [0.25, 0.5]
    return rows_of(features, TOKENS)


def test_a_row_has_the_features_and_how_often_each_kind_of_token_is_in_it():
    made = rows()
    assert made.shape == (2, len(KNOWN_BEFORE))
    assert made[:, OF_CANDIDATES.index("steps")].tolist() == [0.25, 0.5]
    assert made[:, OF_CANDIDATES.index("FORWARD")].tolist() == [1, 2]


def test_scores_are_flattened_and_weights_added_by_their_names():
    made = Calibration.of(0.5, {"FORWARD": -0.5, "said": 2.0}, {"one": 2.0, "best_score": 0.1, "steps": 4.0})
    aligned = np.zeros((2, len(ALIGNED)), np.float32)
    aligned[:, ALIGNED.index("said")] = [-0.1, 0.0]
    kinds = np.zeros((2, len(KINDS)), np.float32)
    scores = made.scores(
        np.array([4.0, 6.0, 0.0], np.float32), np.concatenate([rows(), kinds, aligned], axis=1)
    )
    # The best of the two is the second: its score of 6 and its steps of 0.5 make that of none.
    assert scores.tolist() == pytest.approx([2.0 - 0.5 - 0.2, 3.0 - 1, 2.0 + 0.6 + 2.0])
    assert made.of_alignment.tolist() == [2.0, *[0.0] * (len(ALIGNED) - 1)]


def test_a_name_that_is_not_there_is_an_error():
    with pytest.raises(KeyError, match="colour"):
        Calibration.of(1.0, {"colour": 1.0}, {})


def test_the_shipped_model_has_weights_that_are_read():
    given = json.loads((MODEL / "model.json").read_text("utf-8"))["calibration"]
    made = Calibration.of(**given)
    assert 0 < made.sharpness < 1
    assert np.count_nonzero(made.candidates) == len(given["candidates"])
    assert np.count_nonzero(made.none) == len(given["none"]) <= len(OF_NONE)

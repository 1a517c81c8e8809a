"""BERTScore against its definition, and with a real model."""

from pathlib import Path

import numpy as np
import pytest
from made import record

from clew.evaluate.judge import bert_score, open_tokens, score_record

MODEL = Path(__file__).resolve().parents[2].parent / "shared" / "models" / "minilm-int8"


def unit(*rows):
    vectors = np.array(rows, np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_the_definition_on_random_vectors():
    random = np.random.default_rng(0)
    answer, reference = unit(*random.normal(size=(5, 8))), unit(*random.normal(size=(7, 8)))
    precision, recall, f1 = bert_score(answer, reference)
    assert precision == pytest.approx(
        np.mean([max(float(a @ r) for r in reference) for a in answer]), rel=1e-5
    )
    assert recall == pytest.approx(np.mean([max(float(a @ r) for a in answer) for r in reference]), rel=1e-5)
    assert bert_score(reference, answer) == pytest.approx((recall, precision, f1))


def test_nothing_said():
    empty, some = np.zeros((0, 2), np.float32), unit((1, 0))
    assert bert_score(empty, some) == (0.0, 0.0, 0.0)
    assert bert_score(empty, empty) == (1.0, 1.0, 1.0)


def test_a_real_model_prefers_what_means_the_same():
    if not MODEL.exists():
        pytest.skip("needs ../shared/models/minilm-int8")
    model = open_tokens(f"onnx:{MODEL}")
    gold = ["the film director Christopher Nolan"]
    records = [
        record(gold=gold, text=t) for t in (gold[0], "Christopher Nolan, a movie maker", "a bowl of soup", "")
    ]
    same, near, far, nothing = (score_record(r, model)[2] for r in records)
    assert same == pytest.approx(1.0, abs=1e-5)
    assert same > near > far > nothing == 0.0

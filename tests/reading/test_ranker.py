"""A folder that is no model of the reader is an error that says so."""

import json

import numpy as np
import pytest

from clew.errors import EmbedderError
from clew.reading.features import COMPARED, FEATURES
from clew.reading.ranker import MODEL_VERSION, Ranker

pytest.importorskip("onnxruntime")
ABOUT = {"version": MODEL_VERSION, "features": [*FEATURES, *COMPARED], "tokens": 26, "longest": 48}


@pytest.mark.parametrize("change", [{"version": MODEL_VERSION + 1}, {"features": list(FEATURES[:-1])}])
def test_another_version_is_an_error(tmp_path, change) -> None:
    (tmp_path / "model.json").write_text(json.dumps(ABOUT | change))
    with pytest.raises(EmbedderError, match="of another version"):
        Ranker.open(tmp_path)


@pytest.mark.parametrize("text", ["", '{"version": 1', "[]", "{}"])
def test_a_damaged_description_is_an_error(tmp_path, text) -> None:
    (tmp_path / "model.json").write_text(text)
    with pytest.raises(EmbedderError, match=str(tmp_path)):
        Ranker.open(tmp_path)


def test_missing_parts_are_an_error(tmp_path) -> None:
    (tmp_path / "model.json").write_text(json.dumps(ABOUT))
    with pytest.raises(EmbedderError, match=r"encoder\.onnx"):
        Ranker.open(tmp_path)


def test_a_lone_surrogate_is_read_as_a_question_mark() -> None:
    vectors, mask, _ = Ranker.open().encode(["\ud800 lone", "? lone"])
    assert mask.all()
    assert np.allclose(vectors[0], vectors[1], atol=1e-5)

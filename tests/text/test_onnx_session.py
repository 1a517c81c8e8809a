"""Vectors of 8-bit weights must not depend on the processor."""

import onnxruntime

from clew.reading.ranker import MODEL
from clew.text.onnx_session import PRECISION_OPTION, open_session


def test_8_bit_products_are_exact_on_processors_without_vnni():
    options = open_session(onnxruntime, MODEL / "encoder.onnx", threads=1).get_session_options()
    assert options.get_session_config_entry(PRECISION_OPTION) == "1"
    assert options.intra_op_num_threads == 1

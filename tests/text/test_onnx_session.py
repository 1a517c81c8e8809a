"""Vectors of 8-bit weights must not depend on the processor."""

import numpy as np
import pytest

from clew.reading.fitted import MODEL
from clew.text.embedders import PRECISION_OPTION, has_vnni, open_session

WORDS = {"ids": np.arange(1000, 1096).reshape(8, 12), "mask": np.ones((8, 12), np.float32)}


def opened(*, vnni):
    return open_session(MODEL / "encoder.onnx", threads=1, vnni=vnni)


def test_8_bit_products_are_exact_on_processors_without_vnni():
    options = opened(vnni=False).get_session_options()
    assert options.get_session_config_entry(PRECISION_OPTION) == "1"
    assert options.intra_op_num_threads == 1


@pytest.mark.skipif(not has_vnni(), reason="this processor has no VNNI, or it is not known")
def test_with_vnni_they_are_the_same_without_the_slow_way():
    slow, quick = (opened(vnni=vnni).run(None, WORDS)[0] for vnni in (False, True))
    assert (slow == quick).all()


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ("flags\t: fpu avx512bw avx512_vnni\n", True),
        ("flags\t: fpu avx2 avx_vnni\n", False),
        ("Features\t: asimd\n", False),
        (None, False),
    ],
)
def test_what_the_system_tells_of_the_processor(tmp_path, told, found):
    if told is not None:
        (tmp_path / "cpuinfo").write_text(told)
    assert has_vnni(tmp_path / "cpuinfo") is found

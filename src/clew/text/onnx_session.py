"""Sessions of onnxruntime: on the processor alone, and as exact on every one."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

PRECISION_OPTION = "session.x64quantprecision"
"""Without it 8-bit products overflow on processors without VNNI: the shipped encoder was 23 % off there.

With VNNI the results are the same to the bit, and it only makes a model twice as slow and its opening longer.
"""
CPU_INFO = Path("/proc/cpuinfo")
_FIRST_PROCESSOR = 16_384
"""Bytes that describe the first processor; all of a machine are alike."""


@cache
def has_vnni(cpu_info: Path = CPU_INFO) -> bool:
    """Whether the processor is known to multiply 8-bit numbers without an overflow; False where it is not."""
    with suppress(OSError), cpu_info.open("rb") as file:
        return b"avx512_vnni" in file.read(_FIRST_PROCESSOR).split()
    return False


def open_session(runtime: Any, model: Path, threads: int = 0, vnni: bool | None = None) -> Any:  # noqa: ANN401
    """Open a model with the module `onnxruntime`, whose bare exceptions it raises; 0 threads: one a core.

    Without `vnni` 8-bit products are made exact the slow way; None is what the processor has.
    """
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = threads
    options.log_severity_level = 3
    if not (has_vnni() if vnni is None else vnni):
        options.add_session_config_entry(PRECISION_OPTION, "1")
    return runtime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])

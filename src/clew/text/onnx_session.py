"""Sessions of onnxruntime: on the processor alone, as exact on every one, and without telemetry."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from importlib import import_module
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


def load_runtime() -> Any:  # noqa: ANN401
    """Import onnxruntime without its telemetry.

    When its wheels are imported they make an id of the machine under `~/.cache` and look up a host of their
    vendor. Only this variable stops that, and only before the import.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    return import_module("onnxruntime")


def open_session(model: Path, threads: int = 0, vnni: bool | None = None) -> Any:  # noqa: ANN401
    """Open a model; raises the bare exceptions of onnxruntime. 0 threads: one a core.

    Without `vnni` 8-bit products are made exact the slow way; None is what the processor has.
    """
    runtime = load_runtime()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = threads
    options.log_severity_level = 3
    if not (has_vnni() if vnni is None else vnni):
        options.add_session_config_entry(PRECISION_OPTION, "1")
    return runtime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])

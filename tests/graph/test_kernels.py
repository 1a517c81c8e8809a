"""Machine code on disk is as new as the kernels that it was made of."""

import os
import subprocess
import sys
from pathlib import Path

SRC = Path(__file__).resolve().parents[2] / "src"
HELPER = """
from clew.graph.kernels import compiled

@compiled
def helped(x):
    return x + {added}
"""
ENTRY = """
from clew.graph.kernels import entry
from helper import helped

@entry
def called(x):
    return helped(x)
"""


def test_a_changed_helper_is_compiled_again(tmp_path):
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    (kernels / "called.py").write_text(ENTRY)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(SRC), str(kernels))),
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
    }
    code = "from called import called; print(called(1), sum(called.stats.cache_hits.values()))"
    said = []
    for added in (10, 10, 20):
        (kernels / "helper.py").write_text(HELPER.format(added=added))
        run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
        said.append(run.stdout.split())
    assert said == [["11", "0"], ["11", "1"], ["21", "0"]], run.stderr

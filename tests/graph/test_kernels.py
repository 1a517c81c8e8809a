"""Machine code on disk is as new as the kernels that it was made of."""

import os
import pickle
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parents[2] / "src"
HELPER = """
from clew.graph.kernels import compiled

@compiled
def helped(x):
    return x + {added}
"""
ENTRY = """
from clew.opening.environment import keep_machine_code
from clew.graph.kernels import entry
from helper import helped

keep_machine_code()

@entry
def called(x):
    return helped(x)
"""


def run(folder, cache):
    """What a process says that calls a kernel, its time of compiling and whether code was found."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(SRC), str(folder))),
        "NUMBA_CACHE_DIR": str(cache),
    }
    code = (
        "from called import called; from clew.foundation.system import COMPILING;"
        "print(called(1), sum(called.dispatcher.stats.cache_hits.values()), COMPILING.milliseconds > 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    return done.stdout.split() or done.stderr


def test_a_changed_helper_is_compiled_again_and_another_checkout_finds_the_code(tmp_path):
    said = []
    for checkout, added in (("one", 10), ("one", 10), ("two", 10), ("one", 20)):
        kernels = tmp_path / checkout / "kernels"
        kernels.mkdir(parents=True, exist_ok=True)
        (kernels / "called.py").write_text(ENTRY)
        (kernels / "helper.py").write_text(HELPER.format(added=added))
        said.append(run(kernels, tmp_path / "cache"))
    fresh, found = ["0", "True"], ["1", "False"]
    assert said == [["11", *fresh], ["11", *found], ["11", *found], ["21", *fresh]]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """(a folder of kernels, a cache with their code)."""
    folder = tmp_path_factory.mktemp("compiled")
    kernels = folder / "kernels"
    kernels.mkdir()
    (kernels / "called.py").write_text(ENTRY)
    (kernels / "helper.py").write_text(HELPER.format(added=1))
    assert run(kernels, folder / "cache") == ["2", "0", "True"]
    return kernels, folder / "cache"


@pytest.fixture
def code(compiled, tmp_path):
    """A copy of the code."""
    shutil.copytree(compiled[1], tmp_path / "cache")
    (file,) = (tmp_path / "cache").glob("*.code")
    return file


def test_damaged_code_is_made_again(compiled, code):
    whole = bytearray(code.read_bytes())
    whole[-100] ^= 1
    for damaged in (bytes(whole[:99]), bytes(whole)):
        code.write_bytes(damaged)
        assert run(compiled[0], code.parent) == ["2", "0", "True"]
    assert run(compiled[0], code.parent) == ["2", "1", "False"]


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="each user has folders of their own")
@pytest.mark.parametrize("open_to_others", ["folder", "file"])
def test_code_that_others_may_have_written_is_not_run(compiled, code, tmp_path, open_to_others):
    planted = pickle.dumps(Planted(str(tmp_path / "ran")))
    code.write_bytes(sha256(planted).digest() + planted)
    (code.parent if open_to_others == "folder" else code).chmod(0o777)
    assert run(compiled[0], code.parent) == ["2", "0", "True"]
    assert not (tmp_path / "ran").exists()


class Planted:
    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return open, (self.path, "w")

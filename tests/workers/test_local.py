"""Workers end with the process that started them, also where it is killed."""

import errno
import os
import pickle
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

from clew.workers import ClusterError, RayWorkers, do_piece
from workers.work import Failing, Missing, nothing

SOURCE = Path(__file__).resolve().parents[2] / "src"
NO_SERVER = pytest.mark.skipif(find_spec("uvicorn") is None, reason="uvicorn is not installed (clew[serve])")
SERVING = """
from clew.serve.run import listen, serve
from clew.serve.settings import ServeSettings

async def answer(scope, receive, send):
    raise NotImplementedError

sockets = listen(ServeSettings(port=0, workers=2))
serve(lambda: answer, sockets, lambda: print("started", flush=True))
"""
WORKING = """
import time
from clew.workers import Processes

def begin():
    print("started", flush=True)
    return time.sleep

if __name__ == "__main__":
    list(Processes(2).map(begin, [60, 60]))
"""


@pytest.mark.parametrize(
    ("program", "starting"),
    [pytest.param(SERVING, 1, marks=NO_SERVER, id="serve"), pytest.param(WORKING, 2, id="pool")],
)
def test_workers_do_not_outlive_a_parent_that_is_killed(tmp_path, program, starting):
    file = tmp_path / "program.py"
    file.write_text(program)
    parent = subprocess.Popen(
        [sys.executable, str(file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
    )
    for _ in range(starting):
        assert parent.stdout.readline() == b"started\n"
    parent.kill()
    parent.communicate(timeout=30)  # whose end comes when nobody has the other one any more


MISMATCH = (
    "Version mismatch: The cluster was started with:\n    Ray: 2.9.0\n    Python: 3.10.1\n"
    "This process on node 10.0.0.7 was started with:\n    Ray: 2.60.0\n    Python: 3.11.2\n"
)


def test_a_cluster_of_another_ray_is_refused_with_both_versions(monkeypatch):
    def init(**_options):
        raise RuntimeError(MISMATCH)

    monkeypatch.setitem(__import__("sys").modules, "ray", SimpleNamespace(init=init))
    with pytest.raises(ClusterError) as raised:
        RayWorkers("local", nothing).__enter__()
    message = str(raised.value)
    assert "Ray: 2.9.0" in message
    assert "Ray: 2.60.0" in message
    assert "of the same versions of Ray and Python" in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("work", "told"),
    [
        (Missing(), "films.clew: no such file"),
        (Failing(OSError(errno.ENOSPC, "No space left on device", "/cache/kb")), "/cache/kb: No space left"),
        (Failing(PermissionError(errno.EACCES, "Permission denied", "/cache")), "/cache: Permission denied"),
        (Failing(MemoryError()), "the memory is full"),
    ],
)
def test_what_a_node_cannot_do_comes_back_with_its_name(work, told):
    done = do_piece("10.0.0.7 (abc)", pickle.dumps((nothing, work)), pickle.dumps(1))
    assert done.result is None
    assert told in str(done.error)
    with pytest.raises(ClusterError, match=r"^node 10\.0\.0\.7 \(abc\): "):
        RayWorkers("local", nothing).count_done(done)


ENDS = """
import os, sys
from clew.cli.opening import _warn_if_ended
with _warn_if_ended("10.0.0.7:6379"):
    if sys.argv[1] == "ends":
        os._exit(1)
    if sys.argv[1] == "raises":
        sys.exit(1)
"""


@pytest.mark.parametrize(("how", "said"), [("ends", True), ("raises", False), ("goes on", False)])
def test_a_command_that_is_ended_in_mid_work_says_what_to_do(how, said):
    done = subprocess.run([sys.executable, "-c", ENDS, how], capture_output=True, text=True, check=False)
    assert ("error: 10.0.0.7:6379: the command was ended in mid-work" in done.stderr) is said


def test_what_is_left_after_the_end_of_the_work_is_not_dropped():
    class Ended:
        @staticmethod
        def is_initialized():
            return False

    RayWorkers("local", nothing, _ray=Ended()).drop("a piece")  # to cancel it now would be an error

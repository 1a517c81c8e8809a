"""Workers end with the process that started them, also where it is killed."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

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

"""Temporary folders of a killed process are removed by the next one, those of a living one are not."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kill -9 is of Unix")

ASK = """
import sys
from clew import Clew
with Clew.from_triples([("Memento", "directed by", "Christopher Nolan")]) as clew:
    print(clew.query("SELECT ?d { ?f r:directed%20by ?d }").rows, flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def start(tmp_path):
    """Start a process that has a query's store open until it is told to end; its files go to `tmp_path`."""
    running = []

    def starting():
        process = subprocess.Popen(
            [sys.executable, "-c", ASK], env={**os.environ, "TMPDIR": str(tmp_path)}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        running.append(process)
        assert "Nolan" in process.stdout.readline()
        return process

    yield starting
    for process in running:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def folders(path: Path) -> set[str]:
    return {folder.name for folder in path.glob("clew-*-*")}


def test_a_killed_process_leaves_no_folder_for_long(start, tmp_path):
    killed = start()
    left = folders(tmp_path)
    assert {name.split("-")[1] for name in left} == {"memory", "rdf"}
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert folders(tmp_path) == left
    living = start()
    own = folders(tmp_path)
    assert own
    assert not own & left
    start()
    assert own < folders(tmp_path)
    living.communicate("\n", timeout=60)
    assert living.returncode == 0
    assert not own & folders(tmp_path)

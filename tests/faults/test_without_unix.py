"""Clew needs nothing that Windows lacks: it indexes, updates, asks and serves where that is taken away."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import asyncio, ctypes, mmap, multiprocessing, os, shutil, signal, socket, subprocess, sys, tempfile
import filelock, numba, numpy, onnxruntime, platformdirs

for module in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[module] = None
LACKING = {
    os: "fork forkpty getuid getgid killpg mkfifo nice pread pwrite sched_getaffinity setsid sysconf wait",
    signal: "SIGALRM SIGHUP SIGKILL SIGPIPE setitimer pthread_sigmask",
    mmap: "MAP_PRIVATE MAP_ANONYMOUS MAP_SHARED PROT_READ PROT_WRITE",
    socket: "AF_UNIX SO_REUSEPORT",
}
for module, names in LACKING.items():
    for name in names.split():
        vars(module).pop(name, None)
library = ctypes.CDLL.__init__

def loaded(self, name, *rest, **more):
    if name is None:
        raise TypeError("argument of type 'NoneType' is not iterable")
    library(self, name, *rest, **more)

ctypes.CDLL.__init__ = loaded
"""
ASKS = """
from clew import Clew
folder = sys.argv[1]
films = Clew.index(folder + "/films.tsv", folder + "/films.clew")
films.update(add=[("Tenet", "directed_by", "Christopher Nolan")])
assert films.ask("Who directed Tenet?").text == "Christopher Nolan"
assert films.verify("Christopher Nolan directed Memento.").verdict == "supported"
"""
SERVES = """
from clew.errors import UsageError
from clew.serve.run import listen
from clew.serve.settings import Access, ServerLimits, ServeSettings
import clew.serve.app
settings = ServeSettings("127.0.0.1", 0, {workers}, Access((), (), ()), ServerLimits())
try:
    print(len(listen(settings)))
except UsageError as error:
    print(error)
"""


def run(code: str, *arguments: str, before: str = "") -> str:
    whole = before + SCRIPT + code
    done = subprocess.run(
        [sys.executable, "-c", whole, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_graph_is_indexed_updated_asked_and_verified(tmp_path: Path) -> None:
    (tmp_path / "films.tsv").write_text(
        "Memento\tdirected_by\tChristopher Nolan\nHeat\tdirected_by\tMichael Mann\n"
    )
    run(ASKS, str(tmp_path))


@pytest.mark.parametrize(("workers", "said"), [(1, "1"), (2, "cannot share an address between processes")])
def test_one_process_serves_and_more_are_refused(workers: int, said: str) -> None:
    pytest.importorskip("fastapi")
    assert said in run(SERVES.replace("{workers}", str(workers)), before="import fastapi, uvicorn")

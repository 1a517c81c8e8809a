"""A small graph, its index, and ways to run the command line: in this process and in its own."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from stand_in import install
from typer.testing import CliRunner

from clew.cli.app import app
from clew.methods import registry
from clew.opening.graph_view import index_sources

ROOT = Path(__file__).resolve().parents[2]
STAND_IN = Path(__file__).with_name("stand_in.py")
TRIPLES = [
    ("Memento", "directed_by", "Christopher Nolan"), ("Inception", "directed_by", "Christopher Nolan"),
    ("Memento", "year", "2000"), ("Inception", "year", "2010"), ("Heat", "directed_by", "Michael Mann"),
    *[("hub", "has", f"thing {i:03}") for i in range(100)], ("--help", "is", "an \x1b[31mentity"),
]  # fmt: skip
LINES = "".join(f"{h}\t{r}\t{t}\n" for h, r, t in TRIPLES)


@pytest.fixture(autouse=True)
def _stand_in(monkeypatch, tmp_path):
    monkeypatch.setitem(registry.METHODS, "auto", registry.METHODS["auto"])
    install()
    monkeypatch.setenv("CLEW_CACHE_DIR", str(tmp_path / "cache"))
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def films(tmp_path):
    """A plain graph file in the working directory."""
    path = tmp_path / "films.tsv"
    path.write_text(LINES)
    return path


@pytest.fixture(scope="session")
def made_index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    (folder / "films.tsv").write_text(LINES)
    index_sources([folder / "films.tsv"], folder / "films.clew")
    return folder / "films.clew"


@pytest.fixture
def index(films, made_index):
    """An index of `films`, of one's own."""
    shutil.copytree(made_index, films.with_suffix(".clew"))
    return films.with_suffix(".clew")


@pytest.fixture
def run():
    """Run the command line in this process; stdout and stderr apart."""

    def invoke(*args, **options):
        return CliRunner().invoke(app, [str(a) for a in args], prog_name="clew", **options)

    return invoke


@pytest.fixture
def process():
    """Start the command line in a process of its own."""
    started = []

    def start(*args, **options):
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        command = [sys.executable, str(STAND_IN), *map(str, args)]
        environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
        started.append(subprocess.Popen(command, text=True, env=environment, **pipes))
        return started[-1]

    yield start
    for running in started:
        running.kill()
        with running:  # closes the pipes
            pass


@pytest.fixture
def write_lines(tmp_path):
    """Write objects as JSON lines."""

    def write(name, *objects):
        path = tmp_path / name
        path.write_text("".join(json.dumps(o) + "\n" for o in objects))
        return path

    return write


@pytest.fixture
def interrupt(tmp_path):
    """Press Ctrl-C in a process once it works on a slow question."""

    def press(running):
        deadline = time.monotonic() + 20
        while not (tmp_path / "at-work").exists():
            assert time.monotonic() < deadline
            assert running.poll() is None, running.stderr.read()
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)

    return press

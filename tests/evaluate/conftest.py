"""A small plain data set, and ways to run the command line: in this process and in its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from made import ROOT
from stand_in_methods import NAMES
from typer.testing import CliRunner

from clew.cli.app import app
from clew.methods import registry

QUESTIONS = [
    {"id": "a", "question": "Who directed Memento?", "gold": ["Christopher Nolan"], "entities": ["Memento"],
     "paths": [["Memento", "directed_by"]], "kind": "one"},
    {"id": "b", "question": "Who directed Heat?", "gold": [["Michael Mann", "M. Mann"]], "kind": "one",
     "query": "SELECT ?x"},
    {"id": "c", "question": "Which films did Christopher Nolan direct?",
     "gold": ["Memento", "Inception", "Dunkirk"]},
    {"id": "d", "question": "Who composed the music of Heat?", "gold": []},
    {"id": "e", "question": "Who directed Alien?", "gold": ["Ridley Scott"], "entities": ["Alien"]},
]  # fmt: skip
TRIPLES = [
    ("Memento", "directed_by", "Christopher Nolan"),
    ("Inception", "directed_by", "Christopher Nolan"),
    ("Heat", "directed_by", "Michael Mann"),
    ("Heat", "year", "1995"),
]


@pytest.fixture
def plain(tmp_path):
    """A directory in the plain format; gold of c is in the graph in part, that of e not at all."""
    folder = tmp_path / "films"
    folder.mkdir()
    (folder / "graph.tsv").write_text("".join("\t".join(t) + "\n" for t in TRIPLES))
    (folder / "questions.jsonl").write_text("".join(json.dumps(q) + "\n" for q in QUESTIONS))
    return folder


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run the command line in this process, without workers, which would not know the stand-ins."""
    for name, attribute in NAMES.items():
        monkeypatch.setitem(registry.METHODS, name, registry.MethodSpec(f"stand_in_methods:{attribute}"))
    monkeypatch.setenv("CLEW_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)

    def invoke(*args):
        told = [str(a) for a in args]
        if told[0] == "eval" and "--workers" not in told and "--llm" not in told:
            told += ["--workers", "1"]
        return CliRunner().invoke(app, told, prog_name="clew")

    return invoke


@pytest.fixture
def process(tmp_path):
    """Start the command line in a process of its own, in a group of its own."""
    started = []

    def start(*args, **variables):
        paths = os.pathsep.join([str(ROOT / "src"), str(Path(__file__).parent)])
        told = {"PYTHONPATH": paths, "CLEW_CACHE_DIR": str(tmp_path / "cache"), **variables}
        script = Path(__file__).with_name("stand_in_methods.py")
        command = [sys.executable, str(script), *map(str, args)]
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        started.append(
            subprocess.Popen(command, text=True, env=os.environ | told, start_new_session=True, **pipes)
        )
        return started[-1]

    yield start
    for running in started:
        running.kill()
        with running:
            pass

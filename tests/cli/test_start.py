"""What a cold process loads, and what it says while it is busy."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from clew.cli.console import explained_wait
from clew.foundation.system import COMPILING

FILMS = Path(__file__).parents[2] / "examples" / "films.tsv"
NEEDLESS = {
    "numba", "jinja2", "prompt_toolkit", "pyoxigraph", "httpx", "pandas", "pydantic", "asyncio",
    "ray", "neo4j", "starlette", "openai",
}  # fmt: skip
MAIN = """
import sys
from clew.cli import main
try:
    main()
finally:
    print("loaded:", *sorted(sys.modules), file=sys.stderr)
"""


def loaded(*arguments):
    """The modules that a command loads beside those that its Python does."""
    done = subprocess.run(
        [sys.executable, "-c", MAIN, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.rpartition("loaded:")[2].split())


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.setenv("CLEW_CACHE_DIR", str(tmp_path))
    return str(FILMS)


def test_a_question_loads_nothing_that_it_does_not_need(source):
    loaded("ask", source, "Who directed Memento?")  # the first one reads the file
    modules = loaded("ask", source, "Who directed Memento?")
    assert not modules & (NEEDLESS | {"clew.graph.readers.table", "clew.graph.readers.arrays"})


def test_what_an_index_holds_is_shown_without_a_reader(source):
    modules = loaded("info", source)
    assert not modules & NEEDLESS
    assert not {name for name in modules if name.startswith(("clew.reading.", "onnxruntime"))}


def test_help_loads_no_numbers():
    assert not loaded("--help") & (NEEDLESS | {"numpy", "clew.engine"})


def test_compiling_is_said_only_while_something_compiles(capsys):
    with explained_wait("", after=0.05):
        threading.Event().wait(0.3)
    assert capsys.readouterr().err == "still working …\n"
    with explained_wait("", after=0.05):
        threading.Event().wait(0.2)
        COMPILING.begin()
        threading.Event().wait(0.3)
        COMPILING.end(0.3)
    said = capsys.readouterr().err
    assert said == "still working …\nstill working … (it is compiled for this machine, once)\n"
    with explained_wait("", after=5):
        pass
    assert capsys.readouterr().err == ""

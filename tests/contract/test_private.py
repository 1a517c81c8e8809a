"""Private by default: no command without a model or an address reaches out, or writes beside its files.

Seen by the system calls of a process that runs every command (`strace`).
"""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from doors import GRAPHS

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = r"""
import json, os, sys
from typer.testing import CliRunner
from clew.cli.app import app

def run(*args, codes=(0,), said=""):
    done = CliRunner().invoke(app, [str(a) for a in args], prog_name="clew", input=said)
    assert done.exit_code in codes, (args, done.stderr, done.exception)

graphs, out = sys.argv[1:]
index = f"{out}/films.clew"
pattern = json.dumps({"triples": [["UNKNOWN 1", "directed_by", "Fritz Lang"]]})
run("index", f"{graphs}/films.tsv", "--types", f"{graphs}/films.types.tsv", "-o", index, "--quiet")
run("ask", f"{graphs}/rulers.ttl", "Who was the predecessor of Tiberius?", "--quiet")
run("info", index)
run("ask", index, "Who directed Metropolis?")
run("ask", index, "Who directed Casablanca?", codes=(3,))
run("verify", index, "Fritz Lang directed Metropolis.")
run("match", index, pattern)
run("query", index, "SELECT ?s WHERE { ?s ?p ?o } LIMIT 1")
if "ladybug" in sys.modules or __import__("importlib").util.find_spec("ladybug"):
    run("query", index, "MATCH (f) RETURN f LIMIT 1")
open(f"{out}/new.tsv", "w").write("Fury\twritten_by\tNorman Krasna\n")
run("methods")
run("vocabulary", index)
run("shell", index, said="Who directed Metropolis?\n")
os.mkdir(f"{out}/set")
open(f"{out}/set/graph.tsv", "w").write("Fury\tdirected_by\tFritz Lang\n")
question = {"question": "Who directed Fury?", "gold": ["Fritz Lang"]}
open(f"{out}/set/questions.jsonl", "w").write(json.dumps(question) + "\n")
run("eval", f"{out}/set", "--method", "auto", "--workers", 1, "--out", f"{out}/run", "--quiet")
run("eval", f"{out}/run", "--report", f"{out}/report.html", "--quiet")
run("update", index, "--add", f"{out}/new.tsv")
"""
CALLS = "open,openat,creat,mkdir,mkdirat,rename,renameat,renameat2,link,symlink"
WRITING = re.compile(r'^\d+ +(\w+)\([^"]*"([^"]*)"')
KERNELS = os.environ.get("NUMBA_CACHE_DIR", "")
"""Machine code that was made before, so that none is made here."""


def traced(folder: Path, code: str, *args: object) -> list[str]:
    """The system calls on files and networks of a Python program in a home of its own."""
    trace = folder / "trace"
    command = ["strace", "-f", "--seccomp-bpf", "-qq", "-s", "300", "-e", f"trace=network,{CALLS}"]
    command += ["-o", str(trace), sys.executable, "-c", code, *map(str, args)]
    for name in ("home", "tmp", "cache", "out"):
        (folder / name).mkdir()
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "NUMBA_CACHE_DIR": KERNELS,
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "tmp"),
        "CLEW_CACHE_DIR": str(folder / "cache"),
    }
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, cwd=folder)
    assert done.returncode == 0, done.stderr
    return trace.read_text("utf-8", "replace").splitlines()


def writes(line: str) -> str:
    """The path that a call writes to, makes or renames; empty for others and for those that failed."""
    call = WRITING.match(line)
    if (
        call is None
        or " = -1 " in line
        or (call[1] in ("open", "openat") and not re.search("O_WR|O_RDWR", line))
    ):
        return ""
    return call[2]


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed (apt-get install strace)")
def test_no_command_reaches_out_or_writes_beside_its_files(tmp_path):
    lines = traced(tmp_path, textwrap.dedent(COMMANDS), GRAPHS, tmp_path / "out")
    assert not [line for line in lines if re.search(r"socket\(AF_INET6?,|sa_family=AF_INET", line)]
    allowed = *(str(tmp_path / name) for name in ("tmp", "cache", "out")), "/dev/", "/proc/", KERNELS
    written = {path for path in map(writes, lines) if path.startswith("/")}
    assert str(tmp_path / "out" / "films.clew") in " ".join(written)
    assert not {path for path in written if not path.startswith(allowed)}
    assert not list((tmp_path / "home").rglob("*"))

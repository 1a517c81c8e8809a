"""Processes killed a hundred times: what is on the disk is whole, and the same command goes on."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from clew import Clew
from clew.stores.errors import QueryError

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="kills by signals")]

ROOT = Path(__file__).resolve().parents[2]
FILMS = ROOT / "examples" / "films.tsv"
QUESTION = "Who directed Memento?"
ROUNDS = 24
"""Of each command."""


def command(*arguments, cache):
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "CLEW_CACHE_DIR": str(cache)}
    told = [sys.executable, "-m", "clew", *map(str, arguments)]
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
    return subprocess.Popen(told, env=environment, start_new_session=True, **pipes)


def kill_at_random(draw, took, *arguments, cache):
    """Start a command, and kill it and its processes within the time that it takes; whether it was killed."""
    running = command(*arguments, cache=cache)
    time.sleep(draw.uniform(0.3 * took, took))
    with suppress(ProcessLookupError):
        os.killpg(running.pid, signal.SIGKILL)
    return running.wait() == -signal.SIGKILL


def time_of(*arguments, cache):
    start = time.monotonic()
    assert command(*arguments, cache=cache).wait() == 0
    return time.monotonic() - start


@pytest.mark.parametrize("kind", ["index", "update", "ask", "eval"])
def test_a_command_that_is_killed_leaves_what_is_whole(tmp_path, kind):
    draw, killed, cache = random.Random(kind), 0, tmp_path / "cache"
    path, run = tmp_path / "films.clew", tmp_path / "run"
    Clew.index(FILMS, path).close()
    (tmp_path / "more.tsv").write_text("Tenet\tdirected_by\tChristopher Nolan\n")
    (tmp_path / "less.tsv").write_text("Heat\tdirected_by\tMichael Mann\n")
    lines = [{"id": str(n), "question": QUESTION, "gold": ["Christopher Nolan"]} for n in range(30)]
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "set" / "graph.tsv").write_text(FILMS.read_text())
    arguments = {
        "index": ("index", FILMS, "-o", path),
        "update": ("update", path, "--add", tmp_path / "more.tsv"),
        "ask": ("ask", FILMS, QUESTION),
        "eval": ("eval", tmp_path / "set", "--method", "auto", "--workers", 1, "--out", run),
    }[kind]
    took = time_of(*arguments, cache=cache)
    for number in range(ROUNDS):
        if kind == "ask" and number % 2:  # its cache is made anew
            subprocess.run(["rm", "-rf", cache], check=True)
        killed += kill_at_random(draw, took, *arguments, cache=cache)
        with Clew.open(path) as clew:
            assert clew.ask(QUESTION).text == "Christopher Nolan"
    assert time_of(*arguments, cache=cache) > 0
    if kind == "eval":
        records = [json.loads(line) for line in (run / "records.jsonl").read_text().splitlines()]
        assert Counter(r["id"] for r in records) == Counter(line["id"] for line in lines)
    print(kind, ROUNDS, "rounds,", killed, "killed")  # noqa: T201
    assert killed >= ROUNDS // 2


def test_a_query_process_that_is_killed_is_replaced(tmp_path):
    pytest.importorskip("ladybug", reason="ladybug is not installed")
    draw = random.Random(4)
    count = "MATCH (f:film) RETURN count(f)"
    with Clew.open(FILMS, cache_dir=tmp_path) as clew:
        expected = clew.query(count).rows
        for _ in range(ROUNDS):
            children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
            workers = [c for c in children if b"worker.py" in Path(f"/proc/{c}/cmdline").read_bytes()]
            for worker in workers:
                os.kill(int(worker), signal.SIGKILL)
            time.sleep(draw.choice([0, 0.01]))
            with suppress(QueryError):
                assert clew.query(count).rows == expected
            assert clew.query(count).rows == expected


def test_a_worker_of_a_server_that_is_killed_is_replaced(tmp_path):
    pytest.importorskip("uvicorn", reason="uvicorn is not installed (clew[serve])")
    import httpx

    from servers.served import Process, wait_for

    Clew.index(FILMS, tmp_path / "films.clew").close()
    server = Process(f"films={tmp_path / 'films.clew'}", "--workers", "2", folder=tmp_path)
    try:
        server.wait_ready()
        for number in range(ROUNDS):
            before = server.workers
            os.kill(before[number % 2], signal.SIGKILL)
            wait_for(lambda before=before: len(server.workers) == 2 and server.workers != before, 60)
            reply = httpx.get(f"{server.url}/v1/films/ask", params={"q": QUESTION}, timeout=30)
            assert reply.json()["text"] == "Christopher Nolan"
    finally:
        server.close()

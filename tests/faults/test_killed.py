"""Processes killed a hundred times: what is on the disk is whole, and the same command goes on."""

import json
import os
import random
import shutil
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
ROUNDS = 18
"""Of each command."""


def command(*arguments, cache):
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "CLEW_CACHE_DIR": str(cache)}
    told = [sys.executable, "-m", "clew", *map(str, arguments)]
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
    return subprocess.Popen(told, env=environment, start_new_session=True, **pipes)


def kill_at_random(draw, took, *arguments, cache):
    """Start a command, and kill it and its processes within about its time; whether it was killed."""
    running = command(*arguments, cache=cache)
    time.sleep(draw.uniform(0.4 * took, 1.2 * took))
    with suppress(ProcessLookupError):
        os.killpg(running.pid, signal.SIGKILL)
    return running.wait() == -signal.SIGKILL


def time_of(*arguments, cache):
    start = time.monotonic()
    assert command(*arguments, cache=cache).wait() == 0
    return time.monotonic() - start


@pytest.mark.parametrize("kind", ["index", "ask"])
def test_a_command_that_is_killed_leaves_what_is_whole(tmp_path, kind):
    draw, killed, cache = random.Random(kind), 0, tmp_path / "cache"
    path = tmp_path / "films.clew"
    Clew.index(FILMS, path).close()
    arguments = {"index": ("index", FILMS, "-o", path), "ask": ("ask", FILMS, QUESTION)}[kind]
    took = time_of(*arguments, cache=cache)
    for number in range(ROUNDS):
        if kind == "ask" and number % 2:  # its cache is made anew
            shutil.rmtree(cache, ignore_errors=True)
        killed += kill_at_random(draw, took, *arguments, cache=cache)
        with Clew.open(path) as clew:
            assert clew.ask(QUESTION).text == "Christopher Nolan"
    assert time_of(*arguments, cache=cache) > 0
    print(kind, ROUNDS, "rounds,", killed, "killed")  # noqa: T201
    assert killed >= ROUNDS // 2


def test_an_update_that_is_killed_is_done_or_not_begun(tmp_path):
    """A triple that is there is taken away, one that is not is added: each round has something to write."""
    draw, killed, done, cache = random.Random("update"), 0, 0, tmp_path / "cache"
    path, more = tmp_path / "films.clew", tmp_path / "more.tsv"
    Clew.index(FILMS, path).close()
    more.write_text("The Late Shift\tdirected_by\tBetty Thomas\n")
    with Clew.open(path) as clew:
        without = clew.opened.graph.triples
    took = time_of("update", path, "--add", more, cache=cache)
    is_there = True
    for _ in range(ROUNDS):
        change = "--remove" if is_there else "--add"
        killed += kill_at_random(draw, took, "update", path, change, more, cache=cache)
        with Clew.open(path) as clew:
            assert clew.ask(QUESTION).text == "Christopher Nolan"
            triples, found = clew.opened.graph.triples, clew.ask("Who directed The Late Shift?").text
        assert (triples - without, found == "Betty Thomas") in ((0, False), (1, True))
        done += (triples > without) != is_there
        is_there = triples > without
    assert time_of("update", path, "--remove" if is_there else "--add", more, cache=cache) > 0
    with Clew.open(path) as clew:
        assert clew.opened.graph.triples - without == (not is_there)
    print("update", ROUNDS, "rounds,", killed, "killed,", done, "done before")  # noqa: T201
    assert killed >= ROUNDS // 2
    assert done < ROUNDS


def test_an_evaluation_that_is_killed_goes_on(tmp_path):
    """Each round begins anew, is killed, and goes on: each question has one record in the end."""
    draw, killed, counts, cache = random.Random("eval"), 0, [], tmp_path / "cache"
    lines = [{"id": str(n), "question": QUESTION, "gold": ["Christopher Nolan"]} for n in range(40)]
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "set" / "graph.tsv").write_text(FILMS.read_text())

    def arguments(name):
        return ("eval", tmp_path / "set", "--method", "auto", "--workers", 1, "--out", tmp_path / str(name))

    time_of(*arguments("cached"), cache=cache)
    took = time_of(*arguments("timed"), cache=cache)
    for number in range(ROUNDS):
        killed += kill_at_random(draw, took, *arguments(number), cache=cache)
        records = tmp_path / str(number) / "records.jsonl"
        counts.append(len(records.read_text().splitlines()) if records.exists() else 0)
        assert time_of(*arguments(number), cache=cache) > 0
        ids = Counter(json.loads(line)["id"] for line in records.read_text().splitlines())
        assert ids == Counter(line["id"] for line in lines)
    print("eval", ROUNDS, "rounds,", killed, "killed, at", sorted(counts), "records")  # noqa: T201
    assert killed >= ROUNDS // 2
    assert any(0 < count < len(lines) for count in counts)


def test_a_query_process_that_is_killed_is_replaced(tmp_path):
    pytest.importorskip("ladybug", reason="ladybug is not installed")
    draw, killed = random.Random(4), 0
    count = "MATCH (f:film) RETURN count(f)"
    with Clew.open(FILMS, cache_dir=tmp_path) as clew:
        expected = clew.query(count).rows
        for _ in range(ROUNDS):
            children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
            workers = [c for c in children if b"worker.py" in Path(f"/proc/{c}/cmdline").read_bytes()]
            assert workers
            for worker in workers:
                os.kill(int(worker), signal.SIGKILL)
            time.sleep(draw.choice([0, 0.01]))
            with suppress(QueryError):
                assert clew.query(count).rows == expected
            assert clew.query(count).rows == expected
            killed += len(workers)
    print("query process", ROUNDS, "rounds,", killed, "killed")  # noqa: T201


def test_a_worker_of_a_server_that_is_killed_is_replaced(tmp_path):
    pytest.importorskip("uvicorn", reason="uvicorn is not installed (clew[serve])")
    import httpx

    from servers.served import Process, wait_for

    Clew.index(FILMS, tmp_path / "films.clew").close()
    server = Process(f"films={tmp_path / 'films.clew'}", "--workers", "2", folder=tmp_path)
    try:
        server.wait_ready(120)
        for number in range(ROUNDS):
            before = server.workers
            os.kill(before[number % 2], signal.SIGKILL)
            wait_for(lambda before=before: len(server.workers) == 2 and server.workers != before, 60)
            reply = httpx.get(f"{server.url}/v1/films/ask", params={"q": QUESTION}, timeout=30)
            assert reply.json()["text"] == "Christopher Nolan"
        print("serve", ROUNDS, "rounds, a worker killed in each")  # noqa: T201
    finally:
        server.close()

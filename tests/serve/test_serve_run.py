"""`clew serve` as a process: its start, its end, and workers that die."""

import os
import re
import signal
import socket
import threading
import time
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from clew import Clew
from clew.cli.app import app
from clew.opening.graph_view import index_sources
from clew.serve import run
from clew.serve.service import Graphs, ServedGraph
from servers.fake_server import events, piece, serving
from servers.served import FILMS, is_closed, wait_for

LITTLE_MEMORY = "from clew.foundation import system\nsystem.physical_memory = lambda: 1 << 16"
LINE = re.compile(r"serving films at http://127\.0\.0\.1:\d+")


def ask(process, question="Who directed Memento?", graph="films"):
    return httpx.post(f"{process.url}/v1/{graph}/ask", json={"question": question}, timeout=20)


def test_it_prints_its_address_forgets_who_goes_and_ends_cleanly_on_ctrl_c(process, films_index):
    server = process(f"films={films_index}")
    server.wait_ready()
    assert LINE.search(server.log)
    body = '{"question": "Which films share a director with Memento?"}'
    head = f"POST /v1/films/ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
    one = f"{head}Content-Type: application/json\r\n\r\n{body}".encode()
    for _ in range(5):  # clients that go with requests unanswered
        with socket.create_connection(("127.0.0.1", server.port)) as raw:
            raw.sendall(one * 20)
            time.sleep(0.2)
    assert ask(server).json()["text"] == "Christopher Nolan"
    assert server.end(signal.SIGINT) == 0
    assert "Traceback" not in server.log


def test_an_answer_in_progress_is_finished_when_it_is_told_to_end(process, films_index, monkeypatch):
    let = threading.Event()

    def reply(_request):
        assert let.wait(20)
        return events(piece("Answer: Christopher Nolan", "stop"))

    with serving(by=reply) as (fake, url):
        monkeypatch.setenv("OLLAMA_HOST", url)
        server = process(f"films={films_index}", "--llm", "ollama/x")
        server.wait_ready()
        replies = []
        body = {"question": "Who directed Memento?", "method": "llm"}
        asking = threading.Thread(
            target=lambda: replies.append(httpx.post(f"{server.url}/v1/films/ask", json=body, timeout=60))
        )
        asking.start()
        wait_for(lambda: fake.seen)  # the model has been asked
        server.process.send_signal(signal.SIGTERM)
        wait_for(lambda: is_closed(server.port))
        assert replies == []
        let.set()
        assert server.process.wait(60) == 0
        asking.join()
    assert [(reply.status_code, reply.json()["text"]) for reply in replies] == [
        (200, "Answer: Christopher Nolan")
    ]


@pytest.fixture
def people(tmp_path):
    """An index with large files."""
    person = "The long name of the person {}".format
    lines = (f"{person(n)}\tknows\t{person(n + 1)}\n" for n in range(20_000))
    (tmp_path / "people.tsv").write_text("".join(lines), "utf-8")
    index_sources([tmp_path / "people.tsv"], tmp_path / "people.clew")
    return tmp_path / "people.clew"


def large_files(index):
    large = [f for f in index.rglob("*.npy") if f.stat().st_size > 1 << 20]
    assert large
    return large


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="this system does not say what is mapped")
def test_no_file_of_an_index_can_be_truncated_beneath_a_server(process, people):
    large = large_files(people)
    server = process(f"people={people}")
    server.wait_ready()
    for pid in (server.process.pid, *server.workers):
        mapped = Path(f"/proc/{pid}/maps").read_text("utf-8")
        assert [f.name for f in large if str(f) in mapped] == []
    for file in large:
        os.truncate(file, 128)
    reply = httpx.get(f"{server.url}/v1/people/entities?prefix=the+long", timeout=20)
    assert (reply.status_code, "damaged" in reply.text) == (500, True)
    assert httpx.get(f"{server.url}/healthz", timeout=20).status_code == 200


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="this system does not say what is mapped")
def test_a_file_that_is_truncated_beneath_a_mapped_index_ends_no_server(process, people, tmp_path):
    server = process(f"people={people}", first=LITTLE_MEMORY)
    server.wait_ready()
    (before,) = server.workers
    assert any(str(file) in Path(f"/proc/{before}/maps").read_text("utf-8") for file in large_files(people))

    def status():
        try:
            return ask(server, "Who knows The long name of the person 15000?", "people").status_code
        except httpx.TransportError:
            return None

    assert status() == 200
    for file in large_files(people):
        os.truncate(file, 128)
    assert status() != 200
    index_sources([tmp_path / "people.tsv"], people)
    wait_for(lambda: status() == 200, 40)
    assert server.end() == 0


def test_a_worker_that_is_started_again_answers_from_the_index_as_it_is(process, tmp_path):
    graph, index = tmp_path / "films.tsv", tmp_path / "films.clew"
    graph.write_text("Memento\tdirected_by\tChristopher Nolan\n", "utf-8")
    index_sources([graph], index)
    server = process(f"films={index}")
    server.wait_ready()
    (worker,) = server.workers
    graph.write_text("Memento\tdirected_by\tMichael Mann\n", "utf-8")
    os.kill(worker, signal.SIGSTOP)  # it takes nothing up
    index_sources([graph], index)
    os.kill(worker, signal.SIGKILL)
    wait_for(lambda: server.workers not in ([], [worker]))
    assert ask(server).json()["text"] == "Michael Mann"


@pytest.mark.parametrize(
    ("args", "first", "told"),
    [
        (("--llm", "nonsense/x"), "", "nonsense"),
        (
            (),
            "from clew.cli import serve\nfrom clew.errors import InputError\n"
            "def fail(*_, **__): raise InputError('it is gone')\nserve._application = fail",
            "error: it is gone",
        ),
    ],
    ids=["spec", "worker"],
)
def test_an_error_that_every_worker_would_meet_ends_the_server(process, films_index, args, first, told):
    server = process(f"films={films_index}", *args, first=first)
    assert server.process.wait(60) == 2
    assert server.log.count(told) == 1
    assert ("serving" in server.log) == (not args)


def test_what_is_let_go_of_before_a_fork_is_made_again(films_index):
    graphs = Graphs([ServedGraph.of("films", lambda: Clew.open(films_index))])
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)  # a thread more than there was, as some libraries start one
    ask = Clew.ask

    def asked(self, question, **options):
        if not thread.is_alive():
            thread.start()
        return ask(self, question, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Clew, "ask", asked)
        graphs.prepare_for_forks()
    stop.set()
    thread.join()
    (graph,) = graphs
    assert graph.clew.ask("Who directed Memento?").text == "Christopher Nolan"


def test_workers_answer_and_one_that_is_killed_comes_back(process, films_index):
    server = process(f"films={films_index}", "--workers", "2", "--quiet")
    server.wait_ready()
    before = server.workers
    assert len(before) == 2
    statuses, broken, stop = [], [], threading.Event()

    def press():
        while not stop.is_set():
            try:
                statuses.append(ask(server).status_code)
            except httpx.TransportError as error:  # of the worker that is killed
                broken.append(error)

    threads = [threading.Thread(target=press) for _ in range(4)]
    for thread in threads:
        thread.start()
    wait_for(lambda: len(statuses) >= 8)
    os.kill(before[0], signal.SIGKILL)
    wait_for(lambda: len(set(server.workers) - {before[0]}) == 2)
    answered = len(statuses)
    wait_for(lambda: len(statuses) >= answered + 8)
    stop.set()
    for thread in threads:
        thread.join()
    assert before[1] in server.workers
    assert set(statuses) == {200}
    assert len(broken) <= 4
    # What both have counted is one count.
    counted = re.search(
        r'clew_http_requests_total{route="/v1/{graph}/ask",status="200"} (\d+)',
        httpx.get(f"{server.url}/metrics").text,
    )
    assert counted is not None
    assert int(counted[1]) >= len(statuses)
    assert server.end() == 0


@pytest.fixture
def refused(monkeypatch):
    """Run `clew serve` in this process, which has to end before it serves: its code and what it says."""
    monkeypatch.setattr(run, "serve", lambda *_: 0)

    def invoke(*args):
        told = CliRunner().invoke(app, ["serve", *args])
        return told.exit_code, told.stderr

    return invoke


def test_tokens_let_others_in(process, tmp_path, films_index):
    tokens = tmp_path / "tokens"
    tokens.write_text("# of the team\n" + "a" * 24 + "\n")
    server = process(f"films={films_index}", "--host", "0.0.0.0", "--token-file", str(tokens))  # noqa: S104
    server.wait_ready()
    assert ask(server).status_code == 401
    assert "a" * 24 not in server.log


@pytest.mark.parametrize("content", ["", "short\n", "with spaces in it that is long\n", "é" * 30])
def test_tokens_that_are_none_are_refused(refused, tmp_path, content):
    tokens = tmp_path / "tokens"
    tokens.write_text(content)
    code, told = refused(str(FILMS), "--token-file", str(tokens))
    assert code == 2
    assert content.strip() == "" or content.strip() not in told


def test_a_port_that_is_taken_is_said(refused, films):
    code, told = refused(str(FILMS), "--port", str(films.port))
    assert (code, "Give another --port" in told) == (2, True)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((str(FILMS), "--host", "0.0.0.0"), "--token-file FILE"),  # noqa: S104 (refused)
        ((f"films={FILMS}", str(FILMS), "--port", "0"), "NAME="),
        (("nothing.tsv", "--port", "0"), "nothing.tsv"),
    ],
)
def test_what_cannot_be_served_is_refused(refused, args, said):
    code, told = refused(*args)
    assert (code, said in told) == (2, True)


def test_spending_limits_hold_over_all_workers_and_those_that_follow_a_killed_one(
    process, films_index, monkeypatch
):
    with serving(events(piece("Answer: Heat", "stop"))) as (fake, url):
        monkeypatch.setenv("OLLAMA_HOST", url)
        limits = ("--llm", "ollama/x", "--budget", "calls=3")
        server = process(f"films={films_index}", "--workers", "2", "--quiet", *limits)
        server.wait_ready()
        body = {"question": "Who directed Memento?", "method": "llm"}

        def reasons(count):
            asked = (httpx.post(f"{server.url}/v1/films/ask", json=body, timeout=20) for _ in range(count))
            return [(reply.json()["abstained"] or {}).get("reason") for reply in asked]

        assert reasons(2) == [None, None]
        before = server.workers
        os.kill(before[0], signal.SIGBUS)
        wait_for(lambda: len(set(server.workers) - {before[0]}) == 2)
        assert reasons(6).count("budget") == 5
        assert len(fake.seen) == 3
        counted = httpx.get(f"{server.url}/metrics").text
        assert 'clew_model_calls_total{graph="films",model="ollama/x"} 3.0' in counted
        assert server.end(signal.SIGTERM) == 0

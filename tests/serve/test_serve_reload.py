"""An index that is updated, replaced, corrupted or removed while it is served."""

import shutil
import threading

import httpx
import pytest

from clew.index.update.edits import EditFiles
from clew.opening.graph_view import index_sources, update_index_files
from servers.served import wait_for


@pytest.fixture
def index(tmp_path):
    source = tmp_path / "films.tsv"
    source.write_text(
        "Memento\tdirected_by\tChristopher Nolan\nMemento\tyear\t2000\nHeat\tdirected_by\tMichael Mann\n"
    )
    path = tmp_path / "films.clew"
    index_sources([source], path)
    return path


def ask(server, question):
    return httpx.post(f"{server.url}/v1/films/ask", json={"question": question}, timeout=20)


def test_an_update_is_taken_up_without_a_failed_request(running, index, tmp_path):
    server = running({"films": index})
    statuses, stop = [], threading.Event()

    def press():
        with httpx.Client(base_url=server.url, timeout=20) as client:
            while not stop.is_set():
                statuses.append(client.post("/v1/films/ask", json={"question": "Who directed Heat?"}))

    threads = [threading.Thread(target=press) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert ask(server, "Who directed Tenet?").json()["abstained"] is not None
    (tmp_path / "new.tsv").write_text("Tenet\tdirected_by\tChristopher Nolan\n")
    update_index_files(index, EditFiles([tmp_path / "new.tsv"]))
    wait_for(lambda: ask(server, "Who directed Tenet?").json()["text"] == "Christopher Nolan")
    stop.set()
    for thread in threads:
        thread.join()
    assert len(statuses) > 10
    assert {(reply.status_code, reply.json()["text"]) for reply in statuses} == {(200, "Michael Mann")}
    assert httpx.get(f"{server.url}/v1/graphs").json()["graphs"][0]["generation"] == 2
    assert 'clew_reloads_total{graph="films"} 1.0' in httpx.get(f"{server.url}/metrics").text


def test_an_index_that_is_damaged_is_answered_from_as_it_was(running, index):
    server = running({"films": index})
    manifest = index / "manifest.json"
    whole = manifest.read_bytes()
    manifest.write_bytes(whole.replace(b'"generation": 1', b'"generation": 2'))
    wait_for(lambda: "cannot be opened" in httpx.get(f"{server.url}/readyz").text)
    reply = httpx.get(f"{server.url}/readyz")
    assert (reply.status_code, str(index) in reply.text) == (200, False)
    assert ask(server, "Who directed Heat?").json()["text"] == "Michael Mann"
    manifest.write_bytes(whole)
    wait_for(lambda: httpx.get(f"{server.url}/readyz").text == "films: ok\n")


def test_a_file_that_is_damaged_under_the_server_is_not_ready(running, index):
    server = running({"films": index})
    file = next(index.glob("gen-*/graph.out.neighbour.npy"))
    whole = file.read_bytes()
    file.write_bytes(whole[:-4] + b"\x00\x00\x00\x07")
    wait_for(lambda: httpx.get(f"{server.url}/readyz").status_code == 503)
    told = httpx.get(f"{server.url}/readyz").text
    assert "neighbour.npy: damaged" in told
    assert str(index) not in told
    assert ask(server, "Who directed Heat?").status_code == 500
    assert httpx.get(f"{server.url}/healthz").status_code == 200
    file.write_bytes(whole)
    wait_for(lambda: httpx.get(f"{server.url}/readyz").text == "films: ok\n")
    assert ask(server, "Who directed Heat?").json()["text"] == "Michael Mann"


def test_an_index_that_is_removed_is_answered_from_as_it_was(running, index):
    server = running({"films": index})
    shutil.rmtree(index)
    wait_for(lambda: "cannot be opened" in httpx.get(f"{server.url}/readyz").text)
    assert ask(server, "Who directed Heat?").json()["text"] == "Michael Mann"


def test_an_index_that_is_replaced_is_taken_up(running, index, tmp_path):
    server = running({"films": index})
    other = tmp_path / "other.tsv"
    other.write_text("Jaws\tdirected_by\tSteven Spielberg\nHeat\tdirected_by\tNobody\n")
    index_sources([other], index)
    wait_for(lambda: ask(server, "Who directed Jaws?").json()["text"] == "Steven Spielberg")
    assert ask(server, "Who directed Heat?").json()["text"] == "Nobody"

"""The files of the page: kept by browsers, and asked for again only when they changed."""

import os

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from clew.serve.app import PageFiles


@pytest.mark.parametrize("path", ["/", "/app.js", "/vendor/cytoscape.esm.min.mjs"])
def test_a_file_that_a_browser_has_is_not_sent_again(films, path):
    first = films.client.get(path)
    assert first.headers["cache-control"] == "no-cache"
    again = films.client.get(path, headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["content-security-policy"] == first.headers["content-security-policy"]


def test_a_file_of_another_version_is_sent(films):
    other = films.client.get("/app.js", headers={"if-none-match": '"other"'})
    assert other.status_code == 200
    assert other.content


def test_files_of_one_time_and_size_are_told_apart(tmp_path):
    tags = list[str]()
    for version, text in (("1", "let a = 1"), ("2", "let a = 2")):
        folder = tmp_path / version
        folder.mkdir()
        (folder / "app.js").write_text(text)
        os.utime(folder / "app.js", (0, 0))
        client = TestClient(Starlette(routes=[Mount("/", PageFiles(directory=folder))]))
        tags.append(client.get("/app.js").headers["etag"])
    assert tags[0] != tags[1]


def test_an_answer_is_not_kept(films):
    reply = films.client.post("/v1/films/ask", json={"question": "Who directed Memento?"})
    assert reply.headers["cache-control"] == "no-store"

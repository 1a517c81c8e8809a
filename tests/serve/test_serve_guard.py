"""Who is let in, and what every response carries."""

import contextlib
import hmac
import logging
import os
import socket

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from clew.serve import run
from clew.serve.app import PageFiles
from clew.serve.run import listen
from clew.serve.settings import Access, ServeSettings
from servers.served import small

TOKEN, OTHER = "t" * 20, "u" * 20


@pytest.fixture(scope="module")
def guarded(films_index):
    from servers.served import Running

    access = Access((TOKEN, OTHER), ("kb.example",), ("https://app.example",))
    running = Running({"films": films_index}, access=access, limits=small(body_seconds=0.3), mcp=True)
    yield running
    running.close()


def ask(running, **headers):
    body = {"question": "Who directed Memento?"}
    return running.client.post("/v1/films/ask", json=body, headers=headers)


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8765", "localhost.evil.example", "a@localhost", "", "[::1", "::1]", "[x]"],
)
def test_a_name_of_a_stranger_is_refused(films, host):
    """As a page does whose name was turned to this machine's address."""
    assert films.client.get("/v1/graphs", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("host", ["localhost", "localhost:99", "127.0.0.1:1", "[::1]:8765", "10.0.0.1"])
def test_an_address_is_a_name(films, host):
    assert films.client.get("/v1/graphs", headers={"host": host}).status_code == 200


ASKED = "POST /v1/films/ask HTTP/1.1\r\nHost: localhost\r\n"


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        # Two names are none; a body in another encoding; one that is too long, which is not asked for.
        (f"{ASKED}Host: evil.example\r\nConnection: close\r\n\r\n", 421),
        (f"{ASKED}Transfer-Encoding: gzip, chunked\r\nConnection: close\r\n\r\n0\r\n\r\n", 501),
        (f"{ASKED}Content-Length: 9000000\r\nExpect: 100-continue\r\n\r\n", 413),
    ],
    ids=["names", "encoding", "length"],
)  # fmt: skip
def test_a_request_that_is_not_taken_has_its_status(films, request_, status):
    assert exchange(films, request_.encode())[0].startswith(f"HTTP/1.1 {status} ".encode())


def test_a_body_that_is_too_long_ends_the_connection(films):
    head = f"{ASKED}Transfer-Encoding: chunked\r\n\r\n"
    reply, is_closed = exchange(films, (head + f"10000\r\n{' ' * 65_536}\r\n" * 18).encode())
    assert (reply.startswith(b"HTTP/1.1 413 "), is_closed) == (True, True)


def test_a_name_may_be_allowed(guarded):
    headers = {"host": "kb.example", "authorization": f"Bearer {TOKEN}"}
    assert guarded.client.get("/v1/graphs", headers=headers).status_code == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", "http://[::1"])
def test_a_page_of_another_origin_is_refused(films, origin):
    reply = ask(films, origin=origin)
    assert reply.status_code == 403
    assert "access-control-allow-origin" not in reply.headers


def test_the_own_page_asks(films):
    assert ask(films, origin=films.url).status_code == 200


def test_an_origin_may_be_allowed(guarded):
    reply = ask(guarded, origin="https://app.example", authorization=f"Bearer {TOKEN}")
    assert reply.status_code == 200
    assert reply.headers["access-control-allow-origin"] == "https://app.example"


def test_a_browser_may_look_before_it_asks(guarded):
    headers = {"access-control-request-method": "POST", "authorization": f"Bearer {TOKEN}"}
    mine = guarded.client.options("/v1/films/ask", headers={**headers, "origin": "https://app.example"})
    other = guarded.client.options("/v1/films/ask", headers={**headers, "origin": "https://evil.example"})
    assert (mine.status_code, other.status_code) == (204, 403)


@pytest.mark.parametrize(
    ("path", "given"),
    [
        ("/v1/graphs", ""), ("/v1/graphs", f"Bearer {TOKEN}x"), ("/metrics", f"Basic {TOKEN}"),
        ("/mcp", TOKEN), ("/v1/openapi.json", f"Bearer {TOKEN[:-1]}"), ("/metrics", "Bearer"),
    ],
)  # fmt: skip
def test_without_a_right_token_nothing_is_told(guarded, path, given):
    reply = guarded.client.get(path, headers={"authorization": given})
    assert (reply.status_code, reply.headers["www-authenticate"]) == (401, 'Bearer realm="clew"')


@pytest.mark.parametrize("size", [60_000, 900_000, 4_000_000])
def test_a_refusal_arrives_while_a_body_is_sent(guarded, size):
    for _ in range(5):
        reply = guarded.client.post("/v1/films/ask", content=b"x" * size)
        assert reply.status_code == 401


@pytest.mark.parametrize("token", [TOKEN, OTHER])
def test_each_right_token_is_taken(guarded, token):
    assert ask(guarded, authorization=f"Bearer {token}").json()["text"] == "Christopher Nolan"


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/", "/app.js", "/vendor/cytoscape.esm.min.mjs"])
def test_page_and_signs_of_life_need_no_token(guarded, path):
    assert guarded.client.get(path).status_code == 200


def test_tokens_are_compared_in_constant_time(guarded, monkeypatch):
    compared = []
    real = hmac.compare_digest
    monkeypatch.setattr(hmac, "compare_digest", lambda a, b: compared.append(b) or real(a, b))
    ask(guarded, authorization="Bearer wrong")
    assert compared == [TOKEN.encode(), OTHER.encode()]


def test_tokens_are_in_no_log(guarded, caplog):
    caplog.set_level(logging.DEBUG)
    ask(guarded, authorization=f"Bearer {TOKEN}")
    ask(guarded, authorization="Bearer wrong-token-of-mine")
    told = " ".join(str(vars(record)) for record in caplog.records) + repr(Access((TOKEN,)))
    assert TOKEN not in told
    assert "wrong-token-of-mine" not in told


@pytest.mark.parametrize("path", ["/", "/v1/graphs", "/nothing", "/healthz", "/docs.html"])
def test_every_response_says_what_a_page_may_do(films, path):
    headers = films.client.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"


def test_a_body_that_does_not_come_is_408(guarded):
    with socket.create_connection(("127.0.0.1", guarded.port), timeout=60) as slow:
        slow.sendall(
            b"POST /v1/films/ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n"
            + f"Authorization: Bearer {TOKEN}\r\n\r\n".encode()
            + b"{"
        )
        assert slow.recv(100).startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH"])
def test_nothing_can_be_written(films, method):
    assert films.client.request(method, "/v1/films/info").status_code == 405


@pytest.mark.parametrize(
    "path", ["/../pyproject.toml", "/%2e%2e/%2e%2e/app.py", "/vendor/../../app.py", "//etc/passwd"]
)
def test_no_other_file_is_served(films, path):
    with socket.create_connection(("127.0.0.1", films.port)) as raw:
        raw.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        assert b" 404 " in raw.recv(100)


def exchange(server, data, seconds=5):
    """What is answered to bytes, and whether the connection is closed then."""
    with socket.create_connection(("127.0.0.1", server.port)) as sent:
        sent.settimeout(seconds)
        sent.sendall(data)
        heard = b""
        with contextlib.suppress(TimeoutError):
            while piece := sent.recv(65_536):
                heard += piece
            return heard, True
    return heard, False


def test_idle_connections_do_not_keep_others_out(running, films_index, monkeypatch):
    monkeypatch.setattr(run, "MOST_CONNECTIONS", 20)
    server = running({"films": films_index})
    idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(60)]
    assert server.client.get("/healthz").text == "ok\n"
    for one in idle:
        one.close()


def test_a_client_has_so_many_connections(running, films_index, monkeypatch):
    monkeypatch.setattr(run, "MOST_OF_CLIENT", 5)
    server = running({"films": films_index})
    with socket.create_connection(("127.0.0.1", server.port)) as first:
        rest = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(5)]
        first.settimeout(5)
        assert first.recv(1) == b""  # closed, as it was idle longest
        for one in rest:
            one.close()


@pytest.mark.parametrize("begun", [b"", b"GET /healthz HTTP/1.1\r\nHost: loc"])
def test_a_head_has_to_come_in_time(running, films_index, monkeypatch, begun):
    monkeypatch.setattr(run, "HEAD_SECONDS", 0.3)
    server = running({"films": films_index})
    assert exchange(server, begun) == (b"", True)


def test_a_request_of_two_lengths_is_refused_and_nothing_behind_it_is_read(films):
    head = b"POST /v1/films/ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n"
    behind = b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    heard, closed = exchange(films, head + behind)
    assert heard.startswith(b"HTTP/1.1 400 ")
    assert heard.count(b"HTTP/1.1") == 1
    assert closed


def test_numbers_are_finite(films):
    for number in ("NaN", "Infinity", "1e999"):
        settings = f'{{"temperature": {number}}}'
        body = f'{{"question": "Who?", "method": "simgrag", "settings": {settings}}}'
        reply = films.client.post("/v1/films/ask", content=body, headers={"content-type": "application/json"})
        assert reply.status_code == 400
        assert "finite" in reply.json()["detail"]


def test_responses_are_not_held_back():
    (opened,) = listen(ServeSettings(port=0))
    with opened, socket.create_connection(opened.getsockname()), opened.accept()[0] as accepted:
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


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

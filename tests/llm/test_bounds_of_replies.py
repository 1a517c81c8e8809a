"""Replies without end, bombs, depths and redirections: each is an error that says so, and fills no memory."""

import gzip
import json
import socket
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from clew.errors import EmbedderError
from clew.foundation.bounded_http import MOST_REPLY_BYTES
from clew.llm import Settings, ask, open_model, run_sync
from clew.llm.types import ModelFailed
from clew.text.embedders import OpenAIEmbedder
from servers.fake_server import Answer, completion, needs, serving

pytestmark = needs("openai", "anthropic")
NAMES = ("vllm/fake", "anthropic/fake")
REQUEST = ask("hello")
ZIPPED = {"content-encoding": "gzip"}


def failure(url: str, name: str, *, streamed: bool = False) -> str:
    """What the error of a question says."""
    base = f"{url}/v1" if name.startswith("vllm") else url
    listener = (lambda *_: None) if streamed else None
    model = open_model(Settings(name, base_url=base, api_key="k", attempts=1, timeout=20), listener)
    with pytest.raises(ModelFailed) as caught:
        run_sync(model.complete(REQUEST))
    run_sync(model.close())
    return str(caught.value)


@contextmanager
def endless(head: bytes, block: bytes) -> Iterator[tuple[str, list[int]]]:
    """A server that sends without end; yields its address and how many bytes each client took."""
    taken: list[int] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            with client:
                client.recv(65536)
                count = 0
                try:
                    client.sendall(head)
                    while True:
                        client.sendall(block)
                        count += len(block)
                except OSError:
                    taken.append(count)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", taken
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(10)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("status", [b"200 OK", b"500 Oops"])
def test_an_endless_body_is_not_read_on(name: str, status: bytes):
    head = b"HTTP/1.1 %s\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n" % status
    with endless(head, b" " * 65536) as (url, taken):
        assert "more than 32 MiB" in failure(url, name)
    assert len(taken) == 1
    assert taken[0] < 1.5 * MOST_REPLY_BYTES


@pytest.mark.parametrize("name", NAMES)
def test_an_endless_stream_is_not_read_on(name: str):
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
    with endless(head, b": " + b"x" * 65000 + b"\n\n") as (url, taken):
        assert "more than 32 MiB" in failure(url, name, streamed=True)
    assert taken[0] < 1.5 * MOST_REPLY_BYTES


@pytest.mark.parametrize("name", NAMES)
def test_a_small_body_that_grows_is_not_read(name: str):
    bomb = gzip.compress(b" " * (2 * MOST_REPLY_BYTES), 1)
    with serving(Answer(bomb, headers=ZIPPED)) as (_, url):
        assert "more than 32 MiB" in failure(url, name)


def test_a_length_that_is_said_is_believed():
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 3000000000\r\n\r\n"
    with endless(head, b" " * 65536) as (url, taken):
        assert "more than 32 MiB" in failure(url, "vllm/fake")
    assert taken[0] < MOST_REPLY_BYTES / 2


@pytest.mark.parametrize("squeeze", [gzip.compress, zlib.compress])
def test_a_compressed_reply_is_read(squeeze):
    encoding = "gzip" if squeeze is gzip.compress else "deflate"
    body = squeeze(json.dumps(completion("yes " * 50_000)).encode())
    with serving(Answer(body, headers={"content-encoding": encoding})) as (fake, url):
        model = open_model(Settings("vllm/fake", base_url=f"{url}/v1", api_key="k"))
        assert run_sync(model.complete(REQUEST)).text == "yes " * 50_000
        run_sync(model.close())
    assert fake.seen[0].headers["accept-encoding"] == "gzip, deflate"


@pytest.mark.parametrize(
    ("encoding", "says"), [("gzip", "cannot be decompressed"), ("br", "not asked for ('br')")]
)
def test_an_encoding_that_is_none_is_said(encoding: str, says: str):
    with serving(Answer(b"{}", headers={"content-encoding": encoding})) as (_, url):
        assert says in failure(url, "vllm/fake")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("status", [302, 307, 308])
def test_a_prompt_goes_to_no_other_origin(name: str, status: int):
    with serving(Answer(completion("yes"))) as (other, away):
        with serving(Answer(b"", status, {"location": f"{away}/v1/chat/completions"})) as (_, url):
            assert f"sends on to {away}" in failure(url, name)
        assert other.seen == []


def test_a_redirection_within_the_origin_is_followed():
    moved = Answer(b"", 307, {"location": "/v2/chat/completions"})
    with serving(moved, Answer(completion("yes"))) as (fake, url):
        model = open_model(Settings("vllm/fake", base_url=f"{url}/v1", api_key="k"))
        assert run_sync(model.complete(REQUEST)).text == "yes"
        run_sync(model.close())
    assert [seen.path for seen in fake.seen] == ["/v1/chat/completions", "/v2/chat/completions"]


@pytest.mark.parametrize(
    "answer",
    [
        Answer(gzip.compress(b" " * (2 * MOST_REPLY_BYTES), 1), headers=ZIPPED),
        Answer(b"", 307, {"location": "http://127.0.0.1:9/v1/embeddings"}),
        Answer(b"", 307, {"location": "http://[::1/"}),
        Answer(b"[" * 200_000),
    ],
    ids=["bomb", "redirection", "no address", "depth"],
)
def test_embeddings_are_held_to_the_same(answer: Answer):
    with serving(answer) as (_, url), pytest.raises(EmbedderError) as caught:
        OpenAIEmbedder.connect("fake", base_url=f"{url}/v1", api_key="k", retries=0)
    assert "fake at http://127.0.0.1" in str(caught.value)

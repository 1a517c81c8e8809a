"""An HTTP server on localhost that does what a test tells it: what no healthy server can be made to do."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from typing import Any

import pytest


def needs(*packages: str) -> pytest.MarkDecorator:
    """Skip tests without packages, which are not imported for it: each worker collects all tests."""
    missing = [package for package in packages if find_spec(package) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


@dataclass
class Answer:
    """What to answer: `body` is JSON, or bytes as they are. `cut` closes the connection in mid-body."""

    body: Any = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False


@dataclass
class Seen:
    """A request that came in."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class FakeServer:
    """Answers with a list in order, the last one for ever, or by a function; `seen` are the requests."""

    def __init__(self, answers: Sequence[Answer] | Callable[[Seen], Answer]) -> None:
        self.answers = answers
        self.seen: list[Seen] = []
        self.lock = threading.Lock()

    def next(self, seen: Seen) -> Answer:
        with self.lock:
            self.seen.append(seen)
            number = len(self.seen)
        if callable(self.answers):
            return self.answers(seen)
        return self.answers[min(number, len(self.answers)) - 1]


def _handler(fake: FakeServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            size = int(self.headers.get("content-length") or 0)
            body = json.loads(self.rfile.read(size)) if size else {}
            answer = fake.next(Seen(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
            content = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
            self.send_response(answer.status)
            headers = {"content-type": "application/json", "connection": "close", **answer.headers}
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(content) + (100 if answer.cut else 0)))
            self.end_headers()
            self.wfile.write(content)
            self.close_connection = True

        do_GET = do_POST

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


@contextmanager
def serving(*answers: Answer, by: Callable[[Seen], Answer] | None = None) -> Iterator[tuple[FakeServer, str]]:
    """Serve answers; yields the server and its base URL (without /v1)."""
    fake = FakeServer(by or answers)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(fake))
    server.daemon_threads = False
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield fake, f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def completion(text: str, **more: Any) -> dict[str, Any]:
    """Body of an OpenAI chat completion."""
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "fake",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7},
        **more,
    }


def events(*data: Any, end: bool = True) -> Answer:
    """A stream of server-sent events, of OpenAI's kind or (with `event` names) of Anthropic's."""
    lines: list[str] = []
    for item in data:
        if "type" in item and item["type"] != "chunk":
            lines.append(f"event: {item['type']}")
        lines.append(f"data: {json.dumps(item)}\n")
    text = "\n".join(lines) + ("\ndata: [DONE]\n\n" if end else "\n")
    return Answer(text.encode(), headers={"content-type": "text/event-stream"}, cut=not end)


def piece(text: str | None, finish: str | None = None) -> dict[str, Any]:
    """One event of an OpenAI stream."""
    return {
        "id": "1",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "fake",
        "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}],
    }


def message(*texts: str, stop: str | None = "end_turn") -> dict[str, Any]:
    """Body of an Anthropic message."""
    return {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "fake",
        "content": [{"type": "text", "text": text} for text in texts],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 3},
    }


def message_events(*texts: str, stop: str | None = "end_turn", end: bool = True) -> Answer:
    """An Anthropic message as a stream."""
    parts: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message(stop=None), "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    ]
    for text in texts:
        delta = {"type": "text_delta", "text": text}
        parts.append({"type": "content_block_delta", "index": 0, "delta": delta})
    if end:
        parts.append({"type": "content_block_stop", "index": 0})
        delta = {"stop_reason": stop, "stop_sequence": None}
        parts.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 9}})
        parts.append({"type": "message_stop"})
    answer = events(*parts, end=end)
    return Answer(answer.body.replace(b"data: [DONE]\n\n", b""), headers=answer.headers, cut=not end)

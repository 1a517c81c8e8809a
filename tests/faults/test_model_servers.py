"""Model servers that do what none should, by the hundred: each is an error that says so, or a reply."""

import gzip
import json
from itertools import product

import pytest

from clew.errors import LlmError
from clew.llm import Settings, ask, open_model, run_sync
from servers.fake_server import Answer, completion, events, message, message_events, needs, piece, serving

pytestmark = [pytest.mark.slow, needs("openai", "anthropic")]

KEY = "sk-very-secret-4711"
WIRES = ("vllm/fake", "anthropic/fake", "ollama/fake")
DEEP = 100_000
BODIES = {
    "empty": b"", "null": b"null", "list": b"[]", "number": b"1e999", "text": b'"yes"',
    "cut": b'{"choices": [', "nan": b'{"usage": NaN}', "zeros": b"\0" * 1_000,
    "not UTF-8": b'{"choices": "\xff\xfe"}', "deep": b"[" * DEEP, "deep objects": b'{"a":' * DEEP,
    "html": b"<html>", "surrogate": b'{"choices": [{"message": {"content": "\\ud800"}}]}',
    "BOM": b"\xef\xbb\xbf{}", "error": b'{"error": {"message": "' + KEY.encode() + b'"}}',
    "error text": b'{"error": "' + KEY.encode() + b'"}', "error null": b'{"error": null}',
    "no gzip": b"\x1f\x8b\x08", "spaces": b" " * 1_000_000,
}  # fmt: skip
USAGES = (
    {}, None, [], {"prompt_tokens": -5}, {"prompt_tokens": 1e999}, {"prompt_tokens": "7"},
    {"total_tokens": 2**70}, {"prompt_tokens": 1.5},
)  # fmt: skip
CHOICES = (
    [], None, {}, [None], [{}], [{"message": None}], [{"message": {}}], [{"message": {"content": None}}],
    [{"message": {"content": 5}}], [{"message": {"content": [{"type": "text"}]}}],
    [{"message": {"role": "system", "content": "x"}}], [{"finish_reason": "cow"}],
    [{"message": {"content": "x" * 3_000_000}}], [{"message": {"content": "\x00\x1b[2J"}}],
    [{"message": {"tool_calls": [{}]}}],
    [{"message": {"tool_calls": [{"function": {"name": "os.system", "arguments": "{"}}]}}],
    [{"message": {"refusal": "no"}}], [{"index": -1, "message": {"content": "x"}}] * 500,
)  # fmt: skip
HEADERS = (
    {"content-type": "text/html"}, {"content-type": ""}, {"content-encoding": "gzip"},
    {"content-encoding": "br"}, {"retry-after": "-1"}, {"retry-after": "1e9"}, {"retry-after": "nan"},
    {"set-cookie": "a=" + "b" * 5_000}, {"x": "y" * 60_000}, {"location": "http://[::1/"},
    {"location": "file:///etc/passwd"}, {"location": "//evil.example/"}, {"location": ""},
    {"content-type": "application/json; charset=utf-99"},
)  # fmt: skip
STREAMS = (
    events(),
    events(end=False),
    events({"type": "chunk"}),
    events({}),
    events({"type": "chunk", "choices": None}),
    events(piece(None)),
    events(piece("yes"), end=False),
    events(piece("\ud83d"), piece("yes", "stop")),
    events(piece("yes", "cow")),
    events({"error": {"message": KEY}}),
    Answer(b"data: {\n\n", headers={"content-type": "text/event-stream"}),
    Answer(b"data: \xff\n\n", headers={"content-type": "text/event-stream"}),
    Answer(b"data\n" * 50_000, headers={"content-type": "text/event-stream"}),
    Answer(b"event: error\ndata: " + KEY.encode() + b"\n\n", headers={"content-type": "text/event-stream"}),
    message_events("yes", end=False),
    message_events("yes", stop="cow"),
    events({"type": "error", "error": {"type": "x", "message": KEY}}),
    events({"type": "content_block_delta", "index": 99, "delta": {"type": "text_delta", "text": "x"}}),
    events({"type": "message_start"}),
    Answer(
        gzip.compress(b" " * (64 << 20), 1),
        headers={"content-type": "text/event-stream", "content-encoding": "gzip"},
    ),
)


def answers():
    """A name, a wire, an answer, and whether it is streamed."""
    for wire, (name, body) in product(WIRES, BODIES.items()):
        yield name, wire, Answer(body), False
    for wire, usage in product(WIRES, USAGES):
        body = message("yes") if wire.startswith("anthropic") else completion("yes")
        yield f"usage {usage}", wire, Answer({**body, "usage": usage}), False
    for choices in CHOICES:
        yield (
            f"choices {str(choices)[:60]}",
            "vllm/fake",
            Answer({**completion("yes"), "choices": choices}),
            False,
        )
    for content in (
        None,
        {},
        [None],
        [{}],
        [{"type": "text"}],
        [{"type": "tool_use"}],
        [{"type": "cow", "text": "x"}],
        "yes",
        5,
    ):
        yield f"content {content}", "anthropic/fake", Answer({**message("yes"), "content": content}), False
    for wire, status, headers in product(WIRES, (200, 302, 429), HEADERS):
        yield f"{status} {str(headers)[:60]}", wire, Answer(completion("yes"), status, headers), False
    for wire, status in product(WIRES, (100, 204, 205, 206, 304, 402, 418, 451, 507, 599, 999)):
        yield f"status {status}", wire, Answer(f'{{"error": "{KEY}"}}'.encode(), status), False
    for wire, (number, stream) in product(WIRES, enumerate(STREAMS)):
        yield f"stream {number}", wire, stream, True


CASES = list(answers())


def test_no_server_ends_more_than_its_call():
    assert len(CASES) >= 130
    replies, said = 0, []
    for name, wire, answer, is_streamed in CASES:
        with serving(answer) as (_, url):
            base = f"{url}/v1" if wire.startswith("vllm") else url
            settings = Settings(wire, base_url=base, api_key=KEY, attempts=1, timeout=10)
            model = open_model(settings, (lambda *_: None) if is_streamed else None)
            try:
                reply = run_sync(model.complete(ask("hello")))
                replies += 1
                assert isinstance(reply.text, str)
                json.dumps([reply.usage.input_tokens, reply.usage.output_tokens], allow_nan=False)
                assert reply.usage.input_tokens >= 0, name
            except LlmError as error:
                said.append((wire, name, str(error)))
            except Exception as error:
                error.add_note(f"{wire}: {name}")
                raise
            finally:
                run_sync(model.close())
    assert [one for one in said if KEY in one[2] or "report" in one[2]] == []
    print(len(CASES), "servers;", replies, "replies;", len(CASES) - replies, "errors")  # noqa: T201

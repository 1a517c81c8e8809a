"""What no healthy server does: each is a typed error or a whole reply, on both wires and streamed or not."""

import json
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from clew.errors import LlmError
from clew.llm import Settings, ask, open_model, run_sync
from clew.llm.managed import ManagedModel
from clew.llm.types import (
    ContextOverflow,
    KeyRefused,
    ModelFailed,
    ModelRefused,
    ModelUnreachable,
    RateLimited,
)
from clew.types import Usage
from servers.fake_server import (
    Answer,
    completion,
    events,
    message,
    message_events,
    needs,
    piece,
    serving,
)

pytestmark = needs("openai", "anthropic")
KEY = "sk-very-secret-1"
REQUEST = ask("hello")
HTML = {"content-type": "text/html"}
EVENTS = {"content-type": "text/event-stream"}


@dataclass(frozen=True)
class Colour:
    name: str


def failure(status: int, text: str, headers: dict[str, str] | None = None, **more: Any) -> Answer:
    """An error as OpenAI's and Anthropic's APIs write it."""
    kind = more.pop("kind", "an_error")
    return Answer({"type": "error", "error": {"message": text, "type": kind, **more}}, status, headers or {})


def model_at(
    url: str, name: str = "vllm/fake", heard: list[str] | None = None, **options: Any
) -> ManagedModel:
    base_url = f"{url}/v1" if "openai" in WIRES.get(name, "openai") else url
    listener = None if heard is None else lambda _, text: heard.append(text)
    settings = Settings(name, base_url=base_url, api_key=KEY, **{"attempts": 1, **options})
    return open_model(settings, listener)


def outcome(name: str, *answers: Answer, streamed: bool = False, **options: Any) -> tuple[Any, int]:
    """The reply or the error that answers lead to, and how many requests were sent."""
    with serving(*answers) as (fake, url):
        model = model_at(url, name, [] if streamed else None, **options)
        try:
            return run_sync(model.complete(REQUEST)), len(fake.seen)
        except LlmError as error:
            return error, len(fake.seen)
        finally:
            run_sync(model.close())


STATUSES = {
    "400": (failure(400, "bad"), ModelRefused, "status 400"),
    "401": (failure(401, f"key {KEY}"), KeyRefused, "Check the key"),
    "403": (failure(403, f"key {KEY}"), KeyRefused, "Check the key"),
    "404": (failure(404, "no such model"), ModelRefused, "Check the model name"),
    "408": (failure(408, "slow"), ModelFailed, "status 408"),
    "422": (failure(422, "bad"), ModelRefused, "status 422"),
    "429": (failure(429, "slow", kind="rate_limit_error"), RateLimited, "Lower the concurrency"),
    "500": (failure(500, "oops"), ModelFailed, "status 500"),
    "503": (failure(503, "down"), ModelFailed, "status 503"),
    "529": (failure(529, "busy", kind="overloaded_error"), ModelFailed, "status 529"),
    "502 of a proxy": (Answer(b"<html>proxy error</html>", 502, HTML), ModelFailed, "status 502"),
    "500 without a body": (Answer(b"", 500), ModelFailed, "status 500"),
    "400 of another form": (Answer({"error": ["no"]}, 400), ModelRefused, "status 400"),
    "400 of text": (Answer(b"\xff\xfe nonsense", 400), ModelRefused, "status 400"),
    "too long": (failure(400, "prompt is too long: 9 tokens", code="context_length_exceeded"),
     ContextOverflow, "fewer examples"),
    "too long for llama.cpp": (failure(400, "the request exceeds the available context size",
     kind="exceed_context_size_error"), ContextOverflow, "fewer examples"),
    "too large": (failure(413, "maximum context length is 10"), ContextOverflow, "fewer examples"),
    "304": (Answer(b"", 304), ModelFailed, "304"),
}  # fmt: skip
BODIES = {
    "no body": b"",
    "204": Answer(b"", 204),
    "page": Answer(b"<html>hello</html>", headers=HTML),
    "text": Answer(b"hello", headers={"content-type": "text/plain"}),
    "half of JSON": b"{not json",
    "a list": [1, 2],
    "a number": b"7",
    "null": b"null",
    "a text": b'"hello"',
    "an empty object": b"{}",
    "half of a character": b'{"choices": "\xff"}',
    "brackets without end": b"[" * 200_000,
    "objects without end": b'{"a":' * 100_000,
}
OPENAI_BODIES = {
    "content that is a number": completion(7),  # pyright: ignore[reportArgumentType]
    "no message": {**completion("a"), "choices": [{"index": 0, "finish_reason": "stop", "message": None}]},
    "no choices": {**completion("a"), "choices": []},
    "choices that are null": {**completion("a"), "choices": None},
    "choices that are text": {**completion("a"), "choices": "none"},
    "usage in words": completion("a", usage={"prompt_tokens": "many"}),
    "usage without end": json.dumps(completion("a")).replace('": 5', '": 1e999').encode(),
    "usage that is a list": completion("a", usage=[1]),
}
ANTHROPIC_BODIES = {
    "no content": {**message("a"), "content": None},
    "content that is text": {**message("a"), "content": "hello"},
    "content of another kind": {**message("a"), "content": [7]},
    "usage in words": {**message("a"), "usage": {"input_tokens": "many", "output_tokens": 1}},
    "usage without end": json.dumps(message("a")).replace('": 5', '": 1e999').encode(),
    "no usage": {k: v for k, v in message("a").items() if k != "usage"},
    "a list of messages": [message("a")],
}
REDIRECTIONS = {
    "another host": "http://127.0.0.1:9/v1/chat/completions",
    "half of an address": "http://[::1/",
    "a control character": "\x01\x02",
    "a port that is none": "http://127.0.0.1:99999/",
    "a file": "file:///etc/passwd",
}
STREAMS = {
    "no end": events(piece("a"), end=False),
    "no finish": events(piece("a")),
    "an error in it": events(piece("a"), {"error": {"message": "out of memory"}, "type": "chunk"}),
    "half of JSON": Answer(b"data: {broken\n\n", headers=EVENTS),
    "nothing": Answer(b"", headers=EVENTS),
    "a page": Answer(b"<html></html>", headers=HTML),
    "deltas that are text": events({**piece("a"), "choices": "none"}),
    "a delta that is a number": events(piece(7)),  # pyright: ignore[reportArgumentType]
    "a status": failure(500, "oops"),
}
ANTHROPIC_STREAMS = {
    "no end": message_events("a", end=False),
    "half of JSON": Answer(b"event: message_start\ndata: {broken\n\n", headers=EVENTS),
    "nothing": Answer(b"", headers=EVENTS),
    "an error in it": Answer(
        b'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error", "message": "x"}}\n\n',
        headers=EVENTS,
    ),
}
WIRES = {
    "vllm/fake": "openai",
    "openai-responses/fake": "openai",
    "anthropic/fake": "anthropic",
    "google/fake": "google.genai",
    "groq/fake": "groq",
    "mistral/fake": "mistralai",
}
"""A model of each wire, and the package that speaks it."""
OF_ALL_WIRES = {
    **{kind: answer for kind, (answer, _, _) in STATUSES.items()},
    **{kind: a if isinstance(a, Answer) else Answer(a) for kind, a in BODIES.items()},
    **{kind: Answer(b"", 307, {"location": place}) for kind, place in REDIRECTIONS.items()},
}
MALFORMED = {
    # Shared out: each is said on one wire, on every other one as a stream.
    **{
        f"{wire}, {'streamed, ' if streamed else ''}{kind}": (wire, answer, streamed)
        for n, (kind, answer) in enumerate(OF_ALL_WIRES.items())
        for wire, streamed in [([*WIRES][n % len(WIRES)], (n + n // len(WIRES)) % 2 == 1)]
    },
    **{f"vllm/fake, {kind}": ("vllm/fake", Answer(body), False) for kind, body in OPENAI_BODIES.items()},
    **{
        f"anthropic/fake, {kind}": ("anthropic/fake", Answer(body), False)
        for kind, body in ANTHROPIC_BODIES.items()
    },
    **{f"vllm/fake, stream: {kind}": ("vllm/fake", answer, True) for kind, answer in STREAMS.items()},
    **{
        f"anthropic/fake, stream: {kind}": ("anthropic/fake", answer, True)
        for kind, answer in ANTHROPIC_STREAMS.items()
    },
}


@pytest.mark.parametrize(("wire", "answer", "streamed"), MALFORMED.values(), ids=MALFORMED)
def test_each_malformed_answer_is_a_typed_error(wire: str, answer: Answer, streamed: bool):
    pytest.importorskip(WIRES[wire])
    error, _ = outcome(wire, answer, streamed=streamed)
    assert isinstance(error, (ModelRefused, ModelFailed, ModelUnreachable)), error
    assert str(error).startswith(f"{wire} at http://127.0.0.1")
    assert KEY not in str(error)


@pytest.mark.parametrize("wire", ["vllm/fake", "anthropic/fake"])
@pytest.mark.parametrize(("answer", "kind", "says"), STATUSES.values(), ids=STATUSES)
def test_each_status_has_its_error(wire: str, answer: Answer, kind: type[LlmError], says: str):
    error, _ = outcome(wire, answer)
    assert type(error) is kind
    assert says in str(error)


@pytest.mark.parametrize(
    ("answer", "attempts", "sent"),
    [
        (failure(429, "slow"), 3, 3),
        (failure(429, "no", code="insufficient_quota"), 3, 1),
        (failure(429, "slow", {"retry-after": "9999"}), 3, 1),
        (failure(503, "down"), 2, 2),
        (failure(400, "bad"), 3, 1),
        (failure(401, "no"), 3, 1),
        (Answer(b"{not json"), 3, 1),
        (Answer(b'{"choices"', cut=True), 3, 1),
    ],
)
def test_what_waiting_may_mend_is_sent_again(answer: Answer, attempts: int, sent: int, monkeypatch):
    async def sleep(seconds: float) -> None:
        assert seconds <= 60

    monkeypatch.setattr("clew.llm.managed.sleep", sleep)
    error, count = outcome("vllm/fake", answer, attempts=attempts)
    assert isinstance(error, LlmError)
    assert count == sent


def test_the_wait_that_the_server_asks_for(monkeypatch):
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    monkeypatch.setattr("clew.llm.managed.sleep", sleep)
    answers = (
        failure(429, "slow", {"retry-after": "3"}),
        failure(503, "x", {"retry-after": soon}),
        failure(503, "x", {"retry-after": "soon"}),
        Answer(completion("yes")),
    )
    reply, _ = outcome("vllm/fake", *answers, attempts=4)
    assert reply.text == "yes"
    assert waited[0] == 3
    assert 25 < waited[1] <= 30
    assert waited[2] < 10


def test_parameters_go_by_the_names_of_the_server():
    request = ask(
        "hello", "be brief", temperature=0.5, top_p=0.9, max_tokens=7, stop=("#",), seed=3, repeat_penalty=1.1
    )
    with serving(Answer(completion("yes"))) as (fake, url):
        for name in ("vllm/fake", "ollama/fake"):
            model = model_at(url, name)
            reply = run_sync(model.complete(request))
            run_sync(model.close())
    vllm, ollama = (seen.body for seen in fake.seen)
    limit = vllm.pop("max_tokens", None) or vllm.pop("max_completion_tokens")
    assert limit == 7
    assert vllm == {
        "model": "fake",
        "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hello"}],
        "temperature": 0.5,
        "top_p": 0.9,
        "stop": ["#"],
        "seed": 3,
        "stream": False,
        "repetition_penalty": 1.1,
    }
    assert not {"repetition_penalty", "repeat_penalty"} & ollama.keys()
    assert reply.notes == ("repeat_penalty dropped: ollama does not take it for this model",)
    assert fake.seen[0].path == "/v1/chat/completions"
    assert fake.seen[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_parameter_that_the_server_objects_to_is_left_out_from_then_on():
    objection = failure(400, "no temperature", param="temperature", code="unsupported_value")
    for streamed, good in (
        (False, Answer(completion("yes"))),
        (True, events(piece("yes"), piece(None, "stop"))),
    ):
        with serving(objection, good) as (fake, url):
            model = model_at(url, heard=[] if streamed else None)
            request = ask("hello", temperature=0.0, seed=1)
            replies = [run_sync(model.complete(request)) for _ in range(2)]
            run_sync(model.close())
        assert ["temperature" in seen.body for seen in fake.seen] == [True, False, False]
        assert all(seen.body["seed"] == 1 for seen in fake.seen)
        assert replies[1].notes == ("temperature dropped: the server refuses it",)


def test_forms_on_the_wire_from_the_strongest_down():
    no = failure(400, "response_format is not supported")
    with serving(no, no, Answer(completion('Here: {"name": "red"}'))) as (fake, url):
        model = model_at(url)
        assert run_sync(model.complete_as(REQUEST, Colour)).value == Colour("red")
        run_sync(model.close())
    formats = [seen.body.get("response_format") for seen in fake.seen]
    assert formats[0]["json_schema"]["schema"]["required"] == ["name"]
    assert formats[0]["json_schema"]["strict"] is True
    assert formats[1:] == [{"type": "json_object"}, None]


def test_a_reply_without_content_or_usage_is_an_empty_reply_that_is_charged_what_was_thought():
    body = completion("")
    body["choices"][0]["message"]["content"] = None
    del body["usage"]
    with serving(Answer(body)) as (_, url):
        model = model_at(url)
        reply = run_sync(model.complete(REQUEST))
        run_sync(model.close())
    assert (reply.text, reply.usage) == ("", Usage(1, 0, 0))
    assert model.run.spent.tokens > 1000


def test_a_refusal_is_the_text_of_the_reply():
    body = completion("")
    body["choices"][0]["message"] |= {"content": None, "refusal": "I cannot help with that."}
    reply, _ = outcome("vllm/fake", Answer(body))
    assert (reply.text, reply.finish) == ("I cannot help with that.", "content_filter")


def test_thoughts_beside_the_reply_are_no_part_of_it():
    body = completion("Oslo")
    body["choices"][0]["message"]["reasoning_content"] = "Norway, so Oslo"
    reply, _ = outcome("vllm/fake", Answer(body))
    assert reply.text == "Oslo"


def test_a_reply_of_anthropic_counts_what_was_cached():
    reply, _ = outcome("anthropic/fake", Answer(message("a", "b", stop="max_tokens")))
    assert (reply.text, reply.finish, reply.usage) == ("ab", "length", Usage(1, 8, 2))


def test_a_stream_that_ends_well_is_a_whole_reply():
    heard: list[str] = []
    for name, answer in (
        ("vllm/fake", events(piece("a"), piece("b"), piece(None, "stop"))),
        ("anthropic/fake", message_events("a", "b")),
    ):
        with serving(answer) as (_, url):
            model = model_at(url, name, heard)
            assert run_sync(model.complete(REQUEST)).text == "ab"
            run_sync(model.close())
    assert heard == ["a", "b"] * 2


def test_half_a_surrogate_pair_does_not_stop_a_question():
    with serving(Answer(completion("yes"))) as (fake, url):
        model = model_at(url)
        run_sync(model.complete(ask("who is \udcff?")))
        run_sync(model.close())
    assert fake.seen[0].body["messages"][0]["content"] == "who is ??"


def test_spans_are_those_of_pydantic_ai_and_say_what_was_asked_only_if_wanted(monkeypatch):
    sdk = pytest.importorskip("opentelemetry.sdk.trace")
    export = pytest.importorskip("opentelemetry.sdk.trace.export")
    memories = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
    memory, provider = memories.InMemorySpanExporter(), sdk.TracerProvider()
    provider.add_span_processor(export.SimpleSpanProcessor(memory))
    monkeypatch.setattr("pydantic_ai.models.instrumented.get_tracer_provider", lambda: provider)
    answers = (Answer(completion("a reply")), Answer(completion("a reply")), failure(401, f"key {KEY}"))
    with serving(*answers) as (_, url):
        for content in (False, True, False):
            model = model_at(url, telemetry=True, telemetry_content=content)
            with suppress(KeyRefused):
                run_sync(model.complete(ask("a question")))
            run_sync(model.close())
    quiet, told, failed = memory.get_finished_spans()
    assert quiet.name == "chat fake"
    assert quiet.attributes["gen_ai.usage.input_tokens"] == 5
    assert "a question" not in quiet.to_json()
    assert "a reply" not in quiet.to_json()
    assert "a question" in told.to_json()
    assert failed.status.status_code.name == "ERROR"
    assert KEY not in "".join(span.to_json() for span in memory.get_finished_spans())

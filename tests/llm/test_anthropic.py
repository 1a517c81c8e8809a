"""The Anthropic adapter against a fake server on localhost, through the official SDK."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from clew.errors import LlmError
from clew.llm import Message, Request, Settings, ask, iterate_sync, open_model, run_sync
from clew.llm.errors import ContextOverflow, KeyRefused, ModelFailed, ModelUnreachable, RateLimited
from clew.llm.managed import ManagedModel
from clew.llm.retry import Retry
from servers.fake_server import Answer, message, message_events, serving

pytest.importorskip("anthropic")


@dataclass(frozen=True)
class Colour:
    name: str


def model_at(url: str) -> ManagedModel:
    retry = Retry(attempts=2, first=0.01)
    return open_model(Settings("anthropic/fake", base_url=url, api_key="sk-ant-1", retry=retry))


def test_what_is_sent_and_what_comes_back():
    request = Request(
        (
            Message("system", "be brief"),
            Message("user", "hi"),
            Message("assistant", "ho"),
            Message("user", "?"),
        ),
        temperature=0.0,
        stop=("#",),
    )
    with serving(Answer(message("a", "b"))) as (fake, url):
        model = model_at(url)
        reply = run_sync(model.complete(request))
        run_sync(model.close())
    (seen,) = fake.seen
    assert seen.path == "/v1/messages"
    assert seen.headers["authorization"] == "Bearer sk-ant-1"
    assert seen.body == {
        "model": "fake",
        "system": "be brief",
        "messages": [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "ho"},
            {"role": "user", "content": "?"},
        ],
        "max_tokens": 4096,
        "stop_sequences": ["#"],
    }
    assert (reply.text, reply.finish, reply.model) == ("ab", "stop", "fake")
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (8, 2)
    assert reply.notes == ("temperature dropped: anthropic does not take it for this model",)


def test_a_reply_cut_off_at_max_tokens():
    with serving(Answer(message("a", stop="max_tokens"))) as (fake, url):
        model = model_at(url)
        reply = run_sync(model.complete(ask("hi", max_tokens=3)))
        run_sync(model.close())
    assert fake.seen[0].body["max_tokens"] == 3
    assert reply.finish == "length"


def test_a_stream():
    with serving(message_events("a", "b")) as (_, url):
        model = model_at(url)
        chunks = list(iterate_sync(model.stream(ask("hi"))))
        run_sync(model.close())
    assert [c.text for c in chunks] == ["a", "b", ""]
    assert chunks[-1].reply is not None
    assert chunks[-1].reply.text == "ab"
    assert chunks[-1].reply.usage.output_tokens == 9


def test_a_schema_on_the_wire():
    with serving(Answer(message('{"name": "red"}'))) as (fake, url):
        model = model_at(url)
        assert run_sync(model.complete_as(ask("hi"), Colour)).value == Colour("red")
        run_sync(model.close())
    sent = fake.seen[0].body["output_config"]["format"]
    assert sent["type"] == "json_schema"
    assert sent["schema"]["required"] == ["name"]


def test_a_model_without_schemas_is_asked_in_text():
    no = Answer(
        {"type": "error", "error": {"type": "invalid_request_error", "message": "no output_config"}}, 400
    )
    with serving(no, Answer(message('{"name": "red"}'))) as (fake, url):
        model = model_at(url)
        assert run_sync(model.complete_as(ask("hi"), Colour)).value == Colour("red")
        run_sync(model.close())
    assert "output_config" not in fake.seen[1].body
    assert "JSON schema" in fake.seen[1].body["system"]


def failure(status: int, kind: str, text: str) -> Answer:
    return Answer({"type": "error", "error": {"type": kind, "message": text}}, status)


@pytest.mark.parametrize(
    ("answer", "kind", "says", "sent"),
    [
        (failure(401, "authentication_error", "invalid sk-ant-1"), KeyRefused, "Check the key", 1),
        (failure(400, "invalid_request_error", "prompt is too long: 9 tokens"), ContextOverflow, "fewer", 1),
        (failure(429, "rate_limit_error", "slow"), RateLimited, "concurrency", 2),
        (failure(529, "overloaded_error", "busy"), ModelFailed, "529", 2),
        (Answer(b"<html>", headers={"content-type": "text/html"}), ModelFailed, "not a chat reply", 1),
        (Answer({"type": "message", "content": None}), ModelFailed, "not a chat reply", 1),
    ],
)
def test_each_bad_answer_has_its_error(answer: Answer, kind: type[LlmError], says: str, sent: int):
    with serving(answer) as (fake, url):
        model = model_at(url)
        with pytest.raises(LlmError) as caught:
            run_sync(model.complete(ask("hi")))
        run_sync(model.close())
    assert type(caught.value) is kind
    assert says in str(caught.value)
    assert "sk-ant-1" not in str(caught.value)
    assert len(fake.seen) == sent


@pytest.mark.parametrize("answer", [message_events("a", end=False), message_events("a", stop=None)])
def test_a_stream_that_breaks_is_never_a_whole_reply(answer: Answer):
    with serving(answer) as (_, url):
        model = model_at(url)
        with pytest.raises((ModelUnreachable, ModelFailed)):
            list(iterate_sync(model.stream(ask("hi"))))
        run_sync(model.close())

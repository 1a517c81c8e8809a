"""What a healthy server cannot be made to do, by a fake one on localhost, through the official SDK."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from clew.errors import LlmError
from clew.llm import Settings, ask, iterate_sync, open_model, run_sync
from clew.llm.errors import (
    ContextOverflow,
    KeyRefused,
    ModelFailed,
    ModelRefused,
    ModelUnreachable,
    RateLimited,
)
from clew.llm.managed import ManagedModel
from clew.llm.retry import Retry
from clew.llm.wire import retry_after
from servers.fake_server import Answer, completion, events, piece, serving

pytest.importorskip("openai")

GOOD = Answer(completion("yes"))
REQUEST = ask("hello")


@dataclass(frozen=True)
class Colour:
    name: str


def failure(status: int, message: str, headers: dict[str, str] | None = None, **more: Any) -> Answer:
    return Answer({"error": {"message": message, **more}}, status, headers or {})


def model_at(url: str, name: str = "vllm/fake", **options: Any) -> ManagedModel:
    options.setdefault("retry", Retry(attempts=2, first=0.01))
    return open_model(Settings(name, base_url=f"{url}/v1", api_key="k", **options))


def error_of(*answers: Answer, streamed: bool = False, **options: Any) -> tuple[LlmError, int]:
    """The error that answers lead to, and how many requests were sent."""
    with serving(*answers) as (fake, url):
        model = model_at(url, **options)
        with pytest.raises(LlmError) as caught:
            list(iterate_sync(model.stream(REQUEST))) if streamed else run_sync(model.complete(REQUEST))
        run_sync(model.close())
        return caught.value, len(fake.seen)


@pytest.mark.parametrize(
    ("answer", "kind", "says", "sent"),
    [
        (failure(400, "bad"), ModelRefused, "status 400", 1),
        (failure(401, "key sk-123"), KeyRefused, "Check the key", 1),
        (failure(403, "no"), KeyRefused, "Check the key", 1),
        (failure(404, "no such model"), ModelRefused, "Check the model name", 1),
        (failure(400, "too long", code="context_length_exceeded"), ContextOverflow, "fewer examples", 1),
        (failure(413, "maximum context length is 10"), ContextOverflow, "fewer examples", 1),
        (failure(429, "slow"), RateLimited, "Lower the concurrency", 2),
        (failure(429, "no", code="insufficient_quota"), RateLimited, "quota is used up", 1),
        (failure(429, "slow", {"retry-after": "9999"}), RateLimited, "too many requests", 1),
        (failure(500, "oops"), ModelFailed, "status 500", 2),
        (failure(529, "overloaded"), ModelFailed, "status 529", 2),
        (failure(408, "slow"), ModelFailed, "status 408", 2),
        (Answer(b"<html>proxy error</html>", 502), ModelFailed, "status 502", 2),
        (Answer(b"<html>hello</html>", headers={"content-type": "text/html"}), ModelFailed, "base URL", 1),
        (Answer(completion(["a"])), ModelFailed, "not a chat reply", 1),
        (Answer({"choices": [{"message": None}]}), ModelFailed, "not a chat reply", 1),
        (Answer({"choices": "none"}), ModelFailed, "not a chat reply", 1),
        (Answer(completion("a", usage={"prompt_tokens": "many"})), ModelFailed, "not a chat reply", 1),
        (Answer({"choices": []}), ModelFailed, "not a chat reply", 1),
        (Answer({"object": "list"}), ModelFailed, "not a chat reply", 1),
        (Answer([1, 2]), ModelFailed, "not a chat reply", 1),
        (Answer(b"{not json"), ModelFailed, "not a chat reply", 1),
        (Answer(b'{"choices"', cut=True), ModelUnreachable, "broke off", 1),
    ],
)
def test_each_bad_answer_has_its_error(answer: Answer, kind: type[LlmError], says: str, sent: int):
    error, count = error_of(answer)
    assert type(error) is kind
    assert says in str(error)
    assert "sk-123" not in str(error)
    assert count == sent


def test_the_wait_that_the_server_asks_for():
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    with serving(
        failure(429, "slow", {"retry-after": "3"}), failure(503, "x", {"retry-after": "4"}), GOOD
    ) as (_, url):
        model = model_at(url, retry=Retry())
        model._sleep = sleep  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]
        assert run_sync(model.complete(REQUEST)).text == "yes"
        run_sync(model.close())
    assert waited == [3.0, 4.0]


def test_retry_after_in_both_forms():
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert retry_after({"retry-after": "2.5"}) == 2.5
    assert 25 < (retry_after({"retry-after": soon}) or 0) <= 30
    assert retry_after({"retry-after": "soon"}) is None
    assert retry_after({"retry-after": "-1"}) is None
    assert retry_after({}) is None


def test_parameters_go_by_the_names_of_the_provider():
    request = ask(
        "hello", "be brief", temperature=0.5, top_p=0.9, max_tokens=7, stop=("#",), seed=3, repeat_penalty=1.1
    )
    with serving(GOOD) as (fake, url):
        for name in ("vllm/fake", "azure/gpt-4o"):
            model = model_at(url, name)
            reply = run_sync(model.complete(request))
            run_sync(model.close())
    local, hosted = (seen.body for seen in fake.seen)
    assert local == {
        "model": "fake",
        "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hello"}],
        "temperature": 0.5,
        "top_p": 0.9,
        "max_tokens": 7,
        "stop": ["#"],
        "seed": 3,
        "repetition_penalty": 1.1,
    }
    assert hosted["max_completion_tokens"] == 7
    assert not {"max_tokens", "repetition_penalty", "repeat_penalty"} & hosted.keys()
    assert reply.notes == ("repeat_penalty dropped: azure does not take it for this model",)
    assert fake.seen[0].path == "/v1/chat/completions"
    assert fake.seen[0].headers["authorization"] == "Bearer k"


def test_a_parameter_that_the_server_objects_to_is_left_out_from_then_on():
    objection = failure(400, "no temperature", param="temperature", code="unsupported_value")
    with serving(objection, GOOD) as (fake, url):
        model = model_at(url)
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


def test_a_reply_without_content_or_usage_is_an_empty_reply():
    body = completion("")
    body["choices"][0]["message"]["content"] = None
    del body["usage"]
    with serving(Answer(body)) as (_, url):
        model = model_at(url)
        reply = run_sync(model.complete(REQUEST))
        run_sync(model.close())
    assert (reply.text, reply.usage.calls, reply.usage.input_tokens) == ("", 1, 0)


def test_a_stream_without_usage_is_a_whole_reply():
    with serving(events(piece("a"), piece("b"), piece(None, "stop"))) as (_, url):
        model = model_at(url)
        chunks = list(iterate_sync(model.stream(REQUEST)))
        run_sync(model.close())
    assert [c.text for c in chunks] == ["a", "b", ""]
    assert chunks[-1].reply is not None
    assert chunks[-1].reply.text == "ab"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (events(piece("a"), end=False), ModelUnreachable),
        (events(piece("a")), ModelFailed),
        (events(piece("a"), {"error": {"message": "out of memory"}, "type": "chunk"}), ModelFailed),
        (Answer(b"data: {broken\n\n", headers={"content-type": "text/event-stream"}), ModelFailed),
        (Answer(b"", headers={"content-type": "text/event-stream"}), ModelFailed),
        (Answer(b"<html></html>", headers={"content-type": "text/html"}), ModelFailed),
        (failure(500, "oops"), ModelFailed),
    ],
)
def test_a_stream_that_breaks_is_never_a_whole_reply(answer: Answer, kind: type[LlmError]):
    error, _ = error_of(answer, streamed=True)
    assert type(error) is kind


def test_a_stream_too_leaves_out_what_the_server_objects_to():
    objection = failure(400, "no temperature", param="temperature")
    with serving(objection, events(piece("a"), piece(None, "stop"))) as (fake, url):
        model = model_at(url)
        chunks = list(iterate_sync(model.stream(ask("hello", temperature=0.0))))
        run_sync(model.close())
    assert len(fake.seen) == 2
    assert chunks[-1].reply is not None
    assert chunks[-1].reply.notes == ("temperature dropped: the server refuses it",)


def test_half_a_surrogate_pair_does_not_stop_a_question():
    with serving(GOOD) as (fake, url):
        model = model_at(url)
        run_sync(model.complete(ask("who is \udcff?")))
        run_sync(model.close())
    assert fake.seen[0].body["messages"][0]["content"] == "who is ??"
